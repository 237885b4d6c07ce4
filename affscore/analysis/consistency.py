"""Does a criterion follow the score in every network? Intervals of correlations that hold for all networks together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from affscore.analysis.checks import check_columns
from affscore.analysis.redundancy import fisher_interval

__all__ = ["simultaneous_intervals", "strength_counts"]


def simultaneous_intervals(correlations: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    r"""Correlations with Fisher's intervals that hold together for all networks of one criterion.

    Each is an interval at the level :math:`1 - (1 - \text{level}) / k` for k networks (Bonferroni), so that with the
    given probability none of them misses its correlation. They take the activations of a network for independent.

    Args:
        correlations: What :func:`affscore.analysis.criterion_correlations` returns.
        level: Of all intervals of a criterion together, in (0, 1).

    Returns:
        The rows that have a correlation, with other ``low`` and ``high``.

    Raises:
        AffscoreError: Another table, or a level out of range.

    >>> rows = {"model": ["a", "b"], "criterion": "cka", "activations": 28, "correlation": [0.5, 0.9]}
    >>> simultaneous_intervals(pd.DataFrame(rows))["low"].round(3).tolist()  # a single one begins at 0.156
    [0.101, 0.771]
    """
    check_columns(correlations, ("model", "criterion", "activations", "correlation"))
    known = correlations.dropna(subset="correlation")
    networks = known.groupby("criterion")["model"].transform("nunique").to_numpy(dtype=float)
    pairs = zip(known["correlation"], known["activations"], 1 - (1 - level) / networks, strict=True)
    ends = np.array([fisher_interval(float(r), int(count), own) for r, count, own in pairs]).reshape(-1, 2)
    return known.assign(low=ends[:, 0], high=ends[:, 1])


def strength_counts(correlations: pd.DataFrame, strong: float = 0.5, level: float = 0.95) -> pd.DataFrame:
    """In how many networks each criterion is decidedly strong, and in how many it decidedly is not.

    The direction of a criterion is the sign of its mean correlation. A network in which the whole interval of
    :func:`simultaneous_intervals` is below the limit in this direction refutes that the criterion goes with the score
    strongly and consistently.

    Args:
        correlations: What :func:`affscore.analysis.criterion_correlations` returns.
        strong: The limit.
        level: Of all intervals of a criterion together.

    Returns:
        A row for each criterion: ``networks``, ``strong``, ``weak`` and ``undecided`` ones, and the ``weakest``
        correlation in the direction of the criterion.

    Raises:
        AffscoreError: Another table, or a level out of range.

    >>> rows = {"model": list("abc"), "criterion": "cka", "activations": 100, "correlation": [0.9, 0.5, 0.1]}
    >>> strength_counts(pd.DataFrame(rows)).loc["cka"].tolist()
    [3.0, 1.0, 1.0, 1.0, 0.1]
    """
    found = simultaneous_intervals(correlations, level)
    sign = np.sign(found.groupby("criterion")["correlation"].transform("mean"))
    low, high = found["low"].where(sign >= 0, -found["high"]), found["high"].where(sign >= 0, -found["low"])
    counted = found.assign(
        strong=low > strong, weak=high < strong, weakest=found["correlation"].where(sign >= 0, -found["correlation"])
    )
    groups = counted.assign(undecided=~counted["strong"] & ~counted["weak"]).groupby("criterion", sort=False)
    table = groups[["strong", "weak", "undecided"]].sum()
    table.insert(0, "networks", groups.size())
    return table.assign(weakest=groups["weakest"].min())
