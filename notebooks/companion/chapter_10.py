"""The exercises of chapter 10, *Every choice at once*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affscore.transport import affinity_score
from companion.answers import as_clouds
from companion.exercises import Hints, exercise, right

Values = NDArray[np.float64]

AFFINE, NOT_AFFINE = 0.8, 0.1
"""What the exact score of exercise 10.1 must reach, and the paired one must not pass."""


@exercise("10.1", as_clouds)
def affine_as_clouds(x: Values, y: Values) -> Hints:
    """(x, y) with an exact score of at least 0.8, and a paired score of at most 0.1."""
    yield not 64 <= len(x) <= 1024, f"Expected 64 to 1024 points, got {len(x)}."
    yield np.ptp(y, axis=0).max() == 0, "The outputs are constant, which is affine for every coupling."
    score = affinity_score(x, y, "empirical")
    found = f"The exact score is {score.value:.2f}, the paired one {score.paired:.2f}"
    swapped = "Which clouds are the same, although no point stays with its partner?"
    yield score.value < AFFINE, f"{found}: as clouds they are not affine enough. {swapped}"
    yield score.paired > NOT_AFFINE, f"{found}: inputs are still too close to their own outputs. {swapped}"
    yield True, right(f"{found}. No score of two clouds can tell the difference.")
