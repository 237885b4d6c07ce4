"""The exercises of chapter 9, *Is the score redundant*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from companion.answers import as_arrays, as_tuple
from companion.exercises import Hints, exercise, right

Values = NDArray[np.float64]


@exercise("9.1", as_tuple, "two networks, each a pair (scores, criterion)")
def pooled_is_not_within(*answer: object) -> Hints:
    """Two networks ((scores, criterion), (scores, criterion)), correlated within, and the other way together."""
    networks = []
    for part in answer:
        names = ("each network as a pair (scores, criterion)", "the scores", "the criterion")
        scores, criterion = as_arrays(part, *names)
        yield len(scores) < 4, f"Expected at least 4 activations in a network, got {len(scores)}."
        yield scores.min() < 0 or scores.max() > 1, "Expected scores between 0 and 1."
        yield min(np.ptp(scores), np.ptp(criterion)) < 1e-9, "Scores and criterion must vary within each network."
        networks.append((scores, criterion))
    within = [_correlation(*network) for network in networks]
    pooled = _correlation(*np.concatenate(networks, axis=1))
    yield min(within) < 0.9, f"Within the networks the correlations are {within[0]:.2f} and {within[1]:.2f}: too low."
    hint = "Where does the criterion of the network with the higher scores lie?"
    yield pooled > -0.5, f"Taken together the correlation is {pooled:.2f}: not low enough. {hint}"
    yield True, right(f"{within[0]:.2f} and {within[1]:.2f} within, {pooled:.2f} together (Simpson's paradox).")


def _correlation(x: Values, y: Values) -> float:
    return float(np.corrcoef(x, y)[0, 1])
