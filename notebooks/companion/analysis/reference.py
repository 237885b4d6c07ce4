"""Reference ranges: where most scores of activations of a kind lie, so that a new one can be placed."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from affscore.errors import AffscoreError
from companion.analysis.tables import check_columns

RANGE = {"lowest": 0.0, "low": 0.05, "median": 0.5, "high": 0.95, "highest": 1.0}
"""The columns of a reference range, and the quantiles that they are."""

_ACTIVATION = ("model", "weights", "dataset", "reduction", "order", "covariance", "coupling", "index")


def reference_ranges(results: pd.DataFrame, by: Sequence[str] = ("kind", "activation")) -> pd.DataFrame:
    """Quantiles of the scores of many networks, by what an activation is or where it stands.

    Each activation counts once, with its mean score over the batches. The activations of a network are not independent,
    so these are descriptions and no intervals of confidence: see ``networks`` for how many there are.

    Args:
        results: Rows as :func:`affscore.load_results` returns them, of one specification.
        by: Columns that make groups.

    Returns:
        A row for each group, the largest first: ``networks``, ``activations``, and the columns of :data:`RANGE`.

    Raises:
        AffscoreError: A column is missing, there is no score, or the scores are of several specifications, which cannot
            be compared.

    >>> rows = pd.DataFrame({"model": "a", "index": range(21), "kind": "hidden", "score": [i / 20 for i in range(21)]})
    >>> reference_ranges(rows, ["kind"]).loc["hidden", ["activations", "low", "median", "high"]].tolist()
    [21.0, 0.05, 0.5, 0.95]
    """
    check_columns(results, ["model", "index", "score"], by)
    for name in ("reduction", "order", "covariance", "coupling"):
        found = sorted(map(str, set(results[name]))) if name in results else []
        if len(found) > 1:
            words = ", ".join(found)
            raise AffscoreError(f"the scores are of several specifications ({name}: {words}); choose one of them")
    each = [name for name in _ACTIVATION if name in results and name not in by]
    scores = results.dropna(subset="score").groupby([*each, *by], sort=False)["score"].mean().reset_index()
    if scores.empty:
        raise AffscoreError("there is no score in these results")
    groups = scores.groupby(list(by), sort=False)
    table = groups.agg(networks=("model", "nunique"), activations=("score", "size"))
    table = table.assign(**{name: groups["score"].quantile(share) for name, share in RANGE.items()})
    return table.sort_values("activations", ascending=False, kind="stable")
