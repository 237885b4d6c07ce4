"""What the papers say of the score beside something else: criteria, accuracy, other data, other training."""

from __future__ import annotations

import numpy as np
import pandas as pd

from affscore.analysis.cells import cell
from affscore.analysis.chance import chance_of_group
from affscore.analysis.claims.claim import Claim, Outcome
from affscore.analysis.claims.facts import Facts
from affscore.analysis.groups import group_of_each, study_groups
from affscore.analysis.independent_statistics import independent_lead, independent_p_value, plain_r2
from affscore.analysis.networks import network_table
from affscore.analysis.redundancy import CRITERIA_OF_TABLE_1
from affscore.analysis.repeats import over_seeds
from affscore.analysis.similarity import STATISTICS, deviations, signature_statistics
from affscore.zoo.characteristics import characteristics

__all__ = ["RELATIONS"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

STRONG = 0.5
CHANCE = 0.05
PERMUTATIONS = 10_000

_COMMON = ("depth", "parameters", "operations")


def _no_criterion(facts: Facts) -> Outcome | None:
    table = facts.criteria
    if table is None or len(table) < 10:
        return None
    known = table[list(CRITERIA_OF_TABLE_1)]
    weakest = (known * np.sign(known.mean())).min()
    best = str(weakest.idxmax())
    numbers = {"weakest": float(weakest[best]), "networks": len(table)}
    holds = numbers["weakest"] < STRONG
    ends = f"no criterion stays above {STRONG}" if holds else f"one criterion stays at or above {STRONG}"
    words = (
        f"over {{networks:.0f}} networks {ends}; the most consistent is {best}, and its weakest correlation, counted "
    )
    return Outcome(holds, f"{words}positive in its usual direction, is {{weakest:.2f}}", numbers)


def _cka_of_densenets(facts: Facts) -> Outcome | None:
    table = facts.criteria
    if table is None or len(table) < 10 or not any(str(name).startswith("densenet") for name in table.index):
        return None
    dense = table.index.astype(str).str.startswith("densenet")
    numbers = {"dense": float(table.loc[dense, "cka"].min()), "other": float(table.loc[~dense, "cka"].min())}
    holds = numbers["dense"] > STRONG and numbers["other"] < 0
    ends = "as claimed" if holds else "not as claimed"
    words = (
        "the correlation of score and CKA is at least {dense:.2f} in DenseNets and goes down to {other:.2f} in others, "
    )
    return Outcome(holds, f"{words}{ends} (limits {STRONG} and 0)", numbers)


def _signature_explains_accuracy(facts: Facts) -> Outcome | None:
    found = _printed_fits(facts.printed["figure4_r2"]) if facts.printed else _fits(facts)
    if found is None:
        return None
    better = found["statistic_r2"] > found["common_r2"]
    beyond = better & (found["p_value"] < CHANCE) & (found["lead_p_value"] < CHANCE)
    numbers = {"groups": len(found), "better": int(better.sum()), "beyond": int(beyond.sum())}
    often, surely = 2 * numbers["better"] > numbers["groups"], 2 * numbers["beyond"] > numbers["groups"]
    holds = surely or (None if often else False)
    ends = {True: "often, and beyond chance", None: "often, but not often beyond chance", False: "not often"}[holds]
    words = (
        "the best statistic of the signature has a larger R2 than the best of depth, parameters and operations in "
        "{better} of {groups} groups, in {beyond} of them with an R2 and a lead that are both beyond chance: "
    )
    return Outcome(holds, f"{words}{ends}", numbers)


def _printed_fits(printed: pd.DataFrame) -> pd.DataFrame:
    """The printed R2 of figure 4, which are adjusted ones, and what seven independent statistics would reach."""
    sizes = {group: len(names) for group, names in study_groups().items()}

    rows = {}
    for group, size in sizes.items():
        ours, common = (plain_r2(cell(printed, group, f"{which}_r2"), size) for which in ("signature", "common"))
        rows[group] = {
            "statistic_r2": ours,
            "common_r2": common,
            "p_value": independent_p_value(ours, size, len(STATISTICS)),
            "lead_p_value": independent_lead(ours - common, size, len(STATISTICS), len(_COMMON)),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _fits(facts: Facts) -> pd.DataFrame | None:
    """For each group of figure 4 the best R2 of a statistic and of a common characteristic, and chance beside both."""
    groups = group_of_each()
    common = list(_COMMON)
    if facts.hard_task is not None and facts.zoo is not None:
        table = over_seeds(facts.hard_task)
        table = table.join(facts.zoo.set_index("name").rename(columns={"flops": "operations"})[common])
    elif not facts.analogue and set(groups) <= facts.signatures.keys():
        table = characteristics(groups)[["accuracy", "depth", "parameters", "gflops"]]
        table = table.rename(columns={"gflops": "operations"})
        table = table.join(signature_statistics({name: facts.scores(name) for name in groups}))
    else:
        return None
    table = table.assign(group=table.index.map(groups), family=network_table(table.index)["family"])
    table = table.dropna(subset="group")
    rows = {
        group: chance_of_group(
            members, list(STATISTICS), common, kind="logarithm", within="family", permutations=PERMUTATIONS
        )
        for group, members in table.groupby("group", sort=False)
    }
    wanted = ["statistic_r2", "common_r2", "p_value", "lead_p_value"]
    found = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=wanted).astype(float).dropna()
    return None if found.empty else found


def _training_again(facts: Facts) -> Outcome | None:
    if facts.hard_task is None or facts.hard_task["seed"].nunique() < 2:
        return None
    means = facts.hard_task.pivot_table(index="name", columns="seed", values="mean")
    numbers = {
        "seeds": float(means.std(axis=1).mean()),
        "networks": float(means.mean(axis=1).std()),
        "trainings": float(means.shape[1]),
    }
    holds = numbers["seeds"] < numbers["networks"] / 2
    ends = "less than half of" if holds else "not less than half of"
    words = "over {trainings:.0f} trainings the mean score of a network varies by {seeds:.3f} (standard deviation), "
    return Outcome(holds, f"{words}{ends} the {{networks:.3f}} between networks", numbers)


def _nearer_data(facts: Facts) -> Outcome | None:
    means = {}
    for dataset in ("cifar10", "cifar100", "random"):
        there = {name: one.scores for name, one in facts.elsewhere.get(dataset, {}).items()}
        means[dataset] = deviations({name: one.scores for name, one in facts.signatures.items()}, there).mean()
    if facts.printed:
        means = {str(name): float(value) for name, value in facts.printed["figure15_deviation"]["mean"].items()}
    if np.isnan(list(means.values())).any():
        return None
    holds = max(means["cifar10"], means["cifar100"]) < means["random"]
    ends = "less than" if holds else "not both less than"
    words = (
        "signatures on CIFAR-10 and CIFAR-100 are {cifar10:.2f} and {cifar100:.2f} away from those on the first data, "
    )
    return Outcome(holds, f"{words}{ends} the {{random:.2f}} of those on noise", means)


_ALL = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"

RELATIONS = (
    Claim(
        "no-criterion-says-the-same",
        f"{PAPER}, section 4, tables 1 and 2; {FIRST}, section 4.2",
        "No other criterion correlates strongly and consistently with the score.",
        f"Every criterion has a network where its correlation, in its usual direction, is below {STRONG}.",
        _no_criterion,
        _ALL,
    ),
    Claim(
        "cka-fits-densenets-only",
        f"{FIRST}, section 4.2",
        "CKA agrees with the score in some architectures, above all DenseNets, and disagrees in others.",
        f"The correlation is above {STRONG} in every DenseNet and negative in some other network.",
        _cka_of_densenets,
        _ALL,
    ),
    Claim(
        "signature-explains-accuracy",
        f"{PAPER}, section 4 and figure 4",
        "What one reads off the signature often explains accuracy better than depth, size and operations do.",
        "In more than half of the groups its best statistic has the larger R2, in fits in the logarithm. With "
        f"accuracies shuffled within families, chance reaches that R2 with p < {CHANCE}, and so it does that lead of "
        "seven statistics over three. Printed R2 are compared with independent statistics.",
        _signature_explains_accuracy,
        _ALL,
    ),
    Claim(
        "training-changes-little",
        f"{PAPER}, appendices E and I, figure 8 and table 3",
        "Training again, from another seed or in another way, hardly changes a signature.",
        "The mean score varies less than half as much between trainings of a network as between networks.",
        _training_again,
        "networks that were trained several times",
    ),
    Claim(
        "noise-is-further-than-cifar",
        f"{PAPER}, appendix H and figure 15",
        "Signatures on CIFAR-10 and CIFAR-100 are nearer to those on ImageNet than signatures on noise are.",
        "The mean Euclidean distance is smaller for both.",
        _nearer_data,
        f"{_ALL}, and on cifar10, cifar100 and random",
    ),
)
"""Claims about the score beside something else."""
