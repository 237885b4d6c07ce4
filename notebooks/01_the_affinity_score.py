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
# A network without activation functions is one affine map, however many layers it has. How non-linear it is depends
# on what its activations do to the data that reach them: a ReLU whose inputs are all positive changes nothing. This
# section derives a measure of it. The *affinity score* of {cite:t}`bouniot2025alexnet` (section 3.1) is 1 where an
# activation acts as an affine map and falls towards 0 the less it does.
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
# covariance), and no optimal transport. The exact conventions are in {doc}`../book/definitions`.

# %% tags=["parameters"]
n: int = 512  # samples in each cloud
width: int = 300  # coordinates of the clouds in high dimension
covariance: str = "ledoit-wolf"  # or empirical
seed: int = 0  # seed of the random generator

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %%
from itertools import permutations

import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from affscore import affinity_score, transport
from affscore.experiments import score_steps
from scipy.stats import beta, norm

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
# The first idea is least squares: fit $y_i \approx A x_i + b$ and look at the residuals. But regression shrinks:
# where the fit is poor, predictions retreat to the mean of $Y$, and the fitted points are a shrunken cloud that looks
# little like $Y$. The score asks about the clouds instead of the single points: **can an affine map turn the cloud
# $X$ into the cloud $Y$, and if not, how far off is the best one?**
#
# That needs a distance between clouds, so that "how far off" is a number, and a rule that selects one of the many
# affine maps that give $X$ the mean and the covariance of $Y$. Optimal transport provides both.
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

pd.Series(
    {
        "the cheapest of all 720 plans": min(costs),
        "transport.wasserstein(x, y)²": transport.wasserstein(six_x, six_y)
        ** 2,
        "the pairs as numbered": costs[0],
        "the most expensive plan": max(costs),
    },
    name="mean squared distance",
).round(4).to_frame()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-coupling", "caption": "Two plans for the same two clouds: the pairs as they are numbered, and the optimal coupling, whose mean squared length is $W_2^2$ of {eq}`eq-1-assignment`. Drawn by `affscore.figures.coupling`; not in the paper."}, "image": {"alt": "Two panels with the same six grey dots at the left and six red triangles at the right. In the left panel lines join equal numbers and cross each other. In the right panel the lines of the optimal coupling are shorter and hardly cross."}}
optimal = transport.optimal_coupling(
    torch.from_numpy(six_x), torch.from_numpy(six_y)
)
affscore.figures.coupling(six_x, six_y, optimal)
plt.show()

# %% [markdown]
# {numref}`fig-1-coupling` shows what to remember: the distance ignores which $x_i$ *came with* which $y_i$ and pairs
# the points itself. We come back to what that means for the score.
#
# ## The affine map
#
# Which maps are optimal plans? Those that are the gradient of a convex function
# {cite}`smith1987note,villani2009optimal` (Theorem 3.1 of the paper). On a line these are the increasing functions:
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
# ```{prf:theorem} 3.3 of the paper
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
matrix_error = np.abs(fit.matrix.numpy() - positive).max()
shift_error = np.abs(fit.offset.numpy() - shift).max()
print(f"largest error of the matrix {matrix_error:.1e}")
print(f"largest error of the shift  {shift_error:.1e}")

# %% [markdown]
# ## Two bounds
#
# If the activation is *not* affine, the Gaussian approximations miss a part, and the true distance is larger.
#
# ```{prf:theorem} 3.4 of the paper, Gelbrich bound
# :label: thm-1-gelbrich
# :nonumber:
# $W_2(N_X, N_Y) \le W_2(X, Y)$ for all $X$ and $Y$ with finite variance {cite}`gelbrich1990formula`.
# ```
#
# An upper bound comes from the least specific plan: spread every point of $X$ evenly over all points of $Y$. For
# centred clouds $X$ and $Y$ this *independent coupling* costs
#
# $$
# \frac{1}{n^2} \sum_{i,j} \lVert x_i - y_j \rVert^2 = \operatorname{tr} \Sigma_X + \operatorname{tr} \Sigma_Y ,
# $$ (eq-1-independent)
#
# because the mixed terms $x_i^\top y_j$ cancel in the mean. The best plan cannot be worse.
#
# ```{prf:proposition} 3.5 of the paper
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
# The table checks both bounds on the centred skewed cloud and seven transformations of it. The columns `gap` and
# `W2(TX, Y)` should stay below the bounds to the right of them.

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
    spread_x = transport.covariance(x, "empirical")
    spread_y = transport.covariance(y, "empirical")
    mixed = float(
        (fit.matrix @ spread_x).trace()
    )  # tr (Sx Sy)^(1/2) = tr A Sx
    total = float(spread_x.trace() + spread_y.trace())
    normal = max(total - 2 * mixed, 0) ** 0.5
    exact = transport.wasserstein(x, y)
    return {
        "W2(NX, NY)": normal,
        "W2(X, Y)": exact,
        "gap": exact - normal,
        "bound 1": 2 * mixed / total**0.5,
        "W2(TX, Y)": transport.wasserstein(fit(x), y),
        "bound 2": float(2 * spread_y.trace()) ** 0.5,
        "score": affinity_score(x, y, "empirical").value,
    }


rows = {name: bounds(centred, y) for name, y in transformations.items()}
table = pd.DataFrame(rows).T
assert (table["gap"] >= -1e-6).all()
assert (table["gap"] <= table["bound 1"]).all()
assert (table["W2(TX, Y)"] <= table["bound 2"]).all()
table.round(3) + 0.0

# %% [markdown]
# No bound is violated. In the first two rows the gap is zero and so is $W_2(T X, Y)$: an affine image is recognised,
# even in the second row, where the pairs have been permuted. The quarter turn and the change of sign are linear maps
# of the points and yet score below 1, because the cloud is skewed and no *positive* map takes it to its rotated or
# mirrored image.
#
# ## The score
#
# Part 2 of the proposition bounds the mismatch by a number in the units of $Y$. Their ratio has no units, and the
# score is one minus this ratio (equation (5) of the paper):
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
score = affinity_score(centred, relu(centred), covariance=covariance)
print(f"score {float(score):.3f} with the covariance {score.covariance}")
print(f"W2(TX, Y) = {score.w2:.3f}")
print(f"the given pairs are the optimal ones: {score.pairing_optimal}")

# %% [markdown]
# {numref}`fig-1-scheme` shows the whole procedure on a network that can be drawn: four layers of width two, each a random
# turn, a standardisation and a shift that grows from layer to layer, and each followed by a ReLU. Each activation has its
# score, and the list of scores is the *signature* of the network (the subject of {doc}`04_signature_of_a_network`).

# %%
activations = []
signal = rng.standard_normal((100, 2))
for layer in range(4):
    angle = rng.uniform(0, 2 * np.pi)
    cosine, sine = np.cos(angle), np.sin(angle)
    signal = signal @ [[cosine, -sine], [sine, cosine]]
    signal = (signal - signal.mean(axis=0)) / signal.std(axis=0) + 0.4 * layer
    activations.append((signal, relu(signal)))
    signal = relu(signal)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-scheme", "caption": "From a network to its signature (figure 1 of the paper, drawn from data by `affscore.figures.scheme`). Above: input (grey dots) and output (red triangles) of each ReLU of a random network of width two. Below, the steps for the one in the thick frame: its input $X$ and output $Y$; the affine image $T(X)$ (green squares) with a line from each $x_i$; the optimal coupling of $T(X)$ with $Y$; the principal axes of $\\Sigma_Y$ (one standard deviation each), by which the cost is normalised."}, "image": {"alt": "Upper row: four small scatter plots joined by arrows, one for each ReLU, with the scores 0.64, 0.66, 0.83 and 0.97 that are listed above them as the signature. Lower row: four panels for the first ReLU. A round grey cloud and its red image, folded onto the positive quadrant; the green affine image of the cloud; short black lines from green squares to red triangles; the red cloud with two arrows."}}
affscore.figures.scheme(
    [score_steps(x, y, covariance) for x, y in activations]
)
plt.show()

# %% [markdown]
# In the upper row the shift pushes more and more points to where ReLU is the identity; grey and red separate less,
# and the score rises. In the third panel below, the affine image is a full disc, while the output has a corner with
# many points on its two edges. Most of the cost comes from moving the points outside the corner back to its edges.
#
# ## Figure 2: what a score looks like
#
# The next three figures follow figure 2 of the paper, in one dimension. In each panel the grey line is the function,
# the red dots are the samples on it (evenly spaced, so nothing is random) and the dashed green line is $T$. The
# histograms at the right edge are the two distributions that the score compares: $Y$ (filled) and $T(X)$ (outline),
# on the same vertical axis.
#
# ### A. The same function on different inputs

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-ranges", "caption": "ReLU on a sliding window of inputs (figure 2 A of the paper): the score of {eq}`eq-1-score` depends on where the input lies. Drawn by `affscore.figures.activation_panels`."}, "image": {"alt": "Six panels with the graph of ReLU and a window of inputs of width 20 that slides from [-20, 0] to [0, 20]. The scores are 1.00, 0.27, 0.45, 0.68, 0.87 and 1.00. Where the score is low, nearly all outputs are zero and the dashed affine fit misses them."}}
windows = [(low, low + 20) for low in (-20, -18, -15, -10, -5, 0)]
inputs = [np.linspace(low, high, n) for low, high in windows]
affscore.figures.activation_panels(
    [
        (f"ReLU on [{x[0]:.0f}, {x[-1]:.0f}]", relu, score_steps(x, relu(x)))
        for x in inputs
    ],
    domain=(-20, 20),
)
plt.show()

# %% [markdown]
# The same function is affine on the first window and on the last one, where it is constant or the identity, and far
# from affine in between. Its lowest score is not where the kink is in the middle of the data but where the kink cuts
# off a small rest: nearly all outputs are zero, a few are not, and no affine image of a uniform distribution looks
# like that. A ReLU that fires rarely is more non-linear than one that fires half of the time.
#
# The paper says that the degree depends on the range of the inputs alone. It also depends on the distribution within
# the range:

# %%
# evenly spaced quantiles: a distribution without the noise of a sample
level = (np.arange(n) + 0.5) / n
shapes = {
    "uniform": (1, 1),
    "peaked in the middle": (4, 4),
    "peaked at both ends": (0.3, 0.3),
    "mostly negative": (1, 4),
    "mostly positive": (4, 1),
}
rows = {}
for name, shape in shapes.items():
    x = 2 * beta.ppf(level, *shape)[:, None] - 1
    rows[name] = {
        "least": x.min(),
        "largest": x.max(),
        "score of ReLU": affinity_score(x, relu(x)).value,
    }
pd.DataFrame(rows).T.round(2)

# %% [markdown]
# ### B. Different functions on the same input

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-functions", "caption": "Three activations on the same input, evenly spread over $[-5, 5]$ (figure 2 B of the paper). Drawn by `affscore.figures.activation_panels`."}, "image": {"alt": "Three panels. ReLU has a score of 0.68, Tanh 0.75 and Sigmoid 0.84. The outputs of Tanh and Sigmoid heap up at both ends, those of ReLU at zero."}}
even = np.linspace(-5, 5, n)
functions = {"ReLU": relu, "Tanh": np.tanh, "Sigmoid": sigmoid}
affscore.figures.activation_panels(
    [
        (name, function, score_steps(even, function(even)))
        for name, function in functions.items()
    ]
)
plt.show()

# %% [markdown]
# ReLU, made of two straight pieces, has the lowest score of the three, as the paper finds, on this input. ReLU does
# not see the scale of its input: $\mathrm{ReLU}(s x) = s\,\mathrm{ReLU}(x)$ for $s > 0$, and the score ignores such
# factors. Tanh and Sigmoid do see it: on a narrow input they are nearly straight, and on a wide one nearly a step:

# %%
unit = np.linspace(-1, 1, n)[:, None]
scales = [0.5, 1, 2, 5, 10, 20, 50]
rows = {}
for half in scales:
    x = half * unit
    rows[f"[-{half}, {half}]"] = {
        name: affinity_score(x, function(x)).value
        for name, function in functions.items()
    }
pd.DataFrame(rows).T.rename_axis("input").round(2)

# %% [markdown]
# The order of the three is not a property of the functions. On inputs as wide as $[-50, 50]$ ReLU, which was the
# most non-linear, is the least.
#
# ### C. Powers

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-1-powers", "caption": "Powers on an input evenly spread over $[-1, 1]$ (figure 2 C of the paper): the score falls with the degree. Drawn by `affscore.figures.activation_panels`."}, "image": {"alt": "Six panels with the powers from x to the sixth power of x. The scores fall from 1.00 over 0.82, 0.71, 0.63 and 0.58 to 0.53. The dashed affine fit rises in all panels, also where the power is even and its graph folds the line."}}
line = np.linspace(-1, 1, n)
powers = {"$x$": lambda x: x} | {
    f"$x^{k}$": lambda x, k=k: x**k for k in range(2, 7)
}
affscore.figures.activation_panels(
    [
        (name, power, score_steps(line, power(line)))
        for name, power in powers.items()
    ]
)
plt.show()

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
    x, y = normal_line, function(normal_line)
    correlation = np.corrcoef(x[:, 0], y[:, 0])[0, 1]
    wide = affinity_score(normal_cloud, function(normal_cloud), covariance)
    rows[name] = {
        "corr": correlation,
        "predicted": 1 - np.sqrt(1 - correlation),
        "measured, d = 1": affinity_score(x, y).value,
        f"measured, d = {width}": wide.value,
    }
pd.DataFrame(rows).T.round(3) + 0.0

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
straight = affinity_score(x, y, covariance)
x, y = rng.permutation(x), rng.permutation(y)
shuffled = affinity_score(x, y, covariance)
print(
    f"paired   {straight.value:.6f}, pairing optimal: {straight.pairing_optimal}"
)
print(
    f"shuffled {shuffled.value:.6f}, pairing optimal: {shuffled.pairing_optimal}"
)

# %% [markdown]
# So a high score does not say that the *map* is affine: it says that a positive affine map would have the same effect
# on the distribution. If $X$ is symmetric ($-X$ has the same distribution), then $Y = -X$ scores 1, and so does
# $Y = X'$, a fresh sample that is independent of $X$.
#
# ### Large clouds and small clouds
#
# This holds for distributions. Our clouds are samples, and in high dimension samples are sparse: the point $-x_i$ is
# far from every $x_j$, although both come from the same distribution. We follow four transformations of a Gaussian
# cloud over the dimension. The first column has the score of the distributions themselves: with independent
# coordinates it is that of a single coordinate, whatever $d$ is. The last column has the limit of the samples for
# many coordinates and a fixed $n$.

# %%
dimensions = [d for d in (1, 3, 10, 100) if d < width] + [width]
ways = {
    "ReLU(x)": relu,
    "x²": np.square,
    "-x": np.negative,
    "fresh sample": lambda x: rng.standard_normal(x.shape),
}
rows = {}
for name, function in ways.items():
    # -x and a fresh sample have the distribution of x
    x = normal_line if name in ("ReLU(x)", "x²") else None
    rows[name] = {
        "distributions": 1.0
        if x is None
        else affinity_score(x, function(x)).value
    }
    for d in dimensions:
        x = rng.standard_normal((n, d))
        rows[name][f"d = {d}"] = affinity_score(
            x, function(x), covariance
        ).value
    rows[name]["limit"] = 0.621 if name == "ReLU(x)" else 0.0
pd.DataFrame(rows).T.round(2)

# %% [markdown]
# On a line the samples are close to their distributions. In high dimension only ReLU keeps its score; for the other
# three the transport no longer finds a cheap plan, and the score falls towards 0. Two lessons for the scores of real
# layers:
#
# * In a wide layer the score is nearly about the pairs after all: the plan recovers them, even when the rows are
#   permuted. How nearly depends on the layer, whose coordinates are correlated, so it has fewer dimensions than
#   coordinates; `pairing_optimal` says of every score whether the given pairs were the optimal ones.
# * A low score may simply reflect high dimension. Compare scores at the same $n$, and report it.
#
# ### A score of zero
#
# The paper says that the score is 0 where $T X$ and $\sigma(X)$ are independent. As a statement about distributions
# this is wrong in two ways. Independence is a property of pairs, which the score does not see: for an independent
# fresh sample of $X$ the distributions are equal and the score is 1. And the value 0 is never reached.
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
# covariance, so that neither varies at all. (Where $\Sigma_X$ is singular, $T X$ may have less variance than $Y$. Then the
# independent plan costs less than $2 \operatorname{tr} \Sigma_Y$ already.)
#
# Zero is a limit, then, approached in two ways. One is high dimension, in the table above; there the paper's sentence
# is right, for samples and in the limit. The other exists on a line, too: a $Y$ that is constant but for rare events.
# For example, let $\sigma$ indicate whether $x$ is among the largest:

# %%
rows = {}
for share in (0.5, 0.1, 0.01, 1 / n):
    rare = np.where(level > 1 - share, 1.0, 0.0)[:, None]
    rows[f"{share:.3f}"] = {"score": affinity_score(normal_line, rare).value}
pd.DataFrame(rows).T.rename_axis("share of ones").round(3)

# %% [markdown]
# ### What shrinkage changes
#
# The default covariance is not that of the cloud, so the theorems do not cover it: $X$ and $Y$ are shrunk by
# different amounts. Let the coordinates of $X$ have equal variance, and let $Y = X D$ stretch each by a random
# factor. That is a positive linear map, and its score should be 1. But shrinkage cannot distinguish a small
# difference of two variances from noise and levels them, and $T$ is no longer $D$:

# %%
rows = {}
for spread in (0.0, 0.1, 0.3, 1.0):
    stretched = normal_cloud * np.exp(spread * rng.standard_normal(width))
    shrunk = affinity_score(normal_cloud, stretched, "ledoit-wolf")
    rows[f"{spread:.1f}"] = {
        "empirical": affinity_score(
            normal_cloud, stretched, "empirical"
        ).value,
        "ledoit-wolf": shrunk.value,
        "shrinkage of X": shrunk.intensity[0],
        "shrinkage of Y": shrunk.intensity[1],
    }
pd.DataFrame(rows).T.rename_axis("spread of log D").round(3)

# %% [markdown]
# So with the default, a score of 0.9 may be that of a linear map. Where the coordinates of $X$ have different
# variances to begin with, as in a real layer, they are shrunk less, and less is lost.
#
# Conversely, heavy tails can break the bound of Proposition 3.5. Below, a few coordinates are large, most are tiny,
# and each row has its own random size, occasionally a huge one. The covariance of $X$ is then shrunk nearly to a
# multiple of the identity, and that of $Y$ is not:

# %%
own_rng = np.random.default_rng(seed)
sizes = np.abs(own_rng.standard_t(1, size=(512, 1)))
scale = np.where(np.arange(2048) < 200, 1.0, 1e-3)
heavy = own_rng.standard_normal((512, 2048)) * scale * sizes
clipped = np.clip(heavy, 0, 6)  # ReLU6
broken = affinity_score(heavy, clipped, "ledoit-wolf")
print(f"raw {broken.raw:.2f}, score {broken.value:.2f}")
print(f"bound exceeded: {broken.bound_exceeded}")
print("shrinkage of X and Y: {:.2f} and {:.2f}".format(*broken.intensity))

# %% [markdown]
# The library then returns the score 0, keeps the raw value and sets `bound_exceeded`.
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
# The second line is quickly checked, with a skewed negative input:

# %%
skewed_input = -1 - rng.exponential(size=(n, 1))
even_input = np.linspace(-3, -1, n)[:, None]
for name, x in {"skewed": skewed_input, "evenly spread": even_input}.items():
    score = affinity_score(x, np.abs(x))
    print(f"|x| on a negative input, {name}: {score.value:.2f}")

# %% [markdown]
# ## Takeaways
#
# * The affinity score asks whether the cloud $Y = \sigma(X)$ is a positive affine image of the cloud $X$: 1 if so, less if
#   not, and never quite 0.
# * It needs means and covariances for the map $T$, one assignment problem for the distance, and the trace of $\Sigma_Y$ for
#   the scale.
# * The score belongs to an activation *on its data*. ReLU on a centred normal input has 0.62, and anything between 0 and 1
#   elsewhere.
# * For increasing functions on a line and, with the right covariance, for independent coordinates in high dimension it is
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


affscore.exercises.check("1.1", w2)

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
x = normal_cloud
measured = affinity_score(x, np.maximum(x, a * x))
print(f"predicted {predicted:.3f}")
print(f"measured  {measured.value:.3f} at d = {width}")

affscore.exercises.check("1.2", predicted)

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

affscore.exercises.check("1.3", (x, y))

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
