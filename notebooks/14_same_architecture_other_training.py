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
# # Same architecture, other training
#
# Is a signature the mark of an architecture, or of how it was trained? The paper measures a ResNet-50 in 17 trainings,
# most of them without labels, and says both: the mean score "remains almost unchanged" (table 3), and yet clustering
# the signatures finds the methods (figures 16 and 17). It has one training of each, and so cannot separate methods from seeds.
# Here a small ResNet-18 is trained in five ways, from three seeds each. No two of the 15 trainings have a seed in common,
# so that none begin with the same weights.

# %% tags=["parameters"]
checkpoints: list[str] = []  # MODEL@FILE, as METHOD-1.pth; none: the study's
dataset: str = "digits"  # for checkpoints of your own: digits, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
permutations: int = 4999  # of the test by nearest neighbours
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images and of the permutations

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
from pathlib import Path

import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore import AffscoreError, analysis
from affscore.figures import dendrogram, distance_heatmap
from affscore.papers.alexnet_to_transformers.figure_16 import (
    method_of,
    name_of,
)
from affscore.papers.alexnet_to_transformers.table_3 import (
    means_of_criteria,
    spread_over_methods,
)
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey import load_or_measure
from IPython.display import Markdown

gathered = AllResults.gather()
files = {one: Path(one.partition("@")[2]) for one in checkpoints}
missing = [
    one for one, file in files.items() if file.suffix and not file.is_file()
]
found = [one for one in checkpoints if one not in missing]
if 0 < len(found) < 3:
    raise AffscoreError(
        f"expected three trainings at least to compare; not found: {', '.join(missing) or 'none'}"
    )
if found:
    options = {
        "n": n,
        "images": images or None,
        "jobs": jobs,
        "device": device,
        "seed": seed,
        "progress": False,
    }
    measured = load_or_measure(found, dataset, store, **options)
    trainings = {
        name_of(checkpoint): one for checkpoint, one in measured.items()
    }
    if len(trainings) < len(found):
        raise AffscoreError(
            f"two checkpoints have one name; rename a file of {', '.join(found)}"
        )
    if len({tuple(one.summary["layer"]) for one in trainings.values()}) > 1:
        raise AffscoreError(
            f"expected trainings of one architecture, got {', '.join(found)}"
        )
else:
    trainings = gathered.mini.checkpoints
methods = [method_of(name) for name in trainings]
repeated = (
    1 < len(set(methods)) < len(methods)
)  # methods can be told from seeds
scores = {
    name: one.scores[np.isfinite(one.scores)]
    for name, one in trainings.items()
}
distances = analysis.distance_matrix(scores)
means = means_of_criteria(trainings)
print(
    f"{len(trainings)} trainings of one architecture by {len(set(methods))} methods"
)
if missing:
    print(
        f"Not found: {len(missing)} of {len(checkpoints)} checkpoints: {', '.join(missing)}"
    )
if not found:
    print("These are the trainings of the study.")

# %% tags=["remove-input"]
near = (
    analysis.nearest_neighbour_accuracy(
        distances, methods, permutations, seed
    )
    if repeated
    else None
)
spread = spread_over_methods(means, methods) if repeated else None
networks = pd.Series(
    {
        name: gathered.mini.scores(name).mean()
        for name in gathered.mini.study.index
    }
)
Markdown(
    f"**The finding.** Over all trainings the mean score is {means['score'].mean():.2f} ± {means['score'].std():.3f}; over "
    f"the {len(networks)} architectures of the mini zoo, on digits, it is {networks.mean():.2f} ± {networks.std():.3f}. "
    + (
        f"Of these {means['score'].std():.3f}, trainings by one method make {spread.loc['score', 'seeds']:.3f}: the methods "
        + (
            "**differ**"
            if spread.loc["score", "p_value"] < 0.05
            else "**do not differ significantly in their means**"
        )
        + f" (p = {spread.loc['score', 'p_value']:.2g}). The nearest signature is of the same method for "
        f"{near.value:.0%} of the networks, {near.permuted:.0%} by chance (p = {near.p_value:.2g})."
        if repeated
        else "No method was trained twice here, so that methods and seeds cannot be separated."
    )
)

# %% [markdown]
# You will learn
#
# * how far the way of training moves a signature, measured in units of what a seed does,
# * why one training of each method cannot show that a clustering finds methods,
# * that "the score varies least" depends on what is divided by what.
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
# comes after the last activation, and no score depends on it. How well they do, in percent of the held-out digits:

# %% tags=["hide-input"]
reached = pd.Series(
    {name: one.metadata.get("accuracy") for name, one in trainings.items()},
    dtype=float,
)
about = pd.DataFrame(
    {
        "method": methods,
        "accuracy": 100 * reached.to_numpy(),
        "mean score": means["score"].to_numpy(),
    }
)
about.groupby("method", sort=False).agg(["mean", "min", "max"]).round(2)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-trainings", "caption": "DTW distances between the signatures of all trainings, in the order of the clustering (figure 17 of the paper; `affscore.figures.distance_heatmap`)."}, "image": {"alt": "A square matrix with a row and a column for each training, in shades of grey from white, distance zero on the diagonal, to black. Trainings by the same method lie side by side where they form light blocks."}}
tree = analysis.linkage(distances)
distance_heatmap(distances, analysis.leaf_order(distances, tree))
plt.show()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-trainings-tree", "caption": "The clustering of the trainings by average linkage; colours and markers are the methods (figure 16 of the paper; `affscore.figures.dendrogram`)."}, "image": {"alt": "A dendrogram that grows from right to left, a training in each row with the colour and marker of its method. The further left two branches meet, the farther apart are their signatures."}}
dendrogram(tree, list(trainings), methods)
plt.show()

# %% tags=["hide-input"]
own = np.where(
    np.eye(len(distances)) > 0, np.inf, distances.to_numpy()
)  # nothing is its own neighbour
nearest = pd.DataFrame(
    {
        "method": methods,
        "nearest neighbour": [methods[place] for place in own.argmin(axis=1)],
    }
)
pd.crosstab(nearest["method"], nearest["nearest neighbour"])

# %% [markdown]
# On the 15 trainings of the study, contrastive learning has a branch of its own, far from all others, and rotation is
# apart from the rest. Supervision, label noise and distillation mix: all three teach the names of the digits.
#
# ## Are these methods, or seeds?
#
# Every clustering has groups. Two tests ask whether they are the methods:
#
# * **by the whole signature**: is the nearest neighbour of a network of its own method more often than when the methods
#   are permuted over the networks? (As for families in {doc}`07_a_signature_for_every_architecture`.)
# * **by the mean score, and each other criterion**: a one-way analysis of variance. $F$ divides the mean square
#   between methods by that within them, which is what seeds do.

# %% tags=["hide-input"]
if repeated:
    shown = spread.drop(columns=["ratio", "p_value"]).round(4)
    shown["p-value"] = spread["p_value"].map("{:.2g}".format)
else:
    shown = means.agg(["mean", "std"]).T.round(4)
shown

# %% [markdown]
# Each criterion is the mean over the activations of a network: the affinity score, linear CKA between input and output, the
# norm of their difference, the change of the share of zeros, and that of the entropy ({doc}`08_is_the_score_redundant`). `std` is the spread
# that table 3 of the paper prints, over trainings; `seeds` is that within a method. The paper's numbers, of 17 trainings of a ResNet-50 on ImageNet, are in {doc}`80_the_ledger`.
#
# ## Which criterion is the steadiest?
#
# The paper compares standard deviations: 0.04 for the score, 404.61 for the norm. But these criteria have units of their own:
# the norm grows with the number of images and of channels. Divided by the mean, as a coefficient of variation, or by
# what seeds do, they can be compared:

# %% tags=["hide-input"]
steadiness = pd.DataFrame({"std / |mean|": means.std() / means.mean().abs()})
if repeated:
    steadiness["std / std of seeds"] = spread["ratio"]
steadiness.round(3)

# %% tags=["remove-input"]
variation = steadiness["std / |mean|"]
place = int((variation < variation["score"]).sum())
Markdown(
    f"By the coefficient of variation the score is number {place + 1} of {len(variation)} here, after "
    f"{', '.join(variation.index[variation < variation['score']]) or 'none'}. (Entropy, a logarithm, has no zero that means "
    "anything, and so no coefficient of variation that does.) That a criterion is steady says nothing of what it is worth: a "
    "constant is the steadiest of all. A useful criterion varies between the things that we compare, here architectures, more "
    "than between repeats, here seeds."
)

# %% [markdown]
# ## What holds, and under which choices
#
# The columns are those of {doc}`80_the_ledger`.

# %% tags=["hide-input"]
Ledger(gathered).conclusions(
    "other-training-changes-little",
    "methods-are-found",
    "steadiest-criterion",
)

# %% [markdown]
# The second claim asks for more than the p-value above: that the nearest neighbour is of the same method for more than half of
# the networks, with an interval over them. Fifteen are few for that.
#
# With checkpoints of your own, as the public ones of SwAV, DINO and MoCo, name them in the parameter:
#
# ```sh
# papermill 14_same_architecture_other_training.ipynb out.ipynb -p dataset imagenet:../data/imagenet \
#   -y "checkpoints: [resnet50@IMAGENET1K_V1, resnet50@dino.pth, resnet50@moco-1.pth, resnet50@moco-2.pth]"
# ```
#
# A file is called after its method, with a number at the end where there are several (or as figure 16 names it, as
# `resnet50_moco_800`).
#
# ## Takeaways
#
# * Over five ways of training the mean score varies about half as much as over 36 architectures. Whether by less than half
#   is undecided under the papers' choice.
# * Small is not nothing: contrastive learning leaves a signature of its own. To say that a clustering finds methods takes
#   several trainings of each, with seeds of their own, and a test.
# * Compare spreads of different criteria in units of something, never as they are.
#
# ## Exercises
#
# ```{exercise} 14.1 The smallest p-value
# :label: ex-14-1
# :nonumber:
#
# Two methods, two seeds each: four networks. The test by nearest neighbours permutes the methods over the networks. What is
# the smallest p-value that it can give? Hand in the number.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("14.1", answer)

# %% [markdown]
# ```{solution-start} ex-14-1
# :class: dropdown
# ```
#
# Four networks can be divided into two pairs in three ways, and one of them is the right one.

# %%
affscore.exercises.check("14.1", 1 / 3)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 14.2 Small, and real
# :label: ex-14-2
# :nonumber:
#
# Make up mean scores of 2 to 10 methods with 2 to 10 seeds each, whose standard deviation over all networks is at most 0.02
# (half of what table 3 prints), while the analysis of variance finds that the methods differ ($p < 0.001$). Hand in an array
# of shape (methods, seeds).
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("14.2", answer)

# %% [markdown]
# ```{solution-start} ex-14-2
# :class: dropdown
# ```
#
# Methods that differ little, and seeds that differ ten times less.

# %%
affscore.exercises.check(
    "14.2", np.array([[0.75], [0.76], [0.77]]) + np.array([-1e-3, 0.0, 1e-3])
)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 14.3 Steady by its zero
# :label: ex-14-3
# :nonumber:
#
# Five networks have the mean scores 0.72, 0.74, 0.75, 0.76 and 0.78, a coefficient of variation of 3 %. Add the same
# number to all of them, such that it falls below 0.1 %. Hand in the number.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("14.3", answer)

# %% [markdown]
# ```{solution-start} ex-14-3
# :class: dropdown
# ```
#
# Any large number: the mean grows with it, and the spread does not.

# %%
affscore.exercises.check("14.3", 100.0)

# %% [markdown]
# ```{solution-end}
# ```
