"""Section 4, a signature for every architecture: clusters and distances, figures 5 A and B."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from companion.analysis import family_agreement, family_lead, length_distances, nearest_neighbour_accuracy, p_value_text
from companion.analysis.decisions import Decision, above, difference_of_groups
from companion.analysis.estimates import CHANCE, Estimate, require
from companion.papers.alexnet_to_transformers import FIRST, PAPER
from companion.papers.alexnet_to_transformers.section_4_decade import LEAST_FAMILIES
from companion.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from companion.papers.results import Results


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
