"""Do score and criterion go together among activations of one kind, or do they only tell the kinds apart?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from affscore.analysis.checks import check_columns
from affscore.analysis.redundancy import CRITERIA_OF_TABLE_1, correlation_table
from affscore.errors import AffscoreError

__all__ = ["correlations_within_kinds"]


def correlations_within_kinds(
    summaries: Mapping[str, pd.DataFrame], kind: str = "after-sum", criteria: Sequence[str] = CRITERIA_OF_TABLE_1
) -> pd.DataFrame:
    """The correlation of the score with each criterion over all activations, over those of a kind, and over the others.

    Two clouds that lie apart have a correlation even where neither of them has one. In a residual network the
    activations after a sum are such a cloud.

    Args:
        summaries: For each network a row for each activation (:attr:`affscore.Signature.summary`); networks without
            activations of that kind are left out.
        kind: One of the kinds of :attr:`affscore.Signature.summary`.
        criteria: Which.

    Returns:
        A row for each network and part (``all``, the kind, ``others``), indexed by both: ``activations``, and a column
        for each criterion, missing where there is no correlation.

    Raises:
        AffscoreError: No network has activations of that kind, or a table without kinds.

    Source: ours.

    >>> cloud = [0.1, 0.2, 0.3, 0.2]
    >>> network = pd.DataFrame({"score": [*cloud, 0.9, 0.8, 0.7, 0.8], "cka": [0.1, 0.2, 0.1, 0.0, 0.9, 0.8, 0.9, 1.0],
    ...                         "kind": ["first"] * 4 + ["after-sum"] * 4})
    >>> table = correlations_within_kinds({"net": network}, criteria=["cka"])
    >>> table["cka"].round(2).tolist()
    [0.96, 0.0, 0.0]
    """
    rows = {}
    for name, summary in summaries.items():
        check_columns(summary, ["kind", "score"])
        known = summary.dropna(subset="score")
        of_kind = known["kind"] == kind
        if not of_kind.any():
            continue
        for part, members in (("all", known), (kind, known[of_kind]), ("others", known[~of_kind])):
            rows[name, part] = {
                "activations": len(members),
                **correlation_table({name: members}, criteria).loc[name].to_dict(),
            }
    if not rows:
        raise AffscoreError(f"none of the networks has activations of the kind {kind!r}")
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["network", "part"])
