"""How well one number of a network explains its accuracy: fits of one variable, and never on fewer than five points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from affscore.analysis.checks import check_columns, numbers_of
from affscore.errors import AffscoreError

__all__ = ["FITS", "LEAST_POINTS", "Fit", "best_explained", "explained_accuracy", "fit"]

LEAST_POINTS = 5
"""No R2 is computed on fewer networks."""

FITS = {"linear": 1, "logarithm": 1, "quadratic": 2}
"""The fits of :func:`fit`, and how many coefficients beside the constant each of them has."""


_COLUMNS = ("group", "characteristic", "fit", "points", "r2", "adjusted_r2", "correlation", "note")


@dataclass(frozen=True)
class Fit:
    """A least-squares fit of one variable.

    Attributes:
        kind: One of :data:`FITS`.
        points: Number of points.
        r2: Share of the variance of y that the fit explains, in [0, 1].
        adjusted_r2: The same after a correction for the number of coefficients; at most r2, may be below 0.
        coefficients: Of the polynomial in (x - centre) / scale or (ln x - centre) / scale, highest power first.
        centre: Mean of x or ln x.
        scale: Standard deviation of x or ln x.
    """

    kind: str
    points: int
    r2: float
    adjusted_r2: float
    coefficients: tuple[float, ...]
    centre: float
    scale: float

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """The fitted values at x."""
        values = np.asarray(x, dtype=np.float64)
        variable = np.log(values) if self.kind == "logarithm" else values
        fitted = np.polyval(self.coefficients, (variable - self.centre) / self.scale)
        return np.asarray(fitted, dtype=np.float64)


def fit(x: ArrayLike, y: ArrayLike, kind: str = "linear") -> Fit:
    r"""Fit y on one variable by least squares.

    With k coefficients beside the constant and residuals :math:`e_i`,

    .. math:: R^2 = 1 - \frac{\sum_i e_i^2}{\sum_i (y_i - \bar y)^2},\qquad
       R^2_{\text{adjusted}} = 1 - (1 - R^2)\,\frac{n - 1}{n - k - 1}.

    Args:
        x: Numbers (n,), n >= 5; positive ones for the logarithm.
        y: Numbers (n,).
        kind: "linear" (a + b x), "logarithm" (a + b ln x) or "quadratic" (a + b x + c x^2).

    Raises:
        AffscoreError: Fewer than five points, a missing value, too few different values of x, constant y, a
            logarithm of a number that is not positive, or an unknown kind.

    Source: section 4 of the paper, figure 4, which says neither which fit nor which R2 it means.

    >>> x = [1, 2, 3, 4, 5]
    >>> fit(x, [1, 4, 9, 16, 25], "quadratic").r2, round(fit(x, [1, 4, 9, 16, 25]).r2, 3)
    (1.0, 0.963)
    """
    if kind not in FITS:
        raise AffscoreError(f"there is no fit {kind!r}; known are {', '.join(FITS)}")
    variable, target = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if variable.ndim != 1 or variable.shape != target.shape:
        raise AffscoreError(f"expected as many x as y, got the shapes {variable.shape} and {target.shape}")
    points, order = len(variable), FITS[kind]
    if points < LEAST_POINTS:
        raise AffscoreError(
            f"an R2 on {points} points would say nothing; it takes at least {LEAST_POINTS}: add networks to the group"
        )
    if not (np.isfinite(variable).all() and np.isfinite(target).all()):
        raise AffscoreError("x and y must be finite; leave out the networks of which a number is missing")
    if kind == "logarithm":
        if variable.min() <= 0:
            raise AffscoreError(f"the logarithm needs positive numbers, got {variable.min():g}")
        variable = np.log(variable)
    if len(np.unique(variable)) <= order:
        raise AffscoreError(f"a {kind} fit needs at least {order + 1} different values of x")
    if np.ptp(target) == 0:
        raise AffscoreError("y is the same everywhere, so there is nothing to explain")
    centre, scale = float(variable.mean()), float(variable.std())
    standard = (variable - centre) / scale
    coefficients = np.polyfit(standard, target, order)
    rest = float(np.square(target - np.polyval(coefficients, standard)).sum())
    r2 = float(np.clip(1 - rest / np.square(target - target.mean()).sum(), 0, 1))
    adjusted = 1 - (1 - r2) * (points - 1) / (points - order - 1)
    return Fit(kind, points, r2, adjusted, tuple(map(float, coefficients)), centre, scale)


def explained_accuracy(
    table: pd.DataFrame, columns: Sequence[str], *, kind: str = "linear", group: str = "group", target: str = "accuracy"
) -> pd.DataFrame:
    """R2 of accuracy on each of several characteristics, for each group of networks.

    Args:
        table: A row for each network, with the group, the accuracy and the characteristics.
        columns: The characteristics.
        kind: One of :data:`FITS`.
        group: The column of the groups; rows without one are left out.
        target: The column of the accuracies.

    Returns:
        A row for each group and characteristic: ``group``, ``characteristic``, ``fit``, ``points``, ``r2``,
        ``adjusted_r2``, ``correlation`` (Pearson's, whose sign says in which direction accuracy moves) and ``note``:
        why a number is missing, or what was left out; empty where there is nothing to say.

    Raises:
        AffscoreError: A column that is not there or holds no numbers, or an unknown fit.

    Source: figure 4.

    >>> nets = pd.DataFrame({"group": ["A"] * 5 + ["B"] * 4, "accuracy": range(9), "depth": range(9)})
    >>> explained_accuracy(nets, ["depth"])[["group", "points", "r2", "note"]].values.tolist()[1]
    ['B', 4, nan, 'an R2 on 4 points would say nothing; it takes at least 5: add networks to the group']
    """
    check_columns(table, columns)
    check_columns(table, (group, target))
    numbers = numbers_of(table, [target, *columns]).assign(**{group: table[group]})
    if kind not in FITS:
        raise AffscoreError(f"there is no fit {kind!r}; known are {', '.join(FITS)}")
    rows = []
    for name, members in numbers.groupby(group, sort=False):
        for column in columns:
            rows.append({"group": name, "characteristic": column, "fit": kind, **_row(members, column, target, kind)})
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def best_explained(explained: pd.DataFrame, by: str = "r2") -> pd.DataFrame:
    """The row of each group with the largest R2; of a group without any R2 its first row, with the note.

    Args:
        explained: What :func:`explained_accuracy` returns.
        by: "r2" or "adjusted_r2".

    Raises:
        AffscoreError: Another table.

    >>> rows = {"group": ["A", "A"], "characteristic": ["mean", "max"], "r2": [0.2, 0.7]}
    >>> best_explained(pd.DataFrame(rows))["characteristic"].tolist()
    ['max']
    """
    check_columns(explained, ("group", by))
    best = [
        members.index[0] if members[by].isna().all() else members[by].idxmax()
        for _, members in explained.groupby("group", sort=False)
    ]
    return explained.loc[best].reset_index(drop=True)


def _row(members: pd.DataFrame, column: str, target: str, kind: str) -> dict[str, object]:
    known = members[[column, target]].dropna()
    missing = len(members) - len(known)
    note = f"without {missing} of {len(members)} networks, of which a number is missing" if missing else ""
    try:
        found = fit(known[column], known[target], kind)
    except AffscoreError as reason:
        said = "; ".join(filter(None, (str(reason), note)))
        nothing = {"r2": np.nan, "adjusted_r2": np.nan, "correlation": np.nan}
        return {"points": len(known), **nothing, "note": said}
    correlation = float(np.corrcoef(known[column], known[target])[0, 1])
    return {
        "points": found.points,
        "r2": found.r2,
        "adjusted_r2": found.adjusted_r2,
        "correlation": correlation,
        "note": note,
    }
