"""Figure 9: a VGG before and after training."""

from __future__ import annotations

import numpy as np

from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import SCORES, Estimate, every, mean_of, require
from affscore.papers.results import Results


@claim(17, f"{PAPER}, appendix E and figure 9", "vgg16 before and after training on the same images")
def training_bends(results: Results) -> Verdict:
    """An untrained VGG-16 becomes almost linear with depth; training makes it more non-linear.

    Test: Its untrained scores rise with depth, the last three to above 0.9, and their mean is lower after training,
    with intervals that take the activations for independent.
    """
    both = [name for name in results.beginning("vgg") if name in results.untrained]
    require(both)
    name = "vgg16" if "vgg16" in both else both[-1]
    before, after = results.untrained[name].scores, results.signatures[name].scores
    before, after = (scores[np.isfinite(before) & np.isfinite(after)] for scores in (before, after))
    last, fall = mean_of(before[-3:], SCORES), mean_of(before - after)
    r = float(np.corrcoef(np.arange(len(before)), before)[0, 1])
    rise = Estimate(float(np.arctanh(r)), (len(before) - 3) ** -0.5)  # Fisher's z
    holds = every([rise.above(together=3), last.above(0.9, together=3), fall.above(together=3)])
    found = (
        f"Before training score and depth of {name} have the correlation {r:.2f} and the last three "
        f"activations score {last:.2f}; training lowers the mean score by {fall:.2f}."
    )
    return Verdict(holds, found, 1)
