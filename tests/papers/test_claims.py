"""The papers' claims in words: each test is flipped by data that flip the claim, and left open by too few."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from synthetic_slopes import EASY, collapse, four_sizes, of_slopes, trainings_of, with_criteria

from affscore.analysis import STATISTICS, independent_best
from affscore.experiments.sweeps import sweep
from affscore.papers import network_table, printed_table, printed_tables, study_models
from affscore.papers.alexnet_to_transformers import table_3
from affscore.papers.alexnet_to_transformers.figure_16 import other_training_changes_little
from affscore.papers.all_results import AllResults
from affscore.papers.claim import DOES_NOT_HOLD, HOLDS, UNDECIDED
from affscore.papers.claim import WORDS as CLAIM_WORDS
from affscore.papers.estimate import Estimate, MissingResultsError, differ, every, mean_of
from affscore.papers.groups import study_groups
from affscore.papers.ledger import MATERIAL, all_claims
from affscore.papers.results import Results
from tests.synthetic_signatures import synthetic

RESNETS = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152")
STUDY = study_models("")
EFFICIENT = ["squeezenet1_0", "squeezenet1_1", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0"]
CRITERIA = ["cka", "norm", "sparsity", "entropy", "r2"]


def of_networks(scores, **about):
    """Results of networks with these scores, and kinds or layers of the activations by network."""
    signatures = {
        name: synthetic(values, name, **{key: given[name] for key, given in about.items() if name in given})
        for name, values in scores.items()
    }
    return Results("synthetic networks", signatures=signatures)


def domain(**functions):
    """Results of functions on the inputs of figure 6: twenty scores of each, in three draws that hardly differ."""
    names = ("relu", "relu6", "leaky_relu", "gelu", "sigmoid", "tanh")
    rows = [
        {
            "activation": name,
            "mean": float(place),
            "std": 1.0,
            "score": score - 1e-3 * draw,
            "constant": False,
            "draw": draw,
        }
        for draw in range(3)
        for name in names
        for place, score in enumerate(functions.get(name, [1.0] * 20))
    ]
    return Results("synthetic functions", sweeps={"domain": pd.DataFrame(rows)})


def steered(low=0.0, high=0.0, noise=0.0005, seeds=5, targets=("free", "low", "high")):
    """Results of networks with pulled scores: how far accuracies of all sorts are from those of free ones."""
    names = ("test_accuracy", "accuracy_noise_0.5", "accuracy_noise_1", "transfer")
    rows = [
        {
            "network": network, "task": task, "target": target, "seed": seed, "index": index, "score": 0.5,
            **dict.fromkeys(names, 0.9 + 0.01 * seed + {"low": low, "high": high}.get(target, 0.0)
                            + (noise * (seed % 3 - 1) if target != "free" else 0.0)),
        }
        for network in ("vgg8", "resnet8") for task in ("digits", "hard") for target in targets
        for seed in range(1, seeds + 1) for index in range(2)
    ]  # fmt: skip
    return Results("synthetic networks", studies={"steered": pd.DataFrame(rows)})


def language(gap=0.0, fall=0.1, with_gates=0.0, noise=0.001, seeds=3, networks=(), ways=("untrained", "language")):
    """Results of language models: how far gates move the mean score, and how far training lowers it."""
    rows = []
    for number, network in enumerate(networks or ("char_gpt", "gated_char_gpt")):
        for way in ways:
            trained = way == "language"
            level = 0.9 + number * gap - trained * (fall + number * with_gates)
            rows += [
                {
                    "network": network, "way": way, "seed": seed, "index": index, "weights": f"{network}-{way}-{seed}",
                    "score": level + (0.01 if index else -0.01) + noise * trained * (seed - 2),
                }
                for seed in range(1, seeds + 1)
                for index in range(2)
            ]  # fmt: skip
    return Results("synthetic language models", studies={"language": pd.DataFrame(rows)})


def low(score, means=1):
    """Twenty scores, so many of them low."""
    return [score] * means + [1.0] * (20 - means)


def wide(**scores):
    """Results of functions on normal inputs around 0: scores at deviations 1 and 8."""
    rows = [
        {"activation": name, "std": std, "score": score + 1e-3 * draw, "draw": draw}
        for name, both in scores.items()
        for std, score in zip((1.0, 8.0), both, strict=True)
        for draw in range(3)
    ]
    return Results("synthetic functions", sweeps={"wide": pd.DataFrame(rows)})


def reduced(*scores, **given):
    """Results of functions on feature maps: scores under mean, sum and flatten, or all three of some functions."""
    table = sweep("reductions")
    if scores:
        table[["mean", "sum", "flatten"]] = scores
    for name, score in given.items():
        table.loc[table["activation"] == name, ["mean", "sum", "flatten"]] = score
    return Results("synthetic functions", sweeps={"reductions": table})


def along(covariance, curve, first=None):
    """Results of functions along the axis of figure 7: errors at the ends, those of the first function apart."""
    rows = [
        {"activation": name, "covariance": covariance, "width": width, "points": 250, "exponent": 0.0, "repeat": repeat,
         "error": error + 1e-4 * repeat}
        for number, name in enumerate(printed_table("figure7_activation_scores").index)
        for width, error in zip((125, 1125), first if first and not number else curve, strict=True)
        for repeat in range(3)
    ]  # fmt: skip
    return Results("synthetic functions", sweeps={"drift": pd.DataFrame(rows)})


def residual(inside, after):
    """ResNets of growing depth: half of the activations inside of blocks, half after sums."""
    scores, kinds = {}, {}
    for number, name in enumerate(RESNETS[: len(after)]):
        count = 8 + 4 * number
        scores[name] = [
            *np.linspace(-0.02, 0.02, count) + inside[number],
            *np.linspace(-0.02, 0.02, count) + after[number],
        ]
        kinds[name] = [*["first"] * count, *["after-sum"] * count]
    return of_networks(scores, kinds=kinds)


def with_layers(names, inside, elsewhere, layer):
    """Networks with the same scores: three activations in layers of this name, six elsewhere."""
    layers = [f"features.{i}" for i in range(6)] + [f"{layer}.{i}" for i in range(3)]
    return of_networks({name: [*[elsewhere] * 6, *[inside] * 3] for name in names}, layers=dict.fromkeys(names, layers))


def pairs(with_it, without, count=6):
    """Pairs of networks with and without shortcuts."""
    scores = {f"resnet{n}": with_it for n in range(count)} | {f"plainnet{n}": without for n in range(count)}
    return of_networks(scores)


def blocks(inside, after, plain):
    """Pairs of networks with four blocks: scores inside blocks and after sums, and of the second ones without sums."""
    scores, kinds = {}, {}
    for number in range(6):
        for name, second, kind in ((f"resnet{number}", after, "after-sum"), (f"plainnet{number}", plain, "second")):
            scores[name] = np.array([inside, second] * 4) + 0.01 * np.sin(np.arange(8) + number)
            kinds[name] = ["first", kind] * 4
    return of_networks(scores, kinds=kinds)


def decade(**families):
    """Results of all networks of the study: for each family a function of the year to scores; others are plain."""
    study = printed_table("study_networks")
    scores = {}
    for place, name in enumerate(STUDY):
        family, year = str(study.loc[name, "family"]), int(study.loc[name, "year"])
        make = families.get(family.replace(" ", "_"), families.get("others", lambda year: [0.6, 0.7, 0.8]))
        scores[name] = np.clip(np.array(make(year)) + 1e-4 * place, 0, 1)
    return of_networks(scores)


def with_correlations(activations=100, **columns):
    """Results with correlations of twelve networks; half of them DenseNets."""
    names = [*(f"densenet{number}" for number in range(6)), *(f"vgg{number}" for number in range(6))]
    rows = [
        {
            "model": name,
            "criterion": criterion,
            "activations": activations,
            "correlation": columns.get(criterion, [0.1] * 12)[n],
        }
        for n, name in enumerate(names)
        for criterion in CRITERIA
    ]
    return Results("synthetic correlations", correlations=pd.DataFrame(rows))


def with_trainings(statistic="", common=False, of_seed=0.0, slope=0.005, **slopes):
    """Results of small networks: accuracies that statistics (their slopes) and depth follow, the rest is noise."""
    generator = np.random.default_rng(0)
    names = [*STUDY, *EFFICIENT]
    accuracy = np.linspace(50, 90, len(names))
    slopes = slopes | ({statistic: slope} if statistic else {})
    rows, zoo = [], []
    for place, (name, percent) in enumerate(zip(names, accuracy, strict=True)):
        noise = generator.normal(size=len(STATISTICS) + 1)
        given = {key: 0.4 + 0.01 * one for key, one in zip(STATISTICS, noise, strict=False)}
        given |= {key: 0.5 + steep * percent for key, steep in slopes.items()}
        for seed in range(2):
            rows.append(
                {"name": name, "seed": seed, "accuracy": percent, **given, "mean": given["mean"] + of_seed * seed}
            )
        depth = percent if common else 10 + noise[-1]
        zoo.append({"name": name, "depth": depth, "parameters": 1000 + place % 3, "flops": 50 + place % 2})
    return Results("synthetic training", analogue=True, trainings=pd.DataFrame(rows), zoo=pd.DataFrame(zoo))


def checkpoints(*levels):
    """A study whose networks differ, and one network that was trained in several ways."""
    there = decade(others=lambda year: [0.5 + (year - 2012) / 30] * 3)
    return replace(there, checkpoints={f"way{n}": synthetic([level] * 3) for n, level in enumerate(levels)})


def by_method(scores, **criteria):
    """One network that was trained several times by each of several methods: the level of each method and seed."""
    there = {
        f"method{method}-{seed}": synthetic(
            [level, level + 0.1], criteria={name: [values[method][seed]] * 2 for name, values in criteria.items()}
        )
        for method, levels in enumerate(scores)
        for seed, level in enumerate(levels)
    }
    return Results("synthetic methods", checkpoints=there)


def measured_steadiness(score, others):
    """Three methods with two seeds each: the score and all criteria of table 3 differ by these shares."""
    levels = [[1.0, 1.05], [1.1, 1.15], [1.2, 1.25]]
    spread = [[other * (level - 1.125) / 0.125 + 1 for level in some] for other in [others] for some in levels]
    names = ("cka", "norm", "sparsity_after", "entropy_after")
    zero = [[0.0] * 2] * 3
    return by_method(
        [[0.5 + 0.5 * score * (level - 1.125) / 0.125 for level in some] for some in levels],
        **dict.fromkeys(names, spread),
        sparsity_before=zero,
        entropy_before=zero,
    )


def repeated(results, times):
    """The same with each training there so many times, as seeds that change nothing."""
    return replace(
        results, checkpoints={f"{name}{n}": one for name, one in results.checkpoints.items() for n in range(times)}
    )


def on_data(near, far, cifar100=None, networks=4):
    names = STUDY[:networks]
    here = {name: synthetic([0.3, 0.3]) for name in names}
    gaps = {"cifar10": near, "cifar100": near if cifar100 is None else cifar100, "random": far}
    there = {
        data: {name: synthetic([0.3, 0.3 + gap + 0.01 * n]) for n, name in enumerate(names)}
        for data, gap in gaps.items()
    }
    return Results("synthetic data", signatures=here, elsewhere=there)


def on_other_data(chance=0.02, networks=5, **gaps):
    """A study of networks with one activation, which moves by so much on each data set."""
    rows = []
    for number in range(networks):
        model = f"mini:net{number}"
        for place, (data, gap) in enumerate({"digits": 0.0, **gaps}.items()):
            rows.append((model, data.replace("_", "-"), 512, 1, 0, 0.3 + gap + 0.01 * number * place, np.nan))
        rows.append((model, "digits", 256, 2, 0, 0.3, chance * (1 + 0.1 * number)))
    columns = ["model", "dataset", "n", "batches", "index", "score", "score_std"]
    return Results("a synthetic study", studies={"other-data": pd.DataFrame(rows, columns=columns)})


def of_classes(*apart, networks=5):
    """A study of classes: for each activation how far they are apart, in standard deviations of random subsets."""
    generator = np.random.default_rng(0)
    rows = []
    for model in (f"mini:net{number}" for number in range(networks)):
        draws = generator.normal(0.5, 0.01, (49, len(apart)))
        classes = generator.normal(draws.mean(axis=0), 0.01 * np.array(apart), (10, len(apart)))
        signatures = [(f"digits:{number}", 0, scores) for number, scores in enumerate(classes)]
        signatures += [("digits", number, scores) for number, scores in enumerate(draws, 1)]
        rows += [(model, data, draw, i, score) for data, draw, scores in signatures for i, score in enumerate(scores)]
    study = pd.DataFrame(rows, columns=["model", "dataset", "draw", "index", "score"]).assign(n=58, batches=1)
    return Results("a synthetic study", studies={"classes": study})


def printed(**tables):
    """The printed numbers, some of them replaced."""
    return Results("the printed numbers", printed={name: printed_table(name) for name in printed_tables()} | tables)


def steadiness(score):
    table = printed_table("table3_resnet50_robustness")
    table.loc["affinity_score", "std"] = score
    return printed(table3_resnet50_robustness=table)


def consistent_rows():
    """Rows of table 2 that do have the printed means and deviations of table 1."""
    families = printed_table("table1_family_correlations")
    twins = {"VGGs": ("vgg11", "vgg13"), "ResNets": ("resnet18", "resnet34"), "ViTs": ("vit_b_16", "vit_b_32")}
    rows = {}
    for family, names in twins.items():
        for sign, name in zip((-1, 1), names, strict=True):
            rows[name] = {
                key: families.loc[family, f"{key}_mean"] + sign * families.loc[family, f"{key}_std"] for key in CRITERIA
            }
    return printed(table2_correlations=pd.DataFrame.from_dict(rows, orient="index"))


def average_rows(apart=0.0):
    wanted = printed_table("table2_average")["mean"] + apart
    return printed(table2_correlations=pd.DataFrame([wanted - 0.2, wanted + 0.2], ["a", "b"]))


def zigzags(efficient, others):
    """Networks of five efficient families and four others, whose scores go up and down by so much."""
    names = ("squeezenet1_0", "shufflenet_v2_x0_5", "mobilenet_v2", "mnasnet1_0", "efficientnet_b1")
    steps = dict.fromkeys(names, efficient) | dict.fromkeys(("alexnet", "vgg16", "googlenet", "densenet121"), others)
    return of_networks(
        {name: [0.6, 0.6 + step * (1 + number % 5 / 50)] * 3 for number, (name, step) in enumerate(steps.items())}
    )


def training(before, after):
    return replace(of_networks({"vgg16": after}), untrained={"vgg16": synthetic(before)})


def trainings(before, after, seeds=9, noise=0.01):
    """The same from several seeds."""
    names = [f"vgg16-{seed}" for seed in range(seeds)]
    generator = np.random.default_rng(0)
    both = [{name: np.clip(some + generator.normal(0, noise, 9), 0, 1) for name in names} for some in (before, after)]
    untrained = {name: synthetic(scores) for name, scores in both[0].items()}
    return replace(of_networks(both[1]), untrained=untrained)


def alike(vggs, others):
    """Four VGGs and twenty networks that are no pure convnets, at these levels."""
    names = [name for name in STUDY if network_table([name])["family"].iloc[0] != "Pure convnets"][:20]
    levels = dict(zip(("vgg11", "vgg13", "vgg16", "vgg19"), vggs, strict=True)) | dict.fromkeys(names, others)
    return of_networks({name: [level] * 3 for name, level in levels.items()})


def levels_of_families(step=0.1):
    """A level for each family, all networks of the same length."""
    families = ("Pure_convnets", "Inception", "ResNets", "DenseNets", "MNASNets", "EfficientNets", "ViTs", "Swins",
                "ConvNeXts")  # fmt: skip
    return decade(
        **{name: lambda year, at=n: [step * at + (year - 2015) * 1e-3] * 2 for n, name in enumerate(families)}
    )


def lengths_of_families():
    """Members of a family have the same number of activations, and all scores are noise."""
    family = network_table(STUDY)["family"]
    of_family = {name: 4 * number for number, name in enumerate(dict.fromkeys(family), 2)}
    generator = np.random.default_rng(0)
    return of_networks({name: generator.uniform(0.4, 0.9, of_family[family[name]]) for name in STUDY})


def mixed_up():
    return of_networks({name: [0.9 - 0.8 * ((7 * place) % 36) / 36] for place, name in enumerate(STUDY)})


def noise():
    generator = np.random.default_rng(0)
    return of_networks({name: generator.uniform(0.4, 0.9, generator.integers(5, 40)) for name in STUDY})


def in_batches(*changes, noise=0.01, apart=0.1, batches=9):
    """A study of batch sizes: ten scores of each network, by how much they fall from n = 128 to 1024."""
    rows = [
        {"model": f"net{number}", "index": index, "n": n, "batches": 1 if n == 2048 else batches,
         "score": 0.3 + apart * number + 0.05 * index + change * (1024 / n - 1) / 7, "score_std": noise}
        for number, change in enumerate(changes)
        for n in (128, 512, 1024, 2048)
        for index in range(10)
    ]  # fmt: skip
    return Results("synthetic batches", studies={"batch-size": pd.DataFrame(rows)})


def trained_again(spread, seeds=9):
    """A study of seeds: ten scores of a network, by how much trainings differ; with networks that differ."""
    shift = np.random.default_rng(0).normal(0, spread, (seeds, 10))
    rows = [
        {"network": "vgg16", "seed": seed + 1, "n": 512, "batches": 1, "index": index,
         "score": 0.3 + 0.05 * index + shift[seed, index]}
        for seed in range(seeds)
        for index in range(10)
    ]  # fmt: skip
    there = decade(others=lambda year: [0.5 + (year - 2012) / 30] * 3)
    return replace(there, studies={"seeds": pd.DataFrame(rows)})


RISING = [*np.linspace(0.7, 0.95, 6), 0.97, 0.975, 0.98]
TWO_MODES = [0.50, 0.52, 0.53, 0.55, 0.56, 0.58, 0.90, 0.92, 0.93, 0.95, 0.96, 0.98]
ONE_MODE = list(0.7 + 0.02 * norm.ppf(np.linspace(0.02, 0.98, 12)))
HIGH_SKEW, LOW_SKEW, EVEN = [0.5, 0.97, 0.98, 0.98, 0.99], [0.5, 0.51, 0.52, 0.53, 0.99], [0.5, 0.6, 0.7, 0.8, 0.9]
PLATEAU, HIGH_PLATEAU = [0.29, 0.31] * 8, [0.91, 0.93] * 8


def on_paths(density=0.0, seeds=3, sign=-1, score=None, relative=1, images=8):
    """Segments whose crossings and deviation have about such a correlation; deviations and scores by way of training.

    Args:
        density: Of each segment's deviation the share that follows its crossings.
        seeds: Of each architecture.
        sign: With which the mean score follows the deviation over the ways.
        score: Of a way, if it does not.
        relative: With which sign the relative deviation follows the absolute one over the ways.
        images: Around which the paths are.
    """
    draw = np.random.default_rng(7)
    segments, scores = [], []
    ways = list(enumerate(WAYS_OF_TRAINING))
    for network, seed, (place, way) in itertools.product(("vgg8", "resnet8"), range(1, seeds + 1), ways):
        crossings = draw.permutation(8 * images)
        deviation = 100 * place + density * crossings + (1 - abs(density)) * draw.permutation(8 * images) + 1
        about = {"network": network, "way": way, "seed": seed, "accuracy": 0.9, "fitted": 1.0}
        about |= dict.fromkeys(("length", "breakpoints", "deviation_upper_bound"), 1.0)
        about |= {"path": np.repeat(np.arange(images), 8), "total_variation": deviation / (10 + relative * place)}
        segments.append(pd.DataFrame(about | {"crossings": crossings, "absolute_deviation": deviation}))
        mean = 0.5 + 0.05 * sign * place if score is None else score[place]
        scores.append({"network": network, "way": way, "seed": seed, "n": 512, "batches": 1, "score": mean})
    return Results("synthetic paths", studies={"regions-paths": pd.concat(segments), "regions": pd.DataFrame(scores)})


WAYS_OF_TRAINING = ("vanilla", "augmented", "noise-0.2", "noise-0.4", "noise-0.6", "noise-1.0")


def widths(deviation=-1, error=-1, score=1, fitted=(2, 4, 8, 16, 32, 64)):
    """Networks of several widths, at which measures rise or fall with the width."""
    rows, scores = [], []
    for width, seed in itertools.product((1, 2, 4, 8, 16, 32, 64), range(3)):
        size = np.log2(width) + 0.01 * seed
        about = {"network": f"vgg8_{width}", "way": "noise-0.2", "seed": seed, "fitted": float(width in fitted)}
        about |= dict.fromkeys(("length", "crossings", "breakpoints", "deviation_upper_bound", "total_variation"), 1.0)
        trends = {"absolute_deviation": 10 + deviation * size, "accuracy": 0.5 - error * size / 10}
        rows.append({**about, **trends, "path": 0})
        scores.append({**about, "n": 512, "batches": 1, "score": 0.5 + score * size / 10})
    studies = {"regions-width-paths": pd.DataFrame(rows), "regions-width": pd.DataFrame(scores)}
    return Results("synthetic widths", studies=studies)


# of each claim results on which it holds, and results on which it does not; None where a test that rejects nothing
# leaves the claim open
CASES = {
    "relu-and-gelu-near-zero": (
        lambda: domain(relu=low(0.02), gelu=low(0.09)),
        lambda: domain(relu=low(0.02), gelu=low(0.11)),
    ),
    "sigmoid-not-near-zero": (lambda: domain(sigmoid=low(0.12)), lambda: domain(sigmoid=low(0.09))),
    "wide-and-narrow": (
        lambda: domain(sigmoid=low(0.5, 9), gelu=low(0.5, 6), relu=low(0.5, 2)),
        lambda: domain(sigmoid=low(0.5, 9), gelu=low(0.5, 5), relu=low(0.5, 2)),
    ),
    "tanh-lower-than-sigmoid": (
        lambda: domain(tanh=low(0.05), sigmoid=low(0.2)),
        lambda: domain(tanh=low(0.15), sigmoid=low(0.2)),
    ),
    "leaky-relu-more-linear": (
        lambda: domain(leaky_relu=[0.97] * 20, relu=[0.96] * 20, relu6=[0.9] * 20),
        lambda: domain(leaky_relu=[0.95] * 20, relu=[0.96] * 20, relu6=[0.9] * 20),
    ),
    "relu-more-than-sigmoid": (
        lambda: reduced(relu=0.6, tanh=0.8, sigmoid=0.9),
        lambda: wide(relu=(0.6, 0.6), tanh=(0.8, 0.55), sigmoid=(0.9, 0.7)),
    ),
    "reductions-agree": (lambda: reduced(0.6, 0.6, 0.61), lambda: reduced(0.6, 0.6, 0.63)),
    "sample-covariance-drifts": (lambda: along("empirical", (0.1, 0.3)), lambda: along("empirical", (0.1, 0.11))),
    "shrinkage-is-constant": (lambda: along("ledoit-wolf", (0.0, 0.01)), lambda: along("ledoit-wolf", (0.0, 0.2))),
    "googlenet-range": (
        lambda: of_networks({"googlenet": [0.58, 0.7, 0.93]}),
        lambda: of_networks({"googlenet": [0.5, 0.7, 0.93]}),
    ),
    "inception-v3-further": (
        lambda: of_networks({"googlenet": [0.6, 0.9], "inception_v3": [0.6, 0.95]}),
        lambda: of_networks({"googlenet": [0.6, 0.9], "inception_v3": [0.7, 0.95]}),
    ),
    "transitions-linearise": (
        lambda: with_layers(("densenet121", "densenet161"), 0.95, 0.7, "features.transition1.relu"),
        lambda: with_layers(
            ("densenet121", "densenet161"), 0.8, 0.7, "features.transition1.relu"
        ),  # a third of the way
    ),
    "densenet-below-resnet": (
        lambda: of_networks({"densenet161": [0.6, 0.7], "resnet152": [0.7, 0.8]}),
        lambda: of_networks({"densenet161": [0.7, 0.8], "resnet152": [0.6, 0.7]}),
    ),
    "squeeze-layers-linearise": (
        lambda: with_layers(("squeezenet1_0", "squeezenet1_1"), 0.95, 0.7, "features.3.squeeze_activation"),
        lambda: with_layers(("squeezenet1_0", "squeezenet1_1"), 0.6, 0.7, "features.3.squeeze_activation"),
    ),
    "efficient-designs-shake": (lambda: zigzags(0.2, 0.05), lambda: zigzags(0.05, 0.2)),
    "small-patches-early": (
        lambda: of_networks({"vit_l_16": np.linspace(0.2, 0.6, 12)}),
        lambda: of_networks({"vit_l_16": np.linspace(0.6, 0.2, 12)}),
    ),
    "large-patches-plateau": (
        lambda: of_networks({"vit_l_32": [0.5, 0.31, 0.3, 0.31, 0.3, 0.31, 0.3, 0.95]}),
        lambda: of_networks({"vit_l_32": [0.5, 0.31, 0.3, 0.31, 0.3, 0.31, 0.3, 0.7]}),  # a step, and not linear
    ),
    "training-bends": (lambda: training(RISING, [0.6] * 9), lambda: training(RISING[::-1], [0.6] * 9)),
    "after-sums-more-linear": (
        lambda: residual((0.6, 0.6, 0.6), (0.8, 0.81, 0.82)),
        lambda: residual((0.6, 0.6, 0.6), (0.4, 0.41, 0.42)),
    ),
    "deeper-approaches-one": (
        lambda: residual([0.6] * 5, (0.7, 0.8, 0.85, 0.9, 0.95)),
        lambda: residual([0.6] * 5, (0.95, 0.9, 0.85, 0.8, 0.7)),
    ),
    "shortcuts-make-two-modes": (lambda: pairs(TWO_MODES, ONE_MODE), lambda: pairs(ONE_MODE, TWO_MODES)),
    "shortcuts-make-two-components": (lambda: pairs(TWO_MODES, ONE_MODE), lambda: pairs(ONE_MODE, TWO_MODES)),
    "groups-are-kinds": (lambda: blocks(0.6, 0.95, 0.6), lambda: blocks(0.6, 0.6, 0.95)),
    "resnets-bimodal": (lambda: of_networks(dict.fromkeys(RESNETS[:2], TWO_MODES)), None),
    "upper-group-is-linear": (
        lambda: residual((0.6, 0.6, 0.6), (0.94, 0.945, 0.95)),
        lambda: residual((0.6, 0.6, 0.6), (0.7, 0.71, 0.72)),
    ),
    "pure-convnets-low-spread": (
        lambda: decade(Pure_convnets=lambda year: [0.69, 0.7, 0.71]),
        lambda: decade(Pure_convnets=lambda year: [0.2, 0.7, 0.9]),
    ),
    "inception-widens": (
        lambda: decade(Inception=lambda year: [0.5, 0.7, 0.9]),
        lambda: decade(Inception=lambda year: [0.65, 0.7, 0.9]),
    ),
    "spread-grows-until-2020": (
        lambda: decade(others=lambda year: [0.5, 0.6, 0.6 + (year - 2010) / 30]),
        lambda: decade(others=lambda year: [0.5, 0.6, 0.95 - (year - 2010) / 30]),
    ),
    "less-non-linear-until-2020": (
        lambda: decade(others=lambda year: [0.5, 0.5 + (year - 2010) / 30, 0.95]),
        lambda: decade(others=lambda year: [0.5, 0.9 - (year - 2010) / 30, 0.95]),
    ),
    "vits-most-non-linear": (
        lambda: decade(ViTs=lambda year: [0.1, 0.2, 0.8], Swins=lambda year: [0.1, 0.1, 0.1]),  # the Swins are later
        lambda: decade(ResNets=lambda year: [0.1, 0.2, 0.8]),
    ),
    "efficientnets-skewed": (
        lambda: decade(EfficientNets=lambda year: HIGH_SKEW),
        lambda: decade(EfficientNets=lambda year: LOW_SKEW),
    ),
    "densenets-skewed-against-vits": (
        lambda: decade(DenseNets=lambda year: HIGH_SKEW, ViTs=lambda year: LOW_SKEW),
        lambda: decade(DenseNets=lambda year: HIGH_SKEW, ViTs=lambda year: HIGH_SKEW),
    ),
    "back-to-convnets": (
        lambda: decade(ViTs=lambda year: [0.1, 0.1, 0.1]),
        lambda: decade(Swins=lambda year: [0.1, 0.1, 0.1], ConvNeXts=lambda year: [0.1, 0.1, 0.1]),
    ),
    "vggs-alike": (lambda: alike((0.3, 0.3, 0.3, 0.3), 0.7), None),
    "families-are-found": (levels_of_families, lengths_of_families),
    "no-outliers": (levels_of_families, mixed_up),
    "no-criterion-says-the-same": (
        lambda: with_correlations(cka=[0.9] * 11 + [-0.9]),
        lambda: with_correlations(cka=[0.9] * 12),
    ),
    "cka-fits-densenets-only": (
        lambda: with_correlations(cka=[0.9] * 6 + [0.2] * 5 + [-0.6]),
        lambda: with_correlations(cka=[0.9] * 5 + [0.1] * 6 + [-0.6]),
    ),
    "seeds-change-little": (lambda: with_trainings("mean", of_seed=0.001), lambda: with_trainings("mean", of_seed=0.3)),
    "other-training-changes-little": (
        lambda: checkpoints(*np.linspace(0.7, 0.71, 9)),
        lambda: checkpoints(*np.linspace(0.3, 0.9, 9)),
    ),
    "methods-are-found": (
        lambda: by_method([[level, level + 0.001, level + 0.002] for level in (0.5, 0.6, 0.7)]),
        lambda: by_method([[seed / 3 + 0.01 * method for seed in range(3)] for method in range(3)]),
    ),
    "noise-is-further-than-cifar": (lambda: on_data(0.1, 0.4), lambda: on_data(0.4, 0.1)),
    "nearer-data-are-like-the-first": (
        lambda: on_other_data(digits_inverted=0.1, digits_shuffled=0.4),
        lambda: on_other_data(digits_inverted=0.4, digits_shuffled=0.1),
    ),
    "other-data-move-signatures": (lambda: on_other_data(random=0.1), lambda: on_other_data(0.2, random=0.1)),
    "class-more-than-draw": (lambda: of_classes(2, 2, 2, 2), lambda: of_classes(0.3, 0.3, 0.3, 0.3)),
    "late-activations-know-the-class": (lambda: of_classes(1, 2, 4, 8, 16), lambda: of_classes(16, 8, 4, 2, 1)),
    "density-is-noisy": (on_paths, partial(on_paths, density=0.9)),
    "wide-networks-are-locally-linear": (widths, partial(widths, deviation=1, error=1)),
    "score-sees-deviation": (on_paths, partial(on_paths, sign=1)),
    "score-rises-with-width": (widths, partial(widths, score=-1)),
    "score-sees-relative-deviation": (on_paths, partial(on_paths, relative=-1)),
    "signature-explains-accuracy": (lambda: with_trainings("mean"), lambda: with_trainings(common=True)),
    "spread-then-level": (
        lambda: with_trainings("std", min=-0.002),
        lambda: with_trainings("std", slope=-0.004, min=-0.002),
    ),
    "statistic-predicts-accuracy": (lambda: with_trainings("max"), None),
    "efficient-networks-penalised": (lambda: with_trainings("max", slope=-0.004), lambda: with_trainings("max")),
    "transformers-better-when-bent": (lambda: with_trainings("mean", slope=-0.004), lambda: with_trainings("mean")),
    "steadiest-criterion": (lambda: steadiness(0.005), lambda: steadiness(0.9)),
    "table-1-sums-up-table-2": (consistent_rows, printed),
    "average-of-table-2": (average_rows, printed),
    "batch-size-keeps-the-signature": (lambda: in_batches(*[0.02] * 4), lambda: in_batches(*[-0.2] * 4)),
    "batch-size-keeps-networks-apart": (lambda: in_batches(*[0.02] * 4), lambda: in_batches(*[0.2] * 4, apart=0.002)),
    "images-change-little": (lambda: in_batches(0.01, 0.01), lambda: in_batches(0.01, 0.01, noise=0.1)),
    "seeds-keep-the-signature": (lambda: trained_again(0.02), lambda: trained_again(0.4)),
    "linear-early-costs-more": (
        lambda: of_slopes(trainings_of("sum", collapse(4), collapse(2))),
        lambda: of_slopes(trainings_of("sum", collapse(2), collapse(4))),
    ),
    "gap-vanishes-on-easy-tasks": (
        lambda: of_slopes(trainings_of("digits", EASY)),
        lambda: of_slopes(trainings_of("digits", collapse(4, 0.05), collapse(1, 0.08))),
    ),
    "many-channels-can-go": (
        lambda: of_slopes(trainings_of("sum", collapse(8))),
        lambda: of_slopes(trainings_of("sum", collapse(8)), trainings_of("digits", collapse(1))),
    ),
    "slow-decay-then-collapse": (
        lambda: of_slopes(trainings_of("sum", collapse(4))),
        lambda: of_slopes(trainings_of("sum", collapse(0.25))),
    ),
    "better-than-widened-plain-networks": (
        lambda: of_slopes(trainings_of("sum", collapse(4), plain={3: 0.5, 5: 0.8})),
        lambda: of_slopes(trainings_of("sum", collapse(4), plain={3: 0.5, 5: 0.95})),
    ),
    "core-of-constant-size": (lambda: four_sizes(0.25, 0.25), lambda: four_sizes(0.25, 0.5)),
    "core-depends-on-the-task": (
        lambda: of_slopes(trainings_of("sum", collapse(4)), trainings_of("larger", collapse(8))),
        None,
    ),
    "low-scores-survive": (
        lambda: of_slopes(trainings_of("sum", EASY), score={0: 0.5, 1: 0.7, 2: 0.6, 3: 0.9}),
        lambda: of_slopes(trainings_of("sum", EASY), score={0: 0.9, 1: 0.6, 2: 0.7, 3: 0.5}),
    ),
    "low-channels-survive": (
        lambda: of_slopes(trainings_of("sum", EASY, auc=0.6)),
        lambda: of_slopes(trainings_of("sum", EASY, auc=0.6), trainings_of("digits", EASY, auc=0.4)),
    ),
    "affinity-chooses-channels-well": (lambda: with_criteria(0.9, 0.8), lambda: with_criteria(0.8, 0.9)),
}

CASES |= {
    f"training-for-scores-changes-{what}": (lambda: steered(low=-0.1), lambda: steered())
    for what in ("accuracy", "robustness", "transfer")
}

CASES |= {
    "gates-show-in-language-models": (lambda: language(gap=-0.03), lambda: language(gap=0.0)),
    "training-bends-language-models": (lambda: language(fall=0.1), lambda: language(fall=-0.1)),
}

SINGLE = {"digits": {"batches": 1}}

# further results, and what they decide: None where they are compatible with both
EDGES = [
    ("training-for-scores-changes-accuracy", lambda: steered(high=0.1), True),
    ("training-for-scores-changes-accuracy", lambda: steered(low=-0.02, noise=0.05), None),
    ("training-for-scores-changes-robustness", lambda: steered(noise=0.05), None),
    ("gates-show-in-language-models", lambda: language(gap=0.03), True),
    ("gates-show-in-language-models", lambda: language(gap=0.02, noise=0.05), None),
    ("gates-show-in-language-models", lambda: language(gap=0.0, noise=0.05), None),
    ("training-bends-language-models", lambda: language(fall=0.01, noise=0.05), None),
    ("training-bends-language-models", lambda: language(fall=0.1, with_gates=-0.3), False),
    ("efficient-designs-shake", lambda: zigzags(0.1, 0.1), None),
    # each part of a claim alone
    ("relu-more-than-sigmoid", lambda: wide(relu=(0.6, 0.6), tanh=(0.8, 0.7), sigmoid=(0.9, 0.8)), True),
    ("relu-more-than-sigmoid", lambda: reduced(relu=0.85, tanh=0.9, sigmoid=0.8), False),
    ("leaky-relu-more-linear", lambda: domain(leaky_relu=[0.97] * 20, relu=[0.9] * 20, relu6=[0.98] * 20), False),
    ("wide-and-narrow", lambda: domain(sigmoid=low(0.5, 5), gelu=low(0.5, 9), relu=low(0.5, 2)), False),
    ("sample-covariance-drifts", lambda: along("empirical", (0.1, 0.3), first=(0.1, 0.11)), False),
    ("sample-covariance-drifts", lambda: along("empirical", (0.3, 0.1)), False),
    ("shrinkage-is-constant", lambda: along("ledoit-wolf", (0.0, 0.01), first=(0.0, -0.1)), False),
    ("googlenet-range", lambda: of_networks({"googlenet": [0.6, 0.7, 0.96]}), False),
    ("inception-v3-further", lambda: of_networks({"googlenet": [0.6, 0.9], "inception_v3": [0.5, 0.88]}), False),
    ("training-bends", lambda: training([*np.linspace(0.5, 0.79, 6), 0.8, 0.8, 0.801], [0.4] * 9), False),
    ("training-bends", lambda: training(RISING, [0.99] * 9), False),
    ("training-bends", lambda: trainings(RISING, [0.6] * 9), True),
    ("training-bends", lambda: trainings(RISING[::-1], [0.6] * 9), False),
    ("training-bends", lambda: trainings(RISING, [0.6] * 9, seeds=2, noise=0.1), None),
    ("groups-are-kinds", lambda: blocks(0.6, 0.95, 0.95), None),  # as far apart without shortcuts
    ("steadiest-criterion", lambda: measured_steadiness(0.01, 0.1), True),
    ("steadiest-criterion", lambda: measured_steadiness(0.1, 0.01), False),
    ("methods-are-found", lambda: by_method([[0.5, 0.51], [0.6, 0.61]]), None),  # one in three by chance
    ("deeper-approaches-one", lambda: residual([0.5] * 5, (0.55, 0.6, 0.65, 0.7, 0.8)), False),
    ("inception-widens", lambda: decade(Inception=lambda year: [0.5, 0.7, 0.78]), False),
    ("vits-most-non-linear", lambda: decade(ViTs=lambda year: [0.1, 0.9, 0.95]), False),
    (
        "densenets-skewed-against-vits",
        lambda: decade(DenseNets=lambda year: LOW_SKEW, ViTs=lambda year: LOW_SKEW),
        False,
    ),
    (
        "spread-grows-until-2020",
        lambda: decade(others=lambda year: [0.9 - (year - 2010) / 30, 0.92, 0.95 - (year - 2010) / 1000]),
        False,
    ),
    ("noise-is-further-than-cifar", lambda: on_data(0.1, 0.3, cifar100=0.5), False),
    ("noise-is-further-than-cifar", lambda: on_other_data(digits_noisy=0.1, digits_inverted=0.2, random=0.4), True),
    ("noise-is-further-than-cifar", lambda: on_other_data(digits_noisy=0.1, digits_inverted=0.5, random=0.4), False),
    ("other-data-move-signatures", lambda: on_other_data(0.2, digits_noisy=0.1, random=0.6), False),
    ("no-criterion-says-the-same", lambda: with_correlations(norm=[-0.9] * 12), False),
    ("large-patches-plateau", lambda: of_networks({"vit_l_32": [*HIGH_PLATEAU, 0.93]}), None),  # linear all along
    ("large-patches-plateau", lambda: of_networks({"vit_l_32": [*PLATEAU, 0.99]}), True),
    ("average-of-table-2", lambda: average_rows(apart=0.008), True),
    ("average-of-table-2", lambda: average_rows(apart=0.02), False),
    # compatible with both
    ("sigmoid-not-near-zero", lambda: domain(sigmoid=low(0.101)), None),
    ("after-sums-more-linear", lambda: residual((0.6, 0.6, 0.6), (0.7, 0.8, 0.9)), None),
    ("transitions-linearise", lambda: with_layers(("densenet121",), 0.95, 0.7, "features.transition1.relu"), None),
    ("deeper-approaches-one", lambda: residual([0.6] * 4, (0.7, 0.8, 0.9, 0.95)), None),
    ("upper-group-is-linear", lambda: residual((0.6, 0.6, 0.6), (0.87, 0.91, 0.95)), None),
    ("shortcuts-make-two-modes", lambda: pairs(TWO_MODES, ONE_MODE, count=5), None),  # a chance of 1 in 16
    ("shortcuts-make-two-modes", lambda: pairs(TWO_MODES, TWO_MODES), None),
    ("resnets-bimodal", lambda: of_networks({"resnet18": TWO_MODES, "resnet34": ONE_MODE}), None),
    ("efficientnets-skewed", lambda: of_networks({"efficientnet_b1": HIGH_SKEW, "efficientnet_b2": EVEN}), None),
    ("efficientnets-skewed", lambda: of_networks({"efficientnet_b1": HIGH_SKEW}), None),
    ("back-to-convnets", lambda: decade(ViTs=lambda year: [0.4] * 3, ConvNeXts=lambda year: [0.0] * 3), None),
    ("families-are-found", mixed_up, False),
    ("families-are-found", noise, None),
    ("vggs-alike", lambda: alike((0.1, 0.95, 0.1, 0.95), 0.5), None),
    ("no-criterion-says-the-same", lambda: with_correlations(activations=12, cka=[0.8] * 11 + [0.3]), None),
    ("cka-fits-densenets-only", lambda: with_correlations(cka=[0.9] * 6 + [0.2] * 5 + [-0.1]), None),
    ("seeds-change-little", lambda: with_trainings("mean", of_seed=0.045), None),
    ("seeds-change-little", lambda: trained_again(0.02), True),
    ("seeds-change-little", lambda: trained_again(0.15), None),
    ("seeds-change-little", lambda: trained_again(1.0), False),
    ("batch-size-keeps-the-signature", lambda: in_batches(0.01, 0.01, 0.4, 0.4), None),
    ("batch-size-keeps-networks-apart", lambda: in_batches(*[0.1] * 4), None),
    ("seeds-keep-the-signature", lambda: trained_again(0.1, seeds=3), None),
    ("other-training-changes-little", lambda: checkpoints(0.6, 0.7, 0.75), None),
    ("noise-is-further-than-cifar", lambda: on_data(0.1, 0.4, networks=1), None),
    ("noise-is-further-than-cifar", lambda: on_other_data(networks=1, digits_noisy=0.1, random=0.4), None),
    ("nearer-data-are-like-the-first", lambda: on_other_data(digits_inverted=0.2, digits_shuffled=0.18), None),
    ("class-more-than-draw", lambda: of_classes(2, 2, networks=1), None),
    ("class-more-than-draw", lambda: of_classes(1, 1, 1, 1), None),
    ("late-activations-know-the-class", lambda: of_classes(2, 2, 2, 2), None),
    ("density-is-noisy", partial(on_paths, density=-0.9), False),
    ("density-is-noisy", partial(on_paths, seeds=1), None),
    ("density-is-noisy", partial(on_paths, images=1), None),
    ("density-is-noisy", partial(on_paths, density=0.25), None),
    ("wide-networks-are-locally-linear", partial(widths, deviation=1), False),
    ("wide-networks-are-locally-linear", partial(widths, error=1), False),
    ("wide-networks-are-locally-linear", partial(widths, fitted=(2, 4, 8)), None),
    ("score-sees-deviation", partial(on_paths, score=[0.5, 0.6, 0.4, 0.55, 0.7, 0.5]), None),
    ("score-sees-relative-deviation", partial(on_paths, score=[0.5, 0.6, 0.4, 0.55, 0.7, 0.5]), None),
    ("score-sees-relative-deviation", partial(on_paths, sign=1), False),
    ("score-rises-with-width", partial(widths, fitted=(2, 4, 8)), None),
    ("spread-then-level", lambda: with_trainings("std"), None),
    ("statistic-predicts-accuracy", with_trainings, None),
    ("efficient-networks-penalised", with_trainings, None),
    ("steadiest-criterion", printed, None),
    (
        "spread-grows-until-2020",
        lambda: decade(others=lambda year: [0.5, 0.6, 0.7 + (3 * year % 11) / 60 + (year - 2010) / 200]),
        None,
    ),
]

# results that have nothing to say
SILENT = [
    ("training-for-scores-changes-accuracy", lambda: steered(targets=["low", "high"])),
    ("training-for-scores-changes-transfer", lambda: steered(targets=["free"])),
    ("gates-show-in-language-models", lambda: language(seeds=1)),
    ("gates-show-in-language-models", lambda: language(networks=["char_gpt"])),
    ("training-bends-language-models", lambda: language(ways=["language"])),
    ("efficient-designs-shake", lambda: of_networks({"mobilenet_v2": [0.5, 0.9] * 3, "alexnet": [0.5, 0.6] * 3})),
    ("wide-networks-are-locally-linear", partial(widths, fitted=(8, 16))),
    ("score-rises-with-width", partial(widths, fitted=())),
    ("score-sees-deviation", widths),
    ("density-is-noisy", widths),
    ("small-patches-early", lambda: of_networks({"vit_l_16": np.linspace(0.2, 0.6, 5)})),
    ("large-patches-plateau", lambda: of_networks({"vit_l_32": [0.3, 0.31, 0.3, 0.31, 0.7]})),
    ("pure-convnets-low-spread", lambda: residual([0.6] * 5, [0.7] * 5)),
    ("families-are-found", lambda: residual([0.6] * 5, [0.7] * 5)),
    ("resnets-bimodal", lambda: of_networks({"resnet18": TWO_MODES})),
    ("batch-size-keeps-the-signature", lambda: in_batches(0.01)),
    ("batch-size-keeps-networks-apart", lambda: in_batches(0.01)),
    ("images-change-little", lambda: in_batches(0.01, 0.01, batches=1)),
    ("seeds-keep-the-signature", lambda: trained_again(0.01, seeds=2)),
    ("shortcuts-make-two-modes", lambda: of_networks({"resnet20": TWO_MODES})),
    ("training-bends", lambda: of_networks({"vgg16": [0.6] * 9})),
    ("noise-is-further-than-cifar", lambda: on_other_data(digits_noisy=0.1)),
    ("nearer-data-are-like-the-first", lambda: on_other_data(digits_inverted=0.1, random=0.4)),
    ("groups-are-kinds", lambda: of_networks({"resnet20": TWO_MODES})),
    ("methods-are-found", lambda: checkpoints(0.5, 0.6, 0.7)),  # each of a method of its own
    ("steadiest-criterion", lambda: checkpoints(0.5, 0.6)),
    ("no-criterion-says-the-same", lambda: fewer(with_correlations())),
    ("cka-fits-densenets-only", lambda: fewer(with_correlations(cka=[0.9] * 6 + [-0.6] * 6))),
]


def fewer(results):
    return replace(results, correlations=results.correlations.iloc[:45])


def claim_named(name):
    return next(claim for claim in all_claims() if claim.name == name)


def decided(name, results):
    verdict = claim_named(name).decide(results)
    assert verdict is not None
    return verdict


each_claim = pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.name)
each_edge = pytest.mark.parametrize(
    ("name", "make", "holds"), EDGES, ids=[f"{n}-{h}-{i}" for i, (n, _, h) in enumerate(EDGES)]
)


def test_there_are_cases_for_every_claim():
    assert {claim.name for claim in all_claims()} == set(CASES)
    assert len({claim.name for claim in all_claims()}) == len(all_claims())
    assert len({claim.number for claim in all_claims()}) == len(all_claims())


@each_claim
def test_a_claim_holds_on_data_that_are_as_it_says(claim):
    verdict = claim.decide(CASES[claim.name][0]())
    assert verdict is not None
    assert verdict.holds is True, verdict.found


@pytest.mark.parametrize("claim", [one for one in all_claims() if CASES[one.name][1]], ids=lambda claim: claim.name)
@pytest.mark.slow
def test_a_claim_does_not_hold_on_data_that_are_otherwise(claim):
    verdict = claim.decide(CASES[claim.name][1]())
    assert verdict is not None
    assert verdict.holds is False, verdict.found


@each_claim
def test_a_claim_is_left_open_where_nothing_is_known(claim):
    assert claim.decide(Results("nothing")) is None
    assert claim.decide(of_networks({"mobilenet_v2": [0.5, 0.6]})) is None


@each_edge
@pytest.mark.slow
def test_each_part_and_each_limit_of_a_claim_decides(name, make, holds):
    verdict = decided(name, make())
    assert verdict.holds is holds, verdict.found


@pytest.mark.parametrize(("name", "make"), SILENT, ids=[name for name, _ in SILENT])
def test_too_little_says_nothing(name, make):
    assert claim_named(name).decide(make()) is None


def test_a_single_batch_of_a_single_training_has_no_error_and_decides_nothing():
    one = {
        name: synthetic([0.6, 0.9], name, batches=1)
        for name in ("googlenet", "inception_v3", "densenet161", "resnet152")
    }
    for name in ("googlenet-range", "inception-v3-further", "densenet-below-resnet"):
        assert claim_named(name).decide(Results("one batch", signatures=one)) is None


def test_more_seeds_of_the_same_methods_are_no_more_evidence():
    few = replace(checkpoints(), checkpoints=by_method([[0.6], [0.65], [0.72]]).checkpoints)
    first, again = (other_training_changes_little.decide(some) for some in (few, repeated(few, 9)))
    assert "27 trainings" in again.tested_on
    assert first == replace(again, tested_on=first.tested_on)
    once = measured_steadiness(0.05, 0.1)
    one, many = (table_3._measured_spreads(results)[1] for results in (once, repeated(once, 9)))
    for lead, again in zip(one, many, strict=True):
        assert (again.value, again.error, again.freedom) == pytest.approx((lead.value, lead.error, 2))


def test_estimates():
    """Student's interval of a mean, Welch's of a difference, and a number of one measurement that decides nothing."""
    one, other = mean_of([1.0, 2.0, 3.0, 4.0]), mean_of([0.0, 0.1, 0.2])
    assert one.error == pytest.approx(np.std([1, 2, 3, 4], ddof=1) / 2)
    half = 3.182446 * one.error  # the quantile of three degrees of freedom
    assert one.interval() == pytest.approx((2.5 - half, 2.5 + half), abs=1e-5)
    assert one.interval(together=4)[0] < one.interval()[0]
    lead = one - other
    assert lead.value == pytest.approx(2.4)
    assert lead.error == pytest.approx(np.hypot(one.error, other.error))
    assert 3 <= lead.freedom < 5
    assert (lead.above(), lead.below(), lead.above(2.4), mean_of([5.0]).above()) == (True, False, None, None)
    assert (Estimate(1.0, 0.0, 3) - Estimate(0.5, 0.0, 3)).above(0.4)
    assert [every(parts) for parts in ([], [True, None], [None, False], [True])] == [True, None, False, True]


def test_several_numbers_differ_from_zero_together():
    near, wide, far = Estimate(0.0, 0.001, 4), Estimate(0.0, 1.0, 4), Estimate(3.0, 1.0, 4)  # t of 3; 2.78 is enough
    assert [differ(some, 0.01) for some in ([near], [wide], [far])] == [False, None, True]
    assert differ([far, near], 0.01) is None  # for two together it is not
    assert differ([near, near], 0.01) is False
    assert differ([near, wide], 0.01) is None
    assert differ([near, Estimate(-9.0, 1.0, 4)], 0.01) is True


def test_results_leave_out_missing_scores_and_take_parts_of_names_as_they_are():
    layers = ["block.1", "block_1", "block_1", "block.12"]
    results = of_networks({"resnet18": [0.5, np.nan, 0.6, 0.7]}, layers={"resnet18": layers})
    assert results.scores("resnet18").tolist() == [0.5, 0.6, 0.7]
    ((chosen, others),) = results.inside_and_outside("resnet", "layer", "block.1")
    assert (chosen.tolist(), others.tolist()) == ([0.5, 0.7], [0.6])


def test_the_error_of_a_network_is_that_of_its_trainings_or_of_its_batches():
    noisy = {"googlenet": synthetic([0.6, 0.9], "googlenet", noise=0.02, batches=4)}
    of_batches = Results("batches", signatures=noisy).estimate("googlenet", "min")
    assert of_batches.value == pytest.approx(0.6)
    assert of_batches.error == pytest.approx(np.std([-0.03, -0.01, 0.01, 0.03], ddof=1) / 2)
    assert of_batches.freedom == 3
    of_seeds = with_trainings("mean", of_seed=0.1).estimate("googlenet", "mean")
    assert of_seeds.error == pytest.approx(0.05)
    with pytest.raises(MissingResultsError):
        with_trainings("mean").estimate("mine", "mean")


def test_averages_name_the_criterion_that_is_most_apart():
    rows = average_rows().printed["table2_correlations"]
    found = decided("average-of-table-2", printed(table2_correlations=rows.assign(norm=rows["norm"] + 0.3))).found
    assert found.startswith("1 of")
    assert "most apart is norm" in found


@pytest.mark.parametrize("name", ["spread-grows-until-2020", "less-non-linear-until-2020"])
@pytest.mark.slow
def test_a_trend_that_a_few_designs_do_not_show_decides_nothing(name):
    """Neither a rise nor a fall beyond chance: no evidence is none in either direction."""
    generator = np.random.default_rng(1)
    results = decade(others=lambda year: np.sort(generator.uniform(0.4, 0.9, 5)))
    assert decided(name, results).holds is None


def test_a_nearness_within_chance_decides_nothing():
    generator = np.random.default_rng(0)
    results = decade(others=lambda year: generator.uniform(0.5, 0.8, 3))
    assert decided("back-to-convnets", results).holds is None


def test_a_statistic_that_only_tells_families_apart_is_no_evidence():
    """Within a group accuracy goes with the family alone, and so does the statistic; within families both are noise."""
    results = with_trainings("mean")
    family = network_table(results.trainings["name"].unique())["family"]
    level = {name: 50 + 5 * place for place, name in enumerate(dict.fromkeys(family))}
    noise = dict(zip(family.index, np.random.default_rng(5).normal(size=(len(family), 2)), strict=True))
    task = results.trainings.copy()
    task["accuracy"] = [level[family[name]] + noise[name][0] for name in task["name"]]
    task["mean"] = [0.005 * level[family[name]] + 0.002 * noise[name][1] for name in task["name"]]
    for name in ("signature-explains-accuracy", "statistic-predicts-accuracy"):
        assert decided(name, replace(results, trainings=task)).holds is None


def test_a_better_statistic_that_chance_explains_is_no_evidence():
    """Noise instead of statistics, and characteristics that explain nothing at all: seven tickets against three."""
    results = with_trainings()
    flat = replace(results, zoo=results.zoo.assign(depth=5 + np.arange(len(results.zoo)) % 2))
    assert decided("signature-explains-accuracy", flat).holds is None


def test_printed_r2_that_chance_explains_are_no_evidence():
    def holds(**columns):
        table = printed_table("figure4_r2").assign(**columns)
        return decided("signature-explains-accuracy", printed(figure4_r2=table)).holds

    assert holds() is None
    assert holds(signature_r2=0.3, common_r2=0.1) is None  # better, and chance does as well
    assert holds(signature_r2=0.99, common_r2=0.95) is None  # a lead that chance has often
    assert holds(signature_r2=0.99, common_r2=0.1) is True
    assert holds(signature_r2=0.0, common_r2=0.99) is False


def test_accuracy_is_fitted_in_the_logarithm():
    results = with_trainings("mean", common=True)
    curved = results.trainings.assign(mean=np.exp(results.trainings["accuracy"] / 2 - 45))  # a line in its logarithm
    zoo = results.zoo.assign(depth=results.zoo["depth"] + np.arange(len(results.zoo)) % 2)  # nearly a line
    found = decided("signature-explains-accuracy", replace(results, trainings=curved, zoo=zoo)).found
    assert "in 5 of 5 groups" in found


@pytest.mark.parametrize(("more", "holds"), [(0.01, True), (-0.01, None)])
def test_printed_r2_count_as_plain_ones_of_seven_statistics(more, holds):
    rows = printed_table("figure4_r2").assign(common_r2=0.0)
    for group, names in study_groups().items():
        n = len(names)
        rows.loc[group, "signature_r2"] = 1 - (1 - independent_best(n, 7, 0.95) - more) * (n - 1) / (n - 2)
    assert decided("signature-explains-accuracy", printed(figure4_r2=rows)).holds is holds


def test_the_printed_numbers_decide_what_they_can():
    """What a change of a printed number does to the claims that rest on it."""
    data = printed_table("figure15_deviation")
    assert decided("noise-is-further-than-cifar", printed()).holds is True
    nearer = data.assign(mean=data["mean"].where(data.index != "random", 0.1))
    assert decided("noise-is-further-than-cifar", printed(figure15_deviation=nearer)).holds is False
    scattered = data.assign(std=2.0)
    assert decided("noise-is-further-than-cifar", printed(figure15_deviation=scattered)).holds is None
    best = printed_table("figure4_r2").assign(signature_r2=0.99)
    assert decided("spread-then-level", printed(figure4_r2=best)).holds is True
    mean = best.assign(best_signature_statistic=["max/median", "mean", "std", "min", "median"])
    assert decided("spread-then-level", printed(figure4_r2=mean)).holds is False


def test_results_of_small_networks_are_marked_as_analogues():
    mini = synthetic([0.58, 0.93], "mini:googlenet", "DEFAULT", "digits", batches=2)
    real = synthetic([0.4, 0.93], "googlenet")
    tested = [(kind, claim_named("googlenet-range").decide(kind)) for kind in AllResults([mini, real]).kinds]
    assert [(kind.about, kind.analogue, verdict.word) for kind, verdict in tested if verdict] == [
        ("the papers' networks on ImageNet", False, DOES_NOT_HOLD),
        ("the small networks on digits", True, HOLDS),
    ]


def test_every_claim_has_a_row_with_scope_and_number_of_networks(empty):
    assert {one.claim.name for one in empty.claims} == {claim.name for claim in all_claims()}
    table = empty.claim_table
    wanted = "claim source test on scope networks analogue verdict papers_choice specifications found"
    assert list(table.columns) == wanted.split()
    assert set(table["papers_choice"]) <= {HOLDS, DOES_NOT_HOLD, UNDECIDED}
    untested = table["on"] == ""
    assert (table.loc[untested, "verdict"] == UNDECIDED).all()
    assert (table["found"].str.startswith("It takes ") == untested).all()
    assert (table.loc[~untested, "scope"] != "").all()
    of_functions = table["on"].str.startswith("activation functions")
    assert ((table["networks"] == 0) == (untested | of_functions)).all()
    counts = empty.claim_counts
    assert (counts.index.tolist(), counts.columns.tolist()) == (list(MATERIAL), list(CLAIM_WORDS))
    assert counts.to_numpy().sum() == (~untested).sum()


def test_untrained_networks_are_looked_at_for_what_is_said_of_them_only():
    trained = synthetic([0.6] * 9, "mini:vgg16", "DEFAULT", "digits", batches=1)
    untrained = synthetic(RISING, "mini:vgg16", "random", "digits", batches=1)
    digits = AllResults([trained, untrained]).mini
    assert decided("training-bends", digits).word == HOLDS
    assert claim_named("googlenet-range").decide(digits) is None


WORDS = {HOLDS: "yes", DOES_NOT_HOLD: "no", UNDECIDED: "open"}
VERDICTS = """
relu-and-gelu-near-zero: functions yes
sigmoid-not-near-zero: functions yes, other inputs no
wide-and-narrow: functions yes
tanh-lower-than-sigmoid: functions yes, other inputs no
leaky-relu-more-linear: functions yes
relu-more-than-sigmoid: functions yes, other inputs no
reductions-agree: functions yes
sample-covariance-drifts: functions yes
shrinkage-is-constant: functions yes, other inputs no
googlenet-range: distorted open
inception-v3-further: distorted open
transitions-linearise: digits no
densenet-below-resnet: distorted yes
squeeze-layers-linearise: digits open, photographs yes
small-patches-early: digits open
large-patches-plateau: digits no
training-bends: digits open, seeds no
after-sums-more-linear: digits yes, twins yes, cifar yes
deeper-approaches-one: digits open, twins open, cifar open
shortcuts-make-two-modes: twins open, cifar open
resnets-bimodal: digits open, twins open, cifar open
upper-group-is-linear: digits yes, twins no, cifar open
pure-convnets-low-spread: digits no, distorted no
inception-widens: distorted no
spread-grows-until-2020: digits open, distorted open
less-non-linear-until-2020: digits open, distorted open
vits-most-non-linear: digits open, distorted open
efficientnets-skewed: digits open
densenets-skewed-against-vits: digits open
back-to-convnets: digits open
vggs-alike: digits yes
families-are-found: digits open
no-outliers: digits no
no-criterion-says-the-same: printed yes, digits open
cka-fits-densenets-only: printed yes, digits open
seeds-change-little: digits yes, distorted yes
other-training-changes-little: digits open
noise-is-further-than-cifar: printed yes, digits yes, cifar yes, photographs open
signature-explains-accuracy: printed open, distorted open
spread-then-level: printed open, distorted open
statistic-predicts-accuracy: distorted open
efficient-networks-penalised: distorted open
transformers-better-when-bent: distorted yes
steadiest-criterion: printed open, digits open
table-1-sums-up-table-2: printed no
average-of-table-2: printed no
batch-size-keeps-the-signature: digits open, cifar yes
batch-size-keeps-networks-apart: digits yes, cifar yes
images-change-little: digits yes, cifar yes
seeds-keep-the-signature: digits open
shortcuts-make-two-components: twins open, cifar open
groups-are-kinds: twins yes, cifar yes
methods-are-found: digits open
nearer-data-are-like-the-first: digits open
other-data-move-signatures: digits yes, cifar yes, photographs yes
class-more-than-draw: digits yes, cifar yes
late-activations-know-the-class: digits yes, cifar yes
density-is-noisy: printed yes, digits open
wide-networks-are-locally-linear: digits yes
score-sees-deviation: digits yes
score-rises-with-width: digits no
score-sees-relative-deviation: digits open
linear-early-costs-more: digits open
gap-vanishes-on-easy-tasks: digits yes
many-channels-can-go: digits yes
slow-decay-then-collapse: digits yes
better-than-widened-plain-networks: digits no
core-of-constant-size: digits open
core-depends-on-the-task: digits open
low-scores-survive: digits open
low-channels-survive: digits open
affinity-chooses-channels-well: digits open
efficient-designs-shake: digits open
gates-show-in-language-models: language yes
training-bends-language-models: language yes
training-for-scores-changes-accuracy: digits yes
training-for-scores-changes-robustness: digits open
training-for-scores-changes-transfer: digits open
"""
"""What is known of each claim, by the results that it was tested on; a change of it is made on purpose."""


@pytest.mark.slow
def test_the_verdicts_on_what_comes_with_the_package(shipped):
    places = {
        "functions": "activation functions on the inputs of figures 6 and 7",
        "other inputs": "activation functions on other inputs",
        "printed": "the printed numbers",
        "digits": "the small networks on digits",
        "distorted": "the small networks on a few distorted digits",
        "cifar": "networks trained on CIFAR-10, on its test images",
        "photographs": "networks with other weights or reductions, on photographs",
        "seeds": "a small VGG-16 from nine seeds, on digits",
        "twins": "small networks with and without shortcuts, on digits",
        "language": "small language models on the docstrings of Python",
    }
    short = {about: place for place, about in places.items()}
    found = {}
    for one in shipped.claims:
        place = short[one.results.about] if one.results.about else "untested"
        found.setdefault(one.claim.name, []).append(f"{place} {WORDS[one.verdict.word]}")
    assert "\n".join(f"{name}: {', '.join(some)}" for name, some in found.items()) == VERDICTS.strip()
