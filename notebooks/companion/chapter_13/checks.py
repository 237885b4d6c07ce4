"""The exercises of chapter 13, *Blocks and whole networks*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from affscore.transport import affinity_score
from companion.answers import NotAnAnswerError, as_array, as_numbers, as_tuple
from companion.exercises import Hints, exercise, right

Values = NDArray[np.float64]

WIDTH, SAMPLES = 16, 512
"""Of the matrices of exercise 13.1, and of the cloud that they map."""

RELU = 1 - np.sqrt((1 - 0.25 / (0.5 - 0.5 / np.pi)) / 2)
"""The fit of max(x, 0): its squared correlation with a standard normal x is (1/4) / (1/2 - 1/(2 pi))."""

NOTHING = 1 - np.sqrt(0.5)


def _matrices(answer: object) -> tuple[Values, Values]:
    what = f"a pair (stretch, turn) of matrices ({WIDTH}, {WIDTH})"
    found = [as_array(one, what, ndim=2) for one in as_tuple(answer, what)]
    for one in found:
        if one.shape != (WIDTH, WIDTH):
            raise NotAnAnswerError(f"Expected {what}, got one of shape {one.shape}.")
    return found[0], found[1]


@exercise("13.1", _matrices)
def two_linear_layers(stretch: Values, turn: Values) -> Hints:
    """Two matrices of the same singular values; the score of one is near 1, that of the other far below."""
    values = [np.linalg.svd(one, compute_uv=False) for one in (stretch, turn)]
    yield min(one[-1] for one in values) < 1e-3, "A singular value is 0, or nearly: that layer forgets a direction."
    yield (
        values[0].max() < 1.5 * values[0].min(),
        "The singular values are nearly all the same: the largest must be 1.5 times the smallest, at least.",
    )
    yield not np.allclose(values[0], values[1], rtol=1e-3), "The singular values of the two are not the same."
    x = np.random.default_rng(0).standard_normal((SAMPLES, WIDTH))
    one, other = (affinity_score(x, x @ matrix, "empirical").value for matrix in (stretch, turn))
    yield one < 0.99, f"The first has a score of {one:.2f}: which matrices are optimal transport maps?"
    yield (
        other > 0.6,
        f"The second has a score of {other:.2f}: what can a matrix do that leaves its singular values as they are?",
    )
    yield True, right(f"Scores of {one:.2f} and {other:.2f}, and both are affine: only the direction differs.")


@exercise("13.2", lambda answer: as_numbers(answer, "a pair (fit of max(x, 0), fit of |x|)"))
def fits_in_closed_form(relu: float, absolute: float) -> Hints:
    """``affine_fit`` of max(x, 0) and of |x| for a standard normal x, without a computer's help."""
    score = 1 - np.sqrt(1 - 0.5 / np.sqrt(0.5 - 0.5 / np.pi))
    yield (
        abs(relu - score) < 0.004,
        "The first is the affinity score of the ReLU. A least-squares fit has another slope than the optimal "
        "transport map.",
    )
    yield (
        abs(relu - 0.25 / (0.5 - 0.5 / np.pi)) < 0.004,
        "The first is the squared correlation: which number is it on the scale of the score?",
    )
    yield abs(relu - RELU) > 0.004, "The first: what are the variance of max(x, 0), and its covariance with x?"
    yield abs(absolute) < 0.004, "The second: nothing is explained, but the mean still is."
    yield abs(absolute - NOTHING) > 0.004, "The second: which slope is best for an even function?"
    yield True, right("An even function leaves all of its variance, so its fit is as low as it gets on average.")
