"""Figure 5, A to C: clusters of signatures, distances between them, and distributions of scores."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

from affscore.analysis import (
    family_agreement,
    family_lead,
    length_distances,
    nearest_neighbour_accuracy,
    p_value_text,
    unimodality_test,
)
from affscore.network.result import Signature
from affscore.papers.alexnet_to_transformers import FIRST, PAPER
from affscore.papers.alexnet_to_transformers.figure_03 import LEAST_FAMILIES, family_means, statistics_of_study
from affscore.papers.claim import ON_IMAGENET, STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.estimate import CHANCE, Estimate, if_significant, not_significant, require
from affscore.papers.results import Results

_tested = cache(unimodality_test)  # by scores as a tuple


def _families(results: Results) -> pd.Series:
    """The families of the study's networks, where there are enough of these and some have several networks."""
    families = results.study["family"]
    require(results.signatures and families.nunique() >= LEAST_FAMILIES and families.duplicated().any())
    return families


@claim(32, f"{PAPER}, section 4 and figure 5 A", STUDY_ON_IMAGENET)
def families_are_found(results: Results) -> Verdict:
    """Clustering the signatures finds the families of architectures.

    Test: As many clusters as families agree with these better than chance, by a permutation test, and better than
    clusters by length alone, with a jackknife interval of that lead over networks.
    """
    families = _families(results)
    found = family_agreement(results.distances, list(families), permutations=1999)
    by_length = family_lead(results.distances, length_distances(results.study_scores), list(families))
    lead = Estimate(by_length.value, by_length.error, len(families) - 1)
    sentence = (
        f"Clusters agree with the families to an adjusted Rand index of {found.value:.2f} (chance reaches it with "
        f"{p_value_text(found.p_value)}); their lead over clusters by the number of activations alone is {lead:.2f}."
    )
    parts = {
        not_significant(found.p_value, "the agreement"): if_significant(found.p_value, True),
        f"the interval of the lead over {len(families)} networks contains 0": lead.above(),
    }
    return Verdict.of_parts(parts, sentence, len(families))


@claim(33, f"{FIRST}, section 4.3", STUDY_ON_IMAGENET)
def no_outliers(results: Results) -> Verdict:
    """Networks of a family end up side by side in the tree, every one of them.

    Test: The nearest neighbour of every network is of its family, if this has others (leave-one-out accuracy 1). It
    does not hold where there are more outliers than a study that has none half of the time would have by chance.
    """
    families = _families(results)
    share = nearest_neighbour_accuracy(results.distances, list(families), permutations=199)
    able = int(families.duplicated(keep=False).sum())  # the others have no network of their family to be next to
    outliers = round(able * (1 - share.value))
    # where half of all studies would have none, a single network is one with this probability
    rate = 1 - 0.5 ** (1 / able)
    p = float(stats.binom.sf(outliers - 1, able, rate))
    found = (
        f"Of {able} networks whose family has others {outliers} have a nearest neighbour of another family. If half "
        f"of all such studies had none, so many would have {p_value_text(p)} (with permuted families "
        f"{100 * share.permuted:.0f} % have one of their own)."
    )
    return Verdict(True if outliers == 0 else if_significant(p, False), found, len(families))


@claim(30, f"{PAPER}, section 4 and figure 5 B", STUDY_ON_IMAGENET)
def back_to_convnets(results: Results) -> Verdict:
    """Swins and ConvNeXts are more like the convnets of the early years than ViTs are.

    Test: Their mean distance to the pure convnets is smaller than that of the ViTs, by a permutation test over
    networks. The claim does not hold where it is larger by that test.
    """
    of = results.families.get
    pure, vits, later = of("Pure convnets", []), of("ViTs", []), of("Swins", []) + of("ConvNeXts", [])
    require(results.signatures and pure and vits and later)
    to_pure = results.distances[pure].mean(axis=1)
    test = stats.permutation_test(  # exact: seven networks and five can be divided in 792 ways
        (to_pure[later], to_pure[vits]), lambda one, other, axis: np.mean(one, axis=axis) - np.mean(other, axis=axis)
    )
    found = (
        f"Swins and ConvNeXts are {to_pure[later].mean():.2f} away from pure convnets on average, the ViTs "
        f"{to_pure[vits].mean():.2f} ({p_value_text(test.pvalue)})."
    )
    holds = if_significant(test.pvalue, test.statistic < 0)
    return Verdict.of_parts(
        {not_significant(test.pvalue, "the difference", f"{len(later)} networks against {len(vits)}"): holds},
        found,
        len([*pure, *vits, *later]),
    )


@claim(28, f"{PAPER}, section 4 and figure 5 C", "the EfficientNets of torchvision on ImageNet")
def efficientnets_skewed(results: Results) -> Verdict:
    """The scores of EfficientNets are strongly skewed towards linearity.

    Test: Their mean skewness is below -0.5, with an interval over networks.
    """
    (skewness,) = _skewness(results, "EfficientNets")
    found = f"The skewness of the scores of EfficientNets is {skewness:.2f} on average."
    return Verdict(skewness.below(-0.5), found, len(results.families["EfficientNets"]))


@claim(29, f"{PAPER}, figure 5 C", "the DenseNets and ViTs of torchvision on ImageNet")
def densenets_skewed_against_vits(results: Results) -> Verdict:
    """The scores of DenseNets are skewed towards linearity, those of ViTs the other way.

    Test: The mean skewness of DenseNets is negative and that of ViTs positive, with intervals over networks.
    """
    dense, vits = _skewness(results, "DenseNets", "ViTs")
    found = f"The mean skewness of the scores is {dense:.2f} in DenseNets and {vits:.2f} in ViTs."
    networks = len(results.families["DenseNets"]) + len(results.families["ViTs"])
    parts = {"DenseNets": dense.below(together=2), "ViTs": vits.above(together=2)}
    return Verdict.of_parts(parts, found, networks, together=True)


def one_mode(signature: Signature) -> float:
    """Silverman's p-value for one mode."""
    return _tested(tuple(signature.scores[np.isfinite(signature.scores)])).p_value


def _skewness(results: Results, *families: str) -> list[Estimate]:
    """The mean skewness of each family, where these are there, and their scores."""
    require(set(families) <= results.families.keys() and "skewness" in statistics_of_study(results))
    means = family_means(results, "skewness")
    return [means[family] for family in families]


@claim(21, f"{PAPER}, figure 5 C", f"two ResNets {ON_IMAGENET}")
def resnets_bimodal(results: Results) -> Verdict:
    """The scores of ResNets have a bimodal distribution.

    Test: Silverman's test rejects one mode for every ResNet. Where it does not, few activations may be the reason.
    """
    resnets = [results.signatures[name] for name in results.beginning("resnet")]
    require(len(resnets) > 1)
    p_values = [one_mode(one) for one in resnets]
    listed = ", ".join(f"{p:.3f} ({len(one)})" for p, one in zip(p_values, resnets, strict=True))
    found = f"Silverman's p for one mode (activations of the ResNet): {listed}."
    holds = if_significant(max(p_values), True)
    accepted = sum(p >= CHANCE for p in p_values)
    return Verdict.of_parts({f"one mode is not rejected for {accepted} of {len(resnets)}": holds}, found, len(resnets))
