"""What the papers say of the decade and its families."""

from __future__ import annotations

from affscore.analysis import cell, trends
from affscore.papers.claims.claim import Claim, Outcome
from affscore.papers.claims.estimate import CHANCE, every
from affscore.papers.claims.facts import Facts

__all__ = ["DECADE"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

BEFORE_TRANSFORMERS = 2019
LEAST_FAMILIES = 4
SKEWED = -0.5


def _lowest(facts: Facts, statistic: str, family: str, what: str, until: int = 9999) -> Outcome | None:
    """Whether the networks of a family have the lowest statistic of all families until a year."""
    if len(facts.families) < LEAST_FAMILIES or family not in facts.families:
        return None
    means = facts.by_family(statistic)
    own = means.pop(family)
    means = {name: one for name, one in means.items() if facts.study.loc[facts.families[name], "year"].max() <= until}
    if not means:
        return None
    holds = every((own - other).below(together=len(means)) for other in means.values())
    lowest = min(means, key=lambda name: means[name].value)
    found = f"{what} is {own:.2f}; of {len(means)} other families {lowest} have the lowest, {means[lowest]:.2f}."
    return Outcome(holds, found, len(facts.study))


def _low_spread(facts: Facts) -> Outcome | None:
    return _lowest(facts, "spread", "Pure convnets", "The mean spread of the scores of pure convnets")


def _vits_lowest(facts: Facts) -> Outcome | None:
    return _lowest(facts, "median", "ViTs", "The mean of the median scores of ViTs", BEFORE_TRANSFORMERS)


def _inception_widens(facts: Facts) -> Outcome | None:
    names = ["googlenet", *facts.families.get("Pure convnets", [])]
    known = {name: (facts.estimate(name, "min"), facts.estimate(name, "max")) for name in names}
    ends = {name: (low, high) for name, (low, high) in known.items() if low is not None and high is not None}
    if len(names) < 2 or len(ends) < len(names):
        return None
    low, high = ends.pop("googlenet")
    together = 2 * len(ends)
    holds = every(
        part
        for other_low, other_high in ends.values()
        for part in ((low - other_low).below(together=together), (high - other_high).above(together=together))
    )
    least, most = min(one.value for one, _ in ends.values()), max(one.value for _, one in ends.values())
    found = (
        f"GoogLeNet's scores reach from {low:.2f} to {high:.2f}, those of pure convnets from {least:.2f} to {most:.2f}."
    )
    return Outcome(holds, found, len(names))


def _spread_grows(facts: Facts) -> Outcome | None:
    return _trend(facts, "spread", "max")


def _more_linear(facts: Facts) -> Outcome | None:
    return _trend(facts, "median")


def _trend(facts: Facts, *statistics: str) -> Outcome | None:
    if facts.study.empty:
        return None
    found = trends(facts.statistics, statistics, until=BEFORE_TRANSFORMERS, seed=0)
    if found["correlation"].isna().any():
        return None
    parts, told = [], []
    for statistic in statistics:
        r, p = cell(found, statistic, "correlation"), cell(found, statistic, "p_value")
        parts.append(r > 0 if p < CHANCE else None)
        told.append(f"{statistic} {r:.2f} (p = {p:.3f})")
    dated = int((facts.study["year"] <= BEFORE_TRANSFORMERS).sum())
    designs = int(found["points"].iloc[0])
    sentence = f"Rank correlation with the year over {designs} designs until {BEFORE_TRANSFORMERS}: {', '.join(told)}."
    return Outcome(every(parts), sentence, dated)


def _efficientnets_skewed(facts: Facts) -> Outcome | None:
    if "EfficientNets" not in facts.families or "skewness" not in facts.statistics:
        return None
    skewness = facts.by_family("skewness")["EfficientNets"]
    found = f"The skewness of the scores of EfficientNets is {skewness:.2f} on average."
    return Outcome(skewness.below(SKEWED), found, len(facts.families["EfficientNets"]))


def _densenets_skewed(facts: Facts) -> Outcome | None:
    if not {"DenseNets", "ViTs"} <= facts.families.keys() or "skewness" not in facts.statistics:
        return None
    means = facts.by_family("skewness")
    dense, vits = means["DenseNets"], means["ViTs"]
    found = f"The mean skewness of the scores is {dense:.2f} in DenseNets and {vits:.2f} in ViTs."
    networks = len(facts.families["DenseNets"]) + len(facts.families["ViTs"])
    return Outcome(every([dense.below(together=2), vits.above(together=2)]), found, networks)


_ALL = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"

DECADE = (
    Claim(
        "pure-convnets-low-spread",
        f"{PAPER}, section 4 and figure 3",
        "The scores of AlexNet and of the VGGs lie close together.",
        "The mean spread of pure convnets is smaller than that of every other family, with intervals over networks.",
        _low_spread,
        _ALL,
    ),
    Claim(
        "inception-widens",
        f"{PAPER}, section 4",
        "GoogLeNet reaches both lower and higher scores than the networks before it.",
        "Its smallest score is below, its largest above those of each pure convnet, with intervals over trainings or "
        "batches.",
        _inception_widens,
        "googlenet and the pure convnets of torchvision on ImageNet, in two batches or more",
    ),
    Claim(
        "spread-grows-until-2020",
        f"{PAPER}, section 4 and figure 3",
        "Until transformers came, spread and largest score grew over the years.",
        f"Both have a positive rank correlation with the year until {BEFORE_TRANSFORMERS}, by a permutation test over "
        "designs. A negative one refutes the claim.",
        _spread_grows,
        _ALL,
    ),
    Claim(
        "less-non-linear-until-2020",
        f"{PAPER}, sections 4 and 5",
        "Until transformers came, networks became less non-linear.",
        f"The median score has a positive rank correlation with the year until {BEFORE_TRANSFORMERS}, by a permutation "
        "test over designs. A negative one refutes the claim.",
        _more_linear,
        _ALL,
    ),
    Claim(
        "vits-most-non-linear",
        f"{PAPER}, section 4 and figure 3; {FIRST}, section 4.1",
        "ViTs bend their data more than any network before them.",
        f"The mean of their median scores is below that of every family until {BEFORE_TRANSFORMERS}, with intervals "
        "over networks.",
        _vits_lowest,
        _ALL,
    ),
    Claim(
        "efficientnets-skewed",
        f"{PAPER}, section 4 and figure 5 C",
        "The scores of EfficientNets are strongly skewed towards linearity.",
        f"Their mean skewness is below {SKEWED}, with an interval over networks.",
        _efficientnets_skewed,
        "the EfficientNets of torchvision on ImageNet",
    ),
    Claim(
        "densenets-skewed-against-vits",
        f"{PAPER}, figure 5 C",
        "The scores of DenseNets are skewed towards linearity, those of ViTs the other way.",
        "The mean skewness of DenseNets is negative and that of ViTs positive, with intervals over networks.",
        _densenets_skewed,
        "the DenseNets and ViTs of torchvision on ImageNet",
    ),
)
"""Claims about many networks."""
