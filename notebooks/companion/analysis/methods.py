"""Networks of one architecture that were trained by several methods: how far these move what is measured of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from affscore.errors import AffscoreError
from companion.analysis.estimates import Estimate, jackknife_error


def spread_over_methods(values: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    r"""How far criteria differ over networks of one architecture, and how far by their seeds alone.

    With a mean square :math:`s_w^2` within methods and one :math:`s_b^2` between them, F is
    :math:`s_b^2 / s_w^2` (one-way analysis of variance).

    Args:
        values: A row for each network, a column for each criterion.
        methods: How each network was trained; one method at least has several networks.

    Returns:
        A row for each criterion: ``mean`` and ``std`` over all networks, as in table 3 but with n - 1 in the
        denominator; ``seeds``, the standard deviation within methods; their ``ratio``; ``F`` and its
        ``p_value``: small where methods differ by more than seeds do.

    Raises:
        AffscoreError: Not a method for each network, or no method with several, or only one.

    >>> values = pd.DataFrame({"score": [0.5, 0.6, 0.8, 0.9], "norm": [1.0, 2.0, 1.0, 2.0]})
    >>> spread_over_methods(values, ["a", "a", "b", "b"])["F"].round(3).tolist()
    [18.0, 0.0]
    """
    if len(methods) != len(values) or not 1 < len(set(methods)) < len(methods):
        raise AffscoreError(
            f"expected a method for each of {len(values)} networks, two methods at least, one of them of several; "
            f"got {len(methods)} of {len(set(methods))}"
        )
    labels = pd.Series(list(methods), index=values.index)
    groups = [values[labels == method] for method in labels.unique()]
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (len(values) - len(groups))
    between = sum(len(group) * (group.mean() - values.mean()) ** 2 for group in groups) / (len(groups) - 1)
    f = between / within
    return pd.DataFrame({
        "mean": values.mean(), "std": values.std(), "seeds": within**0.5, "ratio": values.std() / within**0.5,
        "F": f, "p_value": stats.f.sf(f, len(groups) - 1, len(values) - len(groups)),
    })  # fmt: skip


def leads_of_variation(values: pd.DataFrame, methods: Sequence[str], of: str) -> dict[str, Estimate]:
    """How much less a number varies over networks than others do, with the jackknife's error over methods.

    Args:
        values: As of :func:`spread_over_methods`.
        methods: How each network was trained.
        of: The column that is compared with the others.

    Returns:
        For each other column the logarithm of the coefficient of variation (standard deviation over mean) of the one,
        less that of the other.

    >>> values = pd.DataFrame({"score": [0.5, 0.51, 0.52], "norm": [1.0, 2.0, 3.0]})
    >>> f"{leads_of_variation(values, ['a', 'b', 'c'], 'score')['norm'].value:.2f}"
    '-3.24'
    """

    def leads(rows: pd.DataFrame) -> pd.Series:
        spreads = (rows.std() / rows.mean().abs()).map(np.log)
        return spreads[of] - spreads.drop(of)

    labels, whole = np.array(methods), leads(values)
    without = pd.DataFrame([leads(values[labels != method]) for method in sorted(set(methods))])
    count = len(without)
    return {
        str(name): Estimate(float(whole[name]), jackknife_error(without[name].to_numpy()), count - 1, n=count)
        for name in whole.index
    }
