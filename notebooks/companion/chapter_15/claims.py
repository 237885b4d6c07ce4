"""What "Are All Linear Regions Created Equal?" prints and says: a module a figure, table or poster."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from companion.all_results import AllResults
from companion.chapter_15.measurements import mean_correlation, past_the_threshold, rank_correlations, trend_over
from companion.claims import Verdict, claim, near, rank
from companion.networks import ASK_AGAIN
from companion.printed import OurNumber, Row, compare, printed_numbers
from companion.results import Results
from companion.statistics import mean_or_deviation, require
from companion.studies import of_networks

PAPER = "Are All Linear Regions Created Equal?"

_POSTER = f"{PAPER} (poster)"

_ANALOGUES = {"cifar10_vgg8": "vgg8", "cifar10_resnet18": "resnet8"}
"""Our networks on digits for those of the poster on CIFAR-10."""

WEAK = 0.3
"""A correlation below it, in absolute value, is called weak."""


def rows(results: AllResults) -> Iterator[Row]:
    """The rank correlations of the poster, whose networks are not published: a reader can train them again."""
    again, small = (
        rank_correlations(kind.tables["regions-paths"]) if "regions-paths" in kind.tables else None
        for kind in (results.poster, results.mini)
    )
    for number in printed_numbers("poster_density_vs_absolute_deviation"):
        network, what = number.column.removesuffix("_std"), "std" if number.column.endswith("_std") else "mean"
        data, design = network.split("_")
        study = f"regions-{data}" + "-resnet18" * (design == "resnet18")
        way = number.row.replace("_", "-").replace("augmentation", "augmented")
        ours, theirs = _of(again, f"{design}_{data}", way), _of(small, _ANALOGUES.get(network, ""), way)
        about = f"{_ANALOGUES.get(network)} on digits, {len(theirs)} trainings, over the segments of 16 paths each"
        analogue = (mean_or_deviation(theirs, what), about) if len(theirs) else None
        command = f"python -m companion.studies --only {study} --out results/studies && {ASK_AGAIN}"
        yield compare(number, _our_number(ours, what) if len(ours) else None, analogue, command)


def _of(found: pd.DataFrame | None, network: str, way: str) -> pd.Series:
    """The rank correlations of the trainings of a network in one way; none where there are none."""
    if found is None:
        return pd.Series(dtype=float)
    return found[(found["network"] == network) & (found["way"] == way)]["correlation"].dropna()


def _our_number(ours: pd.Series, what: str) -> OurNumber:
    """Mean or standard deviation over trainings; the error of the latter is that of normal values."""
    spread = float(ours.std()) if len(ours) > 1 else np.inf
    error = spread / np.sqrt(len(ours) if what == "mean" else 2 * max(len(ours) - 1, 1))
    how = f"{len(ours)} trainings; how the poster's networks were trained is not printed"
    return OurNumber(mean_or_deviation(ours, what), float(error), sampled="trainings", how=how)


@claim(_POSTER, "a study of paths (python -m companion.studies --only regions)", of_scores=False)
def density_is_noisy(results: Results) -> Verdict:
    """The density of linear regions says little about how far a network is from linear along a path.

    Test: Over the segments of a network Spearman's correlation of the density with the absolute deviation is weak,
    within 0.3 of zero: the mean over trainings, with an interval over seeds and images. (The printed correlations,
    of which none is larger, could not miss this limit.)
    """
    mean = mean_correlation(results.table("regions-paths"))
    part = {"of density and absolute deviation": near(mean, 0.0, WEAK)}
    return Verdict.all_of(part, "Mean rank correlation", units="seeds of networks")


@claim(_POSTER, "a study of paths (python -m companion.studies --only regions-width)", of_scores=False)
def wide_networks_are_locally_linear(results: Results) -> Verdict:
    """Past the width at which wrong labels are fitted, absolute deviation and test error fall as the width rises.

    Test: Among widths at which at least 99 % of the training labels are fitted both have a negative rank correlation
    with the width, by permutations of the means over seeds.
    """
    require(len(wide := past_the_threshold(of_networks(results.table("regions-width-paths")))))
    names = {"absolute_deviation": "the deviation", "test_error": "the test error"}
    parts = {words: rank(trend_over(wide, "width", "width", name), -1) for name, words in names.items()}
    return Verdict.all_of(parts, "Rank correlation with the width of", units="widths")
