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
# # Training for non-linearity
#
# The score has a gradient, so a network can be trained to be more or less linear. Appendix B of the paper leaves open whether
# that changes what a network can do. Here 90 small networks are pulled to a low score, to a high one, or to the signature of
# another network, and compared with the same networks trained freely: in accuracy, calibration, robustness to noise and
# transfer. Read {doc}`04_the_signature_of_a_network` first.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
model: str = "../examples/region_networks.py:vgg8"  # trained on this page
target: float = 0.6  # its mean score is pulled here
weight: float = 20.0  # of the penalty
epochs: int = 10  # of the training on this page
seed: int = 0  # of random weights and the order of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import Markdown

import affscore
import companion
from affscore.network import resampled
from affscore.options import Specification
from affscore.plots import raw_signature
from affscore.transport import differentiable_affinity
from companion.chapter_17 import (
    CELL,
    FREE,
    PULLED,
    by_cell,
    differences,
    outcomes,
    over_all,
)
from companion.figures import bundles_of_signatures, two_measures
from companion.shipped import shipped_signature
from companion.statistics import mean_of
from companion.studies import load_study, under
from companion.style import table

words = list(Specification._fields)

# %% [markdown]
# ## The gradient of a score
#
# `affscore.transport.differentiable_affinity` is the score as a function that PyTorch can differentiate: through both
# covariances, their shrinkage, and the matrix root ({ref}`the formula <gradient-of-the-score>`). Take one ReLU with a bias
# on normal inputs, and follow the gradient from a bias of zero. Up, it moves the kink out of the data; down, into the
# part where few inputs pass. The default `coupling="paired"` takes each output with its own input, which is exact here, as
# ReLU keeps the order; of several channels it is a lower bound, and {ref}`training wants the other one <which-score>`.


# %%
def follow(sign, steps=60, rate=0.1):
    """The score of one ReLU whose bias follows the gradient."""
    draw = torch.Generator().manual_seed(seed)
    inputs = torch.randn(512, 1, generator=draw, dtype=torch.float64)
    bias = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    scores = []
    for _ in range(steps):
        x = inputs + bias
        score = differentiable_affinity(x, x.relu())
        (gradient,) = torch.autograd.grad(score, bias)
        bias.data += sign * rate * gradient
        scores.append(score.item())
    return scores[0], scores[-1], bias.item()


begin, up, bias_up = follow(+1)
_, down, bias_down = follow(-1)
Markdown(
    f"The score begins at {begin:.2f}. After 60 steps upwards it is "
    f"{up:.2f} with a bias of {bias_up:.2f}, after 60 downwards {down:.2f} "
    f"with {bias_down:.2f}."
)

# %% [markdown]
# ## One training
#
# `affscore.AffinityPenalty` does this for all activations of a network: to the loss it adds
# $\omega\,(\text{mean score} - t)^2$. The network below learns the digits twice from the same weights, freely and pulled
# to a target. The coupling is the optimal one, held during a step (`coupling="fixed"`; {ref}`why <which-score>`).

# %%
prepare = affscore.models.card_of(affscore.load_model(model)).preprocessing
(images, labels), (test_images, test_labels) = (
    (torch.stack([prepare(image) for image in some]), names)
    for some, names in map(affscore.models.digits, ("train", "test"))
)


def train(network, penalty=None):
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
    order = torch.Generator().manual_seed(seed)
    network.train()
    for _ in range(epochs):
        for some in torch.randperm(len(images), generator=order).split(128):
            loss = F.cross_entropy(network(images[some]), labels[some])
            if penalty:
                loss = loss + penalty()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network.eval()


free = train(affscore.load_model(model, seed))
pulled = affscore.load_model(model, seed)
with affscore.AffinityPenalty(
    pulled, target, weight, coupling="fixed"
) as penalty:
    train(pulled, penalty)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-17-one-training", "caption": "The penalty moves the whole signature: the same network after the same training, without it and with it (`affscore.plots.raw_signature`)."}, "image": {"alt": "Two signatures of seven activations. Trained freely, scores lie between 0.7 and 0.95. Pulled down, most lie between 0.5 and 0.75."}}
data = (test_images, test_labels)
ends = [
    affscore.signature(one, data, criteria=False, progress=False)
    for one in (free, pulled)
]
named = [one.metadata["accuracy"] for one in ends]
raw_signature(
    ends,
    titles=[
        f"{how}: mean {one.scores.mean():.2f}, accuracy {100 * share:.1f} %"
        for how, one, share in zip(
            ("free", f"pulled to {target:g}"), ends, named, strict=True
        )
    ],
)
plt.show()

# %% [markdown]
# ## Ninety trainings
#
# Two piecewise affine networks without normalisation, a VGG and a ResNet ({doc}`15_linear_regions`), learn
# two tasks in equally many epochs: *digits* (1,200 images, moved at random) and *hard* (200 images, turned, scaled, moved
# and noisy). Their mean score is pulled to 0.6 (*low*) or 0.95 (*high*), or not at all (*free*), from five seeds each. A
# pulled network and the free one of the same seed begin alike and see the same images, so that we look at their
# difference. On the digits there are three targets more, which come below.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-17-accuracy", "caption": "No pulled network has the mean score of a free one. Pulled high, accuracy is lower on average in every panel; pulled low, clearly so in those of the residual network. A point for each training, axes fitted to the data (`companion.figures.two_measures`)."}, "image": {"alt": "Four panels, one for each network and task, with accuracy over the mean score in three groups of points: pulled low, free and pulled high."}}
names = ("steered", "steered-targets")
study = pd.concat(map(load_study, names), ignore_index=True)
ours = under(study)
every = outcomes(ours)
every["panel"] = every["network"] + ", " + every["task"]
main = every[every["target"].isin([FREE, *PULLED])].sort_values("panel")
two_measures(
    main.assign(accuracy=100 * main["test_accuracy"]),
    "mean_score",
    "accuracy",
    "panel",
    "target",
    ("mean score (held-out digits)", "accuracy (%)"),
    columns=2,
)
plt.show()

# %% [markdown]
# The differences from free training, in points, with 95 % intervals over five seeds: for each network and task, and for all
# together (the mean of a seed counts once; these intervals hold for both targets together). *Noise* is normal, of half and
# of all of the standard deviation of the pixels; *transfer* the accuracy of a logistic regression on the last features for
# the other of the two tasks; the *calibration error* is the mean distance of confidence and accuracy (15 bins).

# %% tags=["hide-input"]
MEASURES = {
    "test_accuracy": "accuracy",
    "accuracy_noise_0.5": "noise 0.5",
    "accuracy_noise_1": "noise 1",
    "transfer": "transfer",
    "calibration_error": "calibration error",
}
paired = differences(ours, ["mean_score", *MEASURES])
of_claims = paired[paired["target"].isin(PULLED)]


def usual(one, together=1, factor=100, digits=1):
    """A number and its interval, which is not broken; in points."""
    low, high = (
        f"{factor * end:+.{digits}f}" for end in one.interval(together)
    )
    return f"{factor * one.value:+.{digits}f} [{low},\u00a0{high}]"


def over_targets(column, **how):
    """The mean difference over networks and tasks, for each target."""
    means = sorted(over_all(of_claims, column).items())
    return {target: usual(one, len(means), **how) for target, one in means}


def in_cells(column):
    """The mean difference in words: for each network, task and target."""
    cells = sorted(by_cell(of_claims, column).items())
    found = {cell: usual(one) for cell, one in cells}
    means = over_targets(column).items()
    return found | {("all", "", target): shown for target, shown in means}


shown = pd.DataFrame({name: in_cells(name) for name in MEASURES})
table(shown.rename_axis(CELL), MEASURES)


# %% tags=["remove-input"]
scores, points = (
    over_targets("mean_score", factor=1, digits=2),
    over_targets("test_accuracy"),
)
Markdown(
    f"The mean score changes by {scores['high']} and by {scores['low']}, accuracy by {points['high']} points (pulled **high**) "
    f"and by {points['low']} (pulled **low**): with this penalty, at this weight."
)

# %% [markdown]
# ```{admonition} What is compared
# :class: caution
#
# A penalty is also a regulariser, whatever it penalises, and one weight was tried for each target. A difference says that
# pulling the scores changes the outcome, not that the score of a network causes it; exercise 17.2 designs the control.
# The mean over networks and tasks was chosen after the single comparisons had been seen.
# ```
#
# (which-score)=
# ## Which score is pulled
#
# With the pairing $i \to i$ the score is quicker to compute, and a lower bound. A network that is pulled by it can lower
# the bound alone, by taking samples to the places of others, and need not become more non-linear. So we pull the digits
# networks to the same target by the pairing, too, and measure both scores on held-out images.

# %% tags=["hide-input"]
of_two = study[
    study["way"].isin(["digits-low", "digits-paired", "digits-free"])
]
asked = under(of_two).iloc[0][words]
same = (of_two[words].drop(columns="coupling") == asked.drop("coupling")).all(
    axis=1
)
couplings = of_two[same].pivot_table(
    "score", ["network", "target", "seed"], "coupling"
)
measured = couplings.groupby(level=["network", "target"]).agg(
    lambda one: f"{mean_of(one):.2f}"
)
table(
    measured.rename(
        {"low": "exact", "paired": "pairing"}, level=1
    ).rename_axis(["network", "pulled by"]),
    {"exact": "exact score", "paired": "paired score"},
)

# %% tags=["remove-input"]
fell = couplings.xs(FREE, level="target") - couplings
shares = 100 * fell["exact"] / fell["paired"]
by_pairing = mean_of(shares.xs("paired", level="target"))
by_exact = mean_of(shares.xs("low", level="target"))
Markdown(
    f"Pulled by the pairing, the exact score falls by {by_pairing:.0f} % of "
    f"what the paired score falls by; pulled by the exact one, by "
    f"{by_exact:.0f} % (means over both networks and five seeds)."
)

# %% [markdown]
# ## A signature as the target
#
# The target may be a number for each activation. Two networks of the mini zoo lend their signatures, brought to the length
# of seven activations: the ViT (*as-vit*) and the residual network (*as-resnet*).

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-17-signatures", "caption": "Trained towards the signature of another network, both networks come close to it and far from what free training gives. Thin lines for five seeds, a thick one for their mean, and the two signatures that are the targets; on held-out digits (`companion.figures.bundles_of_signatures`)."}, "image": {"alt": "Two panels, for the VGG and the residual network, with three bundles of lines over seven depths, free, as the ViT, and as the residual network, and the two targets, which the last two bundles follow."}}
AS = {"as-vit": "mini:vit_b_16", "as-resnet": "mini:resnet18"}
shaped = ours[(ours["task"] == "digits") & ours["target"].isin([FREE, *AS])]


def goal(name, length):
    """The signature that is a target, brought to the length of another."""
    return resampled(shipped_signature(AS[name]).scores, length)


length = shaped["index"].nunique()
bundles = shaped.assign(group=shaped["target"], line=shaped["seed"])
goals = [
    pd.DataFrame(
        {
            "network": network,
            "group": f"target {name}",
            "line": 0,
            "depth": np.arange(length) + 1,
            "score": goal(name, length),
        }
    )
    for network in bundles["network"].unique()
    for name in AS
]
bundles_of_signatures(
    pd.concat([bundles, *goals]), panels="network", columns=2
)
plt.show()


# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
reached = every.groupby("target")["mean_score"].mean()
Markdown(
    f"* **A network can be trained to a score**: mean scores of "
    f"{reached[FREE]:.2f} become {reached['low']:.2f} or "
    f"{reached['high']:.2f}.\n"
    f"* **Accuracy** changes by {points['high']} points where the score is "
    f"pulled up and by {points['low']} where it is pulled down "
    f"({len(of_claims)} pulled trainings, 5 seeds): with this penalty at "
    "this weight, and without a control.\n"
    "* **Pull the exact score, not the pairing**: networks that are pulled "
    "by the pairing lose of their exact score only "
    f"{by_pairing:.0f} % of what they lose of the paired one; those pulled "
    f"by the exact score, {by_exact:.0f} %."
)

# %% [markdown]
# ## Takeaways
#
# * Scores can be pulled far to both sides. Most of what else changes is undecided with five seeds.
# * Measure what you trained for on held-out images and with the exact coupling.
#
# ## Exercises
#
# ```{exercise} 17.1 A gradient by hand
# :label: ex-17-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see what the gradient of a score is made of.
#
# For $d = 1$ the paired score is $1 - \sqrt{1 - r}$ with $r$ the correlation of $x$ and $y$, where that is positive. Let $x =
# (-1, 0, 1)$ and $y = (0, 0, 1)$. By how much does the score change for a small change of $y_3$? Hand in the derivative.
# ```
#
# ```{admonition} Hint for 17.1
# :class: dropdown hint
#
# $r = c / \sqrt{v_x v_y}$ with $c = \tfrac13 y_3$; and $v_y$ depends on $y_3$. What happens to a correlation when $y$ is multiplied by a number?
# ```

# %%
answer = None  # your answer here: the derivative
# companion.exercises.check("17.1", answer)

# %% [markdown]
# ```{solution-start} ex-17-1
# :class: dropdown
# ```
#
# With $y = (0, 0, t)$ all values are $t$ times those of $(0, 0, 1)$, and no correlation depends on $t$: the derivative is 0.

# %%
companion.exercises.check("17.1", 0.0)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 17.2 Is it the score?
# :label: ex-17-2
# :nonumber:
#
# *Design · 25 minutes · hard.* Aim: separate what is trained for from the training.
#
# Under noise of one standard deviation, the networks of this study that were pulled to a mean score of 0.95 named more images
# than the free ones, on average (see the table). Somebody concludes that linear networks are robust. Design the study that could show it: which other trainings, what is held equal, which
# unit and test, and which result would refute the conclusion.
# ```
#
# ```{admonition} Hint for 17.2
# :class: dropdown hint
#
# What else does a penalty of weight 20 do to a training? Which other penalty does the same without the score?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-17-2
# :class: dropdown
# ```
#
# **What else may be the reason.** A penalty shrinks weights, moves biases, slows the fit and ends at another accuracy; each may
# change robustness. And the accuracy under noise depends on that without noise.
#
# **A study.** Fixed before: network, task, noise, and five or more seeds. Beside free and pulled networks: (a) weight decay of
# several strengths, and early stopping, so that some have the same accuracy as the pulled ones; (b) pulls by the same distance to
# the other side; (c) pulls of other statistics of the same activations, such as their mean or norm, of the same gradient norm.
# Compare at equal accuracy without noise, by the difference within a seed. Then a regression of robustness on the score
# over all trainings, with the kind of training as a factor.
#
# **Refuted** if controls of the same accuracy without a higher score are as robust, or if networks pulled low are more robust,
# too.
#
# **Rubric** (6 points)
#
# * 2: a penalty is a regulariser; the control has one without the score.
# * 1: compared at equal accuracy, or with it as a covariate.
# * 1: both directions of the score.
# * 1: paired by seed, with an interval.
# * 1: a result that would refute the conclusion.

# %% [markdown]
# ```{solution-end}
# ```
