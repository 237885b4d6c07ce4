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
# # Activation functions over their domain
#
# **Where is an activation function non-linear, and how much?** By {doc}`01_the_affinity_score` the answer depends on its
# input. This chapter maps it out: first for the ReLUs of trained networks, then for nine activations whose
# input slides along the axis from -20 to 20, narrow and wide, as in figure 6 of {cite:t}`bouniot2025alexnet`.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
points: int = 1000  # points in each cloud
width: int = 300  # coordinates of each point
covariance: str = "ledoit-wolf"  # or empirical
jobs: int = 2  # processes at the same time; -1: one per core
seed: int = 0  # seed of the random generator

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown
from scipy.stats import norm

import affscore
import companion
from affscore import affinity_score
from companion import sweeps
from companion.activations import ACTIVATIONS, activation_graphs, limit_score
from companion.chapter_02 import (
    MEANS,
    baseline_scores,
    domain_summary,
    domain_sweep,
)
from companion.shipped import trained_networks
from companion.style import table

# %% [markdown]
# ## The ReLUs of trained networks
#
# The score of a ReLU on a normal input depends on one number: how often the input is positive. Do the ReLUs of
# trained networks keep to that, though their inputs are neither normal nor independent? The package ships results of
# eleven: networks of He et al. for CIFAR-10 with 20 to 56 layers, with and without shortcuts
# {cite}`he2016deep`, and two SqueezeNets and MobileNetV2 with weights from ImageNet. Each point below is an activation,
# scored on its channels at one random position per image.


# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-2-activity", "caption": "The ReLUs of eleven trained networks: the more of a ReLU's outputs are zero, the lower its score, and most scores lie on or above those of normal inputs with as many zeros (ours; `companion.chapter_02.activity`)."}, "image": {"alt": "Scatter plot of the affinity score over the share of outputs that are zero. Points fall from about 0.9 at 20 per cent zeros to about 0.4 at 80 per cent. A dashed falling curve for normal inputs runs along their lower edge; points after a residual sum lie at the upper left, and the points of plain networks spread furthest above the curve."}}
def group(name, kind):
    if name.startswith("resnet"):
        return (
            "residual, after a sum"
            if kind == "after-sum"
            else "residual, else"
        )
    families = {
        "plain": "plain",
        "squee": "SqueezeNets",
        "mobil": "MobileNetV2",
    }
    return families[name[:5]]


trained = pd.concat(
    result.summary.assign(
        network=name,
        group=[group(name, kind) for kind in result.summary["kind"]],
    )
    for name, result in trained_networks(reduction="sample").items()
).rename(columns={"sparsity_after": "zeros"})
trained["normal"] = [
    limit_score(torch.relu, norm.isf(zeros), 1.0)
    for zeros in trained["zeros"]
]
companion.chapter_02.activity(
    trained, trained.set_index("zeros")["normal"].sort_index()
)

# %% tags=["remove-input"]
above = trained["score"] - trained["normal"]
ranks = trained[["score", "zeros"]].corr("spearman").iloc[0, 1]
Markdown(
    f"**A ReLU that is rarely active scores low** (rank correlation with the "
    f"share of zeros {ranks:+.2f}). A normal input with as many zeros predicts "
    f"the score to within 0.1 for {100 * (above.abs() < 0.1).mean():.0f} % of the "
    f"activations; where it is wrong, the real score is higher, on average by "
    f"{above.mean():.2f}."
)

# %% [markdown]
# The scores are higher because channels are correlated: what several of them have in common passes all their kinks
# together ({doc}`03_estimating_it_well`). The plain networks with 44 and 56 layers lie furthest above the curve.
#
# ## The experiment
#
# To see where activations bend we choose the inputs ourselves. An input cloud has `points` points in as many dimensions
# as `width` says (1000 in $\mathbb{R}^{300}$ by default, as in the paper). All of its coordinates are independent and
# normal with mean $m$ and standard deviation $s$. There are 20 means, equally spaced from -20 to 20, and six standard
# deviations from 0.01 to 2. For each of these 120 clouds $X$ we compute $\rho(X, \sigma(X))$ for nine functions $\sigma$.
# That takes minutes, nearly all of it for assignment problems, so the package ships the scores of
# the default parameters (`python -m companion.sweeps domain` computes them again).

# %%
options = {"points": points, "width": width, "covariance": covariance}
if (*options.values(), seed) == (1000, 300, "ledoit-wolf", 0):
    domain = sweeps.sweep("domain").query("draw == 0").reset_index()
else:
    domain = domain_sweep(**options, seed=seed, n_jobs=jobs)
baseline = baseline_scores(**options, seed=seed)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-2-domain", "caption": "Nine activations over their domain (paper Fig. 6; `companion.chapter_02.activation_domain`). Above the graph of each; below its scores for 20 means of the input and six standard deviations, the darker the wider. ReLU is non-linear only near its kink, Sigmoid at every mean; the dashed line is the score of one cloud that spreads over all of the axis."}, "image": {"alt": "Nine panels with six curves each. Those of ReLU are at 1 except in a narrow dip around -1; that of LeakyReLU is shallower. ReLU6 has two such dips, near -1 and near 7, HardTanh a broad one from -3 to 3. GELU is near 0 from -10 to -1 and near 1 elsewhere, SiLU is near 0.1 up to -3, HardSwish dips at -3. For Sigmoid and Tanh the curves lie at different heights at nearly every mean, the lower the wider the input; at both ends those of Tanh are at 1."}}
companion.chapter_02.activation_domain(domain, activation_graphs(), baseline)

# %% [markdown]
# Where all six curves are at 1, the function is affine for narrow and for wide clouds. Where only the darkest one leaves
# the top, only the widest cloud reaches the bend. Where all of them are low, the function bends every input.
#
# The paper characterises an activation by two numbers: its lowest score, and the width of the region in which it
# stays non-linear. A mean counts as *bent* if the median of its six scores is below 0.95, and as *touched* if any of them
# is. An output is *constant* if nothing varies up to rounding.

# %% tags=["hide-input"]
summary = domain_summary(domain, threshold=0.95)
headings = {
    "lowest": "lowest score",
    "at_mean": "at mean",
    "at_std": "and std",
    "bent": "means bent",
    "touched": "touched",
    "average": "average score",
    "constant": "constant (%)",
}
decimals = {"at_mean": 1, "lowest": 3, "constant": 0}
table(summary.sort_values("average"), headings, decimals)

# %% [markdown]
# ## One formula for (almost) all of it
#
# The coordinates are independent and there are many of them. In that case {doc}`01_the_affinity_score` had a closed form:
# the score tends to
#
# $$
# \begin{gathered}
# \rho = 1 - \sqrt{1 - \max(c, 0)}, \\
# c = \operatorname{corr}(x, \sigma(x)), \quad x \sim \mathcal{N}(m, s^2) .
# \end{gathered}
# $$ (eq-2-limit)
#
# A correlation of one variable, which `companion.activations.limit_score` computes by quadrature. It replaces nearly all of
# the 1080 optimal transport problems.

# %% tags=["remove-input"]
flat = domain["constant"]
varies = domain[~flat & (domain["limit"] > 0)]
falls = domain[~flat & (domain["limit"] == 0)]
near = (varies["score"] - varies["limit"]).abs() < 0.01
missed = (domain.loc[flat, "limit"] < 0.01).sum()
Markdown(
    f"{near.sum()} of the {len(varies)} scores of outputs that vary with their "
    f"input are within 0.01 of the formula. The {len(falls)} scores of falling "
    f"outputs lie between {falls['score'].min():.2f} and "
    f"{falls['score'].max():.2f}, where the formula says 0. And {flat.sum()} "
    f"outputs are constant, with a score of 1, though the limit of "
    f"{missed} of them is near 0."
)

# %% [markdown]
# For inputs like these, a score is a correlation in disguise. The exceptions lead to three questions. Why do so many
# outputs have no variation at all? What are the falling ones? And what makes a score low in the first place?
#
# ## Three reasons for a score near zero
#
# ### Rarely active
#
# The lowest scores of ReLU are not where its kink is in the middle of the cloud, but where the cloud lies to the left
# of the kink and only its outermost points get across. We take the mean -1.05, the closest to the kink on its left,
# and narrow the cloud:

# %% tags=["hide-input"]
mean = MEANS[9]
rare = domain.query("activation == 'relu' and mean == @mean").set_index("std")
# logarithms: the share itself may be less than any double
log_share = pd.Series(norm.logsf(-mean / rare.index), rare.index) / np.log(10)
expected = log_share + np.log10(points * width)
rare["expected"] = [
    f"{10**power:.3g}" if power > -9 else f"1e{power:.0f}"
    for power in expected
]
headings = {
    "expected": f"positive inputs expected among {points * width}",
    "score": "score",
    "limit": "limit",
    "constant": "constant",
}
table(rare, headings, digits=3)

# %% [markdown]
# At $s = 0.25$ a handful of all numbers are positive. The output is zero but for a few spikes, no affine
# image of a Gaussian cloud looks like that, and the score is nearly 0. At $s = 0.1$ no number is positive: the output
# is constant, a constant is an affine function, and the score is 1. *In the distribution* there is still a spike very
# far out, and so the limit is 0 at $s = 0.1$ (at $s = 0.01$ it is below what the quadrature can see). *The sample* has
# never seen it.
#
# ```{admonition} Count the flags before averaging
# :class: caution
# Such a score depends on rare events, and on whether the sample meets one: more points move the
# edge. The library flags it (`constant_output`).
# ```
#
# ### The wrong direction
#
# On the left half of its panel SiLU, $x / (1 + e^{-x})$, is nearly flat, and its scores are close to 0, for the
# widest cloud as well as for the narrowest. A cloud of standard deviation 0.01 around -10 sees a tiny piece of a
# smooth function, and any smooth function is straight on a piece so small. Why is it not affine?
#
# It is. But it *falls*. SiLU decreases from $-\infty$ to its minimum at -1.28, GELU to -0.75, HardSwish from -3 to -1.5. The
# map $T$ of the score cannot turn the axis around, because optimal transport never does: its matrix is positive. In high
# dimension no coupling helps either, and a cloud and its mirror image are as far apart as two unrelated clouds. We can
# undo the reversal by hand and score $-X$ against $\sigma(X)$:

# %% tags=["hide-input"]
noise = np.random.default_rng(seed).standard_normal((points, width))
clouds = {
    "SiLU, mean -10, std 0.01": ("silu", -10 + 0.01 * noise),
    "SiLU, mean -10, std 0.5": ("silu", -10 + 0.5 * noise),
    "GELU, mean -3, std 0.1": ("gelu", -3 + 0.1 * noise),
    "HardSwish, mean -2.5, std 0.1": ("hardswish", -2.5 + 0.1 * noise),
    "-x, mean 0, std 1": (None, noise),
}
rows = {}
for label, (name, cloud) in clouds.items():
    x = torch.from_numpy(cloud)
    y = ACTIVATIONS[name](x) if name else -x
    rows[label] = {
        "corr(x, y)": np.corrcoef(x.ravel(), y.ravel())[0, 1],
        "score of (X, σ(X))": affinity_score(x, y, covariance).value,
        "score of (-X, σ(X))": affinity_score(-x, y, covariance).value,
    }
reversals = pd.DataFrame(rows).T
table(reversals)

# %% [markdown]
# The last row answers it. The linear map $x \mapsto -x$ has a score as low, the little that the transport gains with
# so many points in so many dimensions (with more dimensions it tends to 0, see {doc}`01_the_affinity_score`). So the low
# left halves of SiLU and of GELU in {numref}`fig-2-domain` are not regions of strong bending: there the activation
# reverses the order of its inputs, a narrow cloud almost linearly. The score counts that as non-linear.
#
# ### The long tail
#
# Sigmoid never falls and is always active, and yet it bends everywhere. Far out on the left it is $e^x$, and on the
# right $1 - e^{-x}$. An exponential has no straight piece: shift the input by $a$, and the output is multiplied by
# $e^a$, which the score does not see. For a normal input
#
# $$
# \operatorname{corr}(x, e^x) = \frac{s}{\sqrt{e^{s^2} - 1}} ,
# $$ (eq-2-exponential)
#
# whatever the mean is. The tail of Tanh is $e^{2x}$: replace $s$ by $2 s$. The scores far out must depend on the standard
# deviation alone:

# %% tags=["hide-input"]
far = domain[domain["mean"].between(-15, -9)]
means_of = far.pivot_table(index="std", columns="activation", values="score")
tails = pd.DataFrame(index=means_of.index[::-1])
for name, rate in (("Sigmoid", 1), ("Tanh", 2)):
    s = rate * tails.index.to_numpy()
    correlation = s / np.sqrt(np.expm1(s**2))
    tails[f"{name}, predicted"] = 1 - np.sqrt(1 - correlation)
    tails[f"{name}, measured"] = means_of[name.lower()]
table(tails, digits=3)

# %% [markdown]
# The wider the cloud, the more of the output's variance is in its few largest values. These are rare events once more, and
# in the top rows the measured number depends on which of them the sample has met. Two things follow. The long boxes of Sigmoid and Tanh have nothing to do with
# where the cloud is; they are six scores for six widths, the same at every mean. And these activations are *more* nearly
# affine around zero, where the textbook plots their bend, than in what is called their flat tails.
#
# ## Tanh is Sigmoid, twice as fast
#
# The paper notes that Tanh reaches much lower scores than Sigmoid in spite of its similar shape, and in our table it does.
# Not only is the shape similar,
#
# $$
# \tanh(x) = 2 \operatorname{sigmoid}(2x) - 1 .
# $$
#
# It is the same function with the axis compressed by two. The factor and the shift do not count for the score, and so Tanh
# of a cloud with mean $m$ and standard deviation $s$ has exactly the score of Sigmoid of a cloud with $2m$ and $2s$.
#
# So the comparison was not fair: six standard deviations up to 2 reach far on the axis of Tanh and half as far on
# that of Sigmoid; up to 4, Sigmoid would reach the same scores. A network learns the scale of its pre-activations,
# and then the two are equivalent.
#
# ## What random networks compute
#
# Draw the weights of a network at random, evaluate it on every pixel of a square, and show its output as a grey image. {cite:t}`teney2024neural` look at
# such images to learn which functions an architecture prefers before any training. Here each stands above the scores of its network: two
# inputs, six hidden layers of 32 units without biases, and normal weights times the factor above the image.


# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-2-random", "caption": "A ReLU and a Tanh network, their weights multiplied by five factors. Below each image: mean \u00b1 standard deviation of the affinity scores of its six hidden layers. The ReLU row is one image; the Tanh row goes from a plane to noise, and its scores fall (ours, after the third notebook of the authors' repository)."}, "image": {"alt": "Two rows of five grey images. The ReLU row shows the same soft fan of wedges five times, with the same scores. In the Tanh row the first image is a smooth ramp, the second a little bent, the third has soft wedges, the fourth sharp streaks, and the last is a noisy star; the mean scores fall."}}
def random_network(activation, factor):
    torch.manual_seed(seed)
    layers = []
    for inputs, outputs in pairwise([2, *[32] * 6, 1]):
        layers += [torch.nn.Linear(inputs, outputs, bias=False), activation()]
        torch.nn.init.normal_(layers[-2].weight, std=factor / inputs**0.5)
    return torch.nn.Sequential(*layers[:-1]).requires_grad_(False)


side = torch.linspace(1, -1, 128)
pixels = torch.cartesian_prod(side, -side).flip(1)
some = pixels[torch.randperm(len(pixels), generator=torch.manual_seed(seed))]
with affscore.plots.house_style():
    figure, grid = plt.subplots(2, 5, figsize=(7, 3.4), layout="constrained")
    for row, activation in zip(
        grid, (torch.nn.ReLU, torch.nn.Tanh), strict=True
    ):
        row[0].set_ylabel(activation.__name__)
        for axes, factor in zip(row, (0.5, 1, 2, 4, 8), strict=True):
            network = random_network(activation, factor)
            scores = affscore.signature(
                network, some[:128], criteria=False
            ).scores
            axes.imshow(network(pixels).reshape(128, 128), cmap="gray")
            axes.set(title=f"weights × {factor}", xticks=[], yticks=[])
            axes.set_xlabel(f"{scores.mean():.2f} ± {scores.std():.2f}")
plt.show()

# %% [markdown]
# For $c > 0$, $\operatorname{ReLU}(c x) = c \operatorname{ReLU}(x)$, so without biases a factor on all weights goes through every layer, and neither a score nor
# the image notices it. A Tanh of a narrow input is a straight line, one of a wide input a sign. Over sizes of the weights the score follows the complexity of the
# function; it is no measure of it, as a mean over layers does not add up and complexity does.
#
# ## What the papers say, tested
#
# The paper draws its conclusions from figure 6 in words (their verdicts: {doc}`18_what_is_reproduced`); its first version {cite}`bouniot2023understanding`, figure 1
# there, had three of the nine activations. One reservation goes for SiLU, GELU and HardSwish: their low scores over long stretches of the axis are nearly all
# on the falling branch. To quantify it, we take only those scores whose input and output rise together. ReLU, GELU, SiLU and
# HardSwish are then within a few hundredths of each other:

# %% tags=["hide-input"]
scores = domain.groupby("activation")["score"]
rising = domain[domain["limit"] > 0].groupby("activation")["score"]
without = pd.DataFrame(
    {
        "average score": scores.mean(),
        "falling (%)": 1 - rising.size() / scores.size(),
        "average score without falling": rising.mean(),
    }
).loc[["relu", "gelu", "silu", "hardswish"]]
table(without, digits={"falling (%)": 0})

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
agree = near.mean()
silu = reversals.loc["SiLU, mean -10, std 0.01"]
verdict = "lower" if ranks < 0 else "higher"
Markdown(f"""
* In eleven trained networks the more of a ReLU's outputs are zero, the \
{verdict} is its score (rank correlation {ranks:+.2f} over {len(trained)} \
activations): **a ReLU is most non-linear where it is rarely active**.
* One correlation replaces an optimal transport problem: {100 * agree:.0f} % of \
{len(varies)} scores of nine activations are within 0.01 of \
$1 - \\sqrt{{1 - \\operatorname{{corr}}}}$.
* A score near 0 need not be a strong bend: on narrow \
inputs around -10 SiLU acts like $-x$ and scores {silu.iloc[1]:.2f}, and with \
the input turned around {silu.iloc[2]:.2f}.
""")

# %% [markdown]
# ## Takeaways
#
# * ReLU bends only near its kink, Sigmoid everywhere, and each reaches 1 or nearly so somewhere.
# * A score near 0 comes from rare spikes, from an exponential tail, or from an output that falls where the input rises.
#   The last is typical for SiLU and GELU and need not be non-linear at all.
# * A score of exactly 1 may mean that nothing arrived: the flag for constant outputs tells.
# * Tanh and Sigmoid are the same function at different scales, and score alike at their own scale.
#
# ## Exercises
#
# ```{exercise} 2.1 A ReLU that is half affine
# :label: ex-2-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: link the share of positive inputs to a score.
#
# ReLU does not notice the scale of its input, so on normal inputs its score depends on the ratio $m / s$ alone. For which ratio
# is it one half, for many independent coordinates? Give two decimals. `limit_score` and a root finder help.
# ```
#
# ```{admonition} Hint for 2.1
# :class: dropdown hint
# Fix $s = 1$. The score rises with the mean, so a root finder (`scipy.optimize.brentq`) needs nothing but two ends.
# ```

# %%
answer = None  # your answer here: a number
# companion.exercises.check("2.1", answer)

# %% [markdown]
# ```{solution-start} ex-2-1
# :class: dropdown
# ```
#
# Fix $s = 1$ and look for the mean. The score rises with it, from 0 at $-\infty$ to 1 at $\infty$. It is one half where the
# correlation is 3/4, and not quite a third of the inputs is positive there.

# %%
from scipy.optimize import brentq

answer = brentq(
    lambda ratio: limit_score(torch.relu, ratio, 1.0) - 0.5, -3, 3
)
print(f"ratio {answer:.3f}; share of positive inputs {norm.sf(-answer):.2f}")

companion.exercises.check("2.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 2.2 Always rising, hardly affine
# :label: ex-2-2
# :nonumber:
#
# *Change code · 15 minutes · medium.* Aim: see that rising is not enough for a high score.
#
# Write a function `s(x)` of a NumPy array, acting on each entry, that never falls as $x$ grows and yet has a score below 0.1
# on a cloud of standard normal inputs (500 points, 100 coordinates). A constant will not do: it scores 1.
# ```
#
# ```{admonition} Hint for 2.2
# :class: dropdown hint
# The score is one of correlations. Which rising function has nearly all of its variance in a few of its values?
# ```

# %%
answer = None  # your answer here: a function s(x)
# companion.exercises.check("2.2", answer)

# %% [markdown]
# ```{solution-start} ex-2-2
# :class: dropdown
# ```
#
# Put the variance of the output where almost no input is. A steep exponential does it; so does a ReLU whose threshold
# is far to the right, a neuron that is rarely active.


# %%
def s(x):
    return np.exp(5 * x)


companion.exercises.check("2.2", s)

# %% [markdown]
# ```{solution-end}
# ```
#
# ## Further reading
#
# * {cite:t}`bouniot2025alexnet`, appendix D, with figure 6, is what this section reproduces.
# * {cite:t}`peyre2019computational`, chapter 2, for why optimal maps never turn a line around.
# * Next: {doc}`03_estimating_it_well`. There the clouds stay where they are, and the number of points changes.
