"""Figure 9: a VGG before and after training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import SCORES, Estimate, mean_of, require
from affscore.papers.evidence import measured
from affscore.papers.results import Array, Results


@claim(17, f"{PAPER}, appendix E and figure 9", "vgg16 before and after training on the same images")
def training_bends(results: Results) -> Verdict:
    """An untrained VGG-16 becomes almost linear with depth; training makes it more non-linear.

    Test: Its untrained scores rise with depth, the last three to above 0.9, and their mean is lower after training,
    with intervals over trainings; of a single one, with intervals that take the activations for independent.
    """
    trainings = [name for name in results.beginning("vgg") if name in results.untrained]
    require(trainings)
    seeds = [name for name in trainings if name.startswith("vgg16-")]
    name = "vgg16" if "vgg16" in trainings else trainings[-1]
    rise, last, fall = _over_seeds(results, seeds) if len(seeds) > 1 else _over_activations(results, name)
    parts = {
        "the correlation": rise.above(together=3),
        "the last three scores": last.above(0.9, together=3),
        "the fall": fall.above(together=3),
    }
    found = (
        f"Before training score and depth have the correlation {np.tanh(rise.value):.2f} (Fisher's z {rise:.2f}), and "
        f"the last three activations score {last:.2f}; training lowers the mean score by {fall:.2f}, "
        + (f"over {len(seeds)} trainings of vgg16." if len(seeds) > 1 else f"of {name}, trained once.")
    )
    count = max(len(seeds), 1)
    tested_on = f"{measured(results, count)}, before and after training"
    return Verdict.of_parts(parts, found, count, tested_on, together=True)


def _over_activations(results: Results, name: str) -> list[Estimate]:
    """Fisher's z of score and depth before training, the last three scores, and how far training lowers the scores."""
    before, after = _before_and_after(results, name)
    rise = Estimate(_rise(before), (len(before) - 3) ** -0.5)
    return [rise, mean_of(before[-3:], SCORES), mean_of(before - after)]


def _over_seeds(results: Results, names: Sequence[str]) -> list[Estimate]:
    """The same over trainings."""
    both = [_before_and_after(results, name) for name in names]
    last, fall = ([before[-3:].mean() for before, _ in both], [(before - after).mean() for before, after in both])
    return [mean_of([_rise(before) for before, _ in both]), mean_of(last, SCORES), mean_of(fall)]


def _before_and_after(results: Results, name: str) -> tuple[Array, Array]:
    before, after = results.untrained[name].scores, results.signatures[name].scores
    there = np.isfinite(before) & np.isfinite(after)
    return before[there], after[there]


def _rise(before: Array) -> float:
    return float(np.arctanh(np.corrcoef(np.arange(len(before)), before)[0, 1]))
