"""What the papers say of the score beside something else: other criteria, other data, other training."""

from __future__ import annotations

import numpy as np
from scipy import stats

from affscore.analysis import CRITERIA_OF_TABLE_1, cell, deviations, simultaneous_intervals, strength_counts
from affscore.papers.claims.claim import Claim, Outcome
from affscore.papers.claims.estimate import CHANCE, Estimate, every, mean_of
from affscore.papers.claims.facts import Facts
from affscore.papers.ledger.spreads import figure_15_networks

__all__ = ["RELATIONS"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

STRONG = 0.5
LEAST_NETWORKS = 10


def _no_criterion(facts: Facts) -> Outcome | None:
    table = facts.criteria
    if table is None or table["model"].nunique() < LEAST_NETWORKS:
        return None
    counts = strength_counts(table, STRONG).reindex(list(CRITERIA_OF_TABLE_1))
    if counts.isna().any(axis=None):
        return None
    consistent, refuted = counts["strong"] == counts["networks"], counts["weak"] > 0
    holds = False if consistent.any() else True if refuted.all() else None
    told = ", ".join(f"{count:.0f} for {criterion}" for criterion, count in counts["weak"].items())
    found = (
        f"Networks whose correlation, in the usual direction of the criterion, is below {STRONG} with its whole "
        f"simultaneous interval: {told}."
    )
    return Outcome(holds, found, table["model"].nunique())


def _cka_of_densenets(facts: Facts) -> Outcome | None:
    if facts.criteria is None or facts.criteria["model"].nunique() < LEAST_NETWORKS:
        return None
    cka = simultaneous_intervals(facts.criteria[facts.criteria["criterion"] == "cka"]).set_index("model")
    dense = cka.index.astype(str).str.startswith("densenet")
    if not dense.any() or dense.all():
        return None
    inside, others = cka[dense], cka[~dense]
    strong = True if (inside["low"] > STRONG).all() else False if (inside["high"] < STRONG).any() else None
    against = True if (others["high"] < 0).any() else False if (others["low"] > 0).all() else None
    found = (
        f"The correlation of score and CKA is at least {inside['correlation'].min():.2f} in DenseNets (interval from "
        f"{inside['low'].min():.2f}); {int((others['high'] < 0).sum())} of {len(others)} others have an interval below "
        f"zero, the smallest correlation being {others['correlation'].min():.2f}."
    )
    return Outcome(every([strong, against]), found, len(cka))


def _again_from_seeds(facts: Facts) -> Outcome | None:
    if facts.trainings is None or facts.trainings["seed"].nunique() < 2:
        return None
    means = facts.trainings.pivot_table(index="name", columns="seed", values="mean").dropna()
    within, between = float(means.var(axis=1).mean()), float(means.mean(axis=1).var())
    return _small_share(within, len(means) * (means.shape[1] - 1), between, len(means) - 1, f"{means.shape[1]} seeds")


def _trained_otherwise(facts: Facts) -> Outcome | None:
    if len(facts.checkpoints) < 3 or len(facts.study) < LEAST_NETWORKS:
        return None
    within = np.array([np.nanmean(one.scores) for one in facts.checkpoints.values()])
    between = np.array([facts.scores(name).mean() for name in facts.study.index])
    what = f"{len(within)} checkpoints"
    return _small_share(within.var(ddof=1), len(within) - 1, between.var(ddof=1), len(between) - 1, what)


def _small_share(within: float, of_it: int, between: float, of_them: int, what: str) -> Outcome:
    """Whether one standard deviation is less than half of another, with the interval of their ratio by Fisher's F."""
    ratio = float(np.sqrt(within / between))
    low, high = (ratio / float(np.sqrt(stats.f.ppf(q, of_it, of_them))) for q in (1 - CHANCE / 2, CHANCE / 2))
    found = (
        f"Over {what} the mean score of a network has the standard deviation {within**0.5:.3f}, over networks "
        f"{between**0.5:.3f}: a ratio of {ratio:.2f} [{low:.2f}, {high:.2f}]."
    )
    return Outcome(True if high < 0.5 else False if low > 0.5 else None, found, of_them + 1)


def _nearer_data(facts: Facts) -> Outcome | None:
    if facts.printed:
        table, count = facts.printed["figure15_deviation"], len(figure_15_networks())
        there = {
            str(name): Estimate(cell(table, str(name), "mean"), cell(table, str(name), "std") / count**0.5, count - 1)
            for name in table.index
        }
        leads = [there["random"] - there[name] for name in ("cifar10", "cifar100")]
    else:
        here = {name: one.scores for name, one in facts.signatures.items()}
        known = {
            name: deviations(here, {model: one.scores for model, one in facts.elsewhere.get(name, {}).items()}).dropna()
            for name in ("cifar10", "cifar100", "random")
        }
        shared = known["random"].index.intersection(known["cifar10"].index).intersection(known["cifar100"].index)
        if not len(shared):
            return None
        count = len(shared)
        there = {name: mean_of(values[shared]) for name, values in known.items()}
        leads = [mean_of(known["random"][shared] - known[name][shared]) for name in ("cifar10", "cifar100")]
    told = ", ".join(f"{one:.2f} on {name}" for name, one in there.items())
    return Outcome(every(one.above(together=2) for one in leads), f"Mean distances to the first data: {told}.", count)


_ALL = "the study's networks of torchvision on ImageNet (notebooks/params/paper.yml names them)"

RELATIONS = (
    Claim(
        "no-criterion-says-the-same",
        f"{PAPER}, section 4, tables 1 and 2; {FIRST}, section 4.2",
        "No other criterion correlates strongly and consistently with the score.",
        f"Every criterion has a network whose correlation, in its usual direction, is below {STRONG} with its whole "
        "interval. It does not hold where a criterion is above with all of them. The intervals are Fisher's, hold "
        "together for all networks, and take activations for independent.",
        _no_criterion,
        _ALL,
    ),
    Claim(
        "cka-fits-densenets-only",
        f"{FIRST}, section 4.2",
        "CKA agrees with the score in some architectures, above all DenseNets, and disagrees in others.",
        f"The correlation is above {STRONG} in every DenseNet and negative in some other network, by the same "
        "intervals.",
        _cka_of_densenets,
        _ALL,
    ),
    Claim(
        "seeds-change-little",
        f"{PAPER}, appendix E and figure 8",
        "Training again, from another seed, hardly changes a signature.",
        "The standard deviation of the mean score over trainings of a network is less than half of that over networks, "
        "with the interval of their ratio.",
        _again_from_seeds,
        "networks that were trained several times",
    ),
    Claim(
        "other-training-changes-little",
        f"{PAPER}, appendix I, figures 16 and 17 and table 3",
        "Training in another way, as without labels, hardly changes a signature.",
        "The standard deviation of the mean score over checkpoints of one architecture is less than half of that over "
        "networks, with the interval of their ratio. Other seeds are not another way.",
        _trained_otherwise,
        "the checkpoints of figure 16 and the study's networks on ImageNet",
    ),
    Claim(
        "noise-is-further-than-cifar",
        f"{PAPER}, appendix H and figure 15",
        "Signatures on CIFAR-10 and CIFAR-100 are nearer to those on ImageNet than signatures on noise are.",
        "The mean Euclidean distance is smaller for both, with intervals over networks.",
        _nearer_data,
        f"{_ALL}, and on cifar10, cifar100 and random",
    ),
)
"""Claims about the score beside something else."""
