"""The exercises of notebook 10, *Robust to batch size and seed*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affscore.exercises.answers import as_array, as_clouds, as_number, matching
from affscore.exercises.registry import Hints, exercise, right
from affscore.survey.studies import load_study, under
from affscore.transport import affinity_score

Values = NDArray[np.float64]

DEVIATION, BIAS, BATCHES = 0.04, 0.02, 16
"""Of one batch in exercise 10.1, and how many are averaged."""

SMALL, LOWER = 32, 0.05
"""Points in a batch of exercise 10.2, and by how much its score must be lower."""


@exercise("10.1", as_number)
def error_of_an_average(number: float) -> Hints:
    """10.1: the root mean square error of an average over batches that have a bias."""
    chance = DEVIATION / BATCHES**0.5
    answers = (
        (np.hypot(BIAS, chance), right("Hardly any of it is chance, and more batches would not help.")),
        (chance, "That is the standard error. Does an average over batches come nearer to the truth?"),
        (np.hypot(BIAS, DEVIATION), "That is the error of one batch. What does averaging make smaller?"),
        (np.hypot(BIAS, DEVIATION) / BATCHES**0.5, "Every batch has the same bias. Does averaging make it smaller?"),
        (BIAS + chance, "A bias and a standard deviation add as squares."),
        (BIAS, "That is the bias alone. Something is left of chance, too."),
        (np.hypot(BIAS, DEVIATION / BATCHES), "A standard deviation does not fall as one over the number of batches."),
        (True, "Which of the two, bias or standard deviation, does an average over batches make smaller, and how?"),
    )
    return matching(number, answers, 5e-5)


@exercise("10.2", as_clouds)
def lower_in_small_batches(x: Values, y: Values) -> Hints:
    """10.2: (x, y), 512 points, whose batches of 32 score lower by 0.05 than all of them together."""
    yield len(x) != 512, f"Expected 512 points, got {len(x)}."
    yield x.shape[1] > 64, f"Expected at most 64 coordinates, got {x.shape[1]}."
    batches = list(zip(np.split(x, 512 // SMALL), np.split(y, 512 // SMALL), strict=True))
    constant = any(np.ptp(some, axis=0).max() == 0 for pair in batches for some in pair)
    yield constant, "In some batch all inputs are the same, or all outputs."
    few = float(np.mean([affinity_score(*pair, "empirical").value for pair in batches]))
    many = affinity_score(x, y, "empirical")
    found, too_high = f"Batches of {SMALL} score {few:.2f}, all 512 points {many.value:.2f}", few > many.value - LOWER
    alone = (
        "The pairing is the best coupling. So the covariance alone has an error, which raises the score of few points."
    )
    yield too_high and many.pairing_optimal, f"{found}. {alone} What else must be found in a sample?"
    yield too_high, f"{found}. Which coupling needs many points to choose from?"
    yield True, right(f"{found}: among more points there is a better partner for each.")


@exercise("10.3", as_array, "the standard deviation over seeds of each activation, an array", 1)
def deviation_over_seeds(deviations: Values) -> Hints:
    """10.3: the standard deviation over nine trainings of the score of each activation, under the default."""
    study = load_study("seeds")
    scores = under(study).pivot_table(index="index", columns="seed", values="score")
    found, sample = scores.std(axis=1), "nine trainings are a sample of all that there could be. By what do you divide?"
    answers = (
        (found, right(f"The largest is {found.max() / found.min():.0f} times the smallest.")),
        (scores.std(axis=1, ddof=0), f"Nearly: {sample}"),
        (scores.std(axis=0), "That is a number for each seed: the deviation over activations."),
        (scores.std(axis=0, ddof=0), "That is a number for each seed: the deviation over activations."),
        (scores.var(axis=1), "These are variances."),
        (scores.mean(axis=1), "These are the means."),
        (study.groupby("index")["score"].std(), "That mixes all specifications: `under` takes the rows of one."),
        (len(deviations) != len(found), f"Expected {len(found)} numbers, one for each activation."),
        (True, "Group the rows of the default specification by activation: each group has a score for each seed."),
    )
    return matching(deviations, answers, 1e-6)
