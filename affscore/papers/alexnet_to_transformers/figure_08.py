"""Figure 8: signatures of batches of several sizes, and of trainings that differ in their seed."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from affscore.analysis import effects_of_size
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import CHANCE, Estimate, MissingResultsError, mean_of, require
from affscore.papers.evidence import measured, study_tested, trainings_of_study
from affscore.papers.jackknife import jackknife_error
from affscore.papers.results import Results

_SOURCE = f"{PAPER}, appendix E and figure 8"
_SIZES = "networks that were measured in batches of several sizes (python scripts/make_studies.py --only batch-size)"


@claim(36, _SOURCE, "networks that were trained several times")
def seeds_change_little(results: Results) -> Verdict:
    """Training again, from another seed, hardly changes a signature.

    Test: The standard deviation of the mean score over trainings of a network is less than half of that over networks,
    with the interval of their ratio.
    """
    if "seeds" in results.studies and len(results.study) > 1:
        seeds = results.studies["seeds"].groupby("seed")["score"].mean()
        networks = np.array([scores.mean() for scores in results.study_scores.values()])
        freedom = len(seeds) - 1, len(networks) - 1
        again = results.studies["seeds"]
        tested_on = f"{trainings_of_study(again)}, and {measured(results, len(networks))}"
        what = f"{len(seeds)} seeds"
        return small_share(float(seeds.var()), freedom[0], networks.var(ddof=1), freedom[1], what, tested_on)
    if results.trainings is None or results.trainings["seed"].nunique() < 2:
        raise MissingResultsError
    means = results.trainings.pivot_table(index="name", columns="seed", values="mean").dropna()
    within, between = float(means.var(axis=1).mean()), float(means.mean(axis=1).var())
    count, trainings = means.shape
    return small_share(within, count * (trainings - 1), between, count - 1, f"{trainings} seeds")


@claim(47, _SOURCE, _SIZES)
def batch_size_keeps_the_signature(results: Results) -> Verdict:
    """A signature hardly depends on the batch size.

    Test: From the smallest batch size to the largest of which there are two batches, the scores of a network change
    (root mean square over its activations) by less than half of their standard deviation over its activations: the
    geometric mean of this share over networks, with its interval.
    """
    study = _in_batches(results)
    effects = effects_of_size(study)
    holds, share = _below_half(effects["change"] / effects["within"])
    found = (
        f"From n = {study['n'].min()} to {study['n'].max()} a score changes by {effects['change'].min():.3f} to "
        f"{effects['change'].max():.3f}: {share} of the standard deviation over the activations of its network."
    )
    return Verdict(holds, found, len(effects), study_tested(study))


@claim(48, _SOURCE, _SIZES)
def batch_size_keeps_networks_apart(results: Results) -> Verdict:
    """The batch size hardly changes what is found on networks.

    Test: The standard deviation of the mean score over batch sizes is less than half of that over networks, with the
    interval of their ratio. Sizes move a mean score one way, mostly: each network counts as one observation.
    """
    study = _in_batches(results)
    means = study.pivot_table(index="model", columns="n", values="score")
    within, between = float(means.var(axis=1).mean()), float(means.mean(axis=1).var())
    count, sizes = means.shape
    return small_share(within, count, between, count - 1, f"{sizes} batch sizes", study_tested(study))


@claim(49, _SOURCE, _SIZES)
def images_change_little(results: Results) -> Verdict:
    """A signature is subject to little chance: other images in the batch hardly change it.

    Test: The standard deviation of a score over batches of the smallest size (root mean square over the activations of
    a network) is less than half of that over its activations: the geometric mean of this share over networks, with its
    interval.
    """
    study = _in_batches(results)
    effects = effects_of_size(study)
    chance = effects["chance_of_few"]
    holds, share = _below_half(chance / effects["within"])
    found = (
        f"Over batches of n = {study['n'].min()} a score has a standard deviation of {chance.min():.3f} to "
        f"{chance.max():.3f}: {share} of that over the activations of its network."
    )
    smallest = study[study["n"] == study["n"].min()]
    return Verdict(holds, found, len(effects), study_tested(smallest))


@claim(50, _SOURCE, "one architecture that was trained several times (python scripts/make_studies.py --only seeds)")
def seeds_keep_the_signature(results: Results) -> Verdict:
    """Training again, from another seed, hardly changes the score of an activation.

    Test: The standard deviation of a score over trainings (root mean square over activations) is less than half of
    that over activations, with the jackknife's interval over trainings.
    """
    require("seeds" in results.studies)
    scores = results.studies["seeds"].pivot_table(index="index", columns="seed", values="score")
    seeds = len(scores.columns)
    require(seeds > 2)
    without = np.array([_share_of_seeds(scores.drop(columns=seed)) for seed in scores])
    share = Estimate(_share_of_seeds(scores), jackknife_error(without), seeds - 1, (0.0, np.inf))
    spread = float(scores.var(axis=1).mean() ** 0.5)
    found = (
        f"Over {seeds} seeds a score has a standard deviation of {spread:.3f}: {share:.2f} of that over the "
        f"{len(scores)} activations."
    )
    return Verdict(share.below(0.5), found, 1, study_tested(results.studies["seeds"]))


def small_share(within: float, of_it: int, between: float, of_them: int, what: str, tested_on: str = "") -> Verdict:
    """Whether one standard deviation is less than half of another, with the interval of their ratio by Fisher's F.

    Args:
        within: The variance of the mean score of a network over trainings, say.
        of_it: Its degrees of freedom.
        between: The variance over networks.
        of_them: Its degrees of freedom.
        what: Over what the first is.
        tested_on: As of :class:`~affscore.papers.claim.Verdict`.
    """
    ratio = float(np.sqrt(within / between))
    low, high = (ratio / float(np.sqrt(stats.f.ppf(q, of_it, of_them))) for q in (1 - CHANCE / 2, CHANCE / 2))
    found = (
        f"Over {what} the mean score of a network has the standard deviation {within**0.5:.3f}, over networks "
        f"{between**0.5:.3f}: a ratio of {ratio:.2f} [{low:.2f}, {high:.2f}]."
    )
    return Verdict(True if high < 0.5 else False if low > 0.5 else None, found, of_them + 1, tested_on)


def _in_batches(results: Results) -> pd.DataFrame:
    """The study of batch sizes: those that were measured twice or more, of several networks."""
    require("batch-size" in results.studies)
    study = results.studies["batch-size"]
    study = study[study["batches"] > 1]
    require(len(set(study["n"])) > 1 and len(set(study["model"])) > 1)
    return study


def _below_half(shares: pd.Series) -> tuple[bool | None, str]:
    """Whether a share of each network is below a half, by the interval of its geometric mean, and these in words.

    Where a signature is flat a share may be large: of such numbers the logarithm has a mean with an interval.
    """
    mean = mean_of(np.log(shares))
    low, high = np.exp(mean.interval())
    return mean.below(float(np.log(0.5))), f"{np.exp(mean.value):.2f} [{low:.2f}, {high:.2f}]"


def _share_of_seeds(scores: pd.DataFrame) -> float:
    """The standard deviation of scores (activations, seeds) over seeds, as a share of that over activations."""
    return float((scores.var(axis=1).mean() / scores.mean(axis=1).var()) ** 0.5)
