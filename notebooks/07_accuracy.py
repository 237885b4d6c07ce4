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
# # Accuracy
#
# *Does a signature tell how accurate a network is?* The paper {cite}`bouniot2025alexnet` reduces each signature to one
# number, such as its mean. In three of its five groups of networks the best of seven such numbers explains accuracy on
# ImageNet better than depth, size and operations do (paper Fig. 4).
#
# :::{admonition} What we found
# :class: findings
# **Whether accuracy rises or falls with the mean score depends on the networks.** Over twelve networks on CIFAR-10 it
# falls (correlation {glue:text}`all-mean`), over the four residual ones it rises ({glue:text}`residual-mean`).
# {bdg-warning}`depends`
#
# **On CIFAR-10 the name of the family tells more about the accuracy than the score does.**
# :::

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
models: list[str] = []  # of torchvision, with weights of known accuracy
dataset: str = "digits"  # their images: imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images and of permutations

# %% tags=["remove-cell"]
import companion
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
from itertools import permutations as orders

import numpy as np
import pandas as pd

from affscore.comparison import STATISTICS, signature_statistics
from companion.chapter_07.selection import best_fit_test
from companion.figures import repeated_signatures, two_measures
from companion.mini_zoo import hard_task
from companion.networks import network_table
from companion.real_networks import (
    real_multiverses,
    real_networks,
    real_scores,
)
from companion.style import say, table

# %% [markdown]
# ## Does accuracy rise with the score?
#
# If accuracy followed from the mean score, it would do so within each family, too. We look at twelve networks on
# CIFAR-10 ({doc}`06_a_decade`). **The correlation changes its sign**: it is {glue:text}`all-mean` over all networks and
# {glue:text}`residual-mean` over the residual ones, which are four points only.

# %% mystnb={"figure": {"name": "fig-cifar-accuracy", "caption": "Accuracy falls with the mean score over twelve networks, and rises over the four residual ones. Numbers are layers (the residual 44 lies under 56), the VGG-like are SimpNets; published accuracies, scores on JPEG copies of test images."}, "image": {"width": "540px", "alt": "A scatter plot of accuracy from 87 to 96 per cent over the mean score. Four plain networks fall from 90.5 to 87, four residual ones rise from 92 to 92.7, and the two VGG-like networks and the DenseNet lie at the upper left."}}
scores = real_scores("CIFAR-10").groupby("network")["score"]
networks = signature_statistics(dict(list(scores)))
networks = networks.join(real_networks()[["family", "accuracy"]])
points = networks.assign(images="twelve networks on CIFAR-10")
axes = ["mean", "accuracy", "images", "family"]
figure = two_measures(points, *axes, ("mean score", "accuracy (%)"), 1)
labelled = networks.filter(regex="-\\d\\d$", axis=0).drop("ResNet-44")
for name, *place in labelled[["mean", "accuracy"]].itertuples():
    figure.axes[0].text(*place, f"{name[-2:]}\n", ha="center", va="center")
figure

# %% [markdown]
# Depth may say why. In both families deeper networks have higher mean scores, but deeper residual networks are more
# accurate, and deeper plain ones less so, as they train badly.
#
# ## Is it the score, or the family?
#
# Does the name of the family tell as much as the score? We predict each accuracy
#
# * by the mean accuracy of its family;
# * by a straight line in the best of the paper's seven numbers: mean, median, deviation, smallest, largest, and largest
#   over mean and over median;
# * by a straight line in the mean score.
#
# Each explains a share of the variance ($R^2$), some of it *by chance* {cite}`freedman1983note`: that is its average
# when the accuracies are shuffled.


# %%
statistics = list(STATISTICS)  # the seven
families = networks.groupby("family")["accuracy"]
share = families.transform("mean").var() / networks["accuracy"].var()
chance = (families.ngroups - 1) / (len(networks) - 1)
rows = {"name of the family": (share, chance)}
numbers = {"best of seven": statistics, "mean score": ["mean"]}
for name, some in numbers.items():
    test = best_fit_test(networks, some, seed=seed)
    rows[name] = test.observed, test.permuted.mean()
shown = {name: [a, b, (a - b) / (1 - b)] for name, (a, b) in rows.items()}
headings = ["accuracy explained (%)", "by chance (%)", "of the rest (%)"]
table(pd.DataFrame(shown, headings).T, digits=0)

# %% [markdown]
# **The name of the family explains more than the score**, also of what chance leaves (last column).
#
# Does the best of seven tell anything beyond this name? A *permutation test* asks how often shuffled accuracies are
# explained as well as the true ones; $p$ is this share of shuffles. If all accuracies are shuffled, the name of the
# family is lost, too. If they are shuffled within families only, each family keeps its mean, so only what is known
# beyond the name can make $p$ small.

# %%
shuffles = {"among all networks": None, "within families": "family"}
shuffled = {}
for name, strata in shuffles.items():
    test = best_fit_test(networks, statistics, strata=strata, seed=seed)
    shuffled[name] = test.observed, test.permuted.mean(), test.p_value
headings = ["explained (%)", "explained after shuffling (%)", "p"]
shown = pd.DataFrame(shuffled, headings).T.rename_axis("shuffled")
table(shown, digits={headings[0]: 0, headings[1]: 0, "p": 3})

# %% [markdown]
# **The best of seven beats chance, but is not shown to tell more than the name of the family.** Twelve networks cannot
# show more, as each was trained once, and four depths of one design are nearly one observation.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? The same under every choice of the measure", "code_prompt_hide": "How sure? The same under every choice of the measure"}
# Least and greatest correlation of the mean score with accuracy, over twelve
# choices of the measure: the signs stay.
words = ["reduction", "order", "covariance", "coupling"]
every = real_multiverses("CIFAR-10")
about = ["family", "network", "accuracy"]
means = every.groupby([*words, *about])["score"].mean().reset_index()
rows = {"all": means} | dict(list(means.groupby("family")))
signs = {
    name: rows[name]
    .groupby(words)[["score", "accuracy"]]
    .apply(lambda some: some["score"].corr(some["accuracy"]))
    for name in ["all", "plain", "residual"]
}
table(pd.DataFrame(signs).agg(["min", "max"]).set_axis(["least", "greatest"]))

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Networks of your own", "code_prompt_hide": "Networks of your own"}
if models:
    from affscore.survey import load_or_measure
    from companion.characteristics import characteristics

    options = {"n": n, "images": images or None, "seed": seed, "jobs": jobs}
    options |= {"device": device, "progress": False}
    results = load_or_measure(models, dataset, store, **options)
    yours = {name: one.summary["score"] for name, one in results.items()}
    mine = signature_statistics({k: v.dropna() for k, v in yours.items()})
    mine = mine.join(characteristics(models)["accuracy"].astype(float))
    mine["group"] = network_table(models)["group"]
    groups = mine.groupby("group")[[*statistics, "accuracy"]]
    print(groups.corr()["accuracy"].unstack()[statistics])

# %% [markdown]
# ## Aside: Other numbers than the mean
#
# The largest score changes the sign of its correlation, too; deviation, smallest and median do not.


# %%
def with_accuracy(rows):
    return rows[statistics].corrwith(rows["accuracy"])


families = networks.groupby("family")
correlations = families[[*statistics, "accuracy"]].apply(with_accuracy)
correlations.loc["all"] = with_accuracy(networks)
correlations = correlations.loc[["all", "plain", "residual"]]
headings = {"mean": "mean", "std": "deviation", "min": "smallest"}
headings |= {"median": "median", "max": "largest"}
table(correlations.rename_axis("networks"), headings)

# %% tags=["remove-cell"]
say(correlations)

# %% [markdown]
# ## Aside: Width
#
# **Three MobileNetV1s of different widths have nearly the same scores from the ninth activation on**, at a quarter of
# the channels, too.

# %% mystnb={"figure": {"name": "fig-width", "caption": "From its ninth activation on MobileNetV1 has nearly the same scores at all widths. Signatures of MobileNets of three widths each, as multiples of the full one. Most weights quantised; 512 photographs of ImageNet's training set."}, "image": {"width": "540px", "alt": "Two panels of overlaid lines, affinity score over the activations in order. For MobileNetV1 three lines coincide but for the first activations; for MobileNetV2 the full width lies above the two others, which coincide."}}
photographs = real_scores("photographs")
named = photographs["network"].str.extract(r"^(MobileNetV[12]) ?([\d.]*)$")
series = photographs.assign(
    design=named[0], width=named[1].replace("", 1).astype(float)
).dropna(subset="design")
panels = dict(list(series.groupby("design")))
repeated_signatures(panels, "width", label="× ")

# %% [markdown]
# The full MobileNetV2 is from another source than the narrow ones, and differs from them more than
# they do from each other.
#
# ## Aside: The paper's groups, in small
#
# **In two of the groups the name of the family explains as much as the best of seven statistics.**
#
# These are small members of the paper's networks, the mini zoo, trained on few and distorted digits with five seeds:

# %%
mini = hard_task().drop(columns="seed").groupby("name", sort=False).mean()
mini = mini.join(network_table(mini.index)[["group", "family"]])
groups = mini.dropna(subset="group").groupby("group", sort=False)
in_small = groups[[*statistics, "accuracy"]].apply(with_accuracy) ** 2
in_small = in_small.max(axis=1).to_frame("best of seven")
guess = mini.groupby(["group", "family"])["accuracy"].transform("mean")
guess = guess.groupby(mini["group"]).var(ddof=0)
in_small["family alone"] = guess / groups["accuracy"].var(ddof=0)
headings = {name: f"{name} (%)" for name in in_small}
table(in_small, headings, digits=0)

# %% [markdown]
# A group of two families is nearly two points, and a line fits any two points. (The ViTs are one family, so that their
# name explains nothing.)
#
# **Which $R^2$ does the paper print?** The adjusted $R^2$ of a fit in the logarithm reproduces its two numbers for
# operations, and that for parameters to 0.001. Its two for depth differ: the paper does not say how it counts depth
# ({doc}`18_what_is_reproduced`).
#
# ## Exercises
#
# ```{exercise} 7.1 A permutation test of your own
# :label: ex-7-1
# :nonumber:
#
# *Change code · 25 minutes · medium.* Aim: write a permutation test.
#
# Write a function `p_value(x, accuracy)` for one statistic `x`: the share of all orders of the accuracies for which the $R^2$
# of a straight line is at least the observed one. The arrays have five or six entries, so try all orders. (For a straight
# line, $R^2$ is the square of the correlation. Mind rounding when you compare.)
# ```
#
# ```{admonition} Hint for 7.1
# :class: dropdown hint
# `itertools.permutations` yields all orders. Is the observed order one of them, and does a falling line count?
# ```

# %%
answer = None  # your answer here
# companion.exercises.check("7.1", answer)

# %% [markdown]
# ```{solution-start} ex-7-1
# :class: dropdown
# ```
#
# The observed order is one of all orders, and a falling line explains as well as a rising one.


# %%
def p_value(x, accuracy):
    def r2(y):
        return np.corrcoef(x, y)[0, 1] ** 2

    observed = r2(accuracy)
    return np.mean(
        [r2(np.array(y)) >= observed - 1e-9 for y in orders(accuracy)]
    )


companion.exercises.check("7.1", p_value)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 7.2 Two families, one line
# :label: ex-7-2
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: know what the family alone explains.
#
# A group has two families. Let the baseline predict each accuracy by the mean of its family, with $R^2_f$. Prove: (a) a
# statistic that has one value in each family (a different one) has, as a straight line, exactly $R^2 = R^2_f$; (b) if
# accuracies are permuted within the families, the mean of the covariance of a statistic with them is its covariance with
# the family means. What does (b) say about the test within families above?
# ```
#
# ```{admonition} Hint for 7.2
# :class: dropdown hint
# Through two points there is a line. For (b), what is the mean of a permuted accuracy?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-7-2
# :class: dropdown
# ```
#
# (a) The line through the two points (value of a family, mean accuracy of the family) predicts the family means. No line
# does better: any function of this statistic has one value in each family, and the mean is the best constant.
#
# (b) Permuting within a family gives each of its networks the mean accuracy of the family on average. The covariance is
# linear in the accuracies, so its mean over the permutations is that with the family means. A statistic that separates the
# families keeps this part in every permutation, so it is no evidence in the test within families.
#
# **Rubric** (5 points)
#
# * 2: (a), that a line reaches the family means and nothing can do better.
# * 2: (b), linearity and the mean of a permuted accuracy.
# * 1: what the test within families leaves out.

# %% [markdown]
# ```{solution-end}
# ```
