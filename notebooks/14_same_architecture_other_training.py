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
# most of them without labels, and says both: the mean score "remains almost unchanged" (paper Table 3), and yet clustering
# the signatures finds the methods (paper Figs. 16 and 17). It has one training of each, and so cannot separate methods from seeds.
# Here a small ResNet-18 is trained in five ways, from three seeds each, no two of which begin with the same weights.
#
# You will learn
#
# * how far the way of training moves a signature, measured in units of what a seed does,
# * why one training of each method cannot show that a clustering finds methods,
# * that "the score varies least" depends on what is divided by what.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
    )

# %% tags=["parameters", "hide-input"]
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
from affscore.figures import (
    bundles_of_signatures,
    dendrogram,
    distance_heatmap,
    table,
)
from affscore.papers.alexnet_to_transformers.figure_16 import (
    method_of,
    name_of,
    with_encoder,
)
from affscore.papers.alexnet_to_transformers.table_3 import (
    means_of_criteria,
    spread_over_methods,
)
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.papers.printed import printed_table
from affscore.survey import load_or_measure
from IPython.display import Markdown

gathered = AllResults.gather()
files = {one: Path(one.partition("@")[2]) for one in checkpoints}
missing = [
    one for one, file in files.items() if file.suffix and not file.is_file()
]
found = [one for one in checkpoints if one not in missing]
if 0 < len(found) < 3:
    absent = ", ".join(missing) or "none"
    raise AffscoreError(
        f"expected three trainings at least to compare; not found: {absent}"
    )
trainings, headless = gathered.mini.checkpoints, set()
if found:
    options = {"device": device, "seed": seed, "progress": False}
    options |= {"n": n, "images": images or None, "jobs": jobs}
    encoders = [with_encoder(one, Path(store) / "encoders") for one in found]
    measured = load_or_measure(encoders, dataset, store, **options)
    trainings = {name_of(one): result for one, result in measured.items()}
    headless = {name_of(one) for one in encoders if one not in found}
    listed = ", ".join(found)
    if len(trainings) < len(found):
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
distances = analysis.distance_matrix(
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
Markdown(said) if checkpoints else None

# %% [markdown]
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

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-trainings-signatures", "caption": "Contrastive learning alone leaves a course of its own; that of the others is the architecture's. Signatures of all trainings: thin lines for the seeds, a thick one for the mean of each method (`affscore.figures.bundles_of_signatures`)."}, "image": {"alt": "One panel of affinity scores over the depth with a bundle of lines for each method. All zigzag between low scores inside blocks and high ones after sums; the bundle of contrastive learning lies above the others at most activations."}}
signatures = pd.concat(
    one.summary[["depth", "score"]].assign(group=method, line=name)
    for (name, one), method in zip(trainings.items(), methods, strict=True)
)
bundles_of_signatures(signatures)
plt.show()

# %% tags=["hide-input"]
own = np.where(np.eye(len(distances)) > 0, np.inf, distances.to_numpy())
neighbours = np.array(methods)[own.argmin(axis=1)]
reached = [
    None if name in headless else one.metadata.get("accuracy")
    for name, one in trainings.items()
]
about = pd.DataFrame(
    {
        "method": methods,
        "accuracy": pd.Series(reached, dtype=float).to_numpy(),
        "score": means["score"].to_numpy(),
        "neighbour": neighbours,
    }
)
grouped = about.groupby("method", sort=False)
shown = grouped[["accuracy", "score"]].mean()
shown["ends"] = grouped["score"].agg(
    lambda s: f"{s.min():.2f} to {s.max():.2f}"
)
shown["near"] = grouped["neighbour"].agg(
    lambda some: ", ".join(
        f"{count} {name}" for name, count in some.value_counts().items()
    )
)
table(
    shown,
    {
        "accuracy": "accuracy (%)",
        "score": "mean score",
        "ends": "from seed to seed",
        "near": "nearest signatures",
    },
    digits={"accuracy": 1},
)

# %% [markdown]
# On the 15 trainings of the study, contrastive learning has a branch of its own in the clustering, far from all others, and rotation is
# apart from the rest. Supervision, label noise and distillation mix: all three teach the names of the digits.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-trainings-tree", "caption": "Contrastive learning and rotation have branches of their own, what teaches the names of digits mixes: the clustering of the trainings by average linkage; colours and markers are the methods (paper Fig. 16; `affscore.figures.dendrogram`)."}, "image": {"alt": "A dendrogram that grows from right to left, a training in each row with the colour and marker of its method. The further left two branches meet, the farther apart are their signatures."}}
tree = analysis.linkage(distances)
dendrogram(tree, list(trainings), methods)
plt.show()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-trainings", "caption": "The contrastive trainings are near each other and far from all others: DTW distances between the signatures, in the order of the clustering (paper Fig. 17; `affscore.figures.distance_heatmap`)."}, "image": {"alt": "A square matrix with a row and a column for each training, in shades of grey from white, distance zero on the diagonal, to black. Trainings by the same method lie side by side where they form light blocks."}}
distance_heatmap(distances, analysis.leaf_order(distances, tree))
plt.show()

# %% [markdown]
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
    near = analysis.nearest_neighbour_accuracy(
        distances, methods, permutations, seed
    )
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
# norm of their difference, the change of the share of zeros, and that of the entropy ({doc}`08_is_the_score_redundant`).
#
# ## Which criterion is the steadiest?
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
# ```{admonition} Steady is not useful
# :class: note
# A constant is the steadiest criterion of all. A useful one varies between the things that we compare, here architectures, more
# than between repeats, here seeds. (Entropy, a logarithm, has no zero that means anything, and so no coefficient of variation that does.)
# ```
#
# ## What holds, and under which choices
#
# The columns are those of {doc}`80_the_ledger`.

# %% tags=["hide-input"]
conclusions = Ledger(gathered).conclusions(
    "other-training-changes-little",
    "methods-are-found",
    "steadiest-criterion",
)
table(
    conclusions.set_index("tested on", append=True),
    {"verdict": "verdict", "under other choices": "under other choices"},
)

# %% [markdown]
# The second claim asks for more than the p-value above: that the nearest neighbour is of the same method for more than half of
# the networks, with an interval over them. Fifteen are few for that.
#
# With checkpoints of your own, as the public ones of SwAV, DINO and MoCo, name them in the parameter:
#
# ```sh
# papermill 14_same_architecture_other_training.ipynb out.ipynb \
#   -p dataset imagenet:../data/imagenet \
#   -y "checkpoints: [resnet50@IMAGENET1K_V1, resnet50@dino.pth,
#                     resnet50@moco-1.pth, resnet50@moco-2.pth]"
# ```
#
# Of a self-supervised release the encoder is taken (`affscore.papers.alexnet_to_transformers.figure_16.with_encoder`): it has
# no classifier, and so no accuracy. A file is called after its method, with a number at the end where there are several (or as paper Fig. 16 names it, as
# `resnet50_moco_800`).
#
# ## What we found

# %% tags=["remove-input", "findings"]
of_zoo = pd.Series(
    {
        name: gathered.mini.scores(name).mean()
        for name in gathered.mini.study.index
    }
)
low, high = grouped["score"].mean().agg(["idxmin", "idxmax"])
by_method = grouped["score"].mean()
if repeated:
    p = spread.loc["score", "p_value"]
    differ = "differ" if p < 0.05 else "do not differ significantly"
    second = (
        f"**The methods {differ} in their mean scores** (p = {p:.2g}): from {by_method[low]:.2f} ({low}) to {by_method[high]:.2f} "
        f"({high}); seeds of one method vary by {spread.loc['score', 'seeds']:.3f}."
    )
    third = (
        f"**The nearest signature is of the same method for {100 * near.value:.0f} % of the networks**, {100 * near.permuted:.0f} % by chance "
        f"(p = {near.p_value:.2g}). It takes several seeds of each method to know that."
    )
else:
    second = (
        f"**Mean scores go from {by_method[low]:.2f} ({low}) to {by_method[high]:.2f} ({high}).** No method was trained twice, so that "
        "methods and seeds cannot be separated."
    )
    third = (
        f"**By its coefficient of variation the score is number {len(steadier) + 1} of {len(variation)} criteria**; standard "
        "deviations of different units cannot be compared."
    )
Markdown(f"""
* **The way of training moves the mean score by {means["score"].std():.3f}** (standard deviation over {len(means)} trainings around \
{means["score"].mean():.2f}); over {len(of_zoo)} architectures of the mini zoo it is {of_zoo.std():.3f}. In the paper it is 0.04 over \
17 trainings of a ResNet-50 on ImageNet.
* {second}
* {third}
""")

# %% [markdown]
# ## Takeaways
#
# * To say that a clustering finds methods takes several trainings of each, with seeds of their own, and a test.
# * Compare spreads of different criteria in units of something: of the mean, or of what seeds do.
#
# ## Exercises
#
# ```{exercise} 14.1 The smallest p-value
# :label: ex-14-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: know what a permutation test can reach before running it.
#
# Two methods, two seeds each: four networks. The test by nearest neighbours permutes the methods over the networks. What is
# the smallest p-value that it can give? Hand in the number.
# ```
#
# ```{admonition} Hint for 14.1
# :class: dropdown hint
# In how many ways can four networks be divided into two pairs?
# ```

# %%
answer = None  # your answer here: a number
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
# *Compute · 15 minutes · medium.* Aim: tell a small effect from none.
#
# Make up mean scores of 2 to 10 methods with 2 to 10 seeds each, whose standard deviation over all networks is at most 0.02
# (half of what paper Table 3 prints), while the analysis of variance finds that the methods differ ($p < 0.001$). Hand in an array
# of shape (methods, seeds).
# ```
#
# ```{admonition} Hint for 14.2
# :class: dropdown hint
# $F$ divides by what seeds do. Let that be much smaller than what methods do.
# ```

# %%
answer = None  # your answer here: an array (methods, seeds)
# affscore.exercises.check("14.2", answer)

# %% [markdown]
# ```{solution-start} ex-14-2
# :class: dropdown
# ```
#
# Methods that differ little, and seeds that differ ten times less.

# %%
by_seed = np.array([-1e-3, 0.0, 1e-3])
affscore.exercises.check("14.2", np.array([[0.75], [0.76], [0.77]]) + by_seed)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 14.3 Steady by its zero
# :label: ex-14-3
# :nonumber:
#
# *Compute · 5 minutes · easy.* Aim: see what a coefficient of variation depends on.
#
# Five networks have the mean scores 0.72, 0.74, 0.75, 0.76 and 0.78, a coefficient of variation of 3 %. Add the same
# number to all of them, such that it falls below 0.1 %. Hand in the number.
# ```
#
# ```{admonition} Hint for 14.3
# :class: dropdown hint
# Which of standard deviation and mean changes when a number is added?
# ```

# %%
answer = None  # your answer here: a number
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
#
# ```{exercise} 14.4 How many seeds does a verdict need?
# :label: ex-14-4
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: plan the size of a study from the resolution of its test.
#
# A study has $m$ methods with $k$ seeds each. The test by nearest neighbours permutes the $mk$ labels; its statistic does not change when
# methods swap their names. (a) Prove that its p-value is at least $m!\,(k!)^m / (mk)!$ over all permutations. (b) Which is the smallest $k$ with which two methods
# can reject at 0.05, and which for five methods? (c) What does (a) say of the paper's figure, with $k = 1$?
# ```
#
# ```{admonition} Hint for 14.4
# :class: dropdown hint
# Count the permutations of labels that leave the partition of the networks into groups as it is.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-14-4
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
#
# ```{exercise} 14.5 "Almost unchanged"
# :label: ex-14-5
# :nonumber:
#
# *Argue · 20 minutes · medium.* Aim: judge a sentence of a paper by its evidence.
#
# "The mean affinity score remains almost unchanged (0.76 ± 0.04), while the norm varies by 404.61." Argue for and against this sentence with the
# tables of this chapter, in at most 250 words: what would make 0.04 small, what can be compared with 404.61, and what could a reader do
# with a criterion that does not change at all? End with a sentence that you would print instead.
# ```
#
# ```{admonition} Hint for 14.5
# :class: dropdown hint
# Small compared with what? There are two candidates in this chapter: other architectures, and other seeds.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-14-5
# :class: dropdown
# ```
#
# *For*: over the architectures of the mini zoo mean scores spread about twice as far as over ways of training, so that a mean score says more of the architecture.
# *Against*: seeds of one method spread half as far as all trainings do, and the methods differ by the analysis of variance; "almost unchanged" hides a real effect. 0.04 and 404.61 have
# different units: the norm grows with the number of images and channels. In units of the mean, linear CKA is steadier than the score here, though not
# in the paper's table. A small spread alone says nothing: a constant has none. What counts is the spread between ways of training
# in units of the spread between seeds.
#
# Instead: "Over 17 trainings, one of each method, the mean score has a standard deviation of 0.04, 5 % of its mean; how much of this are the methods is not known."
#
# **Rubric** (6 points)
#
# * 2: a yardstick for 0.04 (architectures or seeds), with numbers.
# * 1: standard deviations of different units cannot be compared.
# * 1: a criterion must vary between what is compared; a constant is useless.
# * 1: one training each cannot separate methods from seeds.
# * 1: a sentence that says only what was measured.
#
# ```{solution-end}
# ```
