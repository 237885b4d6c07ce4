"""Accuracy against average path length: curves over weights of the penalty, read off at equal lengths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.analysis.estimates import Estimate, mean_of, require

EARLY, LATE = 0.0, 1.0
"""Values of ``start``: the part of ordinary training after which slopes are pulled to 1; missing for never."""

ONE_TRAINING = ["network", "task", "seed", "start", "omega"]
"""The columns that tell trainings apart."""

OF_TRAINING = ["accuracy", "accuracy_before", "share", "napl", "width"]

POINTS = 25
"""Path lengths at which two curves are compared."""

HARD = 0.1
"""A task is hard if an affine network is ten points less accurate than the network, easy if it is about as accurate."""


def trainings(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each training of a study of slopes.

    Args:
        study: A row for each training and activation (:func:`companion.studies.load_study`, "advantage").

    Returns:
        ``network``, ``task``, ``seed``, ``start``, ``omega``, ``accuracy``, ``accuracy_before`` (when the penalty
        began), ``share`` (of the channels that are not linear), ``napl``, ``width`` (the effective one).
    """
    found = study.groupby(ONE_TRAINING, dropna=False, sort=False)[[one for one in OF_TRAINING if one in study]].first()
    return found.reset_index()


def curve(table: pd.DataFrame, network: str, task: str, start: float, seed: int, x: str = "napl") -> pd.DataFrame:
    """One network's measures over the weights of the penalty, from affine to untouched.

    The end without penalty is the training without any; of trainings that end at the same ``x`` the mean is taken.

    Args:
        table: Of :func:`trainings`.
        network: Which network.
        task: On which task.
        start: With a penalty from when on.
        seed: Of which seed.
        x: What orders the rows: "napl" or "share".

    Returns:
        ``accuracy``, ``napl``, ``share`` and ``width`` by ``x``, which rises.
    """
    own = table[(table["network"] == network) & (table["task"] == task) & (table["seed"] == seed)]
    points = own[(own["start"] == start) | own["start"].isna()]
    return points.groupby(x)[["accuracy", *({"napl", "share", "width"} - {x})]].mean().reset_index()


def read_off(
    table: pd.DataFrame, at: NDArray[np.float64], of: str = "accuracy", x: str = "napl"
) -> NDArray[np.float64]:
    """A measure at values of another, by straight lines between the points of a curve; NaN outside of these.

    >>> points = pd.DataFrame({"napl": [0.0, 2.0], "accuracy": [0.5, 0.9]})
    >>> read_off(points, np.array([0.0, 1.0, 3.0])).tolist()
    [0.5, 0.7, nan]
    """
    return np.interp(at, table[x], table[of], left=np.nan, right=np.nan)


def seeds_of(table: pd.DataFrame, network: str, task: str, *starts: float) -> list[int]:
    """The seeds that a network was trained from on a task, in each of these ways and without a penalty."""
    own = table[(table["network"] == network) & (table["task"] == task)]
    every = [set(own[own["start"] == start]["seed"]) for start in starts]
    return sorted(set(own[own["start"].isna()]["seed"]).intersection(*every))


def gap(
    table: pd.DataFrame, network: str, task: str, one: float = LATE, other: float = EARLY, x: str = "napl"
) -> Estimate:
    """How much more accurate a network is whose slopes are pulled at one time than at another, at equal path length.

    The mean difference over path lengths, from the least that all curves reach to half of the untouched network's; the
    error is that of the mean over the seeds of both.

    Args:
        table: Of :func:`trainings`.
        network: Which network.
        task: On which task.
        one: The ``start`` of the one.
        other: That of the other.
        x: What is equal: "napl", or "share", that of the channels which are not linear.
    """
    seeds = seeds_of(table, network, task, one, other)
    require(seeds)
    curves = {(seed, start): curve(table, network, task, start, seed, x) for seed in seeds for start in (one, other)}
    low = max(points[x].min() for points in curves.values())
    high = min(points[x].max() for points in curves.values()) / 2
    require(low < high)
    at = np.linspace(low, high, POINTS)
    found = [read_off(curves[seed, one], at, x=x) - read_off(curves[seed, other], at, x=x) for seed in seeds]
    return mean_of(np.array(found).mean(axis=1), (-1, 1))


def lost_when_affine(table: pd.DataFrame, network: str, task: str) -> Estimate:
    """How much accuracy a network loses that is made linear as far as the largest weights of the penalty get.

    Of each seed it is the training that ends with the least path length, early or late.

    >>> table = pd.DataFrame({"network": "a", "task": "b", "seed": [1, 1, 2, 2], "start": [1.0, None] * 2,
    ...     "omega": [1.0, 0.0] * 2, "accuracy": [0.6, 0.9, 0.4, 0.9], "napl": [0.0, 3.0] * 2, "share": [0.0, 1.0] * 2,
    ...     "width": [0.0, 8.0] * 2})
    >>> f"{lost_when_affine(table, 'a', 'b').value:.2f}"
    '0.40'
    """
    own = table[(table["network"] == network) & (table["task"] == task)]
    untouched = own[own["start"].isna()].groupby("seed")["accuracy"].mean()
    pulled = own[own["start"].notna()]
    least = pulled.loc[pulled.groupby("seed")["napl"].idxmin()].set_index("seed")["accuracy"]
    lost = (untouched - least).dropna()
    return mean_of(lost, (-1, 1))


class Pair(NamedTuple):
    """A network on a task."""

    network: str
    task: str


def compared(table: pd.DataFrame) -> list[Pair]:
    """The networks and tasks that were regularised early and late: each task with the network of most trainings."""
    groups = table.groupby(["task", "network"], sort=False)["start"]
    sizes = {(str(task), str(network)): len(starts) for (task, network), starts in groups if set(starts) >= _BOTH}
    tasks = dict.fromkeys(task for task, _ in sizes)
    return [Pair(max((n for t, n in sizes if t == task), key=lambda n: sizes[task, n]), task) for task in tasks]


_BOTH = {EARLY, LATE}


def by_difficulty(table: pd.DataFrame, hard: bool) -> list[Pair]:
    """Of :func:`compared` those on hard tasks, or those on easy ones; where an affine network is better it is neither.

    Raises:
        MissingResultsError: There are none.
    """
    lost = {pair: lost_when_affine(table, *pair).value for pair in compared(table)}
    found = [pair for pair, points in lost.items() if (points > HARD if hard else abs(points) <= HARD)]
    require(found)
    return found
