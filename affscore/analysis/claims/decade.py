"""What the papers say of the decade, its families and how alike their signatures are."""

from __future__ import annotations

import numpy as np

from affscore.analysis.cells import cell
from affscore.analysis.claims.claim import Claim, Outcome
from affscore.analysis.claims.facts import Facts
from affscore.analysis.history import history, trends

__all__ = ["DECADE"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

BEFORE_TRANSFORMERS = 2019
CHANCE = 0.05
LEAST_FAMILIES = 4


def _few_families(facts: Facts, *wanted: str) -> bool:
    return len(facts.families) < LEAST_FAMILIES or not set(wanted) <= facts.families.keys()


def _mean_of(facts: Facts, statistic: str) -> dict[str, float]:
    """The mean of a statistic over the networks of each family."""
    table = history({name: facts.scores(name) for name in facts.study.index})
    return {str(family): float(value) for family, value in table.groupby("family")[statistic].mean().items()}


def _low_spread(facts: Facts) -> Outcome | None:
    if _few_families(facts, "Pure convnets"):
        return None
    spreads = _mean_of(facts, "spread")
    pure = spreads.pop("Pure convnets")
    family = min(spreads, key=lambda name: spreads[name])
    numbers = {"pure": pure, "next": spreads[family]}
    holds = pure < spreads[family]
    ends = "smaller than that of any other family" if holds else "not the smallest of all families"
    words = "the scores of pure convnets spread over {pure:.2f} on average, "
    return Outcome(holds, f"{words}{ends} (of the others {family} has the smallest, {{next:.2f}})", numbers)


def _inception_widens(facts: Facts) -> Outcome | None:
    if "googlenet" not in facts.signatures or "Pure convnets" not in facts.families:
        return None
    pure = np.concatenate([facts.scores(name) for name in facts.families["Pure convnets"]])
    own = facts.scores("googlenet")
    numbers = {"low": own.min(), "high": own.max(), "pure_low": pure.min(), "pure_high": pure.max()}
    holds = bool(numbers["low"] < numbers["pure_low"] and numbers["high"] > numbers["pure_high"])
    ends = "beyond both ends" if holds else "not beyond both ends"
    words = f"GoogLeNet's scores reach from {{low:.2f}} to {{high:.2f}}, {ends} "
    return Outcome(holds, f"{words}of the pure convnets' {{pure_low:.2f}} to {{pure_high:.2f}}", numbers)


def _spread_grows(facts: Facts) -> Outcome | None:
    yes, no = "spread and largest score both grow", "spread and largest score do not both grow"
    return _trend(facts, ("spread", "max"), yes, no, yes)


def _more_linear(facts: Facts) -> Outcome | None:
    return _trend(facts, ("median",), "the median score grows", "the median score falls", "the median score grows")


def _trend(facts: Facts, statistics: tuple[str, ...], yes: str, no: str, unknown: str) -> Outcome | None:
    if facts.study.empty:
        return None
    table = history({name: facts.scores(name) for name in facts.study.index})
    found = trends(table, statistics, until=BEFORE_TRANSFORMERS, seed=0)
    if found["correlation"].isna().any():
        return None
    numbers = {"points": float(found["points"].iloc[0])}
    for statistic in statistics:
        numbers[f"r_{statistic}"] = cell(found, statistic, "correlation")
        numbers[f"p_{statistic}"] = cell(found, statistic, "p_value")
    rising = [numbers[f"r_{name}"] > 0 for name in statistics]
    beyond = [numbers[f"p_{name}"] < CHANCE for name in statistics]
    contrary = any(known and not up for known, up in zip(beyond, rising, strict=True))
    holds = False if contrary else True if all(beyond) else None
    told = ", ".join(f"{name}: rank correlation {{r_{name}:.2f}}, p = {{p_{name}:.3f}}" for name in statistics)
    ends = {True: yes, False: no, None: f"it cannot be told whether {unknown}"}[holds]
    words = f"over {{points:.0f}} designs until {BEFORE_TRANSFORMERS} {ends}, by a test against chance ({told})"
    return Outcome(holds, words, numbers)


def _vits_lowest(facts: Facts) -> Outcome | None:
    if _few_families(facts, "ViTs"):
        return None
    medians = _mean_of(facts, "median")
    own = medians.pop("ViTs")
    family = min(medians, key=lambda name: medians[name])
    numbers = {"vits": own, "next": medians[family]}
    holds = own < medians[family]
    ends = "the lowest of all families" if holds else "not the lowest of all families"
    words = "the median score of ViTs is {vits:.2f} on average, "
    return Outcome(holds, f"{words}{ends} (of the others {family} has the lowest, {{next:.2f}})", numbers)


def _efficientnets_skewed(facts: Facts) -> Outcome | None:
    if "EfficientNets" not in facts.families:
        return None
    table = history({name: facts.scores(name) for name in facts.families["EfficientNets"]})
    numbers = {"networks": len(table), "low": float(min(table["skewness"])), "high": float(max(table["skewness"]))}
    holds = bool(numbers["high"] < -0.5)
    ends = "all below" if holds else "not all below"
    words = "the skewness of the scores of {networks:.0f} EfficientNets is {low:.2f} to {high:.2f}, "
    return Outcome(holds, f"{words}{ends} -0.5", numbers)


_ALL = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"

DECADE = (
    Claim(
        "pure-convnets-low-spread",
        f"{PAPER}, section 4 and figure 3",
        "The scores of AlexNet and of the VGGs lie close together.",
        "The mean spread of pure convnets is smaller than that of every other family.",
        _low_spread,
        _ALL,
    ),
    Claim(
        "inception-widens",
        f"{PAPER}, section 4",
        "GoogLeNet reaches both lower and higher scores than the networks before it.",
        "Its smallest score is below, its largest above those of all pure convnets.",
        _inception_widens,
        "googlenet and the pure convnets of torchvision on ImageNet",
    ),
    Claim(
        "spread-grows-until-2020",
        f"{PAPER}, section 4 and figure 3",
        "Until transformers came, spread and largest score grew over the years.",
        f"Both have a positive rank correlation with the year until {BEFORE_TRANSFORMERS}, beyond chance ({CHANCE}). A "
        "negative one beyond chance refutes the claim; in between, nothing is decided.",
        _spread_grows,
        _ALL,
    ),
    Claim(
        "less-non-linear-until-2020",
        f"{PAPER}, sections 4 and 5",
        "Until transformers came, networks became less non-linear.",
        f"The median score has a positive rank correlation with the year until {BEFORE_TRANSFORMERS}, beyond chance. A "
        "negative one beyond chance refutes the claim; in between, nothing is decided.",
        _more_linear,
        _ALL,
    ),
    Claim(
        "vits-most-non-linear",
        f"{PAPER}, section 4 and figure 3; {FIRST}, section 4.1",
        "ViTs bend their data more than any network before them.",
        "The median score of the ViTs is the lowest of all families.",
        _vits_lowest,
        _ALL,
    ),
    Claim(
        "efficientnets-skewed",
        f"{PAPER}, section 4 and figure 5 C",
        "The scores of EfficientNets are strongly skewed towards linearity.",
        "The skewness of every EfficientNet is below -0.5.",
        _efficientnets_skewed,
        "the EfficientNets of torchvision on ImageNet",
    ),
)
"""Claims about many networks."""
