"""The poster: the density of linear regions against absolute deviation, and both against the width of a network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from affscore.papers.claim import Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import every, if_significant, mean_of, mean_or_deviation, not_significant, require
from affscore.papers.evidence import batches_of_study, trainings_of_study
from affscore.papers.linear_regions import PAPER
from affscore.papers.linear_regions.networks import (
    ONE_TRAINING,
    mean_correlation,
    of_networks,
    past_the_threshold,
    rank_correlations,
    trend,
    with_scores,
)
from affscore.papers.printed import printed_numbers
from affscore.papers.protocol import ASK_AGAIN
from affscore.papers.results import Results

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

_POSTER = f"{PAPER} (poster)"

_COLUMNS = {
    f"{network}{end}": (_POSTER, f"{network.replace('_', ', ')}, {{row}}: {what} of density and absolute deviation")
    for network in ("cifar10_vgg8", "cifar10_resnet18", "cifar100_vgg8")
    for end, what in (("", "rank correlation"), ("_std", "standard deviation of the rank correlation"))
}

_NETWORKS = {
    "cifar10_vgg8": "vgg8_cifar10", "cifar10_resnet18": "resnet18_cifar10", "cifar100_vgg8": "vgg8_cifar100"
}  # fmt: skip
"""The poster's networks as they are called where a reader trains them."""

_STUDIES = dict(zip(_NETWORKS, ("regions-cifar10", "regions-cifar10-resnet18", "regions-cifar100"), strict=True))
"""The studies that have them."""

_ANALOGUES = {"cifar10_vgg8": "vgg8", "cifar10_resnet18": "resnet8"}
"""Our networks on digits for those of the poster on CIFAR-10."""

WEAK = 0.3
"""A correlation below it, in absolute value, is called weak."""


def rows(results: AllResults) -> Iterator[Row]:
    """The rank correlations of the poster, whose networks are not published: a reader can train them again."""
    again, small = (
        rank_correlations(kind.studies["regions-paths"]) if "regions-paths" in kind.studies else None
        for kind in (results.poster, results.mini)
    )
    for number in printed_numbers("poster_density_vs_absolute_deviation", _COLUMNS):
        network, _, _ = number.column.partition("_std")
        what = "std" if number.column.endswith("_std") else "mean"
        way = number.row.replace("_", "-").replace("augmentation", "augmented")
        ours, theirs = _of(again, _NETWORKS[network], way), _of(small, _ANALOGUES.get(network, ""), way)
        about = f"{_ANALOGUES.get(network)} on digits, {len(theirs)} trainings, over the segments of 16 paths each"
        analogue = (mean_or_deviation(theirs, what), about) if len(theirs) else None
        command = f"python scripts/make_studies.py --only {_STUDIES[network]} --out results/studies && {ASK_AGAIN}"
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


@claim(58, _POSTER, "a study of paths (python scripts/make_studies.py --only regions)", of_scores=False)
def density_is_noisy(results: Results) -> Verdict:
    """The density of linear regions says little about how far a network is from linear along a path.

    Test: Over the segments of a network Spearman's correlation of the density with the absolute deviation is weak,
    nearer to zero than 0.3: the mean over trainings, with an interval over seeds and images; of printed correlations
    the mean size, with an interval over these.
    """
    if results.printed:
        table = results.printed["poster_density_vs_absolute_deviation"]
        values = table[[name for name in table if name in _NETWORKS]].to_numpy(dtype=float)
        mean = mean_of(np.abs(values[np.isfinite(values)]), (0, 1))
        count = int(np.isfinite(values).sum())
        found = f"The mean size of {count} rank correlations is {mean:.2f}."
        return Verdict(mean.below(WEAK), found, count, f"{count} printed rank correlations")
    require("regions-paths" in results.studies)
    mean = mean_correlation(results.studies["regions-paths"])
    count = len(results.studies["regions-paths"].groupby(ONE_TRAINING))
    holds = every([mean.above(-WEAK), mean.below(WEAK)])
    tested_on = _tested(results.studies["regions-paths"])
    return Verdict(holds, f"The mean rank correlation is {mean:.2f}.", count, tested_on)


@claim(59, _POSTER, "a study of paths (python scripts/make_studies.py --only regions-width)", of_scores=False)
def wide_networks_are_locally_linear(results: Results) -> Verdict:
    """Past the width at which wrong labels are fitted, absolute deviation and test error fall as the width rises.

    Test: Among widths at which at least 99 % of the training labels are fitted both have a negative rank correlation
    with the width, by permutations of the means over seeds.
    """
    require("regions-width-paths" in results.studies)
    require(len(wide := past_the_threshold(of_networks(results.studies["regions-width-paths"]))))
    deviation, error = (trend(wide, "width", "width", name) for name in ("absolute_deviation", "test_error"))
    found = f"The rank correlation with the width is {deviation} for the deviation and {error} for the test error."
    parts = {
        not_significant(one.p_value, what): if_significant(one.p_value, one.value < 0)
        for what, one in {"the deviation": deviation, "the test error": error}.items()
    }
    paths = results.studies["regions-width-paths"]
    tested_on = _tested(paths[paths["network"].isin(wide["network"])])
    return Verdict.of_parts(parts, found, len(wide), tested_on)


_OURS = f"ours, on the networks of {_POSTER}"


@claim(60, _OURS, "studies of linear regions with signatures")
def score_sees_deviation(results: Results) -> Verdict:
    """Ways of training that lead to a larger absolute deviation along paths lead to a lower mean affinity score.

    Test: Over the ways of training one architecture Spearman's correlation of the two is negative, by permutations of
    the means over seeds; for each architecture.
    """
    return _over_ways(results, "absolute_deviation")


@claim(61, _OURS, "a study of linear regions along paths, with signatures")
def score_rises_with_width(results: Results) -> Verdict:
    """Past the width at which wrong labels are fitted, the mean affinity score rises with it, as local linearity does.

    Test: Among these widths the mean score has a positive rank correlation with the width, by permutations of the means
    over seeds.
    """
    require({"regions-width", "regions-width-paths"} <= set(results.studies))
    both = with_scores(results.studies["regions-width"], results.studies["regions-width-paths"])
    require(len(wide := past_the_threshold(both)))
    score = trend(wide, "width", "width", "score")
    found = f"The rank correlation of the mean score with the width is {score}."
    paths = results.studies["regions-width-paths"]
    scored = results.studies["regions-width"]
    tested_on = f"{_tested(paths[paths['network'].isin(wide['network'])])}, {batches_of_study(scored)}"
    return Verdict(if_significant(score.p_value, score.value > 0), found, len(wide), tested_on)


@claim(62, _OURS, "studies of linear regions with signatures")
def score_sees_relative_deviation(results: Results) -> Verdict:
    """Ways of training that lead to a larger relative deviation along paths lead to a lower mean affinity score.

    Test: As for the absolute deviation, which depends on the size of the logits; the relative one does not.
    """
    return _over_ways(results, "relative_deviation")


def _over_ways(results: Results, name: str) -> Verdict:
    """Whether the mean score falls with a measure over the ways of training each architecture."""
    require({"regions", "regions-paths"} <= set(results.studies))
    both = with_scores(results.studies["regions"], results.studies["regions-paths"])
    several = {str(network): rows for network, rows in both.groupby("network") if rows["way"].nunique() > 2}
    require(several)
    found = {network: trend(rows, "way", name, "score") for network, rows in several.items()}
    listed = ", ".join(f"{one} for {network}" for network, one in found.items())
    parts = {
        not_significant(one.p_value, network, f"{several[network]['way'].nunique()} ways"): if_significant(
            one.p_value, one.value < 0
        )
        for network, one in found.items()
    }
    sentence, count = f"Rank correlations over the ways of training: {listed}.", sum(map(len, several.values()))
    paths = results.studies["regions-paths"]
    scored = batches_of_study(results.studies["regions"])
    tested_on = f"{_tested(paths[paths['network'].isin(several)])}, {scored}"
    return Verdict.of_parts(parts, sentence, count, tested_on)


def _tested(paths: pd.DataFrame) -> str:
    """The trainings, and the paths in each of them."""
    return f"{trainings_of_study(paths)}, {paths['path'].nunique()} closed paths in each"
