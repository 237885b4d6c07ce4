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
# Put the scores of a network in their order, and it has a signature. Do networks of one design have similar ones? The
# paper {cite}`bouniot2025alexnet` compares its 36 networks by dynamic time warping, clusters them, and finds the
# families: VGGs beside VGGs, ResNets beside ResNets. This chapter repeats that, first on networks that were trained on
# photographs, and tests it against chance and against the simplest rival, the number of activations.
#
# You will learn how to compare signatures of different lengths, how to test a clustering, and how much of a signature
# is there before any training.

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
dataset: str = "digits"  # digits, cifar10, imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
permutations: int = 4999  # of each permutation test
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, choice of images, permutations

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from dtaidistance import dtw
from IPython.display import Markdown

import affscore
import companion
from affscore import AffscoreError
from affscore.survey import load_or_measure
from companion.chapter_08 import score_distributions
from companion.clustering import (
    family_agreement,
    leaf_order,
    linkage,
    nearest_neighbour_accuracy,
)
from companion.figures import dendrogram, distance_heatmap
from companion.networks import network_table, short_names, study_models
from companion.shipped import RESULTS, shipped_signature
from companion.style import table

# %% [markdown]
# ## Eight networks on photographs
#
# He et al. {cite}`he2016deep` trained networks of 20 to 56 layers on CIFAR-10, each with and without residual
# connections. A twin has the same layers and so the same number of activations. If signatures followed the depth, a
# network would be nearest to its twin. It is not:

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-twin-distances", "caption": "Distances between the signatures of networks on CIFAR-10: those without shortcuts are all close to each other, from 20 to 56 layers, and those with shortcuts are far from them, the more so the deeper they are (`companion.figures.distance_heatmap`)."}, "image": {"alt": "A square matrix of eight networks with a distance in each cell. The four plain networks form a light block with distances of 0.2 to 0.4; the residual networks are 0.5 to 1.2 away from them, and 0.5 to 1.1 from each other."}}
twins = {
    f"{kind} {layers}": shipped_signature(f"{name}net{layers}")
    for kind, name in (("plain", "plain"), ("residual", "res"))
    for layers in (20, 32, 44, 56)
}
between = affscore.comparison.distance_matrix(
    {name: result.scores for name, result in twins.items()}
)
distance_heatmap(between)
plt.show()

# %% tags=["remove-input"]
kinds = [name.split()[0] for name in twins]
nearest = between.mask(np.eye(len(between), dtype=bool)).idxmin()
same = sum(
    one.split()[0] == other.split()[0] for one, other in nearest.items()
)
far, twin = between.loc["plain 20", ["plain 56", "residual 20"]]
Markdown(
    f"The nearest network is of the same kind for **{same} of {len(twins)}** "
    "networks; the number of activations alone would choose the twin each "
    f"time. The plain network of 20 layers is {far:.2f} away from the one of "
    f"56 layers and {twin:.2f} from its twin."
)

# %% [markdown]
# ## The distance
#
# Two signatures $a$ and $b$ are traversed together, from their first score to their last. Each step advances in one
# of them or in both, and costs the squared difference of the two current scores. The **dynamic time warping** (DTW)
# distance {cite}`sakoe1978dynamic` is the root of the smallest total cost,
#
# $$
# D(a, b) = \min_{\pi} \sqrt{\sum_{(i, j) \in \pi} (a_i - b_j)^2} .
# $$
#
# A repeated score costs nothing, so a network whose blocks all look alike is close to a deeper one with the same
# blocks. That is why the plain networks are close to each other. Two warnings: the triangle inequality fails, and nothing is divided by the length, so long signatures are far from everything else.
#
# ## The families of the study
#
# The same for the 36 networks of the paper, as far as this computer goes: by default these are the networks of the
# **mini zoo**, a small member of every family, trained on 8 x 8 digits and named after the network that it stands
# for. With `notebooks/params/paper.yml` the same cells run on the originals.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-clustering", "caption": "The clustering of all signatures (average linkage): most networks stand beside a relative, but few families are a branch of their own. Colours and markers are the families, and the lines the signatures (paper Fig. 5 A, and Fig. 8 of its first version; `companion.figures.dendrogram`)."}, "image": {"alt": "A dendrogram that grows from right to left, a network in each row with the colour and marker of its family. The further left two branches meet, the farther apart are their signatures. Beside each network its signature is a small line."}}
networks = models or study_models("mini:")
options = {
    "n": n,
    "images": images or None,
    "device": device,
    "seed": seed,
    "progress": False,
    "also": [RESULTS],  # what comes with the book
}
results = load_or_measure(networks, dataset, store, jobs=jobs, **options)
by_name = {
    short_names(networks)[model]: result for model, result in results.items()
}
# an activation whose input is constant has no score
signatures = {
    name: result.scores[np.isfinite(result.scores)]
    for name, result in by_name.items()
}
if len(signatures) < 2:
    raise AffscoreError(
        "this chapter compares networks: "
        "name at least two in the parameter models"
    )
about = network_table(signatures)
families = about["family"].tolist()
distances = affscore.comparison.distance_matrix(signatures)
theirs = dtw.distance_matrix([*signatures.values()])
assert np.allclose(distances, theirs)  # as a package for time series finds
tree = linkage(distances)  # average linkage
dendrogram(tree, list(signatures), families, signatures=signatures)
plt.show()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-distances", "caption": "The distances behind it, in the order of the tree: the darker, the farther apart. The deep networks are far from all others (paper Fig. 14; `companion.figures.distance_heatmap`)."}, "image": {"alt": "A square matrix with a row and a column for each network, in shades of grey from white (distance zero, the diagonal) to black. Light blocks along the diagonal are groups of networks with similar signatures; a few rows at one end are dark throughout."}}
distance_heatmap(distances, leaf_order(distances, tree))
plt.show()

# %% [markdown]
# Clustering always yields a tree. Is there more in it than chance, and more than lengths? Two measures:
#
# * **Nearest neighbour.** The share of networks (with a relative at all) whose nearest neighbour is of their family,
#   the leave-one-out 1-NN accuracy. It needs no tree.
# * **Adjusted Rand index.** Cut the tree into as many clusters as there are families, and count pairs: how often do
#   clusters and families agree on "together" or "apart", beyond chance {cite}`hubert1985comparing`? It is 1 for the
#   same partition and 0 for chance.
#
# The p-values come from permuting the families over the networks. And two rivals of the DTW distance: **length
# alone**, the difference in the number of activations, where tied neighbours share the vote; and **per step**,
# $D(a, b) / \sqrt{\max(|a|, |b|)}$, nearly a root mean square, which takes the length out.


# %% tags=["hide-input"]
def rivals(matrix, scores, labels):
    candidates = {
        "DTW distance": matrix,
        "per step": companion.chapter_08.per_step(matrix, scores),
        "length alone": companion.chapter_08.length_distances(scores),
    }
    rows = {}
    for name, one in candidates.items():
        near = nearest_neighbour_accuracy(one, labels, permutations, seed)
        cut = family_agreement(one, labels, "average", permutations, seed)
        rows[name] = [*near[:3], cut.value, cut.p_value]
    names = ["near", "p", "chance", "rand", "p of it"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=names)


def shown(found):
    headings = {
        "near": "relative is nearest (%)",
        "chance": "by chance (%)",
        "p": "p",
        "rand": "adjusted Rand index",
        "p of it": "its p",
    }
    digits = {"near": 0, "chance": 0, "p": 4, "p of it": 4}
    return table(found, headings, digits)


found = rivals(distances, signatures, families)
shown(found)

# %% tags=["remove-input"]
signature_finds, length_finds = found.loc[
    ["DTW distance", "length alone"], "near"
]
Markdown(
    f"**{100 * signature_finds:.0f} % of the networks have a relative as their "
    f"nearest neighbour; by length alone it is {100 * length_finds:.0f} %.**"
    if np.isfinite(signature_finds)
    else "No two of these networks are of one family, so there are no "
    "families to find."
)

# %% [markdown]
# So the scores know the family beyond the length, and the cut of a tree is a poor way to see it: it spends most
# clusters on a few deep networks and leaves several families together in the large ones.
#
# ```{admonition} A family also shares its training recipe
# :class: caution
#
# Members of a family in the mini zoo had nearly the same recipe ({ref}`mini-zoo`), as the originals had. The
# next section has networks without any.
# ```
#
# ## Before training
#
# The package has the signatures of networks of the study at their full size, with random weights and on random
# images. If training made the signature, their families would not differ.

# %% tags=["hide-input"]
untrained = {}
for name in study_models(""):
    try:
        untrained[name] = shipped_signature(f"{name}@random").scores
    except AffscoreError:
        continue  # not every network of the study is among these
labels = network_table(untrained)["family"].tolist()
random = rivals(
    affscore.comparison.distance_matrix(untrained), untrained, labels
)
shown(random)

# %% tags=["remove-input"]
Markdown(
    f"Of {len(untrained)} networks "
    f"**{100 * random.loc['DTW distance', 'near']:.0f} % of those with a relative "
    "have one as their nearest neighbour**; the lengths alone find "
    f"{100 * random.loc['length alone', 'near']:.0f} %. A signature is largely a "
    "property of the architecture: of its order of layers and its initial "
    "weights. What training adds is the subject of "
    "{doc}`11_what_training_does`."
)

# %% [markdown]
# ## One of each family
#
# The paper shows one network of each of its nine families and concludes that later networks grow apart from the early
# convolutional ones, until Swin and ConvNeXt come back. It does not say which nine it took; these are ours.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-nine", "caption": "Distances between one network of each family, oldest first: they do not grow with the years between two networks (paper Fig. 5 B; `companion.figures.distance_heatmap`)."}, "image": {"alt": "A square matrix with nine rows and columns, from AlexNet to ConvNeXt, in shades of grey with the distance written into each cell."}}
chosen = (
    "alexnet inception_v3 resnet50 densenet121 mnasnet1_0 efficientnet_b1 "
    "vit_b_16 swin_t convnext_tiny"
).split()
nine = [name for name in chosen if name in signatures] or list(signatures)[:9]
distance_heatmap(distances.loc[nine, nine])
plt.show()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-distributions", "caption": "All scores of one network of each family: on the mini zoo the ResNet has a second group near 1, and the scores of the ViT are not low, as they are in the paper. Shapes are density estimates, where there are 15 scores or more (paper Fig. 5 C; `companion.chapter_08.score_distributions`)."}, "image": {"alt": "For each of nine networks a column of points, the affinity scores of its activations, with a shape around them that is wide where there are many."}}
score_distributions(
    {name: signatures[name] for name in nine},
    about.loc[nine, "family"].tolist(),
)
plt.show()

# %% [markdown]
# Paper Fig. 5 D, the same network with and without residual connections, is the subject of {doc}`05_residual_connections`. The paper's statements
# have their tests and verdicts in {doc}`18_what_is_reproduced`.
#
# ## What we found

# %% tags=["remove-input", "findings"]
found_here = (
    f"Of the {len(signatures)} networks on {dataset}, "
    f"{100 * signature_finds:.0f} % have a relative as their nearest neighbour, "
    f"{100 * length_finds:.0f} % by length alone."
    if np.isfinite(signature_finds)
    else f"Of the {len(signatures)} networks on {dataset} no two are of one "
    "family."
)
Markdown(
    f"* On CIFAR-10 the nearest signature belongs to a network of the same "
    f"kind, with or without shortcuts, for {same} of {len(twins)} networks. "
    "A plain network of 20 layers is "
    + ("nearer to" if far < twin else "farther from")
    + f" one of 56 layers (distance {far:.2f}) than to its residual twin "
    f"({twin:.2f}).\n"
    "* A signature tells the family before any training: of "
    f"{len(untrained)} networks of the paper with random weights, "
    f"{100 * random.loc['DTW distance', 'near']:.0f} % have a relative as their "
    "nearest neighbour (by length alone "
    f"{100 * random.loc['length alone', 'near']:.0f} %).\n"
    f"* {found_here}"
)

# %% [markdown]
# ## Takeaways
#
# * The DTW distance is a sum over steps, so deep networks are far from everything. Divide by the steps, or say so.
# * Beating chance is easy for a clustering: the number of activations alone does. Compare with what is known for free.
# * The nearest neighbour answers "are relatives alike?" with one number, and needs neither linkage nor cut.
#
# ## Exercises
#
# ```{exercise} 8.1 Warp it yourself
# :label: ex-8-1
# :nonumber:
#
# *Change code · 20 minutes · medium.* Aim: dynamic programming over two signatures.
#
# Write the DTW distance as a function `distance(a, b)` of two NumPy arrays, without a library for it. Hand in the
# function.
# ```
#
# ```{admonition} Hint for 8.1
# :class: dropdown hint
#
# Fill a table: the cheapest way to stand at $(i, j)$ comes from one of three places.
# ```

# %%
answer = None  # your answer here: a function distance(a, b)
# companion.exercises.check("8.1", answer)

# %% [markdown]
# ```{solution-start} ex-8-1
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
companion.exercises.check("8.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 8.2 A measure that is easily fooled
# :label: ex-8-2
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: know why purity is not enough.
#
# *Purity* is the share of networks that belong to the most frequent family of their cluster. Twelve networks come from
# four families, `["VGG"] * 3 + ["ResNet"] * 3 + ["ViT"] * 3 + ["Swin"] * 3`. Hand in a list of twelve cluster numbers
# whose purity is 1 and whose adjusted Rand index is not above 0.1.
# ```
#
# ```{admonition} Hint for 8.2
# :class: dropdown hint
#
# Purity never punishes a clustering for having many clusters.
# ```

# %%
answer = None  # your answer here: a list of twelve integers
# companion.exercises.check("8.2", answer)

# %% [markdown]
# ```{solution-start} ex-8-2
# :class: dropdown
# ```
#
# A cluster of one is always pure. Purity rewards many clusters; the adjusted Rand index counts that families were torn
# apart.

# %%
answer = list(range(12))
companion.exercises.check("8.2", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 8.3 Not a metric
# :label: ex-8-3
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: know which laws of a distance hold for the DTW distance.
#
# Prove that $D(a, b) = D(b, a)$; that $D(a, b) = 0$ exactly when $a$ and $b$ become the same sequence once each run of
# equal scores is shortened to one; and find three signatures with scores in $[0, 1]$ that violate the triangle
# inequality.
# ```
#
# ```{admonition} Hint for 8.3
# :class: dropdown hint
#
# For the last part take a signature of one score, and stretch the end of another one, which costs nothing.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-8-3
# :class: dropdown
# ```
#
# *Symmetry.* Swap the two entries of every pair of a path $\pi$ between $a$ and $b$: that is a path between $b$ and
# $a$ of the same cost, and every path arises so. The minima agree.
#
# *Zero.* If $D(a, b) = 0$, some path has $a_i = b_j$ at each of its pairs. Read the common score along the path and
# shorten its runs. A step moves to the next place or stays, in $a$ and in $b$, so the sequence that is read is $a$ with
# some scores repeated, and also $b$ with some repeated; all three have the same shortened sequence. Conversely, let
# both shorten to $c$. Walk through the runs of $c$ one after the other: within a run all scores are equal, so any path
# through it is free, and the step to the next run advances in both. The cost is 0.
#
# *Triangle.* Let $a = (0)$, $b = (0, 1)$ and $c = (0, 1, 1, 1, 1)$. Then $D(b, c) = 0$ and $D(a, b) = 1$, but every
# score of $c$ is paired with 0, so $D(a, c) = \sqrt 4 = 2 > 1 + 0$.
#
# **Rubric** (6 points)
#
# * 1: symmetry by reversing paths.
# * 2: zero distance implies the same shortened sequence, using that a step advances by at most one.
# * 1: the converse.
# * 2: a counterexample with all three distances computed.

# %% [markdown]
# ```{solution-end}
# ```
