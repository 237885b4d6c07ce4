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
# *Does a conclusion depend on how the score is measured?* The paper's definition {cite}`bouniot2025alexnet`, its code and its
# theory make four choices differently. Here we make them all (a *multiverse* analysis {cite}`steegen2016increasing`) and see
# what survives.
#
# :::{admonition} What we found
# :class: findings
# **The choices of the published code make networks look most linear.** Of all combinations they give the highest mean score in each
# of {glue:text}`all-highest` networks, up to {glue:text}`all-range` above the lowest. {bdg-success}`robust`
#
# **Most orders stay, but not all**: of the pairs of ImageNet networks {glue:text}`photographs-kept` keep theirs under every
# choice; the layers of a network need not keep theirs. {bdg-warning}`depends`
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
model: str = ""  # a network of your own: MODEL or MODEL@WEIGHTS
dataset: str = "digits"  # its images: digits, folder:DIR, imagenet:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, of the choice of images and of positions

# %% tags=["remove-cell"]
import companion
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import itertools

import numpy as np
import pandas as pd
import torch

import affscore
from affscore.options import DEFAULT
from affscore.plots.style import house_style, page
from affscore.survey import stored_multiverses
from companion.figures import score_dots
from companion.real_networks import real_multiverses
from companion.shipped import MULTIVERSES
from companion.style import narrow, say, table, window

# %% [markdown]
# ## What do four choices change?
#
# A feature map has many positions, but the score wants one point for each image. So the first two choices lead from a map to a
# point; the other two are in the score itself.
#
# | choice | published code | or |
# |---|---|---|
# | **reduction** to a point | average over positions | one position at random |
# | **order** | average after the activation | average before, as in definition 3.1 |
# | **covariance** | shrunk (Ledoit and Wolf) | empirical, as in the theory |
# | **coupling** | exact: the optimal one | paired: each input with its own output |
#
# **Switch one choice, and the signature of ResNet-56 leaves the dashed line**:

# %%
words = ["reduction", "order", "covariance", "coupling"]
sets = ["photographs", "CIFAR-10"]
every = pd.concat([real_multiverses(one).assign(images=one) for one in sets])
rows = every.query("network == 'ResNet-56'")
window("choices-window", rows.pivot_table("score", ["index", "kind"], words))

# %% tags=["hide-input"] mystnb={"code_prompt_show": "A network of your own", "code_prompt_hide": "A network of your own"}
if model:
    options = {"n": n, "images": images or None, "device": device}
    mine = affscore.multiverse(model, dataset, seed=seed, **options).table
    every = pd.concat([every, mine.assign(network=model, images=dataset)])

# %% [markdown]
# There are twelve combinations, as for one position both orders are the same.
# **How a feature map becomes a point matters most:**

# %% mystnb={"figure": {"name": "fig-10-choices", "caption": "Every change of one choice lowers the mean score of every network. Fourteen ImageNet networks under the choices of the published code, and with one of them changed (small shifts up and down only keep the markers apart); most weights quantised, 512 photographs."}, "image": {"width": "540px", "alt": "Fourteen rows, one for each network, with five markers each between 0.59 and 0.84. In each row the published code's is rightmost; empirical covariance and paired coupling lie just left of it, average before further left, and one position leftmost in all."}}
changes = {
    "published code": ("mean", "activate-first", "ledoit-wolf", "exact"),
    "average before": ("mean", "reduce-first", "ledoit-wolf", "exact"),
    "one position": ("sample", "activate-first", "ledoit-wolf", "exact"),
    "empirical covariance": ("mean", "activate-first", "empirical", "exact"),
    "paired coupling": ("mean", "activate-first", "ledoit-wolf", "paired"),
}
means = every.pivot_table("score", ["images", "network"], words)
shown = pd.DataFrame({name: means[one] for name, one in changes.items()})
score_dots(shown.drop("CIFAR-10").droplevel("images"))

# %% [markdown]
# One ReLU has a sharp bend, but the average of many, whose inputs differ, bends gradually. So
# averages after come closest to an affine function ({ref}`an example <averages>`).
#
# ## Do networks and layers keep their order?
#
# Scores that were measured differently cannot be compared. But most conclusions are about an order: this network is more linear
# than that one. So for how many pairs of networks do all twelve combinations give the same order (CIFAR-10: {term}`JPEG copies`)?


# %%
def kept(scores):
    pairs = itertools.combinations(scores.to_numpy(), 2)
    signs = [set(np.sign(one - other)) for one, other in pairs]
    return np.mean([len(some) == 1 for some in signs])


code, of_sets = changes["published code"], {}
for name in sets:
    own = means.loc[name]
    most, least = own.max(axis=1), own.min(axis=1)
    highest = (own[code] == most).sum()
    of_sets[name] = [len(own), highest, (most - least).max(), kept(own)]
of_sets = pd.DataFrame(of_sets, ["networks", "highest", "range", "kept"]).T
table(of_sets, {"networks": "networks", "kept": "pairs kept (%)"}, digits=0)

# %% tags=["remove-cell"]
say(of_sets[["range"]].max().to_frame("all").T, "{:.2f}")
say(of_sets[["highest"]].sum().to_frame("all").T, "{:.0f}")
say(100 * of_sets[["kept"]], "{:.0f} %")

# %% [markdown]
# **More than three quarters keep their order.** And the layers of a network? We change one choice of the published code, and
# correlate the ranks of their new scores with those of the old ones. Over all networks:

# %%
layers = every.pivot_table("score", ["network", "index"], words)
ranks = layers.groupby("network").corr("spearman")[code].unstack("network")
agree = ranks.agg(["median", "min"], axis=1)
agree["residual"] = ranks.filter(regex="ResNet-(20|32|44|56)").min(axis=1)
agree = agree.loc[list(changes.values())[1:]].set_axis(list(changes)[1:])
table(agree.rename_axis("changed to"), {"median": "median", "min": "lowest"})

# %% tags=["remove-cell"]
say(agree)

# %% [markdown]
# **How a feature map becomes a point can reorder layers**: with averages before the ranks correlate by {glue:text}`average before-residual` or more
# in residual networks, but by {glue:text}`average before-min` in a VGG-like one. Covariance and coupling mostly move the level, except
# in single layers ({ref}`which ones <blind>`).
#
# ## How to report a score
#
# 1. Name all four choices and the number of images. Compare scores only if all agree.
# 2. To compare with published numbers of convolutional networks, take the published code's choices. Report one position beside them: it
#    is about the activation itself.
# 3. Report the paired score, too. Where it is lower by more than 0.1, the exact score speaks of clouds and not of what the layer
#    does to an image.
# 4. Do not average over the channels, as the published code does where they come last (transformers, ConvNeXts). That is
#    another measurement: the median rank correlation with ours is {glue:text}`published-axes` in mini networks.
# 5. Draw a conclusion only if it holds under all choices that you cannot rule out beforehand. {doc}`18_what_is_reproduced`
#    does so with the paper's claims.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Averages over channels are another measurement", "code_prompt_hide": "How sure? Averages over channels are another measurement"}
# Of mini networks with channels last: how do scores of averages over positions
# rank with those of averages over the published axes?
axes_of_code = DEFAULT._replace(reduction="published")
small = [
    one.scores[DEFAULT].corr(one.scores[axes_of_code], method="spearman")
    for one in stored_multiverses(MULTIVERSES)
    if axes_of_code in one.scores and one.metadata["weights"] != "random"
]
sure = pd.Series(small).agg(["count", "median", "min", "max"])
table(sure.to_frame("rank correlation").T, digits={"count": 0})

# %% tags=["remove-cell"]
say(pd.DataFrame({"axes": {"published": np.median(small)}}))

# %% [markdown]
# (averages)=
# ## Aside: The mean of a ReLU is not the ReLU of a mean
#
# **An average after the activation makes a ReLU more linear; where images hardly differ, it mostly hides what the ReLU does.**
#
# Take one channel of 512 images of 64 positions. The positions of an image vary by 1 around its level, the levels by $s$
# around 0, where a ReLU bends. `paired` is the paired score of the average after.

# %%
rng = np.random.default_rng(seed)
scores = {}
for s in (0.05, 0.5, 2.0):
    level = s * rng.standard_normal((512, 1))
    x = level + rng.standard_normal((512, 64))
    mean, relu = x.mean(axis=1, keepdims=True), np.maximum(x, 0)
    after = affscore.affinity_score(mean, relu.mean(axis=1, keepdims=True))
    before = affscore.affinity_score(mean, np.maximum(mean, 0))
    one = affscore.affinity_score(x[:, :1], relu[:, :1])
    scores[s] = [after.value, after.paired, before.value, one.value]
ways = ["average after", "paired", "average before", "one position"]
scores = pd.DataFrame(scores, ways).T.rename_axis("s")
table(scores)

# %% tags=["remove-cell"]
say(scores)

# %% [markdown]
# At $s = 0.05$ both clouds of averages are nearly normal, and the optimal coupling carries one to the other whatever the
# ReLU did: {glue:text}`0.05-average after`. With each input kept with its own output it is {glue:text}`0.05-paired`.
#
# (blind)=
# ## Aside: The exact score is blind to the pairing
#
# **It does not see which output belongs to which input.** The *paired* score, which keeps them together, is lower by more than
# 0.1 in {glue:text}`CIFAR-10-far` of the activations on CIFAR-10 and in {glue:text}`photographs-far` on photographs.
#
# $$
# \begin{gathered}
# \rho_{\text{paired}} = \max\bigl(0,\, 1 - \sqrt{q}\,\bigr) \le \rho , \\
# q = \frac{1}{2 \operatorname{tr} S_Y} \cdot \frac1n \sum_i \lVert T x_i - y_i \rVert^2 .
# \end{gathered}
# $$
#
# The largest falls:

# %%
usual = every[(every[words[:3]] == list(code[:3])).all(axis=1)]
keys = ["images", "network", "layer", "call"]
two = usual.pivot_table("score", keys, "coupling").reset_index(keys[2:])
two["fall"] = two["exact"] - two["paired"]
far = (two["fall"] > 0.1).groupby("images").mean().to_frame("far")
table(two.nlargest(4, "fall")[["layer", "exact", "paired"]])

# %% tags=["remove-cell"]
say(100 * far, "{:.1f} %")

# %% [markdown]
# **The mean output can fall while the mean input rises**, which no optimal map does, as it also depends on how the positions
# spread. A ReLU of a mini VGG-19 shows it in the two directions in which input and output go together most and least.

# %%
network = affscore.load_model("mini:vgg19").eval()
to_network = affscore.models.card_of(network).preprocessing
data = affscore.load_data("digits", to_network)
with torch.no_grad():
    digits = next(iter(torch.utils.data.DataLoader(data, 512)))
    maps = network.features[:8](digits).double()
x, y = (some.mean(dim=(2, 3)).numpy() for some in (maps, maps.relu()))
cross = np.cov(x.T, y.T)[: x.shape[1], x.shape[1] :]
directions = np.linalg.eigh(cross + cross.T).eigenvectors[:, [-1, 0]]
score = affscore.affinity_score(x, y)
print(f"exact {score.value:.2f}, paired {score.paired:.2f}")

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-10-falling", "caption": "Left, the mean output rises with the mean input, as one expects of a ReLU; right, it falls. 512 images at a ReLU of the mini VGG-19, along two directions (so that values may be negative)."}, "image": {"width": "540px", "alt": "Two scatter plots of 512 points each. In the left one the mean output rises with the mean input; in the right one it falls."}, "code_prompt_show": "How it is drawn", "code_prompt_hide": "How it is drawn"}
with house_style():
    figure, panels = page(2, 2.6)
    narrow(figure)
    for axes, direction in zip(panels, directions.T, strict=True):
        axes.scatter(x @ direction, y @ direction, s=6, alpha=0.5)
        axes.set(xlabel="mean input along it", ylabel="mean output")

# %% [markdown]
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
# ```{exercise} 10.2 Write it down before
# :label: ex-10-2
# :nonumber:
#
# *Design · 30 minutes · medium.* Aim: plan an analysis whose choices cannot be made afterwards.
#
# You want to claim that networks trained with strong data augmentation have lower scores in their last third. Write the
# plan that you would register before measuring: the networks and seeds, the data, which of the twelve specifications you
# include and why, the statistic and its error, when the claim counts as true, as false and as open, and what you will report
# if the specifications disagree.
# ```
#
# ```{admonition} Hint for 10.2
# :class: dropdown hint
#
# A specification may be left out for a reason that was known before the result, and for no other.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-10-2
# :class: dropdown
# ```
#
# For example: ResNet-20 on CIFAR-10, ten seeds with and ten without augmentation, with the same initial weights in pairs,
# measured on the same 5,000 test images in batches of 512. The statistic is the difference of the mean scores of the last
# third of the activations, per pair; its error is the standard error over the ten pairs, since a seed and not an image is
# the unit. Included are all twelve specifications. The published axes are not, because channels do not come last: known
# beforehand. True if the 95 % interval is below zero in all twelve; false if it is above zero, or within ±0.01, in all;
# otherwise open, and then the main text names the choice that separates the answers.
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
