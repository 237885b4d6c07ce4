"""The statistics of a signature by which the paper compares networks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from affscore.comparison.distances import check_scores
from affscore.errors import AffscoreError

STATISTICS = ("mean", "std", "min", "median", "max", "max/mean", "max/median")
"""The seven statistics of a signature that section 4 of the paper holds against accuracy."""


def signature_statistics(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """The statistics of signatures that the paper compares networks by.

    Args:
        signatures: Scores by name.

    Returns:
        A row for each name; columns ``activations`` (how many) and those of :data:`STATISTICS` (the
        standard deviation with n in the denominator).

    Raises:
        AffscoreError: No signatures, or what is none.

    Source: figure 4 of the paper.

    >>> signature_statistics({"a": [0.25, 0.5, 0.75]}).loc["a", ["mean", "max/mean"]].tolist()
    [0.5, 1.5]
    """
    if not isinstance(signatures, Mapping):
        raise AffscoreError(f"expected signatures by name (a dict), got {type(signatures).__name__}")
    if not signatures:
        raise AffscoreError("expected at least one signature, got none")
    checked = {name: check_scores(signature, name) for name, signature in signatures.items()}
    basic = (len, np.mean, np.std, np.min, np.median, np.max)
    rows = {name: [float(of(scores)) for of in basic] for name, scores in checked.items()}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["activations", *STATISTICS[:5]])
    ratios = {f"max/{name}": table["max"] / table[name].where(table[name] > 0) for name in ("mean", "median")}
    return table.assign(**ratios).astype({"activations": int})
