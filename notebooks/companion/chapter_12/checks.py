"""The exercises of chapter 12, *Other data, other training*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affscore.transport import affinity_score
from companion.answers import as_clouds
from companion.exercises import Hints, exercise, right

Values = NDArray[np.float64]

STRAIGHT, BENT = 0.95, 0.7
"""What the score of each class must reach in exercise 12.1, and that of both together must not pass."""


@exercise("12.1", as_clouds)
def affine_on_each_class(one: Values, other: Values) -> Hints:
    """Two classes (x0, x1) on each of which ReLU scores at least 0.95, and on both together at most 0.7."""
    yield not 64 <= len(one) <= 512, f"Expected 64 to 512 points in each class, got {len(one)}."
    flat = "All points of a class are the same: let them differ, so that there is a score."
    yield any(np.ptp(x, axis=0).max() == 0 for x in (one, other)), flat
    of_class = [affinity_score(x, np.maximum(x, 0), "empirical").value for x in (one, other)]
    both = np.concatenate([one, other])
    together = affinity_score(both, np.maximum(both, 0), "empirical").value
    found = f"ReLU scores {of_class[0]:.2f} and {of_class[1]:.2f} on the classes and {together:.2f} on both"
    yield min(of_class) < STRAIGHT, f"{found}. On which inputs is ReLU affine? Let a class have no others."
    yield (together > BENT, f"{found}: together they are too straight. How do they lie on the two sides of the bend?")
    yield True, right(f"{found}. The bend separates the classes, and none of them sees it.")
