"""What only the paper's first version says: accuracy in three groups of networks (its section 4.4 and figure 9)."""

from __future__ import annotations

from affscore.papers.accuracy import accuracy_goes_with
from affscore.papers.alexnet_to_transformers import FIRST
from affscore.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.groups import FIRST_PAPER_GROUPS, FIRST_PAPER_STATISTICS
from affscore.papers.results import Results

_SOURCE = f"{FIRST}, section 4.4 and figure 9"
_WITH_EFFICIENT = f"{STUDY_ON_IMAGENET}, with SqueezeNets and ShuffleNets"


@claim(41, _SOURCE, _WITH_EFFICIENT)
def statistic_predicts_accuracy(results: Results) -> Verdict:
    """A statistic of the signature is predictive of accuracy in each of three groups of networks.

    Test: In each group the best of five statistics explains accuracy beyond chance when accuracies are permuted within
    families.
    """
    return accuracy_goes_with(results, "first_paper_group", dict.fromkeys(FIRST_PAPER_GROUPS, FIRST_PAPER_STATISTICS))


@claim(42, _SOURCE, _WITH_EFFICIENT)
def efficient_networks_penalised(results: Results) -> Verdict:
    """Efficient networks are the less accurate, the larger their largest score.

    Test: The correlation of largest score and accuracy is negative, by permuting accuracies within families.
    """
    return accuracy_goes_with(results, "first_paper_group", {"Efficient": ("max",)}, {"Efficient": -1})


@claim(43, _SOURCE, "the vision transformers of torchvision on ImageNet")
def transformers_better_when_bent(results: Results) -> Verdict:
    """Vision transformers are the more accurate, the more non-linear they are.

    Test: The correlation of mean score and accuracy is negative, by permuting accuracies.
    """
    group = "Vision transformers"
    return accuracy_goes_with(results, "first_paper_group", {group: ("mean",)}, {group: -1})
