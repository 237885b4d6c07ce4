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
# *How non-linear is an activation function on its data?* A ReLU whose inputs are all positive changes nothing, and a network
# of such ReLUs is one affine map, however many layers it has. The *affinity score* of {cite:t}`bouniot2025alexnet` measures
# what an activation does to the data that reach it.
#
# :::{admonition} What we found
# :class: findings
# **The same ReLU scores {glue:text}`all positive-score` where its inputs are all positive, and
# {glue:text}`a tenth positive-score` where only a tenth is.** But a low score does not mean "not affine": a random linear layer
# scores {glue:text}`random linear layer-64` (64 channels, 512 points).
# {bdg-success}`robust`
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
n: int = 512  # samples in each cloud
width: int = 300  # coordinates of the clouds in high dimension
seed: int = 0  # seed of the random generator

# %% tags=["remove-cell"]
import companion
from companion.parameters import check_parameters
from companion.style import say

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
from itertools import permutations

import numpy as np
import pandas as pd
import torch

from affscore import affinity_score, transport
from companion.chapter_01 import activation_panels, steps_of_a_score


# %% mystnb={"figure": {"name": "fig-1-ranges", "caption": "Of four windows of evenly spaced inputs a ReLU scores lowest on the one where only a tenth is positive (paper Fig.\u00a02 A)."}, "image": {"width": "432px", "alt": "Four panels, each with its own vertical axis, with the graph of ReLU and a window of inputs of width 20 that lies at [-20, 0], [-18, 2], [-10, 10] and [0, 20]. The scores are 1.00, 0.27, 0.68 and 1.00. Where the score is low, nearly all outputs are zero and the dashed affine map misses them."}}
def relu(x):
    return np.maximum(x, 0)


panels, scores = {}, {}
lows = {"none": -20, "a tenth": -18, "half": -10, "all": 0}
for share, low in lows.items():
    x = np.linspace(low, low + 20, n)[:, None]
    fit = transport.affine_map(x, relu(x))
    scores[name := f"{share} positive"] = affinity_score(x, relu(x)).value
    panels[f"{name}: {scores[name]:.2f}"] = (x, relu(x), fit(x).numpy())
activation_panels(relu, panels)

# %% tags=["remove-cell"]
say(pd.DataFrame({"score": scores}))

# %% [markdown]
# **A ReLU that is rarely active is more non-linear than one that is active half of the time.** In the first window ReLU is
# constant, in the last one the identity: both are affine.
#
# Green is the affine map $T$ of the score. The score compares the two distributions beside each panel.
#
# ## A distance between clouds
#
# We have $n$ inputs $x_i \in \mathbb{R}^d$ of an activation $\sigma$ and its outputs $y_i = \sigma(x_i)$: two clouds of
# points, $X$ and $Y$. The score asks: **can a stretch and a shift carry the first cloud to the second? If not, how far off is
# the one with the right mean and covariance?** That needs a distance between clouds.
#
# Think of each point as a mass of $1/n$, which must move from $X$ to $Y$. If a move costs the square of its length, the cheapest
# plan costs
#
# $$
# W_2^2(X, Y) = \min_{\pi} \frac1n \sum_{i=1}^n \bigl\lVert x_i - y_{\pi(i)} \bigr\rVert^2 ,
# $$ (eq-1-assignment)
#
# with a minimum over all permutations $\pi$. (A plan may split points, but as all masses are equal, some cheapest one does not
# {cite}`peyre2019computational`.) The best one is the *optimal coupling*, and $W_2$ the *2-Wasserstein distance*.
#
# <div id="coupling-window">Here is a window to drag points in. It needs JavaScript.</div>
#
# The distance ignores which $x_i$ came with which $y_i$ and pairs the points itself. With six points one can try all
# $6! = 720$ plans; with 512 the library solves this *assignment problem* exactly.

# %%
rng = np.random.default_rng(seed)
six_x, six_y = rng.standard_normal((2, 6, 2))
costs = [
    np.mean(np.sum((six_x - six_y[list(order)]) ** 2, axis=1))
    for order in permutations(range(6))
]
library = transport.wasserstein(six_x, six_y)
print(f"{len(costs)} plans {min(costs):.4f}, library {library**2:.4f}")

# %% [markdown]
# ## The affine map
#
# **Which affine map? The one that is itself an optimal plan.** Optimal plans are the gradients of convex functions
# {cite}`smith1987note,villani2009optimal`; on a line these are the increasing functions. The map $x \mapsto A x + b$ is the
# gradient of $\frac12 x^\top A x + b^\top x$ if $A$ is symmetric, and that is convex if $A$ is positive semi-definite.
#
# So a stretch along perpendicular axes is optimal. A rotation or a reflection is affine, too, but no optimal plan: points can
# be matched more cheaply.
#
# Let $m_X, m_Y$ be the means and $\Sigma_X, \Sigma_Y$ the covariances of the two clouds. Among the matrices with $A \Sigma_X
# A^\top = \Sigma_Y$ exactly one is symmetric and positive definite (if the covariances are invertible). It is the map of the
# score:
#
# $$
# \begin{gathered}
# T(x) = A\,(x - m_X) + m_Y, \\
# A = \Sigma_Y^{1/2} \bigl( \Sigma_Y^{1/2}\, \Sigma_X\, \Sigma_Y^{1/2} \bigr)^{-1/2} \Sigma_Y^{1/2} .
# \end{gathered}
# $$ (eq-1-map)
#
# {prf:ref}`Theorem 3.3 <thm-3-3>` of the paper: if $Y = P X + b$ with a positive definite $P$, then $T(x) = P x + b$,
# whatever the distribution of $X$ is, as for this skewed cloud:

# %%
skewed = rng.gamma(2.0, size=(n, 3))
root = rng.standard_normal((3, 3))
positive = root @ root.T + 0.1 * np.eye(3)
image = skewed @ positive + [1.0, -2.0, 0.5]

fit = transport.affine_map(skewed, image, covariance="empirical")
error = np.abs(fit.matrix.numpy() - positive).max()
print(f"largest error of an entry of A: {error:.0e}")

# %% [markdown]
# ## The score
#
# How large can $W_2(T X, Y)$ be? One plan spreads every point evenly over all points of $Y$. It costs
# $2 \operatorname{tr} \Sigma_Y$, since $T X$ and $Y$ have the same mean and covariance. The best plan
# costs no more ({prf:ref}`Proposition 3.5 <prop-3-5>`). The score is one minus the ratio of both distances (equation 5 of the
# paper):
#
# $$
# \rho(X, Y) = 1 - \frac{W_2(T X, Y)}{\sqrt{2 \operatorname{tr} \Sigma_Y}} .
# $$ (eq-1-score)
#
# Step by step, for a ReLU in the plane:

# %% mystnb={"figure": {"name": "fig-1-steps", "caption": "Most of the distance comes from points of $T(X)$ outside the corner, which move back to its edges. The score in four steps; arrows: the standard deviations along the output's principal axes (paper Fig. 1)."}, "image": {"alt": "Four panels. A round grey cloud and its orange image, folded onto the positive quadrant; the green affine image of the cloud; short black lines from green squares to orange triangles; the orange cloud with two arrows along its principal axes."}}
x = rng.standard_normal((100, 2))
y = relu(x)
fit = transport.affine_map(x, y, covariance="empirical")
image = fit(x)
coupling = transport.optimal_coupling(image, torch.from_numpy(y))
partner = y[coupling.assignment]
distance = np.sqrt(np.sum((image.numpy() - partner) ** 2, axis=1).mean())
size = np.sqrt(2 * y.var(axis=0).sum())  # the trace: a sum of variances
steps_of_a_score(x, y, image.numpy(), partner, distance, size)

# %%
library = affinity_score(x, y, covariance="empirical").value
score = 1 - distance / size
print(f"1 - {distance:.3f} / {size:.3f} = {score:.4f}, library {library:.4f}")

# %% [markdown]
# ## What the score is, and what it is not
#
# **A score of 1 does not mean that the map is affine, and a low one does not mean that it is not.** With the empirical
# covariance the score is 1 exactly when the cloud $Y$ is an affine image of the cloud $X$ by a positive semi-definite matrix.
#
# * **A rotation, a sign or a general matrix scores low**, the lower the more channels: an optimal plan does not turn a cloud
#   round. That suits activations, which act on each coordinate, except where one falls, as $-x$ does
#   ({doc}`02_activation_functions`).
# * **The score compares distributions, not pairs.** A shuffled copy scores 1, though nothing predicts $y_i$ from $x_i$.
# * **It depends on the numbers of samples and of channels.** In the plane 512 samples nearly show that normal $-x$ are distributed as
#   $x$, in 300 dimensions they do not ({prf:ref}`proof <prop-range>`). With infinitely many $-x$ scores 1, and so does an independent copy:
#   compare scores at the same $n$ ({doc}`03_estimating_it_well`).
# * **The default covariance is shrunk, so even an affine map scores below 1** (last row). Where channels outnumber samples, the
#   empirical covariance has no inverse. *Shrinkage* {cite}`ledoit2004well` mixes it with a multiple of the identity. Low scores
#   rise by it, and so do mean scores of real networks ({doc}`10_every_choice_at_once`).
#
# Scores of linear maps and of a shuffle, by the number of channels:

# %%
table = {}
for d in (2, 16, 64, 300):
    x, w = rng.standard_normal((n, d)), rng.standard_normal((d, d))
    turn, stretch = np.linalg.qr(w)[0], w @ w.T / d + 0.1 * np.eye(d)
    pairs = {"positive definite": (x, x @ stretch), "rotation": (x, x @ turn)}
    pairs["random linear layer"] = (x, x @ w)
    pairs |= {"-x": (x, -x), "shuffled x": (x, rng.permutation(x))}
    of = {k: affinity_score(*v, "empirical").value for k, v in pairs.items()}
    of["positive definite, default"] = affinity_score(x, x @ stretch).value
    table[d] = of
table = pd.DataFrame(table).rename_axis(columns="channels")
table.round(2)

# %% tags=["remove-cell"]
say(table)

# %% [markdown]
# ## A closed form
#
# Two situations have the same simple formula,
#
# $$
# \rho = 1 - \sqrt{1 - \operatorname{corr}(x, \sigma(x))} .
# $$ (eq-1-closed)
#
# * **On a line**, if $\sigma$ is increasing. Then $T$ is, too, and $T(x_i)$ goes to $\sigma(x_i)$ in the optimal plan. For two
#   variables with the same mean and variance, the mean squared distance in units of the variance is $2\,(1 -
#   \operatorname{corr})$; divide by 2 and take the root.
# * **With $n$ fixed, very many independent coordinates and shrinkage** (without it $T$ would learn the points by heart), for any $\sigma$ with $\operatorname{corr} \ge 0$. There all points of a cloud
#   are nearly equally far apart, and $\sigma(x_i)$ is no closer to any other $T(x_j)$ than to $T(x_i)$. So pairing
#   them is the best plan, and the same calculation applies.
#
# **The formula predicts the scores of ReLU, Tanh and SiLU.** Remember ReLU's 0.62 on normal inputs (the
# evenly spaced ones of {numref}`fig-1-ranges` give more): in a wide random network inputs look normal. The square has no correlation with its input. On a line it still scores above one half, as an affine image
# of the inputs can be distributed a little like the squares. With more coordinates its score goes to 0.

# %%
functions = {"ReLU": torch.relu, "Tanh": torch.tanh}
functions |= {"SiLU": torch.nn.functional.silu, "x²": torch.square}
line = torch.special.ndtri((torch.arange(n).double() + 0.5) / n)[:, None]
cloud = torch.from_numpy(rng.standard_normal((n, width)))
rows = {}
for name, function in functions.items():
    corr = np.corrcoef(cloud.ravel(), function(cloud).ravel())[0, 1]
    measured = [affinity_score(x, function(x)).value for x in (line, cloud)]
    rows[name] = [corr, 1 - np.sqrt(1 - max(corr, 0)), *measured]
columns = ["corr", "predicted", "1 coordinate", f"{width} coordinates"]
pd.DataFrame(rows, index=columns).T.round(3)

# %% [markdown]
# ## Exercises
#
# Remove the `#` before a check: it tells you whether you are right.
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
# standard normal coordinates. Predict its score to two decimals before you measure it.
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
x = cloud.numpy()
measured = affinity_score(x, np.maximum(x, a * x))
print(f"predicted {predicted:.3f}")
print(f"measured  {measured.value:.3f}")

companion.exercises.check("1.2", predicted)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 1.3 May it be left out?
# :label: ex-1-3
# :nonumber:
#
# *Argue · 15 minutes · medium.* Aim: say what a high score does and does not allow.
#
# A ReLU in the middle of a trained network scores 0.97 (512 images, 64 channels, default covariance). A colleague concludes:
# "So we can replace it by an affine map, and the predictions of the network stay as they are." Give three reasons why
# that does not follow, and the measurement that would answer the question.
# ```
#
# ```{admonition} Hint for 1.3
# :class: dropdown hint
# Which of the three do predictions need: the distribution of the outputs, the outputs image by image, or the
# outputs position by position? And what do the layers behind do with a small difference?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-1-3
# :class: dropdown
# ```
#
# *The pairs.* A high score says that an affine map has the same effect on the cloud. Predictions need it image by image;
# `pairing_optimal` and the $R^2$ of a regression tell whether that holds. *The vectors.* By default the score is of averages
# over the positions of a feature map. The kink acts at each position, and averages can hide it. *What matters.* The few
# images or directions on which the ReLU acts may carry the class, and the layers behind may enlarge small differences.
#
# The measurement: fit the map, run the network with it, and count how many predictions change on new images, as in
# {doc}`16_nonlinear_advantage`.
#
# **Rubric** (5 points)
#
# * 1 each, up to 3: distribution against pairs; reduction over positions; weight by variance and the layers behind; the
#   error of the estimate
# * 2: an intervention whose outcome is the change of the predictions, on images that were not used for the fit

# %% [markdown]
# ```{solution-end}
# ```
