"""The exercises of chapter 5, *Residual connections*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affscore.transport import affinity_score
from companion.answers import as_arrays
from companion.chapter_05.measurements import common_language_effect_size, unimodality_test
from companion.exercises import Hints, exercise, right

Values = NDArray[np.float64]

PAIR = "a pair (first, second) of arrays of the same length"


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


@exercise("5.2", lambda answer: as_arrays(answer, PAIR, "first", "second"))
def apart_with_one_mode(first: Values, second: Values) -> Hints:
    """Two groups of scores that hardly overlap, and whose union has one mode."""
    yield from _enough(first, second)
    above = common_language_effect_size(second, first)
    yield above < 0.95, f"A score of the second group exceeds one of the first in {above:.2f} of all cases."
    p = unimodality_test(np.concatenate([first, second])).p_value
    hint = "What must happen to the gap between the groups, and to how they are distributed?"
    yield not p > 0.2, f"Silverman's p for one mode is {p:.2f}, so two are seen. {hint}"
    yield True, right(f"Two groups ({above:.2f}) and one mode (p = {p:.2f}): a test of modes need not see groups.")


def _enough(first: Values, second: Values) -> Hints:
    """What is wrong with two groups of scores."""
    yield not 10 <= len(first) <= 200, f"Expected 10 to 200 scores in each group, got {len(first)}."
    low, high = min(first.min(), second.min()), max(first.max(), second.max())
    yield low < 0 or high > 1, f"Scores lie in [0, 1]; these go from {low:.2f} to {high:.2f}."
    yield low == high, "All scores are the same."
