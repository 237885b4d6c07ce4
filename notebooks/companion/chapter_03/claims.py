"""Appendix E, figures 7 to 9: reductions and covariances, sizes of batches, seeds, and a VGG before training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from companion.all_results import AllResults
from companion.chapter_03.measurements import effects_of_size
from companion.claims import COMPUTED_HERE, FIRST, PAPER, Decision, Verdict, above, below, claim, ratio_below
from companion.printed import SIMULATED, OurNumber, Row, compare, printed_numbers, printed_table
from companion.results import Results
from companion.statistics import SCORES, Estimate, jackknife_error, mean_of, require
from companion.sweeps import sweep

_FIGURE_7 = f"{PAPER}, appendix E; {FIRST}, section 3.2"

_FIGURE_8 = f"{PAPER}, appendix E and figure 8"

_SIZES = "networks that were measured in batches of several sizes (python -m companion.studies --only batch-size)"

_REDUCTIONS = ["mean", "sum", "flatten"]


def rows(results: AllResults) -> Iterator[Row]:
    """The 36 numbers of figure 7 beside scores of activation functions on our own normal samples."""
    reductions = sweep("reductions").set_index("activation")[_REDUCTIONS]
    drift = sweep("drift").query("covariance == 'empirical'")
    curves = drift.groupby(["activation", "width"])["score"].mean().groupby("activation").agg(["min", "max"])
    shrunk = sweep("shrinkage").groupby(["activation", "repeat"])["score"].mean()
    spreads = printed_table("figure7_activation_scores")["reduced_std"]
    for number in printed_numbers("figure7_activation_scores"):
        name, three = number.row, reductions.loc[[number.row]]
        reduced, flat = mean_of(three.mean(axis=1)), mean_of(shrunk[name])
        error = float(np.hypot(reduced.error, spreads[name]))  # what is printed is the mean of a few scores, too
        spread = three.to_numpy().std(ddof=1)
        maps = f"how many maps it had, and how large ones (for 1000 maps of 100 x 9 numbers ours is {spread:.4f})"
        lowest, highest = map(float, curves.loc[name])
        ours = {
            "reduced_mean": OurNumber(reduced.value, error),
            "reduced_std": OurNumber(unprinted=maps),
            "empirical": OurNumber(between=(lowest, highest), unprinted="of which d on its axis this is"),
            "shrinkage": OurNumber(flat.value, flat.error),
        }
        yield compare(number, replace(ours[number.column], way=SIMULATED, sampled="samples"))


@claim(_FIGURE_7, COMPUTED_HERE)
def reductions_agree(results: Results) -> Verdict:
    """On maps of independent entries the score is the same whether they are averaged, summed or flattened.

    Test: The three agree to 0.02 for all nine functions of figure 7. Maps whose positions share a part are another
    matter: see chapter 3.
    """
    three = results.table("reductions").set_index(["draw", "activation"])[_REDUCTIONS]
    largest = mean_of((three.max(axis=1) - three.min(axis=1)).groupby("draw").max())
    return Verdict.all_of({"of nine functions": below(largest, 0.02, ".4f")}, "Largest difference", units="samples")


def _errors(sweep: pd.DataFrame, covariance: str) -> pd.DataFrame:
    """Scores less their limits for infinitely many points: a row for each function and draw, a column for each d/n."""
    chosen = sweep.query("covariance == @covariance")
    return chosen.pivot_table("error", ["activation", "repeat"], "width")


@claim(_FIGURE_7, COMPUTED_HERE)
def sample_covariance_drifts(results: Results) -> Verdict:
    """With the sample covariance and more dimensions than points the score is not robust.

    Test: The scores of all nine functions rise by more than 0.03 along the axis of figure 7.
    """
    errors = _errors(results.table("drift"), "empirical")
    smallest = mean_of((errors.iloc[:, -1] - errors.iloc[:, 0]).groupby("repeat").min())
    part = {"the smallest of nine functions": above(smallest, 0.03, ".3f")}
    return Verdict.all_of(part, "Rise of the score from d = n/2 to 4.5 n", units="samples")


@claim(_FIGURE_7, COMPUTED_HERE)
def shrinkage_is_constant(results: Results) -> Verdict:
    """With a shrunk covariance the score stays the same whatever the dimension.

    Test: No score of the nine functions moves by 0.02 along the axis of figure 7, less the limit that it tends to.
    """
    errors = _errors(results.table("correlated" if "correlated" in results.tables else "drift"), "ledoit-wolf")
    means = errors.groupby("activation").mean()
    name = str((means.max(axis=1) - means.min(axis=1)).idxmax())  # the function that moves most
    draws, curve = errors.xs(name, level="activation").to_numpy(), means.loc[name].to_numpy()
    largest = mean_of(draws[:, curve.argmax()] - draws[:, curve.argmin()])
    part = {"the largest of nine functions": below(largest, 0.02, ".3f")}
    return Verdict.all_of(part, "Move of the score from d = n/2 to 4.5 n", units="samples")


@claim(_FIGURE_8, "networks that were trained several times")
def seeds_change_little(results: Results) -> Verdict:
    """Training again, from another seed, hardly changes a signature.

    Test: The standard deviation of the mean score over trainings of a network is less than half of that over networks,
    with the interval of their ratio.
    """
    if "trainings" in results.tables:
        means = results.tables["trainings"].pivot_table("mean", "name", "seed").dropna()
        networks = means.mean(axis=1)
    else:
        means = results.table("seeds").pivot_table("score", "network", "seed")
        networks = pd.Series({name: scores.mean() for name, scores in results.study_scores.items()}, dtype=float)
    count, seeds = means.shape
    require(seeds > 1 and len(networks) > 1)
    within, between = float(means.var(axis=1).mean()), float(networks.var())
    ratio = ratio_below(within, count * (seeds - 1), between, len(networks) - 1)
    return Verdict.all_of({f"over {seeds} seeds to that over networks": ratio}, _OF_MEANS)


_OF_MEANS = "Ratio of the standard deviation of the mean score"


@claim(_FIGURE_8, _SIZES)
def batch_size_keeps_the_signature(results: Results) -> Verdict:
    """A signature hardly depends on the batch size.

    Test: From the smallest batch size to the largest of which there are two batches, the scores of a network change
    (root mean square over its activations) by less than half of their standard deviation over its activations: the
    geometric mean of this share over networks, with its interval.
    """
    study = _in_batches(results)
    effects = effects_of_size(study)
    part = {f"from n = {study['n'].min()} to {study['n'].max()}": _below_half(effects["change"] / effects["within"])}
    return Verdict.all_of(part, "Change of a score over the standard deviation over activations")


@claim(_FIGURE_8, _SIZES)
def batch_size_keeps_networks_apart(results: Results) -> Verdict:
    """The batch size hardly changes what is found on networks.

    Test: The standard deviation of the mean score over batch sizes is less than half of that over networks, with the
    interval of their ratio. Sizes move a mean score one way, mostly: each network counts as one observation.
    """
    means = _in_batches(results).pivot_table("score", "model", "n")
    count, sizes = means.shape
    ratio = ratio_below(float(means.var(axis=1).mean()), count, float(means.mean(axis=1).var()), count - 1)
    return Verdict.all_of({f"over {sizes} batch sizes to that over networks": ratio}, _OF_MEANS)


@claim(_FIGURE_8, _SIZES)
def images_change_little(results: Results) -> Verdict:
    """A signature is subject to little chance: other images in the batch hardly change it.

    Test: The standard deviation of a score over batches of the smallest size (root mean square over the activations of
    a network) is less than half of that over its activations: the geometric mean of this share over networks, with its
    interval.
    """
    study = _in_batches(results)
    effects = effects_of_size(study)
    part = {f"over batches of {study['n'].min()}": _below_half(effects["chance_of_few"] / effects["within"])}
    return Verdict.all_of(part, "Standard deviation of a score, in that over activations")


@claim(_FIGURE_8, "one architecture that was trained several times (python -m companion.studies --only seeds)")
def seeds_keep_the_signature(results: Results) -> Verdict:
    """Training again, from another seed, hardly changes the score of an activation.

    Test: The standard deviation of a score over trainings (root mean square over activations) is less than half of
    that over activations, with the jackknife's interval over trainings.
    """
    scores = results.table("seeds").pivot_table("score", "index", "seed")
    seeds = len(scores.columns)
    require(seeds > 2)
    without = np.array([_share_of_seeds(scores.drop(columns=seed)) for seed in scores])
    share = Estimate(_share_of_seeds(scores), jackknife_error(without), seeds - 1, (0.0, np.inf), seeds)
    what = "Standard deviation of a score, in that over activations"
    return Verdict.all_of({"over seeds": below(share, 0.5)}, what, units="trainings")


@claim(f"{PAPER}, appendix E and figure 9", "vgg16 before and after training, from several seeds")
def training_bends(results: Results) -> Verdict:
    """An untrained VGG-16 becomes almost linear with depth; training makes it more non-linear.

    Test: Its untrained scores rise with depth (Fisher's z of the correlation), the last three to above 0.9, and their
    mean is lower after training, with intervals over trainings.
    """
    before, after = (results.table(name).pivot_table("score", "seed", "index") for name in ("untrained", "seeds"))
    seeds = before.index.intersection(after.index)
    require(len(seeds) > 1)
    before, after = before.loc[seeds], after.loc[seeds]
    rise = np.arctanh(before.T.corrwith(pd.Series(before.columns, before.columns)))
    parts = {
        "rise with depth before it": above(mean_of(rise)),
        "the last three scores before it": above(mean_of(before.iloc[:, -3:].mean(axis=1), SCORES), 0.9),
        "how far it lowers the mean score": above(mean_of((before - after).mean(axis=1))),
    }
    return Verdict.all_of(parts, "Training", units="trainings")


def _in_batches(results: Results) -> pd.DataFrame:
    """The study of batch sizes: those that were measured twice or more, of several networks."""
    study = results.table("batch-size")
    study = study[study["batches"] > 1]
    require(len(set(study["n"])) > 1 and len(set(study["model"])) > 1)
    return study


def _below_half(shares: pd.Series) -> Decision:
    """Whether a share of each network is below a half, by the interval of its geometric mean.

    Where a signature is flat a share may be large: of such numbers the logarithm has a mean with an interval.
    """
    mean = mean_of(np.log(shares))
    low, high = np.exp(mean.interval())
    seen = f"a factor of {np.exp(mean.half()):.2f} from a half would have been seen"
    return below(mean, float(np.log(0.5)))._replace(
        shown=f"{np.exp(mean.value):.2f} [{low:.2f}, {high:.2f}]", seen=seen
    )


def _share_of_seeds(scores: pd.DataFrame) -> float:
    """The standard deviation of scores (activations, seeds) over seeds, as a share of that over activations."""
    return float((scores.var(axis=1).mean() / scores.mean(axis=1).var()) ** 0.5)
