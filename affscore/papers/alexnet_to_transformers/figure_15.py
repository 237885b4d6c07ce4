"""Figure 15: how far signatures on other data are from those on ImageNet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import deviations
from affscore.network.result import Signature
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import Estimate, every, mean_of, mean_or_deviation, require
from affscore.papers.jackknife import error_over_batches
from affscore.papers.printed import mean_and_deviation, printed_numbers, printed_table
from affscore.papers.protocol import IMAGENET_FOLDER, survey_command
from affscore.papers.results import Results

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

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
        ours, analogue = results.as_printed, None
        small = _distances(results.mini.signatures, results.mini.elsewhere.get(number.row, {}))
        if len(small) > 1:
            about = f"{len(small)} networks mini: between digits and {number.row}"
            analogue = mean_or_deviation(small, number.column), about
        our = _our_number(ours.signatures, ours.elsewhere.get(number.row, {}), number.column)
        yield compare(number, our, analogue, survey_command(networks(), (IMAGENET_FOLDER, number.row)))


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

    Test: The mean Euclidean distance is smaller for both, with intervals over networks.
    """
    cifar = ["cifar10", "cifar100"]
    if results.printed:
        table, count = results.printed["figure15_deviation"], len(networks())
        means = {str(name): Estimate(mean, std / count**0.5, count - 1) for name, mean, std in table.itertuples()}
        leads = [means["random"] - means[name] for name in cifar]
    else:
        here, elsewhere = results.signatures, results.elsewhere.items()
        distances = pd.DataFrame({name: _distances(here, there) for name, there in elsewhere}).dropna()
        require({"random", *cifar} <= set(distances))
        count, means = len(distances), {str(name): mean_of(distances[name]) for name in distances}
        leads = [mean_of(distances["random"] - distances[name]) for name in cifar]
    listed = ", ".join(f"{one:.2f} on {name}" for name, one in means.items())
    return Verdict(every(one.above(together=2) for one in leads), f"Mean distances to the first data: {listed}.", count)


def _distances(here: Mapping[str, Signature], there: Mapping[str, Signature]) -> pd.Series:
    return deviations(_scores(here), _scores(there))


def _scores(signatures: Mapping[str, Signature]) -> dict[str, NDArray[np.float64]]:
    return {name: one.scores for name, one in signatures.items()}
