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
# # A signature for every architecture
#
# How far apart are two signatures of different lengths? The paper {cite}`bouniot2025alexnet` measures it for its 36
# networks, clusters them, and finds the families: VGGs beside VGGs, ResNets beside ResNets. This chapter makes the
# same figures and tests them. You will learn
#
# * how dynamic time warping (DTW) compares sequences of different lengths, and what it does **not** normalise,
# * how to test a clustering against chance, and against a less informed baseline: the number of activations alone,
# * what residual connections do to the distribution of scores, and why a test of modes does not show it,
# * what a signature reveals of a network before training.

# %% tags=["parameters"]
models: list[str] = []  # with or without @WEIGHTS; none: 36 of the mini zoo
dataset: str = "digits"  # digits, cifar10, imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
permutations: int = 4999  # of each permutation test
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, choice of images, permutations

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %%
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore import AffscoreError, analysis, papers
from affscore.figures import (
    dendrogram,
    distance_heatmap,
    score_distributions,
    score_histograms,
)
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey import load_or_measure
from affscore.survey.shipped import shipped_signature
from IPython.display import Markdown

networks = models or papers.study_models("mini:")
options = {
    "n": n,
    "images": images or None,
    "device": device,
    "seed": seed,
    "progress": False,
}
results = load_or_measure(networks, dataset, store, jobs=jobs, **options)
by_name = {
    papers.short_names(networks)[model]: result
    for model, result in results.items()
}
# an activation whose input is constant has no score
signatures = {
    name: result.scores[np.isfinite(result.scores)]
    for name, result in by_name.items()
}
if len(signatures) < 2:
    raise AffscoreError(
        "this chapter compares networks: name at least two in the parameter models"
    )
about = papers.network_table(signatures)
families = about["family"].tolist()
print(f"{len(signatures)} networks of {len(set(families))} families, with {min(map(len, signatures.values()))} to "
      f"{max(map(len, signatures.values()))} activations, on {dataset}")  # fmt: skip

# %% [markdown]
# By default these are the networks of the **mini zoo**: a small member of every family of the study, named after the
# network that it stands for, trained on 8 x 8 digits. They are analogues, not measurements of the originals; with
# `notebooks/params/paper.yml` the same cells run on the originals.
#
# ## The DTW distance
#
# Two signatures $a$ and $b$ are traversed together, from their first score to their last. Each step advances in one
# of them or in both, and costs the squared difference of the two current scores. The **dynamic time warping**
# distance {cite}`sakoe1978dynamic` is the root of the smallest total cost,
#
# $$
# D(a, b) = \min_{\pi} \sqrt{\sum_{(i, j) \in \pi} (a_i - b_j)^2} .
# $$
#
# A repeated score costs nothing: a network whose blocks all look alike is close to a deeper one with the same blocks,
# as it should be. The triangle inequality fails, so this is not a metric. Exercise 7.1 asks you to write it.

# %%
distances = analysis.distance_matrix(signatures)
tree = analysis.linkage(distances)  # average linkage
print(f"distances from {distances.to_numpy()[np.triu_indices(len(distances), 1)].min():.2f} "
      f"to {distances.to_numpy().max():.2f}")  # fmt: skip

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-distances", "caption": "DTW distances between all signatures, in the order of the clustering: the darker, the farther apart (figure 14 of the paper; `affscore.figures.distance_heatmap`)."}, "image": {"alt": "A square matrix with a row and a column for each network, in shades of grey from white (distance zero, the diagonal) to black. Light blocks along the diagonal are groups of networks with similar signatures."}}
distance_heatmap(distances, analysis.leaf_order(distances, tree))
plt.show()

# %% [markdown]
# ## The clustering
#
# Hierarchical clustering joins the two nearest networks, then the two nearest clusters, until one is left. The
# distance of two clusters is a choice: here it is the mean distance of their members (average linkage). The paper
# does not state its choice.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-clustering", "caption": "The clustering of the signatures; colours and markers are the families (figure 5 A of the paper, figure 8 of its first version; `affscore.figures.dendrogram`)."}, "image": {"alt": "A dendrogram that grows from right to left, a network in each row with the colour and marker of its family. The further left two branches meet, the farther apart are their signatures."}}
dendrogram(tree, list(signatures), families)
plt.show()

# %% [markdown]
# Clustering always yields a tree; three checks:
#
# * **Is the tree faithful to the distances?** The *cophenetic correlation* {cite}`sokal1962comparison` is that of the distances with
#   the heights at which two networks are joined.
# * **Are the families found?** Cut the tree into as many clusters as there are families, and count pairs: how often do
#   clusters and families agree on "together" or "apart", beyond chance? That is the *adjusted Rand index*
#   {cite}`hubert1985comparing`, 1 for the same partition and 0 for chance.
# * **Is the nearest neighbour a relative?** The share of networks (with a relative at all) whose nearest neighbour is
#   of their family: the leave-one-out 1-nearest-neighbour (1-NN) accuracy. It needs no tree.
#
# For the last two, the families are permuted over the networks: the p-value is the share of permutations that do at
# least as well, and *by chance* is their mean.


# %% tags=["hide-input"]
def row(matrix, labels, method="average"):
    found = analysis.family_agreement(
        matrix, labels, method, permutations, seed
    )
    near = analysis.nearest_neighbour_accuracy(
        matrix, labels, permutations, seed
    )
    return {
        "cophenetic correlation": analysis.cophenetic_correlation(
            matrix, analysis.linkage(matrix, method)
        ),
        "adjusted Rand index": found.value,
        "p-value": found.p_value,
        "1-NN accuracy": near.value,
        "by chance": near.permuted,
        "its p-value": near.p_value,
    }


methods = {
    f"{method} linkage": row(distances, families, method)
    for method in ("average", "single", "complete")
}
pd.DataFrame.from_dict(methods, orient="index").iloc[:, :3].round(4)

# %% tags=["hide-input"]
near = analysis.nearest_neighbour_accuracy(
    distances, families, permutations, seed
)
print(
    f"nearest neighbour is a relative: {near.value:.2f} of the networks (by chance {near.permuted:.2f}, p = {near.p_value:.4f})"
)

# %% [markdown]
# The clusters, when the tree of average linkage is cut into as many as there are families:

# %% tags=["hide-input"]
pd.set_option("display.max_colwidth", 300)  # names in one cell
cut = analysis.clusters(tree, list(signatures), len(set(families)))
members = cut.groupby(cut).agg(
    ["size", lambda numbers: ", ".join(numbers.index)]
)
members.columns = ["networks", "names"]
members.sort_values("networks", ascending=False, kind="stable")

# %% tags=["remove-input"]
found = analysis.family_agreement(
    distances, families, "average", permutations, seed
)
of_one_family = [
    set(about.loc[names.index, "family"]) for _, names in cut.groupby(cut)
]
Markdown(
    f"**{near.value:.0%} of the networks have a relative as their nearest neighbour**, {near.permuted:.0%} by chance "
    f"(p = {near.p_value:.2g}). {sum(len(names) == 1 for names in of_one_family)} of {len(of_one_family)} clusters "
    f"hold one family only; the adjusted Rand index is {found.value:.2f} (p = {found.p_value:.2g})."
    if np.isfinite(near.value)
    else "No two of these networks are of one family, so there are no families to find."
)

# %% [markdown]
# On the mini zoo the families are there, far beyond chance, but a family is not a cluster, as the paper says of its
# networks. The cut spends most clusters on a few deep networks and leaves several families together in each of the
# large ones. The choice of the linkage matters: single linkage, which chains, hardly finds the families. (Members of
# a family also had nearly the same training recipe, {doc}`92_the_mini_zoo`. The networks with random weights below
# have none.)
#
# ## A baseline: length alone
#
# Members of a family also have similar **numbers of activations**. Does the DTW distance, made for sequences of
# different lengths, ignore these?
#
# It does not. It is the root of a **sum** over at least as many steps as the longer signature has scores. Let two
# networks have constant scores, 0.2 apart: with 7 activations each their distance is $0.2\sqrt7 \approx 0.5$, and
# with 150 activations in one of them it is $0.2\sqrt{150} \approx 2.4$, although only a length differs. Two checks:
#
# * the rank correlation of the distance with the difference in length, with a **Mantel test**
#   {cite}`mantel1967detection`, which permutes the networks;
# * the same clustering from other distances: **length only**, which knows nothing but the number of activations, and
#   **per step**, $D(a, b) / \sqrt{\max(|a|, |b|)}$, nearly a root mean square (a path has a few more steps than the
#   longer signature has scores), which removes the length.
#
# Many networks have several others at the same difference in length: tied nearest neighbours share the vote equally.

# %% tags=["hide-input"]
only_length = analysis.length_distances(signatures)
per_step = analysis.per_step(distances, signatures)
rows = {}
for name, matrix in {"DTW distance": distances, "per step": per_step}.items():
    found = analysis.mantel_test(matrix, only_length, permutations, seed)
    rows[name] = {
        "rank correlation with difference in length": found.correlation,
        "p-value": found.p_value,
    }
pd.DataFrame.from_dict(rows, orient="index").round(4)

# %% tags=["hide-input"]


def beside_length(matrix, scores, labels):
    lengths = analysis.length_distances(scores)
    candidates = {
        "DTW distance": matrix,
        "per step": analysis.per_step(matrix, scores),
        "length only": lengths,
    }
    return pd.DataFrame.from_dict(
        {name: row(one, labels) for name, one in candidates.items()},
        orient="index",
    ).round(4)


beside_length(distances, signatures, families)

# %% [markdown]
# A p-value says that a clustering does better than chance, not **why**; for that, compare with a less informed
# baseline. Is the lead of the DTW distance over the lengths alone more than the choice of networks? Its error comes
# from the **jackknife** over networks: leave out a sixth of them, cluster the rest both ways, and see how the lead
# varies.

# %% tags=["hide-input"]
lead = analysis.family_lead(distances, only_length, families, seed=seed)
print(
    f"lead by the adjusted Rand index: {lead.value:.2f}, standard error over networks {lead.error:.2f}"
)

# %% tags=["remove-input"]
lead_decides = abs(lead.value) > 2 * lead.error
alone = analysis.nearest_neighbour_accuracy(
    only_length, families, permutations, seed
)
Markdown(
    "Whether the clustering finds the families beyond their lengths "
    + (
        "**is decided**: the lead is more than two standard errors. "
        if lead_decides
        else "**cannot be decided** on these networks: the lead is within two standard errors. "
    )
    + f"By nearest neighbours the signatures find a relative for {near.value:.0%} of the networks, "
    f"the lengths alone for {alone.value:.0%}."
    if np.isfinite(near.value)
    else "Without two networks of one family there is no lead to test."
)

# %% [markdown]
# On the mini zoo the distance follows the difference in length; per step hardly anything of that is left, and yet the
# nearest neighbour is still a relative for most networks. So the scores do know the family beyond the length, and the
# cut of a tree is a poor measure of it.
#
# ## One of each family
#
# The paper shows one network of each of its nine families, and concludes that early convolutional networks and later
# ones grow apart until Swin brings some of the convolution back. It does not say which nine it took; these are ours.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-nine", "caption": "DTW distances between one network of each family, oldest first (figure 5 B of the paper; `affscore.figures.distance_heatmap`)."}, "image": {"alt": "A square matrix with nine rows and columns, from AlexNet to ConvNeXt, in shades of grey with the distance written into each cell."}}
chosen = ["alexnet", "inception_v3", "resnet50", "densenet121", "mnasnet1_0",
          "efficientnet_b1", "vit_b_16", "swin_t", "convnext_tiny"]  # fmt: skip
nine = [name for name in chosen if name in signatures] or list(signatures)[:9]
distance_heatmap(distances.loc[nine, nine])
plt.show()

# %% [markdown]
# To avoid that choice: the mean distance of AlexNet and the VGGs to the members of each family (to each other in the
# first row), oldest first, as it is and per step:

# %% tags=["hide-input"]
early = about.index[about["family"] == "Pure convnets"]
means = {}
for family in about.sort_values("year", kind="stable")["family"].unique():
    members = about.index[about["family"] == family]
    pairs = [
        (one, other) for one in early for other in members if one != other
    ]
    if pairs:
        means[family] = [
            np.mean([matrix.loc[pair] for pair in pairs])
            for matrix in (distances, per_step)
        ]
pd.DataFrame.from_dict(
    means, orient="index", columns=["DTW distance", "per step"]
).round(3)

# %% [markdown]
# On the mini zoo neither column rises steadily with the years. The raw distance is largest to the ResNets and the
# EfficientNets, which are deep and have scores near 1; per step, Inception, DenseNets and MNASNets are nearer to the
# early networks than these are to each other. Swin and ConvNeXt are nearer to the early networks than the ViTs, as in
# the paper, but these differences are small and have no error bar.
#
# ## Distributions
#
# Without their order, the scores form a distribution.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-distributions", "caption": "All scores of one network of each family, and a density estimate around them (figure 5 C of the paper; `affscore.figures.score_distributions`)."}, "image": {"alt": "For each of nine networks a column of points, the affinity scores of its activations, with a shape around them that is wide where there are many."}}
score_distributions(
    {name: signatures[name] for name in nine},
    about.loc[nine, "family"].tolist(),
)
plt.show()

# %% [markdown]
# The paper sees low scores dominate in ViTs, two modes in ResNets, and high scores dominate in DenseNets and
# EfficientNets.
#
# On the mini zoo the second mode of the ResNet, near 1, is easily seen. EfficientNet-B1 reaches as high but has the
# widest range of the nine; DenseNet-121 is not skewed upwards, and the scores of the ViT are not low.
#
# ## What a shortcut does
#
# Here the package has more than an analogue: networks trained on CIFAR-10 with and without residual connections,
# otherwise the same, as in the paper's figure 5 D (20 layers there). Every ReLU after a sum has its counterpart in
# the plain network, the second ReLU of a block.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-plain-and-residual", "caption": "Scores of the same convolutional network without and with residual connections, with 20 and with 56 layers, trained on CIFAR-10 (figure 5 D of the paper, top; `affscore.figures.score_histograms`)."}, "image": {"alt": "Four histograms of affinity scores. Without shortcuts the scores of both activations of a block overlap; with shortcuts those after a sum lie near one and those inside a block far below, more so with 56 layers than with 20."}}
names = {
    "first": "first of a block",
    "second": "second of a block",
    "after-sum": "after a sum",
    "hidden": "stem",
}


def kinds_of(result):
    table = result.summary.dropna(subset="score")
    return {
        names.get(kind, kind): rows["score"]
        for kind, rows in table.groupby("kind")
    }


pairs = {
    layers: [
        shipped_signature(f"shipped:{kind}net{layers}")
        for kind in ("plain", "res")
    ]
    for layers in (20, 32, 44, 56)
}
score_histograms(
    {
        f"{what}, {layers} layers": kinds_of(result)
        for layers in (20, 56)
        for what, result in zip(
            ("plain", "residual"), pairs[layers], strict=True
        )
    }
)
plt.show()

# %% [markdown]
# *Bimodal* means two modes, and a histogram of 19 numbers has peaks for many reasons. **Silverman's test**
# {cite}`silverman1981using` smooths the scores until one mode is left, and asks how often a sample from that smooth,
# unimodal distribution would need as much smoothing. A small p-value speaks against one mode; the test is
# conservative, and a large p-value is no evidence of one mode. Two other columns need no test: the share of scores
# above 0.9, and the probability that a score after the sum (in the plain network: the second of a block) exceeds one
# of a first activation.


# %% tags=["hide-input"]
def shape(result):
    table = result.summary.dropna(subset="score")
    after = "after-sum" if (table["kind"] == "after-sum").any() else "second"
    second = table.loc[table["kind"] == after, "score"]
    first = table.loc[table["kind"] == "first", "score"]
    return {
        "activations": len(table),
        "p-value of one mode": analysis.unimodality_test(
            table["score"], seed=seed
        ).p_value,
        "p-value of one Gaussian": analysis.mixture_test(
            table["score"], seed=seed
        ).p_value,
        "share above 0.9": (table["score"] > 0.9).mean(),
        "mean after the sum, or second": second.mean(),
        "mean of first": first.mean(),
        "after the sum is larger": analysis.common_language_effect_size(
            second, first
        ),
    }


shapes = {
    f"{what}, {layers} layers": shape(result)
    for layers, both in pairs.items()
    for what, result in zip(("plain", "residual"), both, strict=True)
}
shapes |= {
    name: shape(by_name[name])
    for name in ("resnet18", "resnet34")
    if name in by_name
}
pd.DataFrame.from_dict(shapes, orient="index").round(3)

# %% [markdown]
# The last columns are clear: with shortcuts an activation after a sum is nearly always the more nearly affine one, and the
# deeper the network the nearer to 1; without shortcuts the two activations of a block are alike. (`resnet18` and
# `resnet34`, the bottom of figure 5 D, are those of this run.)
#
# That there are **two modes with shortcuts and one without** is another matter. The published code takes the average after
# the activation, the definition in the paper before it ({doc}`04_signature_of_a_network`). The p-values of all pairs, in both
# orders:

# %% tags=["hide-input"]
chances = {}
for order in ("activate-first", "reduce-first"):
    for layers in pairs:
        for kind, what in (("plain", "plain"), ("res", "residual")):
            scores = shipped_signature(
                f"shipped:{kind}net{layers}", order=order
            ).scores
            activations, p = (
                len(scores),
                analysis.unimodality_test(scores, seed=seed).p_value,
            )
            chances[order, what] = chances.get((order, what), {}) | {
                f"{layers} layers, {activations} activations": p
            }
pd.DataFrame(chances).round(3)

# %% [markdown]
# Of the largest pair, unimodality is rejected for the residual network when the activation comes first, and for the
# plain network when the average does; the smaller pairs decide nothing in either order. So whether shortcuts make the
# scores bimodal **cannot be decided** on these networks. In a sign test, six pairs of six would have to agree;
# {doc}`80_the_ledger` asks under each order.
#
# ## Before training
#
# Does the signature belong to the **architecture**, or to what training made of it? The package has signatures of the
# study's networks at their full size, with random weights and random images. Clustered in the same way:

# %% tags=["hide-input"]
untrained = {}
for name in papers.study_models(""):
    try:
        untrained[name] = shipped_signature(f"shipped:{name}@random").scores
    except AffscoreError:
        continue  # not every network of the study is among the shipped results
labels = papers.network_table(untrained)["family"].tolist()
of_untrained = analysis.distance_matrix(untrained)
print(
    f"{len(untrained)} networks of {len(set(labels))} families with random weights"
)
beside_length(of_untrained, untrained, labels)

# %% [markdown]
# Most networks with a relative have one as their nearest neighbour, far more than the lengths alone find, and by the
# adjusted Rand index, too, the signatures do better. So a signature identifies the family before any training: it is
# largely a property of the architecture, of its order of layers and its initial weights.
# {doc}`04_signature_of_a_network` shows what training adds.
#
# ## What holds, and under which choices
#
# One row for each conclusion of the paper that this chapter looks at: the verdict under the papers' own choice of
# reduction, order, covariance and coupling, and in how many of the equally defensible choices it holds
# ({doc}`09_a_multiverse_of_signatures`). The tests are in {doc}`80_the_ledger`; they are on the results that come with
# the package, whatever the parameters of this chapter are.

# %% tags=["hide-input"]
ledger = Ledger(AllResults.gather())
ledger.conclusions(
    "after-sums-more-linear",
    "one-mode-is-linear",
    "resnets-bimodal",
    "shortcuts-make-two-modes",
    "densenets-skewed-against-vits",
    "back-to-convnets",
    "vggs-alike",
    "families-are-found",
    "no-outliers",
)

# %% [markdown]
# ## Takeaways
#
# * The DTW distance compares signatures of any two lengths. It is a sum over steps, so deep networks are far from
#   everything.
# * A clustering needs a number and a test: the adjusted Rand index with permuted families is one; leave-one-out
#   nearest neighbours are simpler and need no cut.
# * A test against chance is weak. Compare with a less informed baseline, here the number of activations alone, and
#   give the lead an error.
# * Residual connections split the activations into two kinds. Whether their scores have two modes cannot be answered
#   with 19 to 55 scores, and the answer changes with the order of activation and average.
#
# ## Exercises
#
# ```{exercise} 7.1 Warp it yourself
# :label: ex-7-1
# :nonumber:
#
# Write the DTW distance as a function `distance(a, b)` of two NumPy arrays, without a library for it. Hand in the function.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("7.1", answer)

# %% [markdown]
# ```{solution-start} ex-7-1
# :class: dropdown
# ```
#
# The cheapest way to stand at $(i, j)$ comes from one of three neighbours: dynamic programming.


# %%
def distance(a, b):
    price = np.full((len(a) + 1, len(b) + 1), np.inf)
    price[0, 0] = 0
    for i in range(len(a)):
        for j in range(len(b)):
            before = min(price[i, j], price[i, j + 1], price[i + 1, j])
            price[i + 1, j + 1] = (a[i] - b[j]) ** 2 + before
    return np.sqrt(price[-1, -1])


answer = distance
affscore.exercises.check("7.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 7.2 A matter of length
# :label: ex-7-2
# :nonumber:
#
# All 12 activations of one network have the score 0.55, all 150 of another the score 0.8. What is their DTW distance?
# Hand in a number.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("7.2", answer)

# %% [markdown]
# ```{solution-start} ex-7-2
# :class: dropdown
# ```
#
# Every score of the longer one needs a partner, at the same price each; 150 steps are enough.

# %%
answer = np.sqrt(150) * (0.8 - 0.55)
affscore.exercises.check("7.2", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 7.3 A measure that is easily fooled
# :label: ex-7-3
# :nonumber:
#
# *Purity* is the share of networks that belong to the most frequent family of their cluster. Twelve networks come from four families,
# `["VGG"] * 3 + ["ResNet"] * 3 + ["ViT"] * 3 + ["Swin"] * 3`. Hand in a list of twelve cluster numbers whose purity is 1 and
# whose adjusted Rand index is not above 0.1.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("7.3", answer)

# %% [markdown]
# ```{solution-start} ex-7-3
# :class: dropdown
# ```
#
# A cluster of one is always pure. Purity rewards many clusters; the adjusted Rand index counts that families were torn apart.

# %%
answer = list(range(12))
affscore.exercises.check("7.3", answer)

# %% [markdown]
# ```{solution-end}
# ```
