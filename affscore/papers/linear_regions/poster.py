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
        study = f"regions-{network.partition('_')[0]}"
        command = f"python scripts/make_studies.py --only {study} --out results/studies && {ASK_AGAIN}"
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


def rank_correlations(paths: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of the density with the absolute deviation over the segments of each network.

    Args:
        paths: A study of linear regions along paths, a row for each segment.

    Returns:
        A row for each training: ``network``, ``way``, ``seed``, ``correlation``.
    """
    groups = paths.groupby(["network", "way", "seed"], sort=False)[["crossings", "absolute_deviation"]]
    found = groups.apply(lambda rows: rows["crossings"].corr(rows["absolute_deviation"], method="spearman"))
    return found.rename("correlation").reset_index()


def of_networks(paths: pd.DataFrame) -> pd.DataFrame:
    """Means over the segments of each training, with its test error and the share of fitted training labels."""
    means = ["length", "crossings", "breakpoints", "absolute_deviation", "deviation_upper_bound", "total_variation"]
    table = paths.groupby(["network", "way", "seed"], sort=False)[[*means, "accuracy", "fitted"]].mean().reset_index()
    return table.assign(test_error=1 - table["accuracy"])


@claim(58, _POSTER, "a study of linear regions along paths (python scripts/make_studies.py --only regions)")
def density_is_noisy(results: Results) -> Verdict:
    """The density of linear regions says little about how far a network is from linear along a path.

    Test: Over the segments of a network Spearman's correlation of the density with the absolute deviation is weak,
    between -0.3 and 0.3: the mean over settings (of a network and a way of training), with its interval.
    """
    if results.printed:
        table = results.printed["poster_density_vs_absolute_deviation"]
        means = table[[name for name in table if not str(name).endswith("_std")]].to_numpy(dtype=float)
        values = means[np.isfinite(means)]
    else:
        require("regions-paths" in results.studies)
        found = rank_correlations(results.studies["regions-paths"])
        values = found.groupby(["network", "way"])["correlation"].mean().to_numpy()
    mean = mean_of(values, (-1, 1))
    holds = every([mean.above(-WEAK, together=2), mean.below(WEAK, together=2)])
    return Verdict(holds, f"The mean rank correlation over {len(values)} settings is {mean:.2f}.", len(values))


@claim(59, _POSTER, "a study of linear regions along paths (python scripts/make_studies.py --only regions-width)")
def wide_networks_are_locally_linear(results: Results) -> Verdict:
    """Past the width at which wrong labels are fitted, absolute deviation and test error fall as the width rises.

    Test: Among widths at which at least 99 % of the training labels are fitted both have a negative rank correlation
    with the width, with intervals over seeds.
    """
    require("regions-width-paths" in results.studies)
    deviation, error = (mean_of(found) for found in past_the_threshold(results.studies["regions-width-paths"]))
    found = (
        f"The mean rank correlation with the width is {deviation:.2f} for the deviation and {error:.2f} for the error."
    )
    return Verdict(every([deviation.below(together=2), error.below(together=2)]), found, int(deviation.freedom) + 1)


def past_the_threshold(paths: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Rank correlations with the width of absolute deviation and of test error, by seed, where labels are fitted."""
    table = of_networks(paths)
    table["width"] = table["network"].str.rpartition("_")[2].astype(int)
    fitted = table.groupby("width")["fitted"].min()
    wide = table[table["width"].isin(fitted.index[fitted >= FITTED])]
    require(wide["width"].nunique() > 2)
    seeds = dict(iter(wide.groupby("seed")))
    deviation, error = (
        pd.Series({seed: rows["width"].corr(rows[name], method="spearman") for seed, rows in seeds.items()})
        for name in ("absolute_deviation", "test_error")
    )
    return deviation, error


@claim(60, f"{_POSTER}, held against the affinity score", "studies of linear regions with signatures")
def score_sees_deviation(results: Results) -> Verdict:
    """Networks with a larger absolute deviation along paths have a lower mean affinity score.

    Test: Spearman's correlation over the trainings of one architecture is negative, with Fisher's interval.
    """
    require({"regions", "regions-paths"} <= set(results.studies))
    both = scores_and_deviations(results.studies["regions"], results.studies["regions-paths"])
    require((both.groupby("network").size() > 3).all())  # of fewer the correlation has no error
    found = {str(name): _correlation(rows) for name, rows in both.groupby("network")}
    listed = ", ".join(f"{one:.2f} for {name}" for name, one in found.items())
    holds = every(one.below(together=len(found)) for one in found.values())
    return Verdict(holds, f"Rank correlations: {listed}.", len(both))


def scores_and_deviations(study: pd.DataFrame, paths: pd.DataFrame) -> pd.DataFrame:
    """The mean score of each training beside its means along paths."""
    scores = study.groupby(["network", "way", "seed"])["score"].mean().reset_index()
    return of_networks(paths).merge(scores, on=["network", "way", "seed"], validate="1:1")


def _correlation(rows: pd.DataFrame) -> Estimate:
    """Spearman's, with the standard error of Fisher's z at its value."""
    value = float(rows["score"].corr(rows["absolute_deviation"], method="spearman"))
    return Estimate(value, float((1 - value**2) / np.sqrt(len(rows) - 3)), len(rows) - 3, (-1, 1))
