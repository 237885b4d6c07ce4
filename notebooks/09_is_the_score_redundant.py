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
# # Is the score redundant?
#
# Activations were compared with their inputs long before the affinity score. If one of the older criteria always
# moved with the score, optimal transport would be unnecessary. Tables 1 and 2 of the paper {cite}`bouniot2025alexnet`
# correlate five of them with the score, network by network, and find none that does. On the real networks that come
# with this package the answer is less clear-cut: three of the five keep the sign
# of their correlation with the score in every one of them, and so do two other criteria.

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
device: str = "auto"  # cpu, cuda or auto
level: float = 0.95  # of the intervals
seed: int = 0  # of random weights and of the choice of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

import companion
from affscore.survey import load_or_measure
from companion.chapter_09 import (
    criterion_dots,
    family_correlations,
    sign_counts,
    strength_counts,
)
from companion.networks import (
    network_table,
    short_name,
    short_names,
    study_models,
    table_1_families,
)
from companion.printed import printed_correlations, printed_table
from companion.regression import (
    CRITERIA_OF_TABLE_1,
    criterion_correlations,
    explained_by_all,
)
from companion.shipped import RESULTS, shipped_signature
from companion.style import table

criteria = list(CRITERIA_OF_TABLE_1)
TITLES = {
    "cka": "linear CKA",
    "norm": "norm",
    "sparsity": "change of sparsity",
    "entropy": "change of entropy",
    "r2": "R²",
    "cka_debiased": "debiased CKA",
    "nlc": "non-linearity coefficient",
}

# %% [markdown]
# ## Five criteria
#
# All five use the same pair as the score: the reduced inputs $X$ and outputs $Y$ of an activation, $n$ samples with
# $d$ coordinates each.
#
# | criterion | what it is | it does not see |
# |---|---|---|
# | linear CKA {cite}`kornblith2019similarity` | how alike the distances between the points are before and after, in $[0, 1]$ | rotations and scalings of either |
# | norm | $\lVert X - Y\rVert_F$ | whether the difference is affine |
# | sparsity | the share of entries next to zero, after minus before | anything but zeros |
# | entropy | of the values of a point, after minus before | which coordinate has which value |
# | $R^2$ | of the least-squares fit of $Y$ on $X$ | anything, where $d \ge n$: then it is 1 |
#
# The paper does not say in which direction it takes the changes; here a ReLU that makes zeros has a positive change of
# sparsity. {doc}`../book/definitions` has the details.

# %% tags=["remove-cell"]
shipped = {
    name: shipped_signature(name).summary
    for name in [
        *(f"plainnet{layers}" for layers in (20, 32, 44, 56)),
        *(f"resnet{layers}" for layers in (20, 32, 44, 56)),
        *("mobilenet_v2", "squeezenet1_0", "squeezenet1_1"),
    ]
}
real = criterion_correlations(shipped, list(TITLES), level=level)

# %% [markdown]
# ## Eleven networks on photographs
#
# Eight networks trained on CIFAR-10, with and without residual connections, and a MobileNetV2 and two SqueezeNets
# trained on ImageNet, each measured on photographs. There are two more criteria: CKA with the unbiased estimate
# {cite}`song2012feature,nguyen2021wide`, which does not grow with $d/n$, and the non-linearity coefficient
# {cite}`philipp2021nonlinearity`.

# %% mystnb={"figure": {"caption": "Correlation of the score with seven criteria over the activations of each network, with Fisher's intervals. CKA and R\u00b2 go with the score in all eleven networks, sparsity and the non-linearity coefficient against it (`companion.chapter_09.criterion_dots`).", "name": "fig-correlations-real"}, "image": {"alt": "Seven panels side by side, one for each criterion, with a line for each of eleven networks: plain and residual networks of 20 to 56 layers, MobileNetV2 and two SqueezeNets. Dots with bars show correlations with their intervals."}} tags=["hide-input"]
kinds = {
    name: "Plain"
    if name.startswith("plain")
    else "Residual"
    if name.startswith("res")
    else "Efficient"
    for name in shipped
}
criterion_dots(real, kinds)
plt.show()

# %% tags=["remove-input"]
real_signs = sign_counts(real)
everywhere = [
    TITLES[name]
    for name, row in real_signs.loc[list(TITLES)].iterrows()
    if max(row["positive"], row["negative"]) == row["networks"]
]
real_together = explained_by_all(shipped, kinds)[["within", "from_others"]]
explained = real_together.astype(float).mean()
Markdown(
    f"**{', '.join(everywhere)} keep their sign in all {len(shipped)} "
    "networks, with intervals that exclude zero.** And a weighted sum of the "
    "papers' five, with weights that were fitted to the *other* kinds of "
    f"networks, explains {100 * explained['from_others']:.0f} % of the variance of "
    "the scores within a network (mean over the networks; with weights of "
    f"their own {100 * explained['within']:.0f} %). Within such networks the older "
    "criteria rank layers much as the score does."
)

# %% [markdown]
# ```{admonition} Where R² is blind
# :class: caution
#
# Where a layer has at least as many channels as there are images, $R^2$ is 1 by construction (exercise 9.3). Among
# these networks that concerns mostly MobileNetV2, and there it follows the score least.
# ```
#
# ## What is a correlation worth?
#
# Such a number rests on as many points as the network has activations: 7 in AlexNet, 55 in the ResNet-56 above. The
# bars are Fisher's intervals {cite}`fisher1921probable`. The correlation $r$ itself has a skewed distribution, but
# $z = \operatorname{artanh} r$ is nearly normal with variance $1/(n - 3)$ for $n$ independent pairs, so
#
# $$
# \tanh\Bigl(\operatorname{artanh} r \pm \frac{1.96}{\sqrt{n - 3}}\Bigr)
# $$
#
# covers the true correlation in 95 of 100 cases. Activations of one network are **not** independent draws: neighbours
# are autocorrelated, so the intervals are too short rather than too long. Tables 1 and 2 have none.
#
# ## The families of the study
#
# Now the 36 networks of the paper's tables; by default their small analogues in the **mini zoo**, trained on 8 x 8
# digits. The printed numbers, black ticks, belong to the originals on ImageNet: no number of ours confirms or refutes
# them.

# %% mystnb={"figure": {"caption": "The same for the families of the study. Norm, sparsity and entropy go with the score in some families and against it in others; so do, in other places, all five printed criteria (ticks; tables 1 and 2 of the paper; `companion.chapter_09.criterion_dots`).", "name": "fig-correlations"}, "image": {"alt": "Five panels side by side, one for each criterion, with a line for each network. A dot marks the correlation from -1 to 1 and a bar its interval; colour and marker stand for the family; short black ticks mark the printed values. Dots lie on both sides of zero in the panels of norm, sparsity and entropy."}} tags=["hide-input"]
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
names = short_names(networks)
summaries = {
    names[model]: result.summary for model, result in results.items()
}
correlations = criterion_correlations(summaries, level=level)
families = network_table(summaries)["family"].to_dict()
printed = printed_table("table2_correlations")
printed = printed.reindex([short_name(one) for one in families])
criterion_dots(correlations, families, printed.set_axis(list(families)))
plt.show()

# %% [markdown]
# Means over the networks of a family, and in brackets what table 1 prints:

# %% tags=["hide-input"]
of_families = family_correlations(
    correlations, table_1_families(summaries), level=level
).set_index(["family", "criterion"])
theirs = printed_table("table1_family_correlations")
theirs.columns = theirs.columns.str.removesuffix("_mean")
theirs = theirs[criteria].melt(
    var_name="criterion", value_name="printed", ignore_index=False
)
beside = of_families.join(theirs.set_index("criterion", append=True))
beside["shown"] = [
    "–"
    if np.isnan(ours)
    else f"{ours:.2f}"
    if np.isnan(printed)
    else f"{ours:.2f} ({printed:.2f})"
    for ours, printed in zip(beside["mean"], beside["printed"], strict=True)
]
by_family = beside.pivot_table(
    index="family",
    columns="criterion",
    values="shown",
    aggfunc="first",
    sort=False,
)
five = {name: TITLES[name] for name in criteria}
table(by_family.rename_axis(None), five)

# %% [markdown]
# Members of a family mostly agree with one another, and families do not: on the mini zoo sparsity has a strongly
# negative correlation with the score in the ResNets and a positive one in the DenseNets. ViTs scatter most; with six to
# ten activations a correlation can be nearly anything.
#
# ## The sign is not the same everywhere
#
# A criterion that could replace the score would go with it, or against it, in every network. So count the networks
# whose whole interval is above zero, below zero, or contains zero; for the printed table 2 with intervals for the
# number of activations of torchvision's networks. *Weak in* counts the networks that refute a strong correlation, with
# a whole interval below 0.5 in the usual direction of the criterion, wide enough to hold for all networks together
# (Bonferroni).

# %% tags=["hide-input"]
sources = {
    "photographs": real,
    "here": correlations,
    "printed": printed_correlations(level),
}
columns = {}
for name, source in sources.items():
    signs = sign_counts(source).loc[criteria]
    counts = signs[["positive", "negative", "undecided"]].astype(str)
    columns[f"{name}: above / below / open"] = counts.agg(" / ".join, axis=1)
    columns[f"{name}: weak in"] = strength_counts(source).loc[
        criteria, "weak"
    ]
table(pd.DataFrame(columns).rename(index=TITLES).rename_axis(None))

# %% [markdown]
# ```{admonition} The two printed tables do not quite agree
# :class: dropdown
#
# Table 1 should hold the means of the rows of table 2. For VGGs, ResNets, ViTs, Swins and ConvNeXts it does, to
# rounding. For DenseNets, EfficientNets and the average it does not: table 1 has at least one more network there, or
# other ones. The MNASNets, which table 2 lacks, are not the cause: four more networks with their printed mean would take
# the average of the norm from -0.467 to -0.475, away from the printed -0.44. In table 2 the rows of DenseNet-161 and
# DenseNet-169 are the same in all five columns, which may be a slip. {doc}`18_what_is_reproduced` has every number.
# ```
#
# ## All five together
#
# *Redundant* means predictable. Two regressions of the score on all five criteria, standardised in each network:
# **within**, with the weights that fit this network best (adjusted $R^2$); and **from others**, with one set of
# weights that is fitted to all networks of the *other* families. Below 0 the prediction is worse than the mean of the
# signature.

# %% tags=["hide-input"]
of_kinds = real_together.astype(float).groupby(kinds).mean()
several = len(set(families.values())) > 1
if several:
    together = explained_by_all(summaries, families)
    here = (
        together[["within", "from_others"]].astype(float).groupby(families)
    ).mean()
    here = here.reindex(dict.fromkeys(families.values()))
    of_kinds = pd.concat(
        {"photographs": of_kinds, "this chapter's networks": here}
    )
headings = {"within": "within (%)", "from_others": "from others (%)"}
table(of_kinds, headings, digits=0)

# %% [markdown]
# The paper's statements have their tests and verdicts in {doc}`18_what_is_reproduced`.
#
# ## What we found

# %% tags=["remove-input", "findings"]
both_ways = {
    name: (
        signs.loc[criteria, ["positive", "negative"]].min(axis=1) > 0
    ).sum()
    for name, source in sources.items()
    for signs in [sign_counts(source)]
}
here_too = (
    together[["within", "from_others"]].astype(float).mean()
    if several
    else None
)
widest = correlations[correlations["criterion"] == "cka"].dropna(
    subset="correlation"
)
widest = widest.loc[(widest["high"] - widest["low"]).idxmax()]
theirs = [TITLES[name] for name in criteria if TITLES[name] in everywhere]
more = [name for name in everywhere if name not in theirs]
Markdown(
    f"* Within {len(shipped)} networks trained on photographs the score is "
    f"largely redundant: {len(theirs)} of the paper's five criteria "
    f"({', '.join(theirs)}) keep the sign of their correlation with it in all "
    f"of them, and so do {len(more)} others ({', '.join(more)}). With weights "
    "fitted to the other kinds of networks, the paper's five explain "
    f"{100 * explained['from_others']:.0f} % of the variance of the scores.\n"
    "* Across families it is not. "
    f"{both_ways['printed']} of 5 criteria go both ways in the printed "
    f"table 2, {both_ways['here']} of 5 among the {len(summaries)} "
    f"networks on {dataset}"
    + (
        ", where weights from other families explain "
        f"{100 * here_too['from_others']:.0f} %"
        if several
        else ""
    )
    + ".\n"
    "* A single correlation is worth little. That of the score with CKA in "
    f"{widest['model']}, over {widest['activations']} activations, is "
    f"{widest['correlation']:.2f}, with an interval from {widest['low']:.2f} "
    f"to {widest['high']:.2f}."
)

# %% [markdown]
# ## Takeaways
#
# * Test redundancy by prediction: fit on some families, test on others.
# * Report an interval with a correlation over activations.
# * To rank the layers of one convolutional network, the sparsity that its ReLUs add is nearly as good as the score, and
#   cheaper. To compare families, it is not.
#
# ## Exercises
#
# ```{exercise} 9.1 Why not all activations in one pot?
# :label: ex-9-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: build Simpson's paradox.
#
# Tables 1 and 2 have a correlation for each network, and not one over all activations of all networks. Make up two
# networks, four activations or more each, whose scores have a correlation of at least 0.9 with a criterion in either of
# them, and of at most -0.5 when the activations of both are thrown together. Hand in
# `((scores, criterion), (scores, criterion))`.
# ```
#
# ```{admonition} Hint for 9.1
# :class: dropdown hint
#
# Draw two rising lines of points. Where must the second one lie for the whole picture to fall?
# ```

# %%
answer = None  # your answer here: two pairs (scores, criterion)
# companion.exercises.check("9.1", answer)

# %% [markdown]
# ```{solution-start} ex-9-1
# :class: dropdown
# ```
#
# The network with the higher scores gets the lower criterion: its level runs against its course. This is Simpson's
# paradox {cite}`simpson1951interpretation`.

# %%
course = np.linspace(0.2, 0.4, 6)
companion.exercises.check(
    "9.1", ((course, course), (course + 0.5, course - 3))
)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 9.2 Only together
# :label: ex-9-2
# :nonumber:
#
# *Compute · 15 minutes · hard.* Aim: see that single correlations do not show what a regression can do.
#
# Make up the scores of a network with eight or more activations and two criteria $a$ and $b$, neither of which has a
# correlation of more than 0.5 in size with the scores, while both together explain at least 0.9 of them (adjusted $R^2$
# of the regression). Hand in `(scores, a, b)`.
# ```
#
# ```{admonition} Hint for 9.2
# :class: dropdown hint
#
# Hide the scores in $a$ under something much larger, and let $b$ know what that is.
# ```

# %%
answer = None  # your answer here: three arrays (scores, a, b)
# companion.exercises.check("9.2", answer)

# %% [markdown]
# ```{solution-start} ex-9-2
# :class: dropdown
# ```
#
# A large signal that has nothing to do with the scores is in both criteria. Their difference takes it out again.

# %%
scores = np.linspace(0.3, 0.9, 12)
nuisance = np.tile([3.0, -3.0], 6)
companion.exercises.check("9.2", (scores, nuisance + scores, nuisance))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 9.3 Blind by construction
# :label: ex-9-3
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: know what $R^2$ is worth in a wide layer.
#
# Let the columns of $X \in \mathbb R^{n \times d}$ be centred, and let $X$ have rank $r \le n - 1$. Show that $R^2$ of
# the least-squares fit of $Y$ on $X$ (with an intercept) is 1 for every $Y$ if $r = n - 1$. Then let the entries of $Y$
# be independent standard normal, and independent of $X$: show that $R^2$ has expectation $r / (n - 1)$ in each column.
# What follows for a layer of 400 channels and 512 images?
# ```
#
# ```{admonition} Hint for 9.3
# :class: dropdown hint
#
# The fit is an orthogonal projection within the space of centred vectors, which has dimension $n - 1$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-9-3
# :class: dropdown
# ```
#
# Let $V$ be the centred vectors of $\mathbb R^n$, of dimension $n - 1$. A column of $Y$, centred, is some $y \in V$. The
# intercept fits the mean, so the fitted part of $y$ is $P y$, with $P$ the orthogonal projection onto the column space
# $U \subseteq V$ of $X$, and $R^2 = \lVert P y \rVert^2 / \lVert y \rVert^2$.
#
# If $r = n - 1$, then $U = V$, $P y = y$ and $R^2 = 1$, whatever $y$ is.
#
# For the second part, $y$ is a standard normal vector in $V$. In an orthonormal basis of $V$ whose first $r$ vectors span
# $U$ it has $n - 1$ independent standard normal coordinates $g_i$, and $R^2 = \sum_{i \le r} g_i^2 / \sum_{i \le n-1}
# g_i^2$. The $n - 1$ ratios $g_i^2 / \sum_j g_j^2$ have the same distribution and the sum 1, so each has expectation
# $1/(n - 1)$, and $R^2$ has $r/(n - 1)$.
#
# With 400 channels and 512 images pure noise has $R^2 = 400/511 = 0.78$: a high value says nothing about the activation.
#
# **Rubric** (6 points)
#
# * 2: the fit as a projection, with the intercept accounted for.
# * 1: full rank gives 1.
# * 2: the expectation, by symmetry or by the beta distribution.
# * 1: the number 0.78 and what it means.

# %% [markdown]
# ```{solution-end}
# ```
