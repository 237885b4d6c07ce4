# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Other data sets
#
# A signature belongs to a network *and* to data. Appendix H of the paper {cite}`bouniot2025alexnet` measures 33 networks on
# CIFAR-10, CIFAR-100 and noise, finds the first two nearer to ImageNet than the third (paper Fig. 15), and concludes that they are
# semantically closer. This chapter makes the figure again, tests the conclusion, and then goes from other data to a part
# of the data: the images of one class.
#
# You will learn
#
# * how far a signature moves on other data, and how far the choice of images alone moves it,
# * whether a small distance says that the data mean the same,
# * how to test whether scores depend on the class of the images, and in which activations they do.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
    )

# %% tags=["parameters", "hide-input"]
models: list[str] = []  # with or without @WEIGHTS; none: 36 of the mini zoo
dataset: str = "digits"  # of reference: digits, imagenet:DIR, folder:DIR ...
others: list[str] = []  # other data; none: altered digits, and noise
n: int = 512  # images in a batch of the statistic
images: int = 0  # images of reference in all; 0: those of the study, or all
other_images: int = 0  # of each other data set; 0: likewise, of noise n
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, choice of images, permutations

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore import analysis, papers
from affscore.figures import (
    class_ratios,
    class_signatures,
    data_deviations,
    table,
)
from affscore.papers.all_results import AllResults
from affscore.papers.estimate import mean_of
from affscore.papers.ledger import Ledger
from affscore.survey.studies import load_study, study_on_data, under
from IPython.display import Markdown
from scipy.stats import spearmanr

networks = models or papers.study_models("mini:")
names = papers.short_names(networks)
others = others or [
    f"digits-{kind}" for kind in ("noisy", "inverted", "shuffled")
] + ["random"]
study = load_study("other-data")
asked = (dataset, n, seed, images, other_images)
if models or asked != ("digits", 512, 0, 0, 0):
    shipped = False
else:
    shipped = set(others) <= set(study["dataset"])
if shipped:
    study = study[study["dataset"].isin([dataset, *others])]
else:
    counts = {"n": n, "images": images, "other_images": other_images}
    options = {"device": device, "seed": seed, "jobs": jobs}
    study = study_on_data(
        networks,
        [dataset, *others],
        store,
        progress=False,
        **counts,
        **options,
    )
study = under(study).replace({"model": names})


def short(rows):
    """The same with networks called by the last part of their names."""
    return rows.assign(model=rows["model"].str.rpartition(":")[2])


# %% [markdown]
# ## From photographs to CIFAR-10, and back
#
# Let $s$ be the signature of a network on the data of reference and $s'$ that on other data. Both have a score for each of its
# activations, so their distance is
#
# $$
# D = \lVert s' - s \rVert_2 = \sqrt{\textstyle\sum_l (s'_l - s_l)^2} .
# $$
#
# Three networks trained on ImageNet (MobileNetV2, SqueezeNet 1.0 and 1.1) go from photographs of ImageNet to
# CIFAR-10 and to noise; eight trained on CIFAR-10, with and without shortcuts, go from CIFAR-10 to the
# photographs and to noise. 512 images of each.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-13-real", "caption": "Other data move a signature several times as far as other images of the same data (bars). Distance between the signature on the images that a network was trained for and that on others; left three networks trained on ImageNet, then eight trained on CIFAR-10; dotted lines are means (`affscore.figures.data_deviations`)."}, "image": {"alt": "Eleven networks side by side. Triangles for noise lie between about 0.4 and 0.8. Circles for CIFAR-10, on the first three networks, lie between 0.3 and 0.5; squares for ImageNet, on the other eight, all near 0.13. Grey bars of other images are below 0.05."}}
words = {
    "folder:imagenet-sample": "ImageNet",
    "folder:cifar10-test": "CIFAR-10",
    "random": "noise",
}
kinds = {"ImageNet": "photographs", "CIFAR-10": "cifar"}
real = pd.concat(
    [
        analysis.data_deviations(
            under(load_study(f"other-data-{ending}"))
        ).assign(trained=of)
        for of, ending in kinds.items()
    ],
    ignore_index=True,
)
real = short(real).replace({"dataset": words})
data_deviations(real, ["euclidean"], chance="other images of the first data")
plt.show()


# %% tags=["hide-input"]
def by_data(deviations, *more):
    """Means over networks for each data set."""
    over = deviations["euclidean"] / deviations["chance"]
    return (
        deviations.assign(over=over)
        .groupby([*more, "dataset"], sort=False)
        .agg(
            networks=("model", "nunique"),
            distance=("euclidean", "mean"),
            spread=("euclidean", "std"),
            dtw=("dtw", "mean"),
            over=("over", "median"),
            change=("mean_change", "mean"),
        )
    )


headings = {
    "networks": "networks",
    "distance": "mean distance",
    "spread": "SD over networks",
    "dtw": "mean DTW distance",
    "over": "times that of other images",
    "change": "change of the mean score",
}
moved = by_data(real, "trained")
shown = table(moved, headings, digits={"over": 1})
shown.rename_axis(["trained on", "measured on"])

# %% [markdown]
# *Times that of other images* is the distance over that between signatures on other images of the same data, estimated from how
# scores vary between two halves of the images; the median over the networks. The caption of the paper's figure says Euclidean distance, its
# text dynamic time warping ({doc}`07_a_signature_for_every_architecture`), which may align other activations with each other and is
# never larger.

# %% tags=["remove-input"]
wide = real.pivot_table(
    index=["trained", "model"],
    columns="dataset",
    values="euclidean",
    sort=False,
)
furthest = wide["noise"] > wide.drop(columns="noise").max(axis=1)
furthest = furthest.groupby("trained", sort=False).agg(["sum", "size"])
counted = ", and for ".join(
    f"{row['sum']} of {row['size']} networks trained on {of}"
    for of, row in furthest.iterrows()
)
Markdown(f"**Noise is further away than the other images** for {counted}.")

# %% [markdown]
# ```{admonition} A distance has simpler causes than meaning
# :class: note
# Photographs that are shrunk to 32 pixels look like CIFAR-10, whereas its images, enlarged to 224 pixels, have no fine detail. That
# alone could make CIFAR-10 far for the first three networks and photographs near for the others. These data cannot separate the
# two explanations; the digits below can.
# ```
#
# ## The figure of the paper, on networks that you can re-run
#
# The 36 networks of the mini zoo were trained on digits. The other data are digits that are *noisy*,
# *inverted* (black for white) or *shuffled* (one permutation of the pixels for all images), and standard normal noise
# (*random*). With `notebooks/params/paper.yml` networks and data are the paper's.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-13-data", "caption": "On average noise moves signatures most and noisy digits least, by both distances (paper Fig. 15, for the mini zoo). Each network's signature on other data: above its Euclidean distance to that on the data of reference, with other images of these as bars; below its DTW distance; dotted lines are means (`affscore.figures.data_deviations`)."}, "image": {"alt": "Two panels with 36 networks side by side and four markers for each, between 0 and about 1. Noise lies highest for most networks, noisy digits lowest; grey bars at the bottom are far below all markers for most networks."}}
deviations = analysis.data_deviations(study)
data_deviations(deviations, chance=f"other images of {dataset}")
plt.show()

# %% tags=["hide-input"]
means = by_data(deviations)
known = study[study["n"] == study["n"].max()]
known = known.groupby(["dataset", "model"])["accuracy"].first()
means["accuracy"] = known.astype(float).groupby("dataset").mean()
digits = {"over": 1, "accuracy": 0}
shown = headings | {"accuracy": "accuracy (%)"}
table(means, {k: v for k, v in shown.items() if k != "networks"}, digits)

# %% tags=["remove-input"]
printed = papers.printed_table("figure15_deviation")
theirs = ", ".join(
    f"{name} {row['mean']:.2f} ± {row['std']:.2f}"
    for name, row in printed.iterrows()
)
furthest_of = (
    deviations.pivot_table(
        index="model", columns="dataset", values="euclidean"
    )
    .idxmax(axis=1)
    .value_counts()
)
counted = ", ".join(
    f"{count} on {data}" for data, count in furthest_of.items()
)
over = (deviations["euclidean"] / deviations["chance"]).min()
depth = {
    data: spearmanr(rows["euclidean"], rows["activations"]).statistic
    for data, rows in deviations.groupby("dataset", sort=False)
}
listed = ", ".join(f"{value:.2f} on {data}" for data, value in depth.items())
on_depth = (
    f"\n\n**{'Most of a distance is depth' if min(depth.values()) > 0.7 else 'Depth is a part of a distance'}.** The distance "
    "is a root of a sum over activations (exercise 13.1); its rank correlation with their number is "
    f"{listed}. Compare data sets within a network, not networks."
)
Markdown(
    f"The paper prints {theirs}, for other networks and data, so that only the order can be compared. Here the networks are furthest "
    f"away {counted}; each distance is at least {over:.1f} times that of other images."
    + (on_depth if len(furthest_of) and len(deviations) > 12 else "")
)

# %% [markdown]
# ```{admonition} An average, and one choice
# :class: note
# Noise is furthest on average where activations come before averages, as in the published code. With the order that the paper prints,
# inverted digits are as far as noise. And a single network may differ: ViTs and AlexNet are nearer to noise than to inverted digits.
# That other data move a signature by more than other images do holds under every choice.
# ```
#
# ## Is it semantics?
#
# "[...] suggesting that these data sets are semantically closer to Imagenet" is one explanation of a small distance. Digits
# test it. *Inverted* digits mean what digits mean; everybody can read them. *Shuffled* digits mean
# nothing; they only have the grey values of digits, and a pixel varies as some pixel of a digit does.
#
# **Under no choice are readable digits nearer than unreadable ones.** Under the papers' choice inverted and shuffled digits are
# equally far; with the order that the paper prints the unreadable ones are *nearer*. Nor does the distance show what the *network*
# can read: on both the networks guess, and yet both are nearer than noise. The distance measures how much the
# distributions of the activations change. What an image means is not part of these.
#
# ## One class at a time
#
# Other data differ in everything. The images of one class differ from the rest only in what they show: same camera, same size,
# same network. So measure the score *conditional on the label*, and compare each class with 49 random subsets **of the same size**: scores of few
# images are too high ({doc}`03_estimating_it_well`), and subsets have that bias, too. If the label said nothing, a class would be one
# more random subset, so that permuting classes and subsets gives p-values without further assumptions.
#
# ```sh
# affscore signature mini:digitsnet --dataset digits:3 --n 58 --images 58
# affscore signature mini:digitsnet --dataset digits --n 58 --images 58 --seed 1
# ```
#
# Four networks on CIFAR-10, 250 images at a time, and eight small ones on digits, 58 at a time:

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-13-classes", "caption": "Classes leave the range of random subsets, mostly in the second half of a network: the signature on each class (thin lines) over those on 49 random subsets of the same size (grey). Score axes begin at 0.45 (`affscore.figures.class_signatures`)."}, "image": {"alt": "Four panels with scores over activations. Thin red lines, one for each class, leave the narrow grey band of the random subsets, mostly in the second half of each network."}}
tables = {
    kind: short(under(load_study(name)))
    for kind, name in {
        "CIFAR-10": "classes-cifar",
        "digits": "classes",
    }.items()
}
effects = {
    kind: analysis.class_effects(rows) for kind, rows in tables.items()
}
rows, shown = pd.concat(tables.values()), {}
for name in ("resnet20", "plainnet20", "resnet18", "vit_b_16"):
    scores = rows[rows["model"] == name].pivot_table(
        index=["draw", "dataset"], columns="index", values="score"
    )
    shown[name] = scores.loc[0], scores.drop(index=0)
class_signatures(shown)
plt.show()

# %% [markdown]
# How far are the classes from the mean of the subsets, compared with how far the subsets are? For C classes, with the mean $m$
# and the variances $v_l$ of the subsets,
#
# $$
# q = \sqrt{\frac{\frac1C \sum_c \lVert s_c - m \rVert^2}{\sum_l v_l}} , \qquad q_l = \sqrt{\frac{\frac1C \sum_c (s_{cl} - m_l)^2}{v_l}} .
# $$
#
# Both are 1 where the label says nothing. The p-value of $q_l$ is that of the largest of all activations of the
# network, which corrects for their number.


# %% tags=["hide-input"]
def how_many(which):
    return f"{which.sum()} of {len(which)}"


found = {
    (kind, name): {
        "q": one.ratio,
        "p": one.p_value,
        "classes": how_many(one.distances > one.chance.max()),
        "activations": how_many(one.layers["p_value"] < 0.05),
        "change": one.change,
    }
    for kind, some in effects.items()
    for name, one in some.items()
}
table(
    pd.DataFrame.from_dict(found, orient="index"),
    {
        "q": "q",
        "p": "p-value",
        "classes": "classes beyond all subsets",
        "activations": "activations with p < 0.05",
        "change": "change of the mean score",
    },
    digits={"q": 1, "p": 3, "change": 3},
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-13-layers", "caption": "The class matters more in late activations. The ratio $q_l$ along each network: how far classes are from the mean of random subsets, in standard deviations of these (`affscore.figures.class_ratios`)."}, "image": {"alt": "Two panels, CIFAR-10 and digits, with a line for each network, on a logarithmic axis from about 1 to 10. Nearly all points are above the dashed line at 1; most lines rise towards the end of the network, with much zigzag."}}
class_ratios(
    {
        kind: {name: one.layers["ratio"] for name, one in some.items()}
        for kind, some in effects.items()
    }
)
plt.show()

# %% tags=["remove-input"]
of_all = [one for some in effects.values() for one in some.values()]
trends = [
    spearmanr(range(len(one.layers)), one.layers["ratio"]).statistic
    for one in of_all
]
changes = [one.change for one in of_all]
rises = sum(value > 0 for value in trends)
Markdown(
    f"The rank correlation of $q_l$ with the place in the network is positive in {rises} of {len(trends)} networks (mean "
    f"{np.mean(trends):.2f}). The mean score of a network hardly changes: by {min(changes):+.3f} to {max(changes):+.3f}, mean over "
    "the classes. Classes move the profile, not its level."
)

# %% [markdown]
# An activation can be affine on each class and bent on all of them together, where its bend lies between the classes
# (exercise 13.3). The score of all images is no average over classes.
#
# ## What holds, and under which choices
#
# The columns are those of {doc}`80_the_ledger`.

# %% tags=["hide-input"]
conclusions = Ledger(AllResults.gather()).conclusions(
    "noise-is-further-than-cifar",
    "nearer-data-are-like-the-first",
    "other-data-move-signatures",
    "class-more-than-draw",
    "late-activations-know-the-class",
)
table(
    conclusions.set_index("tested on", append=True),
    {"verdict": "verdict", "under other choices": "under other choices"},
)

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
ratios = [one.ratio for one in of_all]
seen = sum(one.p_value < 0.05 for one in of_all)
times = (real["euclidean"] / real["chance"]).median()
away = {
    of: f"{row['sum']} of {row['size']}" for of, row in furthest.iterrows()
}
words |= {
    f"digits-{way}": f"{way} digits"
    for way in ("noisy", "inverted", "shuffled")
}
nearest, farthest = (
    words.get(name, name)
    for name in means["distance"].agg(["idxmin", "idxmax"])
)
ends = (
    f"The mean distance over {deviations['model'].nunique()} networks goes from {means['distance'].min():.2f} for {nearest} "
    f"to {means['distance'].max():.2f} for {farthest}."
)
meaning = f"**How far depends on the data.** {ends}"
if {"digits-inverted", "digits-shuffled"} <= set(means.index):
    apart = deviations.pivot_table(
        index="model", columns="dataset", values="euclidean"
    )
    lead = mean_of(apart["digits-shuffled"] - apart["digits-inverted"])
    readable = "Inverted digits, which anyone can read, are"
    meaning = (
        f"**Data that mean the same are nearer here.** {readable} nearer than shuffled ones, by {lead:.2f}. {ends}"
        if lead.above()
        else f"**A small distance does not say that data mean the same.** {readable} no nearer than shuffled ones, "
        f"which nobody can (difference {lead:.2f}). {ends}"
    )
Markdown(f"""
* **Other data move the signature of a trained network {times:.0f} times as far as other images of the same data** (median over \
eleven networks trained on ImageNet and CIFAR-10). Noise is the furthest for {away["CIFAR-10"]} networks trained on CIFAR-10 and \
for {away["ImageNet"]} trained on ImageNet.
* {meaning}
* **The images of one class have a signature of their own**, in {seen} of {len(of_all)} networks (permutation test): \
{min(ratios):.1f} to {max(ratios):.1f} times as far away as random subsets of the same size, most of all in late activations.
""")

# %% [markdown]
# ## Takeaways
#
# * Report the data with a signature, and how far other images of the same data move it.
# * Read a small distance as similar distributions of activations, not as similar meaning.
# * Compare the images of one class with random subsets of the same size, never with all images.
#
# ## Exercises
#
# ```{exercise} 13.1 Deeper is further
# :label: ex-13-1
# :nonumber:
#
# *Compute · 5 minutes · easy.* Aim: see how a distance between signatures depends on depth.
#
# A network with 16 activations has the Euclidean distance 0.4 between its signatures on two data sets, and all of its scores
# change by the same amount. What is the distance for a network with 100 activations whose scores change by that amount, too?
# Hand in a number.
# ```
#
# ```{admonition} Hint for 13.1
# :class: dropdown hint
# By how much does each single score change?
# ```

# %%
answer = None  # your answer here: a number
# affscore.exercises.check("13.1", answer)

# %% [markdown]
# ```{solution-start} ex-13-1
# :class: dropdown
# ```
#
# Each score changes by $0.4 / \sqrt{16}$. To compare networks of different depths, divide by the root of their number of
# activations.

# %%
answer = 0.4 / np.sqrt(16) * np.sqrt(100)
affscore.exercises.check("13.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 13.2 One more subset
# :label: ex-13-2
# :nonumber:
#
# *Change code · 10 minutes · medium.* Aim: write a permutation p-value that is never zero.
#
# Write the p-value of a class as a function `p_value(distance, chance)`: of its distance and of the array of distances of the
# random subsets. Hand in the function.
# ```
#
# ```{admonition} Hint for 13.2
# :class: dropdown hint
# If the label says nothing, how many subsets are there, and among them how many are as far away as the class?
# ```

# %%
answer = None  # your answer here: a function p_value(distance, chance)
# affscore.exercises.check("13.2", answer)

# %% [markdown]
# ```{solution-start} ex-13-2
# :class: dropdown
# ```
#
# If the label says nothing, the class is one more random subset. It is one of those that are at least as far away.


# %%
def p_value(distance, chance):
    return (np.sum(chance >= distance) + 1) / (len(chance) + 1)


affscore.exercises.check("13.2", p_value)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 13.3 Affine on each class
# :label: ex-13-3
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: build data whose classes hide a bend.
#
# Make up the inputs of two classes, arrays $x_0$ and $x_1$ of one shape $(n, d)$ with $64 \le n \le 512$, such that ReLU has a score
# of at least 0.95 on each of them (empirical covariance), and of at most 0.7 on both together. Hand in `(x0, x1)`.
# ```
#
# ```{admonition} Hint for 13.3
# :class: dropdown hint
# On which inputs is ReLU affine? There are two such sets; $d = 1$ is enough.
# ```

# %%
answer = None  # your answer here: a pair of arrays
# affscore.exercises.check("13.3", answer)

# %% [markdown]
# ```{solution-start} ex-13-3
# :class: dropdown
# ```
#
# One class on each side of the bend. An activation that separates classes may be affine on all of them.

# %%
generator = np.random.default_rng(0)
below = -1 - generator.exponential(size=(256, 1))
above = generator.exponential(size=(256, 1))
affscore.exercises.check("13.3", (below, above))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 13.4 Warping never adds distance
# :label: ex-13-4
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: relate the two distances of paper Fig. 15.
#
# The DTW distance of two sequences is the smallest $\sqrt{\sum_{(i, j) \in P} (s_i - s'_j)^2}$ over warping paths $P$: from $(1, 1)$ to $(L, L')$
# by steps $(1, 0)$, $(0, 1)$ or $(1, 1)$. (a) Prove that for $L = L'$ it is at most the Euclidean distance. (b) Give two different sequences of
# one length whose DTW distance is 0, and say what that means for two data sets. (c) Is the DTW distance a metric?
# ```
#
# ```{admonition} Hint for 13.4
# :class: dropdown hint
# For (a) find one warping path whose cost is the Euclidean distance. For (b) let a value repeat.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-13-4
# :class: dropdown
# ```
#
# (a) The diagonal $(1, 1), (2, 2), \dots, (L, L)$ is a warping path, and its cost is the Euclidean distance. The minimum over all paths is
# no larger.
#
# (b) $(0.6, 0.6, 0.9)$ and $(0.6, 0.9, 0.9)$: align both first 0.6 of one with the 0.6 of the other, and both 0.9 likewise. The second activation
# goes from 0.6 to 0.9, and DTW does not notice. On other data of *one* network activations are already matched, so the Euclidean distance loses nothing;
# DTW is for networks of different depths.
#
# (c) No. By (b) different sequences have the distance 0, and the triangle inequality fails, too: with $a = (0)$, $b = (0, 1)$ and
# $c = (1, 1, 1, 1, 1)$ the distances $d(a, b)$ and $d(b, c)$ are 1, but $d(a, c) = \sqrt 5 > 2$:

# %%
a, b, c = np.array([0.0]), np.array([0.0, 1.0]), np.ones(5)
print(
    *(
        f"{analysis.signature_distance(*pair):.2f}"
        for pair in [(a, b), (b, c), (a, c)]
    )
)

# %% [markdown]
# **Rubric** (6 points)
#
# * 2: the diagonal is named as a path, and the minimum is argued.
# * 2: a correct example, with its alignment.
# * 1: the consequence: DTW may hide which activation changed.
# * 1: not a metric, with one of the two reasons.
#
# ```{solution-end}
# ```
#
# ```{exercise} 13.5 Meaning or pixels?
# :label: ex-13-5
# :nonumber:
#
# *Design · 30 minutes · hard.* Aim: plan an experiment that separates two explanations.
#
# The paper explains small distances by semantics, this chapter's box by the statistics of pixels. Design an experiment on networks
# trained on ImageNet that tells these explanations apart. Name the data sets (at least four), what each explanation predicts
# for their order, the comparison within each network, the test, and one result that would refute each explanation.
# ```
#
# ```{admonition} Hint for 13.5
# :class: dropdown hint
# Look for two pairs: images that mean the same and look different, and images that look alike (spectrum, contrast, sharpness) and mean nothing.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-13-5
# :class: dropdown
# ```
#
# Cross meaning with statistics. *Same meaning, other statistics*: validation photographs that are inverted, drawn as sketches, or in false colours, on
# which people still name the class. *Other meaning, same statistics*: photographs whose Fourier phases are drawn at random with the amplitudes kept, or
# texture synthesis of the same images. Between them: other photographs (same on both), noise (other on both). Semantics predicts: sketches and inverted
# images nearer than phase-scrambled ones. Statistics predicts the reverse. For each network take the difference of the two distances, measured on the *same* source
# images, over that of other photographs; then a sign-flip test over at least ten networks of different families, in both orders of activation and average. Refuted is semantics,
# if scrambled images are nearer in nearly all networks; the statistics of pixels, if sketches are. Accuracy on each set says what the network can read, and
# is a third variable: report the distance against it.
#
# **Rubric** (8 points)
#
# * 2: at least one data set for each of the two mixed cells, made from the same source images.
# * 2: the order that each explanation predicts, opposite on a named pair.
# * 1: the comparison is within a network (distances grow with depth).
# * 1: a yardstick: other images of the same data, and equal numbers of images.
# * 1: a test over networks, with enough of them.
# * 1: a result that would refute each.
#
# ```{solution-end}
# ```
