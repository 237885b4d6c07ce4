"""The poster: the density of linear regions against absolute deviation, and both against the width of a network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from affscore.papers.claim import Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import Estimate, every, mean_of, mean_or_deviation, require
from affscore.papers.linear_regions import PAPER
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

_NETWORKS = {"cifar10_vgg8": "vgg8", "cifar10_resnet18": "resnet18", "cifar100_vgg8": "vgg8_cifar100"}
"""The poster's networks as they are called where a reader trains them."""

_STUDIES = dict(zip(_NETWORKS, ("regions-cifar10", "regions-cifar10-resnet18", "regions-cifar100"), strict=True))
"""And where."""

_ANALOGUES = {"cifar10_vgg8": "vgg8", "cifar10_resnet18": "resnet8"}
"""Our networks on digits for those of the poster on CIFAR-10."""

WEAK = 0.3
"""A correlation below it, in absolute value, is called weak."""

FITTED = 0.99
"""From this share of fitted training labels on a network interpolates them."""


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


_ONE_NETWORK = ["network", "way", "seed"]


def rank_correlations(
    paths: pd.DataFrame, density: str = "crossings", deviation: str = "absolute_deviation"
) -> pd.DataFrame:
    """Spearman's correlation of the density with the absolute deviation over the segments of each network.

    Args:
        paths: A study of linear regions along paths, a row for each segment.
        density: The column of the one measure, of ``paths`` or of :func:`rates`.
        deviation: And of the other.

    Returns:
        A row for each training: ``network``, ``way``, ``seed``, ``correlation``.
    """
    table = paths if {density, deviation} <= set(paths) else rates(paths)
    groups = table.groupby(_ONE_NETWORK, sort=False)[[density, deviation]]
    found = groups.apply(lambda rows: rows[density].corr(rows[deviation], method="spearman"))
    return found.rename("correlation").reset_index()


def rates(paths: pd.DataFrame) -> pd.DataFrame:
    """The segments with what they have per unit of length, and as a fraction of the way that logits go up and down.

    Args:
        paths: A study of linear regions along paths, a row for each segment.

    Returns:
        It with ``crossings_per_length``, ``deviation_per_length``, and ``relative_deviation``, the absolute deviation
        as a fraction of length times total variation; of means over logits.
    """
    per_length = paths["absolute_deviation"] / paths["length"]
    return paths.assign(
        crossings_per_length=paths["crossings"] / paths["length"],
        deviation_per_length=per_length,
        relative_deviation=per_length / paths["total_variation"],
    )


def of_networks(paths: pd.DataFrame) -> pd.DataFrame:
    """Means over the segments of each training, with its test error and the share of fitted training labels."""
    means = ["length", "crossings", "breakpoints", "absolute_deviation", "deviation_upper_bound", "total_variation"]
    groups = rates(paths).groupby(_ONE_NETWORK, sort=False)
    table = groups[[*means, "relative_deviation", "accuracy", "fitted"]].mean().reset_index()
    return table.assign(test_error=1 - table["accuracy"])


@claim(58, _POSTER, "a study of linear regions along paths (python scripts/make_studies.py --only regions)")
def density_is_noisy(results: Results) -> Verdict:
    """The density of linear regions says little about how far a network is from linear along a path.

    Test: Over the segments of a network Spearman's correlation of the density with the absolute deviation is weak,
    between -0.3 and 0.3: the mean over the ways of training, with an interval over seeds; of printed numbers over
    columns, since nothing is printed of seeds.
    """
    if results.printed:
        table = results.printed["poster_density_vs_absolute_deviation"]
        values = table[[name for name in table if name in _NETWORKS]].mean().to_numpy(dtype=float)
    else:
        require("regions-paths" in results.studies)
        found = rank_correlations(results.studies["regions-paths"])
        values = found.groupby(["network", "seed"])["correlation"].mean().to_numpy()
    mean = mean_of(values, (-1, 1))
    holds = every([mean.above(-WEAK, together=2), mean.below(WEAK, together=2)])
    return Verdict(holds, f"The mean rank correlation is {mean:.2f}.", len(values))


@claim(59, _POSTER, "a study of linear regions along paths (python scripts/make_studies.py --only regions-width)")
def wide_networks_are_locally_linear(results: Results) -> Verdict:
    """Past the width at which wrong labels are fitted, absolute deviation and test error fall as the width rises.

    Test: Among widths at which at least 99 % of the training labels are fitted both have a negative rank correlation
    with the width, with intervals over seeds.
    """
    require("regions-width-paths" in results.studies)
    wide = past_the_threshold(of_networks(results.studies["regions-width-paths"]))
    deviation, error = (_over_widths(wide, name) for name in ("absolute_deviation", "test_error"))
    found = (
        f"The mean rank correlation with the width is {deviation:.2f} for the deviation and {error:.2f} for the error."
    )
    return Verdict(every([deviation.below(together=2), error.below(together=2)]), found, len(wide))


def past_the_threshold(networks: pd.DataFrame) -> pd.DataFrame:
    """The networks of those widths at which the training labels are fitted.

    Args:
        networks: A row for each: ``network``, whose name ends with the width, and ``fitted``.

    Returns:
        These rows with the column ``width``; none where there are too few widths to see a trend.
    """
    table = networks.assign(width=networks["network"].str.rpartition("_")[2].astype(int))
    fitted = table.groupby("width")["fitted"].min()
    wide = table[table["width"].isin(fitted.index[fitted >= FITTED])]
    return wide if wide["width"].nunique() > 2 else wide.head(0)


def _over_widths(wide: pd.DataFrame, name: str) -> Estimate:
    """The rank correlation of a measure with the width, its mean over seeds."""
    return mean_of([rows["width"].corr(rows[name], method="spearman") for _, rows in wide.groupby("seed")], (-1, 1))


@claim(60, f"{_POSTER}, held against the affinity score", "studies of linear regions with signatures")
def score_sees_deviation(results: Results) -> Verdict:
    """Networks with a larger absolute deviation along paths have a lower mean affinity score.

    Test: Over the ways of training one architecture from one seed, which begin with the same weights, Spearman's
    correlation of the two is negative: its mean over architectures and seeds, with an interval.
    """
    require({"regions", "regions-paths"} <= set(results.studies))
    both = scores_and_deviations(results.studies["regions"], results.studies["regions-paths"])
    groups = [rows for _, rows in both.groupby(["network", "seed"]) if len(rows) > 2]  # two ways are always in a row
    require(groups)
    mean = mean_of([rows["score"].corr(rows["absolute_deviation"], method="spearman") for rows in groups], (-1, 1))
    found = f"The mean rank correlation over {len(groups)} architectures and seeds is {mean:.2f}."
    return Verdict(mean.below(), found, len(both))


@claim(61, f"{_POSTER}, held against the affinity score", "a study of linear regions along paths, with signatures")
def score_rises_with_width(results: Results) -> Verdict:
    """Past the width at which wrong labels are fitted, the mean affinity score rises with it, as local linearity does.

    Test: Among these widths the mean score has a positive rank correlation with the width, with an interval over seeds.
    """
    require({"regions-width", "regions-width-paths"} <= set(results.studies))
    both = scores_and_deviations(results.studies["regions-width"], results.studies["regions-width-paths"])
    wide = past_the_threshold(both)
    score = _over_widths(wide, "score")
    found = f"The mean rank correlation of the mean score with the width is {score:.2f}."
    return Verdict(score.above(), found, len(wide))


def scores_and_deviations(study: pd.DataFrame, paths: pd.DataFrame) -> pd.DataFrame:
    """The mean score of each training beside its means along paths."""
    scores = study.groupby(_ONE_NETWORK)["score"].mean().reset_index()
    return of_networks(paths).merge(scores, on=_ONE_NETWORK, validate="1:1")
