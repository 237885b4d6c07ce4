"""Correlations of many networks together: whether a criterion goes with the score in all of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from companion.regression import fisher_interval

STRONG = 0.5
"""A correlation above it, or below its negative, is a strong one."""


def simultaneous_intervals(correlations: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    r"""Correlations with Fisher's intervals that hold together for all networks of one criterion.

    Each is an interval at the level :math:`1 - (1 - \text{level}) / k` for k networks (Bonferroni), so that with the
    given probability none of them misses its correlation. They take the activations of a network for independent.

    Args:
        correlations: What :func:`companion.regression.criterion_correlations` returns.
        level: Of all intervals of a criterion together, in (0, 1).

    Returns:
        The rows that have a correlation, with other ``low`` and ``high``.

    >>> rows = {"model": ["a", "b"], "criterion": "cka", "activations": 28, "correlation": [0.5, 0.9]}
    >>> simultaneous_intervals(pd.DataFrame(rows))["low"].round(3).tolist()  # a single one begins at 0.156
    [0.101, 0.771]
    """
    complete = correlations.dropna(subset="correlation")
    networks = complete.groupby("criterion")["model"].transform("nunique").to_numpy(dtype=float)
    pairs = zip(complete["correlation"], complete["activations"], 1 - (1 - level) / networks, strict=True)
    ends = np.array([fisher_interval(float(r), int(count), own) for r, count, own in pairs]).reshape(-1, 2)
    return complete.assign(low=ends[:, 0], high=ends[:, 1])


def strength_counts(correlations: pd.DataFrame) -> pd.DataFrame:
    """In how many networks each criterion is decidedly strong, and in how many it decidedly is not.

    The direction of a criterion is the sign of its mean correlation. A network in which the whole interval of
    :func:`simultaneous_intervals` is below :data:`STRONG` in this direction refutes that the criterion goes with the
    score strongly and consistently.

    Args:
        correlations: What :func:`companion.regression.criterion_correlations` returns.

    Returns:
        A row for each criterion: ``networks``, ``strong``, ``weak`` and ``undecided`` ones.

    Raises:
        AffscoreError: Another table.

    >>> rows = {"model": list("abc"), "criterion": "cka", "activations": 100, "correlation": [0.9, 0.5, 0.1]}
    >>> strength_counts(pd.DataFrame(rows)).loc["cka"].tolist()
    [3, 1, 1, 1]
    """
    found = simultaneous_intervals(correlations)
    mean = found.groupby("criterion")["correlation"].transform("mean")
    directed = found[["correlation", "low", "high"]].mul(np.where(mean < 0, -1, 1), axis=0)
    ends = directed[["low", "high"]]  # the other way round, where the sign is turned
    strong, weak = ends.min(axis=1) > STRONG, ends.max(axis=1) < STRONG
    counted = pd.DataFrame({"networks": True, "strong": strong, "weak": weak, "undecided": ~strong & ~weak})
    return counted.groupby(found["criterion"], sort=False).sum()
