"""What the papers say of residual networks: what a shortcut's sum does, and how many modes the scores have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from scipy import stats

from affscore.analysis import trend, unimodality_test
from affscore.network.result import Signature
from affscore.papers.claims.claim import Claim, Outcome
from affscore.papers.claims.estimate import CHANCE, SCORES, every, mean_of
from affscore.papers.claims.facts import Facts

__all__ = ["RESIDUAL"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

LINEAR = 0.9


def _groups(facts: Facts) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of each ResNet, the smallest first, the scores after a sum, and all its others."""
    found = {name: facts.scores_where(name, kind="after-sum") for name in facts.beginning("resnet")}
    return {name: both for name, both in found.items() if len(both[0]) and len(both[1])}


def _after_sums(facts: Facts) -> Outcome | None:
    gaps = [after.mean() - others.mean() for after, others in _groups(facts).values()]
    if not gaps:
        return None
    gap = mean_of(gaps)
    found = f"The mean score after a sum less that of the others is {gap:.2f} on average over the ResNets."
    return Outcome(gap.above(), found, len(gaps))


def _deeper_approaches_one(facts: Facts) -> Outcome | None:
    groups = _groups(facts)
    if len(groups) < 3:
        return None
    after = [scores.mean() for scores, _ in groups.values()]
    gaps = [scores.mean() - others.mean() for scores, others in groups.values()]
    rises = [trend(range(len(after)), values) for values in (after, gaps)]
    last = mean_of(list(groups.values())[-1][0], SCORES)
    rising = [one.correlation > 0 if one.p_value < CHANCE else None for one in rises]
    told = [f"{one.correlation:.2f} (p = {one.p_value:.3f})" for one in rises]
    found = (
        f"Over the ResNets the mean score after a sum has the rank correlation {told[0]} with depth, its lead "
        f"{told[1]}; after a sum the deepest scores {last:.2f}."
    )
    return Outcome(every([*rising, last.above(LINEAR)]), found, len(groups))


def _pairs_bimodal(facts: Facts) -> Outcome | None:
    orders = {"activate first": facts.signatures, "reduce first": facts.reduce_first}
    parts, told, networks = [], [], 0
    for order, signatures in orders.items():
        pairs = _pairs(signatures)
        if not pairs:
            continue
        networks = max(networks, 2 * len(pairs))
        with_it = sum(residual < CHANCE <= plain for plain, residual in pairs.values())
        without = sum(plain < CHANCE <= residual for plain, residual in pairs.values())
        chance = stats.binomtest(with_it, with_it + without).pvalue if with_it + without else 1.0
        parts.append(with_it > without if chance < CHANCE else None)
        listed = ", ".join(
            f"{plain:.3f} / {residual:.3f} ({len(signatures[name])})" for name, (plain, residual) in pairs.items()
        )
        told.append(f"{order} {listed}")
    if not parts:
        return None
    found = (
        "Silverman's p for one mode without / with shortcuts (activations of the pair): " + "; ".join(told) + ". "
        "An accepted single mode is no evidence of one."
    )
    return Outcome(every(parts), found, networks)


def _pairs(signatures: Mapping[str, Signature]) -> dict[str, tuple[float, float]]:
    """Silverman's p-values of a network without and with shortcuts, by the name of the latter, the smallest first."""
    pairs = {}
    for name in sorted(signatures, key=lambda name: len(signatures[name])):
        twin = name.replace("resnet", "plainnet")
        if name.startswith("resnet") and twin in signatures:
            pairs[name] = _one_mode(signatures[twin]), _one_mode(signatures[name])
    return pairs


def _one_mode(signature: Signature) -> float:
    return _p_value(tuple(signature.scores[np.isfinite(signature.scores)]))


@cache
def _p_value(scores: tuple[float, ...]) -> float:
    return unimodality_test(scores).p_value


def _resnets_bimodal(facts: Facts) -> Outcome | None:
    names = facts.beginning("resnet")
    if len(names) < 2:
        return None
    chances = {name: _one_mode(facts.signatures[name]) for name in names}
    told = ", ".join(f"{p:.3f} ({len(facts.signatures[name])})" for name, p in chances.items())
    found = f"Silverman's p for one mode (activations of the ResNet): {told}."
    return Outcome(True if max(chances.values()) < CHANCE else None, found, len(names))


def _linear_mode(facts: Facts) -> Outcome | None:
    medians = [float(np.median(after)) for after, _ in _groups(facts).values()]
    if not medians:
        return None
    median = mean_of(medians, SCORES)
    found = f"The median score after a sum is {median:.2f} on average over the ResNets."
    return Outcome(median.above(LINEAR), found, len(medians))


_ON_IMAGENET = "of torchvision on ImageNet (affscore survey --datasets imagenet:data/imagenet --store results)"

RESIDUAL = (
    Claim(
        "after-sums-more-linear",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "In ResNets the activations behind a shortcut's sum are much more linear than those inside a block.",
        "Their mean score is above that of the other activations, with an interval over networks.",
        _after_sums,
        f"ResNets {_ON_IMAGENET}",
    ),
    Claim(
        "deeper-approaches-one",
        f"{PAPER}, appendix F",
        "The deeper the ResNet, the further apart are the activations after a sum, and the nearer to 1.",
        "Their mean score and its lead have a positive rank correlation with the number of activations, by a "
        f"permutation test, and the interval of the deepest network's mean lies above {LINEAR}.",
        _deeper_approaches_one,
        f"three ResNets {_ON_IMAGENET}",
    ),
    Claim(
        "shortcuts-make-two-modes",
        f"{PAPER}, section 4 and figure 5 D",
        "With shortcuts the scores of a network have two modes; without them the same network has one.",
        "In each order of activation and average, Silverman's test rejects one mode for the residual network alone "
        "more often than for its plain twin alone, by a sign test over pairs.",
        _pairs_bimodal,
        "trained pairs of networks with and without shortcuts, six at least",
    ),
    Claim(
        "resnets-bimodal",
        f"{PAPER}, figure 5 C",
        "The scores of ResNets have a bimodal distribution.",
        "Silverman's test rejects one mode for every ResNet. Where it does not, few activations may be the reason.",
        _resnets_bimodal,
        f"two ResNets {_ON_IMAGENET}",
    ),
    Claim(
        "one-mode-is-linear",
        f"{PAPER}, section 4",
        "One of the two modes of a residual network lies at highly linear activations.",
        f"The median score after sums is above {LINEAR}, with an interval over networks.",
        _linear_mode,
        f"ResNets {_ON_IMAGENET}",
    ),
)
"""Claims about residual networks."""
