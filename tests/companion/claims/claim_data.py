"""Results that are made so that a claim holds on them, or does not, or cannot be decided."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from scipy.stats import norm

from affscore.comparison import STATISTICS
from companion.networks import network_table, study_models
from companion.printed import printed_table, printed_tables
from companion.results import FUNCTIONS, PRINTED, Results
from companion.sweeps import sweep
from tests.synthetic_signatures import synthetic

RESNETS = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152")
STUDY = study_models("")
EFFICIENT = ["squeezenet1_0", "squeezenet1_1", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0"]
CRITERIA = ["cka", "norm", "sparsity", "entropy", "r2"]
RISING = [*np.linspace(0.7, 0.95, 6), 0.97, 0.975, 0.98]
TWO_MODES = [0.50, 0.52, 0.53, 0.55, 0.56, 0.58, 0.90, 0.92, 0.93, 0.95, 0.96, 0.98]
ONE_MODE = list(0.7 + 0.02 * norm.ppf(np.linspace(0.02, 0.98, 12)))
HIGH_SKEW, LOW_SKEW, EVEN = [0.5, 0.97, 0.98, 0.98, 0.99], [0.5, 0.51, 0.52, 0.53, 0.99], [0.5, 0.6, 0.7, 0.8, 0.9]
HIGH_PLATEAU = [0.91, 0.93] * 8


def of_networks(scores, **about):
    """Networks with these scores, and kinds or layers of the activations by network."""
    signatures = {
        name: synthetic(values, name, **{key: given[name] for key, given in about.items() if name in given})
        for name, values in scores.items()
    }
    return Results("networks", signatures=signatures)


def of_functions(name, rows):
    return Results("functions", FUNCTIONS, tables={name: pd.DataFrame(rows)})


def domain(**functions):
    """Functions on the inputs of figure 6: twenty scores of each, in three draws that hardly differ."""
    names = ("relu", "relu6", "leaky_relu", "gelu", "sigmoid", "tanh", "silu", "hardswish")
    return of_functions("domain", [
        {"activation": name, "mean": float(place), "std": 1.0, "score": score - 1e-3 * draw, "constant": False,
         "draw": draw}
        for draw in range(3) for name in names for place, score in enumerate(functions.get(name, [1.0] * 20))
    ])  # fmt: skip


def low(score, means=1):
    """Twenty scores, so many of them low."""
    return [score] * means + [1.0] * (20 - means)


def wide(**scores):
    """Functions on normal inputs around 0: scores at deviations 1 and 8."""
    return of_functions("wide", [
        {"activation": name, "std": std, "score": score + 1e-3 * draw, "draw": draw}
        for name, both in scores.items() for std, score in zip((1.0, 8.0), both, strict=True) for draw in range(3)
    ])  # fmt: skip


def reduced(mean, total, flat, noise=0.0):
    """Functions on feature maps: scores under mean, sum and flatten; the last differs from draw to draw."""
    table = sweep("reductions").assign(mean=mean, sum=total)
    return of_functions("reductions", table.assign(flatten=flat + noise * table["draw"]))


def along(covariance, curve, noise=1e-4):
    """Functions along the axis of figure 7: errors at the ends."""
    return of_functions("drift", [
        {"activation": name, "covariance": covariance, "width": width, "repeat": repeat,
         "error": error + noise * repeat * (width > 999)}
        for name in printed_table("figure7_activation_scores").index
        for width, error in zip((125, 1125), curve, strict=True)
        for repeat in range(3)
    ])  # fmt: skip


def residual(inside, after):
    """ResNets of growing depth: half of the activations inside of blocks, half after sums."""
    scores, kinds = {}, {}
    for number, name in enumerate(RESNETS[: len(after)]):
        count = 8 + 4 * number
        varied = np.linspace(-0.02, 0.02, count)
        scores[name], kinds[name] = [*varied + inside[number], *varied + after[number]], ["first"] * count
        kinds[name] = [*kinds[name], *["after-sum"] * count]
    return of_networks(scores, kinds=kinds)


def with_layers(names, inside, elsewhere, layer):
    """Networks with the same scores: three activations in layers of this name, six elsewhere."""
    layers = [f"features.{i}" for i in range(6)] + [f"{layer}.{i}" for i in range(3)]
    return of_networks({name: [*[elsewhere] * 6, *[inside] * 3] for name in names}, layers=dict.fromkeys(names, layers))


def pairs(with_it, without, count=6):
    """Pairs of networks with and without shortcuts."""
    scores = {f"resnet{n}": with_it for n in range(count)} | {f"plainnet{n}": without for n in range(count)}
    return of_networks(scores)


def decade(**families):
    """All networks of the study: for each family a function of the year to scores; others are plain."""
    study = printed_table("study_networks")
    scores = {}
    for place, name in enumerate(STUDY):
        family, year = str(study.loc[name, "family"]), int(study.loc[name, "year"])
        make = families.get(family.replace(" ", "_"), families.get("others", lambda year: [0.6, 0.7, 0.8]))
        scores[name] = np.clip(np.array(make(year)) + 1e-4 * place, 0, 1)
    return of_networks(scores)


def constant(**families):
    """The same with the scores of a family in the place of the function."""
    return decade(**{name: (lambda year, scores=scores: scores) for name, scores in families.items()})


def with_correlations(activations=100, **columns):
    """Correlations of twelve networks; half of them DenseNets."""
    names = [*(f"densenet{number}" for number in range(6)), *(f"vgg{number}" for number in range(6))]
    rows = [
        {"model": name, "criterion": key, "activations": activations, "correlation": columns.get(key, [0.1] * 12)[n]}
        for n, name in enumerate(names)
        for key in CRITERIA
    ]
    return Results("correlations", tables={"correlations": pd.DataFrame(rows)})


def with_trainings(statistic="", common=False, of_seed=0.0, slope=0.005, **slopes):
    """Small networks: accuracies that statistics (their slopes) and depth follow, the rest is noise."""
    generator = np.random.default_rng(0)
    names = [*STUDY, *EFFICIENT]
    accuracy = np.linspace(50, 90, len(names))
    slopes = slopes | ({statistic: slope} if statistic else {})
    rows, zoo = [], []
    for place, (name, percent) in enumerate(zip(names, accuracy, strict=True)):
        noise = generator.normal(size=len(STATISTICS) + 1)
        given = {key: 0.4 + 0.01 * one for key, one in zip(STATISTICS, noise, strict=False)}
        given |= {key: 0.5 + steep * percent for key, steep in slopes.items()}
        rows += [
            {"name": name, "seed": seed, "accuracy": percent, **given, "mean": given["mean"] + of_seed * seed}
            for seed in range(2)
        ]
        depth = percent if common else 10 + noise[-1]
        zoo.append({"name": name, "depth": depth, "parameters": 1000 + place % 3, "flops": 50 + place % 2})
    return Results("trainings", tables={"trainings": pd.DataFrame(rows), "zoo": pd.DataFrame(zoo)})


def by_method(scores, **criteria):
    """One network that was trained several times by each of several methods: the level of each method and seed."""
    there = {
        f"method{method}-{seed}": synthetic(
            [level, level + 0.1], criteria={name: [values[method][seed]] * 2 for name, values in criteria.items()}
        )
        for method, levels in enumerate(scores)
        for seed, level in enumerate(levels)
    }
    return Results("methods", checkpoints=there)


def measured_steadiness(score, others):
    """Three methods with two seeds each: the score and all criteria of table 3 differ by these shares."""
    levels = np.array([[1.0, 1.05], [1.1, 1.15], [1.2, 1.25]])
    moved = (levels - 1.125) / 0.125
    names = ("cka", "norm", "sparsity_after", "entropy_after")
    zero = dict.fromkeys(("sparsity_before", "entropy_before"), np.zeros((3, 2)))
    return by_method(0.5 + 0.5 * score * moved, **dict.fromkeys(names, 1 + others * moved), **zero)


def trained_otherwise(*levels, of_method=1):
    """Networks that differ, and one that was trained in several ways, each of them so many times."""
    networks = decade(others=lambda year: [0.5 + (year - 2012) / 30] * 3).signatures
    ways = {f"way{n}-{seed}": synthetic([level] * 3) for n, level in enumerate(levels) for seed in range(of_method)}
    return Results(
        "ways", signatures=networks, checkpoints={name.removesuffix("-0"): one for name, one in ways.items()}
    )


def on_data(near, far, networks=4):
    """Networks on the data of figure 15: how far one of two scores moves."""
    names = STUDY[:networks]
    here = {name: synthetic([0.3, 0.3]) for name in names}
    gaps = {"cifar10": near, "cifar100": near, "random": far}
    there = {
        data: {name: synthetic([0.3, 0.3 + gap + 0.01 * n]) for n, name in enumerate(names)}
        for data, gap in gaps.items()
    }
    return Results("data", signatures=here, elsewhere=there)


def on_other_data(networks=5, **gaps):
    """A study of networks with one activation, which moves by so much on each data set."""
    rows = [
        (f"mini:net{number}", data.replace("_", "-"), 512, 1, 0, 0.3 + gap + 0.01 * number * place)
        for number in range(networks)
        for place, (data, gap) in enumerate({"digits": 0.0, **gaps}.items())
    ]
    columns = ["model", "dataset", "n", "batches", "index", "score"]
    return Results("a study", tables={"other-data": pd.DataFrame(rows, columns=columns)})


def printed(**tables):
    """The printed numbers, some of them replaced."""
    return Results("printed", PRINTED, tables={name: printed_table(name) for name in printed_tables()} | tables)


def steadiness(score):
    table = printed_table("table3_resnet50_robustness")
    table.loc["affinity_score", "std"] = score
    return printed(table3_resnet50_robustness=table)


def figure_4(**columns):
    return printed(figure4_r2=printed_table("figure4_r2").assign(**columns))


def figure_15(**columns):
    return printed(figure15_deviation=printed_table("figure15_deviation").assign(**columns))


def consistent_rows():
    """Rows of table 2 that do have the printed means and deviations of table 1."""
    families = printed_table("table1_family_correlations")
    twins = {"VGGs": ("vgg11", "vgg13"), "ResNets": ("resnet18", "resnet34"), "ViTs": ("vit_b_16", "vit_b_32")}
    rows = {
        name: {key: families.loc[one, f"{key}_mean"] + sign * families.loc[one, f"{key}_std"] for key in CRITERIA}
        for one, names in twins.items()
        for sign, name in zip((-1, 1), names, strict=True)
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


def trained_vggs(before, after, seeds=9, noise=0.01):
    """A VGG before and after training, from several seeds."""
    generator = np.random.default_rng(0)
    tables = {
        name: pd.DataFrame([
            {"network": "vgg16", "seed": seed, "index": index, "score": score}
            for seed in range(seeds)
            for index, score in enumerate(np.clip(some + generator.normal(0, noise, len(some)), 0, 1))
        ])
        for name, some in (("untrained", before), ("seeds", after))
    }  # fmt: skip
    return Results("a VGG", tables=tables)


def alike(vggs, others):
    """Four VGGs, and networks of five other families that lie so far apart within their families."""
    study = network_table(STUDY)
    levels = dict(zip(("vgg11", "vgg13", "vgg16", "vgg19"), vggs, strict=True))
    for number, family in enumerate(("ResNets", "DenseNets", "EfficientNets", "Swins", "ViTs")):
        for place, name in enumerate(study.index[study["family"] == family]):
            levels[name] = 0.5 + others * (1 + number / 10) * place
    return of_networks({name: [level] * 3 for name, level in levels.items()})


def levels_of_families(**others):
    """A level for each family, all networks of the same length; some networks have the level of another family."""
    families = ("Pure_convnets", "Inception", "ResNets", "DenseNets", "MNASNets", "EfficientNets", "ViTs", "Swins",
                "ConvNeXts")  # fmt: skip
    scores = decade(
        **{name: lambda year, at=n: [0.1 * at + (year - 2015) * 1e-3] * 2 for n, name in enumerate(families)}
    )
    levels = {name: one.scores for name, one in scores.signatures.items()}
    return of_networks(levels | {name: levels[other] + 1e-5 for name, other in others.items()})


def mixed_up():
    return of_networks({name: [0.9 - 0.8 * ((7 * place) % 36) / 36] for place, name in enumerate(STUDY)})


def noise(few=5, many=40):
    generator = np.random.default_rng(0)
    return of_networks({name: generator.uniform(0.4, 0.9, generator.integers(few, many)) for name in STUDY})


def in_batches(*changes, noise=0.01, apart=0.1):
    """A study of batch sizes: ten scores of each network, by how much they fall from n = 128 to 1024.

    The noise over batches is that of the first network; each further one has twice as much.
    """
    rows = [
        {"model": f"net{number}", "index": index, "n": n, "batches": 1 if n == 2048 else 9,
         "score": 0.3 + apart * number + 0.05 * index + change * (1024 / n - 1) / 7, "score_std": noise * 2**number}
        for number, change in enumerate(changes)
        for n in (128, 512, 1024, 2048)
        for index in range(10)
    ]  # fmt: skip
    return Results("batches", tables={"batch-size": pd.DataFrame(rows)})


def trained_again(spread, seeds=9):
    """A study of seeds: ten scores of a network, by how much trainings differ; with networks that differ."""
    shift = np.random.default_rng(0).normal(0, spread, (seeds, 10))
    rows = [
        {"network": "vgg16", "seed": seed, "index": index, "score": 0.3 + 0.05 * index + shift[seed, index]}
        for seed in range(seeds)
        for index in range(10)
    ]
    networks = decade(others=lambda year: [0.5 + (year - 2012) / 30] * 3).signatures
    return Results("seeds", signatures=networks, tables={"seeds": pd.DataFrame(rows)})


def on_paths(density=0.0, seeds=3):
    """Segments of paths, of whose deviation this share follows the crossings."""
    draw = np.random.default_rng(7)
    segments = []
    for network, seed in itertools.product(("vgg8", "resnet8"), range(seeds)):
        crossings = draw.permutation(64)
        deviation = density * crossings + (1 - abs(density)) * draw.permutation(64) + 1
        about = {"network": network, "way": "vanilla", "seed": seed, "path": np.repeat(np.arange(8), 8)}
        segments.append(pd.DataFrame(about | {"crossings": crossings, "absolute_deviation": deviation}))
    return Results("paths", tables={"regions-paths": pd.concat(segments)})


def widths(deviation=-1, fitted=(2, 4, 8, 16, 32, 64)):
    """Networks of several widths, at which measures rise or fall with the width."""
    rows = []
    for width, seed in itertools.product((1, 2, 4, 8, 16, 32, 64), range(3)):
        size = np.log2(width) + 0.01 * seed
        about = {"network": f"vgg8_{width}", "way": "noise-0.2", "seed": seed, "fitted": float(width in fitted)}
        about |= dict.fromkeys(("length", "crossings", "breakpoints", "deviation_upper_bound", "total_variation"), 1.0)
        rows.append(about | {"absolute_deviation": 10 + deviation * size, "accuracy": 0.5 + size / 10})
    return Results("widths", tables={"regions-width-paths": pd.DataFrame(rows)})
