"""Figure 15: how far signatures on other data are from those on ImageNet, and whether that is semantics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import data_deviations, deviations
from affscore.network.result import Signature
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import Estimate, every, mean_of, mean_or_deviation, require
from affscore.papers.evidence import batches_of_signatures, batches_of_study, trainings_of
from affscore.papers.jackknife import error_over_batches
from affscore.papers.printed import mean_and_deviation, printed_numbers, printed_table
from affscore.papers.protocol import IMAGENET_FOLDER, survey_command
from affscore.papers.results import Results

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

OURS = f"{PAPER}, appendix H, taken further"

CIFAR = ["cifar10", "cifar100"]

_COLUMNS = mean_and_deviation(
    f"{PAPER}, figure 15", "{row}: {what} over networks of the distance to the signature on ImageNet"
)


def networks() -> list[str]:
    """The networks that the figure names.

    >>> len(networks())
    33
    """
    return [str(name) for name in printed_table("study_networks").query("in_figure15 == 1").index]


def rows(results: AllResults) -> Iterator[Row]:
    """Mean and standard deviation of the distance for each data set."""
    for number in printed_numbers("figure15_deviation", _COLUMNS):
        ours = results.as_printed
        our = _our_number(ours.signatures, ours.elsewhere.get(number.row, {}), number.column)
        analogue = _analogue(results, number.row, number.column)
        yield compare(number, our, analogue, survey_command(networks(), (IMAGENET_FOLDER, number.row)))


def _analogue(results: AllResults, row: str, what: str) -> tuple[float, str] | None:
    """Of the small networks, else of others with other weights, where there is that data set."""
    for kind, about in ((results.mini, "small networks"), (results.other_weights, "networks with other weights")):
        distances = _deviations(kind)
        for data in (data for data in map(str, distances) if row in data and len(distances) > 1):
            between = f"{len(distances)} {about}: between {distances.columns.name} and {data}"
            return mean_or_deviation(distances[data], what), between
    return None


def _our_number(here: Mapping[str, Signature], there: Mapping[str, Signature], what: str) -> OurNumber | None:
    if not set(networks()) <= here.keys() & there.keys():
        return None
    here, there = ({name: data[name] for name in networks()} for data in (here, there))
    fixed_here, fixed_there = _scores(here), _scores(there)
    found = deviations(fixed_here, fixed_there)
    lost = ", ".join(sorted({*networks()} - {*found.dropna().index}))
    # the images of both data sets were drawn, independently of each other
    errors = (
        error_over_batches(lambda scores: mean_or_deviation(deviations(scores, fixed_there), what), here),
        error_over_batches(lambda scores: mean_or_deviation(deviations(fixed_here, scores), what), there),
    )
    return OurNumber(
        mean_or_deviation(found, what),
        float(np.hypot(*errors)),
        undefined=f"no distance for {lost}: an activation has no score" if lost else "",
        how="Euclidean distances, as the caption says",
        why="the caption says Euclidean distance, the text dynamic time warping",
    )


@claim(38, f"{PAPER}, appendix H and figure 15", f"{STUDY_ON_IMAGENET}, and on cifar10, cifar100 and random")
def noise_is_further_than_cifar(results: Results) -> Verdict:
    """Signatures on CIFAR-10 and CIFAR-100 are nearer to those on ImageNet than signatures on noise are.

    Test: The mean Euclidean distance is smaller for both (of other networks, for each data set of images that there
    is), with intervals over networks.
    """
    tested_on = ""
    if results.printed:
        table, count = results.printed["figure15_deviation"], len(networks())
        means = {str(name): Estimate(mean, std / count**0.5, count - 1) for name, mean, std in table.itertuples()}
        near = CIFAR
        leads = [means["random"] - means[name] for name in near]
    else:
        distances = _deviations(results)
        near = [name for name in map(str, distances) if name != "random"]
        require(near and "random" in distances)
        tested_on = _tested(results, distances, [*near, "random"])
        count, means = len(distances), {name: mean_of(distances[name]) for name in [*near, "random"]}
        leads = [mean_of(distances["random"] - distances[name]) for name in near]
    parts = {name: one.above(together=len(leads)) for name, one in zip(near, leads, strict=True)}
    listed = ", ".join(f"{one:.2f} on {name}" for name, one in means.items())
    found = f"Mean distances to the first data: {listed}."
    return Verdict.of_parts(parts, found, count, tested_on, together=True)


@claim(54, f"{PAPER}, appendix H", "the small networks on digits that are changed")
def nearer_data_are_like_the_first(results: Results) -> Verdict:
    """Where signatures are nearer to those on the first data, the data are semantically nearer.

    Test: On inverted digits, which one can still read, the mean Euclidean distance is smaller than on shuffled digits,
    which nobody can, with an interval over networks.
    """
    distances = _deviations(results)
    readable, unreadable = "digits-inverted", "digits-shuffled"
    require({readable, unreadable} <= set(distances))
    lead = mean_of(distances[unreadable] - distances[readable])
    found = f"Shuffled digits are {lead:.2f} further from digits than inverted ones."
    tested_on = _tested(results, distances, [readable, unreadable])
    return Verdict(lead.above(), found, len(distances), tested_on)


@claim(55, OURS, "a study of other data")
def other_data_move_signatures(results: Results) -> Verdict:
    """A signature on other data is further from that on the first data than one on other images of these.

    Test: For each data set the distance is larger than what the choice of images makes, with intervals over networks of
    the mean logarithm of the ratio.
    """
    require("other-data" in results.studies)
    distances = _of_study(results, "euclidean")
    logarithms = np.log(distances / _of_study(results, "chance").loc[distances.index])
    found = {name: mean_of(logarithms[name]) for name in logarithms}
    listed = ", ".join(f"{np.exp(one.value):.1f} on {name}" for name, one in found.items())
    holds = every(one.above(together=len(found)) for one in found.values())
    sentence = f"Distances over those of other images of the first data: {listed}."
    study = results.studies["other-data"]
    halves = batches_of_study(study[study["n"] < study["n"].max()])
    tested_on = f"{_tested(results, distances, list(found))}, and {halves} of the first"
    return Verdict(holds, sentence, len(distances), tested_on)


def _tested(results: Results, distances: pd.DataFrame, data: Sequence[str]) -> str:
    """The networks whose distances these are, and the batches of the first data set and of some others."""
    count = len(distances)
    if distances.columns.name == "the first data":  # of signatures
        batches = batches_of_signatures(results.signatures[str(name)] for name in distances.index)
    else:
        study = results.studies["other-data"]
        batches = batches_of_study(study[study["n"] == study["n"].max()])
    return f"{trainings_of(count, count)}, {batches} on each of {len(data) + 1} data sets"


def _deviations(results: Results) -> pd.DataFrame:
    """Euclidean distances of networks to the first data set, a column for each other; the columns' name is the first's.

    Signatures go before a study, where they are on the printed data sets.
    """
    distances = {name: _distances(results.signatures, there) for name, there in results.elsewhere.items()}
    measured = pd.DataFrame({name: some for name, some in distances.items() if len(some)}).dropna()
    if "other-data" not in results.studies or {"random", *CIFAR} <= set(measured):
        return measured.rename_axis(columns="the first data")
    return _of_study(results, "euclidean").dropna()


def _of_study(results: Results, value: str) -> pd.DataFrame:
    """A row for each network, a column for each other data set, by their names without where they are from."""
    study = results.studies["other-data"]
    short = study.assign(dataset=study["dataset"].str.removeprefix("folder:"))
    table = data_deviations(short).pivot(index="model", columns="dataset", values=value)  # noqa: PD010 - one for each
    order = [str(name) for name in short["dataset"].unique()]
    return table[order[1:]].rename_axis(columns=order[0])


def _distances(here: Mapping[str, Signature], there: Mapping[str, Signature]) -> pd.Series:
    return deviations(_scores(here), _scores(there))


def _scores(signatures: Mapping[str, Signature]) -> dict[str, NDArray[np.float64]]:
    return {name: one.scores for name, one in signatures.items()}
