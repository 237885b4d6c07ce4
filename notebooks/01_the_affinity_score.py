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
# # The affinity score
#
# **How non-linear is an activation function?** That depends on its data. A ReLU whose inputs are all positive changes
# nothing, and a network of such ReLUs is one affine map, however many layers it has. The *affinity score* of
# {cite:t}`bouniot2025alexnet` measures what an activation does to the data that reach it: 1 where an affine map does
# the same, and lower the less an affine map can do it. This chapter explains the score, from its picture to its formula.
#
# You need some linear algebra (symmetric matrices, the trace) and a little probability (mean, covariance), and no
# optimal transport. The exact conventions are in {doc}`../book/definitions`.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
n: int = 512  # samples in each cloud
width: int = 300  # coordinates of the clouds in high dimension
covariance: str = "ledoit-wolf"  # or empirical
seed: int = 0  # seed of the random generator

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
from itertools import permutations

import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown
from scipy.stats import norm

import companion
from affscore import affinity_score, transport
from companion.chapter_01 import score_steps
from companion.shipped import trained_networks
from companion.style import table

rng = np.random.default_rng(seed)


def relu(x):
    return np.maximum(x, 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# %% [markdown]
# ## One ReLU, six windows

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-ranges", "caption": "The same ReLU on six windows of inputs scores 1.00 where it is straight, 0.68 with its kink in the middle, and 0.27 where only a tenth of the inputs gets across (paper Fig. 2 A; `companion.chapter_01.activation_panels`)."}, "image": {"alt": "Six panels with the graph of ReLU and a window of inputs of width 20 that slides from [-20, 0] to [0, 20]. The scores are 1.00, 0.27, 0.45, 0.68, 0.87 and 1.00. Where the score is low, nearly all outputs are zero and the dashed affine fit misses them."}}
windows = [(low, low + 20) for low in (-20, -18, -15, -10, -5, 0)]
inputs = [np.linspace(low, high, n) for low, high in windows]
cases = [
    (f"ReLU on [{x[0]:.0f}, {x[-1]:.0f}]", relu, score_steps(x, relu(x)))
    for x in inputs
]
companion.chapter_01.activation_panels(cases, domain=(-20, 20))

# %% [markdown]
# In each panel the grey line is the function, the orange dots are the samples on it (evenly spaced, so nothing is random),
# and the dashed green line is the affine map $T$ that the score compares with. The histograms at the right edge are the
# two distributions that it compares: that of the outputs $Y$ (filled) and that of $T(X)$ (outline).
#
# On the first window ReLU is constant and on the last one it is the identity. Both are affine, and the
# score is 1. In between it is not, and the lowest score is not where the kink is in the middle of the data: it is
# where the kink cuts off a small rest. Nearly all outputs are then zero, a few are not, and no affine image of a uniform
# distribution looks like that. **A ReLU that fires rarely is more non-linear than one that fires half of the time.**
#
# Not only the range of the inputs matters, but also their distribution within it.
#
# ## How far from affine?
#
# We have $n$ inputs $x_i \in \mathbb{R}^d$ of an activation $\sigma$ and its outputs $y_i = \sigma(x_i)$: two clouds of
# points, $X$ and $Y$. How far is what happened from an affine map $x \mapsto A x + b$?
#
# The first idea is least squares: fit $y_i \approx A x_i + b$ and look at the residuals. But regression shrinks:
# where the fit is poor, predictions retreat to the mean of $Y$, and the fitted points look little like $Y$. The score
# asks about the clouds instead of the single points: **can an affine map turn the cloud $X$ into the cloud $Y$, and if
# not, how far off is the best one?** That needs a distance between clouds, and a rule that selects one of
# the many affine maps that give $X$ the mean and the covariance of $Y$. Optimal transport provides both.
#
# ## A distance between clouds
#
# Think of each point as a unit of mass $1/n$. To turn the cloud $X$ into the cloud $Y$ each point of $X$ must move to
# a point of $Y$, one to each. If a move costs the square of its length, the cheapest plan costs
#
# $$
# W_2^2(X, Y) = \min_{\pi} \frac1n \sum_{i=1}^n \bigl\lVert x_i - y_{\pi(i)} \bigr\rVert^2 ,
# $$ (eq-1-assignment)
#
# with a minimum over all permutations $\pi$ of the $n$ points. Its root $W_2$ is the *2-Wasserstein distance* of the
# two clouds. (Splitting the mass of a point never helps for equally many points of equal mass, so permutations are
# enough {cite}`peyre2019computational`.)
#
# Finding the best permutation is called the *assignment problem*. With six points one can try all $6! = 720$; with 512
# the library solves it exactly in a fraction of a second {cite}`crouse2016implementing`.

# %%
six_x = np.array(
    [[0.0, 0.2], [0.4, 1.4], [0.7, -0.7], [1.2, 0.7], [1.5, -0.2], [1.9, 1.3]]
)
six_y = np.array(
    [[2.6, -0.8], [3.9, 0.9], [3.0, 0.1], [3.3, 1.6], [2.3, 1.0], [3.8, -0.4]]
)

costs = [
    np.mean(np.sum((six_x - six_y[list(order)]) ** 2, axis=1))
    for order in permutations(range(6))
]
distance = transport.wasserstein(six_x, six_y)
assert np.isclose(min(costs), distance**2)
print(f"cheapest of the {len(costs)} plans {min(costs):.4f}")
print(f"transport.wasserstein²      {distance**2:.4f}")

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-coupling", "caption": "The optimal coupling (right) is cheaper than the pairs as they are numbered (left): it chooses the pairs itself, and its mean squared length is $W_2^2$ of {eq}`eq-1-assignment` (ours; `companion.chapter_01.coupling`)."}, "image": {"alt": "Two panels with the same six grey dots at the left and six orange triangles at the right. In the left panel lines join equal numbers and cross each other. In the right panel the lines of the optimal coupling are shorter and hardly cross."}}
optimal = transport.optimal_coupling(
    torch.from_numpy(six_x), torch.from_numpy(six_y)
)
companion.chapter_01.coupling(six_x, six_y, optimal)

# %% [markdown]
# {numref}`fig-1-coupling` shows what to remember: the distance ignores which $x_i$ *came with* which $y_i$ and pairs
# the points itself. We come back to what that means for the score.
#
# ## The affine map
#
# Which maps are optimal plans? Those that are the gradient of a convex function
# {cite}`smith1987note,villani2009optimal` (Theorem 3.1). On a line these are the increasing functions:
# the optimal plan sends the smallest point to the smallest, the second to the second, and so on. An affine map
# $x \mapsto A x + b$ is the gradient of $\frac12 x^\top A x + b^\top x$ if $A$ is symmetric, and that function is
# convex if $A$ is positive semi-definite. So:
#
# * a stretch along perpendicular axes, with a shift, is optimal between any cloud and its image;
# * a rotation or a reflection is affine too, but no optimal plan: points can be matched more cheaply.
#
# Now let $m_X, m_Y$ be the means and $\Sigma_X, \Sigma_Y$ the covariances of the two clouds. Among the many matrices
# with $A \Sigma_X A^\top = \Sigma_Y$ exactly one is symmetric and positive definite (for invertible covariances), and it
# has a closed form. This is the map of the score:
#
# $$
# \begin{gathered}
# T(x) = A\,(x - m_X) + m_Y, \\
# A = \Sigma_Y^{1/2} \bigl( \Sigma_Y^{1/2}\, \Sigma_X\, \Sigma_Y^{1/2} \bigr)^{-1/2} \Sigma_Y^{1/2} .
# \end{gathered}
# $$ (eq-1-map)
#
# It is the optimal map between the *Gaussian approximations* $N_X$ and $N_Y$, the two normal distributions that have these
# means and covariances. Their distance is known, too {cite}`gelbrich1990formula,bhatia2019bures`:
#
# $$
# \begin{aligned}
# W_2^2(N_X, N_Y) = {} & \lVert m_X - m_Y \rVert^2 + \operatorname{tr} \Sigma_X + \operatorname{tr} \Sigma_Y \\
# & - 2 \operatorname{tr} \bigl( \Sigma_Y^{1/2} \Sigma_X \Sigma_Y^{1/2} \bigr)^{1/2} .
# \end{aligned}
# $$ (eq-1-bures)
#
# {prf:ref}`Theorem 3.3 <thm-3-3>` of the paper says when this map is all there is:
#
# > If $Y = P X + b$ with a positive definite matrix $P$, then $T(x) = P x + b$, and $W_2(X, Y) = W_2(N_X, N_Y)$, whatever
# > the distribution of $X$ is.
#
# In other words, where the activation is affine (and positive), {eq}`eq-1-map` finds it from means and covariances alone,
# even for a skewed cloud, far from normal. A cloud of $n$ points is itself a distribution, so with its own
# covariance (`"empirical"`, with $1/n$) the theorem holds for it exactly, and not only for large $n$:

# %%
skewed = rng.gamma(2.0, size=(n, 3))
root = rng.standard_normal((3, 3))
positive = root @ root.T + 0.1 * np.eye(3)
image = skewed @ positive + [1.0, -2.0, 0.5]

fit = transport.affine_map(skewed, image, covariance="empirical")
assert np.allclose(fit.matrix, positive)
assert np.allclose(fit.offset, [1.0, -2.0, 0.5])

# %% [markdown]
# ## Two bounds
#
# If the activation is *not* affine, means and covariances miss a part, and the true distance is larger: $W_2(N_X, N_Y)
# \le W_2(X, Y)$ for all $X$ and $Y$ with finite variance. That is the Gelbrich bound {cite}`gelbrich1990formula`,
# {prf:ref}`Theorem 3.4 <thm-3-4>`. An upper bound comes from the least specific plan: spread every point of $X$ evenly over all points of
# $Y$. For centred clouds this *independent coupling* costs
#
# $$
# \frac{1}{n^2} \sum_{i,j} \lVert x_i - y_j \rVert^2 = \operatorname{tr} \Sigma_X + \operatorname{tr} \Sigma_Y ,
# $$ (eq-1-independent)
#
# because the mixed terms $x_i^\top y_j$ cancel in the mean. The best plan cannot be worse.
#
# {prf:ref}`Proposition 3.5 <prop-3-5>` of the paper:
#
# > For centred $X$ and $Y$, and $T$ as in {eq}`eq-1-map`,
# > 1. $\displaystyle W_2(X, Y) - W_2(N_X, N_Y) \le
# >    \frac{2 \operatorname{tr} (\Sigma_X \Sigma_Y)^{1/2}}{\sqrt{\operatorname{tr} \Sigma_X + \operatorname{tr} \Sigma_Y}}$,
# > 2. $\displaystyle W_2(T X, Y) \le \sqrt{2 \operatorname{tr} \Sigma_Y}$.
#
# For part 2, which the score uses, put $T X$ in the place of $X$ in {eq}`eq-1-independent`: its covariance is
# $\Sigma_Y$.
#
# ## The score
#
# Part 2 of the proposition bounds the mismatch by a number in the units of $Y$. Their ratio has no units, and the
# score is one minus this ratio (equation 5 of the paper):
#
# $$
# \rho(X, Y) = 1 - \frac{W_2(T X, Y)}{\sqrt{2 \operatorname{tr} \Sigma_Y}} .
# $$ (eq-1-score)
#
# With the covariance of the cloud itself it lies in $[0, 1]$ by the proposition, and it is 1 exactly when $Y$, as a
# cloud, is a positive semi-definite affine image of $X$. Where a network is wider than the batch is large, the
# covariance needs a better estimate. The papers use that of {cite:t}`ledoit2004well`, which mixes the empirical one
# with a multiple of the identity. It is our default as well; its price is shown below.

# %%
score = affinity_score(skewed, relu(skewed - 2), covariance=covariance)
print(f"score {float(score):.3f}, covariance {score.covariance}")

# %% [markdown]
# {numref}`fig-1-scheme` shows the whole procedure on a network that can be drawn: four layers of width two, each a random
# turn, a standardisation and a shift that grows from layer to layer, and each followed by a ReLU. Each activation has its
# score, and the list of scores is the *signature* of the network (the subject of {doc}`04_the_signature_of_a_network`).

# %% tags=["hide-input"]
activations = []
signal = rng.standard_normal((100, 2))
for layer in range(4):
    angle = rng.uniform(0, 2 * np.pi)
    cosine, sine = np.cos(angle), np.sin(angle)
    signal = signal @ [[cosine, -sine], [sine, cosine]]
    signal = (signal - signal.mean(axis=0)) / signal.std(axis=0) + 0.4 * layer
    activations.append((signal, relu(signal)))
    signal = relu(signal)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-scheme", "caption": "From a network to its signature: the further the data move to where ReLU is the identity, the closer the score comes to 1 (paper Fig. 1, drawn from data by `companion.chapter_01.scheme`). Above: input (grey dots) and output (orange triangles) of each ReLU of a random network of width two. Below, the steps for the one in the thick frame: its input $X$ and output $Y$; the affine image $T(X)$ (green squares) with a line from each $x_i$; the optimal coupling of $T(X)$ with $Y$; the principal axes of $\\Sigma_Y$ (one standard deviation each), by which the cost is normalised."}, "image": {"alt": "Upper row: four small scatter plots joined by arrows, one for each ReLU, with the scores 0.64, 0.66, 0.83 and 0.97 that are listed above them as the signature. Lower row: four panels for the first ReLU. A round grey cloud and its orange image, folded onto the positive quadrant; the green affine image of the cloud; short black lines from green squares to orange triangles; the orange cloud with two arrows."}}
companion.chapter_01.scheme(
    [score_steps(x, y, covariance) for x, y in activations]
)

# %% [markdown]
# In the third panel below, the affine image is a full disc, while the output has a corner with
# many points on its two edges. Most of the cost comes from moving the points outside the corner back to its edges.
#
# ## Different functions on the same input

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-functions", "caption": "On the same input, evenly spread over $[-5, 5]$, ReLU is more non-linear than Tanh, and Tanh than Sigmoid (paper Fig. 2 B; `companion.chapter_01.activation_panels`)."}, "image": {"alt": "Three panels. ReLU has a score of 0.68, Tanh 0.75 and Sigmoid 0.84. The outputs of Tanh and Sigmoid heap up at both ends, those of ReLU at zero."}}
even = np.linspace(-5, 5, n)
functions = {"ReLU": relu, "Tanh": np.tanh, "Sigmoid": sigmoid}
companion.chapter_01.activation_panels(
    [
        (name, function, score_steps(even, function(even)))
        for name, function in functions.items()
    ]
)

# %% [markdown]
# ReLU, made of two straight pieces, has the lowest score of the three, as the paper finds, on this input. Its score
# does not depend on the scale of the input: $\mathrm{ReLU}(s x) = s\,\mathrm{ReLU}(x)$ for $s > 0$, and the score ignores such
# factors. Those of Tanh and Sigmoid do: on a narrow input they are nearly straight, and on a wide one nearly a step.

# %% tags=["hide-input"]
unit = np.linspace(-1, 1, n)[:, None]
rows = {
    f"[-{half}, {half}]": {
        name: affinity_score(half * unit, function(half * unit)).value
        for name, function in functions.items()
    }
    for half in (0.5, 1, 2, 5, 10, 20, 50)
}
table(pd.DataFrame(rows).T.rename_axis("input"))

# %% [markdown]
# The order of the three is not a property of the functions. On inputs as wide as $[-50, 50]$ ReLU, which was the
# most non-linear, is the least. {doc}`02_activation_functions` maps this out for nine activations.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-powers", "caption": "Powers on an input evenly spread over $[-1, 1]$: the score falls with the degree, whether the graph folds the line or not (paper Fig. 2 C; `companion.chapter_01.activation_panels`)."}, "image": {"alt": "Six panels with the powers from x to the sixth power of x. The scores fall from 1.00 over 0.82, 0.71, 0.63 and 0.58 to 0.53. The dashed affine fit rises in all panels, also where the power is even and its graph folds the line."}}
line = np.linspace(-1, 1, n)
powers = {"$x$": lambda x: x} | {
    f"$x^{k}$": lambda x, k=k: x**k for k in range(2, 7)
}
companion.chapter_01.activation_panels(
    [
        (name, power, score_steps(line, power(line)))
        for name, power in powers.items()
    ]
)

# %% [markdown]
# The score falls steadily with the degree, and yet $x^2$ folds the line in two and $x^3$ does not. A least-squares
# line through $x^2$ on $[-1, 1]$ is flat and explains nothing; the score of $x^2$ is higher than that of $x^3$. The
# histograms show why: the squares are spread over $[0, 1]$ somewhat unevenly, and a shifted and shrunken uniform
# distribution is close to that. On a line, the transport ignores which $x$ a square came from. In high dimension it
# cannot.
#
# ## A closed form
#
# Two situations have the same simple formula,
#
# $$
# \rho = 1 - \sqrt{1 - \operatorname{corr}(x, \sigma(x))} .
# $$ (eq-1-closed)
#
# * **On a line**, if $\sigma$ is increasing. Then $x \mapsto \sigma(x)$ and $T$ are both increasing, so the optimal plan
#   sends $T(x_i)$ to $\sigma(x_i)$. For two variables with the same mean and variance, the mean squared distance in units of
#   the variance is $2\,(1 - \operatorname{corr})$; divide by 2 and take the root.
# * **In high dimension**, with independent coordinates that all have the same distribution, for *any* $\sigma$ that acts on
#   each coordinate with $\operatorname{corr} \ge 0$. There the points of a cloud are all nearly equally far from each
#   other, and $\sigma(x_i)$ is no closer to any other $T(x_j)$ than to $T(x_i)$. Pairing them is the best that the plan
#   can do, and the same calculation applies to each coordinate. This is a limit, $d \to \infty$ with $n$ fixed, and it
#   takes the right covariance: $T$ must be the map of one coordinate. The empirical covariance of fewer points than
#   coordinates is far from right. It fits $T$ to the points themselves, and the score of ReLU rises with $d$, towards 1. The
#   shrunk covariance comes near the limit as long as $d$ is small compared with $n^2$.
#
# For ReLU of a standard normal input $\operatorname{corr} = \sqrt{\pi / (2 (\pi - 1))} \approx 0.856$, hence
# $\rho = 0.621$: a number to remember, since pre-activations of a wide random network look like that. Predicted and
# measured, with the normal distribution:

# %% tags=["hide-input"]
activations = {
    "ReLU": relu,
    "Tanh": np.tanh,
    "Sigmoid": sigmoid,
    "SiLU": lambda x: x * sigmoid(x),
    "x²": np.square,
}


def correlation_with_output(function):
    """Of a standard normal input and its output, from integrals."""
    mean = norm.expect(function)
    square = norm.expect(lambda x: function(x) ** 2)
    product = norm.expect(lambda x: x * function(x))
    return product / np.sqrt(square - mean**2)


normal_line = norm.ppf((np.arange(n) + 0.5) / n)[:, None]
normal_cloud = rng.standard_normal((n, width))
rows = {}
for name, function in activations.items():
    x, y = normal_line, function(normal_line)
    correlation = correlation_with_output(function)
    wide = affinity_score(normal_cloud, function(normal_cloud), covariance)
    rows[name] = {
        "corr": correlation,
        "predicted": 1 - np.sqrt(1 - correlation),
        "measured, d = 1": affinity_score(x, y).value,
        f"measured, d = {width}": wide.value,
    }
closed_form = pd.DataFrame(rows).T
table(closed_form, digits=3)

# %% [markdown]
# Tanh, Sigmoid and ReLU increase, and the prediction holds in both columns. SiLU dips below zero, just a little, and on a
# line the transport profits from it, just a little. The square has no correlation with its input at all: its limit is 0,
# and at this width we are well on the way there, while on a line its score is above one half. **The dimension decides
# what the transport can get away with.**
#
# ## What the score does not see
#
# ### The pairing
#
# The score compares two distributions. Permute the rows of $X$ and of $Y$, each in its own way, and the optimal plan
# permutes with them:

# %%
x, y = normal_cloud, relu(normal_cloud)
paired = affinity_score(x, y, covariance)
x, y = rng.permutation(x), rng.permutation(y)
permuted = affinity_score(x, y, covariance)
print(f"paired   {paired.value:.6f}, optimal: {paired.pairing_optimal}")
print(f"permuted {permuted.value:.6f}, optimal: {permuted.pairing_optimal}")

# %% [markdown]
# So a high score does not say that the *map* is affine: it says that a positive affine map would have the same effect
# on the distribution. If $X$ is symmetric ($-X$ has the same distribution), then $Y = -X$ scores 1, and so does
# $Y = X'$, a fresh sample that is independent of $X$.
#
# This holds for distributions. Our clouds are samples, and in high dimension samples are sparse: the point $-x_i$ is
# far from every $x_j$, although both come from the same distribution. Here are four transformations of a normal
# cloud at several dimensions $d$. The first column has the score of the distributions themselves, which does not depend
# on $d$; the samples fall from it to a limit for many coordinates and a fixed $n$, 0.62 for ReLU and 0 for the others.

# %% tags=["hide-input"]
dimensions = [d for d in (1, 3, 10, 100) if d < width] + [width]
ways = {
    "ReLU(x)": relu,
    "x²": np.square,
    "-x": np.negative,
    "fresh sample": lambda x: rng.standard_normal(x.shape),
}
rows = {}
for name, function in ways.items():
    exact = 1.0  # -x and a fresh sample have the distribution of x
    if name in ("ReLU(x)", "x²"):
        exact = affinity_score(normal_line, function(normal_line)).value
    rows[name] = {"distributions": exact}
    for d in dimensions:
        x = rng.standard_normal((n, d))
        measured = affinity_score(x, function(x), covariance)
        rows[name][f"d = {d}"] = measured.value
table(pd.DataFrame(rows).T)

# %% [markdown]
# In high dimension only ReLU keeps its score; for the other
# three the transport no longer finds a cheap plan. Two lessons for the scores of real
# layers:
#
# * In a wide layer the score is nearly about the pairs after all: the plan recovers them, even when the rows are
#   permuted. How nearly depends on the layer, whose coordinates are correlated; `pairing_optimal` says of every score
#   whether the given pairs were the optimal ones.
# * A low score may simply reflect high dimension. Compare scores at the same $n$, and report it.
#
# ### A score of zero
#
# The paper says that the score is 0 where $T X$ and $\sigma(X)$ are independent. As a statement about distributions
# this is wrong in two ways. Independence is a property of pairs, which the score does not see: for an independent
# fresh sample of $X$ the distributions are equal and the score is 1. And the value 0 is
# never reached, with the covariances of the distributions themselves and a $Y$ that is not constant: the independent plan is
# never optimal between $T X$ and $Y$ ({prf:ref}`proof <prop-range>`).
#
# Zero is a limit, then, approached in two ways. One is high dimension, in the table above; there the paper's sentence
# is right, for samples and in the limit. The other exists on a line, too: a $Y$ that is constant but for rare events.
#
# ### What shrinkage changes
#
# The default covariance is not that of the cloud, so the theorems do not cover it: $X$ and $Y$ are shrunk by
# different amounts. Let the coordinates of $X$ have equal variance, and let $Y = X D$ stretch each by a random
# factor. That is a positive linear map, and its score should be 1. But shrinkage cannot distinguish a small
# difference of two variances from noise and levels them, and $T$ is no longer $D$:

# %% tags=["hide-input"]
rows = {}
for spread in (0.0, 0.1, 0.3, 1.0):
    stretched = normal_cloud * np.exp(spread * rng.standard_normal(width))
    shrunk = affinity_score(normal_cloud, stretched, "ledoit-wolf")
    empirical = affinity_score(normal_cloud, stretched, "empirical")
    rows[f"{spread:.1f}"] = {
        "empirical": empirical.value,
        "ledoit-wolf": shrunk.value,
        "shrinkage of X (%)": shrunk.intensity[0],
        "shrinkage of Y (%)": shrunk.intensity[1],
    }
stretches = pd.DataFrame(rows).T.rename_axis("spread of log D")
percent = dict.fromkeys(stretches.columns[2:], 0)
table(stretches, digits=percent)

# %% [markdown]
# ```{admonition} With the default covariance
# :class: caution
# A score of 0.9 may be that of a linear map. Where the coordinates of $X$ have different
# variances to begin with, as in a real layer, they are shrunk less, and less is lost. Conversely, heavy tails can break
# the bound of Proposition 3.5: the raw score is then negative, and the library returns 0 and sets `bound_exceeded`.
# {doc}`03_estimating_it_well` has both in detail.
# ```
#
# ## Where words and mathematics part
#
# In a few places the wording of the paper's preprint says more than its mathematics, or something else:
#
# | the paper says | what holds |
# |---|---|
# | The score is 0 if $T X$ and $\sigma(X)$ are independent. | It sees distributions only, and is always positive. Independent samples in high dimension come near 0. |
# | The score is 1 for any input on which the activation is linear. | If the slope is not negative. $x \mapsto \lvert x \rvert$ on negative inputs is $-x$, and scores 1 only for a symmetric distribution. |
# | $W_2(N_X, N_Y)$ and $W_2(X, Y)$ agree only if $\sigma$ is linear. | If the *distribution* of $Y$ is a positive affine image of that of $X$; the map itself may be anything that has this effect. |
# | How far ReLU bends is a matter of where its input lies. | On its distribution; not on its scale. |
# | Given one input, ReLU bends it more than Tanh or Sigmoid. | For inputs of moderate scale; for wide ones it is the other way round. |
# | $T$ is a non-linear map that is optimal between $X$ and $Y$ (Remark 3.6). | $T$ is affine, and optimal between $N_X$ and $N_Y$, and between $X$ and $T X$. |
# | The coefficient $R^2$ has no lower bound (Remark 3.6). | True for predictions of new data; for a least-squares fit with intercept, on its own data, $R^2$ is in $[0, 1]$. |
# | Tanh is $(e^{-x} - e^x) / (e^{-x} + e^x)$. | The sign is reversed. (For an input symmetric about 0 the score is the same.) |
# | The score, with shrinkage, is in $[0, 1]$. | Proved for the covariances of the clouds themselves. |
#
# The second line, checked on a skewed negative input, where $\lvert x \rvert = -x$ must not score 1:

# %%
x = -1 - rng.exponential(size=(n, 1))
assert affinity_score(x, np.abs(x)).value < 0.6

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
windowed = [steps.score.value for *_, steps in cases]
trained = np.concatenate([r.scores for r in trained_networks().values()])
low, middle, high = np.quantile(trained, [0.25, 0.5, 0.75])
predicted = closed_form.loc["ReLU", "predicted"]
found = closed_form.loc["ReLU", f"measured, d = {width}"]
Markdown(f"""
* One ReLU, three windows of inputs: it scores **{windowed[0]:.2f}** where it \
is straight, **{windowed[3]:.2f}** with its kink in the middle, and \
**{min(windowed):.2f}** where few inputs get across the kink.
* The {len(trained)} activations of {len(trained_networks())} trained networks \
(CIFAR-10 and ImageNet) score {trained.min():.2f} to {trained.max():.2f}; the \
median is {middle:.2f}, and half of them lie between {low:.2f} and {high:.2f}.
* For independent coordinates the score follows from one correlation, \
$1 - \\sqrt{{1 - \\operatorname{{corr}}}}$: a ReLU of standard normal data is \
predicted to score {predicted:.3f}, and in {width} dimensions it measures \
{found:.3f}.
""")

# %% [markdown]
# ## Takeaways
#
# * A score belongs to an activation *on its data*. ReLU on a centred normal input has 0.62, and anything between 0 and 1
#   elsewhere.
# * It asks whether the cloud $Y = \sigma(X)$ is a positive affine image of the cloud $X$: 1 if so, less if
#   not, and never quite 0. It takes means and covariances for $T$, an assignment problem for the distance, and the
#   trace of $\Sigma_Y$ for the scale.
# * It compares distributions, not pairs. On a line that matters; in high dimension the transport finds the pairs by itself.
# * With every score belong $n$, $d$ and the covariance.
#
# ## Exercises
#
# The check of an exercise tells you whether you are right and, if not, what to look at: remove the `#` in front of it. Open
# exercises have a rubric instead, below their solution.
#
# ```{exercise} 1.1 Transport on a line
# :label: ex-1-1
# :nonumber:
#
# *Compute · 15 minutes · easy.* Aim: see why transport on a line needs no optimisation.
#
# On a line no assignment problem has to be solved. Write a function `w2(x, y)` of two arrays of shape `(n,)` that returns their
# 2-Wasserstein distance, with NumPy alone.
# ```
#
# ```{admonition} Hint for 1.1
# :class: dropdown hint
# Suppose that $x_1 < x_2$ go to $y_1 > y_2$. What does it save to exchange the two partners?
# ```

# %%
answer = None  # your answer here: a function w2(x, y)
# companion.exercises.check("1.1", answer)

# %% [markdown]
# ```{solution-start} ex-1-1
# :class: dropdown
# ```
#
# If $x_1 < x_2$ but their partners were in the reverse order, exchanging the partners would save
# $2 (x_2 - x_1)(y_{\pi(1)} - y_{\pi(2)}) > 0$. So the optimal plan keeps the order, and both samples can be sorted.


# %%
def w2(x, y):
    return np.sqrt(np.mean((np.sort(x) - np.sort(y)) ** 2))


companion.exercises.check("1.1", w2)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 1.2 Predict before you measure
# :label: ex-1-2
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: predict a score with the closed form.
#
# The leaky ReLU with slope 0.1 is $s(x) = x$ for $x > 0$ and $s(x) = 0.1\,x$ otherwise. Its input has very many independent
# standard normal coordinates. Predict its score to two decimals, with pencil and paper or with NumPy, before you measure it.
# ```
#
# ```{admonition} Hint for 1.2
# :class: dropdown hint
# You need $\operatorname{cov}(x, s)$, $\mathbb{E} s$ and $\mathbb{E} s^2$; each is an integral over the two
# halves of the line, and the halves differ by a power of the slope.
# ```

# %%
answer = None  # your answer here: a number
# companion.exercises.check("1.2", answer)

# %% [markdown]
# ```{solution-start} ex-1-2
# :class: dropdown
# ```
#
# Let $a = 0.1$ be the slope. For a standard normal $x$, half of the second moment lies on each side, and
# $\mathbb{E} \max(x, 0) = 1 / \sqrt{2 \pi}$. So $\operatorname{cov}(x, s) = \frac{1 + a}{2}$,
# $\mathbb{E} s = \frac{1 - a}{\sqrt{2 \pi}}$ and $\mathbb{E} s^2 = \frac{1 + a^2}{2}$. The correlation follows, and then
# the score from {eq}`eq-1-closed`.

# %%
a = 0.1
variance = (1 + a**2) / 2 - (1 - a) ** 2 / (2 * np.pi)
predicted = 1 - np.sqrt(1 - (1 + a) / 2 / np.sqrt(variance))
x = normal_cloud
measured = affinity_score(x, np.maximum(x, a * x))
print(f"predicted {predicted:.3f}")
print(f"measured  {measured.value:.3f} at d = {width}")

companion.exercises.check("1.2", predicted)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 1.3 The blind spot
# :label: ex-1-3
# :nonumber:
#
# *Change code · 15 minutes · medium.* Aim: tell what the score sees from what a regression sees.
#
# Build two clouds `x` and `y` of shape `(n, d)`, with at least 100 samples, and ten for each coordinate, whose score
# with the empirical covariance is at least 0.99, although no affine map predicts $y_i$ from $x_i$: a least-squares fit should
# explain at most 10 % of the variance of `y`.
# ```
#
# ```{admonition} Hint for 1.3
# :class: dropdown hint
# Begin with a pair of clouds that scores 1. Which change of `y` does not change its distribution?
# ```

# %%
answer = None  # your answer here: a pair (x, y)
# companion.exercises.check("1.3", answer)

# %% [markdown]
# ```{solution-start} ex-1-3
# :class: dropdown
# ```
#
# Take an affine pair and break the pairing. The two clouds remain what they were, and so does the score; the
# regression loses everything that it had.

# %%
x = rng.standard_normal((400, 2))
y = rng.permutation(3 * x + 1)

companion.exercises.check("1.3", (x, y))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 1.4 May it be left out?
# :label: ex-1-4
# :nonumber:
#
# *Argue · 15 minutes · medium.* Aim: say what a high score does and does not allow.
#
# A ReLU in the middle of a trained network scores 0.97 (512 images, 64 channels, default covariance). A colleague
# concludes: "So we can replace it by an affine map, and the predictions of the network stay as they are." Give
# three reasons why that does not follow, and the measurement that would answer the question.
# ```
#
# ```{admonition} Hint for 1.4
# :class: dropdown hint
# Which of the three do predictions need: the distribution of the outputs, the outputs image by image, or the
# outputs position by position? And what do the layers behind do with a small difference?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-1-4
# :class: dropdown
# ```
#
# *The pairs.* A high score says that an affine map has the same effect on the cloud. Predictions need it image by image;
# `pairing_optimal` and the $R^2$ of a regression tell whether that holds. *The vectors.* By default the
# score is of averages over the positions of a feature map. The kink acts at each position, and averages can hide it. *What
# matters.* The score weighs by variance. The few images or directions on which the ReLU acts may carry the class, and the
# layers behind may enlarge small differences. (Also: with shrinkage and few images, a score has an error of some hundredths.)
#
# The measurement: fit the map (or set the ReLU to a linear function), run the network with it, and count how many
# predictions change on new images, as in {doc}`16_nonlinear_advantage`.
#
# **Rubric** (5 points)
# * 1 each, up to 3: distribution against pairs; reduction over positions; weight by variance and the layers behind; the
#   error of the estimate
# * 2: an intervention whose outcome is the change of the predictions, on images that were not used for the fit
#
# ```{solution-end}
# ```
#
# ## Further reading
#
# * {cite:t}`bouniot2025alexnet` introduce the score and the signature; this section is their section 3.1.
# * {cite:t}`peyre2019computational` is the book to learn computational optimal transport from; chapters 2 and 3 cover what we
#   used. {cite:t}`villani2009optimal` has the theory, with the history.
# * {cite:t}`smith1987note` for the optimality of gradients, {cite:t}`gelbrich1990formula` for the bound, and
#   {cite:t}`bhatia2019bures` for the distance of covariance matrices.
# * {cite:t}`ledoit2004well` for the shrinkage, and {cite:t}`crouse2016implementing` for the algorithm of the assignment.
# * Next: {doc}`04_the_signature_of_a_network`, where the clouds are those of a trained network.
