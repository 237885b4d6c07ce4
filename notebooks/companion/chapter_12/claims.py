"""Appendices H and I, figures 15 to 17 and table 3: other data, and a ResNet-50 that was trained in many ways."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from affscore.comparison import distance_matrix
from affscore.network.result import Signature
from companion.all_results import AllResults
from companion.chapter_12.measurements import deviations, leads_of_variation
from companion.claims import PAPER, STUDY_ON_IMAGENET, Decision, Verdict, above, below, claim, ratio_below
from companion.clustering import nearest_neighbour_accuracy
from companion.networks import IMAGENET_FOLDER, networks, survey_command
from companion.permutation import p_value_text
from companion.printed import OurNumber, Row, checkpoints, compare, printed_numbers, printed_table
from companion.regression import CRITERIA_OF_TABLE_1, criterion_values
from companion.results import PRINTED, Array, Results, Statistic, number_of
from companion.statistics import Estimate, mean_of, mean_or_deviation, require

CIFAR = ["cifar10", "cifar100"]

_WHY = "the caption says Euclidean distance, the text dynamic time warping"


def rows(results: AllResults) -> Iterator[Row]:
    """Figure 15, then table 3."""
    yield from _on_other_data(results)
    yield from _over_checkpoints(results)


def _on_other_data(results: AllResults) -> Iterator[Row]:
    """Mean and standard deviation of the distance for each data set."""
    for number in printed_numbers("figure15_deviation"):
        data, what = number.row, number.column
        our = _our_number(results.as_printed.signatures, results.as_printed.elsewhere.get(data, {}), what)
        analogue = _analogue(results, data, what)
        yield compare(number, our, analogue, survey_command(networks(), (IMAGENET_FOLDER, data)))


def _analogue(results: AllResults, row: str, what: str) -> tuple[float, str] | None:
    """Of the small networks, else of others with other weights, where there is that data set."""
    for kind, about in ((results.mini, "small networks"), (results.other_weights, "networks with other weights")):
        distances = _deviations(kind)
        for data in (data for data in map(str, distances) if row in data and len(distances) > 1):
            between = f"{len(distances)} {about}: between {distances.columns.name} and {data}"
            return mean_or_deviation(distances[data], what), between
    return None


def _our_number(here: Mapping[str, Signature], there: Mapping[str, Signature], what: str) -> OurNumber | None:
    def from_other(other: Mapping[str, Signature]) -> Statistic:
        fixed = _scores(other)

        def statistic(values: Mapping[str, Array]) -> float:
            found = deviations({name: scores for name, (scores, _) in values.items()}, fixed)
            return float(getattr(found.reindex(networks()).to_numpy(), what)())

        return statistic

    words = {"how": "Euclidean distances, as the caption says", "why": _WHY}
    one = number_of(here, networks(), from_other(there), **words)
    other = number_of(there, networks(), from_other(here), **words)
    if one is None or other is None:
        return None
    return replace(one, error=float(np.hypot(one.error, other.error)))  # both data sets were drawn, independently


@claim(f"{PAPER}, appendix H and figure 15", f"{STUDY_ON_IMAGENET}, and on cifar10, cifar100 and random")
def noise_is_further_than_cifar(results: Results) -> Verdict:
    """Signatures on CIFAR-10 and CIFAR-100 are nearer to those on ImageNet than signatures on noise are.

    Test: The mean Euclidean distance is smaller for both (of other networks, for each data set of images that there
    is), with intervals over networks.
    """
    if results.material == PRINTED:
        table, count = results.table("figure15_deviation"), len(networks())
        means = {name: Estimate(mean, std / count**0.5, count - 1, n=count) for name, mean, std in table.itertuples()}
        leads = {name: means["random"] - means[name] for name in CIFAR}
    else:
        distances, count = _deviations(results), 0
        near = [name for name in map(str, distances) if name != "random"]
        require(near and "random" in distances)
        leads = {name: mean_of(distances["random"] - distances[name]) for name in near}
    parts = {name: above(one) for name, one in leads.items()}
    return Verdict.all_of(parts, "Mean distance on noise less that on other data", n=count)


@claim(f"{PAPER}, appendix H", "the small networks on digits that are changed")
def nearer_data_are_like_the_first(results: Results) -> Verdict:
    """Where signatures are nearer to those on the first data, the data are semantically nearer.

    Test: On inverted digits, which one can still read, the mean Euclidean distance is smaller than on shuffled digits,
    which nobody can, with an interval over networks.
    """
    distances = _deviations(results)
    readable, unreadable = "digits-inverted", "digits-shuffled"
    require({readable, unreadable} <= set(distances))
    lead = above(mean_of(distances[unreadable] - distances[readable]), how=".3f")
    return Verdict.all_of({"shuffled digits less that on inverted ones": lead}, "Mean distance on")


def _deviations(results: Results) -> pd.DataFrame:
    """Euclidean distances of networks to the first data set, a column for each other; the columns' name is the first's.

    Signatures go before a study, where they are on the printed data sets.
    """
    there = {name: deviations(_scores(results.signatures), _scores(some)) for name, some in results.elsewhere.items()}
    measured = pd.DataFrame({name: some for name, some in there.items() if len(some)}).dropna()
    if "other-data" not in results.tables or {"random", *CIFAR} <= set(measured):
        return measured.rename_axis(columns="the first data")
    study = results.tables["other-data"]
    study = study.assign(dataset=study["dataset"].str.removeprefix("folder:"))
    first, *others = map(str, study["dataset"].unique())
    scores = study[study["n"] == study["n"].max()].pivot_table("score", ["model", "index"], "dataset")
    squares = (scores[others].sub(scores[first], axis=0) ** 2).groupby("model")
    return squares.agg(lambda one: one.sum(skipna=False)).pow(0.5).rename_axis(columns=first).dropna()


def _scores(signatures: Mapping[str, Signature]) -> dict[str, Array]:
    return {name: one.scores for name, one in signatures.items()}


_CRITERIA = {"affinity_score": "score", "linear_cka": "cka"}


def _over_checkpoints(results: AllResults) -> Iterator[Row]:
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
