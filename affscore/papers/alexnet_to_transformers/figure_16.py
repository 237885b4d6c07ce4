"""Figures 16 and 17: a ResNet-50 that was trained in many ways, as without labels."""

from __future__ import annotations

import numpy as np

from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.alexnet_to_transformers.figure_08 import small_share
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import require
from affscore.papers.printed import printed_table
from affscore.papers.results import Results


def checkpoints() -> list[str]:
    """The checkpoints that figure 16 names.

    >>> len(checkpoints()), checkpoints()[0]
    (17, 'resnet50')
    """
    return [str(name) for name in printed_table("figure16_checkpoints").index]


@claim(
    37,
    f"{PAPER}, appendix I, figures 16 and 17 and table 3",
    "the checkpoints of figure 16 and the study's networks on ImageNet",
)
def other_training_changes_little(results: Results) -> Verdict:
    """Training in another way, as without labels, hardly changes a signature.

    Test: The standard deviation of the mean score over checkpoints of one architecture is less than half of that over
    networks, with the interval of their ratio. Other seeds are not another way.
    """
    require(len(results.checkpoints) > 2 and len(results.study) > 9)
    within = np.array([np.nanmean(one.scores) for one in results.checkpoints.values()])
    between = np.array([results.scores(name).mean() for name in results.study.index])
    what = f"{len(within)} checkpoints"
    return small_share(within.var(ddof=1), len(within) - 1, between.var(ddof=1), len(between) - 1, what)
