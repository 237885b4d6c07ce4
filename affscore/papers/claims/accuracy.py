"""What the papers say of accuracy and the statistics of a signature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from affscore.analysis import (
    STATISTICS,
    best_fit_lead,
    best_fit_test,
    cell,
    independent_lead,
    independent_p_value,
    over_seeds,
    plain_r2,
    signature_statistics,
)
from affscore.errors import AffscoreError
from affscore.papers.claims.claim import Claim, Outcome
from affscore.papers.claims.estimate import CHANCE, every
from affscore.papers.claims.facts import Facts
from affscore.papers.groups import FIRST_PAPER_STATISTICS, accuracy_groups, group_of_each, study_groups
from affscore.zoo.characteristics import characteristics

__all__ = ["ACCURACY"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

PERMUTATIONS = 10_000

BEFORE, AFTER = ("Pre-residual", "Residual", "NAS-based"), ("ViTs", "Post-ViT")
"""The groups of figure 4 before and after transformers came."""

_OF_SPREAD, _OF_LEVEL = ("std", "max/mean", "max/median"), ("min", "median")
_COMMON = ["depth", "parameters", "operations"]


def _table(facts: Facts) -> pd.DataFrame | None:
    """Accuracy, statistics and common characteristics of the networks, with the groups of both papers.

    Of networks that were trained several times means; of the papers' own networks torchvision's accuracies.
    """
    if facts.trainings is not None and facts.zoo is not None:
        table = over_seeds(facts.trainings)
        table = table.join(facts.zoo.set_index("name").rename(columns={"flops": "operations"})[_COMMON])
    elif not facts.analogue and set(group_of_each()) <= facts.signatures.keys():
        names = list(facts.signatures)
        table = characteristics(names)[["accuracy", "depth", "parameters", "gflops"]]
        table = table.rename(columns={"gflops": "operations"})
        table = table.join(signature_statistics({name: facts.scores(name) for name in names}))
    else:
        return None
    return table.join(accuracy_groups(table.index).drop(columns="name"))


def _signature_explains_accuracy(facts: Facts) -> Outcome | None:
    if facts.printed:
        found, networks = _printed_fits(facts.printed["figure4_r2"]), len(group_of_each())
    else:
        table = _table(facts)
        if table is None:
            return None
        found, networks = _fits(table.dropna(subset="group")), int(table["group"].notna().sum())
    if found.empty:
        return None
    lead = found["statistic_r2"] - found["common_r2"]
    ahead = (lead > 0) & (found["p_value"] < CHANCE) & (found["lead_p_value"] < CHANCE)
    behind = (lead < 0) & (found["lead_p_value"] > 1 - CHANCE)
    holds = True if ahead.mean() > 0.5 else False if behind.mean() > 0.5 else None
    sentence = (
        f"The best statistic of the signature has a larger R2 than the best of depth, parameters and operations in "
        f"{int((lead > 0).sum())} of {len(found)} groups, in {int(ahead.sum())} beyond chance; it is behind by more "
        f"than chance in {int(behind.sum())}."
    )
    return Outcome(holds, sentence, networks)


def _printed_fits(printed: pd.DataFrame) -> pd.DataFrame:
    """The printed R2 of figure 4, which are adjusted ones, and what seven independent statistics would reach."""
    rows = {}
    for group, names in study_groups().items():
        size = len(names)
        ours, common = (plain_r2(cell(printed, group, f"{which}_r2"), size) for which in ("signature", "common"))
        rows[group] = {
            "statistic_r2": ours,
            "common_r2": common,
            "p_value": independent_p_value(ours, size, len(STATISTICS)),
            "lead_p_value": independent_lead(ours - common, size, len(STATISTICS), len(_COMMON)),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _fits(table: pd.DataFrame) -> pd.DataFrame:
    """For each group of figure 4 the best R2 of a statistic and of a common characteristic, and chance beside both."""
    rows = {
        group: best_fit_lead(
            members, list(STATISTICS), _COMMON, kind="logarithm", strata="family", permutations=PERMUTATIONS
        )
        for group, members in table.groupby("group", sort=False)
    }
    wanted = ["statistic_r2", "common_r2", "p_value", "lead_p_value"]
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=wanted).astype(float).dropna()


def _goes_with(members: pd.DataFrame, candidates: Sequence[str]) -> tuple[float, float] | None:
    """The correlation of accuracy with the best of these statistics, and its p-value within families."""
    try:
        found = best_fit_test(members, candidates, strata="family", permutations=PERMUTATIONS)
    except AffscoreError:
        return None
    sign = np.sign(np.corrcoef(members[found.best], members["accuracy"])[0, 1])
    return float(sign * found.observed**0.5), found.p_value


def _spread_then_level(facts: Facts) -> Outcome | None:
    if facts.printed:
        printed = facts.printed["figure4_r2"]
        fits = _printed_fits(printed)
        chances = {
            group: (str(printed.loc[group, "best_signature_statistic"]), cell(fits, group, "p_value"))
            for group in (*BEFORE, *AFTER)
        }
        parts = [
            (best in (_OF_SPREAD if group in BEFORE else _OF_LEVEL)) if p < CHANCE else None
            for group, (best, p) in chances.items()
        ]
        told = ", ".join(f"{group} {best} (p = {p:.3f})" for group, (best, p) in chances.items())
        return Outcome(every(parts), f"Best statistic and its chance among seven: {told}.", len(group_of_each()))
    table = _table(facts)
    if table is None:
        return None
    return _in_groups(table, "group", dict.fromkeys(BEFORE, ("std",)) | dict.fromkeys(AFTER, _OF_LEVEL), sign=1)


def _in_groups(
    table: pd.DataFrame, column: str, candidates: dict[str, Sequence[str]], sign: int, signed: Sequence[str] = BEFORE
) -> Outcome | None:
    """Whether accuracy goes with a statistic in each group, and with this sign in those where it matters."""
    found = {group: _goes_with(table[table[column] == group], some) for group, some in candidates.items()}
    known = {group: one for group, one in found.items() if one is not None}
    if len(known) < len(candidates):
        return None
    parts = [None if p >= CHANCE else (sign * r > 0 if group in signed else True) for group, (r, p) in known.items()]
    told = ", ".join(
        f"{group} {' or '.join(candidates[group])} {r:.2f} (p = {p:.3f})" for group, (r, p) in known.items()
    )
    return Outcome(every(parts), f"Correlation with accuracy: {told}.", int(table[column].isin(candidates).sum()))


def _predictive(facts: Facts) -> Outcome | None:
    groups = ("Traditional and residual", "Efficient", "Vision transformers")
    return _first_version(facts, dict.fromkeys(groups, FIRST_PAPER_STATISTICS), sign=1, signed=())


def _efficient_penalised(facts: Facts) -> Outcome | None:
    return _first_version(facts, {"Efficient": ("max",)}, sign=-1, signed=("Efficient",))


def _transformers_bend(facts: Facts) -> Outcome | None:
    return _first_version(facts, {"Vision transformers": ("mean",)}, sign=-1, signed=("Vision transformers",))


def _first_version(
    facts: Facts, candidates: dict[str, Sequence[str]], sign: int, signed: Sequence[str]
) -> Outcome | None:
    table = _table(facts)
    return None if table is None else _in_groups(table, "first_paper_group", candidates, sign, signed)


_ALL = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"
_EFFICIENT = f"{_ALL}, with SqueezeNets and ShuffleNets"

ACCURACY = (
    Claim(
        "signature-explains-accuracy",
        f"{PAPER}, section 4 and figure 4",
        "What one reads off the signature often explains accuracy better than depth, size and operations do.",
        "In more than half of the groups its best statistic has the larger R2, in fits in the logarithm, and permuting "
        f"accuracies within families reaches that R2 with p < {CHANCE}, and so it does that lead of seven statistics "
        "over three. It does not hold where it is behind by that test in more than half. Printed R2 are compared with "
        "independent statistics.",
        _signature_explains_accuracy,
        _ALL,
    ),
    Claim(
        "spread-then-level",
        f"{PAPER}, section 4 (second finding) and figure 4",
        "Before transformers the better networks have the larger spread of scores; since then minimum or median goes "
        "with accuracy.",
        "Accuracy rises with the standard deviation in each of the three earlier groups and goes with minimum or "
        "median in both later ones, by permuting accuracies within families. In print, the best of seven statistics "
        "is one of spread or one of these, and beyond chance.",
        _spread_then_level,
        _ALL,
    ),
    Claim(
        "statistic-predicts-accuracy",
        f"{FIRST}, section 4.4 and figure 9",
        "A statistic of the signature is predictive of accuracy in each of three groups of networks.",
        "In each group the best of five statistics explains accuracy beyond chance when accuracies are permuted within "
        "families.",
        _predictive,
        _EFFICIENT,
    ),
    Claim(
        "efficient-networks-penalised",
        f"{FIRST}, section 4.4 and figure 9",
        "Efficient networks are the less accurate, the larger their largest score.",
        "The correlation of largest score and accuracy is negative, by permuting accuracies within families.",
        _efficient_penalised,
        _EFFICIENT,
    ),
    Claim(
        "transformers-better-when-bent",
        f"{FIRST}, section 4.4 and figure 9",
        "Vision transformers are the more accurate, the more non-linear they are.",
        "The correlation of mean score and accuracy is negative, by permuting accuracies.",
        _transformers_bend,
        "the vision transformers of torchvision on ImageNet",
    ),
)
"""Claims about accuracy."""
