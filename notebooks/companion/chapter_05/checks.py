"""The exercises of chapter 5, *Residual connections*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affscore.transport import affinity_score
from companion.answers import as_arrays
from companion.exercises import Hints, exercise, right

Values = NDArray[np.float64]


@exercise("5.1", lambda answer: as_arrays(answer, "a pair (x, f)", "x, an array,", "f, an array,"))
def large_change(x: Values, f: Values) -> Hints:
    """The input x of a block and a change f as large as it is, after whose sum a ReLU is nearly affine."""
    yield not 64 <= len(x) <= 2000, f"Expected 64 to 2000 numbers each, got {len(x)}."
    yield x.min() < 0, "x came out of a ReLU: no number of it is negative."
    zeros, falls = (x == 0).mean(), (f < 0).mean()
    yield zeros < 0.2, f"A ReLU makes zeros; a fifth of x should be 0, got {zeros:.0%}."
    yield falls < 0.2, f"A change that only rises is no art: a fifth of f should be negative, got {falls:.0%}."
    yield f.std() < 0.5 * x.std(), f"f varies by {f.std():.2f}, x by {x.std():.2f}: let f vary at least half as much."
    total = (x + f)[:, None]
    yield np.ptp(total) == 0, "The sum is constant."
    score = affinity_score(total, np.maximum(total, 0), "empirical").value
    yield score < 0.98, f"The ReLU of the sum scores {score:.2f}. Where is the sum negative, and why need it be?"
    yield (True, right(f"The ReLU scores {score:.2f}: the sign of the sum counts, not the size of the change."))
