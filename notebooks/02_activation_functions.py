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
# How non-linear is a ReLU? By {doc}`01_the_affinity_score` that depends on its input. Let us map it out: we slide a
# cloud of inputs along the axis, from -20 to 20, make it wide and narrow, and score the nine activations that
# {cite:t}`bouniot2025alexnet` compare in their figure 6.
#
# ```{admonition} What you will learn
# :class: tip
# * where each activation bends the data, how much, and in how wide a region;
# * one formula that explains nearly all of these scores;
# * three very different reasons for a score near 0, only one of which is a strong bend;
# * why Tanh scores lower than Sigmoid although it is the same function;
# * how the number format of the computer decides where an activation ends.
# ```

# %% tags=["parameters"]
points: int = 1000  # points in each cloud
width: int = 300  # coordinates of each point
covariance: str = "ledoit-wolf"  # or empirical
jobs: int = 2  # processes at the same time; -1: one per core
seed: int = 0  # seed of the random generator

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %%
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from affscore import affinity_score, experiments
from IPython.display import Markdown
from scipy.stats import norm

# %% tags=["remove-cell"]
# the package brings the scores of the default parameters
by_default = (points, width, covariance, seed) == (
    1000,
    300,
    "ledoit-wolf",
    0,
)

# %% [markdown]
# ## The experiment
#
# An input cloud has `points` points in as many dimensions as `width` says (1000 in $\mathbb{R}^{300}$ by default, as in the
# paper). All of its coordinates are independent and normal with mean $m$ and standard deviation $s$. There are 20 means, equally spaced from -20 to 20, and six standard deviations from 0.01 to 2. For
# each of these 120 clouds $X$ we compute $\rho(X, \sigma(X))$ for nine functions $\sigma$. Every function gets the same
# clouds.
#
# That takes a few minutes on one core, nearly all of it for assignment problems, so the package ships the scores of
# the default parameters (`python -m affscore.experiments.sweeps domain` computes them again). This page computes
# those of ReLU, and all of them where a parameter is changed.

# %%
options = {
    "points": points,
    "width": width,
    "covariance": covariance,
    "seed": seed,
    "n_jobs": jobs,
}
if by_default:
    table = (
        experiments.sweep("domain").query("draw == 0").reset_index(drop=True)
    )
    again = experiments.domain_sweep(["relu"], **options)
    apart = (
        (
            again["score"]
            - table.loc[table["activation"] == "relu", "score"].reset_index(
                drop=True
            )
        )
        .abs()
        .max()
    )
    print(
        f"the {len(again)} scores of ReLU, computed again, differ from the stored ones by at most {apart:.0e}"
    )
else:
    table = experiments.domain_sweep(**options)
baseline = experiments.baseline_scores(
    points=points, width=width, covariance=covariance, seed=seed
)
print(
    f"{len(table)} scores, between {table['score'].min():.3f} and {table['score'].max():.3f}"
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-2-domain", "caption": "Nine activations over their domain (figure 6 of the paper, drawn by `affscore.figures.activation_domain`). For each of them its graph, and below it a box plot for each mean of the input: the six scores of the six standard deviations, with whiskers to the lowest and the highest. The black line joins the medians; the dashed line is the score of one cloud that spreads over all of it evenly."}, "image": {"alt": "Nine panels. ReLU has medians of 1 except in a narrow dip around -1; that of LeakyReLU is shallower. ReLU6 has two such dips, near -1 and near 7, HardTanh a broad one from -3 to 3. GELU is near 0 from -10 to -1 and near 1 elsewhere, SiLU is near 0.1 up to -3, HardSwish dips at -3. Sigmoid and Tanh have long boxes at nearly every mean, with medians near 0.8 and 0.6 that rise in the middle; at both ends the median of Tanh is 1."}}
affscore.figures.activation_domain(
    table, experiments.activation_graphs(), baseline
)
plt.show()

# %% [markdown]
# Where the box has shrunk to a point at the top, the function is affine for all six widths of the cloud. Where a thin
# whisker reaches down from a box at the top, only the widest cloud reaches the bend. Where the whole box lies low,
# the function bends every input.
#
# The paper characterises an activation by two numbers: its lowest score, and the width of the region in which it
# stays non-linear. A mean counts as *bent* if its median is below 0.95, and as *touched* if any of its six scores is.

# %% tags=["hide-input"]
summary = experiments.domain_summary(table, threshold=0.95)
formats = {
    "lowest": "{:.3f}",
    "at_mean": "{:.1f}",
    "at_std": "{:g}",
    "lowest_median": "{:.3f}",
}
formats |= {"average": "{:.3f}", "constant": "{:.0%}"}
summary.sort_values("average").style.set_table_attributes(
    'class="dataframe"'
).format(formats)

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
# A correlation of one variable, which `affscore.experiments.limit_score` computes by quadrature. Can it replace 1080 optimal
# transport problems?

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-2-limit", "caption": "Every score of {numref}`fig-2-domain` against the limit {eq}`eq-2-limit`. On the dashed line they agree. Drawn by `affscore.figures.domain_limit`; not in the paper."}, "image": {"alt": "Scatter plot of measured score against limit. Blue circles lie along the diagonal from 0 to 1, with a few exceptions. Red triangles stand in a short column at limit 0, with scores up to 0.1. Black squares are constant outputs: their score is 1, and their limit is either 1 or 0."}}
affscore.figures.domain_limit(table)
plt.show()

# %%
varies = table[~table["constant"] & (table["limit"] > 0)]
falls = table[~table["constant"] & (table["limit"] == 0)]
constant = table[table["constant"]]
near = (varies["score"] - varies["limit"]).abs() < 0.01
print(
    f"the output varies with the input: {near.sum()} of {len(varies)} within 0.01 of the limit"
)
print(
    f"the output falls: {len(falls)} scores, between {falls['score'].min():.2f} and {falls['score'].max():.2f}"
)
print(
    f"the output is constant: {len(constant)} scores, all {constant['score'].min():.0f}"
)
print(
    f"    of these with a limit below 0.01: {(constant['limit'] < 0.01).sum()}"
)

# %% [markdown]
# Nearly all blue circles lie on the line: for inputs like these, a score is a correlation in disguise. The exceptions
# lead to three questions. Why do so many outputs have no variation at all, and why do some of these have a limit near
# 0? What are the falling ones, whose scores are above 0 although the formula says 0? And what makes a score low in
# the first place?
#
# ## Three reasons for a score near zero
#
# ### Rarely active
#
# The lowest scores of ReLU are not where its kink is in the middle of the cloud, but where the cloud lies to the left
# of the kink and only its outermost points get across. We take the mean -1.05, the closest to the kink on its left,
# and narrow the cloud:

# %%
mean = experiments.MEANS[9]
rows = {}
for std in experiments.STDS:
    cell = table.query(
        "activation == 'relu' and mean == @mean and std == @std"
    ).iloc[0]
    awake = norm.logsf(-mean / std) / np.log(
        10
    )  # the logarithm: the share itself may be less than any double
    rows[f"{std:g}"] = {
        "inputs above 0": f"{10**awake:.2g}"
        if awake > -300
        else f"1e{awake:.0f}",
        "expected number in the sample": 10**awake * points * width,
        "score": cell["score"],
        "limit": cell["limit"]
        if awake > -300
        else 0.0,  # quadrature meets no such input and takes ReLU for constant
        "constant": str(cell["constant"]),
    }
pd.DataFrame(rows).T.rename_axis("std").style.set_table_attributes(
    'class="dataframe"'
).format(
    {
        "expected number in the sample": "{:.3g}",
        "score": "{:.3f}",
        "limit": "{:.3f}",
    }
)

# %% [markdown]
# At $s = 0.25$ a handful of all numbers are positive. The output is zero but for a few spikes, no affine
# image of a Gaussian cloud looks like that, and the score is nearly 0. At $s = 0.1$ no number is positive: the output
# is constant, a constant is an affine function, and the score is 1. *In the distribution* there is still a spike very
# far out, and so the limit is 0 in both of the last rows. *The sample* has never seen it.
#
# Such a score depends on rare events, and on whether the sample meets one. Doubling the number of points moves the
# edge. The library therefore flags such scores (`constant_output`). Count the flags before averaging: we have counted
# those of our table above, and they are many.
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

# %%
noise = np.random.default_rng(seed).standard_normal((points, width))
rows = {}
for name, mean, std in (
    ("silu", -10, 0.01),
    ("silu", -10, 0.5),
    ("gelu", -3, 0.1),
    ("hardswish", -2.5, 0.1),
):
    x = torch.from_numpy(mean + std * noise)
    y = experiments.ACTIVATIONS[name](x)
    rows[f"{name}, mean {mean}, std {std:g}"] = {
        "corr(x, y)": np.corrcoef(x.ravel(), y.ravel())[0, 1],
        "score of (X, σ(X))": affinity_score(x, y, covariance).value,
        "score of (-X, σ(X))": affinity_score(-x, y, covariance).value,
    }
rows["-x, mean 0, std 1"] = {
    "corr(x, y)": -1.0,
    "score of (X, σ(X))": affinity_score(noise, -noise, covariance).value,
    "score of (-X, σ(X))": 1.0,
}
mirrored = pd.DataFrame(rows).T
mirrored.round(3)

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

# %%
far = table[table["mean"].between(-15, -9)]
rows = {}
for std in experiments.STDS:
    cells = far[far["std"] == std].groupby("activation")["score"].mean()
    predicted = {
        rate: 1
        - np.sqrt(1 - rate * std / np.sqrt(np.expm1((rate * std) ** 2)))
        for rate in (1, 2)
    }
    rows[f"{std:g}"] = {
        "Sigmoid, predicted": predicted[1],
        "Sigmoid, measured": cells["sigmoid"],
        "Tanh, predicted": predicted[2],
        "Tanh, measured": cells["tanh"],
    }
tails = pd.DataFrame(rows).T.rename_axis("std")
tails.round(3)

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
# of a cloud with mean $m$ and standard deviation $s$ has exactly the score of Sigmoid of a cloud with $2m$ and $2s$:

# %%
rows = {}
for mean, std in ((0, 0.5), (0, 2), (-3, 1), (-6, 2)):
    x = torch.from_numpy(mean + std * noise)
    rows[f"mean {mean}, std {std:g}"] = {
        "Tanh(x)": affinity_score(x, torch.tanh(x), covariance).value,
        "Sigmoid(2 x)": affinity_score(
            2 * x, torch.sigmoid(2 * x), covariance
        ).value,
        "Sigmoid(x)": affinity_score(x, torch.sigmoid(x), covariance).value,
    }
twins = pd.DataFrame(rows).T
assert (twins["Tanh(x)"] - twins["Sigmoid(2 x)"]).abs().max() < 1e-6
twins.round(3)

# %% [markdown]
# So the comparison was not fair: six standard deviations up to 2 reach far on the axis of Tanh and half as far on
# that of Sigmoid; up to 4, Sigmoid would reach the same scores. A network learns the scale of its pre-activations,
# and then the two are equivalent.
#
# ## Where the number format draws the line
#
# In exact arithmetic Sigmoid, Tanh, GELU and SiLU are never constant. On a computer they are: $\tanh(20)$ differs from 1 by
# $8 \cdot 10^{-18}$, which no double precision number near 1 can express. Variation that is below a few units of
# rounding is no property of the function, so the library takes such an output as constant. Networks compute in single
# precision, and there the line comes sooner:

# %%
smooth = ["sigmoid", "tanh", "gelu", "silu"]
rows = {}
for dtype in (torch.float64, torch.float32):
    sweep = experiments.domain_sweep(
        smooth,
        stds=[0.1],
        points=200,
        width=100,
        covariance=covariance,
        dtype=dtype,
        seed=seed,
        n_jobs=jobs,
    )
    for name, cells in sweep.groupby("activation", sort=False):
        bends = cells[~cells["constant"]]
        rows[name] = rows.get(name, {}) | {
            f"varies from mean, {str(dtype)[6:]}": bends["mean"].min(),
            f"to mean, {str(dtype)[6:]}": bends["mean"].max(),
        }
edges = pd.DataFrame(rows).T
edges.round(1)

# %%
for dtype in (torch.float64, torch.float32):
    x = torch.linspace(-12, -4, 8001, dtype=dtype)
    last_zero = x[F.gelu(x) == 0].max().item()
    print(f"GELU in {str(dtype)[6:]}: exactly zero up to x = {last_zero:.2f}")

# %% [markdown]
# GELU is $x \Phi(x)$ with the normal distribution function $\Phi$, and PyTorch computes $\Phi(x)$ as
# $\frac12 (1 + \operatorname{erf}(x / \sqrt 2))$. Where the error function rounds to -1, GELU becomes exactly zero. That is
# the left edge of its low region in {numref}`fig-2-domain`: a property of 64-bit numbers, and not of GELU. In 32 bits
# it lies further to the right. SiLU has no such subtraction and goes on to the end of the interval. Between the edge and
# the mean from which GELU varies what is left of it is partly rounding, so that even there the precise scores mean little.
#
# A few of the circles in {numref}`fig-2-limit` sit at this line, too, far below the diagonal at a limit of 1. They belong to Tanh at means
# around 18 and 20: most coordinates are constant there, and in a few a single value stands out by one or two units of
# rounding.
#
# ## What the papers say, tested
#
# The paper draws its conclusions from figure 6 in words; its first version {cite}`bouniot2023understanding` (figure 1
# there) had three of the nine activations and the first two statements.

# %% tags=["remove-input"]
lowest, bent, touched, average = (
    summary[column] for column in ("lowest", "bent", "touched", "average")
)
means = table["mean"].nunique()
Markdown(f"""
| statement | on our numbers |
|---|---|
| GELU and ReLU get close to 0, Sigmoid does not. | Lowest scores: {lowest["gelu"]:.3f}, {lowest["relu"]:.3f} and \
{lowest["sigmoid"]:.2f}. ReLU's is a handful of spikes, GELU's mostly a falling branch that ends in rounding. Sigmoid would \
get there with wider clouds. |
| ReLU bends only near its kink, Sigmoid and GELU over much of the axis. | Bent at {bent["relu"]}, {bent["sigmoid"]} and \
{bent["gelu"]} of {means} means, touched at {touched["relu"]}, {touched["sigmoid"]} and {touched["gelu"]}. In single \
precision GELU's range is shorter. |
| SiLU and HardSwish have low scores over long stretches of the axis. | Averages of {average["silu"]:.2f} and \
{average["hardswish"]:.2f}; the lowest of all is {average.idxmin()}'s. But nearly all of it is the falling branch: on these \
inputs they act like -x. |
| Tanh gets much lower than Sigmoid in spite of its similar shape. | {lowest["tanh"]:.2f} against \
{lowest["sigmoid"]:.2f}. It is the same function on a stretched axis; equally stretched inputs have equal scores. |
| Over many inputs the average score of LeakyReLU lies above those of ReLU and ReLU6. | {average["leaky_relu"]:.2f}, \
{average["relu"]:.2f} and {average["relu6"]:.2f}. |
| The variants of ReLU look very much alike. | LeakyReLU and ReLU do. ReLU6 has a second kink and a second dip. |
| Rounding ReLU's kink widens the stretch of low scores (section 3.3). | With the same reservation: the smoothness brings \
the falling branch along. |
""")

# %% [markdown]
# To quantify the reservation, we take only those scores whose input and output rise together:

# %%
rising = table[table["limit"] > 0]
pd.DataFrame(
    {
        "average, all": table.groupby("activation")["score"].mean(),
        "falling": 1
        - rising.groupby("activation").size()
        / table.groupby("activation").size(),
        "average score, without falling": rising.groupby("activation")[
            "score"
        ].mean(),
    }
).loc[["relu", "gelu", "silu", "hardswish"]].style.set_table_attributes(
    'class="dataframe"'
).format("{:.3f}").format("{:.0%}", subset=["falling"])

# %% [markdown]
# All four are then within a few hundredths of each other.
#
# ## The baseline
#
# The dashed line of each panel is the score of a single cloud that spreads over all of it, with independent coordinates
# uniform on $[-20, 20]$. Seen from so far away all nine functions are either a hinge or a step, and their baselines are almost the
# same.

# %%
hinge = 1 - np.sqrt(1 - np.sqrt(4 / 5))
step = 1 - np.sqrt(1 - np.sqrt(3 / 4))
print(f"hinge max(x, 0): {hinge:.3f}, step sign(x): {step:.3f}")
baseline.round(3).to_frame().T

# %% [markdown]
# For a uniform input the hinge has the correlation $\sqrt{4/5}$ and the step $\sqrt{3/4}$, which gives the two numbers above. (The paper
# describes its baseline as a sample that covers the interval, and no more; ours is one reading of that.) A single broad
# input, then, hides all that {numref}`fig-2-domain` shows. An activation has no score; it has one for each input.
#
# ## Takeaways
#
# * The domain decides. ReLU bends only near its kink, Sigmoid everywhere, and each reaches 1 or nearly so somewhere.
# * For independent coordinates the score is $1 - \sqrt{1 - \operatorname{corr}}$ of a single coordinate, to two digits.
# * A score near 0 may mean rare spikes, an exponential tail, or an output that falls where the input rises. The last
#   is typical for SiLU and GELU and need not be non-linear at all.
# * A score of exactly 1 may mean that nothing arrived: look at the flag for constant outputs.
# * Compare activations at their own scale. Tanh and Sigmoid are the same function.
# * The edge of saturation belongs to the number format.
#
# ## Exercises
#
# ```{exercise} 2.1 The same function twice
# :label: ex-2-1
# :nonumber:
#
# Tanh acts on a cloud with mean -1.5 and standard deviation 0.75. For which mean and standard deviation has Sigmoid the same
# score? Hand in a pair `(mean, std)`. Paper and pencil are enough.
# ```

# %%
answer = None  # your answer here: a pair (mean, std)
# affscore.exercises.check("2.1", answer)

# %% [markdown]
# ```{solution-start} ex-2-1
# :class: dropdown
# ```
#
# $\tanh(x) = 2 \operatorname{sigmoid}(2x) - 1$, so that Sigmoid must be fed $2x$: both the mean and the standard deviation
# are doubled. (The mirror image with mean 3 does as well.)

# %%
answer = (2 * -1.5, 2 * 0.75)
affscore.exercises.check("2.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 2.2 A ReLU that is half affine
# :label: ex-2-2
# :nonumber:
#
# ReLU does not notice the scale of its input, so on normal inputs its score depends on the ratio $m / s$ alone. For which ratio
# is it one half, for many independent coordinates? Give two decimals. `experiments.limit_score` and a root finder help.
# ```

# %%
answer = None  # your answer here: a number
# affscore.exercises.check("2.2", answer)

# %% [markdown]
# ```{solution-start} ex-2-2
# :class: dropdown
# ```
#
# Fix $s = 1$ and look for the mean. The score rises with it, from 0 at $-\infty$ to 1 at $\infty$. It is one half where the
# correlation is 3/4, and not quite a third of the inputs is positive there.

# %%
from scipy.optimize import brentq

answer = brentq(
    lambda ratio: experiments.limit_score(torch.relu, ratio, 1.0) - 0.5, -3, 3
)
print(f"ratio {answer:.3f}; share of positive inputs {norm.sf(-answer):.2f}")

affscore.exercises.check("2.2", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 2.3 Always rising, hardly affine
# :label: ex-2-3
# :nonumber:
#
# Write a function `s(x)` of a NumPy array, acting on each entry, that never falls as $x$ grows and yet has a score below 0.1
# on a cloud of standard normal inputs (500 points, 100 coordinates). A constant will not do: it scores 1.
# ```

# %%
answer = None  # your answer here: a function s(x)
# affscore.exercises.check("2.3", answer)

# %% [markdown]
# ```{solution-start} ex-2-3
# :class: dropdown
# ```
#
# Put the variance of the output where almost no input is. A steep exponential does it; so does a ReLU whose threshold
# is far to the right, a neuron that is rarely active.


# %%
def s(x):
    return np.exp(5 * x)


affscore.exercises.check("2.3", s)

# %% [markdown]
# ```{solution-end}
# ```
#
# ## Further reading
#
# * {cite:t}`bouniot2025alexnet`, appendix D, with figure 6, is what this section reproduces.
# * {cite:t}`peyre2019computational`, chapter 2, for why optimal maps never turn a line around.
# * Next: {doc}`03_estimating_it_well`. There the clouds stay where they are, and the number of points changes.
