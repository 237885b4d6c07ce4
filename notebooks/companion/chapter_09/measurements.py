"""Correlations of many networks together: families, signs, and whether a criterion goes with the score in all."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import t

from companion.regression import fisher_interval

STRONG = 0.5
"""A correlation above it, or below its negative, is a strong one."""


def family_correlations(correlations: pd.DataFrame, families: Mapping[str, str], level: float = 0.95) -> pd.DataFrame:
    """Mean and standard deviation of the correlations of a family's networks, and the same over all networks.

    Args:
        correlations: What :func:`companion.regression.criterion_correlations` returns.
        families: The family of each model; models without one count in the average only.
        level: Of the interval of the mean.

    Returns:
        A row for each family and criterion: ``family``, ``criterion``, ``networks`` (that have a correlation),
        ``mean``, ``std`` (n in the denominator, as in table 1), ``low`` and ``high`` (Student's interval of the mean
        over networks, cut at -1 and 1). The last three are missing below two networks.
        The family of the last rows, over all networks, is "Average".

    Source: table 1; its standard deviations are those of table 2 with n in the denominator.

    >>> rows = {"model": ["a", "b"], "criterion": ["cka"] * 2, "correlation": [0.5, 0.7]}
    >>> table = family_correlations(pd.DataFrame(rows), {"a": "F", "b": "F"})
    >>> table[["family", "networks", "mean", "std"]].round(2).values.tolist()
    [['F', 2, 0.6, 0.1], ['Average', 2, 0.6, 0.1]]
    """
    named = correlations.assign(family=correlations["model"].map(dict(families)))
    both = pd.concat([named.dropna(subset="family"), correlations.assign(family="Average")])
    groups = both.groupby(["family", "criterion"], sort=False)["correlation"]
    table = groups.agg(networks="count", mean="mean")
    count = table["networks"]
    table["std"] = groups.std(ddof=0).where(count > 1)
    half = t.ppf((1 + level) / 2, count - 1) * table["std"] / (count - 1) ** 0.5
    table["low"], table["high"] = (table["mean"] - half).clip(lower=-1), (table["mean"] + half).clip(upper=1)
    return table.reset_index()


def sign_counts(correlations: pd.DataFrame) -> pd.DataFrame:
    """In how many networks each criterion goes with the score, and in how many against it.

    Args:
        correlations: What :func:`companion.regression.criterion_correlations` returns.

    Returns:
        A row for each criterion: ``networks`` with a correlation, ``positive`` and ``negative`` ones of which the
        interval leaves out zero, ``undecided`` ones, ``smallest`` and ``largest`` correlation.

    >>> rows = {"criterion": ["cka"] * 3, "correlation": [0.9, -0.8, 0.1], "low": [0.5, -0.9, -0.3],
    ...         "high": [1.0, -0.1, 0.4]}
    >>> sign_counts(pd.DataFrame(rows)).loc["cka"].tolist()
    [3.0, 1.0, 1.0, 1.0, -0.8, 0.9]
    """
    complete = correlations.dropna(subset="correlation")
    table = _counts(complete["criterion"], positive=complete["low"] > 0, negative=complete["high"] < 0)
    groups = complete.groupby("criterion", sort=False)["correlation"]
    return table.assign(smallest=groups.min(), largest=groups.max())


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
    return _counts(found["criterion"], strong=ends.min(axis=1) > STRONG, weak=ends.max(axis=1) < STRONG)


def _counts(criterion: pd.Series, **flags: pd.Series) -> pd.DataFrame:
    """For each criterion the number of networks, of those with each of two flags, and of those with neither."""
    one, other = flags.values()
    return pd.DataFrame({"networks": True, **flags, "undecided": ~one & ~other}).groupby(criterion, sort=False).sum()
