"""Figure 3: the range of signatures over a decade of architectures, and what section 4 says of the decade."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from affscore.analysis import Trend, over_seeds, rarefied_range, signature_statistics, trends
from affscore.papers.alexnet_to_transformers import FIRST, PAPER
from affscore.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.estimate import Estimate, every, if_significant, mean_of, not_significant, require
from affscore.papers.networks import network_table
from affscore.papers.results import Results

BEFORE_TRANSFORMERS = 2019
LEAST_FAMILIES = 4


def history(signatures: Mapping[str, ArrayLike], few: int | None = None) -> pd.DataFrame:
    """The statistics of signatures beside family and year of their networks, oldest first.

    Args:
        signatures: Scores by the name of the network.
        few: How many scores the column ``rarefied range`` draws; None for as many as the shortest signature has.

    Returns:
        A row for each network, in the order of years (those without a year last); the columns of
        :func:`affscore.papers.network_table` and :func:`affscore.analysis.signature_statistics`, and ``spread``
        (largest minus smallest), ``rarefied range`` (:func:`affscore.analysis.rarefied_range`) and ``skewness``.
        ``attrs["few"]`` says how many were drawn.

    Raises:
        AffscoreError: No signatures, or what is none.

    Source: figure 3 of the paper shows minimum, median and maximum; the last two columns are ours.

    >>> table = history({"mini:vit_b_16": [0.3, 0.5, 0.4], "mini:alexnet": [0.6, 0.7]})
    >>> table.index.tolist(), table["spread"].round(2).tolist(), table.attrs["few"]
    (['mini:alexnet', 'mini:vit_b_16'], [0.1, 0.2], 2)
    """
    statistics = signature_statistics(signatures)
    few = int(statistics["activations"].min()) if few is None else few
    table = network_table(signatures).join(statistics)
    table["spread"] = table["max"] - table["min"]
    table["rarefied range"] = [rarefied_range(signatures[name], few) for name in table.index]
    varied = {name: np.asarray(signatures[name]) for name in table.index if table.loc[name, "spread"] >= 1e-9}
    table["skewness"] = pd.Series({name: stats.skew(scores) for name, scores in varied.items()}, dtype=float)
    table = table.sort_values("year", kind="stable", na_position="last")
    table.attrs["few"] = few
    return table


def statistics_of_study(results: Results) -> pd.DataFrame:
    """The study's networks with the statistics of their signatures: means over trainings where there are several.

    The columns of :attr:`Results.study`, of :func:`affscore.analysis.signature_statistics` and ``spread``; of
    signatures also those of :func:`history`.
    """
    if results.trainings is not None:
        table = results.study.join(over_seeds(results.trainings))
        return table.assign(spread=table["max"] - table["min"])
    return history(results.study_scores) if len(results.study) else results.study


def family_means(results: Results, statistic: str) -> dict[str, Estimate]:
    """The mean of a statistic over the networks of each family, with the error of so many networks."""
    values = statistics_of_study(results)[statistic]
    return {family: mean_of(values[names]) for family, names in results.families.items()}


def _lowest(results: Results, statistic: str, family: str, what: str, until: int = 9999) -> Verdict:
    """Whether the networks of a family have the lowest statistic of all families until a year."""
    require(len(results.families) >= LEAST_FAMILIES and family in results.families)
    means, years = family_means(results, statistic), results.study.groupby("family")["year"].max()
    own = means.pop(family)
    means = {name: one for name, one in means.items() if years[name] <= until}
    require(means)
    parts = {name: (own - other).below(together=len(means)) for name, other in means.items()}
    lowest = min(means, key=lambda name: means[name].value)
    found = f"{what} is {own:.2f}; of {len(means)} other families {lowest} have the lowest, {means[lowest]:.2f}."
    return Verdict.of_parts(parts, found, len(results.study), together=True)


@claim(23, f"{PAPER}, section 4 and figure 3", STUDY_ON_IMAGENET)
def pure_convnets_low_spread(results: Results) -> Verdict:
    """The scores of AlexNet and of the VGGs lie close together.

    Test: The mean spread of pure convnets is smaller than that of every other family, with intervals over networks.
    """
    return _lowest(results, "spread", "Pure convnets", "The mean spread of the scores of pure convnets")


@claim(24, f"{PAPER}, section 4", "googlenet and the pure convnets of torchvision on ImageNet, in two batches or more")
def inception_widens(results: Results) -> Verdict:
    """GoogLeNet reaches both lower and higher scores than the networks before it.

    Test: Its smallest score is below, its largest above those of each pure convnet, with intervals over trainings or
    batches.
    """
    names, of = results.families.get("Pure convnets", []), results.estimate
    require(names)
    low, high = of("googlenet", "min"), of("googlenet", "max")
    lows, highs = ([of(name, end) for name in names] for end in ("min", "max"))
    parts = [(low - other).below(together=2 * len(names)) for other in lows]
    parts += [(high - other).above(together=2 * len(names)) for other in highs]
    least, most = min(one.value for one in lows), max(one.value for one in highs)
    ends = f"from {low:.2f} to {high:.2f}, those of pure convnets from {least:.2f} to {most:.2f}"
    return Verdict(every(parts), f"GoogLeNet's scores reach {ends}.", 1 + len(names))


def _trend(results: Results, *statistics: str) -> Verdict:
    """Whether statistics rise with the year, until transformers came."""
    require(len(results.study))
    found = trends(statistics_of_study(results), statistics, until=BEFORE_TRANSFORMERS, seed=0)
    require(found["correlation"].notna().all())
    rises = {name: Trend(*one) for name, *one in found.itertuples()}
    listed = ", ".join(f"{name} {one}" for name, one in rises.items())
    designs = f"{found['points'].iloc[0]:.0f} designs until {BEFORE_TRANSFORMERS}"
    points = f"{found['points'].iloc[0]:.0f} designs"
    parts = {
        not_significant(one.p_value, name, points): if_significant(one.p_value, one.correlation > 0)
        for name, one in rises.items()
    }
    dated = int((results.study["year"] <= BEFORE_TRANSFORMERS).sum())
    sentence = f"Rank correlation with the year over {designs}: {listed}."
    return Verdict.of_parts(parts, sentence, dated)


@claim(25, f"{PAPER}, section 4 and figure 3", STUDY_ON_IMAGENET)
def spread_grows_until_2020(results: Results) -> Verdict:
    """Until transformers came, spread and largest score grew over the years.

    Test: Both have a positive rank correlation with the year until 2019, by a permutation test over designs. A negative
    one refutes the claim.
    """
    return _trend(results, "spread", "max")


@claim(26, f"{PAPER}, sections 4 and 5", STUDY_ON_IMAGENET)
def less_non_linear_until_2020(results: Results) -> Verdict:
    """Until transformers came, networks became less non-linear.

    Test: The median score has a positive rank correlation with the year until 2019, by a permutation test over designs.
    A negative one refutes the claim.
    """
    return _trend(results, "median")


@claim(27, f"{PAPER}, section 4 and figure 3; {FIRST}, section 4.1", STUDY_ON_IMAGENET)
def vits_most_non_linear(results: Results) -> Verdict:
    """ViTs bend their data more than any network before them.

    Test: The mean of their median scores is below that of every family until 2019, with intervals over networks.
    """
    return _lowest(results, "median", "ViTs", "The mean of the median scores of ViTs", BEFORE_TRANSFORMERS)
