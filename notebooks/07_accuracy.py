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
# *Does a signature tell how accurate a network is?* The paper reduces each signature to one number, such as its mean, and
# relates it to the accuracy on ImageNet (paper Fig. 4). In three of five groups the best of seven such numbers explains accuracy
# better than depth, size and operations do.
#
# :::{admonition} What we found
# :class: findings
# **Over twelve networks on CIFAR-10 accuracy falls with the mean score (correlation {glue:text}`all-mean`); within the
# residual ones it rises ({glue:text}`residual-mean`, four depths of one design).** {bdg-warning}`depends` The family alone explains
# {glue:text}`share-family` of the variance of accuracy, so this is no law about the score.
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
from companion.parameters import check_parameters

check_parameters(globals())

# %% mystnb={"figure": {"name": "fig-cifar-accuracy", "caption": "Accuracy over the mean score for twelve networks of five families: the families lie on a falling line, the residual networks on a rising one. Published accuracies; scores measured on JPEG copies of test images."}, "image": {"width": "540px", "alt": "Two scatter plots of accuracy from 87 to 96 per cent, over the mean and over the lowest score. Over the mean, four plain networks fall from 90.5 to 87, four residual ones rise from 92 to 92.7, and the two VGG-like networks and the DenseNet lie at the upper left. Over the lowest score both families fall."}}
import numpy as np
import pandas as pd

import companion
from affscore.comparison import STATISTICS, signature_statistics
from companion.characteristics import characteristics
from companion.figures import repeated_signatures, two_measures
from companion.mini_zoo import hard_task
from companion.networks import network_table, study_groups
from companion.printed import printed_table
from companion.real_networks import real_networks, real_scores
from companion.style import say

statistics = list(STATISTICS)  # mean, std, min, median, max and two ratios
scores = real_scores("CIFAR-10")
networks = signature_statistics(
    dict(list(scores.groupby("network")["score"]))
)
networks = networks.join(real_networks()[["family", "accuracy"]])
points = networks.melt(["family", "accuracy"], ["mean", "min"], "statistic")
points["statistic"] += " of the scores"
labels = ("", "accuracy (%)")
two_measures(
    points, "value", "accuracy", "statistic", "family", labels, columns=1
)

# %% [markdown]
# ({doc}`06_a_decade` has all accuracies.)
#
# ## Families apart
#
# Correlations with accuracy, over all networks and within the families that have four:


# %%
def with_accuracy(rows):
    return rows[statistics].corrwith(rows["accuracy"])


families = networks.groupby("family")
correlations = pd.DataFrame(
    {"all": with_accuracy(networks)}
    | {
        name: with_accuracy(families.get_group(name))
        for name in ["plain", "residual"]
    }
).T
correlations.round(2)

# %% [markdown]
# The mean changes its sign. Deeper residual networks are more accurate and have higher mean scores; deeper plain networks are
# less accurate, as they train badly, and have higher mean scores, too. So in both families the mean goes with depth, and
# what depth does to accuracy differs. A correlation over all twelve mixes this with differences between families.
#
# How much do the families alone explain? Predict each accuracy by the mean of its family. (Of noise, five families explain
# 4/11 on average.)

# %%
by_family = families["accuracy"].transform("mean")
left = ((networks["accuracy"] - by_family) ** 2).sum()
share = 1 - left / (len(networks) * networks["accuracy"].var(ddof=0))
explained = pd.DataFrame(
    {"family": share, "mean": correlations.loc["all", "mean"] ** 2},
    index=["share"],
)
explained.round(2)

# %% tags=["remove-cell"]
say(correlations)
say(explained, "{:.0%}")

# %% [markdown]
# ## The best of seven, by chance
#
# The best of seven statistics explains something even of noise {cite}`freedman1983note`. A permutation test shows how much:
# permute the accuracies, take the best of seven again, and count how often it does as well as with the true ones.

# %%
rng = np.random.default_rng(seed)
z = networks[statistics] - networks[statistics].mean()
z = (z / np.linalg.norm(z, axis=0)).to_numpy()
y = (networks["accuracy"] - networks["accuracy"].mean()).to_numpy()


def best(accuracies):
    return ((accuracies @ z) ** 2).max() / (y @ y)


print(f"best of seven: R2 = {best(y):.2f}")


# %% [markdown]
# Permute once over all networks, and once only within families, so that what the families differ in is no evidence:


# %%
def within():
    mixed = y.copy()
    for family in families.indices.values():
        mixed[family] = rng.permutation(y[family])
    return mixed


chance = {"over all": [best(rng.permutation(y)) for _ in range(9999)]}
chance["within families"] = [best(within()) for _ in range(9999)]
chance = pd.DataFrame(chance)
p = (chance >= best(y)).mean()
pd.DataFrame({"R2 by chance": chance.median(), "p": p}).round(3)

# %% [markdown]
# Over all networks the best statistic beats chance. Within families it does not: most of what it explains, it explains by
# knowing the family.
#
# What twelve networks of five families can show: that the sign of a correlation depends on which networks one pools. What
# they cannot: that a score predicts accuracy. Each network was trained once, four depths of one design are nearly one
# observation, and families with one or two members decide nothing. On ImageNet two of our networks have published
# accuracies: from ResNet-18 to ResNet-50 accuracy rises (66.7 to 72.2 %) and the mean score, too, as in the residual family.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? The same under every choice of the measure", "code_prompt_hide": "How sure? The same under every choice of the measure"}
from companion.real_networks import real_multiverses

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
pd.DataFrame(signs).agg(["min", "max"]).round(2)  # of twelve choices

# %% [markdown]
# ## Width
#
# A series of one design: MobileNets with fewer or more channels. (The accuracies of these copies are known on training
# images only, so they are not compared.) In MobileNetV1, all three from one source, the signature of the second half is
# nearly the same at a quarter of the width. MobileNetV2 at full width comes from another source than its narrow versions,
# and differs from them more than they do from each other.

# %% mystnb={"figure": {"name": "fig-width", "caption": "Signatures of MobileNets of three widths each. From its eighth activation to its last MobileNetV1 has nearly the same scores at all widths. Most weights quantised; 512 photographs of ImageNet's training set."}, "image": {"width": "540px", "alt": "Two panels of overlaid lines, affinity score over the activations in order. For MobileNetV1 three lines coincide but for the first activations; for MobileNetV2 the full width lies above the two others, which coincide."}}
photographs = real_scores("photographs")
named = photographs["network"].str.extract(r"^(MobileNetV[12]) ?([\d.]*)$")
series = photographs.assign(
    design=named[0], width=named[1].replace("", 1).astype(float)
).dropna(subset="design")
panels = dict(list(series.groupby("design")))
repeated_signatures(panels, "width", label="width ")


# %%
def by_width(rows):
    return rows.groupby(["design", "width"])["score"].mean()


later = series[series["index"].ge(8)]
parts = {
    "mean score": by_width(series),
    "from the eighth on": by_width(later),
}
pd.DataFrame(parts).round(3)

# %% [markdown]
# ## Which $R^2$ the paper prints
#
# The paper says "R2 score", and not of which fit. Three of its numbers need only public metadata. Two come out to the last digit and one by 0.001 beside it, as the **adjusted** $R^2$ of a fit in the **logarithm**, with torchvision's default weights; a straight line has 0.77 where
# 0.955 is printed.

# %%
columns = {"Residual": "gflops", "NAS-based": "parameters", "ViTs": "gflops"}
again = printed_table("figure4_r2")[["common_r2"]].rename_axis("group")
for group, column in columns.items():
    known = characteristics(study_groups()[group])
    r = np.corrcoef(np.log(known[column]), known["accuracy"])[0, 1]
    k = len(known)
    again.loc[group, "ours"] = 1 - (1 - r**2) * (k - 1) / (k - 2)
again.dropna().astype(float).rename(columns={"common_r2": "printed"}).round(4)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Networks of your own", "code_prompt_hide": "Networks of your own"}
if models:
    from affscore.survey import load_or_measure

    options = {"n": n, "images": images or None, "seed": seed, "jobs": jobs}
    options |= {"device": device, "progress": False}
    results = load_or_measure(models, dataset, store, **options)
    yours = {name: one.summary["score"] for name, one in results.items()}
    mine = signature_statistics({k: v.dropna() for k, v in yours.items()})
    mine = mine.join(characteristics(models)["accuracy"].astype(float))
    mine["group"] = network_table(models)["group"]
    print(
        mine.groupby("group")[[*statistics, "accuracy"]].apply(with_accuracy)
    )

# %% [markdown]
# ## The paper's groups, in small
#
# The same on small members of the paper's networks, the mini zoo, trained on few and distorted digits with five seeds: the
# best $R^2$ of seven statistics, and that of the family's name.

# %%
mini = hard_task().drop(columns="seed").groupby("name", sort=False).mean()
mini = mini.join(network_table(mini.index)[["group", "family"]])
groups = mini.dropna(subset="group").groupby("group", sort=False)
in_small = groups[[*statistics, "accuracy"]].apply(with_accuracy) ** 2
in_small = in_small.max(axis=1).to_frame("best of seven")
guess = mini.groupby(["group", "family"])["accuracy"].transform("mean")
guess = guess.groupby(mini["group"]).var(ddof=0)
in_small["family alone"] = guess / groups["accuracy"].var(ddof=0)
in_small.round(2)

# %% [markdown]
# In two of the groups the name does as well: a group of two families is nearly two points, and through two points there is
# always a line. A statistic counts where it beats the name of the family, and chance. (Of one family, as the ViTs, the name explains
# nothing by construction.)
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
from itertools import permutations as orders


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
