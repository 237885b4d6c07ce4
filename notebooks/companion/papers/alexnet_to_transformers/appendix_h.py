"""Appendix H and figure 15: how far signatures on other data are from those on ImageNet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from affscore.network.result import Signature
from companion.analysis import deviations
from companion.analysis.batches import Statistic
from companion.analysis.decisions import above
from companion.analysis.estimates import Estimate, mean_of, require
from companion.analysis.statistics import mean_or_deviation
from companion.papers.alexnet_to_transformers import PAPER
from companion.papers.all_results import AllResults
from companion.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from companion.papers.measured import number_of
from companion.papers.networks import IMAGENET_FOLDER, survey_command
from companion.papers.printed import OurNumber, Row, compare, printed_numbers, printed_table
from companion.papers.results import PRINTED, Array, Results

CIFAR = ["cifar10", "cifar100"]
_WHY = "the caption says Euclidean distance, the text dynamic time warping"


def networks() -> list[str]:
    """The networks that the figure names.

    >>> len(networks())
    33
    """
    return [str(name) for name in printed_table("study_networks").query("in_figure15 == 1").index]


def rows(results: AllResults) -> Iterator[Row]:
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
