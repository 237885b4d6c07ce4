"""What the papers say of how alike signatures are, within families and between them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from affscore.analysis import family_agreement, family_lead, length_distances, nearest_neighbour_accuracy
from affscore.papers.claims.claim import Claim, Outcome
from affscore.papers.claims.estimate import CHANCE, Estimate
from affscore.papers.claims.facts import Facts

__all__ = ["LIKENESS"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

PERMUTATIONS = 10_000
LEAST_FAMILIES = 4


def _nearer(one: pd.Series, other: pd.Series) -> tuple[bool | None, float]:
    """Whether the first distances are smaller than the second, beyond chance, and the p-value of permuting them."""
    test = stats.permutation_test(
        (one, other),
        lambda first, second, axis: np.mean(first, axis=axis) - np.mean(second, axis=axis),
        vectorized=True,
        n_resamples=PERMUTATIONS,
        random_state=np.random.default_rng(0),
    )
    return (bool(one.mean() < other.mean()) if test.pvalue < CHANCE else None), float(test.pvalue)


def _back_to_convnets(facts: Facts) -> Outcome | None:
    if not facts.signatures:
        return None
    if not {"Pure convnets", "ViTs"} <= facts.families.keys() or not {"Swins", "Convnexts"} & facts.families.keys():
        return None
    pure, vits = facts.families["Pure convnets"], facts.families["ViTs"]
    later = [*facts.families.get("Swins", []), *facts.families.get("Convnexts", [])]
    to_pure = facts.distances.loc[[*later, *vits], pure].mean(axis=1)
    holds, p = _nearer(to_pure[later], to_pure[vits])
    found = (
        f"Swins and ConvNeXts are {to_pure[later].mean():.2f} away from pure convnets on average, the ViTs "
        f"{to_pure[vits].mean():.2f} (p = {p:.3f})."
    )
    return Outcome(holds, found, len(pure) + len(vits) + len(later))


def _vggs_alike(facts: Facts) -> Outcome | None:
    vggs = [name for name in facts.study.index if str(name).startswith("vgg")]
    others = [name for name in facts.study.index if facts.study.loc[name, "family"] != "Pure convnets"]
    if not facts.signatures or len(vggs) < 2 or len(others) < 3:
        return None
    names = [*vggs, *others]
    between = facts.distances.loc[names, names].to_numpy()
    generator = np.random.default_rng(0)

    def lead(chosen: NDArray[np.intp]) -> float:
        """How much farther the rest is from the chosen than these are from each other, on average."""
        rest = np.setdiff1d(np.arange(len(names)), chosen)
        within = between[np.ix_(chosen, chosen)][np.triu_indices(len(chosen), 1)]
        return float(between[np.ix_(chosen, rest)].mean() - within.mean())

    own = lead(np.arange(len(vggs)))
    drawn = np.array([lead(generator.permutation(len(names))[: len(vggs)]) for _ in range(PERMUTATIONS // 5)])
    larger, smaller = ((1 + count.sum()) / (1 + len(drawn)) for count in (drawn >= own, drawn <= own))
    holds = True if larger < CHANCE / 2 else False if smaller < CHANCE / 2 else None
    found = (
        f"Networks of other families are {own:.2f} farther from VGGs than VGGs are from each other, on average; as "
        f"many networks drawn at random reach that with p = {larger:.4f}."
    )
    return Outcome(holds, found, len(names))


def _no_relatives(facts: Facts) -> bool:
    if not facts.signatures:
        return True
    return len(facts.families) < LEAST_FAMILIES or max(map(len, facts.families.values())) < 2


def _families_found(facts: Facts) -> Outcome | None:
    if _no_relatives(facts):
        return None
    families = list(facts.study["family"])
    lengths = length_distances({name: facts.scores(name) for name in facts.study.index})
    found = family_agreement(facts.distances, families, permutations=1999)
    rival = family_lead(facts.distances, lengths, families)
    lead = Estimate(rival.value, rival.error, len(families) - 1)
    beyond, behind = found.p_value < CHANCE, lead.above() is False
    sentence = (
        f"Clusters agree with the families to an adjusted Rand index of {found.value:.2f} (chance reaches it with p = "
        f"{found.p_value:.4f}); their lead over clusters by the number of activations alone is {lead:.2f}."
    )
    return Outcome(False if behind else lead.above() if beyond else None, sentence, len(families))


def _no_outliers(facts: Facts) -> Outcome | None:
    if _no_relatives(facts):
        return None
    families = facts.study["family"]
    share = nearest_neighbour_accuracy(facts.distances, list(families), permutations=199)
    with_relatives = int((families.map(families.value_counts()) > 1).sum())
    outliers = round(with_relatives * (1 - share.value))
    # where half of all studies would have none, a single network is one with this probability
    rate = 1 - 0.5 ** (1 / with_relatives)
    p = float(stats.binom.sf(outliers - 1, with_relatives, rate))
    found = (
        f"Of {with_relatives} networks with relatives {outliers} have a nearest neighbour of another family. If half "
        f"of all such studies had none, so many would have p = {p:.3f} (chance finds {100 * share.permuted:.0f} % "
        "relatives)."
    )
    return Outcome(True if outliers == 0 else False if p < CHANCE else None, found, len(families))


_ALL = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"

LIKENESS = (
    Claim(
        "back-to-convnets",
        f"{PAPER}, section 4 and figure 5 B",
        "Swins and ConvNeXts are more like the convnets of the early years than ViTs are.",
        "Their mean distance to the pure convnets is smaller than that of the ViTs, by a permutation test over "
        "networks. The claim does not hold where it is larger by that test.",
        _back_to_convnets,
        _ALL,
    ),
    Claim(
        "vggs-alike",
        f"{PAPER}, appendix F and figure 12",
        "VGGs of different depths have similar signatures (the paper: the signature does not change with the depth).",
        "VGGs are nearer to each other than to networks of other families, by more than as many networks drawn at "
        "random are.",
        _vggs_alike,
        _ALL,
    ),
    Claim(
        "families-are-found",
        f"{PAPER}, section 4 and figure 5 A",
        "Clustering the signatures finds the families of architectures.",
        "As many clusters as families agree with these better than chance, by a permutation test, and better than "
        "clusters by length alone, with a jackknife interval of that lead over networks.",
        _families_found,
        _ALL,
    ),
    Claim(
        "no-outliers",
        f"{FIRST}, section 4.3",
        "Relatives end up side by side in the tree, every one of them.",
        "The nearest other network is a relative of every network that has one. It does not hold where there are more "
        "outliers than a study that has none half of the time would have by chance.",
        _no_outliers,
        _ALL,
    ),
)
"""Claims about distances between signatures."""
