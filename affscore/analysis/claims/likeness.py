"""What the papers say of how alike signatures are, within families and between them."""

from __future__ import annotations

import numpy as np
from scipy.stats import permutation_test

from affscore.analysis.claims.claim import Claim, Outcome
from affscore.analysis.claims.facts import Facts
from affscore.analysis.clustering import family_agreement, relatives
from affscore.analysis.signature_length import length_distances

__all__ = ["LIKENESS"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

CHANCE = 0.05
PERMUTATIONS = 10_000
LEAST_FAMILIES = 4


def _back_to_convnets(facts: Facts) -> Outcome | None:
    if not {"Pure convnets", "ViTs"} <= facts.families.keys() or not {"Swins", "Convnexts"} & facts.families.keys():
        return None
    pure, vits = facts.families["Pure convnets"], facts.families["ViTs"]
    later = [*facts.families.get("Swins", []), *facts.families.get("Convnexts", [])]
    to_pure = facts.distances.loc[[*later, *vits], pure].mean(axis=1)
    test = permutation_test(
        (to_pure[later], to_pure[vits]),
        lambda one, other, axis: np.mean(one, axis=axis) - np.mean(other, axis=axis),
        vectorized=True,
        n_resamples=PERMUTATIONS,
        random_state=np.random.default_rng(0),
    )
    numbers = {
        "later": float(to_pure[later].mean()),
        "vits": float(to_pure[vits].mean()),
        "p": float(test.pvalue),
    }
    nearer = numbers["later"] < numbers["vits"]
    holds = nearer if numbers["p"] < CHANCE else None
    ends = {True: "nearer beyond chance", False: "farther beyond chance", None: "which is not beyond chance"}[holds]
    words = "Swins and ConvNeXts are {later:.2f} away from pure convnets on average, the ViTs {vits:.2f}, "
    return Outcome(holds, f"{words}{ends} (p = {{p:.3f}})", numbers)


def _vggs_alike(facts: Facts) -> Outcome | None:
    vggs = [name for name in facts.study.index if str(name).startswith("vgg")]
    others = [name for name in facts.study.index if facts.study.loc[name, "family"] != "Pure convnets"]
    if len(vggs) < 2 or len(others) < 3:
        return None
    numbers = {
        "within": float(facts.distances.loc[vggs, vggs].to_numpy().max()),
        "beyond": float(facts.distances.loc[vggs, others].to_numpy().min()),
    }
    holds = numbers["within"] < numbers["beyond"]
    ends = "less than" if holds else "not less than"
    words = "two VGGs are at most {within:.2f} apart, "
    return Outcome(
        holds, f"{words}{ends} the {{beyond:.2f}} from a VGG to the nearest network that is no pure convnet", numbers
    )


def _no_relatives(facts: Facts) -> bool:
    return len(facts.families) < LEAST_FAMILIES or max(map(len, facts.families.values())) < 2


def _families_found(facts: Facts) -> Outcome | None:
    if _no_relatives(facts):
        return None
    families = list(facts.study["family"])
    found = family_agreement(facts.distances, families, permutations=1999)
    lengths = length_distances({name: facts.scores(name) for name in facts.study.index})
    numbers = {
        "rand": found.value,
        "p": found.p_value,
        "length": family_agreement(lengths, families, permutations=1).value,
        "networks": len(facts.study),
    }
    holds = found.p_value < CHANCE and found.value > numbers["length"]
    ends = "better than both" if holds else "not better than both"
    words = (
        "clusters of {networks:.0f} networks agree with their families to an adjusted Rand index of {rand:.2f} (1: the "
        "same), which chance reaches with p = {p:.4f}; clusters by the number of activations alone have {length:.2f}: "
    )
    return Outcome(holds, f"{words}{ends}", numbers)


def _no_outliers(facts: Facts) -> Outcome | None:
    if _no_relatives(facts):
        return None
    found = relatives(facts.distances, list(facts.study["family"]), permutations=199)
    numbers = {"share": 100 * found.value, "chance": 100 * found.chance}
    holds = found.value == 1
    ends = "all of them" if holds else "not all of them"
    words = "of {share:.0f} % of the networks the nearest other is of their own family"
    return Outcome(holds, f"{words}, {ends} (chance gives {{chance:.0f}} %)", numbers)


_ALL = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"

LIKENESS = (
    Claim(
        "back-to-convnets",
        f"{PAPER}, section 4 and figure 5 B",
        "Swins and ConvNeXts are more like the convnets of the early years than ViTs are.",
        f"Their mean distance to the pure convnets is smaller than that of the ViTs, beyond chance ({CHANCE}) when "
        "networks are dealt out to the two sides. The claim does not hold where it is larger beyond chance.",
        _back_to_convnets,
        _ALL,
    ),
    Claim(
        "vggs-alike",
        f"{PAPER}, appendix F and figure 12",
        "The signature of VGGs does not change with their depth.",
        "No two VGGs are as far apart as a VGG and a network that is no pure convnet.",
        _vggs_alike,
        _ALL,
    ),
    Claim(
        "families-are-found",
        f"{PAPER}, section 4 and figure 5 A",
        "Clustering the signatures finds the families of architectures.",
        f"As many clusters as families agree with these better than chance ({CHANCE}) and than clusters by length.",
        _families_found,
        _ALL,
    ),
    Claim(
        "no-outliers",
        f"{FIRST}, section 4.3",
        "Relatives end up side by side in the tree, every one of them.",
        "The nearest other network is a relative of every network that has one.",
        _no_outliers,
        _ALL,
    ),
)
"""Claims about distances between signatures."""
