"""Is the score redundant given all criteria together? Regressions within a network, and carried over to others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis.redundancy import CRITERIA_OF_TABLE_1, criterion_values
from affscore.errors import AffscoreError

__all__ = ["explained_by_all"]

Array = NDArray[np.float64]


def explained_by_all(
    summaries: Mapping[str, pd.DataFrame],
    families: Mapping[str, str],
    criteria: Sequence[str] = CRITERIA_OF_TABLE_1,
) -> pd.DataFrame:
    r"""How much of a signature's course a linear regression on all criteria explains.

    Score and criteria are brought to mean 0 and variance 1 within each network, so that what is explained is the
    course of the signature, not its level. Two questions, two numbers:

    * *within*: the regression may be another one for each network. Adjusted R2, as a network of few activations is
      fitted by chance.
    * *from others*: one regression, fitted to the networks of all other families (each network weighs the same),
      predicts this one: :math:`1 - \sum_i (z_i - \hat z_i)^2 / \sum_i z_i^2`. Below 0 it is worse than the mean. A
      criterion that is redundant with the score would do here, too.

    Args:
        summaries: For each network a row for each activation (:attr:`affscore.Signature.summary`).
        families: The family of each network; one without a family is a family of its own.
        criteria: Which; those that are missing or constant in a network explain nothing there.

    Returns:
        A row for each network, by its name: ``family``, ``activations``, ``within``, ``from_others``, and ``note``:
        why a number is missing.

    Raises:
        AffscoreError: Fewer than two families.

    Source: ours.

    >>> rng = np.random.default_rng(0)
    >>> def network():
    ...     cka, size = rng.uniform(size=(2, 20))
    ...     return pd.DataFrame({"score": cka - 0.3 * size, "cka": cka, "norm": size})
    >>> table = explained_by_all({"a": network(), "b": network()}, {"a": "A", "b": "B"}, ["cka", "norm"])
    >>> table["within"].round(3).tolist(), (table["from_others"] > 0.9).tolist()
    ([1.0, 1.0], [True, True])
    """
    data = {name: _standard(criterion_values(summary, criteria)) for name, summary in summaries.items()}
    family = {name: families.get(name, name) for name in data}
    if len(set(family.values())) < 2:
        raise AffscoreError("a regression is carried over between families, so it takes at least two of them")
    usable = {name: found for name, found in data.items() if found is not None}
    rows = {}
    for name, found in data.items():
        row: dict[str, object] = {"family": family[name], "activations": len(summaries[name])}
        row |= {"within": np.nan, "from_others": np.nan, "note": ""}
        if found is None:
            rows[name] = {**row, "note": "its scores do not vary, or too few are known"}
            continue
        x, z = found
        row["activations"] = len(z)
        free = len(z) - 1 - int(np.linalg.matrix_rank(x))
        if free < 2:
            row["note"] = f"{len(z)} activations are too few to fit {len(criteria)} criteria within the network"
        else:
            rest = np.square(z - x @ np.linalg.lstsq(x, z, rcond=None)[0]).sum()
            row["within"] = float(1 - rest / np.square(z).sum() * (len(z) - 1) / free)
        others = [pair for other, pair in usable.items() if family[other] != family[name]]
        if others:
            row["from_others"] = float(1 - np.square(z - x @ _coefficients(others)).sum() / np.square(z).sum())
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def _standard(values: pd.DataFrame) -> tuple[Array, Array] | None:
    """Criteria (k, c) and scores (k,) with mean 0 and variance 1; a constant or missing criterion is 0."""
    known = values.dropna(axis=1, how="all").dropna()
    if "score" not in known or len(known) < 3:
        return None
    known = known.reindex(columns=values.columns).fillna(0.0)
    centred = (known - known.mean()).to_numpy()
    spread = centred.std(axis=0)
    scale = np.where(spread > 1e-6 * np.abs(known.to_numpy()).max(axis=0), spread, np.inf)
    standard = centred / scale
    return None if np.isinf(scale[0]) else (standard[:, 1:], standard[:, 0])


def _coefficients(networks: Sequence[tuple[Array, Array]]) -> Array:
    """Of one regression over several networks, each of which weighs the same."""
    x = np.concatenate([criteria / len(scores) ** 0.5 for criteria, scores in networks])
    z = np.concatenate([scores / len(scores) ** 0.5 for _, scores in networks])
    return np.linalg.lstsq(x, z, rcond=None)[0]
