"""Appendix I, figures 16 and 17 and table 3: a ResNet-50 that was trained in many ways, as without labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from affscore.comparison import distance_matrix
from affscore.network.result import Signature
from companion.analysis import CRITERIA_OF_TABLE_1, criterion_values, nearest_neighbour_accuracy, p_value_text
from companion.analysis.decisions import Decision, below, ratio_below
from companion.analysis.estimates import Estimate, require
from companion.analysis.methods import leads_of_variation
from companion.analysis.statistics import mean_or_deviation
from companion.papers.alexnet_to_transformers import PAPER
from companion.papers.all_results import AllResults
from companion.papers.claim import Verdict, claim
from companion.papers.measured import number_of
from companion.papers.networks import survey_command
from companion.papers.printed import Row, checkpoints, compare, printed_numbers, printed_table
from companion.papers.results import PRINTED, Array, Results

_CRITERIA = {"affinity_score": "score", "linear_cka": "cka"}


def rows(results: AllResults) -> Iterator[Row]:
    """Mean and standard deviation of each criterion over checkpoints, of its mean over activations."""
    supervised = ["resnet50", "wide_resnet50_2"]
    files = [f"resnet50@checkpoints/{name}.pth" for name in checkpoints() if name not in supervised]
    command = survey_command([*supervised, *files])
    trained = means_of_criteria(results.mini.checkpoints)
    how = "over checkpoints, of the mean over activations"
    why = "the paper does not say whether its standard deviation is over checkpoints, activations or batches"
    for number in printed_numbers("table3_resnet50_robustness"):
        criterion, what = _CRITERIA.get(number.row, number.row), number.column

        def statistic(values: Mapping[str, Array], what: str = what) -> float:
            return mean_or_deviation([np.nanmean(one[1]) for one in values.values()], what)

        ours = number_of(results.as_printed.checkpoints, checkpoints(), statistic, criterion, how=how, why=why)
        about = f"mini:resnet18 trained {len(trained)} times, in several ways"
        analogue = (mean_or_deviation(trained[criterion], what), about) if len(trained) > 1 else None
        yield compare(number, ours, analogue, command)


@claim(
    f"{PAPER}, appendix I, figures 16 and 17 and table 3",
    "the checkpoints of figure 16 and the study's networks on ImageNet",
)
def other_training_changes_little(results: Results) -> Verdict:
    """Training in another way, as without labels, hardly changes a signature.

    Test: The standard deviation of the mean score over ways of training one architecture is less than half of that over
    networks, with the interval of their ratio. Other seeds are not another way: checkpoints of one method are averaged.
    """
    means = pd.Series({name: np.nanmean(one.scores) for name, one in results.checkpoints.items()}, dtype=float)
    within = means.groupby(method_of).mean()
    require(len(within) > 2 and len(results.study) > 9)
    between = np.array([results.scores(name).mean() for name in results.study.index])
    ratio = ratio_below(float(within.var()), len(within) - 1, between.var(ddof=1), len(between) - 1)
    what = "Ratio of the standard deviation of the mean score"
    return Verdict.all_of({f"over {len(within)} methods to that over networks": ratio}, what)


@claim(f"{PAPER}, appendix I and figure 16", "checkpoints of figure 16, several of them of one method")
def methods_are_found(results: Results) -> Verdict:
    """Networks of one architecture that were trained by the same method have signatures near each other.

    Test: The nearest neighbour of a network by dynamic time warping was trained by the same method more often than
    under permuted methods.
    """
    methods = pd.Series([method_of(name) for name in results.checkpoints], dtype=str)
    require(1 < len(set(methods)) < len(methods))
    scores = {name: one.scores[np.isfinite(one.scores)] for name, one in results.checkpoints.items()}
    share = nearest_neighbour_accuracy(distance_matrix(scores), list(methods), permutations=4999)
    shown = f"{share.value:.0%}, with permuted methods {share.permuted:.0%} ({p_value_text(share.p_value)})"
    part = Decision(shown, True, share.p_value, len(methods), f"{share.rare:.0%} would have been seen")
    return Verdict.all_of({"of the same method": part}, "Nearest neighbours", units="trainings")


@claim(f"{PAPER}, appendix I and table 3", "the printed numbers")
def steadiest_criterion(results: Results) -> Verdict:
    """Over differently trained networks of one architecture the score varies less than all other criteria.

    Test: Its coefficient of variation (standard deviation over mean, since units differ) is the smallest, with
    intervals: of a jackknife over methods of training, or, of the printed numbers, of independent normal numbers.
    """
    printed = results.material == PRINTED
    leads = (_printed_spreads if printed else _measured_spreads)(results)
    parts = {name.replace("_", " "): below(lead) for name, lead in leads.items()}
    what, units = "Logarithm of the score's coefficient of variation over that of", "networks" if printed else "methods"
    return Verdict.all_of(parts, what, units=units)


def _printed_spreads(results: Results) -> dict[str, Estimate]:
    """The logarithm of the score's coefficient of variation over that of each other criterion."""
    table, count = results.table("table3_resnet50_robustness"), len(results.table("figure16_checkpoints"))
    spreads = table["std"] / table["mean"]
    # of the logarithm of a coefficient of variation of normal numbers (the criteria are taken for independent)
    errors = np.sqrt((0.5 + spreads**2) / (count - 1))
    found = {str(name): Estimate(np.log(spreads[name]), errors[name], count - 1) for name in spreads.index}
    score = found.pop("affinity_score")
    return {name: replace(score - other, n=count) for name, other in found.items()}


def _measured_spreads(results: Results) -> dict[str, Estimate]:
    """The same of checkpoints that were measured."""
    methods, values = [method_of(name) for name in results.checkpoints], means_of_criteria(results.checkpoints)
    require(len(set(methods)) > 2 and values.notna().all(axis=None))
    return leads_of_variation(values, methods, "score")


def method_of(name: str) -> str:
    """How a checkpoint was trained: as figure 16 says, else its name without a number at the end, the seed.

    >>> method_of("resnet50_swav_400"), method_of("label-noise-2"), method_of("dino")
    ('SwAV', 'label-noise', 'dino')
    """
    table = printed_table("figure16_checkpoints")
    return str(table.loc[name, "method"]) if name in table.index else re.sub(r"(?<=.)-\d+$", "", name)


def means_of_criteria(checkpoints: Mapping[str, Signature]) -> pd.DataFrame:
    """The mean over activations of the score and of each criterion of table 3: a row for each checkpoint.

    A criterion that was not measured is missing.
    """
    criteria = ["score", *(criterion for criterion in CRITERIA_OF_TABLE_1 if criterion != "r2")]
    return pd.DataFrame({name: criterion_values(one.summary)[criteria].mean() for name, one in checkpoints.items()}).T
