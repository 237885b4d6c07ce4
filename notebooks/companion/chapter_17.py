"""Chapter 17: training for non-linearity."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import torch

from affscore.transport import differentiable_affinity
from companion.answers import as_number
from companion.exercises import Hints, exercise, right
from companion.statistics import Estimate, mean_of

FREE = "free"
"""The target of the trainings without a penalty."""

PULLED = ("low", "high")
"""The targets that chapters compare: a mean score below and above that of free training."""

CELL = ["network", "task", "target"]

_TRAINING = [*CELL, "seed"]


def outcomes(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each training: what was measured of it, and ``mean_score``.

    Args:
        study: A row for each training and activation, under one specification.
    """
    trainings = study.groupby(_TRAINING, sort=False)
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
    found = both[_TRAINING].copy()
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


@exercise("17.1", as_number)
def gradient_by_hand(answered: float) -> Hints:
    """The derivative of the paired score of x = (-1, 0, 1) and y = (0, 0, 1) with respect to the last y."""
    y = torch.tensor([[0.0], [0.0], [1.0]], requires_grad=True)
    score = differentiable_affinity(torch.tensor([[-1.0], [0.0], [1.0]]), y)
    (gradient,) = torch.autograd.grad(score, y)
    wanted = float(gradient[2])
    yield answered > wanted + 1e-6, "The variance of y depends on this entry, too."
    yield abs(answered - wanted) > 1e-6, "Multiply all of y by a number: what becomes of the correlation?"
    yield True, right("Moving this entry only stretches y, and a score does not depend on the unit of y.")
