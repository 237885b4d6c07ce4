"""What early and late regularisation of slopes leave, at which accuracy, and what the core is that stays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affscore.nonlinear_advantage import slopes, to_prelu
from companion.statistics import Estimate, mean_of, require

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
        table: Of :func:`companion.chapter_16.trainings`.
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

    As for :func:`where_it_falls`: table, accuracy.

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


def decisions_changed(model: nn.Module, inputs: Tensor) -> pd.DataFrame:
    """The share of a classifier's decisions that change when each activation alone becomes linear.

    The activation is replaced by the identity (a slope of 1 for each channel), not by a fit.

    Args:
        model: A network whose activations can have slopes (:func:`affscore.nonlinear_advantage.to_prelu`); it stays as
            it is.
        inputs: As the network takes them, (n, ...).

    Returns:
        A row for each activation, in the order of the network: ``layer``, ``call`` and ``changed``, in [0, 1].

    >>> net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU(), nn.Linear(1, 2))  # logits 0 and ReLU(x) + 1/2
    >>> for part, numbers in zip(net.parameters(), ([[1.0]], [[0.0], [1.0]], [0.0, 0.5]), strict=True):
    ...     part.data = torch.tensor(numbers)
    >>> decisions_changed(net, torch.tensor([[-2.0], [-1.0], [1.0], [2.0]]))["changed"].tolist()  # x + 1/2 < 0 for two
    [0.5]
    """
    sloped = to_prelu(model, inputs[:2]).eval()
    found = []
    with torch.no_grad():
        logits = sloped(inputs)
        decided = logits.argmax(dim=1)
        for (layer, call), unit in slopes(sloped).items():
            own = unit.weight.data.clone()
            unit.weight.data.fill_(1.0)
            found.append((layer, call, float((sloped(inputs).argmax(dim=1) != decided).double().mean())))
            unit.weight.data.copy_(own)
    return pd.DataFrame(found, columns=["layer", "call", "changed"])
