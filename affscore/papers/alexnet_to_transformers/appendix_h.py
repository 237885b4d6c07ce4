"""Beyond appendix H: signatures on the images of one class, against random subsets of the same size."""

from __future__ import annotations

import numpy as np
import pandas as pd

from affscore.analysis import class_effects
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import mean_of, require
from affscore.papers.evidence import trainings_of_study
from affscore.papers.results import Results

OURS = f"{PAPER}, appendix H, taken further"


@claim(56, OURS, "a study of classes")
def class_more_than_draw(results: Results) -> Verdict:
    """A signature depends on the class of the images more than on the choice of the images.

    Test: Signatures on one class are further from the mean of those on random subsets of the same size than these are,
    with an interval over networks of the mean logarithm of the ratio.
    """
    require("classes" in results.studies)
    ratios = {name: one.ratio for name, one in class_effects(results.studies["classes"], permutations=1).items()}
    lead = mean_of(np.log(list(ratios.values())))
    ends = " to ".join(f"{np.exp(end):.1f}" for end in lead.interval())
    found = f"Classes are {np.exp(lead.value):.1f} times as far from the mean as random subsets are, interval {ends}."
    return Verdict(lead.above(), found, len(ratios), _tested(results.studies["classes"]))


@claim(57, OURS, "a study of classes")
def late_activations_know_the_class(results: Results) -> Verdict:
    """The class of the images moves late activations more than early ones.

    Test: That ratio of an activation has a positive rank correlation with its place in the network, with an interval
    over networks of the mean correlation.
    """
    require("classes" in results.studies)
    effects = class_effects(results.studies["classes"], permutations=1)
    ratios = [one.layers["ratio"].dropna().reset_index(drop=True) for one in effects.values()]
    mean = mean_of([own.corr(own.index.to_series(), method="spearman") for own in ratios if len(own) > 2], (-1, 1))
    found = f"The mean rank correlation with the place in the network is {mean:.2f}."
    return Verdict(mean.above(), found, len(ratios), _tested(results.studies["classes"]))


def _tested(study: pd.DataFrame) -> str:
    """The networks, and the batches: of one class each, or a random subset."""
    sizes = " to ".join(map(str, sorted({int(study["n"].min()), int(study["n"].max())})))
    return f"{trainings_of_study(study)}, batches of {sizes}, each of one class or a random subset"
