"""What the papers say of single architectures and what is inside them, residual networks apart."""

from __future__ import annotations

import numpy as np

from affscore.analysis.claims.claim import Claim, Outcome
from affscore.analysis.claims.facts import Facts

__all__ = ["ARCHITECTURES"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

LINEAR = 0.9
HALF = 0.5


def _googlenet(facts: Facts) -> Outcome | None:
    if "googlenet" not in facts.signatures:
        return None
    scores = facts.scores("googlenet")
    numbers = {"low": float(scores.min()), "high": float(scores.max())}
    holds = (round(numbers["low"], 1), round(numbers["high"], 1)) == (0.6, 0.9)
    ends = "to one decimal that is" if holds else "to one decimal that is not"
    return Outcome(holds, f"GoogLeNet's scores lie between {{low:.3f}} and {{high:.3f}}; {ends} 0.6 to 0.9", numbers)


def _inception_v3(facts: Facts) -> Outcome | None:
    if not {"googlenet", "inception_v3"} <= facts.signatures.keys():
        return None
    older, newer = facts.scores("googlenet"), facts.scores("inception_v3")
    numbers = {"top": float(newer.max()), "old_top": float(older.max()), "spread": float(np.ptp(newer))}
    numbers["old_spread"] = float(np.ptp(older))
    holds = numbers["top"] > numbers["old_top"] and numbers["spread"] > numbers["old_spread"]
    ends = "both are larger than" if holds else "these are not both larger than"
    words = "the largest score of Inception v3 is {top:.2f} and its spread {spread:.2f}; "
    return Outcome(holds, f"{words}{ends} GoogLeNet's {{old_top:.2f}} and {{old_spread:.2f}}", numbers)


def _transitions(facts: Facts) -> Outcome | None:
    gaps = {}
    for name in facts.beginning("densenet"):
        transition, rest = facts.scores_where(name, layer="transition")
        if len(transition) and len(rest):
            gaps[name] = (float(transition.mean()), float(rest.mean()))
    if not gaps:
        return None
    least = min(gaps, key=lambda name: _of_the_way(*gaps[name]))
    numbers = {"networks": len(gaps), "transition": gaps[least][0], "rest": gaps[least][1]}
    holds = _of_the_way(*gaps[least]) >= HALF
    ends = (
        "in all of them the transitions go half of the way to 1"
        if holds
        else "not in all of them do the transitions go half of the way to 1"
    )
    words = f"{{networks:.0f}} DenseNets, {ends}; least so {least}, with mean scores of {{transition:.2f}} there and "
    return Outcome(holds, f"{words}{{rest:.2f}} elsewhere", numbers)


def _of_the_way(there: float, elsewhere: float) -> float:
    """How much of the way from the mean score elsewhere to 1, an affine map, is gone."""
    return (there - elsewhere) / (1 - elsewhere) if elsewhere < 1 else 0.0


def _densenet_and_resnet(facts: Facts) -> Outcome | None:
    if not {"densenet161", "resnet152"} <= facts.signatures.keys():
        return None
    numbers = {name: float(facts.scores(name).mean()) for name in ("densenet161", "resnet152")}
    holds = numbers["densenet161"] < numbers["resnet152"]
    ends = "lower" if holds else "not lower"
    words = "the mean score of DenseNet-161 is {densenet161:.3f}, "
    return Outcome(holds, f"{words}{ends} than the {{resnet152:.3f}} of ResNet-152", numbers)


def _squeeze(facts: Facts) -> Outcome | None:
    gaps = {}
    for name in facts.beginning("squeezenet"):
        squeeze, rest = facts.scores_where(name, layer="squeeze")
        if len(squeeze) and len(rest):
            gaps[name] = (float(squeeze.mean()), float(rest.mean()))
    if not gaps:
        return None
    least = min(gaps, key=lambda name: gaps[name][0] - gaps[name][1])
    numbers = {"networks": len(gaps), "squeeze": gaps[least][0], "rest": gaps[least][1]}
    holds = numbers["squeeze"] > numbers["rest"]
    ends = "more linear in the squeeze layers in all" if holds else "not more linear in the squeeze layers in all"
    words = f"{{networks:.0f}} SqueezeNets, {ends}; least so {least}, with mean scores of {{squeeze:.2f}} there and "
    return Outcome(holds, f"{words}{{rest:.2f}} elsewhere", numbers)


def _patch_16(facts: Facts) -> Outcome | None:
    if "vit_l_16" not in facts.signatures or len(facts.scores("vit_l_16")) < 6:
        return None
    scores = facts.scores("vit_l_16")
    third = len(scores) // 3
    numbers = {"early": float(scores[:third].mean()), "late": float(scores[-third:].mean())}
    holds = numbers["early"] < numbers["late"]
    ends = "lower than" if holds else "not lower than"
    return Outcome(
        holds,
        f"the first third of ViT-L/16 scores {{early:.2f}} on average, {ends} the last third's {{late:.2f}}",
        numbers,
    )


def _patch_32(facts: Facts) -> Outcome | None:
    if "vit_l_32" not in facts.signatures or len(facts.scores("vit_l_32")) < 6:
        return None
    scores = facts.scores("vit_l_32")
    plateau = scores[len(scores) // 4 : -1]
    numbers = {"last": float(scores[-1]), "mean": float(plateau.mean()), "std": float(plateau.std())}
    holds = numbers["last"] > max(LINEAR, numbers["mean"] + 3 * numbers["std"])
    ends = "more than" if holds else "not both more than"
    words = "before its last activation ViT-L/32 scores {mean:.2f} +- {std:.2f}, the last one {last:.2f}: "
    return Outcome(holds, f"{words}{ends} three standard deviations above and {LINEAR}", numbers)


def _training(facts: Facts) -> Outcome | None:
    both = [name for name in facts.beginning("vgg") if name in facts.untrained]
    if not both:
        return None
    name = "vgg16" if "vgg16" in both else both[-1]
    before = facts.untrained[name].scores
    after = facts.scores(name)
    numbers = {
        "rise": float(np.corrcoef(np.arange(len(before)), before)[0, 1]),
        "last": float(before[-3:].mean()),
        "before": float(before.mean()),
        "after": float(after.mean()),
    }
    holds = numbers["rise"] > 0.5 and numbers["last"] > LINEAR and numbers["after"] < numbers["before"]
    ends = "as claimed" if holds else "not as claimed"
    words = (
        f"before training score and depth of {name} have the correlation {{rise:.2f}}, and the last three activations "
        f"score {{last:.2f}}; training takes the mean score from {{before:.2f}} to {{after:.2f}}: {ends} "
        f"(limits 0.5 and {LINEAR})"
    )
    return Outcome(holds, words, numbers)


_ON_IMAGENET = "of torchvision on ImageNet (affscore survey --datasets imagenet:data/imagenet --store results)"

ARCHITECTURES = (
    Claim(
        "googlenet-range",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "The activations of GoogLeNet cover the range from 0.6 to 0.9.",
        "Its smallest and largest score are 0.6 and 0.9 to one decimal.",
        _googlenet,
        f"googlenet {_ON_IMAGENET}",
    ),
    Claim(
        "inception-v3-further",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "Inception v3 spreads its scores further than GoogLeNet, to more linear ones.",
        "Its largest score and its spread (largest minus smallest) are both larger.",
        _inception_v3,
        f"googlenet and inception_v3 {_ON_IMAGENET}",
    ),
    Claim(
        "transitions-linearise",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "Between its dense blocks, in the transition layers, a DenseNet linearises.",
        "In every DenseNet their mean score goes at least half of the way from that of the other activations to 1.",
        _transitions,
        f"a DenseNet {_ON_IMAGENET}",
    ),
    Claim(
        "densenet-below-resnet",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "Of the two large networks of their time, DenseNet-161 has somewhat lower scores than ResNet-152.",
        "Its mean score is lower.",
        _densenet_and_resnet,
        f"densenet161 and resnet152 {_ON_IMAGENET}",
    ),
    Claim(
        "squeeze-layers-linearise",
        f"{FIRST}, section 4.1",
        "What transition layers are to a DenseNet, squeeze layers are to SqueezeNet: its most linear places.",
        "In every SqueezeNet their mean score is above that of the other activations.",
        _squeeze,
        f"a SqueezeNet {_ON_IMAGENET}",
    ),
    Claim(
        "small-patches-early",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "With patches of 16 x 16 the large ViT is more non-linear in its early layers than in its late ones.",
        "The mean score of the first third of its activations is below that of the last third.",
        _patch_16,
        f"vit_l_16 {_ON_IMAGENET}",
    ),
    Claim(
        "large-patches-plateau",
        f"{PAPER}, appendix F; {FIRST}, section 4.1",
        "With patches of 32 x 32 the large ViT stays on a plateau and turns linear only in its last layer.",
        f"The last score is above {LINEAR}, and more than three standard deviations above those that follow the first "
        "quarter.",
        _patch_32,
        f"vit_l_32 {_ON_IMAGENET}",
    ),
    Claim(
        "training-bends",
        f"{PAPER}, appendix E and figure 9",
        "An untrained VGG-16 becomes almost linear with depth; training makes it more non-linear.",
        f"Its untrained scores rise with depth to above {LINEAR}, and their mean is lower after training.",
        _training,
        "vgg16 before and after training on the same images",
    ),
)
"""Claims about what is inside of an architecture without shortcuts, or with other ones than a ResNet's."""
