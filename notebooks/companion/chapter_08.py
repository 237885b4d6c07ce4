"""Chapter 8: a signature for every architecture. Clusters and distances, figures 5 A and B."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from affscore.comparison import signature_distance
from companion.answers import as_function, close, matching, numbers_of
from companion.claims import FIRST, PAPER, STUDY_ON_IMAGENET, Decision, Verdict, above, claim, difference_of_groups
from companion.clustering import family_agreement, family_lead, nearest_neighbour_accuracy
from companion.exercises import Hints, exercise, right
from companion.permutation import p_value_text
from companion.results import LEAST_FAMILIES, Results
from companion.statistics import CHANCE, Estimate, require


def length_distances(signatures: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Distances that know of each signature nothing but how many scores it has.

    Args:
        signatures: Scores by name.

    Returns:
        The difference of the lengths, as a matrix like that of :func:`affscore.comparison.distance_matrix`.

    Source: a baseline for figure 5 A; not in the papers.

    >>> length_distances({"a": [0.5], "b": [0.5, 0.6, 0.7]}).to_numpy().tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    names = list(signatures)
    lengths = np.array([len(np.asarray(scores)) for scores in signatures.values()], dtype=float)
    return pd.DataFrame(np.abs(lengths[:, None] - lengths), index=names, columns=names)


def _families(results: Results) -> pd.Series:
    """The families of the study's networks, where there are enough of these and some have several networks."""
    families = results.study["family"]
    require(results.signatures and families.nunique() >= LEAST_FAMILIES and families.duplicated().any())
    return families


@claim(f"{PAPER}, section 4 and figure 5 A", STUDY_ON_IMAGENET)
def families_are_found(results: Results) -> Verdict:
    """Clustering the signatures finds the families of architectures.

    Test: As many clusters as families agree with these better than chance, by a permutation test, and better than
    clusters by length alone, with a jackknife interval of that lead over networks.
    """
    families = _families(results)
    found = family_agreement(results.distances, list(families), permutations=1999)
    by_length = family_lead(results.distances, length_distances(results.study_scores), list(families))
    lead = Estimate(by_length.value, by_length.error, len(families) - 1, n=len(families))
    shown, seen = f"{found.value:.2f} ({p_value_text(found.p_value)})", f"{found.rare:.2f} would have been seen"
    agreement = Decision(shown, True, found.p_value, len(families), seen)
    parts = {"agreement with the families": agreement, "lead over clusters by the number of activations": above(lead)}
    return Verdict.all_of(parts, "Adjusted Rand index")


@claim(f"{FIRST}, section 4.3", STUDY_ON_IMAGENET)
def no_outliers(results: Results) -> Verdict:
    """Networks of a family end up side by side in the tree, every one of them.

    Test: The nearest neighbour of every network is of its family, if this has others (leave-one-out accuracy 1), and
    with permuted families that is rare. It does not hold where there are more outliers than a study that has none half
    of the time would have by chance.
    """
    families = _families(results)
    share = nearest_neighbour_accuracy(results.distances, list(families), permutations=199)
    able = int(families.duplicated(keep=False).sum())  # the others have no network of their family to be next to
    outliers = round(able * (1 - share.value))
    # where half of all studies would have none, a single network is one with this probability
    alone = 1 - 0.5 ** (1 / able)
    p = min(1.0, 2 * float(stats.binom.sf(outliers - 1, able, alone))) if outliers else share.p_value
    seen = f"{int(stats.binom.isf(CHANCE / 2, able, alone)) + 1}, or none of more networks, would have decided"
    decision = Decision(f"{outliers} of {able} (by chance {p_value_text(p)})", outliers == 0, p, len(families), seen)
    what = "Networks whose nearest neighbour is of another family"
    return Verdict.all_of({"though theirs has others": decision}, what)


@claim(f"{PAPER}, section 4 and figure 5 B", STUDY_ON_IMAGENET)
def back_to_convnets(results: Results) -> Verdict:
    """Swins and ConvNeXts are more like the convnets of the early years than ViTs are.

    Test: Their mean distance to the pure convnets is smaller than that of the ViTs, by a permutation test over
    networks.
    """
    of = results.families.get
    pure, vits, later = of("Pure convnets", []), of("ViTs", []), of("Swins", []) + of("ConvNeXts", [])
    require(results.signatures and pure and len(vits) > 1 and len(later) > 1)
    to_pure = results.distances[pure].mean(axis=1)
    part = {"of Swins and ConvNeXts less that of ViTs": difference_of_groups(to_pure[later], to_pure[vits], -1)}
    return Verdict.all_of(part, "Mean distance to pure convnets")


Values = NDArray[np.float64]


@exercise("8.1", as_function, "a function distance(a, b)")
def warping_function(function: Callable[..., object]) -> Hints:
    """A function distance(a, b), the dynamic time warping distance of two signatures."""
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
