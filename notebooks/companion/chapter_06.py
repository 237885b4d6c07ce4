"""Chapter 6: a decade. Figure 3, what section 4 says of families, and how efficient designs shake a signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from affscore.plots.style import PALETTE, house_style, literal, page, score_axis
from companion.answers import as_number, matching
from companion.claims import FIRST, PAPER, STUDY_ON_IMAGENET, Verdict, above, below, claim, difference_of_groups, rank
from companion.exercises import Hints, exercise, right
from companion.networks import network_table, table_1_families
from companion.permutation import Trend, trends
from companion.regression import over_seeds
from companion.results import LEAST_FAMILIES, Results
from companion.statistics import Estimate, mean_of, mean_step, require, shape_statistics
from companion.style import family_styles, narrow

PUBLISHED = {
    "ResNet": 2015, "SqueezeNet": 2016, "MobileNetV1": 2017, "MobileNetV2": 2018, "MobileNetV3": 2019,
    "MobileNet-EdgeTPU": 2019, "EfficientNet-Lite": 2020,
}  # fmt: skip
"""The years of the designs whose ImageNet networks the page shows."""


@house_style()
def timeline(table: pd.DataFrame) -> Figure:
    """Draw the range of each network's scores, oldest network first.

    Args:
        table: As :func:`companion.chapter_06.history` makes it: a row for each network with ``name``, ``family``,
            ``year``, ``min``, ``median`` and ``max``.

    Returns:
        The figure: for each network a bar from the smallest to the largest score and a marker at the median, in the
        colour and with the marker of its family; beside them the years.

    Source: figure 3 of the paper.

    >>> from companion.chapter_06 import history
    >>> figure = timeline(history({"alexnet": [0.6, 0.7, 0.65], "vit_b_16": [0.3, 0.5, 0.4]}))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['alexnet', 'vit_b_16']
    """
    years = table["year"].astype("string").fillna("?").to_numpy()
    # a gap of half a place where a year ends
    places = np.arange(len(years)) + 0.5 * np.cumsum(years != np.roll(years, 1))
    figure, (axes,) = page(1, 0.8 + 0.25 * len(years), xlabel="affinity score")
    narrow(figure)
    for family, (colour, marker) in family_styles(table["family"]).items():
        rows = (table["family"] == family).to_numpy()
        low, middle, high = table.loc[rows, ["min", "median", "max"]].to_numpy().T
        look: Any = {"markersize": 5, "color": colour, "elinewidth": 1.4, "capthick": 1.4, "capsize": 2.7}
        ends = [middle - low, high - middle]
        axes.errorbar(middle, places[rows], xerr=ends, fmt=marker, label=literal(family), **look)
    for year in dict.fromkeys(years):
        of_year = places[years == year]
        axes.text(1.01, of_year.mean(), year, transform=axes.get_yaxis_transform(), va="center", fontsize=9)
        if of_year[-1] != places[-1]:
            axes.axhline(of_year[-1] + 0.75, color=PALETTE["grey"], linewidth=0.5, zorder=0)
    axes.set_yticks(places, [literal(name) for name in table["name"]])
    axes.set_ylim(places[-1] + 0.8, places[0] - 0.8)
    score_axis(axes, table[["min", "max"]], direction="x")
    return figure


BEFORE_TRANSFORMERS = 2019


EFFICIENT = ("SqueezeNets", "ShuffleNets", "MobileNets", "MNASNets", "EfficientNets")
"""Families with squeeze modules, shuffled channels, inverted bottlenecks, or squeeze-and-excite."""

OTHERS = ("AlexNet", "VGGs", "Inception", "DenseNets")
"""The convnets that they are held against; ResNets, of which the paper says the same, are neither."""


def history(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """The statistics of signatures beside family and year of their networks, oldest first.

    Args:
        signatures: Scores by the name of the network.

    Returns:
        A row for each network, in the order of years (those without a year last); the columns of
        :func:`companion.networks.network_table` and :func:`companion.statistics.shape_statistics`.
        ``attrs["few"]`` says how many scores the rarefied range draws.

    Raises:
        AffscoreError: No signatures, or what is none.

    Source: figure 3 of the paper shows minimum, median and maximum; the last two columns are ours.

    >>> table = history({"mini:vit_b_16": [0.3, 0.5, 0.4], "mini:alexnet": [0.6, 0.7]})
    >>> table.index.tolist(), table["spread"].round(2).tolist(), table.attrs["few"]
    (['mini:alexnet', 'mini:vit_b_16'], [0.1, 0.2], 2)
    """
    statistics = shape_statistics(signatures)
    table = network_table(signatures).join(statistics)
    few = table["activations"].min()
    table = table.sort_values("year", kind="stable", na_position="last")
    table.attrs["few"] = int(few)
    return table


def statistics_of_study(results: Results) -> pd.DataFrame:
    """The study's networks with the statistics of their signatures: means over trainings where there are several.

    The columns of :attr:`Results.study`, of :func:`affscore.comparison.signature_statistics` and ``spread``; of
    signatures also those of :func:`history`.
    """
    if "trainings" in results.tables:
        table = results.study.join(over_seeds(results.tables["trainings"]))
        return table.assign(spread=table["max"] - table["min"])
    return history(results.study_scores) if len(results.study) else results.study


def family_means(results: Results, statistic: str, *needed: str) -> dict[str, Estimate]:
    """The mean of a statistic over the networks of each family, with the error of so many networks.

    Raises:
        MissingResultsError: One of the families is not there, or the statistic.
    """
    table = statistics_of_study(results)
    require(set(needed) <= results.families.keys() and statistic in table)
    return {family: mean_of(table.loc[names, statistic]) for family, names in results.families.items()}


def _lowest(results: Results, statistic: str, family: str, until: int = 9999) -> Verdict:
    """Whether the networks of a family have the lowest statistic of all families until a year."""
    require(len(results.families) >= LEAST_FAMILIES and family in results.families)
    means, years = family_means(results, statistic), results.study.groupby("family")["year"].max()
    own = means.pop(family)
    parts = {name: below(own - other) for name, other in means.items() if years[name] <= until}
    what = f"Mean {statistic} of the scores of {family}, {own.value:.2f}, less that of"
    return Verdict.all_of(parts, what, n=len(results.study))


@claim(f"{PAPER}, section 4 and figure 3", STUDY_ON_IMAGENET)
def pure_convnets_low_spread(results: Results) -> Verdict:
    """The scores of AlexNet and of the VGGs lie close together.

    Test: The mean spread of pure convnets is smaller than that of every other family, with intervals over networks.
    """
    return _lowest(results, "spread", "Pure convnets")


@claim(f"{PAPER}, section 4", "googlenet and the pure convnets of torchvision on ImageNet, in two batches or more")
def inception_widens(results: Results) -> Verdict:
    """GoogLeNet reaches both lower and higher scores than the networks before it.

    Test: Its smallest score is below, its largest above those of each pure convnet, with intervals over trainings or
    batches.
    """
    names, of = results.families.get("Pure convnets", []), results.estimate
    require(names)
    parts = {f"{name} (smallest)": below(of("googlenet", "min") - of(name, "min")) for name in names}
    parts |= {f"{name} (largest)": above(of("googlenet", "max") - of(name, "max")) for name in names}
    return Verdict.all_of(parts, f"Score of {results.prefix}googlenet less that of", units=results.repeats)


def _trend(results: Results, *statistics: str) -> Verdict:
    """Whether statistics rise with the year, until transformers came."""
    require(len(results.study))
    found = trends(statistics_of_study(results), statistics, until=BEFORE_TRANSFORMERS, seed=0)
    require(found["correlation"].notna().all())
    parts = {str(name): rank(Trend(*one)) for name, *one in found.itertuples()}
    return Verdict.all_of(parts, f"Rank correlation with the year until {BEFORE_TRANSFORMERS}", units="designs")


@claim(f"{PAPER}, section 4 and figure 3", STUDY_ON_IMAGENET)
def spread_grows_until_2020(results: Results) -> Verdict:
    """Until transformers came, spread and largest score grew over the years.

    Test: Both have a positive rank correlation with the year until 2019, by a permutation test over designs.
    """
    return _trend(results, "spread", "max")


@claim(f"{PAPER}, sections 4 and 5", STUDY_ON_IMAGENET)
def less_non_linear_until_2020(results: Results) -> Verdict:
    """Until transformers came, networks became less non-linear.

    Test: The median score has a positive rank correlation with the year until 2019, by a permutation test over designs.
    """
    return _trend(results, "median")


@claim(f"{PAPER}, section 4 and figure 3; {FIRST}, section 4.1", STUDY_ON_IMAGENET)
def vits_most_non_linear(results: Results) -> Verdict:
    """ViTs bend their data more than any network before them.

    Test: The mean of their median scores is below that of every family until 2019, with intervals over networks.
    """
    return _lowest(results, "median", "ViTs", BEFORE_TRANSFORMERS)


@claim(f"{PAPER}, section 4 and figure 5 C", "the EfficientNets of torchvision on ImageNet")
def efficientnets_skewed(results: Results) -> Verdict:
    """The scores of EfficientNets are strongly skewed towards linearity.

    Test: Their mean skewness is below -0.5, with an interval over networks.
    """
    means = family_means(results, "skewness", "EfficientNets")
    return Verdict.all_of({"EfficientNets": below(means["EfficientNets"], -0.5)}, "Mean skewness of the scores of")


@claim(f"{PAPER}, figure 5 C", "the DenseNets and ViTs of torchvision on ImageNet")
def densenets_skewed_against_vits(results: Results) -> Verdict:
    """The scores of DenseNets are skewed towards linearity, those of ViTs the other way.

    Test: The mean skewness of DenseNets is negative and that of ViTs positive, with intervals over networks.
    """
    means = family_means(results, "skewness", "DenseNets", "ViTs")
    parts = {"DenseNets": below(means["DenseNets"]), "ViTs": above(means["ViTs"])}
    return Verdict.all_of(parts, "Mean skewness of the scores of", n=sum(means[name].n for name in parts))


@claim(f"{FIRST}, section 4.1 and figure 6", f"{STUDY_ON_IMAGENET}, with SqueezeNets, ShuffleNets and MobileNets")
def efficient_designs_shake(results: Results) -> Verdict:
    """Designs made for efficiency shake the signature, by squeeze modules, shuffling, inverted bottlenecks and gates.

    Test: The mean step from one depth to the next, averaged by family, is larger than in AlexNet, VGGs, Inception and
    DenseNets, by an exact permutation test over families.
    """
    deep = {name: one for name, one in results.summaries.items() if len(set(one["depth"])) > 1}
    steps = pd.Series({name: mean_step(one["score"], one["depth"]) for name, one in deep.items()}, dtype=float)
    families = steps.groupby(pd.Series(table_1_families(deep), dtype=object)).mean()
    one, other = families.reindex(EFFICIENT).dropna(), families.reindex(OTHERS).dropna()
    require(len(one) > 1 and len(other) > 1)
    part = {"in efficient families less that in others": difference_of_groups(one, other)}
    return Verdict.all_of(part, "Mean step of the score", units="families")


WIDTH = 0.9 - 0.4

FEW, MANY = 7, 151
"""The two networks of exercise 6.1 and the width of the range of their scores."""


@exercise("6.1", as_number)
def spread_of_uniform_scores(number: float) -> Hints:
    """By how much the expected spread of 151 uniform scores on [0.4, 0.9] is larger than that of 7, a number."""
    few, many = (WIDTH * (k - 1) / (k + 1) for k in (FEW, MANY))  # both ends lose one part of k + 1
    middles = WIDTH * ((MANY - 2) / MANY - (FEW - 2) / FEW)
    one_of_two = "That is the expected spread of one of the two; the difference is asked for."
    answers = (
        (many - few, right("Nothing about the networks differs but how many scores they have.")),
        (many, one_of_two),
        (few, one_of_two),
        (few - many, "The sign: the spread of more scores is the larger one."),
        (0.0, "The distribution is the same, but the extremes of many numbers lie further apart."),
        (middles, "Close: is the mean of the smallest of k numbers one part of k, or of k + 1?"),
        ((many - few) / WIDTH, "That holds for scores between 0 and 1. How wide is the range here?"),
        (True, "Where do the smallest and the largest of k uniform numbers lie on average?"),
    )
    return matching(number, answers, 0.002)
