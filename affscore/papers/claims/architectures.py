"""What the papers say of single architectures and what is inside them, residual networks apart."""

from __future__ import annotations

import numpy as np

from affscore.papers.claims.claim import Claim, Outcome
from affscore.papers.claims.estimate import SCORES, Estimate, correlation, every, mean_of
from affscore.papers.claims.facts import Facts

__all__ = ["ARCHITECTURES"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

LINEAR = 0.9
HALF = 0.5


def _googlenet(facts: Facts) -> Outcome | None:
    low, high = facts.estimate("googlenet", "min"), facts.estimate("googlenet", "max")
    if low is None or high is None:
        return None
    holds = every([low.above(0.55, 4), low.below(0.65, 4), high.above(0.85, 4), high.below(0.95, 4)])
    return Outcome(holds, f"GoogLeNet's smallest score is {low:.2f}, its largest {high:.2f}.", 1)


def _inception_v3(facts: Facts) -> Outcome | None:
    leads = []
    for statistic in ("max", "spread"):
        older, newer = (facts.estimate(name, statistic) for name in ("googlenet", "inception_v3"))
        if older is None or newer is None:
            return None
        leads.append(newer - older)
    top, spread = leads
    holds = every(lead.above(together=2) for lead in leads)
    return Outcome(holds, f"Inception v3 less GoogLeNet: largest score {top:.3f}, spread {spread:.3f}.", 2)


def _transitions(facts: Facts) -> Outcome | None:
    shares = []
    for name in facts.beginning("densenet"):
        transition, rest = facts.scores_where(name, layer="transition")
        if len(transition) and len(rest) and rest.mean() < 1:
            shares.append((transition.mean() - rest.mean()) / (1 - rest.mean()))
    if not shares:
        return None
    share = mean_of(shares)
    found = f"Transitions go {share:.2f} of the way from the mean score elsewhere to 1, on average over the DenseNets."
    return Outcome(share.above(HALF), found, len(shares))


def _densenet_and_resnet(facts: Facts) -> Outcome | None:
    dense, residual = facts.estimate("densenet161", "mean"), facts.estimate("resnet152", "mean")
    if dense is None or residual is None:
        return None
    found = f"The mean score of DenseNet-161 is {dense:.3f}, that of ResNet-152 {residual:.3f}."
    return Outcome((dense - residual).below(), found, 2)


def _squeeze(facts: Facts) -> Outcome | None:
    gaps = []
    for name in facts.beginning("squeezenet"):
        squeeze, rest = facts.scores_where(name, layer="squeeze")
        if len(squeeze) and len(rest):
            gaps.append(squeeze.mean() - rest.mean())
    if not gaps:
        return None
    gap = mean_of(gaps)
    found = f"The mean score of squeeze layers less that of the others is {gap:.2f} on average over the SqueezeNets."
    return Outcome(gap.above(), found, len(gaps))


def _patch_16(facts: Facts) -> Outcome | None:
    if "vit_l_16" not in facts.signatures or len(facts.scores("vit_l_16")) < 6:
        return None
    scores = facts.scores("vit_l_16")
    third = len(scores) // 3
    early, late = mean_of(scores[:third], SCORES), mean_of(scores[-third:], SCORES)
    found = f"The first third of ViT-L/16 scores {early:.2f} on average, the last third {late:.2f}."
    return Outcome((early - late).below(), found, 1)


def _patch_32(facts: Facts) -> Outcome | None:
    if "vit_l_32" not in facts.signatures or len(facts.scores("vit_l_32")) < 6:
        return None
    scores = facts.scores("vit_l_32")
    plateau, last = scores[len(scores) // 4 : -1], float(scores[-1])
    one = Estimate(last, float(plateau.std(ddof=1)), len(plateau) - 1)  # as if it were one of the plateau
    holds = every([(one - mean_of(plateau)).above(together=2), one.above(LINEAR, together=2)])
    found = (
        f"Before its last activation ViT-L/32 scores {plateau.mean():.2f} +- {plateau.std():.2f}, the last {last:.2f}."
    )
    return Outcome(holds, found, 1)


def _training(facts: Facts) -> Outcome | None:
    both = [name for name in facts.beginning("vgg") if name in facts.untrained]
    if not both:
        return None
    name = "vgg16" if "vgg16" in both else both[-1]
    before, after = facts.untrained[name].scores, facts.signatures[name].scores
    before, after = (scores[np.isfinite(before) & np.isfinite(after)] for scores in (before, after))
    last, fall = mean_of(before[-3:], SCORES), mean_of(before - after)
    rise = correlation(np.arange(len(before)), before)
    holds = every([rise.above(together=3), last.above(LINEAR, together=3), fall.above(together=3)])
    found = (
        f"Before training score and depth of {name} have the correlation {np.tanh(rise.value):.2f} and the last three "
        f"activations score {last:.2f}; training lowers the mean score by {fall:.2f}."
    )
    return Outcome(holds, found, 1)


_ON_IMAGENET = "of torchvision on ImageNet (affscore survey --datasets imagenet:data/imagenet --store results)"

ARCHITECTURES = (
    Claim(
        "googlenet-range",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "The activations of GoogLeNet cover the range from 0.6 to 0.9.",
        "The intervals of its smallest and largest score, over trainings or batches, lie where 0.6 and 0.9 are to one "
        "decimal.",
        _googlenet,
        f"googlenet {_ON_IMAGENET}, in two batches or more",
    ),
    Claim(
        "inception-v3-further",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "Inception v3 spreads its scores further than GoogLeNet, to more linear ones.",
        "Its largest score and its spread (largest minus smallest) are both larger, with intervals over trainings or "
        "batches.",
        _inception_v3,
        f"googlenet and inception_v3 {_ON_IMAGENET}, in two batches or more",
    ),
    Claim(
        "transitions-linearise",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "Between its dense blocks, in the transition layers, a DenseNet linearises.",
        "Their mean score goes more than half of the way from that of the other activations to 1, with an interval "
        "over networks.",
        _transitions,
        f"DenseNets {_ON_IMAGENET}",
    ),
    Claim(
        "densenet-below-resnet",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "Of the two large networks of their time, DenseNet-161 has somewhat lower scores than ResNet-152.",
        "Its mean score is lower, with an interval over trainings or batches.",
        _densenet_and_resnet,
        f"densenet161 and resnet152 {_ON_IMAGENET}, in two batches or more",
    ),
    Claim(
        "squeeze-layers-linearise",
        f"{FIRST}, section 4.1",
        "What transition layers are to a DenseNet, squeeze layers are to SqueezeNet: its most linear places.",
        "Their mean score is above that of the other activations, with an interval over networks.",
        _squeeze,
        f"SqueezeNets {_ON_IMAGENET}",
    ),
    Claim(
        "small-patches-early",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "With patches of 16 x 16 the large ViT is more non-linear in its early layers than in its late ones.",
        "The mean score of the first third of its activations is below that of the last third, with an interval that "
        "takes the activations for independent.",
        _patch_16,
        f"vit_l_16 {_ON_IMAGENET}",
    ),
    Claim(
        "large-patches-plateau",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "With patches of 32 x 32 the large ViT stays on a plateau and turns linear only in its last layer.",
        f"The last score is above {LINEAR} and above those that follow the first quarter, by more than these vary.",
        _patch_32,
        f"vit_l_32 {_ON_IMAGENET}",
    ),
    Claim(
        "training-bends",
        f"{PAPER}, appendix E and figure 9",
        "An untrained VGG-16 becomes almost linear with depth; training makes it more non-linear.",
        f"Its untrained scores rise with depth, the last three to above {LINEAR}, and their mean is lower after "
        "training, with intervals that take the activations for independent.",
        _training,
        "vgg16 before and after training on the same images",
    ),
)
"""Claims about what is inside of an architecture without shortcuts, or with other ones than a ResNet's."""
