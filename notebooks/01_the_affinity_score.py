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
# A network without activation functions is one affine map, however many layers it has. What makes it more is what its
# activations do to the data that reach them, and that is not the same for all of them: a ReLU whose inputs are all positive
# changes nothing. This section builds a number for it. The *affinity score* of {cite:t}`bouniot2025alexnet` (section 3.1)
# is 1 where an activation acts as an affine map and falls towards 0 the less it does.
#
# ```{admonition} What you will learn
# :class: tip
# * how to compare two clouds of points, and why that leads to optimal transport;
# * the affine map that carries one cloud to another at the least cost, and its closed form;
# * how the score follows from it, and why it lies between 0 and 1;
# * what ReLU, Tanh, Sigmoid and powers score, and on what that depends;
# * what the score cannot see.
# ```
#
# You need some linear algebra (symmetric matrices, their square roots, the trace) and a little probability (mean,
# covariance). You do not need to know optimal transport. The exact conventions stand in {doc}`../book/definitions`.

# %% tags=["parameters"]
n: int = 512  # samples in each cloud
width: int = 300  # coordinates of the clouds in high dimension
covariance: str = "ledoit-wolf"  # estimate where the text does not say another: ledoit-wolf or empirical
seed: int = 0  # seed of the random generator

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %%
from itertools import permutations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import beta, norm

import affscore
from affscore import affinity_score, transport

rng = np.random.default_rng(seed)


def relu(x):
    return np.maximum(x, 0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# %% [markdown]
# ## How far from affine?
#
# We have $n$ inputs $x_i \in \mathbb{R}^d$ of an activation $\sigma$ and its outputs $y_i = \sigma(x_i)$: two clouds of
# points, $X$ and $Y$. How far is what happened from an affine map $x \mapsto A x + b$?
#
# The first idea is least squares: fit $y_i \approx A x_i + b$ and look at the residuals. But a regression predicts, and
# prediction under uncertainty is cautious: where the fit is poor, it retreats to the mean of $Y$. The fitted points are
# then a shrunken cloud that looks nothing like $Y$. The score asks another question, about the clouds and not about
# each point: **can an affine map turn the cloud $X$ into the cloud $Y$, and if not, how far off is the best one?**
#
# That needs two things. A distance between clouds, so that "how far off" is a number; and a rule that picks, among the
# many affine maps that give $X$ the mean and the covariance of $Y$, a single one. Optimal transport has both.
#
# ## A distance between clouds
#
# Think of each point as a grain of mass $1/n$. To turn the cloud $X$ into the cloud $Y$ each grain of $X$ must go to a
# place of $Y$, one to each. If a journey costs the square of its length, the cheapest plan costs
#
# $$
# W_2^2(X, Y) = \min_{\pi} \frac1n \sum_{i=1}^n \bigl\lVert x_i - y_{\pi(i)} \bigr\rVert^2 ,
# $$ (eq-1-assignment)
#
# with a minimum over all permutations $\pi$ of the $n$ points. Its root $W_2$ is the *2-Wasserstein distance* of the two
# clouds. (One might split grains and send the halves to different places. For equally many grains of equal mass this
# never helps, so that permutations are enough {cite}`peyre2019computational`.)
#
# Finding the best permutation is called the *assignment problem*. With six points one can try all $6! = 720$; with 512
# the library solves it exactly in a fraction of a second {cite}`crouse2016implementing`.

# %%
six_x = np.array([[0.0, 0.2], [0.4, 1.4], [0.7, -0.7], [1.2, 0.7], [1.5, -0.2], [1.9, 1.3]])
six_y = np.array([[2.6, -0.8], [3.9, 0.9], [3.0, 0.1], [3.3, 1.6], [2.3, 1.0], [3.8, -0.4]])

costs = [np.mean(np.sum((six_x - six_y[list(order)]) ** 2, axis=1)) for order in permutations(range(6))]
pd.Series(
    {
        "the cheapest of all 720 plans": min(costs),
        "transport.wasserstein(x, y)²": transport.wasserstein(six_x, six_y) ** 2,
        "the pairs as numbered": costs[0],
        "the most expensive plan": max(costs),
    },
    name="mean squared distance",
).round(4).to_frame()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-coupling", "caption": "Two plans for the same two clouds: the pairs as they are numbered, and the optimal coupling, whose mean squared length is $W_2^2$ of {eq}`eq-1-assignment`. Drawn by `affscore.figures.coupling`; not in the paper."}, "image": {"alt": "Two panels with the same six grey dots at the left and six red triangles at the right. In the left panel lines join equal numbers and cross each other. In the right panel the lines of the optimal coupling are shorter and hardly cross."}}
affscore.figures.coupling(six_x, six_y)
plt.show()

# %% [markdown]
# {numref}`fig-1-coupling` shows the thing to remember: the distance does not care which $x_i$ *came with* which $y_i$. It
# pairs the points itself. We shall come back to what that means for the score.
#
# ## The affine map
#
# Which maps are optimal plans? There is a beautiful answer: those that are the gradient of a convex function
# {cite}`smith1987note,villani2009optimal` (Theorem 3.1 of the paper). On a line these are the increasing functions, and
# so the optimal plan sends the smallest point to the smallest, the second to the second, and so on. An affine map
# $x \mapsto A x + b$ is the gradient of $\frac12 x^\top A x + b^\top x$ if $A$ is symmetric, and that function is convex
# if $A$ is positive semi-definite. So:
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
# It is the optimal map between the *normal approximations* $N_X$ and $N_Y$, the two normal distributions that have these
# means and covariances. Their distance is known, too {cite}`gelbrich1990formula,bhatia2019bures`:
#
# $$
# \begin{aligned}
# W_2^2(N_X, N_Y) = {} & \lVert m_X - m_Y \rVert^2 + \operatorname{tr} \Sigma_X + \operatorname{tr} \Sigma_Y \\
# & - 2 \operatorname{tr} \bigl( \Sigma_Y^{1/2} \Sigma_X \Sigma_Y^{1/2} \bigr)^{1/2} .
# \end{aligned}
# $$ (eq-1-bures)
#
# ```{prf:theorem} Theorem 3.3 of the paper
# :label: thm-1-affine
# :nonumber:
# If $Y = P X + b$ with a positive definite matrix $P$, then $T(x) = P x + b$, and $W_2(X, Y) = W_2(N_X, N_Y)$, whatever
# the distribution of $X$ is.
# ```
#
# In other words, where the activation is affine (and positive), {eq}`eq-1-map` finds it from means and covariances alone.
# We check it on a skewed cloud, far from normal. A cloud of $n$ points is itself a distribution, so with its own
# covariance (`"empirical"`, with $1/n$) the theorem holds for it exactly, and not only for large $n$.

# %%
skewed = rng.gamma(2.0, size=(n, 3))
root = rng.standard_normal((3, 3))
positive = root @ root.T + 0.1 * np.eye(3)
shift = np.array([1.0, -2.0, 0.5])
image = skewed @ positive + shift

fit = transport.affine_map(skewed, image, covariance="empirical")
print("largest error of the matrix:", f"{np.abs(fit.matrix.numpy() - positive).max():.1e}")
print("largest error of the shift: ", f"{np.abs(fit.offset.numpy() - shift).max():.1e}")

# %% [markdown]
# ## Two bounds
#
# What if the activation is *not* affine? Then the normal approximations know only a part of the story, and the true
# distance is larger.
#
# ```{prf:theorem} Gelbrich bound, Theorem 3.4 of the paper
# :label: thm-1-gelbrich
# :nonumber:
# $W_2(N_X, N_Y) \le W_2(X, Y)$ for all $X$ and $Y$ with finite variance {cite}`gelbrich1990formula`.
# ```
#
# There is a bound on the other side as well, and it comes from the laziest plan of all: send every grain of $X$ to all
# places of $Y$ alike. For centred clouds $X$ and $Y$ this *independent coupling* costs
#
# $$
# \frac{1}{n^2} \sum_{i,j} \lVert x_i - y_j \rVert^2 = \operatorname{tr} \Sigma_X + \operatorname{tr} \Sigma_Y ,
# $$ (eq-1-independent)
#
# because the mixed terms $x_i^\top y_j$ cancel in the mean. The best plan cannot be worse.
#
# ```{prf:theorem} Proposition 3.5 of the paper
# :label: thm-1-bounds
# :nonumber:
# For centred $X$ and $Y$, and $T$ as in {eq}`eq-1-map`,
# 1. $\displaystyle W_2(X, Y) - W_2(N_X, N_Y) \le
#    \frac{2 \operatorname{tr} (\Sigma_X \Sigma_Y)^{1/2}}{\sqrt{\operatorname{tr} \Sigma_X + \operatorname{tr} \Sigma_Y}}$,
# 2. $\displaystyle W_2(T X, Y) \le \sqrt{2 \operatorname{tr} \Sigma_Y}$.
# ```
#
# For part 2 put $T X$ in the place of $X$ in {eq}`eq-1-independent`: its covariance is $\Sigma_Y$. For part 1 write
# $a = \operatorname{tr} \Sigma_X + \operatorname{tr} \Sigma_Y$ and $b = 2 \operatorname{tr} (\Sigma_X \Sigma_Y)^{1/2}$.
# Then $W_2(X, Y) \le \sqrt a$ and $W_2(N_X, N_Y) = \sqrt{a - b}$, and
# $\sqrt a - \sqrt{a - b} = b / (\sqrt a + \sqrt{a - b}) \le b / \sqrt a$. (The printed proof drops the mixed term for every
# coupling. That is allowed for the independent one only, which is all that the proof needs.)
#
# Here is everything at once, on the centred skewed cloud and seven things that one can do to it. The columns `gap` and
# `W2(TX, Y)` should stay below the bounds that stand to the right of them.

# %%
centred = skewed - skewed.mean(axis=0)
turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
transformations = {
    "P x, positive definite": centred @ positive,
    "P x, rows shuffled": rng.permutation(centred @ positive),
    "a quarter turn": centred @ turn,
    "-x": -centred,
    "ReLU(x)": relu(centred),
    "tanh(x)": np.tanh(centred),
    "x³": centred**3,
}


def bounds(x, y):
    """Both sides of Theorem 3.4 and of Proposition 3.5, and the score."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    fit = transport.affine_map(x, y, "empirical")
    spread_x, spread_y = (transport.covariance(cloud, "empirical") for cloud in (x, y))
    mixed = float((fit.matrix @ spread_x).trace())  # tr (Sx Sy)^(1/2) = tr A Sx
    total = float(spread_x.trace() + spread_y.trace())
    normal, exact = max(total - 2 * mixed, 0) ** 0.5, transport.wasserstein(x, y)
    return {
        "W2(NX, NY)": normal,
        "W2(X, Y)": exact,
        "gap": exact - normal,
        "bound 1": 2 * mixed / total**0.5,
        "W2(TX, Y)": transport.wasserstein(fit(x), y),
        "bound 2": float(2 * spread_y.trace()) ** 0.5,
        "score": affinity_score(x, y, "empirical").value,
    }


table = pd.DataFrame({name: bounds(centred, y) for name, y in transformations.items()}).T
assert (table["gap"] >= -1e-6).all()
assert (table["gap"] <= table["bound 1"]).all()
assert (table["W2(TX, Y)"] <= table["bound 2"]).all()
table.round(3).abs()

# %% [markdown]
# No bound is violated, and none is nearly reached. In the first two rows the gap is zero and so is $W_2(T X, Y)$: an affine
# image is recognised. The second row is a first warning, for there the pairs have been shuffled, and it makes no
# difference. The quarter turn and the change of sign are linear maps of the points and yet below 1, because the cloud is
# skewed and no *positive* map takes it to its mirror image.
#
# ## The score
#
# Part 2 of the proposition bounds the mismatch by a number that has the units of $Y$. Their quotient has no units, and
# the score is what it leaves of 1 (equation (5) of the paper):
#
# $$
# \rho(X, Y) = 1 - \frac{W_2(T X, Y)}{\sqrt{2 \operatorname{tr} \Sigma_Y}} .
# $$ (eq-1-score)
#
# With the covariance of the cloud itself it lies in $[0, 1]$ by the proposition, and it is 1 exactly when $Y$, as a cloud,
# is a positive semi-definite affine image of $X$. Where a network is wider than the batch is large, the covariance has to be
# estimated with more care. The papers use the estimate of {cite:t}`ledoit2004well`, which mixes the empirical one with a
# multiple of the identity. It is our default as well; what it costs, we shall see below.

# %%
score = affinity_score(centred, relu(centred), covariance=covariance)
print(f"score {score.value:.3f}, W2(TX, Y) = {score.w2:.3f}, covariance {score.covariance}")
print("shrinkage of the covariances of X and Y: {:.3f} and {:.3f}".format(*score.intensity))

# %% [markdown]
# {numref}`fig-1-scheme` shows the whole procedure on a network that can be drawn: four random layers of width two, each
# followed by a ReLU, and a normal cloud as the input. Each activation has its score, and the list of scores is the
# *signature* of the network (the subject of {doc}`04_signature_of_a_network`).

# %%
activations = []
signal = rng.standard_normal((100, 2))
for layer in range(4):
    signal = signal @ rng.standard_normal((2, 2))
    signal = (signal - signal.mean(axis=0)) / signal.std(axis=0) + 0.3 * layer
    activations.append((signal, relu(signal)))
    signal = relu(signal)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-scheme", "caption": "From a network to its signature (figure 1 of the paper, drawn from data by `affscore.figures.scheme`). Above: input (grey dots) and output (red triangles) of each ReLU of a random network of width two. Below, the steps for the one in the thick frame: its input $X$ and output $Y$; the affine image $T(X)$ (green squares) with a line from each $x_i$; the optimal coupling of $T(X)$ with $Y$; the principal axes of $\\Sigma_Y$ (one standard deviation each), by which the cost is normalised."}, "image": {"alt": "Upper row: four small scatter plots joined by arrows, one for each ReLU, with scores between about 0.6 and 0.8 that are listed above them as the signature. Lower row: four panels for the first ReLU. A round grey cloud and its red image, folded onto the positive quadrant; the green affine image of the cloud; short black lines from green squares to red triangles; the red cloud with two arrows."}}
affscore.figures.scheme(activations, covariance_name=covariance)
plt.show()

# %% [markdown]
# Look at the third panel below. The affine image is a full disc, and the output has a corner with a crowd of points on
# its two edges. Most of the cost is spent on pushing the points of the disc that stick out back to the edges.
#
# ## Figure 2: what a score looks like
#
# In one dimension everything fits into one picture. The next three figures follow figure 2 of the paper. In each panel
# the grey line is the function, the red dots are the samples on it (evenly spaced, so that nothing is random) and the
# dashed green line is $T$. The histograms at the right edge are the two distributions that the score compares: $Y$
# (filled) and $T(X)$ (outline), on the same vertical axis.
#
# ### A. The same function on different inputs

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-ranges", "caption": "ReLU on a sliding window of inputs (figure 2 A of the paper): the score of {eq}`eq-1-score` depends on where the input lies. Drawn by `affscore.figures.activation_panels`."}, "image": {"alt": "Six panels with the graph of ReLU and a window of inputs of width 20 that slides from [-20, 0] to [0, 20]. The scores are 1.00, 0.27, 0.45, 0.68, 0.87 and 1.00. Where the score is low, nearly all outputs are zero and the dashed affine fit misses them."}}
windows = [(low, low + 20) for low in (-20, -18, -15, -10, -5, 0)]
affscore.figures.activation_panels(
    [(f"ReLU on [{low}, {high}]", relu, np.linspace(low, high, n)) for low, high in windows],
    domain=(-20, 20),
)
plt.show()

# %% [markdown]
# The same function is affine on the first window and on the last one, where it is constant or the identity, and far from
# affine in between. Its lowest score is not where the kink is in the middle of the data. It is where the kink cuts off
# a small rest: nearly all outputs are zero, a few are not, and no affine image of an even spread looks like that. A ReLU that
# fires rarely is more non-linear than one that fires half of the time.
#
# The paper says that the degree depends on the range of the inputs alone. A little more is at work, the distribution
# within the range:

# %%
level = (np.arange(n) + 0.5) / n  # quantiles of n evenly spaced levels: the distribution without its noise
shapes = {
    "even": (1, 1),
    "heaped in the middle": (4, 4),
    "heaped at both ends": (0.3, 0.3),
    "mostly negative": (1, 4),
    "mostly positive": (4, 1),
}
samples = {name: (2 * beta.ppf(level, *shape) - 1)[:, None] for name, shape in shapes.items()}
pd.DataFrame(
    {
        "least": {name: x.min() for name, x in samples.items()},
        "largest": {name: x.max() for name, x in samples.items()},
        "score of ReLU": {name: affinity_score(x, relu(x)).value for name, x in samples.items()},
    }
).round(2)

# %% [markdown]
# ### B. Different functions on the same input

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-functions", "caption": "Three activations on the same input, evenly spread over $[-5, 5]$ (figure 2 B of the paper). Drawn by `affscore.figures.activation_panels`."}, "image": {"alt": "Three panels. ReLU has a score of 0.68, Tanh 0.75 and Sigmoid 0.84. The outputs of Tanh and Sigmoid heap up at both ends, those of ReLU at zero."}}
even = np.linspace(-5, 5, n)
affscore.figures.activation_panels([("ReLU", relu, even), ("Tanh", np.tanh, even), ("Sigmoid", sigmoid, even)])
plt.show()

# %% [markdown]
# ReLU, made of two straight pieces, has the lowest score of the three, as the paper finds. That is a statement about this
# input, though. ReLU does not notice the scale of its input: $\mathrm{ReLU}(s x) = s\,\mathrm{ReLU}(x)$ for $s > 0$, and
# the score ignores such factors. Tanh and Sigmoid do notice. On a narrow input they are nearly straight, and on a wide one
# nearly a step:

# %%
unit = np.linspace(-1, 1, n)[:, None]
scales = [0.5, 1, 2, 5, 10, 20, 50]
pd.DataFrame(
    {
        name: [affinity_score(half * unit, function(half * unit)).value for half in scales]
        for name, function in {"ReLU": relu, "Tanh": np.tanh, "Sigmoid": sigmoid}.items()
    },
    index=pd.Index([f"[-{half}, {half}]" for half in scales], name="input"),
).round(2)

# %% [markdown]
# The order of the three is not a property of the functions. On inputs as wide as $[-50, 50]$ it is reversed.
#
# ### C. Powers

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-powers", "caption": "Powers on an input evenly spread over $[-1, 1]$ (figure 2 C of the paper): the score falls with the degree. Drawn by `affscore.figures.activation_panels`."}, "image": {"alt": "Six panels with the powers from x to the sixth power of x. The scores fall from 1.00 over 0.84, 0.71, 0.64 and 0.58 to 0.53. The dashed affine fit rises in all panels, also where the power is even and its graph folds the line."}}
line = np.linspace(-1, 1, n)
affscore.figures.activation_panels([("$x$" if k == 1 else f"$x^{k}$", lambda x, k=k: x**k, line) for k in range(1, 7)])
plt.show()

# %% [markdown]
# The score falls with the degree, steadily, and that should make us pause: $x^2$ folds the line in two, $x^3$ does not.
# A least-squares line through $x^2$ on $[-1, 1]$ is flat and explains nothing. The score says 0.84, and more than 0.71 for
# $x^3$. Look at the histograms: the squares are spread over $[0, 1]$ somewhat unevenly, and a shifted and shrunken even
# distribution is not far from that. On a line, the transport is free to forget which $x$ a square came from. It will not
# always be.
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
#   sends $T(x_i)$ to $\sigma(x_i)$. In units of the standard deviation of $y$ the mean squared distance of two
#   variables with equal mean and variance is $2\,(1 - \operatorname{corr})$; divide by 2 and take the root.
# * **In high dimension**, with independent coordinates that all have the same distribution, for *any* $\sigma$ that acts on
#   each coordinate with $\operatorname{corr} \ge 0$. There the points of a cloud are all nearly equally far from each
#   other, and $\sigma(x_i)$ is closer to $T(x_i)$ than to any other $T(x_j)$. The plan has no choice but to pair them, and
#   the same calculation applies to each coordinate. This is a limit, $d \to \infty$ with $n$ fixed.
#
# For ReLU of a standard normal input $\operatorname{corr} = \sqrt{\pi / (2 (\pi - 1))} \approx 0.856$, hence
# $\rho = 0.621$: a number to remember, since pre-activations of a wide random network look like that. Predicted and
# measured, with the normal distribution:

# %%
functions = {
    "ReLU": relu,
    "Tanh": np.tanh,
    "Sigmoid": sigmoid,
    "SiLU": lambda x: x * sigmoid(x),
    "x²": np.square,
}
normal_line = norm.ppf(level)[:, None]
normal_cloud = rng.standard_normal((n, width))

rows = {}
for name, function in functions.items():
    correlation = np.corrcoef(normal_line[:, 0], function(normal_line[:, 0]))[0, 1]
    rows[name] = {
        "corr": correlation,
        "predicted": 1 - np.sqrt(1 - correlation),
        "measured, d = 1": affinity_score(normal_line, function(normal_line)).value,
        f"measured, d = {width}": affinity_score(normal_cloud, function(normal_cloud), covariance=covariance).value,
    }
pd.DataFrame(rows).T.round(3).abs()

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
straight = affinity_score(normal_cloud, relu(normal_cloud), covariance=covariance)
shuffled = affinity_score(rng.permutation(normal_cloud), rng.permutation(relu(normal_cloud)), covariance=covariance)
print(f"paired   {straight.value:.6f}   the pairing is optimal: {straight.pairing_optimal}")
print(f"shuffled {shuffled.value:.6f}   the pairing is optimal: {shuffled.pairing_optimal}")

# %% [markdown]
# So a high score does not say that the *map* is affine. It says that its effect on the distribution could have been had by
# a positive affine map. If $X$ is symmetric ($-X$ has the same distribution), then $Y = -X$ scores 1, and so does $Y = X'$, a
# fresh sample that has nothing to do with $X$.
#
# ### Large clouds and small clouds
#
# This was about distributions. The two clouds that we hold are samples, and in high dimension a sample of 512 points is a
# thin dust: the point $-x_i$ is far from every $x_j$, although both come from the same distribution. We follow four
# transformations of a normal cloud over the dimension, with the score of the distributions at the left, and the limit
# for many coordinates and a fixed $n$ at the right.

# %%
dimensions = [d for d in (1, 3, 10, 30, 100) if d < width] + [width]
ways = {
    "ReLU(x)": (None, relu),
    "x²": (None, np.square),
    "-x": (1.0, np.negative),
    "fresh sample": (1.0, lambda x: rng.standard_normal(x.shape)),
}
limits = {"ReLU(x)": 0.621, "x²": 0.0, "-x": 0.0, "fresh sample": 0.0}
rows = {}
for name, (of_distributions, function) in ways.items():
    rows[name] = {"distributions": of_distributions}
    for d in dimensions:
        x = rng.standard_normal((n, d))
        rows[name][f"d = {d}"] = affinity_score(x, function(x), covariance=covariance).value
    rows[name]["limit"] = limits[name]
pd.DataFrame(rows).T.astype(float).round(2)

# %% [markdown]
# On a line the score of the samples is close to that of the distributions. In 300 dimensions only ReLU keeps its score;
# for the other three the transport no longer finds a cheap plan, and the score falls towards 0. Two lessons for reading the
# scores of real layers:
#
# * For wide layers the score is, in practice, about the pairs after all. The plan recovers them by itself, even when the
#   rows are shuffled.
# * A low score in high dimension may also be the dimension speaking. Compare scores at the same $n$, and report it.
#
# ### A score of zero
#
# The paper says that the score is 0 where $T X$ and $\sigma(X)$ are independent. As a statement about distributions this is
# not right, in two ways. Independence is a property of pairs, which the score does not see: for a fresh sample, independent
# of $X$, the distributions are equal and the score is 1. And the value 0 is never reached.
#
# ```{prf:theorem} The score is positive
# :label: thm-1-positive
# :nonumber:
# With the covariances of the distributions themselves, $\rho(X, Y) > 0$ for every $Y$ that is not constant.
# ```
#
# *Why.* $\rho = 0$ means that the independent coupling is an optimal plan between $T X$ and $Y$. Take any two points $u, u'$
# that $T X$ can reach and any two $v, v'$ that $Y$ can reach. The independent plan sends $u$ to $v$ and $u'$ to $v'$, but also
# $u$ to $v'$ and $u'$ to $v$. If it is optimal, neither exchange may help, and so
# $\langle u - u', v - v' \rangle = 0$. Hence $T X$ and $Y$ vary in perpendicular directions. But they have the same
# covariance, so that neither varies at all.
#
# Zero is a limit, then, and two roads lead there. One is the dimension, in the table above; there the paper's sentence
# is right, for samples and in the limit. The other one is open on a line: a $Y$ that is constant but for rare events. For
# example, let $\sigma$ tell whether $x$ is among the largest:

# %%
shares = [0.5, 0.1, 0.01, 1 / n]
pd.DataFrame(
    {"score": [affinity_score(normal_line, 1.0 * (level > 1 - p)[:, None]).value for p in shares]},
    index=pd.Index([f"{p:.3f}" for p in shares], name="share of ones"),
).round(3)

# %% [markdown]
# ### What shrinkage changes
#
# The default covariance is not the one of the cloud, and the theorems do not cover it. The clouds $X$ and $Y$ are shrunk by
# different amounts. If the coordinates of $X$ are alike and $Y = X D$ stretches them differently, then the map $T$, made
# from the shrunk covariances, is no longer $D$:

# %%
rows = {}
for spread in (0.0, 0.1, 0.3, 1.0):
    stretched = normal_cloud * np.exp(spread * rng.standard_normal(width))
    rows[f"{spread:.1f}"] = {
        name: affinity_score(normal_cloud, stretched, name).value for name in ("empirical", "ledoit-wolf")
    }
linear = pd.DataFrame(rows).T.rename_axis("spread of log D")
linear.round(3)

# %% [markdown]
# With few samples for the dimension, even a linear $D$ can lose a few hundredths, and more where $D$ is very uneven. In the other
# direction, heavy tails can break the bound of Proposition 3.5. Below, a few coordinates are large, most are tiny, and
# each row has its own random size, now and then a huge one. The covariance of $X$ is then shrunk nearly to a multiple of the
# identity and that of $Y$ is not:

# %%
sizes = np.abs(rng.standard_t(1, size=(512, 1)))
scale = np.where(np.arange(2048) < 200, 1.0, 1e-3)
heavy = rng.standard_normal((512, 2048)) * scale * sizes
clipped = np.clip(heavy, 0, 6)  # ReLU6
broken = affinity_score(heavy, clipped, "ledoit-wolf")
print(f"ledoit-wolf: raw {broken.raw:.2f}, score {broken.value:.2f}, bound exceeded: {broken.bound_exceeded}")
print(f"empirical:   raw {affinity_score(heavy, clipped, 'empirical').raw:.2f}")

# %% [markdown]
# The library then gives the score 0, keeps the raw value beside it and sets `bound_exceeded`, so that no such case passes
# unnoticed.
#
# ## Where words and mathematics part
#
# We follow the preprint of the paper closely, and in a few places its wording says more than its mathematics, or
# something else. They are collected here, with what this section found.
#
# | the paper says | what holds |
# |---|---|
# | The score is 0 if $T X$ and $\sigma(X)$ are independent. | It sees distributions only, and is always positive. Independent samples in high dimension come near 0. |
# | The score is 1 for any input on which the activation is linear. | If the slope is not negative. $x \mapsto \lvert x \rvert$ on negative inputs is $-x$, and scores 1 only for a symmetric distribution. |
# | $W_2(N_X, N_Y)$ and $W_2(X, Y)$ agree only if $\sigma$ is linear. | If the *distribution* of $Y$ is a positive affine image of that of $X$; the map itself may be anything that has this effect. |
# | ReLU's non-linearity depends on the range of its input alone. | On its distribution; not on its scale. |
# | ReLU is more non-linear than Tanh and Sigmoid for the same input. | For inputs of moderate scale; for wide ones it is the other way round. |
# | $T$ is a non-linear map that is optimal between $X$ and $Y$ (Remark 3.6). | $T$ is affine, and optimal between $N_X$ and $N_Y$, and between $X$ and $T X$. |
# | The coefficient $R^2$ has no lower bound (Remark 3.6). | True for predictions of new data; for a least-squares fit with intercept, on its own data, $R^2$ is in $[0, 1]$. |
# | Tanh is $(e^{-x} - e^x) / (e^{-x} + e^x)$. | The sign is reversed. (For an input symmetric about 0 the score is the same.) |
# | The score, with shrinkage, is in $[0, 1]$. | Proved for the covariances of the clouds themselves. |
#
# The second line is quickly checked, with a skewed negative input:

# %%
negative = -1 - rng.exponential(size=(n, 1))
print(f"|x| on a skewed negative input:         {affinity_score(negative, np.abs(negative)).value:.2f}")
symmetric = np.linspace(-3, -1, n)[:, None]
print(f"|x| on an evenly spread negative input: {affinity_score(symmetric, np.abs(symmetric)).value:.2f}")

# %% [markdown]
# ## Takeaways
#
# * The affinity score asks whether the cloud $Y = \sigma(X)$ is a positive affine image of the cloud $X$: 1 if so, less if
#   not, and never quite 0.
# * It needs means and covariances for the map $T$, one assignment problem for the distance, and the trace of $\Sigma_Y$ for
#   the scale.
# * The score belongs to an activation *on its data*. ReLU on a centred normal input has 0.62, and anything between 0 and 1
#   elsewhere.
# * For increasing functions on a line and for independent coordinates in high dimension it is
#   $1 - \sqrt{1 - \operatorname{corr}}$.
# * It compares distributions, not pairs. On a line that matters; in high dimension the transport finds the pairs by itself.
# * State $n$, $d$ and the covariance with every score.
#
# ## Exercises
#
# Each exercise has a check that tells you whether you are right and, if not, what to look at. Remove the `#` in front of it
# when you have an answer.
#
# ```{exercise} 1.1 Transport on a line
# :label: ex-1-1
# :nonumber:
#
# On a line no assignment problem has to be solved. Write a function `w2(x, y)` of two arrays of shape `(n,)` that returns their
# 2-Wasserstein distance, with NumPy alone.
# ```

# %%
answer = None  # your answer here: a function w2(x, y)
# affscore.exercises.check("1.1", answer)

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


verdict = affscore.exercises.check("1.1", w2)
assert verdict
verdict

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 1.2 Predict before you measure
# :label: ex-1-2
# :nonumber:
#
# The leaky ReLU with slope 0.1 is $s(x) = x$ for $x > 0$ and $s(x) = 0.1\,x$ otherwise. Its input has very many independent
# standard normal coordinates. Predict its score to two decimals, with pencil and paper or with NumPy, before you measure it.
# ```

# %%
answer = None  # your answer here: a number
# affscore.exercises.check("1.2", answer)

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
measured = affinity_score(normal_cloud, np.where(normal_cloud > 0, normal_cloud, a * normal_cloud))
print(f"predicted {predicted:.3f}, measured at d = {width}: {measured.value:.3f}")

verdict = affscore.exercises.check("1.2", predicted)
assert verdict
verdict

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 1.3 The blind spot
# :label: ex-1-3
# :nonumber:
#
# Build two clouds `x` and `y` of shape `(n, d)`, with at least 100 samples, and ten for each coordinate, whose score
# with the empirical covariance is at least 0.99, although no affine map predicts $y_i$ from $x_i$: a least-squares fit should
# explain at most 10 % of the variance of `y`.
# ```

# %%
answer = None  # your answer here: a pair (x, y)
# affscore.exercises.check("1.3", answer)

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

verdict = affscore.exercises.check("1.3", (x, y))
assert verdict
verdict

# %% [markdown]
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
# * Next: {doc}`04_signature_of_a_network`, where the clouds are those of a trained network.
