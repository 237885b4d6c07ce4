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
# # Blocks and whole networks
#
# *How non-linear is a block, or a whole network?* Activations are not the only parts that are not affine: attention,
# layer normalisation and max pooling are not, either. Can the score compare them, and if not, what can?
#
# :::{admonition} What we found
# :class: findings
# **The score cannot compare blocks of different kinds:** with 512 samples a random *linear* layer of 64 channels scores
# {glue:text}`linear-64`, a ReLU {glue:text}`ReLU-64`. {bdg-success}`robust`
#
# **The unexplained share can, if features are first averaged over positions:** the part of a block's variance that no
# affine map explains. By it activations are the least linear blocks, on average. {bdg-warning}`depends`
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
dataset: str = "digits"  # its images: digits, folder:DIR, imagenet:DIR ...
n: int = 512  # points of a cloud, and images in a batch
device: str = "auto"  # cpu, cuda, or auto: cuda where there is one
seed: int = 0  # of random layers

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import numpy as np
import pandas as pd

import affscore
import companion
from companion.chapter_13 import criteria_over_width, unexplained_shares
from companion.studies import load_study
from companion.style import say, table

# %% [markdown]
# ## Can the score compare blocks?
#
# **No: a linear layer is affine, and yet it scores the lower, the more channels it has.** The score compares the output
# with one affine map only, the optimal transport map. This map stretches and does not turn (its matrix is symmetric
# without negative eigenvalues). That suits an activation, which treats each channel for itself, but a linear layer
# turns, too.
#
# So we fit the output $y$ by any affine map $A x + b$ of the input $x$. The part of the output's variance that the best
# one leaves is the **unexplained share** $u$: 0 for an affine block, and 1 where no such map says anything about the
# output.
#
# $$ u = \frac{\min_{A, b} \sum_i \lVert A x_i + b - y_i \rVert^2}{\sum_i \lVert y_i - \bar y \rVert^2} \cdot \frac{n - 1}{n - 1 - r} $$
#
# The second factor, with the rank $r$ of the inputs, corrects for what a fit of many coefficients explains by chance.


# %%
def unexplained(x, y):
    """Of the variance of y, what no affine map of x explains."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    fit, _, rank, _ = np.linalg.lstsq(x, y)
    left, total = ((y - x @ fit) ** 2).sum(), (y**2).sum()
    return left / total * (len(x) - 1) / (len(x) - 1 - rank)


# %% mystnb={"figure": {"name": "fig-13-layers", "caption": "A random linear layer is affine, yet the more channels it has the lower it scores (above). A least-squares fit explains all of it, and about three quarters of a ReLU (below)."}, "image": {"width": "540px", "alt": "Two panels over 2 to 256 channels, with a line for a linear layer and one for a ReLU. Above, the score: the linear layer falls from 0.90 to 0.15 and crosses the ReLU, which stays at 0.62. Below, the unexplained share: 0 for the linear layer, near 0.27 for the ReLU."}}
draw, rows = np.random.default_rng(seed), {}
for width in (2, 4, 16, 64, 256):
    x = draw.standard_normal((n, width))
    matrix = draw.standard_normal((width, width)) / np.sqrt(width)
    for name, y in {"linear": x @ matrix, "ReLU": np.maximum(x, 0)}.items():
        score = affscore.affinity_score(x, y, "empirical").value
        rows[name, width] = [score, unexplained(x, y)]
layers = pd.DataFrame(rows, ["affinity score", "unexplained share"]).T
criteria_over_width(layers)

# %% tags=["remove-cell"]
say(layers["affinity score"].unstack())

# %% [markdown]
# Why does the linear layer score high with two channels? The score compares clouds, and a turned normal cloud is normal
# again: with enough points it passes for a stretched one. For 64 channels 512 points are too few.
#
# ## Is it so in real networks?
#
# **Yes: linear layers score lowest here, too, though they are affine.** We measure each block of eight networks trained
# on CIFAR-10 ({doc}`06_a_decade`; JPEG copies of test images), with channels averaged over positions (pixels or
# tokens). The score here is *paired*: each input stays with its own output ({doc}`10_every_choice_at_once`). So a
# turned cloud can no longer pass for a stretched one, as in the *exact* score above. Means over blocks (a *residual*
# block includes its shortcut):

# %%
study = [load_study(name) for name in ("blocks-cifar", "blocks")]
study = pd.concat(study, ignore_index=True)
# a score of the fit, 1 - sqrt(u / 2), is stored: here is u again
study["unexplained share"] = 2 * (1 - study["affine_fit"]) ** 2
real = study["model"].str.contains("cifar")
most = study["images"] == study.groupby("dataset")["images"].transform("max")
averaged = most & (study["reduction"] == "mean")
of_blocks = study[real & averaged].groupby("kind")
blocks = of_blocks[["score", "unexplained share"]].mean().dropna()
blocks = blocks.rename(columns={"score": "paired score"})
table(blocks.sort_values("paired score"), digits=3)

# %% [markdown]
# The unexplained share puts linear layers where they belong, near 0. (What is left comes from borders and strides of
# convolutions.) An average over positions leaves less of a ReLU unexplained than {numref}`fig-13-layers` shows. Batch normalisation is affine, too: it multiplies each channel by a number.
#
# ## Which blocks are least linear?
#
# **Activations, on average, where features are averaged over positions.** An *MLP* is the
# activation of a transformer with the linear layers around it. We add the mini zoo: 36 small networks,
# after the architectures of the paper, trained on digits. Some of them have layer normalisation, which is not affine:
# it divides by each input's own spread.

# %% tags=["hide-input"] mystnb={"code_prompt_show": "A network of your own", "code_prompt_hide": "A network of your own"}
# as affscore.signature(..., units="blocks", criteria="affine_fit") does
shown = study[averaged]
if model:
    options = {"units": "blocks", "criteria": "affine_fit", "n": n}
    own = affscore.signature(model, dataset, device=device, **options)
    own = own.summary.assign(model=model)
    own["unexplained share"] = 2 * (1 - own["affine_fit"]) ** 2
    shown = pd.concat([shown, own])
names = {"mlp": "MLP", "network": "whole network"}
shown = shown.replace({"kind": names})

# %% mystnb={"figure": {"name": "fig-13-kinds", "caption": "In each group of networks activations leave more unexplained than other blocks, on average. A point is the mean over the blocks of one kind in one network; in the last row it is the network as one map."}, "image": {"width": "540px", "alt": "Seven rows of points, one for each kind of block, and below a gap a row for whole networks, which lie around 0.2. Residual blocks lie between 0.02 and 0.12, attention between 0.08 and 0.2, activations mostly between 0.03 and 0.11, and above in networks with layer normalisation. Normalisation lies at 0, and up to 0.07 in networks with layer normalisation."}}
KINDS = ["activation", "attention", "MLP", "residual", "normalisation"]
KINDS += ["pooling", "linear", "whole network"]
shares = shown.pivot_table("unexplained share", "model", "kind")[KINDS]
normed = shares["attention"].notna() | shares.index.str.contains("convnext")
groups = pd.Series("mini, others", index=shares.index)
groups[normed] = "mini, layer norm"
groups[shares.index.str.contains("cifar")] = "CIFAR-10"
if model:
    groups[model] = model
unexplained_shares(shares, groups, apart="whole network")

# %% [markdown]
# **At one position instead of the average, other blocks leave most.** {bdg-warning}`depends` Attention, convolution and
# pooling read other positions, and what comes from there counts as unexplained. So on CIFAR-10 even linear layers,
# which are affine, leave {glue:text}`linear-one position`, more than activations with
# {glue:text}`activation-one position`. Hence compare blocks after averaging.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Averages over positions against one sampled position", "code_prompt_hide": "How sure? Averages over positions against one sampled position"}
by_reduction = study[most].assign(group=study["model"].map(groups))
by_reduction = by_reduction.pivot_table(
    "unexplained share", ["group", "kind"], "reduction"
)
by_reduction.columns = ["average after", "one position"]
table(by_reduction.rename(names))

# %% tags=["remove-cell"]
say(by_reduction.loc["CIFAR-10"].loc[["activation", "linear"]])

# %% [markdown]
# ## Aside: The network as one map
#
# A single affine map from all pixels to the logits explains most of a small network, {glue:text}`explained-mean` on
# average over the mini zoo. (For CIFAR-10, with 3,072 numbers an image, we have too few images.)
#
# The explained share in per cent:

# %%
networks = study[(study["kind"] == "network") & ~real]
shares = networks.groupby("images")["unexplained share"]
explained = 100 * (1 - shares.agg(["mean", "max", "min"]))
explained = explained.rename(columns={"max": "least", "min": "most"})
table(explained, digits=0)

# %% tags=["remove-cell"]
say(explained[["mean"]].tail(1).set_axis(["explained"]), "{:.0f} %")

# %% [markdown]
# The shares of its blocks do not add up to that of a network.
#
# ## Exercises
#
# ```{exercise} 13.1 Two linear layers
# :label: ex-13-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: see which linear maps the score takes for affine.
#
# Make up two matrices of shape (16, 16) with the same singular values, none of them 0 and the largest at least 1.5
# times the smallest. For 512 standard normal points the first has a score of at least 0.99 (empirical covariance), the
# second of at most 0.6. Hand in `(stretch, turn)`; rows are samples, so a layer computes `x @ matrix`.
# ```
#
# ```{admonition} Hint for 13.1
# :class: dropdown hint
#
# What is the matrix of an optimal transport map between Gaussians? Which matrices can you multiply it with, and keep
# its singular values?
# ```

# %%
answer = None  # your answer here: two matrices (stretch, turn)
# companion.exercises.check("13.1", answer)

# %% [markdown]
# ```{solution-start} ex-13-1
# :class: dropdown
# ```
#
# A diagonal matrix of positive numbers is symmetric with positive eigenvalues. An orthogonal matrix behind it turns the
# output and keeps the singular values.

# %%
stretch = np.diag(np.linspace(1, 3, 16))
turn = np.linalg.qr(np.random.default_rng(0).standard_normal((16, 16)))[0]
companion.exercises.check("13.1", (stretch, stretch @ turn))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 13.2 In closed form
# :label: ex-13-2
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: know the criterion on two functions before you trust it on networks.
#
# Let $x$ be standard normal. What is `affine_fit` of $\max(x, 0)$ and of $|x|$, for infinitely many samples? Hand in
# the pair, to two decimals at least.
# ```
#
# ```{admonition} Hint for 13.2
# :class: dropdown hint
#
# In one dimension $u = 1 - \operatorname{corr}(x, y)^2$. $\operatorname{E} \max(x, 0) = 1/\sqrt{2 \pi}$.
# ```

# %%
answer = None  # your answer here: (fit of max(x, 0), fit of |x|)
# companion.exercises.check("13.2", answer)

# %% [markdown]
# ```{solution-start} ex-13-2
# :class: dropdown
# ```
#
# $\operatorname{Cov}(x, \max(x, 0)) = 1/2$ and $\operatorname{Var} \max(x, 0) = 1/2 - 1/(2 \pi)$, so that
# $\operatorname{corr}^2 = 0.734$ and $a = 1 - \sqrt{0.266/2} = 0.635$. (The affinity score is $1 - \sqrt{1 -
# \operatorname{corr}} = 0.621$: its map has to reach the whole variance.) An even function has no covariance with $x$:
# $u = 1$ and $a = 1 - \sqrt{1/2} = 0.293$.

# %%
corr2 = 0.25 / (0.5 - 0.5 / np.pi)
answer = (1 - np.sqrt((1 - corr2) / 2), 1 - np.sqrt(0.5))
companion.exercises.check("13.2", answer)

# %% [markdown]
# ```{solution-end}
# ```
