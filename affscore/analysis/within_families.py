"""Does a statistic explain accuracy within families of networks, or does it only tell the families apart?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from affscore.analysis.chance import PERMUTATIONS, best_by_chance
from affscore.analysis.checks import check_columns, numbers_of
from affscore.errors import AffscoreError

__all__ = ["between_families", "chance_within_families"]


def between_families(table: pd.DataFrame, family: str = "family", target: str = "accuracy") -> float:
    r"""The share of the variance of accuracy that lies between families.

    .. math:: 1 - \frac{\sum_i (y_i - \bar y_{f(i)})^2}{\sum_i (y_i - \bar y)^2}

    It is the R2 of a rival that knows the name of each network's family and nothing else.

    Args:
        table: A row for each network.
        family: The column of the families.
        target: The column of the accuracies; networks without one are left out.

    Returns:
        The share, in [0, 1]; NaN where all accuracies are the same, and 1 where no family has two members.

    Raises:
        AffscoreError: A column that is not there or holds no numbers.

    >>> between_families(pd.DataFrame({"family": ["a", "a", "b", "b"], "accuracy": [1.0, 2.0, 8.0, 9.0]}))
    0.98
    """
    check_columns(table, [family])
    values = numbers_of(table, [target])[target].dropna()
    means = values.groupby(table.loc[values.index, family], sort=False).transform("mean")
    whole = np.square(values - values.mean()).sum()
    return float(1 - np.square(values - means).sum() / whole) if whole > 0 else np.nan


def chance_within_families(
    table: pd.DataFrame,
    statistics: Sequence[str],
    *,
    group: str = "group",
    family: str = "family",
    target: str = "accuracy",
    kind: str = "linear",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """The chance of the best of several statistics, when accuracies are exchanged freely and within families only.

    A group of two families is in good part two points: whatever differs between the families goes with accuracy. The
    free shuffle takes that for evidence; the one within families does not.

    Args:
        table: A row for each network, with group, family, accuracy and statistics.
        statistics: Columns that compete.
        group: The column of the groups; rows without one are left out.
        family: The column of the families.
        target: The column of the accuracies.
        kind: "linear" or "logarithm".
        permutations: How many shuffles.
        seed: Fixes them.

    Returns:
        A row for each group, by its name: ``networks``, ``families``, ``between_families`` (:func:`between_families`),
        ``best_statistic``, ``statistic_r2``, ``p_value``, ``p_within`` (missing for a single family),
        ``smallest_p_within`` (that so many members allow) and ``note``: why a number is missing.

    Raises:
        AffscoreError: A column that is not there or holds no numbers.

    Source: the restricted permutation test; the paper has no test. Two families, and a statistic that knows which is
    which and nothing of their members:

    >>> x = [1.0, 1.1, 1.2, 1.3, 3.0, 3.1, 3.2, 3.3]
    >>> y = [12, 10, 13, 11, 62, 60, 63, 61]
    >>> two = pd.DataFrame({"group": "G", "family": ["a"] * 4 + ["b"] * 4, "mean": x, "accuracy": y})
    >>> row = chance_within_families(two, ["mean"]).loc["G"]
    >>> bool(row["between_families"] > 0.99), round(float(row["p_value"]), 3), round(float(row["p_within"]), 3)
    (True, 0.016, 0.557)
    """
    check_columns(table, [group, family])
    numbers_of(table, [target, *statistics])
    rows = {}
    for name, members in table.groupby(group, sort=False):
        labels = members[family].fillna("none") if members[family].dtype == object else members[family]
        members = members.assign(**{family: labels})
        options = {"target": target, "kind": kind, "permutations": permutations, "seed": seed}
        row: dict[str, object] = {
            "networks": len(members),
            "families": len(labels.unique()),
            "between_families": between_families(members, family, target),
            "p_within": np.nan,
            "note": "",
        }
        try:
            free = best_by_chance(members, statistics, **options)  # type: ignore[arg-type]
        except AffscoreError as reason:
            rows[name] = {**row, "note": str(reason)}
            continue
        row |= {"best_statistic": free.best, "statistic_r2": free.observed, "p_value": free.p_value}
        if len(labels.unique()) > 1:
            inside = best_by_chance(members, statistics, within=family, **options)  # type: ignore[arg-type]
            least = inside.share_reaching(float(inside.shuffled.max()))
            row |= {"p_within": inside.p_value, "smallest_p_within": least}
        else:
            row["note"] = "one family"
        rows[name] = row
    columns = ["networks", "families", "between_families", "best_statistic", "statistic_r2", "p_value", "p_within",
               "smallest_p_within", "note"]  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=columns)
