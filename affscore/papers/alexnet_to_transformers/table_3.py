"""Table 3: the criteria over differently trained ResNet-50s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from affscore.analysis import CRITERIA_OF_TABLE_1, criterion_values
from affscore.network.result import Signature
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.alexnet_to_transformers.figure_16 import checkpoints
from affscore.papers.claim import Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import Estimate, every, mean_or_deviation, require
from affscore.papers.jackknife import jackknife_error, means_without_a_batch
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
    ours: dict[tuple[str, str], OurNumber] = {}
    trained = pd.Series(dtype=float) if task is None else task.loc[task["name"] == "resnet50", "mean"]
    if set(checkpoints()) <= measured.keys():
        for criterion in ("score", *CRITERIA_OF_TABLE_1[:-1]):
            ours |= _our_numbers(measured, criterion)
    for number in printed_numbers("table3_resnet50_robustness", _COLUMNS, _NAMES):
        our, analogue = ours.get((_CRITERIA.get(number.row, number.row), number.column)), None
        if number.row == "affinity_score" and len(trained) > 1:
            about = f"mini:resnet50 trained from {len(trained)} seeds on a few distorted digits"
            analogue = mean_or_deviation(trained, number.column), about
        yield compare(number, our, analogue, command)


def _our_numbers(measured: Mapping[str, Signature], criterion: str) -> dict[tuple[str, str], OurNumber]:
    """Mean and standard deviation over checkpoints of the mean of a criterion over activations."""
    means = {name: criterion_values(one.summary)[criterion].mean() for name, one in measured.items()}
    values = {name: criterion_values(one.table)[criterion] for name, one in measured.items()}
    without = pd.DataFrame({name: means_without_a_batch(measured[name], each).mean() for name, each in values.items()})
    every_batch = without.fillna(means)  # of a checkpoint with fewer batches none is left out then
    numbers = {}
    for what in ("mean", "std"):
        # all checkpoints saw the same images, so a batch is left out of all at once
        replicates = np.array([mean_or_deviation(row, what) for _, row in every_batch.iterrows()])
        numbers[criterion, what] = OurNumber(
            mean_or_deviation(list(means.values()), what),
            jackknife_error(replicates) if without.notna().sum().min() > 1 else np.inf,
            how="over checkpoints, of the mean over activations",
            why="the paper does not say whether its standard deviation is over checkpoints, activations or batches",
        )
    return numbers


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
