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
# *Does a signature belong to the architecture, to the data, or to the training?* The paper {cite}`bouniot2025alexnet` compares
# signatures on ImageNet, CIFAR and noise (paper Fig. 15). Over 17 trainings of a ResNet-50 its mean score "remains almost
# unchanged" (paper Table 3).
#
# :::{admonition} What we found
# :class: findings
# **Other data move the signature of a trained network further than other images of the same data do**:
# {glue:text}`least-times` to {glue:text}`most-times` times as far in eleven networks. Under the least favourable choice of the
# measure it is still {glue:text}`min-every choice` times. {bdg-success}`robust`
#
# **Most of five ways to train a small network leave a trace in its signature**, but only contrastive training in its mean score.
# {bdg-warning}`depends`
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
model: str = ""  # a network of your own: MODEL@WEIGHTS
dataset: str = "digits"  # the data it was trained for: digits, folder:DIR ...
others: list[str] = ["random"]  # other data
n: int = 512  # images of each, in one batch
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images

# %% tags=["remove-cell"]
import companion
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
from math import factorial

import numpy as np
import pandas as pd

from affscore.comparison import distance_matrix
from companion.chapter_12 import beside_usual, class_effects, deviation_panels
from companion.clustering import nearest_neighbour_accuracy
from companion.networks import network_title
from companion.real_networks import real_networks
from companion.studies import load_study, under
from companion.style import say, table

# %% [markdown]
# ## How far do other data move a signature?
#
# Other images of the same data already move a signature a little: two halves of the images give two slightly different ones. We take
# this movement as the unit, and ask how many units a signature moves on data for which the network was not trained. If it
# belonged to the architecture alone, the answer would be about one.
#
# ```{admonition} The distance and its unit exactly
# :class: dropdown
#
# Let $s$ and $s'$ be two signatures. Their distance over the activations $l$ is $D = \sqrt{\sum_l (s'_l - s_l)^2}$. The unit is
# $\sqrt{\sum_l \sigma_l^2}$, where $\sigma_l$ is the standard deviation of the scores of two halves of the images: half the
# images double $\sigma_l^2$, and so does a difference of two scores.
# ```


# %%
def distances(study):
    """Of each network, to the data in the first row; and by chance."""
    reference = study["dataset"].iloc[0]
    whole = study[study["batches"] == 1]
    scores = whole.pivot_table("score", ["model", "index"], "dataset")
    squares = scores.sub(scores.pop(reference), axis=0) ** 2
    halves = study[study["batches"] == 2].set_index(["model", "index"])
    squares["chance"] = halves["score_std"] ** 2
    return squares.groupby("model", sort=False).sum() ** 0.5


names = ["other-data-photographs", "other-data-cifar"]
real = pd.concat([distances(under(load_study(name))) for name in names])

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-12-real", "caption": "Other data move a signature several times as far as other images of the same data (bars, the unit). Above three networks that were trained on ImageNet, below eight that were trained on CIFAR-10; 512 images each, as JPEG."}, "image": {"width": "540px", "alt": "Eleven networks, a row each. In units, triangles for noise lie between 10 and 33. Circles for CIFAR-10, on the first three networks, lie between 8 and 14; squares for ImageNet, on the other eight, between 3 and 6. Grey bars of other images reach 1."}}
called = {"folder:cifar10-test": "CIFAR-10", "random": "noise"}
called["folder:imagenet-sample"] = "ImageNet"
titles = {model: name for name, model in real_networks()["model"].items()}
real = real.rename(titles).rename(columns=called)
shown = real.div(real["chance"], axis=0)
shown = shown.melt("chance", value_name="units", ignore_index=False)
shown = shown.dropna().reset_index()
deviation_panels(shown, ["units"], chance="other images of the same data")

# %% [markdown]
# How many units other data move a signature:

# %%
times = real.drop(columns="chance").div(real["chance"], axis=0)
of = times["ImageNet"].isna().map({True: "ImageNet", False: "CIFAR-10"})
times = times.groupby(of).agg(["min", "max"]).stack(0, future_stack=True)
times = times.rename_axis(["trained on", "other data"]).dropna()
table(times, {"min": "least (units)", "max": "most (units)"}, digits=1)

# %% tags=["remove-cell"]
extremes = {"least": times["min"].min(), "most": times["max"].max()}
say(pd.DataFrame({"times": extremes}), "{:.2g}")

# %% [markdown]
# **So a signature belongs to the data, too.** Under every choice of the measure other data move it at least
# {glue:text}`min-every choice` units. Noise moves it further than other photographs, in all networks but one.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Every choice of the measure", "code_prompt_hide": "How sure? Every choice of the measure"}
# In units, over networks and choices of the measure.
words = ["reduction", "order", "covariance", "coupling"]
ratios = []
for name in names:
    for _, rows in load_study(name).groupby(words):
        apart = distances(rows).rename(columns=called)
        ratios.append(apart.div(apart.pop("chance"), axis=0))
ratios = pd.concat(ratios).agg(["min", "median", "max"]).astype(float)
table(ratios.set_axis(["least", "median", "most"]), digits=1)

# %% tags=["remove-cell"]
say(ratios.min(axis=1).to_frame("every choice"), "{:.1f}")

# %% tags=["hide-input"] mystnb={"code_prompt_show": "A network of your own", "code_prompt_hide": "A network of your own"}
if model:
    from affscore import signature

    options = {"n": n, "images": n, "criteria": False, "device": device}
    on = [
        signature(model, data, **options, seed=seed).scores
        for data in (dataset, *others)
    ]
    for data, other in zip(others, on[1:], strict=True):
        print(data, round(((other - on[0]) ** 2).sum() ** 0.5, 3))

# %% [markdown]
# ## Does the way of training show?
#
# The paper trains once in each way, so it cannot tell ways from seeds. We trained a mini ResNet-18 on digits in five ways, from
# three seeds each:
#
# * *supervised*, and supervised with *label noise* (40 % of the labels drawn at random);
# * without labels: by *rotation* (by how many quarters of a turn was the image rotated? {cite}`gidaris2018unsupervised`),
#   *contrastive* learning {cite}`chen2020simple` and *distillation* of another network {cite}`hinton2015distilling`.

# %% mystnb={"figure": {"name": "fig-12-ways", "caption": "Contrastive training leaves the network most linear on average, but not at its end. Scores less those of supervised training; thin lines are seeds, thick ones their means."}, "image": {"width": "540px", "alt": "Four panels, one for each way of training, with the difference of affinity scores over depth: a thick line with markers and thin lines for the seeds around it, beside those of supervised training."}}
ways = under(load_study("other-training"))
ways = ways.replace("label-noise", "label noise")
own = ways["way"] == "supervised"
usual = ways[own].groupby("depth")["score"].mean()
apart = ways.assign(score=ways["score"] - ways["depth"].map(usual))
apart = apart.assign(line=ways["seed"], group="the way above")
others = ways.loc[~own, "way"].unique()
twice = [apart[own].assign(way=way, group="supervised") for way in others]
beside_usual(pd.concat([*twice, apart[~own]]), "supervised")

# %% [markdown]
# Mean scores of three seeds, and for how many of the three the nearest signature is of the same way:

# %%
trainings = ways.groupby(["way", "seed"])["score"]
scores = {f"{way} {k}": one.to_numpy() for (way, k), one in trainings}
apart = distance_matrix(scores).to_numpy(copy=True)
np.fill_diagonal(apart, np.inf)
labels = np.array([way for (way, _), _ in trainings])
same = pd.Series(labels[apart.argmin(axis=1)] == labels)
found = trainings.mean().groupby("way").agg(["mean", "min", "max"])
found["nearest is of the same way"] = same.groupby(labels).sum()
table(found)

# %% tags=["remove-cell"]
say(pd.DataFrame({"nearest": {"same way": f"{same.sum()} of {len(same)}"}}))

# %% [markdown]
# **Only contrastive training stands out by its mean score, but most ways show in the signature**: for
# {glue:text}`same way-nearest` trainings the nearest signature is of the same way, and by chance it would be for about two. This
# is one small architecture. {bdg-warning}`depends`

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? A permutation test", "code_prompt_hide": "How sure? A permutation test"}
near = nearest_neighbour_accuracy(distance_matrix(scores), labels, 4999)
print(f"ways: {near.permuted:.0%} by chance, p = {near.p_value:.2g}")

# %% [markdown]
# ## Aside: Do images of similar meaning have similar signatures?
#
# **No: shuffled digits, which nobody can read, move a signature on average about as far (a distance of {glue:text}`mean-digits-shuffled`) as
# inverted ones, which everybody can ({glue:text}`mean-digits-inverted`).** By eight of twelve choices shuffled ones are even nearer.
# {bdg-warning}`depends`
#
# The paper reads it so: CIFAR is "semantically closer to Imagenet". *Shuffled* digits have their pixels permuted, all in the same
# way. Distances in the 36 small networks of the mini zoo, trained on digits:

# %%
mini = load_study("other-data")
on_digits = distances(under(mini)).agg(["mean", "min", "max"])
columns = {"digits-inverted": "inverted", "digits-noisy": "noisy"}
columns |= {"digits-shuffled": "shuffled", "random": "pure noise"}
table(on_digits, columns | {"chance": "other digits"})

# %% tags=["remove-cell"]
say(on_digits)

# %% [markdown]
# The distance measures how much the distributions of the activations change, not what an image means. *Shuffled less inverted
# digits* has the difference, least and most over choices of covariance and coupling; below 0 shuffled ones are nearer.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Shuffled less inverted digits, under every choice", "code_prompt_hide": "How sure? Shuffled less inverted digits, under every choice"}
leads = {}
for choice, rows in mini.groupby(words):
    apart = distances(rows)
    lead = apart["digits-shuffled"] - apart["digits-inverted"]
    leads[choice] = {"lead": lead.mean(), "error": lead.sem()}
leads = pd.DataFrame(leads).T.rename_axis(words).groupby(words[:2])
leads = leads.agg(["min", "max"]).drop(columns=("error", "min"))
leads.columns = ["least", "most", "largest standard error"]
leads.index = ["average after", "average before", "one position"]
table(leads, digits=3)

# %% [markdown]
# ## Aside: One class at a time
#
# **One class has a signature of its own.** It lies {glue:text}`least-class` to {glue:text}`most-class` times as far from the mean of
# random subsets *of the same size* as these subsets do, and further under every choice of the measure. {bdg-success}`robust`
#
# Of 49 random subsets take the mean signature
# $m$ and the variances $v_l$. With the signatures $s_c$ of the ten classes the ratio is $q = \sqrt{\operatorname{mean}_c \lVert
# s_c - m \rVert^2 / \sum_l v_l}$. It is 1 where the label says nothing.


# %%
def ratio(rows):
    table = rows.pivot_table("score", ["draw", "dataset"], "index")
    classes, subsets = table.loc[0], table.loc[1:]
    apart = ((classes - subsets.mean()) ** 2).sum(axis=1).mean()
    return np.sqrt(apart / subsets.var().sum())


classes = [load_study(name) for name in ("classes-cifar", "classes")]
q = under(pd.concat(classes)).groupby("model", sort=False)
q = q[["draw", "dataset", "index", "score"]].apply(ratio)
q.index = [titles.get(k, f"mini {network_title(k)}") for k in q.index]
table(q.to_frame("times as far"), digits=1)

# %% tags=["remove-cell"]
of_class = {"least": q.min(), "most": q.max()}
say(pd.DataFrame({"class": of_class}), "{:.1f}")

# %% [markdown]
# An activation can even be affine on each class and bent on all together (exercise 12.1). So the score of all images is no
# average over classes.

# %%
effects = class_effects(under(pd.concat(classes)))
p = max(effect.p_value for effect in effects.values())
print(f"one class, permuted with the subsets: p = {p:.3f} at most")
each = pd.concat(classes).groupby([*words, "model"])
every = each[["draw", "dataset", "index", "score"]].apply(ratio)
print(f"ratio by every choice: {every.min():.1f} to {every.max():.1f}")

# %% [markdown]
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
# ```{exercise} 12.2 How many seeds does a verdict need?
# :label: ex-12-2
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: plan the size of a study from the resolution of its test.
#
# A study has $m$ methods with $k$ seeds each. The test by nearest neighbours permutes the $mk$ labels; its statistic does not change when
# methods swap their names. (a) Prove that its p-value is at least $m!\,(k!)^m / (mk)!$ over all permutations. (b) Which is the smallest $k$ with which two methods
# can reject at 0.05, and which for five methods? (c) What does (a) say of the paper's figure, with $k = 1$?
# ```
#
# ```{admonition} Hint for 12.2
# :class: dropdown hint
# Count the permutations of labels that leave the partition of the networks into groups as it is.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-12-2
# :class: dropdown
# ```
#
# (a) The statistic depends only on which networks share a label, that is, on the partition into $m$ groups of $k$. Permuting the networks inside each group ($(k!)^m$ ways)
# and the names of the groups ($m!$ ways) gives the observed partition again, so at least $m!\,(k!)^m$ of the $(mk)!$ permutations have the observed value of
# the statistic, or more. The p-value is the share of permutations that reach it.
#
# (b) The bound for two methods is $2\,(k!)^2 / (2k)!$: 1/3 for $k = 2$, 1/10 for $k = 3$, 1/35 for $k = 4$. So four seeds. For five methods
# with two seeds it is $5! \cdot 2^5 / 10! = 1/945$: two are enough.
#
# (c) With $k = 1$ the bound is $m!/m! = 1$: no result could have rejected. A clustering of one training each cannot show that it finds methods.

# %%
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
