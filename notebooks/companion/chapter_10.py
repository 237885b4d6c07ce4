"""The exercises of chapter 10, *Every choice at once*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affscore.transport import affinity_score
from companion.answers import as_array, as_clouds
from companion.exercises import Hints, exercise, right

Values = NDArray[np.float64]

AFFINE, NOT_AFFINE = 0.8, 0.1
"""What the exact score of exercise 10.1 must reach, and the paired one must not pass."""

STRAIGHT, BENT = 0.95, 0.8
"""The same of reduce first and activate first in exercise 10.2."""


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


@exercise("10.2", as_array, "a feature map of one channel, an array (images, positions)", 2)
def order_decides(features: Values) -> Hints:
    """A feature map (images, positions) that ReLU leaves alone on the means, and bends where it acts first."""
    images, positions = features.shape
    size = f"Expected 64 to 512 images of 2 to 64 positions, got {images} of {positions}."
    yield not (64 <= images <= 512 and 2 <= positions <= 64), size
    means = features.mean(axis=1, keepdims=True)
    yield np.ptp(means) == 0, "All images have the same mean: let them differ a little."
    first, last = (
        affinity_score(means, outputs).value
        for outputs in (np.maximum(means, 0), np.maximum(features, 0).mean(axis=1, keepdims=True))
    )
    found = f"Reduce first scores {first:.2f}, activate first {last:.2f}"
    yield first < STRAIGHT, f"{found}. Where must the means lie so that ReLU does nothing to them?"
    shape = "What else but its mean decides the mean output of an image, and how is that distributed?"
    yield last > BENT, f"{found}: the outputs are still distributed much as the means are. {shape}"
    yield True, right(f"{found}, on the same numbers.")
