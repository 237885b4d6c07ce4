"""The exercises of notebook 8, *A signature for every architecture*."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from affscore.comparison import signature_distance
from companion.exercises.answers import as_array, as_function, close, matching, numbers_of
from companion.exercises.registry import Hints, exercise, right

Values = NDArray[np.float64]

FAMILIES = ("VGG",) * 3 + ("ResNet",) * 3 + ("ViT",) * 3 + ("Swin",) * 3
BY_CHANCE = 0.1
"""The families of exercise 8.2, and the largest adjusted Rand index that passes."""


@exercise("8.1", as_function, "a function distance(a, b)")
def warping_function(function: Callable[..., object]) -> Hints:
    """7.1: a function distance(a, b), the dynamic time warping distance of two signatures."""
    generator = np.random.default_rng(71)
    cases = [(generator.uniform(0.3, 1, k), generator.uniform(0.3, 1, m)) for k, m in ((6, 6), (5, 11), (9, 3), (1, 4))]
    *got, to_itself = numbers_of(function, [*cases, (cases[0][0], cases[0][0])])
    expected = [signature_distance(one, other) for one, other in cases]
    yield from matching(got, _WARPINGS, cases=cases)
    yield not close(to_itself, 0), "The distance of a signature to itself should be zero."
    partner = "Too small: every score needs a partner, the first with the first, the last with the last."
    yield np.all(np.array(got) <= np.array(expected) + 1e-9), partner
    yield True, "Check two scores against one by hand. Which three places may come before (i, j)?"


def _table(one: Values, other: Values, price: Callable[[float], float], diagonal: bool = True) -> float:
    """The cheapest total price of an alignment."""
    total = np.full((len(one) + 1, len(other) + 1), np.inf)
    total[0, 0] = 0
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            ways = [total[i - 1, j], total[i, j - 1]]
            if diagonal or i == j == 1:
                ways.append(total[i - 1, j - 1])
            total[i, j] = price(a - b) + min(ways)
    return float(total[-1, -1])


_PER_STEP = "That is the distance per step. The distance itself is not divided by a length."
_WARPINGS = (
    (signature_distance, right("Each place is reached from three neighbours, by the cheapest of the ways there.")),
    (lambda a, b: _table(a, b, np.square), "That is the total price; the distance is in the unit of the scores."),
    (lambda a, b: _table(a, b, np.abs), "A step costs the squared difference, and the root comes at the end."),
    (lambda a, b: np.sqrt(_table(a, b, np.abs)), "The price of a step is the squared difference, not its size."),
    (lambda a, b: np.sqrt(_table(a, b, np.square, False)), "May both go on in the same step? That way is missing."),
    (lambda a, b: np.sqrt(_table(a, b, np.square) / max(len(a), len(b))), _PER_STEP),
)


@exercise("8.2", as_array, "a list of clusters,", 1)
def pure_and_useless(clusters: Values) -> Hints:
    """7.3: twelve cluster numbers with purity 1 and an adjusted Rand index of at most 0.1."""
    expected = f"Expected a cluster number for each of {len(FAMILIES)} networks, got {len(clusters)}."
    yield len(clusters) != len(FAMILIES), expected
    yield (clusters != np.round(clusters)).any(), "The number of a cluster is an integer: 0, 1, 2 and so on."
    counts = [Counter(np.array(FAMILIES)[clusters == cluster]) for cluster in np.unique(clusters)]
    purity = sum(max(count.values()) for count in counts) / len(FAMILIES)
    index = float(adjusted_rand_score(FAMILIES, np.unique(clusters, return_inverse=True)[1]))
    nothing = f"Purity 1, adjusted Rand index {index:.2f}: {len(counts)} clusters say nothing."
    yield purity == 1 and index <= BY_CHANCE, right(nothing)
    yield purity < 1, f"The purity is {purity:.2f}: some cluster holds more than one family."
    yield index == 1, "These are the families themselves, and both measures are 1. Tear them apart."
    yield True, f"Pure, but the adjusted Rand index is {index:.2f}: some members of a family are still together."
