"""What "Nonlinear Advantage" says: its abstracts, since its text was not at hand."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

import numpy as np
import pandas as pd

from companion.chapter_16.measurements import beside_plain, by_difficulty, cores, gap, times_as_large, trainings
from companion.claims import Verdict, above, claim, near
from companion.results import Results
from companion.statistics import mean_of, require

PAPER = "Nonlinear Advantage"

_ABSTRACT, _FIRST = f"{PAPER} (abstract)", f"{PAPER} (abstract of the first version)"

_NEEDS = "a study of slopes (python -m companion.studies --only advantage,advantage-sizes,advantage-translation)"

IMAGES, TRANSLATION = ("advantage", "advantage-sizes"), ("advantage-translation",)
"""The studies that hold trainings; without its ReLUs a network that translates is not affine."""

SMALL = 0.02
"""A gap of accuracies up to two points has vanished."""

EQUAL = 0.5
"""An accuracy at which networks of several sizes are compared."""

NEAR = 1.25
"""Two sizes up to this ratio are nearly the same."""

_AHEAD = "Accuracy that late is ahead of early"


def all_trainings(results: Results, studies: Iterable[str] = (*IMAGES, *TRANSLATION)) -> pd.DataFrame:
    """The trainings of several studies of slopes.

    Raises:
        MissingResultsError: There are none.
    """
    there = [trainings(results.tables[name]) for name in studies if name in results.tables]
    require(there)
    return pd.concat(there, ignore_index=True)


@claim(_ABSTRACT, _NEEDS, of_scores=False)
def linear_early_costs_more(results: Results) -> Verdict:
    """Making channels linear early in training costs more accuracy than making them linear late.

    Test: On each hard task, which an affine network does at least 10 points worse, late regularisation is more accurate
    than early one at equal normalised average path length, by the mean over lengths and seeds.
    """
    table = all_trainings(results, IMAGES)
    parts = {pair.task: above(gap(table, *pair), how=".3f") for pair in by_difficulty(table, hard=True)}
    return Verdict.all_of(parts, _AHEAD, units="seeds")


@claim(_FIRST, _NEEDS, of_scores=False)
def gap_vanishes_on_easy_tasks(results: Results) -> Verdict:
    """On easy tasks it makes no difference whether channels become linear early or late.

    Test: On each easy task, whose accuracy an affine network reaches up to 10 points more or less, the difference at
    equal path length is within 2 points.
    """
    table = all_trainings(results, IMAGES)
    parts = {pair.task: near(gap(table, *pair), 0.0, SMALL, ".3f") for pair in by_difficulty(table, hard=False)}
    return Verdict.all_of(parts, _AHEAD, units="seeds")


@claim(_FIRST, _NEEDS, of_scores=False)
def better_than_widened_plain_networks(results: Results) -> Verdict:
    """Partially linear networks are more accurate than plain networks of the same depth with as many parameters.

    Test: Late regularisation to the path length of each plain network is more accurate than it, on each task, by the
    means over seeds.
    """
    beside = beside_plain(all_trainings(results, IMAGES))
    parts = {f"{one.task} at depth {one.depth}": above(one.partial - one.plain, how=".3f") for one in beside}
    return Verdict.all_of(parts, "Accuracy that the partially linear network is ahead", units="trainings")


@claim(_ABSTRACT, _NEEDS, of_scores=False)
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
    parts, limit = {}, float(np.log(NEAR))
    for task, (level, found), (name, of, larger) in product(tasks, levels.items(), sizes):
        ratio = times_as_large(found, of, larger, "residual8", task)
        parts[f"{name} on {task} ({level})"] = near(ratio, 0.0, limit)
    return Verdict.all_of(parts, "Logarithm of how many times as large it is", units="seeds")


@claim(_ABSTRACT, _NEEDS, of_scores=False)
def core_depends_on_the_task(results: Results) -> Verdict:
    """The core depends on how difficult the task is.

    Test: Where late regularisation first costs five points of accuracy, the path length differs between each two hard
    tasks, in the same network, by the mean difference over seeds. (On an easy task there is no core, by definition.)
    """
    table = all_trainings(results, IMAGES)
    depths = cores(table).pivot_table("napl", "seed", ["network", "task"])
    parts = {
        f"{one.task} less {other.task}": above(mean_of((depths[one] - depths[other]).dropna()))._replace(right=True)
        for one, other in combinations(by_difficulty(table, hard=True), 2)
        if one.network == other.network
    }
    return Verdict.all_of(parts, "How much longer the paths are", units="seeds")
