"""The exercises of chapter 9, *Is the score redundant*."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.answers import as_arrays, as_tuple
from companion.exercises import Hints, exercise, right
from companion.regression import explained_by_all

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


@exercise("9.2", as_arrays, "three arrays of the same length (scores, a, b)", "scores", "a", "b")
def only_together(scores: Values, a: Values, b: Values) -> Hints:
    """(scores, a, b) of one network: neither a nor b follows the scores, both together explain them."""
    yield len(scores) < 8, "Take at least 8 activations: two criteria fit a few of them by chance."
    yield scores.min() < 0 or scores.max() > 1, "Scores lie between 0 and 1."
    yield min(map(np.ptp, (scores, a, b))) < 1e-9, "One of the three is constant."
    single = [abs(_correlation(scores, part)) for part in (a, b)]
    which = "ab"[int(np.argmax(single))]
    yield max(single) > 0.5, f"The correlation of the scores with {which} is {max(single):.2f} in size: too large."
    table = pd.DataFrame({"score": scores, "a": a, "b": b})
    together = explained_by_all({"one": table, "two": table}, {}, ["a", "b"])["within"].astype(float)["one"]
    yield not together >= 0.9, f"Together they explain {together:.2f}: not enough. Could the scores be a difference?"
    alone = f"Alone {single[0] ** 2:.2f} and {single[1] ** 2:.2f} of the variance"
    yield True, right(f"{alone}, together {together:.2f}.")


def _correlation(x: Values, y: Values) -> float:
    return float(np.corrcoef(x, y)[0, 1])
