"""Table 3: the criteria over differently trained ResNet-50s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from affscore.analysis import criterion_values
from affscore.analysis.correlations import CRITERIA_OF_TABLE_1
from affscore.errors import AffscoreError
from affscore.network.result import Signature
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.alexnet_to_transformers.figure_16 import checkpoints, method_of
from affscore.papers.claim import Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import Estimate, mean_or_deviation, require
from affscore.papers.evidence import signatures_tested
from affscore.papers.jackknife import error_over_batches
from affscore.papers.printed import mean_and_deviation, printed_numbers
from affscore.papers.protocol import survey_command
from affscore.papers.results import Results

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

_COLUMNS = mean_and_deviation(f"{PAPER}, table 3", "{name}: {what} over checkpoints of ResNet-50")
_CRITERIA = {"affinity_score": "score", "linear_cka": "cka"}
_NAMES = {"affinity_score": "affinity score", "linear_cka": "linear cka"}


def rows(results: AllResults) -> Iterator[Row]:
    """Mean and standard deviation of each criterion over checkpoints, of its mean over activations."""
    supervised = ["resnet50", "wide_resnet50_2"]
    files = [f"resnet50@checkpoints/{name}.pth" for name in checkpoints() if name not in supervised]
    command = survey_command([*supervised, *files])
    measured, trained = results.as_printed.checkpoints, means_of_criteria(results.mini.checkpoints)
    for number in printed_numbers("table3_resnet50_robustness", _COLUMNS, _NAMES):
        our = analogue = None
        if set(checkpoints()) <= measured.keys():
            our = _our_number(measured, _CRITERIA.get(number.row, number.row), number.column)
        if len(trained) > 1:
            about = f"mini:resnet18 trained {len(trained)} times, in several ways"
            analogue = mean_or_deviation(trained[_CRITERIA.get(number.row, number.row)], number.column), about
        yield compare(number, our, analogue, command)


def _our_number(measured: Mapping[str, Signature], criterion: str, what: str) -> OurNumber:
    """Mean or standard deviation over checkpoints of the mean of a criterion over activations."""

    def over_checkpoints(values: Mapping[str, ArrayLike]) -> float:
        return mean_or_deviation([mean_or_deviation(one, "mean") for one in values.values()], what)

    return OurNumber(
        over_checkpoints({name: criterion_values(one.summary)[criterion] for name, one in measured.items()}),
        error_over_batches(over_checkpoints, measured, criterion),
        how="over checkpoints, of the mean over activations",
        why="the paper does not say whether its standard deviation is over checkpoints, activations or batches",
    )


@claim(44, f"{PAPER}, appendix I and table 3", "the printed numbers")
def steadiest_criterion(results: Results) -> Verdict:
    """Over differently trained networks of one architecture the score varies less than all other criteria.

    Test: Its coefficient of variation (standard deviation over mean, since units differ) is the smallest, with
    intervals: of a jackknife over methods of training, or, of the printed numbers, of independent normal numbers.
    """
    spreads, leads = _printed_spreads(results) if results.printed else _measured_spreads(results)
    parts = dict(zip(_others(spreads), (lead.below(together=len(leads)) for lead in leads), strict=True))
    listed = ", ".join(f"{str(name).replace('_', ' ')} {spread:.3f}" for name, spread in spreads.items())
    count = len(results.printed["figure16_checkpoints"] if results.printed else results.checkpoints)
    found = f"Coefficients of variation over {count} checkpoints: {listed}."
    if results.printed:
        tested_on = f"printed means and deviations over {count} checkpoints of one network"
    else:
        tested_on = signatures_tested(results.checkpoints.values())
    return Verdict.of_parts(parts, found, count, tested_on, together=True)


def _others(spreads: pd.Series) -> list[str]:
    """What the leads of the score are called: by the criterion that it is compared with."""
    return [str(name).replace("_", " ") for name in spreads.index[1:]]


def _printed_spreads(results: Results) -> tuple[pd.Series, list[Estimate]]:
    """Coefficients of variation, and the logarithms of that of the score over those of the others."""
    table, count = results.printed["table3_resnet50_robustness"], len(results.printed["figure16_checkpoints"])
    spreads = table["std"] / table["mean"]
    # of the logarithm of a coefficient of variation of normal numbers (the criteria are taken for independent)
    errors = np.sqrt((0.5 + spreads**2) / (count - 1))
    parts = zip(np.log(spreads), errors, strict=True)
    estimates = dict(zip(spreads.index, (Estimate(value, error, count - 1) for value, error in parts), strict=True))
    score = estimates.pop("affinity_score")
    return spreads, [score - other for other in estimates.values()]


def _measured_spreads(results: Results) -> tuple[pd.Series, list[Estimate]]:
    """The same of checkpoints that were measured."""
    methods = np.array([method_of(name) for name in results.checkpoints])
    count = len(set(methods))
    require(count > 2)
    values = means_of_criteria(results.checkpoints)
    require(values.notna().all(axis=None))

    def leads(rows: pd.DataFrame) -> pd.Series:
        spreads = np.log(_variation(rows))
        return spreads["score"] - spreads.drop("score")

    whole = leads(values)
    without = pd.DataFrame([leads(values[methods != method]) for method in sorted(set(methods))])
    errors = np.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum())
    return _variation(values), [Estimate(whole[name], errors[name], count - 1) for name in whole.index]


def _variation(values: pd.DataFrame) -> pd.Series:
    return values.std() / values.mean().abs()


def means_of_criteria(checkpoints: Mapping[str, Signature]) -> pd.DataFrame:
    """The mean over activations of the score and of each criterion of table 3: a row for each checkpoint.

    A criterion that was not measured is missing.
    """
    criteria = ["score", *(criterion for criterion in CRITERIA_OF_TABLE_1 if criterion != "r2")]
    return pd.DataFrame({name: criterion_values(one.summary)[criteria].mean() for name, one in checkpoints.items()}).T


def spread_over_methods(values: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    r"""How far criteria differ over networks of one architecture, and how far by their seeds alone.

    With a mean square :math:`s_w^2` within methods and one :math:`s_b^2` between them, F is
    :math:`s_b^2 / s_w^2` (one-way analysis of variance).

    Args:
        values: A row for each network, a column for each criterion (:func:`means_of_criteria`).
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
