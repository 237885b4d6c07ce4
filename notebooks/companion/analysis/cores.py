"""What stays non-linear: how deep and wide it is where a network begins to suffer, and in which activations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from companion.analysis.estimates import Estimate, mean_of, require
from companion.analysis.slopes import LATE, compared, curve, read_off, seeds_of

LITTLE = 0.05
"""The loss of accuracy up to which a network counts as good as before: five points, more than the spread over seeds."""

SIZES = ["napl", "width", "share"]

PLAIN = "plain"
"""Beginning of the names of networks without shortcuts."""


def where_it_falls(
    table: pd.DataFrame, network: str, task: str, seed: int, accuracy: float | None = None
) -> dict[str, float]:
    """What is left where a curve of late regularisation falls below an accuracy.

    Of several such places it is the one of the longest paths.

    Args:
        table: Of :func:`companion.analysis.slopes.trainings`.
        network: Which network.
        task: On which task.
        seed: Of which seed.
        accuracy: Below which; None for five points less than that of the untouched network.

    Returns:
        ``napl``, ``width`` (the effective one) and ``share`` (of channels that are not linear), by a straight line
        between two points of the curve; those of its end where it never falls so far, missing where it is below it
        all along.
    """
    points = curve(table, network, task, LATE, seed)
    limit = points["accuracy"].iloc[-1] - LITTLE if accuracy is None else accuracy
    below = np.flatnonzero(points["accuracy"] < limit)
    if not len(below):
        return {name: float(points[name].iloc[0]) for name in SIZES}
    if below[-1] == len(points) - 1:
        return dict.fromkeys(SIZES, np.nan)
    two = points.iloc[below[-1] : below[-1] + 2]  # the last one below is followed by one that is not
    return {name: float(np.interp(limit, two["accuracy"], two[name])) for name in SIZES}


def cores(table: pd.DataFrame, accuracy: float | None = None) -> pd.DataFrame:
    """The size of what is left of each network where it falls below an accuracy.

    Args:
        table: As there.
        accuracy: As there.

    Returns:
        A row for each network, task and seed that was regularised late: ``network``, ``task``, ``seed``, ``napl``,
        ``width``, ``share``.
    """
    late = table[table["start"] == LATE]
    pairs = dict.fromkeys(zip(late["network"], late["task"], strict=True))
    rows = [
        {"network": network, "task": task, "seed": seed, **where_it_falls(table, network, task, seed, accuracy)}
        for network, task in pairs
        for seed in seeds_of(table, network, task, LATE)
    ]
    return pd.DataFrame(rows, columns=["network", "task", "seed", *SIZES])


def times_as_large(found: pd.DataFrame, of: str, one: str, other: str, task: str) -> Estimate:
    """The mean logarithm, over seeds, of how many times as large a size is in one network as in another.

    Args:
        found: Of :func:`cores`.
        of: "napl", "width" or "share".
        one: The one network.
        other: The other.
        task: On which task.

    Raises:
        MissingResultsError: A network is not there, or nothing is left of one.
    """
    sizes = found[found["task"] == task].pivot_table(of, "seed", "network")
    require({one, other} <= set(sizes))
    both = sizes[[one, other]].dropna()
    require((both > 0).all(axis=None))
    return mean_of(np.log(both[one] / both[other]))


class Beside(NamedTuple):
    """A partially linear network beside a plain one of the same depth and about as many parameters.

    Attributes:
        task: Of both.
        depth: The depth of the plain network, and the normalised average path length at which the other is read off.
        plain: Its accuracy.
        partial: The accuracy of the other.
    """

    task: str
    depth: int
    plain: Estimate
    partial: Estimate


def beside_plain(table: pd.DataFrame) -> list[Beside]:
    """Each plain network beside the residual one whose slopes were pulled late, where all its curves get so far.

    Args:
        table: Of trainings; names of plain networks begin with "plain".
    """
    found = []
    for network, task in compared(table):
        curves = [curve(table, network, task, LATE, seed) for seed in seeds_of(table, network, task, LATE)]
        plain = table[table["network"].str.startswith(PLAIN) & (table["task"] == task)]
        for depth in sorted(set(plain["napl"])):
            read = np.array([read_off(points, np.array([depth]))[0] for points in curves])
            if np.isfinite(read).all():
                alone = mean_of(plain[plain["napl"] == depth]["accuracy"], (0, 1))
                found.append(Beside(task, round(depth), alone, mean_of(read, (0, 1))))
    return found


def survival(study: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """How much of each activation stays non-linear under late regularisation, beside its affinity score before.

    Args:
        study: A row for each training and activation.
        scores: The scores at the start of the penalty, under one specification.

    Returns:
        A row for each network, task, seed and activation: ``survival``, the share of its channels that are not linear,
        the mean over the weights of the penalty; ``score``; ``index``, its place;
        ``after_sum``, whether it follows an addition.
    """
    keys = ["network", "task", "seed", "layer", "call"]
    late = study[study["start"] == LATE].assign(survival=lambda rows: rows["active"] / rows["channels"])
    found = late.groupby(keys, sort=False).agg(survival=("survival", "mean"), index=("index", "first"))
    known = scores[[*keys, "score"]].assign(after_sum=scores["kind"] == "after-sum")
    return found.reset_index().merge(known, on=keys, validate="1:1")


def survival_correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Rank correlations of survival over the activations of each trained network.

    Args:
        table: Of :func:`survival`.

    Returns:
        A row for each: ``network``, ``task``, ``seed``, and Spearman's correlation of survival with the ``score`` and
        with the place in the network (``index``); and that with the score where the place and whether an activation
        follows an addition are held fixed (``partial``): of what least squares leave of both ranks.
    """
    rows = []
    for (network, task, seed), some in table.groupby(["network", "task", "seed"], sort=False):
        survived, score, place = some[["survival", "score", "index"]].rank().to_numpy().T
        held = np.column_stack([np.ones(len(some)), place, some["after_sum"]])
        of_survival, of_score = (one - held @ np.linalg.lstsq(held, one, rcond=None)[0] for one in (survived, score))
        size = float(np.linalg.norm(of_survival) * np.linalg.norm(of_score))
        partial = float(of_survival @ of_score) / size if size > 1e-6 else np.nan
        both = (float(np.corrcoef(survived, other)[0, 1]) for other in (score, place))
        rows.append((network, task, seed, *both, partial))
    return pd.DataFrame(rows, columns=["network", "task", "seed", "score", "index", "partial"])
