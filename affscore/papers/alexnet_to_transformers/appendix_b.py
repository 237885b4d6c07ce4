"""Appendix B leaves open whether training for a score changes what a network can do: what small networks say."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import Estimate, differ, level, mean_of, require
from affscore.papers.evidence import trainings_of_study
from affscore.papers.results import Results

_NEEDS = "a study of networks trained with a penalty (python scripts/make_studies.py --only steered)"

FREE = "free"
"""The target of the trainings without a penalty."""

PULLED = ("low", "high")
"""The targets of the claims: a mean score below and above that of free training."""

CELL = ["network", "task", "target"]
TRAINING = [*CELL, "seed"]

SMALL = 0.01
"""An accuracy that differs by less than a point is the same."""


def outcomes(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each training: what was measured of it, and ``mean_score``.

    Args:
        study: A row for each training and activation, under one specification.
    """
    trainings = study.groupby(TRAINING, sort=False)
    return trainings.first().assign(mean_score=trainings["score"].mean()).reset_index()


def differences(study: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """What pulled trainings have more of than the free one of the same network, task and seed.

    Both begin with the same weights and see the same images in the same order.

    Args:
        study: As in :func:`outcomes`.
        columns: Numbers of a training, ``mean_score`` among them.

    Returns:
        A row for each pulled training that has a free one.

    >>> rows = pd.DataFrame({"target": ["free", "low"], "seed": 1, "score": [0.8, 0.6], "accuracy": [0.9, 0.7]})
    >>> differences(rows.assign(network="vgg8", task="digits"), ["accuracy"]).round(2).values.tolist()
    [['vgg8', 'digits', 'low', 1, -0.2]]
    """
    table, one = outcomes(study), ["network", "task", "seed"]
    free = table.loc[table["target"] == FREE, [*one, *columns]]
    both = table[table["target"] != FREE].merge(free, on=one, suffixes=("", "_free"))
    found = both[TRAINING].copy()
    for column in columns:
        found[column] = both[column] - both[f"{column}_free"]
    return found.reset_index(drop=True)


def by_cell(found: pd.DataFrame, column: str) -> dict[tuple[str, ...], Estimate]:
    """The mean difference for each network, task and target, with its interval over seeds."""
    return {tuple(map(str, cell)): mean_of(rows[column]) for cell, rows in found.groupby(CELL, sort=False)}


def over_all(found: pd.DataFrame, column: str) -> dict[str, Estimate]:
    """The mean difference for each target, over networks and tasks, with its interval over seeds.

    The networks and tasks of one seed are averaged first: those of the hard task share their images.
    """
    means = found.groupby(["target", "seed"], sort=False)[column].mean()
    return {str(target): mean_of(rows) for target, rows in means.groupby(level="target", sort=False)}


def _impact(results: Results, what: str, *columns: str) -> Verdict:
    """Whether accuracies of pulled networks differ from those of free ones."""
    require("steered" in results.studies)
    found = differences(results.studies["steered"], columns)
    require(len(found))
    means = {(column, target): one for column in columns for target, one in over_all(found, column).items()}
    holds = differ([*means.values()], SMALL)
    listed = ", ".join(f"{100 * one:+.1f} (pulled {target})" for (_, target), one in means.items())
    free = outcomes(results.studies["steered"]).query("target == @FREE")
    tested_on = f"{trainings_of_study(found)} with a penalty, beside {len(free)} without"
    return Verdict.of_parts(
        {f"{len(means)} intervals must hold together, and at {level(len(means))} each contains 0": holds},
        f"Points of {what}: {listed}.",
        len(found),
        tested_on,
    )


@claim(76, f"{PAPER}, appendix B, left open there", _NEEDS, of_scores=False)
def training_for_scores_changes_accuracy(results: Results) -> Verdict:
    """Optimising affinity scores by backpropagation has an impact on performance.

    Test: The accuracy of networks whose mean score was pulled down or up differs from that of the same networks trained
    without a penalty, by the mean over networks and tasks, with intervals over seeds that hold for both targets
    together. The claim does not hold where both intervals are within a point of zero. (The mean over networks and tasks
    was chosen after the single comparisons had been seen.)
    """
    return _impact(results, "accuracy", "test_accuracy")


@claim(77, f"{PAPER}, appendix B, left open there", _NEEDS, of_scores=False)
def training_for_scores_changes_robustness(results: Results) -> Verdict:
    """Optimising affinity scores by backpropagation has an impact on robustness.

    Test: The same, for the accuracy on test images with noise of half and of all of the standard deviation of the data,
    with intervals that hold for both together.
    """
    return _impact(results, "accuracy under noise", "accuracy_noise_0.5", "accuracy_noise_1")


@claim(78, f"{PAPER}, appendix B, left open there", _NEEDS, of_scores=False)
def training_for_scores_changes_transfer(results: Results) -> Verdict:
    """Optimising affinity scores by backpropagation has an impact on transferability.

    Test: The same, for the accuracy of a logistic regression on the last features, fitted and tested on the other of
    two tasks.
    """
    return _impact(results, "accuracy on the other task", "transfer")
