"""Appendix F: single architectures and what is inside them, figures 10 to 13, and the numbers in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from affscore.network.result import Signature
from companion.all_results import AllResults
from companion.characteristics import architecture_of, characteristics
from companion.claims import (
    FIRST,
    ON_IMAGENET,
    PAPER,
    STUDY_ON_IMAGENET,
    Verdict,
    above,
    below,
    claim,
    near,
    rank_within,
)
from companion.networks import networks, short_name, survey_command
from companion.printed import (
    COMPUTED,
    LOOKED_UP,
    OurNumber,
    PrintedNumber,
    Row,
    checkpoints,
    compare,
    printed_numbers,
    printed_text,
)
from companion.results import Array, Results, analogue_of, few_images, number_of
from companion.statistics import SCORES, Estimate, jackknife_error, mean_of, require

_BOTH_VERSIONS = f"{PAPER}, appendix F; {FIRST}, section 4.1"


def rows(results: AllResults) -> Iterator[Row]:
    """The standard deviations over batches in the titles of figures 10 to 13, and the numbers in sentences."""
    for number in printed_numbers("figures10_13_batch_std"):
        name = "convnext_tiny" if number.row == "convnext" else number.row  # 18 activations are drawn
        ours = _spread_of(results.as_printed.signatures, name)
        yield compare(number, ours, _of_cifar(results.pairs, name), survey_command([name]))
    yield from _in_sentences(results)


def _of_cifar(results: Results, name: str) -> tuple[float, str] | None:
    """Of a ResNet the one of CIFAR-10 with the nearest number of activations; the small networks have one batch."""
    residual = [results.signatures[one] for one in results.beginning("resnet")]
    residual = [one for one in residual if "cifar10" in str(one.metadata["dataset"])]
    if not name.startswith("resnet") or not residual:
        return None
    count = characteristics([name])["activations"].iloc[0]
    nearest = min(residual, key=lambda one: abs(len(one) - count))
    batches, other = nearest.table["batch"].nunique(), short_name(nearest.metadata["model"])
    return mean_spread(nearest), f"{other} trained on CIFAR-10, on {batches} batches of its test images"


def mean_spread(signature: Signature) -> float:
    """The standard deviation of the scores over batches, averaged over activations, as in the titles of figure 10."""
    return float(signature.summary["score_std"].mean())


def _spread_of(signatures: Mapping[str, Signature], name: str) -> OurNumber | None:
    """That of a network, with the jackknife's error over batches, which knows that activations move together."""
    if name not in signatures:
        return None
    spread, scores = mean_spread(signatures[name]), signatures[name].table.pivot_table("score", "index", "batch")
    error = spread / 2**0.5  # of two batches none can be left out: that of one standard deviation, and so at most
    if scores.shape[1] > 2:
        without = [float(scores.drop(columns=batch).std(axis=1).mean()) for batch in scores]
        error = jackknife_error(np.array(without))
    return OurNumber(spread, error, sampled="batches", how=few_images(signatures, [name]))


def _in_sentences(results: AllResults) -> Iterator[Row]:
    """What is computed from public metadata, looked up, or measured of GoogLeNet."""
    known = characteristics(["alexnet", "googlenet", "vgg11", "vgg13", "vgg16", "vgg19"])
    counted = {
        "alexnet_layers": known["depth"]["alexnet"],
        "vgg16_per_googlenet": known["parameters"]["vgg16"] / known["parameters"]["googlenet"],
        "networks_on_more_data": len(networks()),
        "self_supervised_checkpoints": len(checkpoints()),
    }
    for number in printed_numbers("numbers_in_text"):
        name, _, what = number.row.rpartition("_")
        how, why = map(str, printed_text("numbers_in_text").loc[number.row, ["how", "why"]])
        if what == "score":
            yield _end_of_googlenet(results, number)
            continue
        if what == "year":
            architecture = architecture_of(name)
            assert architecture is not None  # the file has years of architectures alone
            value, how = architecture.year, f"first made public: {architecture.publication.partition(':')[0]}"
        else:
            value = known["depth"][name] if what == "depth" else counted[number.row]
        way = LOOKED_UP if what in ("year", "data", "checkpoints") else COMPUTED
        exact = number.row != "vgg16_per_googlenet"
        yield compare(number, OurNumber(float(value), way=way, exact=exact, how=how, why=why))


def _end_of_googlenet(results: AllResults, number: PrintedNumber) -> Row:
    """The smallest or the largest score of GoogLeNet."""
    end, name = np.nanmin if "lowest" in number.row else np.nanmax, ["googlenet"]

    def statistic(values: Mapping[str, Array]) -> float:
        return float(end(values["googlenet"][0]))

    ours = number_of(results.as_printed.signatures, name, statistic)
    analogue = analogue_of(results.mini.signatures, name, statistic, "mini:googlenet on digits")
    return compare(number, ours, analogue, survey_command(name))


@claim(_BOTH_VERSIONS, f"googlenet {ON_IMAGENET}, in two batches or more")
def googlenet_range(results: Results) -> Verdict:
    """The activations of GoogLeNet cover the range from 0.6 to 0.9.

    Test: The intervals of its smallest and largest score, over trainings or batches, lie where 0.6 and 0.9 are to one
    decimal.
    """
    low, high = results.estimate("googlenet", "min"), results.estimate("googlenet", "max")
    parts = {"smallest score": near(low, 0.6, 0.05), "largest score": near(high, 0.9, 0.05)}
    return Verdict.all_of(parts, f"{results.prefix}googlenet", units=results.repeats)


@claim(_BOTH_VERSIONS, f"googlenet and inception_v3 {ON_IMAGENET}, in two batches or more")
def inception_v3_further(results: Results) -> Verdict:
    """Inception v3 spreads its scores further than GoogLeNet, to more linear ones.

    Test: Its largest score and its spread (largest minus smallest) are both larger, with intervals over trainings or
    batches.
    """
    of = results.estimate
    names = {"max": "largest score", "spread": "spread"}
    parts = {words: above(of("inception_v3", one) - of("googlenet", one), how=".3f") for one, words in names.items()}
    what = f"{results.prefix}inception_v3 less {results.prefix}googlenet"
    return Verdict.all_of(parts, what, units=results.repeats)


@claim(_BOTH_VERSIONS, f"DenseNets {ON_IMAGENET}")
def transitions_linearise(results: Results) -> Verdict:
    """Between its dense blocks, in the transition layers, a DenseNet linearises.

    Test: Their mean score goes more than half of the way from that of the other activations to 1, with an interval over
    networks.
    """
    layers = results.inside_and_outside("densenet", "layer", "transition").values()
    share = mean_of([(inside.mean() - rest.mean()) / (1 - rest.mean()) for inside, rest in layers])
    return Verdict.all_of({"that transitions of DenseNets go": above(share, 0.5)}, "Share of the way to 1")


@claim(_BOTH_VERSIONS, f"densenet161 and resnet152 {ON_IMAGENET}, in two batches or more")
def densenet_below_resnet(results: Results) -> Verdict:
    """Of the two large networks of their time, DenseNet-161 has somewhat lower scores than ResNet-152.

    Test: Its mean score is lower, with an interval over trainings or batches.
    """
    gap = results.estimate("densenet161", "mean") - results.estimate("resnet152", "mean")
    what = {f"of {results.prefix}densenet161 less that of {results.prefix}resnet152": below(gap, how=".3f")}
    return Verdict.all_of(what, "Mean score", units=results.repeats)


def _more_linear(results: Results, start: str, column: str, part: str, what: str) -> Verdict:
    """Whether the activations in some part of these networks are more linear than the others."""
    groups = results.inside_and_outside(start, column, part).values()
    gap = mean_of([inside.mean() - others.mean() for inside, others in groups])
    return Verdict.all_of({f"{what} less that of the others": above(gap)}, "Mean score")


@claim(f"{FIRST}, section 4.1", f"SqueezeNets {ON_IMAGENET}")
def squeeze_layers_linearise(results: Results) -> Verdict:
    """What transition layers are to a DenseNet, squeeze layers are to SqueezeNet: its most linear places.

    Test: Their mean score is above that of the other activations, with an interval over networks.
    """
    return _more_linear(results, "squeezenet", "layer", "squeeze", "of squeeze layers")


@claim(_BOTH_VERSIONS, f"vit_l_16 {ON_IMAGENET}")
def small_patches_early(results: Results) -> Verdict:
    """With patches of 16 x 16 the large ViT is more non-linear in its early layers than in its late ones.

    Test: The mean score of the first third of its activations is below that of the last third, with an interval that
    takes the activations for independent.
    """
    scores = results.scores("vit_l_16")
    require(len(scores) > 5)
    third = len(scores) // 3
    gap = mean_of(scores[:third], SCORES) - mean_of(scores[-third:], SCORES)
    part = {f"of the first third of {results.prefix}vit_l_16 less that of the last": below(gap)}
    return Verdict.all_of(part, "Mean score", units="activations")


@claim(_BOTH_VERSIONS, f"vit_l_32 {ON_IMAGENET}")
def large_patches_plateau(results: Results) -> Verdict:
    """With patches of 32 x 32 the large ViT stays on a plateau and turns linear only in its last layer.

    Test: The last score is above 0.9 and above those that follow the first quarter, by more than these vary.
    """
    scores = results.scores("vit_l_32")
    require(len(scores) > 5)
    plateau = scores[len(scores) // 4 : -1]
    last = Estimate(float(scores[-1]), float(plateau.std(ddof=1)), len(plateau) - 1, n=1)  # as one of the plateau
    parts = {"less those before": above(_beyond(scores[-1], plateau)), "itself": above(last, 0.9)}
    return Verdict.all_of(parts, f"Last score of {results.prefix}vit_l_32", units="activations")


@claim(_BOTH_VERSIONS, f"ResNets {ON_IMAGENET}")
def after_sums_more_linear(results: Results) -> Verdict:
    """In ResNets the activations behind a shortcut's sum are much more linear than those inside a block.

    Test: Their mean score is above that of the other activations, with an interval over networks.
    """
    return _more_linear(results, "resnet", "kind", "after-sum", "after a sum")


@claim(f"{PAPER}, appendix F", f"three ResNets {ON_IMAGENET}")
def deeper_approaches_one(results: Results) -> Verdict:
    """The deeper the ResNet, the further apart are the activations after a sum, and the nearer to 1.

    Test: Their mean score and its lead over the others have a positive rank correlation with the number of activations,
    by permuting designs on the same data, and there the interval of the deepest network's mean lies above 0.9.
    """
    groups = results.inside_and_outside("resnet", "kind", "after-sum")
    require(len(groups) > 2)
    data = {name: str(results.signatures[name].metadata["dataset"]) for name in groups}
    count = [len(after) + len(others) for after, others in groups.values()]
    means = {
        "mean score": [after.mean() for after, _ in groups.values()],
        "lead": [after.mean() - others.mean() for after, others in groups.values()],
    }
    parts = {
        f"{words}, rank correlation with the number of activations": rank_within(count, values, list(data.values()))
        for words, values in means.items()
    }
    for name in {data[name]: name for name in groups}.values():  # the last of each data set is the deepest
        parts[f"mean score in {results.prefix}{name}"] = above(mean_of(groups[name][0], SCORES), 0.9)
    return Verdict.all_of(parts, "After sums", n=len(groups))


@claim(f"{PAPER}, appendix F and figure 12", STUDY_ON_IMAGENET)
def vggs_alike(results: Results) -> Verdict:
    """VGGs of different depths have similar signatures (the paper: the signature does not change with the depth).

    Test: They are nearer to each other than networks of other families are, by a mean distance that is below those
    within other families by more than these vary. (That they are nearer to each other than to networks of other
    families is so of every family whose members share a recipe.)
    """
    require(results.signatures)
    families = {name: some for name, some in results.families.items() if name != "Pure convnets" and len(some) > 1}
    vggs = [name for name in results.study.index if str(name).startswith("vgg")]
    require(len(vggs) > 1 and len(families) > 1)
    others = np.array([_mean_distance(results, some) for some in families.values()])
    part = {"VGGs less those within other families": below(_beyond(_mean_distance(results, vggs), others))}
    return Verdict.all_of(part, "Mean distance within", n=len(others) + 1, units="families")


def _beyond(one: float, others: Array) -> Estimate:
    """How far one number is from the mean of others, with the interval in which one more of these would lie."""
    n, spread = len(others), float(others.std(ddof=1))
    return Estimate(float(one - others.mean()), spread * float(np.sqrt(1 + 1 / n)), n - 1, n=n + 1)


def _mean_distance(results: Results, names: list[str]) -> float:
    distances = results.distances.loc[names, names].to_numpy()
    return float(distances.sum() / (len(names) * (len(names) - 1)))
