"""Language models: what gates and training change in their scores, with intervals over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from affscore.options import Specification
from companion.analysis.estimates import Estimate, mean_of, require

PLAIN, GATED = "char_gpt", "gated_char_gpt"
"""The networks of the study: with an ordinary feed-forward part, and with gates."""


def mean_scores(study: pd.DataFrame, network: str, way: str = "language") -> pd.Series:
    """The mean score of a network by ``seed``, of the rows of one specification.

    Args:
        study: Rows with ``network``, ``way``, ``seed`` and ``score``.
        network: Which.
        way: "language", or "untrained".

    Raises:
        MissingResultsError: It was not trained at least twice.
    """
    rows = study[(study["network"] == network) & (study["way"] == way)]
    require(len(set(rows["seed"])) > 1)
    return rows.groupby("seed")["score"].mean()


def fall_in_training(study: pd.DataFrame, network: str) -> Estimate:
    """How far training lowers a network's mean score, with an interval over seeds."""
    return mean_of((mean_scores(study, network, "untrained") - mean_scores(study, network)).dropna())


def gap_of_gates(study: pd.DataFrame) -> Estimate:
    """The mean score with gates less that without, with Welch's interval over seeds."""
    gated, plain = (mean_of(mean_scores(study, network)) for network in (GATED, PLAIN))
    return gated - plain


def gap_at_equal_loss(course: pd.DataFrame) -> tuple[float, Estimate]:
    """The gap of gates where every training first reaches the loss that all of them reach.

    Args:
        course: Rows with ``network``, ``seed``, ``step``, ``bits`` and ``score``.

    Returns:
        That loss in bits, and the mean score with gates less that without, with Welch's interval over seeds.
    """
    means = course.groupby(["network", "seed", "step"])[["bits", "score"]].mean().reset_index()
    target = float(means.groupby(["network", "seed"])["bits"].min().max())
    first = means[means["bits"] <= target].groupby(["network", "seed"])["score"].first()
    return target, mean_of(first[GATED]) - mean_of(first[PLAIN])


def rise_over_blocks(study: pd.DataFrame) -> Estimate:
    """The last block's score less the first one's, after training, with an interval over networks and seeds."""
    trained = study[study["way"] == "language"]
    blocks = trained.pivot_table("score", ["network", "seed"], "index")
    return mean_of(blocks.iloc[:, -1] - blocks.iloc[:, 0])


def under_each(rows: pd.DataFrame, statistic: Callable[[pd.DataFrame], Estimate]) -> list[Estimate]:
    """A statistic of the rows of each specification."""
    return [statistic(some) for _, some in rows.groupby(list(Specification._fields), sort=False)]


def signs(estimates: Iterable[Estimate]) -> tuple[int, int, int]:
    """How many numbers are above zero, below zero, and neither with their whole interval.

    >>> signs([mean_of([1.0, 1.1]), mean_of([-1.0, 1.0]), mean_of([1.0])])
    (1, 0, 2)
    """
    above = [one.above() for one in estimates]
    return above.count(True), above.count(False), above.count(None)
