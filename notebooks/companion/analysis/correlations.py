"""Correlations of the affinity score with other criteria, network by network and kind by kind of activation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import norm

from affscore.errors import AffscoreError
from companion.analysis.tables import check_level

CRITERIA_OF_TABLE_1 = ("cka", "norm", "sparsity", "entropy", "r2")
"""The criteria of tables 1 and 2 of the paper, in their order."""

_LEAST = 4
"""Fewer activations have no interval: the variance of Fisher's z is 1 / (n - 3)."""

_SAME = 1e-6  # a criterion that varies by less, relative to its size, varies by rounding


def criterion_values(summary: pd.DataFrame, criteria: Sequence[str] = CRITERIA_OF_TABLE_1) -> pd.DataFrame:
    """The score and the criteria of each activation; of one that is measured twice the change, after minus before.

    Args:
        summary: A row for each activation, as in :attr:`affscore.Signature.summary`.
        criteria: Which; one that was not measured is a column of missing values.

    Raises:
        AffscoreError: There is no score in the table.

    Source: tables 1 and 2. The paper does not say in which direction it takes the change; with this one, a ReLU
    that makes many zeros has a positive change of sparsity.

    >>> row = {"score": [0.5], "cka": [0.9], "sparsity_before": [0.0], "sparsity_after": [0.25]}
    >>> criterion_values(pd.DataFrame(row), ["cka", "sparsity", "nlc"]).to_numpy().tolist()
    [[0.5, 0.9, 0.25, nan]]
    """
    if not isinstance(summary, pd.DataFrame) or "score" not in summary:
        raise AffscoreError("expected a table with a column 'score', a row for each activation, as Signature.summary")
    twice = [name for name in criteria if {f"{name}_before", f"{name}_after"} <= set(summary)]
    changes = {name: summary[f"{name}_after"] - summary[f"{name}_before"] for name in twice}
    return summary.assign(**changes).reindex(columns=["score", *criteria]).astype(float)


def criterion_correlations(
    summaries: Mapping[str, pd.DataFrame], criteria: Sequence[str] = CRITERIA_OF_TABLE_1, level: float = 0.95
) -> pd.DataFrame:
    """Pearson's correlation of the score with each criterion over the activations of a network, with an interval.

    The interval is that of :func:`fisher_interval`. It takes the activations for independent draws. Those of one
    network are not, neighbours being alike, so the true uncertainty is larger.

    Args:
        summaries: For each network a row for each activation (:attr:`affscore.Signature.summary`).
        criteria: Which; see :func:`criterion_values`.
        level: Of the intervals, in (0, 1).

    Returns:
        A row for each network and criterion: ``model``, ``criterion``, ``activations`` (that have both numbers),
        ``correlation``, ``low`` and ``high``; missing below four activations, and where the score or the criterion is
        the same for all.

    Raises:
        AffscoreError: A level outside (0, 1), or no tables by name.

    Source: table 2, which has no intervals.

    >>> network = pd.DataFrame({"score": [0.5, 0.6, 0.7, 0.8, 0.9], "cka": [0.6, 0.7, 0.7, 0.9, 0.8]})
    >>> table = criterion_correlations({"a": network}, ["cka"])
    >>> table[["activations", "correlation", "low", "high"]].round(2).values.tolist()
    [[5.0, 0.83, -0.19, 0.99]]
    """
    check_level(level)
    if not isinstance(summaries, Mapping):
        raise AffscoreError(f"expected a table for each network by its name, got {type(summaries).__name__}")
    rows = []
    for model, summary in summaries.items():
        values = criterion_values(summary, criteria)
        for name in criteria:
            rows.append({"model": model, "criterion": name, **_correlation(values["score"], values[name], level)})
    return pd.DataFrame(rows, columns=["model", "criterion", "activations", "correlation", "low", "high"])


def fisher_interval(correlation: float, count: int, level: float = 0.95) -> tuple[float, float]:
    r"""The interval of a correlation by Fisher's transformation.

    .. math:: \tanh\Bigl(\operatorname{artanh} r \pm \frac{z}{\sqrt{n - 3}}\Bigr)

    Args:
        correlation: r, in [-1, 1].
        count: n >= 4, the number of pairs.
        level: In (0, 1).

    Returns:
        Both ends; r itself where it is -1 or 1.

    Raises:
        AffscoreError: A correlation or a level out of range, or fewer than four pairs.

    >>> [round(end, 3) for end in fisher_interval(0.5, 28)]
    [0.156, 0.736]
    """
    if not (-1 <= correlation <= 1 and count >= _LEAST and 0 < level < 1):
        raise AffscoreError(
            f"expected a correlation in [-1, 1], at least {_LEAST} pairs and a level in (0, 1), "
            f"got {correlation}, {count} and {level}"
        )
    if abs(correlation) == 1:
        return correlation, correlation
    half = norm.ppf((1 + level) / 2) / np.sqrt(count - 3)
    centre = np.arctanh(correlation)
    return float(np.tanh(centre - half)), float(np.tanh(centre + half))


def _correlation(score: pd.Series, criterion: pd.Series, level: float) -> dict[str, object]:
    complete = pd.DataFrame({"criterion": criterion, "score": score}).dropna()
    row: dict[str, object] = {"activations": len(complete), "correlation": np.nan, "low": np.nan, "high": np.nan}
    varies = all(np.ptp(complete[name]) > _SAME * np.abs(complete[name]).max() for name in complete if len(complete))
    if len(complete) >= _LEAST and varies:
        r = float(np.corrcoef(complete["score"], complete["criterion"])[0, 1])
        row |= zip(("correlation", "low", "high"), (r, *fisher_interval(r, len(complete), level)), strict=True)
    return row
