"""Figure 8: signatures of trainings that differ in their seed."""

from __future__ import annotations

import numpy as np
from scipy import stats

from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import CHANCE, MissingResultsError
from affscore.papers.results import Results


@claim(36, f"{PAPER}, appendix E and figure 8", "networks that were trained several times")
def seeds_change_little(results: Results) -> Verdict:
    """Training again, from another seed, hardly changes a signature.

    Test: The standard deviation of the mean score over trainings of a network is less than half of that over networks,
    with the interval of their ratio.
    """
    if results.trainings is None or results.trainings["seed"].nunique() < 2:
        raise MissingResultsError
    means = results.trainings.pivot_table(index="name", columns="seed", values="mean").dropna()
    within, between = float(means.var(axis=1).mean()), float(means.mean(axis=1).var())
    networks, seeds = means.shape
    return small_share(within, networks * (seeds - 1), between, networks - 1, f"{seeds} seeds")


def small_share(within: float, of_it: int, between: float, of_them: int, what: str) -> Verdict:
    """Whether one standard deviation is less than half of another, with the interval of their ratio by Fisher's F.

    Args:
        within: The variance of the mean score over trainings.
        of_it: Its degrees of freedom.
        between: The variance over networks.
        of_them: Its degrees of freedom.
        what: Over what trainings differ.
    """
    ratio = float(np.sqrt(within / between))
    low, high = (ratio / float(np.sqrt(stats.f.ppf(q, of_it, of_them))) for q in (1 - CHANCE / 2, CHANCE / 2))
    found = (
        f"Over {what} the mean score of a network has the standard deviation {within**0.5:.3f}, over networks "
        f"{between**0.5:.3f}: a ratio of {ratio:.2f} [{low:.2f}, {high:.2f}]."
    )
    return Verdict(True if high < 0.5 else False if low > 0.5 else None, found, of_them + 1)
