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
# # What training does
#
# The paper measures a VGG-16 before and after training (paper Fig. 9), and says: at initialisation "the signature is
# increasing, reaching almost a perfectly linear pattern in the last layers"; training makes the network more
# non-linear. On eight networks on photographs we see both, the first only while batch norms are off, and where the second
# happens: inside the blocks. Small networks from nine seeds show the way there, and you can watch a training of your own at
# next to no cost.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
before: list[str] = []  # untrained, MODEL@WEIGHTS; none: nine of the study
after: list[str] = []  # the same trained, in this order; one architecture
dataset: str = "digits"  # for networks of your own: digits, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
steps: int = 60  # of the training in this chapter
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images, and of the training in this chapter

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown
from torch.nn.functional import cross_entropy

import affscore
import companion
from affscore import AffscoreError
from affscore.options import Specification
from affscore.plots import scores_over_steps
from affscore.survey import load_or_measure, stored_multiverses
from companion.figures import bundles_of_signatures
from companion.shipped import MULTIVERSES, shipped_signature
from companion.studies import load_study, study_of, under
from companion.style import table

# %% [markdown]
# ## Eight networks on photographs
#
# Networks of 20 to 56 layers, with and without residual connections {cite}`he2016deep`, before and after training on
# CIFAR-10, measured on its test images in batches of 512. There are two ways to be untrained. While a network trains, its
# batch norms centre and scale every channel. In evaluation mode those of a network fresh from its factory do nothing: they
# subtract 0 and divide by 1. So the untrained networks are measured twice, with the statistics of the images in their
# norms, and with the norms off.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-before-after-cifar", "caption": "Signatures of two networks of 20 layers. Untrained and without norms they rise to nearly 1 within a few layers, as in paper Fig. 9; with norms they stay lower, and with shortcuts every second score is high already. Training lowers the scores, most of all inside the residual blocks (`companion.figures.bundles_of_signatures`)."}, "image": {"alt": "Two panels of affinity scores over the depth, without and with shortcuts, three lines each. Untrained with norms off the lines rise from 0.7 to above 0.9. Untrained with norms they lie near 0.8 in the plain network and jump between 0.8 and 0.95 in the residual one. Trained, the plain network lies between 0.55 and 0.9, and the residual one jumps between 0.5 and 0.95."}}
OFF, ON, TRAINED = "untrained, norms off", "untrained", "trained"
study = load_study("untrained-cifar")
built = study["weights"] == "as built"
after_training = study_of(
    one
    for one in stored_multiverses(MULTIVERSES)
    if one.metadata["model"].startswith("cifar_networks.py")
)
stages = pd.concat(
    [
        study[built].assign(group=OFF),
        study[~built].assign(group=ON),
        after_training.assign(group=TRAINED),
    ]
)
names = stages["model"].str.extract(r"(plain|res)net(\d+)")
stages["shortcuts"] = names[0].map({"plain": "plain", "res": "residual"})
stages["network"] = stages["shortcuts"] + ", " + names[1] + " layers"
photographs = under(stages)
shown = photographs["network"].isin(
    ["plain, 20 layers", "residual, 20 layers"]
)
bundles_of_signatures(
    photographs[shown].assign(line=0).sort_values("shortcuts", kind="stable"),
    panels="network",
    columns=2,
)
plt.show()

# %% tags=["remove-input"]
by_network = photographs.groupby(["group", "network"])
real = pd.DataFrame(
    {
        "mean": by_network["score"].mean(),
        "rise": by_network.apply(
            lambda rows: np.corrcoef(rows["index"], rows["score"])[0, 1]
        ),
        "last": by_network["score"].apply(lambda rows: rows.iloc[-3:].mean()),
    }
)
off, untrained_real, trained_real = (
    real.loc[group] for group in (OFF, ON, TRAINED)
)
falls_real = (trained_real["mean"] < untrained_real["mean"]).sum()
choice = list(Specification._fields)
keys = [*choice, "shortcuts", "network", "group"]
by_choice = stages.groupby(keys)["score"].mean()
fell = by_choice.xs(TRAINED, level="group") < by_choice.xs(ON, level="group")
agree = fell.groupby([*choice, "shortcuts"]).all().groupby("shortcuts").sum()
choices = len(fell.groupby(choice))
Markdown(
    f"**Training lowers the mean score in {falls_real} of "
    f"{len(trained_real)} networks**, from "
    f"{untrained_real['mean'].mean():.2f} to "
    f"{trained_real['mean'].mean():.2f} on average. With shortcuts that "
    f"holds under {agree['residual']} of {choices} choices of reduction, "
    f"order, covariance and coupling, without them under {agree['plain']}: "
    "where averages do not come after the activation, training makes plain "
    "networks more linear. Before it the scores rise with depth, with norms in "
    f"{(untrained_real['rise'] > 0).sum()} networks and without in "
    f"{(off['rise'] > 0).sum()}. **Nearly linear they are without norms "
    f"alone**: the last three activations score {off['last'].min():.2f} to "
    f"{off['last'].max():.2f}, with norms {untrained_real['last'].min():.2f} "
    f"to {untrained_real['last'].max():.2f}. The paper's VGG-16 has no norms."
)

# %% [markdown]
# Which activations? Means by their place, over the networks of a kind:

# %% tags=["hide-input"]
titles = {
    "first": "first of a block",
    "second": "second of a block",
    "after-sum": "after a sum",
    "hidden": "stem",
}
by_place = photographs.assign(place=photographs["kind"].map(titles))
by_place = by_place.pivot_table(
    index=["shortcuts", "place"], columns="group", values="score"
)
table(
    by_place.rename_axis([None, None]),
    {name: name for name in (OFF, ON, TRAINED)},
)

# %% tags=["remove-input"]
inside, sums = (
    by_place.loc[("residual", name)]
    for name in ("first of a block", "after a sum")
)
Markdown(
    "In a residual network training bends the inside of the blocks (by "
    f"{inside[ON] - inside[TRAINED]:.2f}) and hardly touches what follows a "
    f"sum (by {sums[ON] - sums[TRAINED]:.2f})."
)

# %% [markdown]
# ```{admonition} One draw
# :class: caution
#
# The untrained networks are one draw each of He's initial weights, measured on one batch of 512 images.
# ```
#
# ## Nine small VGG-16s
#
# One training is an anecdote. Nine trainings of a small VGG-16 on 8 x 8 digits show what a seed does (or the networks of
# this notebook's parameters):

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-before-after", "caption": "Signatures of one architecture before and after training, from several seeds: thin lines the seeds, thick lines their means. By default small VGG-16s on digits: training lowers the scores of the middle most, and before it they do not rise with depth (paper Fig. 9; `companion.figures.bundles_of_signatures`)."}, "image": {"alt": "Affinity score over the depth of the activations in two bundles of thin lines, before and after training, with a thick line for the mean of each bundle."}}
if len(before) != len(after):
    raise AffscoreError(
        f"each network needs both: got {len(before)} untrained "
        f"and {len(after)} trained networks"
    )
if before:
    options = {
        "n": n,
        "images": images or None,
        "jobs": jobs,
        "device": device,
        "seed": seed,
        "progress": False,
    }
    found = load_or_measure([*before, *after], dataset, store, **options)
    both = [
        study_of([found[name]]).assign(seed=place)
        for names in (before, after)
        for place, name in enumerate(names)
    ]
    if len({tuple(one["layer"]) for one in both}) > 1:
        raise AffscoreError(
            "expected networks of one architecture, "
            f"got {', '.join([*before, *after])}"
        )
    untrained, trained = (
        pd.concat(some) for some in (both[: len(before)], both[len(before) :])
    )
else:
    untrained, trained = map(under, map(load_study, ("untrained", "seeds")))
bundles_of_signatures(
    pd.concat(
        [
            untrained.assign(group="before training"),
            trained.assign(group="after training"),
        ]
    ).rename(columns={"seed": "line"})
)
plt.show()

# %% tags=["remove-input"]
first, last = (
    one.pivot_table(index="seed", columns="index", values="score")
    for one in (untrained, trained)
)
change = last - first
rises = first.corrwith(
    pd.Series(range(first.shape[1]), first.columns), axis=1
)
falls = (change.mean(axis=1) < 0).sum()
most = change.mean().idxmin()
full_size = {
    name: shipped_signature(f"{name}@random").scores
    for name in ("vgg11", "vgg13")
}
Markdown(
    f"{len(first)} {'network' if len(first) == 1 else 'networks'} of "
    f"{first.shape[1]} activations on {trained['dataset'].iloc[0]}: training "
    f"lowers the mean score in {falls}, from {first.mean(axis=None):.2f} to "
    f"{last.mean(axis=None):.2f} on average, and most at activation "
    f"{most + 1} ({change.mean()[most]:+.2f}). The scores before training "
    f"rise with depth in {(rises > 0).sum()} of {len(rises)} (correlation "
    f"{rises.min():.2f} to {rises.max():.2f}), and the last three activations "
    f"score {first.iloc[:, -3:].mean(axis=None):.2f}. VGGs of full size with "
    "torchvision's initial weights, on images of noise, do not become nearly "
    "linear either: their last three activations score "
    + " and ".join(
        f"{scores[-3:].mean():.2f} ({name})"
        for name, scores in full_size.items()
    )
    + "."
)

# %% [markdown]
# ## On the way
#
# The small trainings, measured every epoch (19 steps) on 512 held-out digits. While a network trains the score is that of
# the **pairing** (each input with its own output), a lower bound of the exact one that needs no assignment
# problem.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-course", "caption": "The first of nine trainings of a small VGG-16 on digits, from random weights to the end: the scores rise at first, while the accuracy does, and fall afterwards (`affscore.plots.scores_over_steps`)."}, "image": {"alt": "Upper panel: affinity scores of fifteen activations over optimisation steps, coloured by depth, with a dashed line for their mean. Lower panel: the accuracy on held-out digits, which rises from one tenth to nearly one."}}
course = load_study("seeds-course")
scores_over_steps(course[course["seed"] == 1], "small VGG-16, seed 1")
plt.show()

# %% tags=["remove-input"]
accuracy = course.groupby("step")["accuracy"].mean()
level = course.groupby("step")["score"].mean()
halfway = accuracy.index[accuracy >= accuracy.max() / 2][0]
Markdown(
    f"Over the nine trainings half of the accuracy comes in the first {halfway} "
    f"of {accuracy.index[-1]} steps. The mean score takes a detour: from "
    f"{level.iloc[0]:.2f} up to {level.max():.2f} at step {level.idxmax()}, "
    f"then down to {level.iloc[-1]:.2f}. **The network bends after it has "
    "learned most of what it will.**"
)

# %% [markdown]
# ## Your own training
#
# `affscore.track` measures a network while it trains. One line makes the tracker, one line a step feeds it:

# %%
torch.manual_seed(seed)
images_, labels = affscore.models.digits("train")
network = affscore.load_model("mini:digitsnet@random", seed)
to_network = affscore.models.card_of(network).preprocessing
pictures = torch.stack([to_network(image) for image in images_[:480]])
optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3)

with affscore.track(network, "digits", every=20, n=256) as tracker:
    for _ in range(steps):
        chosen = torch.randint(len(pictures), (64,))
        optimiser.zero_grad()
        cross_entropy(
            network.train()(pictures[chosen]), labels[chosen]
        ).backward()
        optimiser.step()
        tracker.step()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-own", "caption": "The mean score falls from the first measurement on, before the accuracy has risen much: what the tracker has recorded of that training (`tracker.plot()`)."}, "image": {"alt": "Affinity scores of nine activations over some tens of optimisation steps, coloured by depth, with their mean and the accuracy below."}}
tracker.plot()
plt.show()

# %% [markdown]
# `tracker.table` has a row for each measured step and activation; `tracker.save("training.parquet")` writes it, and
# `affscore.load_record` reads it. The training is not changed: with and without a tracker the weights are the same to the
# last bit. One that is interrupted resumes with its record: put `tracker.state_dict()` into the checkpoint. For Lightning
# and Hugging Face's Trainer there are callbacks: {doc}`../book/how_to_run_with_your_model`.
#
# The paper's statements have their tests and verdicts in {doc}`18_what_is_reproduced`.
#
# ## What we found

# %% tags=["remove-input", "findings"]
Markdown(
    "* Training bends the inside of residual blocks: on CIFAR-10 their "
    f"scores go from {inside[ON]:.2f} to {inside[TRAINED]:.2f}, and after "
    f"the sums from {sums[ON]:.2f} to {sums[TRAINED]:.2f}. The mean score of "
    f"all residual networks falls under {agree['residual']} of {choices} "
    f"specifications, that of all plain ones under "
    f"{agree['plain']}.\n"
    "* Untrained networks for CIFAR-10 become almost linear with depth, as "
    "the paper says of a VGG-16, where their batch norms are off: the last "
    f"three activations score {off['last'].mean():.2f} on average. With "
    f"norms it is {untrained_real['last'].mean():.2f}; small VGGs without "
    "norms do not.\n"
    f"* The bending comes late. In nine small trainings half of the accuracy "
    f"is there after {halfway} of {accuracy.index[-1]} steps, "
    f"while the mean score rises from {level.iloc[0]:.2f} to "
    f"{level.max():.2f}; it ends at {level.iloc[-1]:.2f}."
)

# %% [markdown]
# ## Takeaways
#
# * The untrained signature is the baseline: say what training changed, not only what is there at the end.
# * Say what the batch norms of an untrained network did: without their statistics it looks more linear than it is while
#   it trains.
# * Tracking is cheap. A curve of scores beside the loss shows when layers stop changing, and when one goes dead.
#
# ## Exercises
#
# ```{exercise} 11.1 A bias that linearises
# :label: ex-11-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see how a mean away from the bend makes a ReLU linear.
#
# Before training, the inputs of a ReLU are nearly normal. Let one be standard normal plus a bias $b \ge 0$. At which bias
# does the score of the ReLU (one coordinate, empirical covariance) reach 0.95? Hand in the number, to within 0.05.
# ```
#
# ```{admonition} Hint for 11.1
# :class: dropdown hint
#
# Take quantiles of the normal distribution instead of random numbers, and try biases on a grid.
# ```

# %%
answer = None  # your answer here: a number
# companion.exercises.check("11.1", answer)

# %% [markdown]
# ```{solution-start} ex-11-1
# :class: dropdown
# ```
#
# Try biases on a grid of quantiles of the normal distribution.

# %%
from scipy.stats import norm

x = norm.ppf((np.arange(200) + 0.5) / 200)[:, None]
biases = np.arange(0, 3, 0.05)
enough = [
    affscore.affinity_score(x + b, np.maximum(x + b, 0), "empirical").value
    >= 0.95
    for b in biases
]
companion.exercises.check("11.1", biases[np.argmax(enough)])

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 11.2 Towards the bend, and past it
# :label: ex-11-2
# :nonumber:
#
# *Prove · 30 minutes · hard.* Aim: derive the score of a ReLU on one normal coordinate.
#
# Let $d = 1$, with infinitely many samples, and let $\sigma$ be non-decreasing. Show that the score is $1 - \sqrt{1 - r}$,
# where $r$ is Pearson's correlation of $x$ and $\sigma(x)$. Then let $x$ be normal with mean $b$ and variance 1, and
# $\sigma$ the ReLU. Show that $\operatorname{Cov}(x, \sigma(x)) = \Phi(b)$, compute the score at $b = 0$, and find its
# limits for $b \to \infty$ and $b \to -\infty$. Why are they not the same, although a ReLU that is always off is constant?
# ```
#
# ```{admonition} Hint for 11.2
# :class: dropdown hint
#
# In one dimension the optimal coupling keeps the order. For the covariance use Stein's identity
# $\operatorname{Cov}(x, f(x)) = \mathbb E f'(x)$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-11-2
# :class: dropdown
# ```
#
# In one dimension $T(x) = \frac{s_y}{s_x} (x - m_x) + m_y$ is increasing, and so is $y = \sigma(x)$ in $x$; the optimal
# coupling on the line keeps the order, so it is $x \mapsto \sigma(x)$. Both $T x$ and $y$ have mean $m_y$ and variance
# $s_y^2$, hence $W_2^2 = \mathbb E (T x - y)^2 = 2 s_y^2 - 2 \frac{s_y}{s_x} \operatorname{Cov}(x, y) = 2 s_y^2 (1 - r)$.
# Divided by the square of the bound, $2 s_y^2$, that is $1 - r$, and the score is $1 - \sqrt{1 - r}$.
#
# Stein: $\operatorname{Cov}(x, \sigma(x)) = \mathbb P(x > 0) = \Phi(b)$. At $b = 0$ it is $\frac12$, and the variance of the
# output is $\frac12 - \frac1{2\pi}$, so $r = 0.856$ and the score is 0.621.
#
# For $b \to \infty$ the input is positive with probability near 1 and $\sigma(x) - x$ tends to 0 in mean square, so
# $r \to 1$ and the score tends to 1. For $b \to -\infty$, with $t = |b|$ and the normal density $\varphi$, $\Phi(-t) \sim
# \varphi(t) / t$, and $\mathbb E \sigma(x)^2 = \int_0^\infty u^2 \varphi(u + t)\, du \sim 2 \varphi(t) / t^3$, which is
# also the variance, as the square of the mean is of the order $\varphi(t)^2$. So $r^2 \sim (\varphi^2 / t^2) / (2 \varphi /
# t^3) = t\, \varphi(t) / 2 \to 0$: the score tends to 0.
#
# The score is relative to the variance of the output. What is left of it comes from a few inputs that pass the bend, and
# no increasing affine map of a normal distribution looks like many equal values and a few large ones. Only where the
# output is exactly constant the score is 1, by definition: the limit is not continuous.
#
# **Rubric** (8 points)
#
# * 3: the formula, with the reason that the monotone coupling is optimal.
# * 1: the covariance.
# * 1: 0.621.
# * 1: the limit 1.
# * 1: the limit 0.
# * 1: the explanation, with the case of a constant.

# %% [markdown]
# ```{solution-end}
# ```
