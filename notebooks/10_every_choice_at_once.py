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
# # Every choice at once
#
# How linear is MobileNetV2? Its mean score is 0.82, or 0.70: it depends on four choices that no argument settles. How
# are the positions of a feature map reduced to a point, before the activation or after it, how is the covariance
# estimated, and which output is each input coupled with? Definition 3.1 of the paper {cite}`bouniot2025alexnet`, its
# code and its theory do not agree on them. So this chapter makes all the choices at once, a *multiverse* analysis
# {cite}`steegen2016increasing`, and asks which conclusions survive.

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
seed: int = 0  # of random weights, of the choice of images and of positions

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown

import affscore
import companion
from affscore.options import Specification
from affscore.plots import house_style
from affscore.survey import load_or_measure, stored_multiverses
from companion.chapter_10 import effects_of_choices
from companion.networks import short_names, study_models
from companion.shipped import MULTIVERSES
from companion.style import table

trained = {
    found.metadata["model"]: found
    for found in stored_multiverses(MULTIVERSES)
    if found.metadata["weights"] != "random"
}
real = {
    name.rpartition(":")[2]: found
    for name, found in trained.items()
    if not name.startswith("mini:")
}

# %% [markdown]
# ## One network, twelve answers

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-10-curve", "caption": "One trained network, twelve mean scores: MobileNetV2 on photographs has 0.70 to 0.82, and the default has the most. The specification curve {cite}`simonsohn2020specification` above the matrix of choices; bars are the quartiles of its activations (`affscore.plots.specification_curve`)."}, "image": {"alt": "Above, twelve points from left to right in rising order with grey bars, between 0.70 and 0.82; the default and Definition 3.1 have their own markers. Below, a matrix of dots shows which reduction, order, covariance and coupling each point has."}}
real["mobilenet_v2"].plot("MobileNetV2 on photographs")
plt.show()

# %% [markdown]
# The same for all trained networks of usual size that come with the book, eight on CIFAR-10 and three on ImageNet;
# mean scores, with one choice changed at a time, and the lowest of all twelve:

# %% tags=["hide-input"]
named = {
    "default": Specification(),
    "definition 3.1": Specification(order="reduce-first"),
    "sampled position": Specification(reduction="sample"),
    "paired coupling": Specification(coupling="paired"),
    "empirical covariance": Specification(covariance="empirical"),
}
in_real = pd.DataFrame(
    {
        name: {
            label: found.scores[one].mean() for label, one in named.items()
        }
        | {"lowest of 12": found.scores.mean().min()}
        for name, found in real.items()
    }
).T
table(in_real)

# %% tags=["remove-input"]
highest = sum(
    found.scores.mean().idxmax() == Specification() for found in real.values()
)
Markdown(
    f"**In {highest} of {len(real)} networks the papers' choice gives the "
    "highest mean score of all twelve.** Every other one says that the "
    "network is less linear."
)

# %% [markdown]
# ## Where definition, code and theory part ways
#
# | choice | definition 3.1 | published code | theory | here |
# |---|---|---|---|---|
# | **reduction** of positions | "averaged" | the mean over all axes behind the second: where channels come last (ViT, Swin, ConvNeXt) that is a mean *over channels* | none: the activation acts on every position, whose distribution `sample` draws from | `mean`; `sample` |
# | **order** | reduces, then activates: $(r(X), \sigma(r(X)))$ | activates, then reduces: $(r(X), r(\sigma(X)))$ | no difference without positions | `activate-first`; `reduce-first` |
# | **covariance** | that of the distribution | Ledoit and Wolf's | the empirical one is in $[0, 1]$, and 1 for affine maps | `ledoit-wolf`; `empirical` |
# | **coupling** | the optimal one, $W_2$ | the optimal one | the pairing of each input with its own output is what a function does | `exact`; `paired` |
#
# `sample` commutes with an elementwise function, so both orders are the same: 2 + 1 ways to a point, times two
# covariances, times two couplings are **12 specifications**. One forward pass gives them all:

# %%
found = affscore.multiverse("mini:resnet18", "digits", n=512, progress=False)
columns = ["reduction", "order", "covariance", "coupling"]
table(found.summary[[*columns, "mean", "minimum", "rank_correlation"]])

# %% [markdown]
# ## One choice at a time
#
# A mean that moves is harmless if the order of the activations stays. So change one choice, keep the others at the
# default, and correlate the ranks of both signatures, for the networks on photographs and for the 36 of this chapter
# (by default the mini zoo on digits).

# %% tags=["hide-input"]
options = {
    "n": n,
    "images": images or None,
    "device": device,
    "seed": seed,
    "progress": False,
    "multiverse": ("mean", "sample"),
    "also": [MULTIVERSES],  # what comes with the book
}
names = short_names(networks := models or study_models("mini:"))
measured = load_or_measure(networks, dataset, store, jobs=jobs, **options)
here = {names[model]: one for model, one in measured.items()}
groups = {"photographs": real, "this chapter's networks": here}
effects = pd.concat(
    [
        effects_of_choices(
            {name: one.scores for name, one in some.items()}
        ).assign(group=group)
        for group, some in groups.items()
    ],
    ignore_index=True,
)
changes = effects.assign(change=effects["choice"] + ": " + effects["to"])
by_change = changes.groupby(["change", "group"]).agg(
    median=("mean_change", "median"),
    fall=("largest_fall", "min"),
    rise=("largest_rise", "max"),
    ranks=("rank_correlation", "median"),
    lowest=("rank_correlation", "min"),
)
headings = {
    "median": "change of the mean score, median",
    "fall": "largest fall of a score",
    "rise": "largest rise",
    "ranks": "rank correlation, median",
    "lowest": "lowest",
}
table(by_change.rename_axis([None, None]), headings)

# %% [markdown]
# Order and reduction reorder small networks; of those on photographs they reorder the plain ones and MobileNetV2, and
# hardly the residual ones. Each choice gets a section.
#
# ## Order: the mean of a ReLU is not the ReLU of a mean
#
# Averages over positions have little spread. A channel whose mean is far from the bend passes through `reduce-first` as
# if there were no bend, and one whose mean is always negative is dead. `activate-first` sees the bend in every position.
# One channel, 512 images of 64 positions: the positions of an image have a standard deviation of 1, the means of the
# images one of $s$, around a centre.

# %% tags=["hide-input"]
rng = np.random.default_rng(seed)
rows = []
for centre, s in itertools.product((0.0, 1.0), (0.05, 0.5, 2.0)):
    level = centre + s * rng.standard_normal((512, 1))
    x = level + rng.standard_normal((512, 64))
    mean, relu = x.mean(axis=1, keepdims=True), np.maximum(x, 0)
    pairs = {
        "activate-first": (mean, relu.mean(axis=1, keepdims=True)),
        "reduce-first": (mean, np.maximum(mean, 0)),
        "sample": (x[:, :1], relu[:, :1]),
    }
    rows.append(
        {"centre": centre, "s": s}
        | {
            name: affscore.affinity_score(*pair).value
            for name, pair in pairs.items()
        }
    )
table(pd.DataFrame(rows).set_index(["centre", "s"]))

# %% [markdown]
# On the same numbers the same ReLU scores 0.3 more in one order than in the other where the means lie at the bend, and a
# little less where they lie above it. No order is wrong: `activate-first` asks what the layer does to the *average*
# feature, `sample` what it does to a feature.
#
# ## Reduction: the axes of the published code
#
# Where channels come last, the published code averages a ViT's (N, tokens, channels) over the channels: the
# coordinates of a point are tokens. The papers' numbers for transformers and ConvNeXts are these. Ours are means over
# positions. The trained networks of the mini zoo that have channels last, measured both ways:

# %% tags=["hide-input"]
channels_last = effects_of_choices(
    {
        name: found.scores
        for name, found in trained.items()
        if "published" in found.scores.columns.get_level_values(0)
    }
)
published = channels_last[channels_last["to"] == "published"]
headings = {
    "mean_change": "change of the mean score",
    "largest_fall": "largest fall of a score",
    "largest_rise": "largest rise",
    "rank_correlation": "rank correlation",
}
table(published.set_index("network").rename_axis(None), headings)

# %% tags=["remove-input"]
ranks = published["rank_correlation"].median()
Markdown(
    f"The median rank correlation over {len(published)} networks is "
    f"**{ranks:.2f}**: the published axes are "
    + ("another measurement" if ranks < 0.5 else "a variant")
    + (", not a variant of the same" if ranks < 0.5 else "")
    + ". Compare transformers with convolutional networks under one "
    "reduction, and say which."
)

# %% [markdown]
# ## Coupling: blind to the pairing
#
# The score compares two clouds. Whatever reorders the outputs among the inputs is invisible to it: $y = -x$ of a symmetric
# cloud is "affine". `paired` keeps each input with its own output, by the same formula,
#
# $$
# \rho_{\text{paired}} = \max\Bigl(0,\; 1 - \sqrt{\frac{\frac1n \sum_i \lVert T x_i - y_i \rVert^2}{2 \operatorname{tr} S_Y}}\Bigr)
# \;\le\; \rho ,
# $$
#
# at no cost (it is the column `paired` of every result). How often does it matter? The activations of the networks on
# photographs where it costs most:

# %% tags=["hide-input"]
rows = pd.concat([one.rows for one in real.values()])
default = Specification()._asdict()
usual = rows[
    np.all([rows[name] == default[name] for name in columns[:3]], axis=0)
]
keys = ["model", "layer", "call", "kind", "width"]
by_layer = usual.groupby(keys)[["score", "paired"]].mean().reset_index()
by_layer["fall"] = by_layer["score"] - by_layer["paired"]
worst = by_layer.nlargest(6, "fall")
worst["network"] = worst["model"].str.rpartition(":")[2]
headings = {name: name for name in ("layer", "kind", "width")}
headings |= {"score": "exact score", "paired": "paired score"}
table(worst.set_index("network").rename_axis(None), headings)

# %% tags=["remove-input"]
far = (by_layer["fall"] > 0.1).mean()
Markdown(
    f"**In {100 * far:.0f} % of {len(by_layer)} activations the pairing costs more "
    f"than 0.1.** The worst has an affinity of {worst['score'].iloc[0]:.2f} "
    f"and a paired score of {worst['paired'].iloc[0]:.2f}: image by image it "
    "is no more affine than the bound, which is what unrelated outputs have."
)

# %% [markdown]
# Why so far? Averages do it. The mean output of a channel depends on how its positions spread, and not on their mean
# alone. So along some combinations of channels the mean output can *fall* while the mean input rises, and that no optimal
# map does: its matrix is positive semi-definite. An activation of `mini:vgg19` shows it, along the two directions in
# which inputs and outputs go together most and least (eigenvectors of their symmetrised cross-covariance):

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-10-falling", "caption": "Averages of 512 images before and after a ReLU of mini:vgg19, along two directions. Left, the output rises with the input, as one expects of a ReLU; right, it falls."}, "image": {"alt": "Two scatter plots of 512 points each. In the left one the mean output rises with the mean input; in the right one it falls."}}
network = affscore.load_model("mini:vgg19").eval()
to_network = affscore.models.card_of(network).preprocessing
data = affscore.load_data("digits", to_network)
before = []
hook = network.features[8].register_forward_pre_hook(
    lambda module, inputs: before.append(inputs[0].double())  # a copy
)
with torch.no_grad():
    network(next(iter(torch.utils.data.DataLoader(data, 512))))
hook.remove()
x, y = (
    maps.mean(dim=(2, 3)).numpy() for maps in (before[0], before[0].relu())
)
cross = (x - x.mean(axis=0)).T @ (y - y.mean(axis=0))
directions = np.linalg.eigh(cross + cross.T).eigenvectors
with house_style():
    figure, panels = plt.subplots(
        1, 2, figsize=(7.5, 2.8), layout="constrained"
    )
    for axes, direction in zip(panels, directions.T[[-1, 0]], strict=True):
        along, after = x @ direction, y @ direction
        share = after.var() / y.var(axis=0).sum()
        r = np.corrcoef(along, after)[0, 1]
        axes.scatter(along, after, 6, alpha=0.5)
        axes.set_xlabel("mean input")
        axes.set_title(f"correlation {r:.2f}, {share:.0%} of the variance")
    panels[0].set_ylabel("mean output")
plt.show()

# %% tags=["remove-input"]
score = affscore.affinity_score(x, y)
Markdown(
    f"Its exact score is {score.value:.2f}, the paired one "
    f"{score.paired:.2f}."
)

# %% [markdown]
# A bias of $c/n$ can be extrapolated away from two halves of a batch, with no further forward pass {cite}`quenouille1949approximate`: `bias="extrapolated"`.
# `reduction="positions"` draws several positions of each image, for more points. {doc}`../book/definitions` says when either helps. Which of the papers' claims hold
# under every choice is in {doc}`18_what_is_reproduced`.
#
# ## A recommendation
#
# Words to cite when a reviewer asks why a signature was measured as it was:
#
# 1. **Say all four choices** with every signature: reduction, order, covariance, coupling, and $n$. Two signatures
#    compare only if all agree.
# 2. **Report `activate-first` means with Ledoit and Wolf's covariance** to compare with the published numbers of
#    convolutional networks, and `sample` beside them: it needs no order, and is about the activation itself. Say that the
#    former is the choice under which trained networks look most linear.
# 3. **Report `paired` beside the exact score.** Where the two differ by more than 0.1, the score speaks of clouds and not
#    of what the layer does to an image.
# 4. **Do not use the published axes** for channels-last networks, unless to reproduce the printed numbers.
# 5. **Draw a conclusion only if it holds under every specification** that you cannot rule out beforehand, or say on which
#    it depends. `affscore.multiverse` costs less than four signatures.
#
# ## What we found

# %% tags=["remove-input", "findings"]
ranks_of = effects.groupby("choice")["rank_correlation"].median()
kept = ranks_of[["covariance", "coupling"]].min()
moved = ranks_of[["order", "reduction"]].min()
widest = (in_real["default"] - in_real["lowest of 12"]).idxmax()
Markdown(
    f"* In {highest} of {len(real)} networks trained on photographs the "
    "papers' choice gives the highest mean score of twelve defensible "
    f"ones: {widest} has {in_real.loc[widest, 'default']:.2f} under it and "
    f"{in_real.loc[widest, 'lowest of 12']:.2f} under another.\n"
    "* The score does not see which output belongs to which input. A ReLU of "
    f"{worst['network'].iloc[0]} scores {worst['score'].iloc[0]:.2f}, and "
    f"{worst['paired'].iloc[0]:.2f} when each input is kept with its own "
    f"output; the two differ by more than 0.1 in {100 * far:.0f} % of the "
    "activations on photographs.\n"
    "* Covariance and coupling keep the order of the layers (median rank "
    f"correlation with the default {kept:.2f}), order and reduction need not "
    f"({moved:.2f})."
)

# %% [markdown]
# ## Takeaways
#
# * Order and reduction change the ranks of layers; covariance and coupling mostly their level.
# * In most activations the exact score and the paired one agree; in a few they have nothing to do with each other.
#
# ## Exercises
#
# ```{exercise} 10.1 Affine as a cloud, not as a function
# :label: ex-10-1
# :nonumber:
#
# *Compute · 10 minutes · medium.* Aim: see what the score cannot see.
#
# Make up inputs $x$ and outputs $y$, arrays of shape $(n, d)$ with $64 \le n \le 1024$, whose exact score with the
# empirical covariance is at least 0.8 and whose paired score is at most 0.1. Hand in `(x, y)`.
# ```
#
# ```{admonition} Hint for 10.1
# :class: dropdown hint
#
# Which two clouds are the same, although no point stays with its partner?
# ```

# %%
answer = None  # your answer here: two arrays (x, y)
# companion.exercises.check("10.1", answer)

# %% [markdown]
# ```{solution-start} ex-10-1
# :class: dropdown
# ```
#
# Any reordering of a cloud will do: as a cloud it is the same.

# %%
cloud = np.random.default_rng(0).standard_normal((128, 2))
companion.exercises.check("10.1", (cloud, cloud[::-1]))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 10.2 The order decides
# :label: ex-10-2
# :nonumber:
#
# *Compute · 20 minutes · hard.* Aim: separate the mean of a ReLU from the ReLU of a mean.
#
# Make up a feature map of one channel, an array of shape (images, positions) with 64 to 512 images and 2 to 64 positions,
# on which ReLU scores at least 0.95 when it acts on the means of the images (reduce first), and at most 0.8 when its outputs
# are averaged (activate first). Hand in the array.
# ```
#
# ```{admonition} Hint for 10.2
# :class: dropdown hint
#
# Keep every mean positive, and let something else than the mean decide the mean output.
# ```

# %%
answer = None  # your answer here: an array (images, positions)
# companion.exercises.check("10.2", answer)

# %% [markdown]
# ```{solution-start} ex-10-2
# :class: dropdown
# ```
#
# Positive means, so that reducing first meets no bend; positions that spread far below zero, in few images much more than
# in the others, so that the outputs are skewed and the means are not.

# %%
generator = np.random.default_rng(0)
means = 1 + 0.1 * generator.random((256, 1))
spread = np.exp(2 * generator.standard_normal((256, 1)))
companion.exercises.check("10.2", means + spread * np.array([-1.0, 1.0]))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 10.3 Write it down before
# :label: ex-10-3
# :nonumber:
#
# *Design · 30 minutes · medium.* Aim: plan an analysis whose choices cannot be made afterwards.
#
# You want to claim that networks trained with strong data augmentation have lower scores in their last third. Write the
# plan that you would register before measuring: the networks and seeds, the data, which of the twelve specifications you
# include and which you exclude with what reason, the statistic and its error, when the claim counts as true, as false and
# as open, and what you will report if the specifications disagree.
# ```
#
# ```{admonition} Hint for 10.3
# :class: dropdown hint
#
# A specification may be left out for a reason that was known before the result, and for no other.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-10-3
# :class: dropdown
# ```
#
# For example: ResNet-20 on CIFAR-10, ten seeds with and ten without augmentation, same initial weights in pairs, trained to
# the same number of steps; the accuracy is reported, and a pair whose accuracies differ by more than 3 points is kept and
# marked. Measured on the same 5,000 test images in batches of 512. The statistic is the mean score of the last third of the
# activations, with minus without, per pair; its error is the standard error over ten pairs, since a seed and not an image is
# the unit. Included: `mean` in both orders, and `sample`, both covariances, both couplings: twelve. Not included: the
# published axes, because the channels do not come last (known beforehand), and `flatten`, because 32 x 32 x 16 coordinates
# exceed $n$. True if the 95 % interval is below zero in all twelve; false if it is above zero, or within ±0.01, in all;
# otherwise open, and then the specification curve is the figure of the paper, with the choice that separates the answers
# named. The main text quotes the default and the range, not the best.
#
# **Rubric** (8 points)
#
# * 2: what is compared, with seeds as units and enough of them.
# * 2: which specifications, with reasons that do not need the result.
# * 2: verdicts true, false and open, decided in advance.
# * 1: a statistic with an error.
# * 1: what is reported when they disagree.

# %% [markdown]
# ```{solution-end}
# ```
