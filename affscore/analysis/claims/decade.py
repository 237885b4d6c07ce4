"""What the papers say of the decade, its families and how alike their signatures are."""

from __future__ import annotations

import numpy as np

from affscore.analysis.cells import cell
from affscore.analysis.claims.claim import Claim, Outcome
from affscore.analysis.claims.facts import Facts
from affscore.analysis.clustering import family_agreement, relatives
from affscore.analysis.history import history, trends

__all__ = ["DECADE"]

PAPER, FIRST = "From Alexnet to Transformers", "ICLR text"

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
    return _trend(
        facts, ("spread", "max"), "spread and largest score both grow", "spread and largest score do not both grow"
    )


def _more_linear(facts: Facts) -> Outcome | None:
    return _trend(facts, ("median",), "the median score grows", "the median score does not grow")


def _trend(facts: Facts, statistics: tuple[str, ...], yes: str, no: str) -> Outcome | None:
    if facts.study.empty:
        return None
    table = history({name: facts.scores(name) for name in facts.study.index})
    found = trends(table, statistics, until=BEFORE_TRANSFORMERS, resamples=2000)
    if found["correlation"].isna().any():
        return None
    numbers = {"points": float(found["points"].iloc[0])}
    for statistic in statistics:
        numbers[f"r_{statistic}"] = cell(found, statistic, "correlation")
        numbers[f"p_{statistic}"] = cell(found, statistic, "p_value")
    holds = all(numbers[f"r_{name}"] > 0 and numbers[f"p_{name}"] < CHANCE for name in statistics)
    told = ", ".join(f"{name}: rank correlation {{r_{name}:.2f}}, p = {{p_{name}:.3f}}" for name in statistics)
    ends = f"{yes if holds else no} with the year beyond chance"
    words = f"over {{points:.0f}} designs until {BEFORE_TRANSFORMERS} {ends} ({told})"
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


def _back_to_convnets(facts: Facts) -> Outcome | None:
    if not {"Pure convnets", "ViTs"} <= facts.families.keys() or not {"Swins", "Convnexts"} & facts.families.keys():
        return None
    pure, vits = facts.families["Pure convnets"], facts.families["ViTs"]
    later = [*facts.families.get("Swins", []), *facts.families.get("Convnexts", [])]
    numbers = {
        "later": float(facts.distances.loc[later, pure].to_numpy().mean()),
        "vits": float(facts.distances.loc[vits, pure].to_numpy().mean()),
    }
    holds = numbers["later"] < numbers["vits"]
    ends = "nearer than" if holds else "not nearer than"
    words = "Swins and ConvNeXts are {later:.2f} away from pure convnets on average, "
    return Outcome(holds, f"{words}{ends} the ViTs with {{vits:.2f}}", numbers)


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


def _families_found(facts: Facts) -> Outcome | None:
    if _few_families(facts) or max(map(len, facts.families.values())) < 2:
        return None
    found = family_agreement(facts.distances, list(facts.study["family"]), permutations=1999)
    numbers = {"rand": found.value, "chance": found.chance, "p": found.p_value, "networks": len(facts.study)}
    holds = found.p_value < CHANCE
    ends = "better than chance" if holds else "not better than chance"
    words = (
        "clusters of {networks:.0f} networks agree with their families to an adjusted Rand index of {rand:.2f} (1 is "
    )
    return Outcome(holds, f"{words}the same, chance gives {{chance:.2f}}; p = {{p:.4f}}): {ends}", numbers)


def _no_outliers(facts: Facts) -> Outcome | None:
    if _few_families(facts) or max(map(len, facts.families.values())) < 2:
        return None
    found = relatives(facts.distances, list(facts.study["family"]), permutations=199)
    numbers = {"share": 100 * found.value, "chance": 100 * found.chance}
    holds = found.value == 1
    ends = "all of them" if holds else "not all of them"
    words = "of {share:.0f} % of the networks the nearest other is of their own family"
    return Outcome(holds, f"{words}, {ends} (chance gives {{chance:.0f}} %)", numbers)


_ALL = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"

DECADE = (
    Claim(
        "pure-convnets-low-spread",
        f"{PAPER}, section 4 and figure 3",
        "AlexNet and the VGGs have a very low spread of scores.",
        "The mean spread of pure convnets is smaller than that of every other family.",
        _low_spread,
        _ALL,
    ),
    Claim(
        "inception-widens",
        f"{PAPER}, section 4",
        "The inception module of GoogLeNet extends the range of scores at both ends.",
        "Its smallest score is below, its largest above those of all pure convnets.",
        _inception_widens,
        "googlenet and the pure convnets of torchvision on ImageNet",
    ),
    Claim(
        "spread-grows-until-2020",
        f"{PAPER}, section 4 and figure 3",
        "Until transformers came, spread and largest score grew over the years.",
        f"Both have a positive rank correlation with the year until {BEFORE_TRANSFORMERS}, beyond chance ({CHANCE}).",
        _spread_grows,
        _ALL,
    ),
    Claim(
        "less-non-linear-until-2020",
        f"{PAPER}, sections 4 and 5",
        "Until transformers came, networks became less non-linear.",
        f"The median score has a positive rank correlation with the year until {BEFORE_TRANSFORMERS}, beyond chance.",
        _more_linear,
        _ALL,
    ),
    Claim(
        "vits-most-non-linear",
        f"{PAPER}, section 4 and figure 3; {FIRST}, section 4.1",
        "ViTs are non-linear to a degree not seen before: they maximise the non-linearity of their activations.",
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
    Claim(
        "back-to-convnets",
        f"{PAPER}, section 4 and figure 5 B",
        "Swins and ConvNeXts are more like the convnets of the early years than ViTs are.",
        "Their mean distance to the pure convnets is smaller than that of the ViTs.",
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
        f"As many clusters as families agree with these better than chance ({CHANCE}).",
        _families_found,
        _ALL,
    ),
    Claim(
        "no-outliers",
        f"{FIRST}, section 4.3",
        "All related architectures are grouped together, without an outlier.",
        "The nearest other network is a relative of every network that has one.",
        _no_outliers,
        _ALL,
    ),
)
"""Claims about many networks."""
