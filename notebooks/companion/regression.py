"""Correlations of the score with criteria, and fits of one variable or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from affscore.errors import AffscoreError

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

    Source: tables 1 and 2. The paper does not say in which direction it takes the change; with this one, a ReLU
    that makes many zeros has a positive change of sparsity.

    >>> row = {"score": [0.5], "cka": [0.9], "sparsity_before": [0.0], "sparsity_after": [0.25]}
    >>> criterion_values(pd.DataFrame(row), ["cka", "sparsity", "nlc"]).to_numpy().tolist()
    [[0.5, 0.9, 0.25, nan]]
    """
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

    Source: table 2, which has no intervals.

    >>> network = pd.DataFrame({"score": [0.5, 0.6, 0.7, 0.8, 0.9], "cka": [0.6, 0.7, 0.7, 0.9, 0.8]})
    >>> table = criterion_correlations({"a": network}, ["cka"])
    >>> table[["activations", "correlation", "low", "high"]].round(2).values.tolist()
    [[5.0, 0.83, -0.19, 0.99]]
    """
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


Array = NDArray[np.float64]

LEAST_POINTS = 5
"""No R2 is computed on fewer networks."""

FITS = ("linear", "logarithm")
"""The fits of :func:`fit`."""


@dataclass(frozen=True)
class Fit:
    """A least-squares fit of one variable.

    Attributes:
        kind: One of :data:`FITS`.
        points: Number of points.
        r2: Share of the variance of y that the fit explains, in [0, 1].
        adjusted_r2: The same after a correction for the number of coefficients; at most r2, may be below 0.
        curve: The polynomial in x or ln x.
    """

    kind: str
    points: int
    r2: float
    adjusted_r2: float
    curve: Polynomial

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """The fitted values at x."""
        values = np.asarray(x, dtype=np.float64)
        return np.asarray(self.curve(np.log(values) if self.kind == "logarithm" else values), dtype=np.float64)


def fit(x: ArrayLike, y: ArrayLike, kind: str = "linear") -> Fit:
    r"""Fit y on one variable by least squares.

    With residuals :math:`e_i`,

    .. math:: R^2 = 1 - \frac{\sum_i e_i^2}{\sum_i (y_i - \bar y)^2},\qquad
       R^2_{\text{adjusted}} = 1 - (1 - R^2)\,\frac{n - 1}{n - 2}.

    Args:
        x: Numbers (n,), n >= 5; positive ones for the logarithm.
        y: Numbers (n,).
        kind: "linear" (a + b x) or "logarithm" (a + b ln x).

    Raises:
        AffscoreError: Fewer than five points, a missing value, too few different values of x, constant y, a
            logarithm of a number that is not positive, or an unknown kind.

    Source: section 4 of the paper, figure 4, which says neither which fit nor which R2 it means.

    >>> round(fit([1, 2, 3, 4, 5], [1, 4, 9, 16, 25]).r2, 3)
    0.963
    """
    variable, target = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    points = len(variable)
    if points < LEAST_POINTS:
        raise AffscoreError(
            f"an R2 on {points} points would say nothing; it takes at least {LEAST_POINTS}: add networks to the group"
        )
    if not np.isfinite([variable, target]).all():
        raise AffscoreError("x and y must be finite; leave out the networks of which a number is missing")
    if kind == "logarithm":
        if variable.min() <= 0:
            raise AffscoreError(f"the logarithm needs positive numbers, got {variable.min():g}")
        variable = np.log(variable)
    if len(np.unique(variable)) < 2:
        raise AffscoreError("a fit needs at least 2 different values of x")
    if np.ptp(target) == 0:
        raise AffscoreError("y is the same everywhere, so there is nothing to explain")
    curve = Polynomial.fit(variable, target, 1)
    r2 = float(np.clip(1 - np.square(target - curve(variable)).mean() / target.var(), 0, 1))
    return Fit(kind, points, r2, 1 - (1 - r2) * (points - 1) / (points - 2), curve)


def plain_r2(adjusted: float, points: int) -> float:
    """The R2 of a fit of one variable from the adjusted one.

    >>> round(plain_r2(0.842, 5), 4)
    0.8815
    """
    if points < 3:
        raise AffscoreError(f"an adjusted R2 needs at least 3 points, got {points}")
    return 1 - (1 - adjusted) * (points - 2) / (points - 1)


ERROR = "_standard_error"
"""What the names of the columns of standard errors end in."""


def over_seeds(table: pd.DataFrame, by: str = "name") -> pd.DataFrame:
    """Means over seeds, and their standard errors.

    Args:
        table: A row for each network and ``seed``.
        by: The column of the networks.

    Returns:
        A row for each network, by its name: ``seeds`` (how many), and for each other column of numbers its mean, and
        the standard error of that under its name with :data:`ERROR` (missing for a single seed).

    Raises:
        AffscoreError: A column that is not there, or a seed that a network has twice.

    >>> trials = pd.DataFrame({"name": ["a", "a"], "seed": [0, 1], "accuracy": [80.0, 90.0]})
    >>> over_seeds(trials).loc["a"].tolist()
    [2.0, 85.0, 5.0]
    """
    if table.duplicated([by, "seed"]).any():
        raise AffscoreError("a network has two rows of the same seed")
    groups = table.groupby(by, sort=False)
    numbers = groups[list(table.drop(columns=[by, "seed"]).select_dtypes("number"))]
    return groups.size().to_frame("seeds").join([numbers.mean(), numbers.sem().add_suffix(ERROR)])
