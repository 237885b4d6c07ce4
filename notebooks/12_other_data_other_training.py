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
# # Other data, other training
#
# A signature belongs to a network *and* to data. Appendix H of the paper {cite}`bouniot2025alexnet` measures 33 networks on
# CIFAR-10, CIFAR-100 and noise, finds the first two nearer to ImageNet than the third (paper Fig. 15), and concludes that they are
# semantically closer. This chapter makes the figure again, tests the conclusion, and then goes from other data to a part
# of the data: the images of one class.
#
# And is a signature the mark of an architecture, or of how it was trained? The paper measures a ResNet-50 in 17 trainings,
# most of them without labels, and says both: the mean score "remains almost unchanged" (paper Table 3), and yet clustering
# the signatures finds the methods (paper Figs. 16 and 17). It has one training of each, and so cannot separate methods from seeds.
# Here a small ResNet-18 is trained in five ways, from three seeds each, no two of which begin with the same weights.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
models: list[str] = []  # with or without @WEIGHTS; none: 36 of the mini zoo
dataset: str = "digits"  # of reference: digits, imagenet:DIR, folder:DIR ...
others: list[str] = []  # other data; none: altered digits, and noise
n: int = 512  # images in a batch of the statistic
images: int = 0  # images of reference in all; 0: those of the study, or all
other_images: int = 0  # of each other data set; 0: likewise, of noise n
checkpoints: list[str] = []  # MODEL@FILE, as METHOD-1.pth; none: the study's
permutations: int = 4999  # of the test by nearest neighbours
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, choice of images, permutations

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

import affscore
import companion
from affscore import AffscoreError
from affscore.survey import load_or_measure
from companion.all_results import AllResults
from companion.chapter_12 import (
    class_effects,
    data_deviations,
    deviation_panels,
    means_of_criteria,
    method_of,
    spread_over_methods,
)
from companion.clustering import (
    leaf_order,
    linkage,
    nearest_neighbour_accuracy,
)
from companion.encoders import name_of, with_encoder
from companion.figures import dendrogram, distance_heatmap
from companion.networks import short_names, study_models
from companion.printed import printed_table
from companion.statistics import mean_of
from companion.studies import load_study, study_on_data, under
from companion.style import table

networks = models or study_models("mini:")
names = short_names(networks)
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
    """The same with short names of the networks."""
    return rows.replace({"model": short_names(rows["model"].unique())})


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

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-12-real", "caption": "Other data move a signature several times as far as other images of the same data (bars). Distance between the signature on the images that a network was trained for and that on others; left three networks trained on ImageNet, then eight trained on CIFAR-10; dotted lines are means (`companion.chapter_12.deviation_panels`)."}, "image": {"alt": "Eleven networks side by side. Triangles for noise lie between about 0.4 and 0.8. Circles for CIFAR-10, on the first three networks, lie between 0.3 and 0.5; squares for ImageNet, on the other eight, all near 0.13. Grey bars of other images are below 0.05."}}
words = {
    "folder:imagenet-sample": "ImageNet",
    "folder:cifar10-test": "CIFAR-10",
    "random": "noise",
}
kinds = {"ImageNet": "photographs", "CIFAR-10": "cifar"}
real = pd.concat(
    [
        data_deviations(under(load_study(f"other-data-{ending}"))).assign(
            trained=of
        )
        for of, ending in kinds.items()
    ],
    ignore_index=True,
)
real = short(real).replace({"dataset": words})
deviation_panels(real, ["euclidean"], chance="other images of the first data")
plt.show()


# %% [markdown]
# The bars are distances between signatures on other images of the same data, estimated from how scores vary between two halves of the images. The
# caption of the paper's figure says Euclidean distance, its
# text dynamic time warping ({doc}`08_a_signature_for_every_architecture`), which may align other activations with each other and is
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

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-12-data", "caption": "On average noise moves signatures most and noisy digits least, by both distances (paper Fig. 15, for the mini zoo). Each network's signature on other data: above its Euclidean distance to that on the data of reference, with other images of these as bars; below its DTW distance; dotted lines are means (`companion.chapter_12.deviation_panels`)."}, "image": {"alt": "Two panels with 36 networks side by side and four markers for each, between 0 and about 1. Noise lies highest for most networks, noisy digits lowest; grey bars at the bottom are far below all markers for most networks."}}
deviations = data_deviations(study)
deviation_panels(deviations, chance=f"other images of {dataset}")
plt.show()

# %% tags=["hide-input"]
over = deviations["euclidean"] / deviations["chance"]
distance_to = (
    deviations.assign(over=over)
    .groupby("dataset", sort=False)
    .agg(
        distance=("euclidean", "mean"),
        spread=("euclidean", "std"),
        dtw=("dtw", "mean"),
        over=("over", "median"),
    )
)
headings = {
    "distance": "mean distance",
    "spread": "SD over networks",
    "dtw": "mean DTW distance",
    "over": "times that of other images",
}
table(distance_to, headings, digits={"over": 1})

# %% tags=["remove-input"]
printed = printed_table("figure15_deviation")
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
Markdown(
    f"The paper prints {theirs}, for other networks and data, so that only the order can be compared. Here the networks are furthest "
    f"away {counted}; each distance is at least {over.min():.1f} times that of other images."
)

# %% [markdown]
# ## Is it semantics?
#
# "[...] suggesting that these data sets are semantically closer to Imagenet" is one explanation of a small distance. Digits
# test it. *Inverted* digits mean what digits mean; everybody can read them. *Shuffled* digits mean
# nothing; they only have the grey values of digits, and a pixel varies as some pixel of a digit does.
#
# **Under no choice are readable digits seen to be nearer than unreadable ones.** Under the papers' choice the difference is
# undecided: the interval below contains zero. With the order that the paper prints the unreadable ones are *nearer*. Nor does
# the distance show what the *network* can read: on both the networks guess, and yet both are nearer than noise. The distance
# measures how much the distributions of the activations change. What an image means is not part of these.
#
# ## One class at a time
#
# Other data differ in everything. The images of one class differ from the rest only in what they show: same camera, same size,
# same network. So measure the score *conditional on the label*, and compare each class with 49 random subsets **of the same size**: scores of few
# images are too high ({doc}`03_estimating_it_well`), and subsets have that bias, too. If the label said nothing, a class would be one
# more random subset, so that permuting classes and subsets gives p-values without further assumptions.
#
# Four networks on CIFAR-10, 250 images at a time, and eight small ones on digits, 58 at a time.

# %% tags=["hide-input"]
tables = {
    kind: short(under(load_study(name)))
    for kind, name in {
        "CIFAR-10": "classes-cifar",
        "digits": "classes",
    }.items()
}
effects = {kind: class_effects(rows) for kind, rows in tables.items()}

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

# %% tags=["remove-input"]
of_all = [one for some in effects.values() for one in some.values()]
ratios = [one.ratio for one in of_all]
seen = sum(one.p_value < 0.05 for one in of_all)
Markdown(
    f"**The images of one class have a signature of their own**, in {seen} of {len(of_all)} networks (permutation test): "
    f"{min(ratios):.1f} to {max(ratios):.1f} times as far away as random subsets of the same size."
)

# %% [markdown]
# An activation can be affine on each class and bent on all of them together, where its bend lies between the classes
# (exercise 12.1). The score of all images is no average over classes.
#
# ## Five ways to the same architecture
#
# | method | what is minimised |
# |---|---|
# | supervised | cross entropy of the labels, on images that are moved at random |
# | label noise | the same; 40 % of the training images have a label drawn at random |
# | rotation | no labels: by how many quarters of a turn was the image rotated? {cite}`gidaris2018unsupervised` |
# | contrastive | no labels: two distortions of an image shall be near each other (SimCLR {cite}`chen2020simple`) |
# | distillation | no labels: the softened outputs of a trained network, another architecture {cite}`hinton2015distilling` |
#
# Without labels a linear layer is fitted to what the network has learned, so that all of them classify digits. That layer
# comes after the last activation, and no score depends on it.

# %% tags=["hide-input"]
gathered = AllResults.gather()
files = {one: Path(one.partition("@")[2]) for one in checkpoints}
missing = [
    one for one, file in files.items() if file.suffix and not file.is_file()
]
there = [one for one in checkpoints if one not in missing]
few = 0 < len(there) < 3  # too few to compare
trainings = gathered.mini.checkpoints
if there and not few:
    options = {"device": device, "seed": seed, "progress": False}
    options |= {"n": n, "images": images or None, "jobs": jobs}
    encoders = [with_encoder(one, Path(store) / "encoders") for one in there]
    measured = load_or_measure(encoders, dataset, store, **options)
    trainings = {name_of(file): one for file, one in measured.items()}
    listed = ", ".join(there)
    if len(trainings) < len(there):
        raise AffscoreError(
            f"two checkpoints have one name; rename a file of {listed}"
        )
    if len({tuple(one.summary["layer"]) for one in trainings.values()}) > 1:
        raise AffscoreError(
            f"expected trainings of one architecture, got {listed}"
        )
methods = [method_of(name) for name in trainings]
# some methods have several seeds, so both spreads are known
repeated = 1 < len(set(methods)) < len(methods)
distances = affscore.comparison.distance_matrix(
    {
        name: one.scores[np.isfinite(one.scores)]
        for name, one in trainings.items()
    }
)
means = means_of_criteria(trainings)
spread = spread_over_methods(means, methods) if repeated else None

# %% tags=["remove-input"]
said = f"{len(trainings)} trainings of one architecture by {len(set(methods))} methods are compared."
if missing:
    said += f" Not found: {len(missing)} of {len(checkpoints)} checkpoints: {', '.join(missing)}."
if few:
    said += (
        " Fewer than three are there: these are the trainings of the study."
    )
Markdown(said) if checkpoints else None

# %% [markdown]
# On the 15 trainings of the study, contrastive learning has a branch of its own in the clustering, far from all others, and rotation is
# apart from the rest. Supervision, label noise and distillation mix: all three teach the names of the digits.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-trainings-tree", "caption": "Contrastive learning and rotation have branches of their own, what teaches the names of digits mixes: the clustering of the trainings by average linkage; colours and markers are the methods (paper Fig. 16; `companion.figures.dendrogram`)."}, "image": {"alt": "A dendrogram that grows from right to left, a training in each row with the colour and marker of its method. The further left two branches meet, the farther apart are their signatures."}}
tree = linkage(distances)
dendrogram(tree, list(trainings), methods)
plt.show()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-trainings", "caption": "The contrastive trainings are near each other and far from all others: DTW distances between the signatures, in the order of the clustering (paper Fig. 17; `companion.figures.distance_heatmap`)."}, "image": {"alt": "A square matrix with a row and a column for each training, in shades of grey from white, distance zero on the diagonal, to black. Trainings by the same method lie side by side where they form light blocks."}}
distance_heatmap(distances, leaf_order(distances, tree))
plt.show()

# %% [markdown]
# ### Are these methods, or seeds?
#
# Every clustering has groups. Two tests ask whether they are the methods:
#
# * **by the whole signature**: is the nearest neighbour of a network of its own method more often than when the methods
#   are permuted over the networks? (As for families in {doc}`08_a_signature_for_every_architecture`.)
# * **by the mean score, and each other criterion**: a one-way analysis of variance. $F$ divides the mean square
#   between methods by that within them, which is what seeds do.

# %% tags=["hide-input"]
if repeated:
    near = nearest_neighbour_accuracy(distances, methods, permutations, seed)
    shown = spread.assign(p=spread["p_value"].map("{:.2g}".format))
    headings = {"mean": "mean", "std": "SD of all", "seeds": "SD of seeds"}
    headings |= {"F": "F", "p": "p-value"}
else:
    near, shown = None, means.agg(["mean", "std"]).T
    headings = {"mean": "mean", "std": "SD of all"}
digits = {"mean": 3, "std": 3, "seeds": 3, "F": 1}
table(shown, headings, digits)

# %% tags=["remove-input"]
Markdown(
    f"By the whole signature, {100 * near.value:.0f} % of the networks have a nearest neighbour of their own method; under permutation it is "
    f"{100 * near.permuted:.0f} % on average (p = {near.p_value:.2g})."
    if repeated
    else "No method was trained twice here, so that methods and seeds cannot be separated."
)

# %% [markdown]
# Each criterion is the mean over the activations of a network: the affinity score, linear CKA between input and output, the
# norm of their difference, the change of the share of zeros, and that of the entropy ({doc}`09_is_the_score_redundant`).
#
# ### Which criterion is the steadiest?
#
# The paper compares standard deviations: 0.04 for the score, 404.61 for the norm. But these criteria have units of their own:
# the norm grows with the number of images and of channels. Divided by the mean, as a coefficient of variation, or by
# what seeds do, they can be compared:

# %% tags=["hide-input"]
steadiness = pd.DataFrame({"variation": means.std() / means.mean().abs()})
headings = {"variation": "coefficient of variation (%)"}
if repeated:
    steadiness["seeds"] = spread["ratio"]
    headings["seeds"] = "SD in units of that of seeds"
theirs = printed_table("table3_resnet50_robustness").rename(
    index={"affinity_score": "score", "linear_cka": "cka"}
)
steadiness["paper"] = (theirs["std"] / theirs["mean"]).astype(float)
headings["paper"] = "the paper's, of 17 ResNet-50 (%)"
table(steadiness, headings, digits={"variation": 1, "seeds": 1, "paper": 0})

# %% tags=["remove-input"]
variation = steadiness["variation"]
steadier = variation.index[variation < variation["score"]]
Markdown(
    f"By the coefficient of variation the score is number {len(steadier) + 1} of {len(variation)} here, after "
    f"{', '.join(steadier) or 'none'}; in the paper's table it is the first."
)

# %% [markdown]
# With checkpoints of your own, as the public ones of SwAV, DINO and MoCo, name them in the parameter `checkpoints`. Of a self-supervised release the encoder is
# taken (`companion.encoders.with_encoder`). A file is called after its method, with a
# number at the end where there are several (or as paper Fig. 16 names it, as `resnet50_moco_800`). The paper's statements have their tests and verdicts in
# {doc}`18_what_is_reproduced`.
#
# ## What we found

# %% tags=["remove-input", "findings"]
times = (real["euclidean"] / real["chance"]).median()
away = {
    of: f"{row['sum']} of {row['size']}" for of, row in furthest.iterrows()
}
meaning = "**How far depends on the data.**"
if {"digits-inverted", "digits-shuffled"} <= set(distance_to.index):
    apart = deviations.pivot_table(
        index="model", columns="dataset", values="euclidean"
    )
    lead = mean_of(apart["digits-shuffled"] - apart["digits-inverted"])
    meaning = (
        f"**{'A small distance goes' if lead.above() else 'It is not seen that a small distance goes'} with data that mean the same.** Inverted digits, "
        f"which anyone can read, are {'' if lead.above() else 'not seen to be '}nearer than shuffled ones, which nobody can (difference {lead:.3f}; {lead.half():.3f} would have been seen)."
    )
by_method = means["score"].groupby(methods).mean()
low, high = by_method.agg(["idxmin", "idxmax"])
trained = f"**Mean scores of trainings go from {by_method[low]:.2f} ({low}) to {by_method[high]:.2f} ({high})**"
if repeated:
    trained += (
        f", p = {spread.loc['score', 'p_value']:.2g}; seeds of one method vary by {spread.loc['score', 'seeds']:.3f}. The nearest "
        f"signature is of the same method for {100 * near.value:.0f} % of the networks, {100 * near.permuted:.0f} % by chance"
    )
Markdown(f"""
* **Other data move the signature of a trained network {times:.0f} times as far as other images of the same data** (median over \
eleven networks trained on ImageNet and CIFAR-10). Noise is the furthest for {away["CIFAR-10"]} networks trained on CIFAR-10 and \
for {away["ImageNet"]} trained on ImageNet.
* {meaning} The images of one class have a signature of their own, in {seen} of {len(of_all)} networks.
* {trained}.
""")

# %% [markdown]
# ## Takeaways
#
# * Report the data with a signature, and how far other images of the same data move it.
# * Read a small distance as similar distributions of activations, not as similar meaning.
# * Compare the images of one class with random subsets of the same size, never with all images.
# * To say that a clustering finds methods takes several trainings of each, with seeds of their own, and a test.
# * Compare spreads of different criteria in units of something: of the mean, or of what seeds do.
#
# ## Exercises
#
# ```{exercise} 12.1 Affine on each class
# :label: ex-12-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: build data whose classes hide a bend.
#
# Make up the inputs of two classes, arrays $x_0$ and $x_1$ of one shape $(n, d)$ with $64 \le n \le 512$, such that ReLU has a score
# of at least 0.95 on each of them (empirical covariance), and of at most 0.7 on both together. Hand in `(x0, x1)`.
# ```
#
# ```{admonition} Hint for 12.1
# :class: dropdown hint
# On which inputs is ReLU affine? There are two such sets; $d = 1$ is enough.
# ```

# %%
answer = None  # your answer here: a pair of arrays
# companion.exercises.check("12.1", answer)

# %% [markdown]
# ```{solution-start} ex-12-1
# :class: dropdown
# ```
#
# One class on each side of the bend. An activation that separates classes may be affine on all of them.

# %%
generator = np.random.default_rng(0)
below = -1 - generator.exponential(size=(256, 1))
above = generator.exponential(size=(256, 1))
companion.exercises.check("12.1", (below, above))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 12.2 The smallest p-value
# :label: ex-12-2
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: know what a permutation test can reach before running it.
#
# Two methods, two seeds each: four networks. The test by nearest neighbours permutes the methods over the networks. What is
# the smallest p-value that it can give? Hand in the number.
# ```
#
# ```{admonition} Hint for 12.2
# :class: dropdown hint
# In how many ways can four networks be divided into two pairs?
# ```

# %%
answer = None  # your answer here: a number
# companion.exercises.check("12.2", answer)

# %% [markdown]
# ```{solution-start} ex-12-2
# :class: dropdown
# ```
#
# Four networks can be divided into two pairs in three ways, and one of them is the right one.

# %%
companion.exercises.check("12.2", 1 / 3)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 12.3 How many seeds does a verdict need?
# :label: ex-12-3
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: plan the size of a study from the resolution of its test.
#
# A study has $m$ methods with $k$ seeds each. The test by nearest neighbours permutes the $mk$ labels; its statistic does not change when
# methods swap their names. (a) Prove that its p-value is at least $m!\,(k!)^m / (mk)!$ over all permutations. (b) Which is the smallest $k$ with which two methods
# can reject at 0.05, and which for five methods? (c) What does (a) say of the paper's figure, with $k = 1$?
# ```
#
# ```{admonition} Hint for 12.3
# :class: dropdown hint
# Count the permutations of labels that leave the partition of the networks into groups as it is.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-12-3
# :class: dropdown
# ```
#
# (a) The statistic depends only on which networks share a label, that is, on the partition into $m$ groups of $k$. Permuting the networks inside each group ($(k!)^m$ ways)
# and the names of the groups ($m!$ ways) gives the observed partition again, so at least $m!\,(k!)^m$ of the $(mk)!$ permutations have the observed value of
# the statistic, or more. The p-value is the share of permutations that reach it.
#
# (b) The bound for two methods is $2\,(k!)^2 / (2k)!$: 1/3 for $k = 2$, 1/10 for $k = 3$, 1/35 for $k = 4$. So four seeds. For five methods
# with two seeds it is $5! \cdot 2^5 / 10! = 1/945$: two are enough, if all goes well.
#
# (c) With $k = 1$ the bound is $m!/m! = 1$: no result could have rejected. A clustering of one training each cannot show that it finds methods.

# %%
from math import factorial

for m, k in [(2, 2), (2, 3), (2, 4), (5, 2), (17, 1)]:
    least = factorial(m) * factorial(k) ** m / factorial(m * k)
    print(f"{m} methods, {k} seeds: p ≥ {least:.3g}")

# %% [markdown]
# **Rubric** (6 points)
#
# * 2: the statistic depends on the partition only, and the count $m!\,(k!)^m$.
# * 1: from the count to the bound on the p-value.
# * 2: four seeds for two methods, two for five, with the numbers.
# * 1: with one training each the p-value is 1.
#
# ```{solution-end}
# ```
