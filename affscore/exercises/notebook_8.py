"""The exercises of notebook 8, *Is the score redundant*."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import explained_by_all, fisher_interval
from affscore.exercises.answers import NotAnAnswerError, as_array, as_number, as_pair
from affscore.exercises.registry import exercise
from affscore.exercises.verdict import Verdict

__all__ = ["interval_of_a_correlation", "only_together", "pooled_is_not_within"]

Values = NDArray[np.float64]

CORRELATION, ACTIVATIONS = 0.6, 12
"""The network of exercise 8.1."""


@exercise("8.1")
def interval_of_a_correlation(answer: object) -> Verdict:
    """8.1: the ends (low, high) of the 95 % interval of a correlation of 0.6 over 12 activations."""
    first, second = as_pair(answer, "a pair (low, high) of numbers")
    given = np.array([as_number(first), as_number(second)])
    expected = np.array(fisher_interval(CORRELATION, ACTIVATIONS))

    def near(low: float, high: float) -> bool:
        return bool(np.abs(given - (low, high)).max() <= 0.006)

    if near(*expected):
        return Verdict(True, "From next to nothing to nearly 0.9: a dozen activations say little about a correlation.")
    if near(*expected[::-1]):
        return Verdict(False, "The lower end comes first.")
    if near(*np.arctanh(expected)):
        return Verdict(False, "These are the ends of z. Bring them back to correlations.")
    for size in (ACTIVATIONS, ACTIVATIONS - 1, ACTIVATIONS - 2):
        if near(*fisher_interval(CORRELATION, size + 3)):
            return Verdict(
                False, "The variance of z is not quite one over the number of activations: look it up above."
            )
    for level in (0.68, 0.9, 0.99):
        if near(*fisher_interval(CORRELATION, ACTIVATIONS, level)):
            return Verdict(False, "That is an interval of another level. Asked is 95 %.")
    if abs(given.mean() - CORRELATION) <= 0.006:
        return Verdict(False, "An interval around r itself would reach beyond 1 at times: take the step in z.")
    return Verdict(False, "Transform r by artanh, step by 1.96 standard errors of z to both sides, transform back.")


@exercise("8.2")
def pooled_is_not_within(answer: object) -> Verdict:
    """8.2: two networks ((scores, criterion), (scores, criterion)), correlated within, and the other way together."""
    networks = [_network(part) for part in as_pair(answer, "two networks, each a pair (scores, criterion)")]
    within = [float(np.corrcoef(scores, criterion)[0, 1]) for scores, criterion in networks]
    scores, criterion = (np.concatenate(column) for column in zip(*networks, strict=True))
    pooled = float(np.corrcoef(scores, criterion)[0, 1])
    if min(within) < 0.9:
        return Verdict(False, f"Within the networks the correlations are {within[0]:.2f} and {within[1]:.2f}: too low.")
    if pooled > -0.5:
        hint = "Where does the criterion of the network with the higher scores lie?"
        return Verdict(False, f"Taken together the correlation is {pooled:.2f}: not low enough. {hint}")
    return Verdict(True, f"{within[0]:.2f} and {within[1]:.2f} within, {pooled:.2f} together (Simpson's paradox).")


@exercise("8.3")
def only_together(answer: object) -> Verdict:
    """8.3: (scores, a, b) of one network: neither a nor b follows the scores, both together explain them."""
    if answer is None or answer is Ellipsis:
        raise NotAnAnswerError("There is no answer yet: expected three arrays (scores, a, b).")
    if not isinstance(answer, tuple | list | np.ndarray) or len(answer) != 3:
        raise NotAnAnswerError("Expected three arrays of the same length: (scores, a, b).")
    scores, a, b = (
        as_array(part, f"{name}, an array,", 1) for name, part in zip(("scores", "a", "b"), answer, strict=True)
    )
    if not len(scores) == len(a) == len(b):
        raise NotAnAnswerError(f"Expected arrays of the same length, got {len(scores)}, {len(a)} and {len(b)}.")
    if len(scores) < 8:
        return Verdict(False, "Take at least 8 activations: two criteria fit a few of them by chance.")
    if scores.min() < 0 or scores.max() > 1:
        return Verdict(False, "Scores lie between 0 and 1.")
    if min(map(np.ptp, (scores, a, b))) < 1e-9:
        return Verdict(False, "One of the three is constant.")
    single = [abs(float(np.corrcoef(scores, part)[0, 1])) for part in (a, b)]
    if max(single) > 0.5:
        which = "ab"[int(np.argmax(single))]
        return Verdict(False, f"The correlation of the scores with {which} is {max(single):.2f} in size: too large.")
    table = pd.DataFrame({"score": scores, "a": a, "b": b})
    together = explained_by_all({"one": table, "two": table}, {}, ["a", "b"])["within"].astype(float)["one"]
    if not together >= 0.9:
        return Verdict(False, f"Together they explain {together:.2f}: not enough. Could the scores be a difference?")
    return Verdict(
        True, f"Alone {single[0] ** 2:.2f} and {single[1] ** 2:.2f} of the variance, together {together:.2f}."
    )


def _network(part: object) -> tuple[Values, Values]:
    first, second = as_pair(part, "each network as a pair (scores, criterion)")
    scores = as_array(first, "the scores, an array,", ndim=1)
    criterion = as_array(second, "the criterion, an array,", ndim=1)
    if scores.shape != criterion.shape:
        raise NotAnAnswerError(f"Expected as many scores as criteria, got {len(scores)} and {len(criterion)}.")
    if len(scores) < 4:
        raise NotAnAnswerError(f"Expected at least 4 activations in a network, got {len(scores)}.")
    if scores.min() < 0 or scores.max() > 1:
        raise NotAnAnswerError("Expected scores between 0 and 1.")
    if min(np.ptp(scores), np.ptp(criterion)) < 1e-9:
        raise NotAnAnswerError("Scores and criterion must vary within each network.")
    return scores, criterion
