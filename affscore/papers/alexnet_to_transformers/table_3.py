"""Table 3: the criteria over differently trained ResNet-50s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from affscore.analysis import criterion_values
from affscore.network.result import Signature
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.alexnet_to_transformers.figure_16 import checkpoints
from affscore.papers.claim import Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import Estimate, every, mean_or_deviation, require
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
    measured, task = results.as_printed.checkpoints, results.hard_task
    trained = pd.Series(dtype=float) if task is None else task.loc[task["name"] == "resnet50", "mean"]
    for number in printed_numbers("table3_resnet50_robustness", _COLUMNS, _NAMES):
        our = analogue = None
        if set(checkpoints()) <= measured.keys():
            our = _our_number(measured, _CRITERIA.get(number.row, number.row), number.column)
        if number.row == "affinity_score" and len(trained) > 1:
            about = f"mini:resnet50 trained from {len(trained)} seeds on a few distorted digits"
            analogue = mean_or_deviation(trained, number.column), about
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
    intervals for so many checkpoints.
    """
    require(results.printed)
    table, count = results.printed["table3_resnet50_robustness"], len(results.printed["figure16_checkpoints"])
    spreads = table["std"] / table["mean"]
    # of the logarithm of a coefficient of variation of normal numbers (the criteria are taken for independent)
    errors = np.sqrt((0.5 + spreads**2) / (count - 1))
    parts = zip(np.log(spreads), errors, strict=True)
    estimates = dict(zip(spreads.index, (Estimate(value, error, count - 1) for value, error in parts), strict=True))
    score = estimates.pop("affinity_score")
    holds = every((score - other).below(together=len(estimates)) for other in estimates.values())
    listed = ", ".join(f"{str(name).replace('_', ' ')} {spread:.3f}" for name, spread in spreads.items())
    return Verdict(holds, f"Coefficients of variation over {count} checkpoints: {listed}.", count)
