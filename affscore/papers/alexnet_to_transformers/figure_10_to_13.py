"""Figures 10 to 13: signatures of single architectures, with their standard deviation over batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from affscore.analysis import PermutationTest, p_value_text
from affscore.network.result import Signature
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import if_significant, require
from affscore.papers.jackknife import jackknife_error
from affscore.papers.networks import short_name
from affscore.papers.printed import printed_numbers
from affscore.papers.protocol import few_images, survey_command
from affscore.papers.results import Results
from affscore.zoo.models import characteristics

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

_COLUMNS = {"std_over_batches": (f"{PAPER}, figures 10 to 13", "{row}: standard deviation of the scores over batches")}


def rows(results: AllResults) -> Iterator[Row]:
    """The standard deviations over batches in the titles."""
    for number in printed_numbers("figures10_13_batch_std", _COLUMNS):
        name = "convnext_tiny" if number.row == "convnext" else number.row  # 18 activations are drawn
        signature, ours = results.as_printed.signatures.get(name), None
        if signature is not None:
            how = "".join(few_images({name: signature}))
            ours = OurNumber(mean_spread(signature), _error_of_spread(signature), sampled="batches", how=how)
        yield compare(number, ours, _of_cifar(results.cifar, name), survey_command([name]))


def _of_cifar(results: Results, name: str) -> tuple[float, str] | None:
    """Of a ResNet the one of CIFAR-10 with the nearest number of activations; the small networks have one batch."""
    residual = [one for other, one in results.signatures.items() if other.startswith("resnet")]
    if not name.startswith("resnet") or not residual:
        return None
    count = characteristics([name])["activations"].iloc[0]
    nearest = min(residual, key=lambda one: abs(len(one) - count))
    batches, other = nearest.table["batch"].nunique(), short_name(nearest.metadata["model"])
    return mean_spread(nearest), f"{other} trained on CIFAR-10, on {batches} batches of its test images"


def mean_spread(signature: Signature) -> float:
    """The standard deviation of the scores over batches, averaged over activations, as in the titles of figure 10."""
    return float(signature.summary["score_std"].mean())


def _error_of_spread(signature: Signature) -> float:
    """Standard error of the mean spread: the jackknife over batches, which knows that activations move together."""
    scores = signature.table.pivot_table(index="index", columns="batch", values="score")
    batches = scores.shape[1]
    if batches < 3:  # none can be left out: that of one standard deviation of normal numbers, and so at most
        return mean_spread(signature) / (2 * (batches - 1)) ** 0.5
    without = [float(scores.drop(columns=batch).std(axis=1).mean()) for batch in scores.columns]
    return jackknife_error(np.array(without))


@claim(31, f"{PAPER}, appendix F and figure 12", STUDY_ON_IMAGENET)
def vggs_alike(results: Results) -> Verdict:
    """VGGs of different depths have similar signatures (the paper: the signature does not change with the depth).

    Test: VGGs are nearer to each other than to networks of other families, by more than as many networks drawn at
    random are.
    """
    families = results.study["family"]
    vggs = [name for name in families.index if str(name).startswith("vgg")]
    others = list(families.index[families != "Pure convnets"])
    require(results.signatures and len(vggs) > 1 and len(others) > 2)
    names = [*vggs, *others]
    distances = results.distances.loc[names, names].to_numpy()

    def lead(chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """How much farther the rest is from the chosen than these are from each other, on average."""
        from_chosen = chosen @ distances
        within = (from_chosen * chosen).sum(axis=-1) / (len(vggs) * (len(vggs) - 1))
        return (from_chosen * ~chosen).sum(axis=-1) / (len(vggs) * len(others)) - within

    generator = np.random.default_rng(0)
    drawn = np.array([np.argsort(generator.permutation(len(names))) for _ in range(2000)])
    test = PermutationTest(float(lead(np.arange(len(names)) < len(vggs))), lead(drawn < len(vggs)), exact=False)
    found = (
        f"Networks of other families are {test.observed:.2f} farther from VGGs than VGGs are from each other, on "
        f"average; as many networks drawn at random reach that with {p_value_text(test.p_value)}."
    )
    return Verdict(if_significant(test.two_sided, test.p_value < 0.5), found, len(names))
