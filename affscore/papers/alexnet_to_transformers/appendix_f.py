"""Appendix F: what the papers say of single architectures and of what is inside them."""

from __future__ import annotations

from affscore.analysis import trend
from affscore.papers.alexnet_to_transformers import FIRST, PAPER
from affscore.papers.claim import ON_IMAGENET, Verdict, claim
from affscore.papers.estimate import SCORES, Estimate, every, if_significant, mean_of, not_significant, require
from affscore.papers.results import Results

_BOTH_VERSIONS = f"{PAPER}, appendix F; {FIRST}, section 4.1"


@claim(10, _BOTH_VERSIONS, f"googlenet {ON_IMAGENET}, in two batches or more")
def googlenet_range(results: Results) -> Verdict:
    """The activations of GoogLeNet cover the range from 0.6 to 0.9.

    Test: The intervals of its smallest and largest score, over trainings or batches, lie where 0.6 and 0.9 are to one
    decimal.
    """
    low, high = results.estimate("googlenet", "min"), results.estimate("googlenet", "max")
    parts = {
        "the smallest score against 0.55": low.above(0.55, 4),
        "the smallest score against 0.65": low.below(0.65, 4),
        "the largest score against 0.85": high.above(0.85, 4),
        "the largest score against 0.95": high.below(0.95, 4),
    }
    found = f"GoogLeNet's smallest score is {low:.2f}, its largest {high:.2f}."
    return Verdict.of_parts(parts, found, 1, together=True)


@claim(11, _BOTH_VERSIONS, f"googlenet and inception_v3 {ON_IMAGENET}, in two batches or more")
def inception_v3_further(results: Results) -> Verdict:
    """Inception v3 spreads its scores further than GoogLeNet, to more linear ones.

    Test: Its largest score and its spread (largest minus smallest) are both larger, with intervals over trainings or
    batches.
    """
    of = results.estimate
    leads = [of("inception_v3", statistic) - of("googlenet", statistic) for statistic in ("max", "spread")]
    found = f"Inception v3 less GoogLeNet: largest score {leads[0]:.3f}, spread {leads[1]:.3f}."
    parts = dict(zip(("the largest score", "the spread"), (lead.above(together=2) for lead in leads), strict=True))
    return Verdict.of_parts(parts, found, 2, together=True)


@claim(12, _BOTH_VERSIONS, f"DenseNets {ON_IMAGENET}")
def transitions_linearise(results: Results) -> Verdict:
    """Between its dense blocks, in the transition layers, a DenseNet linearises.

    Test: Their mean score goes more than half of the way from that of the other activations to 1, with an interval over
    networks.
    """
    layers = results.inside_and_outside("densenet", "layer", "transition")
    share = mean_of([(inside.mean() - rest.mean()) / (1 - rest.mean()) for inside, rest in layers])
    found = f"Transitions go {share:.2f} of the way from the mean score elsewhere to 1, on average over the DenseNets."
    return Verdict(share.above(0.5), found, len(layers))


@claim(13, _BOTH_VERSIONS, f"densenet161 and resnet152 {ON_IMAGENET}, in two batches or more")
def densenet_below_resnet(results: Results) -> Verdict:
    """Of the two large networks of their time, DenseNet-161 has somewhat lower scores than ResNet-152.

    Test: Its mean score is lower, with an interval over trainings or batches.
    """
    dense, residual = results.estimate("densenet161", "mean"), results.estimate("resnet152", "mean")
    found = f"The mean score of DenseNet-161 is {dense:.3f}, that of ResNet-152 {residual:.3f}."
    return Verdict((dense - residual).below(), found, 2)


@claim(14, f"{FIRST}, section 4.1", f"SqueezeNets {ON_IMAGENET}")
def squeeze_layers_linearise(results: Results) -> Verdict:
    """What transition layers are to a DenseNet, squeeze layers are to SqueezeNet: its most linear places.

    Test: Their mean score is above that of the other activations, with an interval over networks.
    """
    return _more_linear(results, "SqueezeNet", "layer", "squeeze", "of squeeze layers")


def _more_linear(results: Results, family: str, column: str, part: str, what: str) -> Verdict:
    """Whether the activations in some part of these networks are more linear than the others."""
    groups = results.inside_and_outside(family.lower(), column, part)
    gap = mean_of([inside.mean() - others.mean() for inside, others in groups])
    found = f"The mean score {what} less that of the others is {gap:.2f} on average over the {family}s."
    return Verdict(gap.above(), found, len(groups))


@claim(15, _BOTH_VERSIONS, f"vit_l_16 {ON_IMAGENET}")
def small_patches_early(results: Results) -> Verdict:
    """With patches of 16 x 16 the large ViT is more non-linear in its early layers than in its late ones.

    Test: The mean score of the first third of its activations is below that of the last third, with an interval that
    takes the activations for independent.
    """
    scores = results.scores("vit_l_16")
    require(len(scores) > 5)
    third = len(scores) // 3
    early, late = mean_of(scores[:third], SCORES), mean_of(scores[-third:], SCORES)
    found = f"The first third of ViT-L/16 scores {early:.2f} on average, the last third {late:.2f}."
    return Verdict((early - late).below(), found, 1)


@claim(16, _BOTH_VERSIONS, f"vit_l_32 {ON_IMAGENET}")
def large_patches_plateau(results: Results) -> Verdict:
    """With patches of 32 x 32 the large ViT stays on a plateau and turns linear only in its last layer.

    Test: The last score is above 0.9 and above those that follow the first quarter, by more than these vary.
    """
    scores = results.scores("vit_l_32")
    require(len(scores) > 5)
    plateau, last = scores[len(scores) // 4 : -1], float(scores[-1])
    one = Estimate(last, float(plateau.std(ddof=1)), len(plateau) - 1)  # as if it were one of the plateau
    holds = every([(one - mean_of(plateau)).above(together=2), one.above(0.9, together=2)])
    around = f"{plateau.mean():.2f} ± {plateau.std():.2f}"
    return Verdict(holds, f"Before its last activation ViT-L/32 scores {around}, the last {last:.2f}.", 1)


@claim(18, _BOTH_VERSIONS, f"ResNets {ON_IMAGENET}")
def after_sums_more_linear(results: Results) -> Verdict:
    """In ResNets the activations behind a shortcut's sum are much more linear than those inside a block.

    Test: Their mean score is above that of the other activations, with an interval over networks.
    """
    return _more_linear(results, "ResNet", "kind", "after-sum", "after a sum")


@claim(19, f"{PAPER}, appendix F", f"three ResNets {ON_IMAGENET}")
def deeper_approaches_one(results: Results) -> Verdict:
    """The deeper the ResNet, the further apart are the activations after a sum, and the nearer to 1.

    Test: Their mean score and its lead have a positive rank correlation with the number of activations, by a
    permutation test, and the interval of the deepest network's mean lies above 0.9.
    """
    groups = results.inside_and_outside("resnet", "kind", "after-sum")
    require(len(groups) > 2)
    means, leads = zip(*((after.mean(), after.mean() - others.mean()) for after, others in groups), strict=True)
    score, lead = (trend(range(len(groups)), values) for values in (means, leads))
    rising = [if_significant(one.p_value, one.correlation > 0) for one in (score, lead)]
    last = mean_of(groups[-1][0], SCORES)
    found = (
        f"Over the ResNets the mean score after a sum has the rank correlation {score} with depth, its lead {lead}; "
        f"after a sum the deepest scores {last:.2f}."
    )
    over = f"{len(groups)} networks"
    parts = {
        not_significant(score.p_value, "the mean score", over): rising[0],
        not_significant(lead.p_value, "its lead", over): rising[1],
        "the interval of the deepest network contains 0.9": last.above(0.9),
    }
    return Verdict.of_parts(parts, found, len(groups))
