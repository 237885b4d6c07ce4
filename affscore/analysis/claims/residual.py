"""What the papers say of residual networks: what a shortcut's sum does, and how many peaks the scores have."""

from __future__ import annotations

import numpy as np

from affscore.analysis.bimodality import one_peak_test
from affscore.analysis.claims.claim import Claim, Outcome
from affscore.analysis.claims.facts import Facts

__all__ = ["RESIDUAL"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

LINEAR = 0.9
ONE_PEAK = 0.05
ENOUGH = 50
"""On fewer activations Silverman's cautious test misses many second peaks, so such networks are left out."""


def _after_sums(facts: Facts) -> Outcome | None:
    gaps = _gaps(facts)
    if not gaps:
        return None
    smallest = min(gaps, key=lambda name: gaps[name][0] - gaps[name][1])
    numbers = {"networks": len(gaps), "after": gaps[smallest][0], "inside": gaps[smallest][1]}
    holds = numbers["after"] > numbers["inside"]
    ends = "more linear after the sum in all of them" if holds else "not more linear after the sum in all of them"
    words = f"{{networks:.0f}} ResNets, {ends}; least so {smallest}, with mean scores of {{after:.2f}} after a sum and "
    return Outcome(holds, f"{words}{{inside:.2f}} elsewhere", numbers)


def _deeper_approaches_one(facts: Facts) -> Outcome | None:
    gaps = _gaps(facts)
    if len(gaps) < 3:
        return None
    names = [name for name in facts.beginning("resnet") if name in gaps]
    first, last = gaps[names[0]], gaps[names[-1]]
    numbers = {
        "after_first": first[0],
        "after_last": last[0],
        "gap_first": first[0] - first[1],
        "gap_last": last[0] - last[1],
    }
    holds = last[0] > max(LINEAR, first[0]) and numbers["gap_last"] > numbers["gap_first"]
    ends = f"larger, and above {LINEAR}" if holds else f"not both larger and above {LINEAR}"
    words = (
        f"from {names[0]} to {names[-1]} the mean score after a sum goes from {{after_first:.2f}} to "
        f"{{after_last:.2f}}, its lead over the others from {{gap_first:.2f}} to {{gap_last:.2f}}: {ends}"
    )
    return Outcome(holds, words, numbers)


def _gaps(facts: Facts) -> dict[str, tuple[float, float]]:
    """Of each ResNet the mean score after a sum, and of all its other activations."""
    found = {}
    for name in facts.beginning("resnet"):
        after, inside = facts.scores_where(name, kind="after-sum")
        if len(after) and len(inside):
            found[name] = (float(after.mean()), float(inside.mean()))
    return found


def _pairs_bimodal(facts: Facts) -> Outcome | None:
    pairs = [name for name in _large(facts, "resnet") if _plain(name) in _large(facts, "plainnet")]
    if not pairs:
        return None
    numbers = {
        "pairs": len(pairs),
        "residual": sum(_several_peaks(facts, name) for name in pairs),
        "plain": sum(_several_peaks(facts, _plain(name)) for name in pairs),
    }
    holds = numbers["residual"] == numbers["pairs"] and numbers["plain"] == 0
    ends = "as claimed" if holds else "not as claimed"
    words = (
        f"of networks with at least {ENOUGH} activations a single peak is rejected for {{residual:.0f}} of "
        "{pairs:.0f} with shortcuts and for {plain:.0f} "
    )
    return Outcome(holds, f"{words}of those without, {ends} (Silverman's test at {ONE_PEAK})", numbers)


def _large(facts: Facts, start: str) -> list[str]:
    """The networks whose names begin so and that have activations enough to tell one peak from two."""
    return [name for name in facts.beginning(start) if len(facts.scores(name)) >= ENOUGH]


def _plain(name: str) -> str:
    return name.replace("resnet", "plainnet")


def _several_peaks(facts: Facts, name: str) -> bool:
    """Whether a single peak is rejected."""
    return one_peak_test(facts.scores(name)).p_value < ONE_PEAK


def _resnets_bimodal(facts: Facts) -> Outcome | None:
    names = _large(facts, "resnet")
    if len(names) < 2:
        return None
    numbers = {"networks": len(names), "bimodal": sum(_several_peaks(facts, name) for name in names)}
    holds = numbers["bimodal"] == numbers["networks"]
    ends = "all of them" if holds else "not all of them"
    words = (
        f"a single peak is rejected for {{bimodal:.0f}} of {{networks:.0f}} ResNets with at least {ENOUGH} activations"
    )
    return Outcome(holds, f"{words}, {ends} (Silverman's test at {ONE_PEAK})", numbers)


def _linear_mode(facts: Facts) -> Outcome | None:
    found = {}
    for name in facts.beginning("resnet"):
        after, _ = facts.scores_where(name, kind="after-sum")
        if len(after):
            found[name] = float(np.median(after))
    if not found:
        return None
    numbers = {"networks": len(found), "smallest": min(found.values()), "largest": max(found.values())}
    holds = numbers["smallest"] >= LINEAR
    ends = "none" if holds else "not all of them"
    words = "in {networks:.0f} ResNets the median score after a sum is {smallest:.2f} to {largest:.2f}, "
    return Outcome(holds, f"{words}{ends} {'below' if holds else 'at least'} {LINEAR}", numbers)


_ON_IMAGENET = "of torchvision on ImageNet (affscore survey --datasets imagenet:data/imagenet --store results)"

RESIDUAL = (
    Claim(
        "after-sums-more-linear",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "In ResNets the activations behind a shortcut's sum are much more linear than those inside a block.",
        "In every ResNet the mean score after sums is above that of its other activations.",
        _after_sums,
        f"a ResNet {_ON_IMAGENET}",
    ),
    Claim(
        "deeper-approaches-one",
        f"{PAPER}, appendix F",
        "The deeper the ResNet, the further apart are the activations after a sum, and the nearer to 1.",
        f"The deepest has a higher mean score after sums than the shallowest, above {LINEAR}, and a larger lead.",
        _deeper_approaches_one,
        f"three ResNets {_ON_IMAGENET}",
    ),
    Claim(
        "shortcuts-make-two-peaks",
        f"{PAPER}, section 4 and figure 5 D",
        "With shortcuts the scores of a network fall into two heaps; without them the same network has one.",
        f"Among networks with at least {ENOUGH} activations Silverman's test rejects a single peak for every residual "
        "one and for no plain one.",
        _pairs_bimodal,
        f"trained pairs of networks with and without shortcuts, of {ENOUGH} activations or more",
    ),
    Claim(
        "resnets-bimodal",
        f"{PAPER}, figure 5 C",
        "The scores of ResNets have a bimodal distribution.",
        f"Silverman's test rejects a single peak for every ResNet with at least {ENOUGH} activations.",
        _resnets_bimodal,
        f"two ResNets {_ON_IMAGENET}, of {ENOUGH} activations or more",
    ),
    Claim(
        "one-peak-is-linear",
        f"{PAPER}, section 4",
        "One of the two peaks of a residual network lies at highly linear activations.",
        f"In every ResNet the median score after sums is at least {LINEAR}.",
        _linear_mode,
        f"a ResNet {_ON_IMAGENET}",
    ),
)
"""Claims about residual networks."""
