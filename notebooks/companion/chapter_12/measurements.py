"""What other data, single classes and other training do to a signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError
from companion.statistics import Estimate, jackknife_error


def deviations(here: Mapping[str, ArrayLike], there: Mapping[str, ArrayLike]) -> pd.Series:
    r"""How far the signature of each network on one data set is from that on another.

    .. math:: \lVert a - b \rVert_2 = \sqrt{\sum_i (a_i - b_i)^2}

    Args:
        here: Scores on one data set, by name.
        there: Scores on another.

    Returns:
        The Euclidean distance for each network that has as many activations in both (one whose architecture
        changes with the data has no distance); missing where a score is.

    Source: figure 15, by its caption.

    >>> deviations({"a": [0.5, 0.5], "b": [0.9]}, {"a": [0.8, 0.9]}).round(3).to_dict()
    {'a': 0.5}
    """
    pairs = {name: (np.asarray(here[name]), np.asarray(there[name])) for name in here if name in there}
    return pd.Series(
        {name: float(np.linalg.norm(one - other)) for name, (one, other) in pairs.items() if len(one) == len(other)},
        dtype=float,
    )


Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClassEffect:
    r"""How signatures on one class differ from those on random subsets of the same size.

    With m the mean signature of the R random subsets and :math:`v_l` the variance over them,

    .. math:: q_l = \sqrt{\frac1C \sum_c (s_{cl} - m_l)^2 \Big/ v_l}, \qquad
        q = \sqrt{\frac1C \sum_c \lVert s_c - m \rVert^2 \Big/ \textstyle\sum_l v_l} .

    Were the classes random subsets, too, the expected squares would be :math:`1 + 1/R`.

    Attributes:
        layers: A row for each activation, by its index: ``ratio``, which is :math:`q_l` (missing where the random
            subsets all have one score), ``change``, the mean of :math:`s_{cl} - m_l` over the classes, and ``p_value``,
            that of the ratio by permutation, of the largest over all activations (Westfall and Young).
        ratio: q.
        p_value: How often q is as large when classes and random subsets are permuted.
        change: The mean change over activations and classes.
        distances: The Euclidean distance of each class to m, by the name of its data set.
        chance: The distance of each random subset to the mean of the others, (R,).
        lost: How many activations have no score on some class or subset and are left out.
    """

    layers: pd.DataFrame
    ratio: float
    p_value: float
    change: float
    distances: pd.Series
    chance: Array
    lost: int


def class_effects(study: pd.DataFrame, permutations: int = 999, seed: int = 0) -> dict[str, ClassEffect]:
    """What the class of the images does to the signature of each network of a study.

    Under the hypothesis that a label says nothing about the scores, the images of a class are one more random subset,
    so that classes and subsets can be permuted. All have the same number of images: a bias of the score that comes with
    few samples is in both.

    Args:
        study: Scores under one specification: ``model``, ``dataset``, ``draw`` (0 for a class, which is a data set of
            its own; the number of a random subset), ``index`` and ``score``, all of the same number of images.
        permutations: How many.
        seed: Of the permutations.

    Returns:
        The effect by the name of the network.

    Raises:
        AffscoreError: Another table, or fewer than two classes or three random subsets of a network.

    Source: not in the papers.

    >>> rows = [("net", f"digits:{draw}" if draw < 2 else "digits", max(draw - 1, 0), 0, score)
    ...         for draw, score in enumerate([0.9, 0.7, 0.4, 0.5, 0.6])]
    >>> study = pd.DataFrame(rows, columns=["model", "dataset", "draw", "index", "score"])
    >>> found = class_effects(study)["net"]
    >>> round(found.ratio, 2), round(found.change, 2)  # distances 0.4 and 0.2 beside a deviation of 0.1
    (3.16, 0.3)
    """
    scores = study[["model", "dataset", "draw", "index"]].assign(score=study["score"].astype(float))
    found = {}
    for model, own in scores.groupby("model", sort=False):
        table = own.pivot(index=["draw", "dataset"], columns="index", values="score")  # noqa: PD010 - a value for each
        of_class = table.index.get_level_values("draw") == 0
        if of_class.sum() < 2 or (~of_class).sum() < 3:
            raise AffscoreError(
                f"expected two classes and three random subsets of {model} at least, got {of_class.sum()} and "
                f"{(~of_class).sum()}"
            )
        found[str(model)] = _effect(table[of_class], table[~of_class], permutations, seed)
    return found


def _effect(classes: pd.DataFrame, draws: pd.DataFrame, permutations: int, seed: int) -> ClassEffect:
    both = pd.concat([classes, draws]).dropna(axis=1)
    lost, count = classes.shape[1] - both.shape[1], len(classes)
    values = both.to_numpy() - both.mean().to_numpy()  # the variances are differences of squares
    generator = np.random.default_rng(seed)
    chosen = np.tile(np.arange(len(both)) < count, (permutations + 1, 1))
    chosen[1:] = generator.permuted(chosen[1:], axis=1)
    apart, spread = _squares(values, chosen)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(spread > 1e-16, apart / spread, np.nan)  # below are differences of rounding
    whole = apart.sum(axis=1) / spread.sum(axis=1)
    largest = np.nanmax(ratios, axis=1)
    members, others = both[:count], both[count:]
    change = members.mean() - others.mean()
    layers = pd.DataFrame({
        "ratio": np.sqrt(ratios[0]),
        "change": change,
        "p_value": [_p_value(largest[1:], one) for one in ratios[0]],
    }, index=both.columns)  # fmt: skip
    rest = (others.sum() - others) / (len(others) - 1)
    return ClassEffect(
        layers,
        float(np.sqrt(whole[0])),
        _p_value(whole[1:], whole[0]),
        float(change.mean()),
        pd.Series(np.linalg.norm(members - others.mean(), axis=1), members.index.get_level_values("dataset")),
        np.linalg.norm(others - rest, axis=1),
        lost,
    )


def _squares(values: Array, chosen: NDArray[np.bool_]) -> tuple[Array, Array]:
    """For each choice of rows and each column: their mean squared distance to the mean of the rest, and its variance.

    Args:
        values: (rows, columns).
        chosen: (choices, rows).
    """
    inside = chosen.astype(float)
    count = inside[0].sum()
    left = len(values) - count
    sums, squares = inside @ values, inside @ values**2
    mean = (values.sum(axis=0) - sums) / left
    spread = ((values**2).sum(axis=0) - squares - left * mean**2) / (left - 1)
    return (squares - 2 * mean * sums) / count + mean**2, spread


def _p_value(permuted: Array, observed: float) -> float:
    """The share that reaches it, what was observed among them; missing where that is."""
    if np.isnan(observed):
        return np.nan
    return float((np.sum(permuted >= observed * (1 - 1e-9)) + 1) / (len(permuted) + 1))


def leads_of_variation(values: pd.DataFrame, methods: Sequence[str], of: str) -> dict[str, Estimate]:
    """How much less a number varies over networks than others do, with the jackknife's error over methods.

    Args:
        values: A row for each network, a column for each number.
        methods: How each network was trained.
        of: The column that is compared with the others.

    Returns:
        For each other column the logarithm of the coefficient of variation (standard deviation over mean) of the one,
        less that of the other.

    >>> values = pd.DataFrame({"score": [0.5, 0.51, 0.52], "norm": [1.0, 2.0, 3.0]})
    >>> f"{leads_of_variation(values, ['a', 'b', 'c'], 'score')['norm'].value:.2f}"
    '-3.24'
    """

    def leads(rows: pd.DataFrame) -> pd.Series:
        spreads = (rows.std() / rows.mean().abs()).map(np.log)
        return spreads[of] - spreads.drop(of)

    labels, whole = np.array(methods), leads(values)
    without = pd.DataFrame([leads(values[labels != method]) for method in sorted(set(methods))])
    count = len(without)
    return {
        str(name): Estimate(float(whole[name]), jackknife_error(without[name].to_numpy()), count - 1, n=count)
        for name in whole.index
    }
