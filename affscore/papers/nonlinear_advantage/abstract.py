"""The two abstracts: when non-linearity is needed, how much of it can go, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, product

import numpy as np
import pandas as pd

from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import Estimate, every, mean_of, require
from affscore.papers.evidence import trainings_of_study
from affscore.papers.nonlinear_advantage import PAPER
from affscore.papers.nonlinear_advantage.cores import (
    PLAIN,
    beside_plain,
    cores,
    survival,
    survival_correlations,
    times_as_large,
)
from affscore.papers.nonlinear_advantage.curves import (
    EARLY,
    LATE,
    Pair,
    by_difficulty,
    compared,
    curve,
    gap,
    read_off,
    seeds_of,
    trainings,
)
from affscore.papers.results import Results

_ABSTRACT, _FIRST = f"{PAPER} (abstract)", f"{PAPER} (abstract of the first version)"
_OURS = f"ours, on the networks of {PAPER}"
_NEEDS = "a study of slopes (python scripts/make_studies.py --only advantage,advantage-sizes,advantage-translation)"

IMAGES, TRANSLATION = ("advantage", "advantage-sizes"), ("advantage-translation",)
"""The studies that hold trainings; without its ReLUs a network that translates is not affine."""

HALF = 0.5
"""A significant part of the channels."""

SMALL = 0.02
"""A gap of accuracies up to two points has vanished."""

EQUAL = 0.5
"""An accuracy at which networks of several sizes are compared."""

NEAR = 1.25
"""Two sizes up to this ratio are nearly the same."""


def all_trainings(results: Results, studies: Iterable[str] = (*IMAGES, *TRANSLATION)) -> pd.DataFrame:
    """The trainings of several studies of slopes.

    Raises:
        MissingResultsError: There are none.
    """
    there = [trainings(results.studies[name]) for name in studies if name in results.studies]
    require(there)
    return pd.concat(there, ignore_index=True)


def _verdict(
    found: Mapping[str, Estimate],
    test: Callable[[Estimate, int], bool | None],
    what: str,
    trained: pd.DataFrame,
    times: int = 100,
) -> Verdict:
    """Whether all of these pass a test that holds for them together."""
    require(found)
    listed = ", ".join(f"{name} {times * one:.{1 if times > 1 else 2}f}" for name, one in found.items())
    parts = {name: test(one, len(found)) for name, one in found.items()}
    sentence, tested_on = f"{what}: {listed}.", trainings_of_study(trained)
    return Verdict.of_parts(parts, sentence, len(trained), tested_on, together=True)


def _is_positive(one: Estimate, together: int) -> bool | None:
    return one.above(0.0, together)


def _trained(table: pd.DataFrame, pairs: Iterable[Pair], *starts: float) -> pd.DataFrame:
    """The trainings of these networks and tasks, without a penalty or with one from these times on."""
    own = pd.MultiIndex.from_frame(table[["network", "task"]]).isin(list(pairs))
    return table[own & (table["start"].isna() | table["start"].isin(starts))]


@claim(63, _ABSTRACT, _NEEDS, of_scores=False)
def linear_early_costs_more(results: Results) -> Verdict:
    """Making channels linear early in training costs more accuracy than making them linear late.

    Test: On each hard task, which an affine network does at least 10 points worse, late regularisation is more accurate
    than early one at equal normalised average path length, by the mean over lengths and seeds.
    """
    table = all_trainings(results, IMAGES)
    pairs = by_difficulty(table, hard=True)
    found = {pair.task: gap(table, *pair) for pair in pairs}
    return _verdict(found, _is_positive, _AHEAD, _trained(table, pairs, EARLY, LATE))


_AHEAD = "Points of accuracy that late is ahead of early"


@claim(64, _FIRST, _NEEDS, of_scores=False)
def gap_vanishes_on_easy_tasks(results: Results) -> Verdict:
    """On easy tasks it makes no difference whether channels become linear early or late.

    Test: On each easy task, whose accuracy an affine network reaches up to 10 points more or less, the difference at
    equal path length is within 2 points.
    """
    table = all_trainings(results, IMAGES)
    pairs = by_difficulty(table, hard=False)
    found = {pair.task: gap(table, *pair) for pair in pairs}

    def small(one: Estimate, together: int) -> bool | None:
        return every([one.above(-SMALL, together), one.below(SMALL, together)])

    return _verdict(found, small, _AHEAD, _trained(table, pairs, EARLY, LATE))


@claim(65, _ABSTRACT, _NEEDS, of_scores=False)
def many_channels_can_go(results: Results) -> Verdict:
    """After training a significant part of the channels can be made linear at high accuracy.

    Test: On each task at least half of all channels are linear where late regularisation first costs five points of
    accuracy, by the mean over seeds.
    """
    table = all_trainings(results)
    pairs, left = compared(table), cores(table).set_index(["network", "task"])["share"]
    found = {pair.task: mean_of(1 - left.loc[[pair]], (0, 1)) for pair in pairs}

    def most(one: Estimate, together: int) -> bool | None:
        return one.above(HALF, together)

    return _verdict(found, most, "Percent of the channels that can be linear", _trained(table, pairs, LATE))


@claim(66, _FIRST, _NEEDS, of_scores=False)
def slow_decay_then_collapse(results: Results) -> Verdict:
    """Accuracy falls slowly with the path length at first, and then collapses.

    Test: On each hard task a late curve loses more over the lower half of its path lengths than over the upper half, by
    the mean over seeds.
    """
    table = all_trainings(results, IMAGES)
    pairs, found = by_difficulty(table, hard=True), {}
    for network, task in pairs:
        curves = [curve(table, network, task, LATE, seed) for seed in seeds_of(table, network, task, LATE)]
        read = [read_off(points, np.linspace(points["napl"].min(), points["napl"].max(), 3)) for points in curves]
        found[task] = mean_of([(middle - low) - (high - middle) for low, middle, high in read])
    what = "Points of accuracy that the lower half costs more than the upper one"
    return _verdict(found, _is_positive, what, _trained(table, pairs, LATE))


@claim(67, _FIRST, _NEEDS, of_scores=False)
def better_than_widened_plain_networks(results: Results) -> Verdict:
    """Partially linear networks are more accurate than plain networks of the same depth with as many parameters.

    Test: Late regularisation to the path length of each plain network is more accurate than it, on each task, by the
    means over seeds.
    """
    table = all_trainings(results, IMAGES)
    found = {f"{one.task} at depth {one.depth}": one.partial - one.plain for one in beside_plain(table)}
    plain = table[table["network"].str.startswith(PLAIN)]
    return _verdict(found, _is_positive, "Points of accuracy that the partially linear network is ahead", plain)


@claim(68, _ABSTRACT, _NEEDS, of_scores=False)
def core_of_constant_size(results: Results) -> Verdict:
    """What stays non-linear is a core of nearly constant effective depth and width (our reading: in any network).

    Test: Where late regularisation first costs five points of accuracy, and also where accuracy falls below 50 %, the
    path length in a network with twice as many blocks, and the mean number of non-linear channels in one of twice the
    width, are at most 1.25 times as large or small, on each hard task of which all three are there, by the mean
    logarithm over seeds.
    """
    table = all_trainings(results, IMAGES)
    hard = {pair.task for pair in by_difficulty(table, hard=True)}
    levels = {"five points lost": cores(table), "50 %": cores(table, EQUAL)}
    sizes = (("depth", "napl", "residual14"), ("width", "width", "residual8_wide"))
    networks = levels["50 %"].groupby("task", sort=False)["network"].agg(set)
    tasks = [task for task, some in networks.items() if task in hard and some >= {"residual8", *(s[2] for s in sizes)}]
    require(tasks)
    ratios = {
        f"{name} on {task} ({level})": times_as_large(found, of, larger, "residual8", task)
        for task, (level, found), (name, of, larger) in product(tasks, levels.items(), sizes)
    }
    limit, trained = float(np.log(NEAR)), levels["50 %"].query("task in @tasks")

    def near(one: Estimate, together: int) -> bool | None:
        return every([one.above(-limit, together), one.below(limit, together)])

    what = "Logarithms of how many times as large it is"
    return _verdict(ratios, near, what, trained, times=1)


@claim(69, _ABSTRACT, _NEEDS, of_scores=False)
def core_depends_on_the_task(results: Results) -> Verdict:
    """The core depends on how difficult the task is.

    Test: Where late regularisation first costs five points of accuracy, the path length differs between each two hard
    tasks, in the same network, by the mean difference over seeds. (On an easy task there is no core, by definition.)
    """
    table = all_trainings(results, IMAGES)
    pairs = by_difficulty(table, hard=True)
    depths = cores(table).pivot_table("napl", "seed", ["network", "task"])
    found = {
        f"{one.task} against {other.task}": mean_of((depths[one] - depths[other]).dropna())
        for one, other in combinations(pairs, 2)
        if one.network == other.network
    }

    def other_than_zero(one: Estimate, together: int) -> bool | None:
        return None if one.above(0.0, together) is None else True

    return _verdict(found, other_than_zero, "How much longer the paths are", _trained(table, pairs, LATE), times=1)


@claim(70, _OURS, "a study of slopes with scores (python scripts/make_studies.py --only advantage)")
def low_scores_survive(results: Results) -> Verdict:
    """The activations with low affinity scores keep their non-linear channels.

    Test: Over the activations of a network Spearman's correlation of the score before with the share of channels that
    stay non-linear, the mean over weights of the penalty, is negative: on each task, by the mean over seeds.
    """
    require({"advantage", "advantage-scores"} <= set(results.studies))
    each = survival_correlations(survival(results.studies["advantage"], results.studies["advantage-scores"]))
    found = {str(task): mean_of(rows["score"], (-1, 1)) for task, rows in each.groupby("task", sort=False)}

    def negative(one: Estimate, together: int) -> bool | None:
        return one.below(0.0, together)

    return _verdict(found, negative, "Mean rank correlations", each, times=1)


@claim(71, _OURS, "a study of slopes (python scripts/make_studies.py --only advantage)", of_scores=False)
def low_channels_survive(results: Results) -> Verdict:
    """Within an activation the channels with low affinity scores stay non-linear.

    Test: A channel that stays had a lower score than one that became linear in more than half of such pairs, the mean
    over activations and weights of the penalty: on each task, by the mean over seeds.
    """
    require("advantage" in results.studies)
    study = results.studies["advantage"]
    study = study[study["start"] == LATE]
    require("channel_auc" in study)
    means = study.groupby(["task", "seed"], sort=False)["channel_auc"].mean().dropna().groupby("task", sort=False)
    found = {str(task): mean_of(values, (0, 1)) for task, values in means}

    def above_chance(one: Estimate, together: int) -> bool | None:
        return one.above(HALF, together)

    trained = trainings(study)
    return _verdict(found, above_chance, "Shares of such pairs", trained, times=1)


@claim(72, _OURS, "a study of criteria (python scripts/make_studies.py --only advantage-criteria)", of_scores=False)
def affinity_chooses_channels_well(results: Results) -> Verdict:
    """Making the channels with the highest affinity scores linear costs less accuracy than making random ones linear.

    Test: After a little further training the accuracy, the mean over shares that are kept, is higher: on each task, by
    the mean difference over seeds.
    """
    require("advantage-criteria" in results.studies)
    study = results.studies["advantage-criteria"]
    means, trained = study.pivot_table("accuracy", ["task", "seed"], "by"), study.drop_duplicates(["task", "seed"])
    ahead = (means["affinity"] - means["random"]).groupby("task", sort=False)
    found = {str(task): mean_of(values, (-1, 1)) for task, values in ahead}
    return _verdict(found, _is_positive, "Points of accuracy that affinity is ahead", trained)
