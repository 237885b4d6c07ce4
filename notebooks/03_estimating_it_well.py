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
# # Estimating it well
#
# *How far is a score off, because of its images and because of its training?* The paper {cite}`bouniot2025alexnet`
# reports that shrinkage makes scores independent of the width (its figure 7), and that batches of 128 to 1024 images
# and nine trainings give the same signature (its figure 8).
#
# :::{admonition} What we found
# :class: findings
# **With too few images an activation looks more linear than it is**, and shrinkage, the library's default, can lower
# this bias or raise it. Take sixteen images for each channel; the trained networks that we looked at need fewer.
# {bdg-warning}`depends`
#
# **Another training moves a score by about {glue:text}`another training-moved`; 256 images in place of 32 move it by
# {glue:text}`256 images in place of 32-moved`.** We saw this in one small VGG-16 on digits. {bdg-warning}`depends`
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
sizes: list[int] = [32, 64, 128, 256]  # images in a batch, each
images: int = 0  # images in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random samples and weights, and of the order of images

# %% tags=["remove-cell"]
import warnings

import companion
from companion.parameters import check_parameters
from companion.style import say, table, window

check_parameters(globals())
warnings.simplefilter("ignore", UserWarning)  # small n is the point

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import numpy as np
import pandas as pd

import affscore
from affscore import affinity_score
from affscore.transport import first_order_bias, points_needed
from companion.chapter_03 import bias_against_points, drift, estimation_sweep
from companion.figures import bundles_of_signatures
from companion.networks import network_title
from companion.printed import printed_table
from companion.studies import load_study, under
from companion.sweeps import sweep

# %% [markdown]
# ## What do few images do?
#
# **With few images the score is too high.** It says how well an affine map fits, and this map is judged on the images
# that it was fitted to. Just as a line goes through any two points, an affine map carries inputs nearly to their
# outputs when there are many more channels than images. This error is called the *bias*.
#
# We measure it for a ReLU with $d = 128$ channels of normal inputs, as its score for infinitely many images is known.
# We change
#
# * the images for each channel, $n / d$: along the axis of the figure;
# * the inputs: channels are independent (first panel), or have a *steep spectrum*, where a few directions hold most of
#   the variance (second panel);
# * the covariance: the *empirical* one of the images, or *shrinkage*, which mixes it with a multiple of the identity
#   {cite}`ledoit2004well`.

# %% mystnb={"figure": {"name": "fig-3-bias", "caption": "Few images make the score of a ReLU too high, and shrinkage does not always help; with sixteen for each channel all curves are below 0.01. Bars: one standard deviation of a single score; dashed: the formula {eq}`eq-3-bias`."}, "image": {"width": "540px", "alt": "Two panels over n/d from one quarter to 16. The curve of the empirical covariance is nearly the same in both: it falls from about 0.25 to below 0.01, close to the dashed line from n/d = 2 on. The curve of shrinkage is near 0 in the first panel, and above the other one from n/d = 1 on in the second."}}
d, ratios = 128, np.array([0.25, 0.5, 1, 2, 4, 8, 16])
points = (ratios * d).astype(int).tolist()
of = {"exponents": [0, 1.5], "repeats": 4, "seed": seed}
scores = estimation_sweep(["relu"], [d], points, **of)

errors = scores.groupby(["exponent", "ratio", "covariance"])["error"]
summary = errors.agg(bias="mean", spread="std").reset_index()
c = np.sqrt(np.pi / (2 * (np.pi - 1)))  # correlation of x and max(x, 0)
theory = pd.Series(first_order_bias(c, 1.0) / ratios, ratios)
bias_against_points(summary, theory)

# %% [markdown]
# **With one image for each channel the score is {glue:text}`1.0-empirical` too high** (first panel, empirical
# covariance).
#
# **Shrinkage is no safe cure.** The covariance of independent channels of equal variance *is* a multiple of the
# identity, so in the first panel (and in the paper's figure 7) shrinkage removes the bias. But in the second panel it
# levels what really differs: with one image for each channel it raises the bias from {glue:text}`1.0-steep` to
# {glue:text}`1.0-shrunk, steep`.
#
# **More batches do not help:** their average keeps the bias. Slide the number of images:

# %%
biases = summary.pivot_table("bias", "ratio", ["exponent", "covariance"])
biases.columns = ["empirical", "shrunk", "steep", "shrunk, steep"]
shown = scores.groupby(["exponent", "covariance", "points"])
shown = shown[["raw", "limit"]].mean().unstack()
curves = shown["raw"].assign(limit=shown["limit"][d])
window("bias-window", curves.set_axis(biases.columns).T)

# %% tags=["remove-cell"]
say(biases[["empirical"]].loc[[1]])
say(biases[["steep", "shrunk, steep"]].loc[[1, 4, 16]], "{:.3f}")

# %% [markdown]
# ## How many are enough?
#
# **Take sixteen images for each channel.** With so many, all biases of {numref}`fig-3-bias` are below 0.01; the largest
# is {glue:text}`16.0-shrunk, steep`, that of shrinkage in the steep spectrum.
#
# A formula says why. For the empirical covariance of $d$ independent channels of variance 1, whose inputs and outputs
# have the correlation $c$,
#
# $$
# \text{bias} \approx \frac{c\,(1 + c) \sqrt{1 - c}}{8} \cdot \frac{d}{n} .
# $$ (eq-3-bias)
#
# The first factor is 0.075 for ReLU, and at most 0.082 for any activation. So sixteen images for each channel leave
# about 0.005.
#
# This book mostly takes 512 images, enough for 32 channels. The trained networks that we looked at have more channels,
# but vary in fewer directions. So 512 images nearly do: mean scores are about 0.01 too high, with shrinkage up to twice
# that ({doc}`06_a_decade`). The library's notes say where images are too few.
#
# If there are no more images, subtract the bias. Where it falls like $1/n$, half of the images double it, so what the
# score then gains *is* the bias (`bias="extrapolated"`).
#
# ```{admonition} Where the formula comes from, and what the notes count
# :class: dropdown
#
# The sample covariances are $S_X=I+H$, $S_Y=I+K$ and $S_{XY}=cI+M$, with errors of mean zero. Solve $AS_XA=S_Y$ order
# by order, with $A=I+A_1+A_2+\dots$:
#
# $$
# \begin{gathered}
# A_1=\tfrac12(K-H),\\ A_2=-\tfrac12(A_1^2+A_1H+HA_1),\\
# \operatorname{tr}A_2=\tfrac18\operatorname{tr}(3H^2-2HK-K^2).
# \end{gathered}
# $$
#
# To leading order $H^2$ and $K^2$ have mean trace $d^2/n$, and $HK$ has $c^2d^2/n$. In the trace of $AS_{XY}$ the first
# order has mean zero. Of the second only $cA_2$ is left, as $KM$ and $HM$ have the same mean trace. So on average
#
# $$
# \operatorname{tr}(AS_{XY})/\operatorname{tr}S_Y\approx c+\tfrac14c(1-c^2)\,d/n.
# $$
#
# The score is 1 less the root of 1 less this: divide the second term by $2\sqrt{1-c}$.
#
# *The notes* count four times the *participation ratio* $(\operatorname{tr}C)^2/\lVert C\rVert_F^2$ of the covariance
# as channels, and the width at most. This is a fit to trained networks, no bound: the steep spectrum counts as 30, and
# 512 images leave a bias of {glue:text}`4.0-steep`, with shrinkage {glue:text}`4.0-shrunk, steep`.
# ```
#
# ## What does another training change?
#
# **A statement about an architecture should survive another training.** We look at nine trainings of a small VGG-16
# ({term}`mini zoo`) on digits, each in one batch of 512:

# %% mystnb={"figure": {"name": "fig-3-seeds", "caption": "Trainings of one architecture (thin) follow their mean (thick). They differ most at the first activation: by nearly 0.3 between the highest and the lowest score."}, "image": {"width": "540px", "alt": "Nine thin lines over the activations of the mini VGG-16, and their mean as a thick one. They differ most, by nearly 0.3, at the first activation."}}
trainings = under(load_study("seeds"))
lines = {"group": "mini VGG-16", "line": trainings["seed"]}
bundles_of_signatures(trainings.assign(**lines), columns=1)


# %% [markdown]
# How far does a score move? The table has the standard deviation over batches of 32, the difference between batches of 256
# and of 32, and the standard deviation over trainings: each as the root mean square over the fifteen activations.


# %%
def rms(values):
    return np.sqrt(np.mean(np.square(values)))


batches = under(load_study("batch-size")).query("model == 'mini:vgg16'")
by_size = batches.pivot_table(["score", "score_std"], "index", "n")
by_seed = trainings.pivot_table("score", "index", "seed")
more = by_size["score"][256] - by_size["score"][32]
moved = {"another 32 images": rms(by_size["score_std"][32])}
moved |= {"256 images in place of 32": rms(more)}
moved |= {"another training": rms(by_seed.std(axis=1))}
moved = pd.DataFrame({"moved": moved})
table(moved.rename_axis("what changes"), {"moved": "a score moves by"}, 3)

# %% tags=["remove-cell"]
say(moved, "{:.3f}")
first = by_seed.std(axis=1).iloc[[0]].set_axis(["first"])
say(first.to_frame("moved"), "{:.3f}")

# %% [markdown]
# **So train an architecture several times, and compare scores of the same $n$ only.** Between two networks, trained
# once each, a difference counts only above three of these standard deviations, as both networks vary: three times
# {glue:text}`another training-moved` in a usual layer, but three times {glue:text}`first-moved` at the first activation
# of {numref}`fig-3-seeds`. (Means over a network move less: {doc}`18_what_is_reproduced`.)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "A network of your own", "code_prompt_hide": "A network of your own"}
if model:
    options = {"images": images or None, "device": device, "seed": seed}
    options["criteria"] = False
    for size in sizes:
        mine = affscore.signature(model, dataset, n=size, **options)
        print(f"{model}, n = {size}: mean score {mine.scores.mean():.3f}")

# %% [markdown]
# ## Aside: The paper's figure 7
#
# **With shrinkage the scores of independent channels stay, whatever the width.**

# %% mystnb={"figure": {"name": "fig-3-drift", "caption": "With the empirical covariance every activation looks more linear the fewer images each channel has; with shrinkage scores stay at the values that the paper prints (ticks)."}, "image": {"width": "540px", "alt": "Two panels with nine curves each. With the empirical covariance all curves fall as n/d grows, ReLU from 0.86 to 0.66. With shrinkage all nine are horizontal, from 0.61 for GELU to 0.91 for Sigmoid, and end at the printed ticks."}}
printed = printed_table("figure7_activation_scores")
printed = printed.rename(columns={"shrinkage": "ledoit-wolf"})
drawn = sweep("drift").query("repeat == 0")
drift(drawn, printed[["ledoit-wolf"]])

# %% [markdown]
# ## Aside: Two biases in a network
#
# **A small batch errs twice, and the errors partly cancel.** Its covariance is too flexible, which raises the score;
# its coupling has few partners to choose from, which lowers it.
#
# How mean scores of networks on CIFAR-10 ({term}`JPEG copies`; 16 to 64 channels) change from batches of
# 128 images to 1024, with the optimal coupling (*exact*) and with each input kept with its own output (*paired*):

# %%
study = load_study("batch-size-cifar")
study["network"] = study["model"].map(network_title)
words = ["reduction", "order", "covariance", "bias"]
default = ["mean", "activate-first", "ledoit-wolf", "none"]
fixed = study[(study[words] == default).all(axis=1)]
means = fixed.pivot_table("score", ["network", "coupling"], "n")
changes = (means[1024] - means[128]).unstack()
changes["exact less paired"] = changes["exact"] - changes["paired"]
table(changes, digits=3)

# %% [markdown]
# **With the optimal coupling the scores fall less.** Part of the stability in the paper's figure 8 may be that.
#
# ## Aside: A score below 0
#
# **Under shrinkage heavy tails can push the score below 0.** The library then cuts it at 0 and sets `bound_exceeded`.
#
# That a score is at least 0 is proved for the covariances of the clouds themselves. In this cloud most coordinates are
# small, and each point is multiplied by a Student t variable.

# %%
rng = np.random.default_rng(seed)
size = np.abs(rng.standard_t(1, size=(256, 1)))
scale = np.where(np.arange(1024) < 100, 1.0, 1e-3)
x = rng.standard_normal((256, 1024)) * scale * size
for name in ("ledoit-wolf", "empirical"):
    raw = affinity_score(x, np.clip(x, 0, 6), name).raw  # ReLU6
    print(f"{name:12} {raw:.2f}")

# %% [markdown]
# Shrinkage takes the variance of a few points for noise and makes all coordinates alike, so that $T$ stretches the
# large ones. There compare with the empirical covariance.
#
# ## Exercises
#
# ```{exercise} 3.1 How many images?
# :label: ex-3-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: plan the number of images of a measurement.
#
# A layer has 256 channels and ReLU. How many images are enough for the bias of its score with the empirical covariance to
# stay below 0.01 to first order? Work it out from {eq}`eq-3-bias`; any number up to twice the smallest one is right.
# ```
#
# ```{admonition} Hint for 3.1
# :class: dropdown hint
# The constant of ReLU is in the text below {eq}`eq-3-bias`; the bias is that constant times $d / n$.
# ```

# %%
answer = None  # your answer here: a number
# companion.exercises.check("3.1", answer)

# %% [markdown]
# ```{solution-start} ex-3-1
# :class: dropdown
# ```
#
# The constant of ReLU is 0.075, so that $n \ge 0.075 \cdot 256 / 0.01$: nearly two thousand images, four of the usual batches *in one*.

# %%
answer = points_needed(256, 0.01, c)
print(answer, "points")

companion.exercises.check("3.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 3.2 Averages look more affine
# :label: ex-3-2
# :nonumber:
#
# *Prove · 30 minutes · hard.* Aim: explain why the default reduction raises the score of a ReLU.
#
# A channel has $m$ positions, standard normal, with the correlation $r \ge 0$ between any two. Let $\sigma = \sum_k a_k h_k$ be the expansion of the
# activation in orthonormal Hermite polynomials, for which $\mathbb{E}\, h_j(x) h_k(x') = r^k$ if $j = k$ and 0 otherwise. Prove that the squared correlation of
# the average input and the average output is
#
# $$
# \frac{a_1^2\, (1 + (m - 1)\, r)}{\sum_{k \ge 1} a_k^2\, (1 + (m - 1)\, r^k)} ,
# $$
#
# and that it is at least that of a single position. For which $r$ are the two equal?
# ```
#
# ```{admonition} Hint for 3.2
# :class: dropdown hint
# Write the variance of an average of $m$ equally correlated numbers with variance $v$ and covariance $w$ as $(v + (m - 1)\, w) / m$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-3-2
# :class: dropdown
# ```
#
# For the average input the variance is $(1 + (m - 1) r)/m$. The outputs at two positions have the covariance $\sum_{k \ge 1} a_k^2 r^k$, so the average output
# has the variance $\sum_{k \ge 1} a_k^2 (1 + (m - 1) r^k)/m$. Since $x = h_1(x)$, the covariance of an input and an output is $a_1$ at the same position and $a_1 r$
# at two, so that of the averages is $a_1 (1 + (m - 1) r)/m$. Square it and divide: one factor $(1 + (m-1) r)/m$ cancels.
#
# At a single position the squared correlation is $a_1^2 / \sum_{k \ge 1} a_k^2$. For $0 \le r \le 1$ and $k \ge 1$, $r^k \le r$, hence
# $1 + (m-1) r^k \le 1 + (m-1) r$, and the fraction can only grow. Both are equal if $r^k = r$ for all $k > 1$ with $a_k \ne 0$: at $r = 0$ and $r = 1$, or for an affine
# activation, whose $a_k$ are zero. With many channels the score rises with this correlation.
#
# **Rubric** (6 points)
# * 2: both variances
# * 1: the covariance of the averages
# * 2: the inequality, from $r^k \le r$
# * 1: the cases of equality, affine activations included
#
# ```{solution-end}
# ```
