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
# # Residual connections
#
# A residual block adds its input to what its layers computed. The paper compares a ResNet-20 with and without these
# connections (paper Fig. 5 D) and sees that they make the distribution of the scores **bimodal**, with one mode at highly
# linear activations. Nineteen pairs of networks, on photographs and on digits, show something simpler and more robust: the
# activations after a sum are more linear than those inside a block, nearly all of them. Whether that makes two *modes*
# is a weaker question, and depends on how one measures.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
residual: list[str] = []  # with shortcuts, MODEL@WEIGHTS; none: the study's
plain: list[str] = []  # without, in this order; two activations a block
dataset: str = "digits"  # for networks of your own: digits, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
resamples: int = 99  # of Silverman's test; 19 at least, to reject at 5 %
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

import companion
from affscore import AffscoreError
from affscore.options import Specification
from affscore.survey import load_or_measure, stored_multiverses
from companion.chapter_05 import (
    FIRST,
    SECOND,
    groups_of_scores,
    score_histograms,
)
from companion.shipped import MULTIVERSES
from companion.studies import load_study, study_of, under
from companion.style import table

if len(residual) != len(plain):
    raise AffscoreError(
        f"each network needs its twin: got {len(residual)} residual "
        f"and {len(plain)} plain networks"
    )
if residual:
    options = {
        "n": n,
        "images": images or None,
        "jobs": jobs,
        "device": device,
        "seed": seed,
        "progress": False,
        "multiverse": ("mean", "sample"),
    }
    measured = load_or_measure([*residual, *plain], dataset, store, **options)
    parts = [  # two files may have one name
        study_of([one]).assign(weights=name) for name, one in measured.items()
    ]
    study = pd.concat(parts).assign(on=dataset)
else:
    on_cifar = [
        one
        for one in stored_multiverses(MULTIVERSES)
        if one.metadata["model"].startswith("cifar_networks.py")
    ]
    study = pd.concat(
        [
            study_of(on_cifar).assign(on="CIFAR-10"),
            load_study("shortcuts").assign(on="digits"),
        ]
    )
groups = groups_of_scores(study, resamples).merge(
    study[["weights", "on", "accuracy"]].drop_duplicates(), on="weights"
)
groups["depth"] = groups["activations"] + 1  # layers with weights
kinds = {False: "plain", True: "residual"}
groups["network"] = groups["shortcuts"].map(kinds)
# the papers' own choice of reduction, order, covariance and coupling
mine = under(groups)

# %% [markdown]
# ## Two groups
#
# The scores of networks that differ in nothing but their shortcuts. (By default these are He et al.'s
# {cite}`he2016deep`, trained on CIFAR-10 and measured on its test images.)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-twins", "caption": "Scores of networks without (left) and with shortcuts (right). Only with them do the two activations of a block part: after the sum the scores are higher, and the deeper the network, the clearer (paper Fig. 5 D; `companion.chapter_05.score_histograms`)."}, "image": {"alt": "Four histograms of affinity scores, a row for each pair of networks. Left, without shortcuts, the bars of both activations of a block overlap. Right, with shortcuts, those after a sum lie near one and those inside a block far below."}}
default = under(study)


def kinds_of(weights):
    scores = default[default["weights"] == weights]
    last = (
        "after a sum"
        if (scores["kind"] == "after-sum").any()
        else "second of a block"
    )
    parts = {"first of a block": FIRST, last: SECOND}
    return {
        name: scores.loc[scores["kind"].isin(some), "score"].dropna()
        for name, some in parts.items()
    }


on = mine["on"].iloc[0]
depths = sorted(mine.loc[mine["on"] == on, "depth"].unique())
panels = {}
for depth in dict.fromkeys([depths[0], depths[-1]]):
    pair = mine[(mine["on"] == on) & (mine["depth"] == depth)]
    pair = pair.drop_duplicates("network").sort_values("network")
    panels |= {
        f"{one.network}, {depth} layers, {on}": kinds_of(one.weights)
        for one in pair.itertuples()
    }
score_histograms(panels)
plt.show()

# %% tags=["remove-input"]
with_it, without = (
    mine[mine["network"] == name] for name in ("residual", "plain")
)
every = groups.groupby("network")["separation"].agg(["mean", "min", "max"])
choices = len(groups.groupby(list(Specification._fields)))
Markdown(
    f"**Over {len(with_it)} residual networks a score after a sum exceeds "
    f"one inside a block in {100 * with_it['separation'].mean():.0f} % of all "
    f"pairs**, and in at least {100 * with_it['separation'].min():.0f} % in every "
    f"network. In {len(without)} networks without shortcuts the second "
    "activation of a block exceeds the first in "
    f"{100 * without['separation'].mean():.0f} %, where 50 % is chance. The choice "
    f"of reduction, order, covariance and coupling hardly matters: under all "
    f"{choices} the share is {100 * every.loc['residual', 'min']:.0f} % or more with "
    f"shortcuts, and {100 * every.loc['plain', 'min']:.0f} % to "
    f"{100 * every.loc['plain', 'max']:.0f} % without."
)

# %% [markdown]
# Why? The input of a block came out of a ReLU, so it is positive or zero. The sum of it and a small change is mostly
# positive where the input was, and there the next ReLU has nothing to do: its score is near 1. Exercise 5.1 shows that
# the change need not be small, and exercise 5.3 makes it a bound.
#
# ## The pairs
#
# A plain network is its residual twin without the additions: the same layers, the same number of weights, the same
# initial values, the same training. Shortcuts here have no weights; where a block has more channels than its input,
# zeros stand for the others (`examples/matched_networks.py`, `examples/cifar_networks.py`). On CIFAR-10 they were trained
# once, on digits from three seeds each: 14, 20 and 32 layers in three stages, 18 and 34 in four. The accuracy and the
# separation, the share above, in per cent:

# %% tags=["hide-input"]
shown = {"accuracy": "accuracy", "separation": "separation"}
by_depth = mine.pivot_table(
    index=["on", "depth"], columns="network", values=list(shown)
)
by_depth.columns = [f"{what}, {kind} (%)" for what, kind in by_depth.columns]
order = [f"{what}, {kind} (%)" for what in shown for kind in kinds.values()]
order = {name: name for name in order if name in by_depth}
table(by_depth.rename_axis(["images", "layers"]), order, digits=1)

# %% [markdown]
# Deep networks without shortcuts are trained less well, and a failed training is no twin.
#
# ## Are there two modes?
#
# *Bimodal* is a claim about a density, and tests of it know the scores alone, not which activation has which.
#
# * **One mode?** Silverman's test {cite}`silverman1981using` smooths the scores until their density has one mode, and
#   asks how often a sample from that density would need as much smoothing. It is conservative.
# * **One Gaussian, or two?** The likelihood ratio of two Gaussians against one, compared with that of samples from one
#   Gaussian {cite}`mclachlan1987bootstrapping`. It sees two groups that are too near each other for two modes, and it also
#   rejects a single group that is skewed.
#
# The share of networks for which each test rejects at 5 %, under every specification of the multiverse
# ({doc}`10_every_choice_at_once`):

# %% tags=["hide-input"]
TESTS = ["one mode", "one Gaussian"]
words = [word for word in Specification._fields if len(set(groups[word])) > 1]
rejected = groups.assign(**{test: groups[test] < 0.05 for test in TESTS})
shares = rejected.pivot_table(
    index=words, columns="network", values=TESTS, sort=False
)
shares.columns = [f"{test}, {kind} (%)" for test, kind in shares.columns]
order = [f"{test}, {kind} (%)" for test in TESTS for kind in kinds.values()]
table(shares, {name: name for name in order if name in shares}, digits=0)

# %% tags=["remove-input"]
ours = rejected[rejected["network"] == "residual"]
by_order = ours[ours["reduction"] == "mean"].groupby("order")["one mode"]
by_order = by_order.mean()
counts = under(rejected).groupby("network")[TESTS].sum()
Markdown(
    f"Under the papers' own choice one mode is rejected for "
    f"{counts.loc['residual', 'one mode']} of {len(with_it)} residual "
    f"networks and {counts.loc['plain', 'one mode']} of {len(without)} plain "
    f"ones, one Gaussian for {counts.loc['residual', 'one Gaussian']} and "
    f"{counts.loc['plain', 'one Gaussian']}. With few layers both tests are "
    "weak: 13 scores in two groups look like one wide group. "
    "It also depends on the order: Silverman's test sees two modes in "
    f"{100 * by_order.get('reduce-first', np.nan):.0f} % of the residual "
    "networks where averages come before the activation, as definition 3.1 "
    f"has it, and in {100 * by_order.get('activate-first', np.nan):.0f} % in the "
    "order of the published code, which made figure 5."
)

# %% [markdown]
# So the separation is the finding, and *bimodal* the weaker way to say it: whether a density has two modes depends on
# how wide both groups are, and on the number of scores; that the groups are apart does not.
# On CIFAR-10 they are apart before any training ({doc}`11_what_training_does`). The paper's statements have their tests and verdicts in {doc}`18_what_is_reproduced`.
#
# ## What we found

# %% tags=["remove-input", "findings"]
Markdown(
    "* **Shortcuts split the activations in two**: a ReLU after a shortcut's "
    "sum scores higher than one inside a block in "
    f"{100 * with_it['separation'].mean():.0f} % of all pairs, over "
    f"{len(with_it)} residual networks. In their twins without shortcuts the "
    "ReLU in the same place does so in "
    f"{100 * without['separation'].mean():.0f} %.\n"
    f"* That holds under all {choices} specifications: the share is "
    f"at least {100 * every.loc['residual', 'min']:.0f} % with shortcuts and at most "
    f"{100 * every.loc['plain', 'max']:.0f} % without.\n"
    "* *Bimodal* is another matter. One mode is rejected for "
    f"{100 * counts.loc['residual', 'one mode'] / len(with_it):.0f} % of the "
    "residual networks under the papers' choice, and for "
    f"{100 * by_order.get('reduce-first', np.nan):.0f} % where averages come before "
    "the activation."
)

# %% [markdown]
# ## Takeaways
#
# * To see what a component does, compare networks that differ in nothing else, and say where one of the twins failed.
# * Look at what is known of the activations before looking for groups: the separation needs no test of modes.
# * A low score in a residual network is expected inside a block. After a sum it is worth a look.
#
# ## Exercises
#
# ```{exercise} 5.1 A large change
# :label: ex-5-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see that the change of a block need not be small.
#
# One coordinate of a block: its input $x$ came out of a ReLU, so that it is never negative and a fifth of it at least is 0.
# Make up a change $f$ that is negative for at least a fifth of the samples, and varies at least half as much as $x$, such
# that a ReLU of $x + f$ scores at least 0.98. Hand in `(x, f)`, two arrays of 64 to 2000 numbers.
# ```
#
# ```{admonition} Hint for 5.1
# :class: dropdown hint
#
# How far may $f$ fall where $x$ is large, and what must it do where $x$ is 0?
# ```

# %%
answer = None  # your answer here: two arrays (x, f)
# companion.exercises.check("5.1", answer)

# %% [markdown]
# ```{solution-start} ex-5-1
# :class: dropdown
# ```
#
# A change may fall as far as the input is high: the sum stays positive, and the ReLU leaves it alone.

# %%
x = np.maximum(np.random.default_rng(0).standard_normal(500), 0)
companion.exercises.check("5.1", (x, np.where(x > 0.5, -0.9 * x, 1.0)))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 5.2 Two groups, one mode
# :label: ex-5-2
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: groups that are apart without two modes.
#
# Make up scores of two groups, 10 to 200 in each and as many in one as in the other, such that a score of the second
# exceeds one of the first in at least 95 % of all cases, and Silverman's test does not reject one mode ($p > 0.2$). Hand in
# `(first, second)`.
# ```
#
# ```{admonition} Hint for 5.2
# :class: dropdown hint
#
# Begin with one group that has one mode.
# ```

# %%
answer = None  # your answer here: two arrays (first, second)
# companion.exercises.check("5.2", answer)

# %% [markdown]
# ```{solution-start} ex-5-2
# :class: dropdown
# ```
#
# Cut one group in the middle.

# %%
scores = np.linspace(0.2, 0.9, 40)
companion.exercises.check("5.2", (scores[:20], scores[20:]))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 5.3 What the sum leaves to do
# :label: ex-5-3
# :nonumber:
#
# *Prove · 25 minutes · medium.* Aim: turn "the sum is mostly positive" into a bound.
#
# One coordinate: $s = x + f$ with $x \ge 0$, $y = \max(s, 0)$, and $u_- = \max(-u, 0)$. Standard deviations are $\tau_s$
# and $\tau_y$, both positive. With infinitely many samples the score of a non-decreasing function is $1 - \sqrt{1 - r}$,
# where $r$ is the correlation of input and output (exercise 11.2). Show that
#
# $$
# \rho \;\ge\; 1 - \sqrt{\frac{\mathbb E s_-^2}{2\, \tau_s \tau_y}}, \qquad s_- \le f_- .
# $$
#
# When is $\rho = 1$? Which part of a change $f$ does not lower the score at all? Compute the bound for a standard normal $s$
# and compare it with the score, 0.62.
# ```
#
# ```{admonition} Hint for 5.3
# :class: dropdown hint
#
# Expand the variance of $y - s$, and use $\tau_s^2 + \tau_y^2 \ge 2 \tau_s \tau_y$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-5-3
# :class: dropdown
# ```
#
# $y - s = s_-$. So
#
# $$
# \mathbb E s_-^2 \ge \operatorname{Var}(y - s) = \tau_y^2 + \tau_s^2 - 2 r \tau_s \tau_y \ge 2 \tau_s \tau_y (1 - r) ,
# $$
#
# hence $1 - r \le \mathbb E s_-^2 / (2 \tau_s \tau_y)$, and the bound follows from $\rho = 1 - \sqrt{1 - r}$. Since $x \ge
# 0$, $-s = -x - f \le -f$, so $s_- \le f_-$.
#
# $\rho = 1$ if and only if $r = 1$, that is if $y$ is an increasing affine function of $s$ almost surely. If $s_- = 0$ that
# holds. If $s$ is negative with positive probability, $y$ is 0 there, so the affine function, which has a positive slope,
# takes the value 0 at one point alone: then $s$ has one single negative value, and $y$ can still be affine (two values in
# all). Otherwise $\rho < 1$.
#
# Wherever $f \ge -x$ the change costs nothing, however large it is: only the part of a negative change that exceeds the
# input counts.
#
# For a standard normal $s$: $\mathbb E s_-^2 = \frac12$, $\tau_s = 1$, $\tau_y = \sqrt{\frac12 - \frac1{2 \pi}} = 0.584$. The
# bound is $1 - \sqrt{0.5 / 1.168} = 0.35$, well below 0.62: without a positive $x$ it is not sharp, as the mean of $s_-$,
# which costs nothing, is left in.
#
# **Rubric** (6 points)
#
# * 3: the bound, with both inequalities.
# * 1: $s_- \le f_-$, and which part of the change is free.
# * 1: when the score is 1, with $s \ge 0$ at least.
# * 1: 0.35, and why it is not sharp.

# %% [markdown]
# ```{solution-end}
# ```
