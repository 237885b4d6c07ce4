"""What explains the accuracy of networks, in each group, beside families."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from affscore.errors import AffscoreError
from companion.regression import Fit, fit

_COLUMNS = ("group", "characteristic", "fit", "points", "r2", "adjusted_r2", "correlation")


def explained_accuracy(table: pd.DataFrame, columns: Sequence[str], kind: str = "linear") -> pd.DataFrame:
    """R2 of accuracy on each of several characteristics, for each group of networks.

    Args:
        table: A row for each network, with ``group``, ``accuracy`` and the characteristics; rows without a group are
            left out.
        columns: The characteristics.
        kind: One of :data:`FITS`.

    Returns:
        A row for each group and characteristic: ``group``, ``characteristic``, ``fit``, ``points``, ``r2``,
        ``adjusted_r2``, ``correlation`` (Pearson's, whose sign says in which direction accuracy moves); the last three
        are missing where no fit is possible (:func:`companion.regression.fit`).

    Source: figure 4.

    >>> nets = pd.DataFrame({"group": ["A"] * 5 + ["B"] * 4, "accuracy": range(9), "depth": range(9)})
    >>> explained_accuracy(nets, ["depth"])[["group", "points", "r2"]].values.tolist()
    [['A', 5, 1.0], ['B', 4, nan]]
    """
    known = table[["accuracy", *columns]].astype(float).assign(group=table["group"])
    rows = []
    for (name, members), column in product(known.groupby("group", sort=False), columns):
        complete = members[[column, "accuracy"]].dropna()
        found = _fit(complete, kind)
        numbers = [np.nan] * 3 if found is None else [found.r2, found.adjusted_r2, complete.corr().iloc[0, 1]]
        rows.append((name, column, kind, len(complete), *numbers))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def best_explained(explained: pd.DataFrame) -> pd.DataFrame:
    """The row of each group with the largest R2; of a group without any R2 its first row.

    Args:
        explained: What :func:`explained_accuracy` returns.

    >>> rows = {"group": ["A", "A"], "characteristic": ["mean", "max"], "r2": [0.2, 0.7]}
    >>> best_explained(pd.DataFrame(rows))["characteristic"].tolist()
    ['max']
    """
    least = np.finfo(float).min  # pandas 2.2 finds no maximum among minus infinities
    best = explained["r2"].astype(float).fillna(least).groupby(explained["group"], sort=False).idxmax()
    return explained.loc[best].reset_index(drop=True)


def panel_fits(table: pd.DataFrame, panels: pd.DataFrame) -> list[Fit | None]:
    """The fits behind the panels of a figure.

    Args:
        table: A row for each network, with ``group``, ``accuracy`` and the characteristics.
        panels: A row for each fit: ``group``, ``characteristic`` and ``fit``, as of :func:`best_explained`.

    Returns:
        The fit of each row; None where there is none.

    >>> nets = pd.DataFrame({"group": ["A"] * 5, "accuracy": range(5), "depth": range(5)})
    >>> [found.r2 for found in panel_fits(nets, best_explained(explained_accuracy(nets, ["depth"])))]
    [1.0]
    """
    wanted = panels[["group", "characteristic", "fit"]].itertuples(index=False)
    return [_fit(table.loc[table["group"] == group, [name, "accuracy"]].dropna(), kind) for group, name, kind in wanted]


def between_families(table: pd.DataFrame) -> float:
    r"""The share of the variance of accuracy that lies between families.

    .. math:: 1 - \frac{\sum_i (y_i - \bar y_{f(i)})^2}{\sum_i (y_i - \bar y)^2}

    It is the R2 of a baseline that knows the name of each network's family and nothing else.

    Args:
        table: A row for each network, with ``family`` and ``accuracy``; networks without an accuracy are left out.

    Returns:
        The share, in [0, 1]; NaN where all accuracies are the same, and 1 where no family has two members.

    >>> between_families(pd.DataFrame({"family": ["a", "a", "b", "b"], "accuracy": [1.0, 2.0, 8.0, 9.0]}))
    0.98
    """
    values = table["accuracy"].astype(float).dropna()
    means = values.groupby(table.loc[values.index, "family"], sort=False).transform("mean")
    whole = np.square(values - values.mean()).sum()
    return float(1 - np.square(values - means).sum() / whole) if whole > 0 else np.nan


def _fit(complete: pd.DataFrame, kind: str) -> Fit | None:
    """A fit of the second column on the first, where there is one."""
    try:
        return fit(complete.iloc[:, 0], complete.iloc[:, 1], kind)
    except AffscoreError:
        return None
