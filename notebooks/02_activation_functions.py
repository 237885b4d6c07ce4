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
# *Where is an activation function non-linear, and how much?* That depends on its input ({doc}`01_the_affinity_score`). We look
# at the ReLUs of trained networks, then slide the input of six functions along the axis, as {cite:t}`bouniot2025alexnet` do
# (their figure 6).
#
# :::{admonition} What we found
# :class: findings
# **The more of a ReLU's outputs are zero, the lower it scores** (rank correlation {glue:text}`all-correlation`
# over ten trained networks, but {glue:text}`plain-correlation` over plain ones). A score near 0 need not be a strong bend: around −10 SiLU is nearly a straight line that falls,
# and scores {glue:text}`SiLU at -10-score`. {bdg-warning}`depends`
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
model: str = ""  # a network with ReLUs of your own: MODEL@WEIGHTS
dataset: str = "digits"  # its images: digits, folder:DIR, imagenet:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of all that is drawn at random

# %% tags=["remove-cell"]
import companion
from companion.parameters import check_parameters
from companion.style import say, table

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import numpy as np
import pandas as pd
import torch
from scipy.optimize import brentq
from scipy.stats import norm

import affscore
from affscore import affinity_score
from companion.activations import (
    ACTIVATIONS,
    NAMES,
    activation_graphs,
    limit_score,
)
from companion.chapter_02 import activation_domain, activity
from companion.real_networks import real_scores
from companion.sweeps import sweep

# %% tags=["hide-input"] mystnb={"code_prompt_show": "A network of your own", "code_prompt_hide": "A network of your own"}
own = []
if model:
    options = {"n": n, "images": images or None, "device": device}
    mine = affscore.signature(
        model, dataset, reduction="sample", seed=seed, **options
    )
    own.append(mine.summary.assign(network=model, family="yours"))

# %% [markdown]
# ## ReLUs in trained networks
#
# **The more outputs of a ReLU are zero, the lower it scores.** One that cuts off nothing is the identity and scores 1; the more
# it cuts off, the more it changes. For a normal input with as many zeros {eq}`eq-1-closed` predicts the score (dashed).
#
# **Channels that differ lift a score above the curve**, which has equal channels. A channel that is nearly always zero varies
# little, and so it counts little.

# %% mystnb={"figure": {"name": "fig-2-activity", "caption": "The more outputs are zero, the lower ReLUs score; most lie on or above the curve of a normal input. Ten trained networks at one random position of each image: plain and residual on {term}`JPEG copies` of CIFAR-10, SqueezeNets (1.0 quantised) on 512 photographs."}, "image": {"width": "540px", "alt": "Scatter plot of the affinity score over the share of outputs that are zero. Points fall from about 0.9 at 20 per cent zeros to about 0.4 at 80 per cent. A dashed falling curve for normal inputs runs along their lower edge; the points of plain networks spread furthest above it."}}
images_of = ["CIFAR-10", "photographs"]
measured = [real_scores(some, reduction="sample") for some in images_of]
relus = pd.concat(measured + own).query("activation == 'relu'")
relus = relus.rename(columns={"sparsity_after": "zeros"})
# a normal input with mean m and standard deviation 1
m = np.linspace(-2, 2.5, 100)
mean = m * norm.cdf(m) + norm.pdf(m)  # of its ReLU
variance = (m**2 + 1) * norm.cdf(m) + m * norm.pdf(m) - mean**2
score = 1 - np.sqrt(1 - norm.cdf(m) / np.sqrt(variance))
activity(relus, pd.Series(score, norm.cdf(-m)))

# %% [markdown]
# The {term}`rank correlation` of score and zeros (in the two deepest plain networks, which trained less well, zeros say little):


# %%
def with_zeros(rows):
    return rows["score"].corr(rows["zeros"], "spearman")


related = relus.groupby("family")[["score", "zeros"]].apply(with_zeros)
related["all"] = with_zeros(relus)
related = related.to_frame("correlation")
table(related)

# %% tags=["remove-cell"]
say(related)

# %% [markdown]
# ## Six functions on sliding inputs
#
# **ReLU is non-linear only where inputs cross its kink, Sigmoid at every mean.** Off its kink ReLU is a straight line, but a
# Sigmoid is curved everywhere. As in the paper we take clouds of 1000 points in $\mathbb{R}^{300}$ with independent normal coordinates of
# mean $m$ and standard deviation $s$ (std).
#
# Where all curves are at 1, the function is affine for narrow and wide clouds. (At the far left ReLU returns 0 alone, a constant.)
# Where only that of $s = 2$ leaves the top, only the widest cloud reaches the bend.

# %% mystnb={"figure": {"name": "fig-2-domain", "caption": "ReLU scores below 1 only where inputs cross its kink, Sigmoid at every mean. The functions (above), and their scores over the mean of the input (below), with a line for each of three standard deviations."}, "image": {"width": "540px", "alt": "Two panels with three curves each. Those of ReLU are at 1 except in a dip left of 0, the broader the wider the input. Those of Sigmoid lie at different heights at nearly every mean, the lower the wider the input."}}
domain = sweep("domain").query("draw == 0")
few = domain[domain["std"].isin([0.1, 0.5, 2])]
two = few[few["activation"].isin(["relu", "sigmoid"])]
activation_domain(two, activation_graphs(["relu", "sigmoid"]), columns=1)

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Four more functions", "code_prompt_hide": "Four more functions", "figure": {"name": "fig-2-others", "caption": "GELU, SiLU and HardSwish score near 0 left of their bend, Tanh is like Sigmoid. Where a line jumps to 1 at an end, all outputs round to one constant."}, "image": {"alt": "Four panels with three curves each. GELU is near 0 from -10 to -1 and near 1 elsewhere, SiLU is near 0.1 up to -3, HardSwish dips at -3. For Tanh the curves lie at different heights at nearly every mean, the lower the wider the input; at both ends they are at 1."}}
names = ["gelu", "silu", "hardswish", "tanh"]
others = few.set_index("activation").loc[names].reset_index()
activation_domain(others, activation_graphs(names), columns=2)

# %% [markdown]
# **One formula gives nearly all of these scores**: {eq}`eq-1-closed`, with the correlation of one normal variable and its image. How
# often is it right, where outputs vary with their input and do not fall?

# %%
varies = domain[~domain["constant"] & (domain["limit"] > 0)]
near = (varies["score"] - varies["limit"]).abs() < 0.01
print(f"{near.sum()} of {len(varies)} scores are within 0.01 of it")

# %% [markdown]
# ## Three reasons for a score near zero
#
# **Rarely active.** ReLU scores lowest where the cloud lies left of its kink and only a few points get across. We take a mean
# just left of the kink and narrow the cloud, from a standard deviation (first column) of 2 to one of 0.1:

# %%
rare = domain.query("activation == 'relu' and -2 < mean < 0 and std > 0.05")
rare = rare.set_index("std")
rare = rare.rename(columns={"limit": "of infinitely many samples"})
few = ["mean", "score", "of infinitely many samples", "constant"]
table(rare[few], digits={"score": 3, "of infinitely many samples": 3})

# %% [markdown]
# At $s = 0.25$ a handful of 300,000 numbers are positive: the output is zero but for a few spikes, and the score is nearly 0.
# At $s = 0.1$ none is: a constant output is affine, and the score is 1. Such a score depends on whether
# the sample meets a rare event, so count the flags (`constant`) before you average.
#
# **The wrong direction.** A cloud of standard deviation 0.01 around -10 sees a tiny, straight piece of SiLU. It scores near 0
# because SiLU *falls* there, and the map $T$ of the score never turns the axis round ({doc}`01_the_affinity_score`). Score
# $-X$ against $\sigma(X)$, and the straight piece comes out straight:

# %%
rng = np.random.default_rng(seed)
noise = torch.from_numpy(rng.standard_normal((1000, 300)))
places = {"SiLU at -10": ("silu", -10, 0.01), "GELU at -3": ("gelu", -3, 0.1)}
places["HardSwish at -2.5"] = ("hardswish", -2.5, 0.1)
rows = {}
for place, (name, mean, std) in places.items():
    x = mean + std * noise
    y = ACTIVATIONS[name](x)
    rows[place] = [affinity_score(x, y).value, affinity_score(-x, y).value]
rows["-x"] = [affinity_score(noise, -noise).value, 1.0]
turned = pd.DataFrame(rows, index=["score", "turned round"]).T
table(turned)

# %% tags=["remove-cell"]
say(turned)

# %% [markdown]
# So the low left halves of SiLU and GELU are no strong bends. The paper concludes from its figure that modern functions are
# more non-linear than ReLU over large parts of the axis. Leave out, for each function, the clouds on which it falls or is
# constant. Then ReLU is the most non-linear of these four, though each on clouds of its own. Mean scores over twenty means and six
# deviations:

# %%
averages = pd.DataFrame(
    {
        "all clouds": domain.groupby("activation")["score"].mean(),
        "clouds where it rises": varies.groupby("activation")["score"].mean(),
    }
)
table(averages.loc[["relu", "gelu", "silu", "hardswish"]].rename(NAMES))

# %% [markdown]
# **The long tail.** Sigmoid never falls and is always active, and yet it bends everywhere. Far out on the left it is $e^x$,
# which has no straight piece: shift the input by $a$, and the output is multiplied by $e^a$, which the score does not see. So
# Sigmoid is *more* nearly affine around zero, where the textbook plots its bend, than in its flat tails.
#
# Tanh is the same function: $\tanh(x) = 2 \operatorname{sigmoid}(2x) - 1$, so it scores on $x$ what Sigmoid scores on $2 x$. The
# paper notes that Tanh reaches much lower scores; on inputs twice as wide Sigmoid reaches them, too.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? The tails, predicted", "code_prompt_hide": "How sure? The tails, predicted"}
# For a normal input corr(x, exp(x)) = s / sqrt(exp(s**2) - 1). The tail of
# Tanh is exp(2 x), with 2 s for s.
far = domain[domain["mean"].between(-15, -9)]
far = far.pivot_table(index="std", columns="activation", values="score")
for name, rate in {"sigmoid": 1, "tanh": 2}.items():
    s = rate * far.index.to_numpy()
    corr = s / np.sqrt(np.expm1(s**2))
    far[f"{name} predicted"] = 1 - np.sqrt(1 - corr)
tails = ["sigmoid", "sigmoid predicted", "tanh", "tanh predicted"]
table(far[tails], digits=3)

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? One score again", "code_prompt_hide": "How sure? One score again"}
here = domain.query("activation == 'relu' and std == 1")
m = here["mean"].iloc[9]
again = affinity_score(m + noise, torch.relu(m + noise)).value
print(f"ReLU at {m:.2f}: {again:.3f}, stored {here['score'].iloc[9]:.3f}")

# %% [markdown]
# ## Exercises
#
# ```{exercise} 2.1 A ReLU that is half affine
# :label: ex-2-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: link the share of positive inputs to a score.
#
# ReLU does not notice the scale of its input, so on normal inputs its score depends on the ratio $m / s$ alone. For which ratio
# is it one half, for many independent coordinates? Give two decimals. `companion.activations.limit_score` and a root finder help.
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
# The score rises with the mean, from 0 at $-\infty$ to 1 at $\infty$. It is one half where the correlation is 3/4, and not quite
# a third of the inputs is positive there.

# %%
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
# Write a function `s(x)` of an array, acting on each entry, that never falls as $x$ grows and yet has a score below 0.1
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
# is far to the right.


# %%
def s(x):
    return np.exp(5 * x)


companion.exercises.check("2.2", s)

# %% [markdown]
# ```{solution-end}
# ```
