"""Permutation tests: what a statistic is when the values are permuted, among all of them or within strata."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from affscore.errors import AffscoreError

PERMUTATIONS = 50_000
"""Permutations of a group; where there are no more than that in all (up to eight values), each is taken once."""

ROUNDING = 1e-9
"""Statistics that differ by less are equal: permutations that amount to the same give the same up to rounding."""


def p_value_text(p_value: float) -> str:
    """A p-value as papers print it, with three decimals.

    >>> p_value_text(0.0171), p_value_text(0.00099), p_value_text(1.0)
    ('p = 0.017', 'p < 0.001', 'p = 1.000')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


@dataclass(frozen=True)
class PermutationTest:
    """A statistic, and what it is when the values are permuted.

    Attributes:
        observed: The statistic of the values as they are.
        permuted: The statistic after each permutation.
        exact: Whether these are all permutations, each once, rather than random ones.
    """

    observed: float
    permuted: NDArray[np.float64]
    exact: bool

    @property
    def p_value(self) -> float:
        """How often a permutation reaches what was observed (one-sided)."""
        return self.share_reaching(self.observed)

    @property
    def two_sided(self) -> float:
        """Twice the smaller of the two one-sided p-values, at most 1."""
        return min(2 * min(self.p_value, self.share_of(self.permuted <= self.observed + ROUNDING)), 1.0)

    def share_reaching(self, value: float) -> float:
        """How often the statistic is at least that large after a permutation."""
        return self.share_of(self.permuted >= value - ROUNDING)

    def share_of(self, reached: NDArray[np.bool_]) -> float:
        """The share of permutations in which something holds; of random ones, what was observed is one more."""
        count = int(reached.sum())
        return count / len(reached) if self.exact else (count + 1) / (len(reached) + 1)


def permutation_test(
    values: ArrayLike,
    statistic: Callable[[NDArray[Any]], NDArray[np.float64]],
    *,
    strata: ArrayLike | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> PermutationTest:
    """Permute values and compute a statistic each time.

    Args:
        values: What is permuted, (n,).
        statistic: Maps permutations of the values (..., n) to numbers (...).
        strata: A label for each value, (n,): values change places with those of the same label only. None: with all.
        permutations: How many; every permutation once, where there are no more.
        seed: Fixes random ones.

    Raises:
        AffscoreError: No permutations.

    Source: scipy.stats.permutation_test; stratified, the restricted permutation test.

    >>> x = np.array([1, 2, 3, 5])
    >>> test = permutation_test([1, 2, 3, 4], lambda rows: rows @ x)
    >>> test.observed, len(test.permuted), test.p_value == 1 / 24
    (34.0, 24, True)
    """
    if isinstance(permutations, bool) or not isinstance(permutations, int | np.integer) or permutations < 1:
        raise AffscoreError(f"the number of permutations must be an integer of at least 1, got {permutations!r}")
    held, generator = np.asarray(values), np.random.default_rng(seed)
    if strata is not None:
        rows, exact = _within(np.asarray(strata), permutations, generator)
        return PermutationTest(float(statistic(held)), statistic(held[rows]), exact)
    options: dict[str, Any] = {"permutation_type": "pairings", "vectorized": True, "batch": 10_000}
    test = stats.permutation_test(
        (held,), lambda rows, axis: statistic(rows), n_resamples=permutations, random_state=generator, **options
    )
    return PermutationTest(float(test.statistic), test.null_distribution, math.factorial(len(held)) <= permutations)


def _within(strata: NDArray[Any], permutations: int, generator: np.random.Generator) -> tuple[NDArray[np.intp], bool]:
    """Row by row a permutation of the places: all of them where there are no more than asked for, else random ones."""
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    every = math.prod(math.factorial(len(places)) for places in members)
    exact = every <= permutations
    rows = np.tile(np.arange(len(strata)), (every if exact else permutations, 1))
    if exact:
        each = itertools.product(*(itertools.permutations(places) for places in members))
        rows[:, np.concatenate(members)] = np.array([np.concatenate(order) for order in each])
    else:
        for places in members:
            rows[:, places] = generator.permuted(rows[:, places], axis=1)
    return rows, exact
