"""Figure 7: reductions and covariances on normal samples, and what appendix E says of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from affscore.experiments.sweeps import sweep
from affscore.papers.alexnet_to_transformers import FIRST, PAPER
from affscore.papers.alexnet_to_transformers.figure_06 import COMPUTED_HERE
from affscore.papers.claim import Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import mean_of
from affscore.papers.evidence import counted, dimensions_of
from affscore.papers.printed import printed_numbers, printed_table
from affscore.papers.results import Results

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

_COLUMNS = {
    "reduced_mean": (f"{PAPER}, figure 7 (top left)", "{row}: score of averaged, flattened or summed maps"),
    "reduced_std": (f"{PAPER}, figure 7 (top left)", "{row}: standard deviation of that score"),
    "empirical": (f"{PAPER}, figure 7 (top right)", "{row}: score with the sample covariance, d > n"),
    "shrinkage": (f"{PAPER}, figure 7 (bottom)", "{row}: score with the shrunk covariance"),
}
_SOURCE = f"{PAPER}, appendix E; {FIRST}, section 3.2"
_REDUCTIONS = ["mean", "sum", "flatten"]


def rows(results: AllResults) -> Iterator[Row]:
    """The 36 numbers beside scores of activation functions on our own normal samples."""
    reductions = sweep("reductions").set_index("activation")[_REDUCTIONS]
    drift = sweep("drift").query("covariance == 'empirical'")
    curves = drift.groupby(["activation", "width"])["score"].mean().groupby("activation").agg(["min", "max"])
    shrunk = sweep("shrinkage").groupby(["activation", "repeat"])["score"].mean()
    spreads = printed_table("figure7_activation_scores")["reduced_std"]
    for number in printed_numbers("figure7_activation_scores", _COLUMNS):
        name, three = number.row, reductions.loc[[number.row]]
        reduced, flat = mean_of(three.mean(axis=1)), mean_of(shrunk[name])
        error = float(np.hypot(reduced.error, spreads[name]))  # what is printed is the mean of a few scores, too
        spread = three.to_numpy().std(ddof=1)
        maps = f"how many maps it had, and how large ones (for 1000 maps of 100 x 9 numbers ours is {spread:.4f})"
        lowest, highest = map(float, curves.loc[name])
        ours = {
            "reduced_mean": OurNumber(reduced.value, error, sampled="samples"),
            "reduced_std": OurNumber(unprinted=maps),
            "empirical": OurNumber(between=(lowest, highest), unprinted="of which d on its axis this is"),
            "shrinkage": OurNumber(flat.value, flat.error, sampled="samples"),
        }
        yield compare(number, ours[number.column])


@claim(7, _SOURCE, COMPUTED_HERE)
def reductions_agree(results: Results) -> Verdict:
    """On maps of independent entries the score is the same whether they are averaged, summed or flattened.

    Test: The three agree to 0.02 for all nine functions of figure 7. Maps whose positions share a part are another
    matter: see chapter 3.
    """
    three = results.sweep("reductions").set_index(["draw", "activation"])[_REDUCTIONS]
    largest = mean_of((three.max(axis=1) - three.min(axis=1)).groupby("draw").max())
    found = f"Averaging, summing and flattening differ by {largest:.4f} for the function of nine that differs most."
    draws = counted(results.sweep("reductions")["draw"].nunique(), "sample")
    return Verdict(largest.below(0.02), found, tested_on=f"maps of independent normal entries, {draws} of each")


def _tried(results: Results, covariance: str, *sweeps: str) -> str:
    """In which dimensions these functions were tried."""
    return dimensions_of(results.sweep(*sweeps).query("covariance == @covariance"))


def _errors(results: Results, covariance: str, *sweeps: str) -> pd.DataFrame:
    """Scores less their limits for infinitely many points: a row for each function and draw, a column for each d/n."""
    chosen = results.sweep(*sweeps).query("covariance == @covariance")
    return chosen.pivot_table(index=["activation", "repeat"], columns="width", values="error")


@claim(8, _SOURCE, COMPUTED_HERE)
def sample_covariance_drifts(results: Results) -> Verdict:
    """With the sample covariance and more dimensions than points the score is not robust.

    Test: The scores of all nine functions rise by more than 0.03 along the axis of figure 7.
    """
    errors = _errors(results, "empirical", "drift")
    smallest = mean_of((errors.iloc[:, -1] - errors.iloc[:, 0]).groupby("repeat").min())
    found = f"From d = n/2 to 4.5 n the score of every one of nine functions rises, by at least {smallest:.3f}."
    return Verdict(smallest.above(0.03), found, tested_on=_tried(results, "empirical", "drift"))


@claim(9, _SOURCE, COMPUTED_HERE)
def shrinkage_is_constant(results: Results) -> Verdict:
    """With a shrunk covariance the score stays the same whatever the dimension.

    Test: No score of the nine functions moves by 0.02 along the axis of figure 7, less the limit that it tends to.
    """
    errors = _errors(results, "ledoit-wolf", "drift", "correlated")
    means = errors.groupby("activation").mean()
    name = str((means.max(axis=1) - means.min(axis=1)).idxmax())  # the function that moves most
    draws, curve = errors.xs(name, level="activation").to_numpy(), means.loc[name].to_numpy()
    largest = mean_of(draws[:, curve.argmax()] - draws[:, curve.argmin()])
    found = f"From d = n/2 to 4.5 n the distance of a score from its limit moves by up to {largest:.3f} with shrinkage."
    tested_on = _tried(results, "ledoit-wolf", "drift", "correlated")
    return Verdict(largest.below(0.02), found, tested_on=tested_on)
