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


def _fit(complete: pd.DataFrame, kind: str) -> Fit | None:
    """A fit of the second column on the first, where there is one."""
    try:
        return fit(complete.iloc[:, 0], complete.iloc[:, 1], kind)
    except AffscoreError:
        return None
