"""Figure 3: what signatures say of a decade of architectures, the range of each beside its family and year."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from affscore.analysis import rarefied_range, signature_statistics
from affscore.papers.networks import network_table

__all__ = ["history"]


def history(signatures: Mapping[str, ArrayLike], few: int | None = None) -> pd.DataFrame:
    """The statistics of signatures beside family and year of their networks, oldest first.

    Args:
        signatures: Scores by the name of the network.
        few: How many scores the column ``spread of few`` draws; None for as many as the shortest signature has.

    Returns:
        A row for each network, in the order of years (those without a year last); the columns of
        :func:`affscore.papers.network_table` and :func:`affscore.analysis.signature_statistics`, and ``spread``
        (largest minus smallest), ``spread of few`` (:func:`affscore.analysis.rarefied_range`) and ``skewness``.
        ``attrs["few"]`` says how many were drawn.

    Raises:
        AffscoreError: No signatures, or what is none.

    Source: figure 3 of the paper shows minimum, median and maximum; the last two columns are ours.

    >>> table = history({"mini:vit_b_16": [0.3, 0.5, 0.4], "mini:alexnet": [0.6, 0.7]})
    >>> table.index.tolist(), table["spread"].round(2).tolist(), table.attrs["few"]
    (['mini:alexnet', 'mini:vit_b_16'], [0.1, 0.2], 2)
    """
    statistics = signature_statistics(signatures)
    few = int(statistics["activations"].min()) if few is None else few
    table = network_table(signatures).join(statistics)
    table["spread"] = table["max"] - table["min"]
    table["spread of few"] = [rarefied_range(signatures[name], few) for name in table.index]
    table["skewness"] = [_skewness(np.asarray(signatures[name], dtype=float)) for name in table.index]
    table = table.sort_values("year", kind="stable", na_position="last")
    table.attrs["few"] = few
    return table


def _skewness(scores: NDArray[np.float64]) -> float:
    if np.ptp(scores) < 1e-9:
        return np.nan  # of equal scores, or of one
    return float(stats.skew(scores))
