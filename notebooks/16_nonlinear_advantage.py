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
# # Nonlinear advantage
#
# The affinity score measures a network as it is. {cite:t}`mehmetigopel2023nonlinear` take its non-linearity away instead, channel by
# channel, and see when it breaks. This page does so with small networks, asks whether the score knows which activations
# are needed, and closes with all three measures of this book on the same networks.
#
# **Early** means that channels are made linear from the start of training, **late** that the network is trained as usual first. How much is left is
# said by the *path length*: how many non-linear units lie between an input and the output, on average. Two numbers in brackets are a 95 % interval over seeds.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
slopes_study: str = "advantage"  # or one of yours, as advantage-cifar10
store: str = "../_build/results"  # folder of your results, with studies in it
model: str = "mini:digitsnet"  # looked at first: MODEL or MODEL@WEIGHTS
dataset: str = "digits"  # what it names: or cifar10, imagenet:DIR ...
images: int = 0  # of these in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights and the order of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown
from torch import nn

import affscore
import companion
from affscore import AffscoreError
from affscore.nonlinear_advantage import average_path_length, to_prelu
from companion.chapter_16 import (
    EARLY,
    LATE,
    accuracy_curves,
    compared,
    core_network,
    cores,
    decisions_changed,
    gap,
    lost_when_affine,
    survival,
    survival_correlations,
    trainings,
)
from companion.figures import two_measures
from companion.slope_training import train
from companion.statistics import mean_of
from companion.studies import load_studies, stored_studies, under, with_scores
from companion.style import table

studies, note = stored_studies(store) | load_studies(), ""
if slopes_study not in studies:
    made = ", ".join(name for name in studies if name.startswith("advantage"))
    note = (
        f"Not found in {store}/studies: {slopes_study}. "
        f"There are {made}; python -m companion.studies --only makes others. "
        "This page shows advantage, small networks on digits."
    )
    slopes_study = "advantage"
if f"{slopes_study}-scores" not in studies:
    raise AffscoreError(
        "this page needs affinity scores, and the study "
        f"{slopes_study} has none; take another one"
    )
study, scores = (
    studies[slopes_study],
    under(studies[f"{slopes_study}-scores"]),
)
WORDS = {
    "sum": "sum of two digits",
    "larger": "larger of two digits",
    "few": "few digits",
    "noise": "wrong labels",
    "numbers": "French numbers",
}
WHEN = {EARLY: "early", LATE: "late"}


def in_words(rows):
    """With names of tasks and starts as the page has them."""
    when = rows["start"].map(
        lambda start: WHEN.get(start, f"after {100 * start:.0f} %"),
        na_action="ignore",
    )
    return rows.assign(
        task=rows["task"].replace(WORDS),
        when=when.astype(object).fillna("untouched"),
    )


def by_task(found):
    """A column of a table: percentages or points, with their intervals."""
    return {
        WORDS.get(task, task): f"{100 * one:.1f}"
        for task, one in found.items()
    }


trained = trainings(study)
pairs = {task: network for network, task in compared(trained)}
gaps = {task: gap(trained, network, task) for task, network in pairs.items()}
losses = {
    task: lost_when_affine(trained, network, task)
    for task, network in pairs.items()
}
left = cores(trained)
linear = {
    task: mean_of(1 - left[left["task"] == task]["share"], (0, 1))
    for task in pairs
}

# %% tags=["remove-input"]
Markdown(note) if note else None

# %% [markdown]
# ## A slope for each channel
#
# Every ReLU becomes a PReLU with a slope $\alpha_c$ for each channel:
#
# $$\phi_{\alpha_c}(x) = \max(0, x) + \alpha_c \min(0, x).$$
#
# At $\alpha_c = 0$ it is ReLU; there we begin, so that the network computes the same as before. At $\alpha_c = 1$ it is the identity: the channel is linear.
# Slopes are trained with the weights, under a penalty that pulls them to 1:
#
# $$\mathcal L = \text{task loss} + \omega \sum_c |1 - \alpha_c|^{1/2}.$$
#
# The power 1/2 does not shrink all differences a little, as a square would: it sends some slopes all the way to 1. A channel within 0.01 of it, or
# beyond it, is frozen, linear for good (the 0.01 is from a later paper of the authors). The larger $\omega$, the more channels go.
#
# ## How deep is what is left?
#
# The **average path length** follows channels from the input to the output. APL is the number of non-linear units that a path meets, the mean over all
# paths. The normalised one, **NAPL**, chooses a branch with probability 1/2 at each addition instead. Shortcuts make the difference, as in the
# paper's example, four layers of width 4 with a shortcut over all of them:


# %%
class Skip(nn.Module):
    """Four layers of four units, and a shortcut over all."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Linear(before, 4) for before in (1, 4, 4, 4)
        )
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        y = x
        for layer in self.layers:
            y = torch.relu(layer(y))
        return x + self.out(y)


named = {
    "the example": (Skip(), torch.zeros(1, 1)),
    model: (affscore.load_model(model, seed), None),
}
lengths = {
    name: {
        "NAPL": average_path_length(to_prelu(one, example), example),
        "APL": average_path_length(to_prelu(one, example), example, False),
    }
    for name, (one, example) in named.items()
}
table(pd.DataFrame(lengths).T)

# %% [markdown]
# Of the 257 paths of the example one is the shortcut: APL = 1024/257. But it is one branch of two: NAPL = 2. From here on, lengths are normalised.
#
# ## One training
#
# A small residual network learns the digits for ten epochs as usual, and for ten more while its slopes are pulled to 1:

# %%
prepare = affscore.models.Preprocessing(
    channels=1, size=16, resize=16, mean=(0.305,), std=(0.359,)
)
(train_images, labels), (test_images, test_labels) = (
    affscore.models.digits("train"),
    affscore.models.digits("test"),
)
train_images, test_images = (
    torch.stack([prepare(image) for image in some])
    for some in (train_images, test_images)
)

small = to_prelu(
    affscore.load_model("../examples/matched_networks.py:residual8", seed),
    train_images[:2],
)
record = train(
    small,
    train_images,
    labels,
    epochs=20,
    omega=0.005,
    start=10,
    test=(test_images, test_labels),
    rate=4e-3,
    slope_rate=2e-2,
    weight_decay=1e-2,
    seed=seed,
    progress=False,
)
table(
    record.loc[9::2].astype({"epoch": int}).set_index("epoch"),
    {
        "accuracy": "accuracy (%)",
        "active": "channels not linear (%)",
        "napl": "path length (NAPL)",
    },
    digits={"accuracy": 1, "active": 0},
)

# %% [markdown]
# ## Early or late?
#
# The paper claims that a network which loses its non-linearity from the start is worse than one which loses it after training. Here a residual
# network with 13 ReLUs learns five tasks in 20 epochs, in which the learning rate falls to zero twice. Early training has the penalty in all epochs, late training
# in the second half. Weights $\omega$ from small to large make a curve, from the untouched network to an affine one. The tasks are
#
# * *digits*: 1,200 images; *few digits*: 120 of these, ten times an epoch; *wrong labels*: 40 % of the labels are wrong;
# * *larger of two digits*: 2,400 pairs of images side by side; the label is the larger digit;
# * *sum of two digits*: the same pairs; the label is the last digit of the sum. It takes twice as many epochs.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-advantage-curves", "caption": "Accuracy against the path length that is left: a point for each training, lines through the means over seeds for each weight of the penalty. On the sum of two digits the early curve falls where the late one still holds; on the larger of two both fall together. On the others affine networks (length 0) are about as good or better; mind the axes, that of digits has three points (`companion.chapter_16.accuracy_curves`)."}, "image": {"alt": "Five panels with two curves each over the normalised average path length, and the untouched networks at their right ends. On the sum of two digits the early curve falls below two units, the late one only below one. On the larger of two digits both fall at one unit. On digits and few digits both are flat. With wrong labels they rise towards the left, the late one earlier."}}
of_pairs = [
    pairs.get(task) == network
    for network, task in zip(trained["network"], trained["task"], strict=True)
]
main = in_words(trained[of_pairs])
both = main[main["start"].isin(WHEN) | main["start"].isna()].sort_values(
    "start"
)
LENGTH = "path length (NAPL)"
accuracy_curves(both, "napl", "when", "task", "omega", LENGTH)
plt.show()

# %% tags=["hide-input"]
words = {task: WORDS.get(task, task) for task in pairs}
untouched = main[main["start"].isna()].groupby("task")["accuracy"].mean()
by_channels = {
    task: gap(trained, pairs[task], task, x="share") for task in pairs
}
table(
    pd.DataFrame(
        {
            "untouched (%)": untouched.astype(float),
            "lost when affine (points)": by_task(losses),
            "late ahead of early (points)": by_task(gaps),
            "at equal share of channels": by_task(by_channels),
            "can become linear, late": by_task(linear),
        }
    )
    .loc[list(words.values())]
    .rename_axis("task"),
    digits=1,
)

# %% [markdown]
# Late and early are compared at equal path length, by the mean over lengths up to half of the untouched network's; then at equal shares of channels,
# likewise. The last column, a percentage of the channels, is read off where a late curve is first five points below the untouched network; 100 says that it never gets there.
#
# * **Sum of two digits**: late networks are far ahead below two units, where early ones collapse to chance, not all at the same $\omega$.
#   Above three units early ones are ahead by three points: for them all weights had twice as many epochs to adapt. At equal shares of channels the
#   advantage is too small for five seeds to decide.
# * **Larger of two digits**: an affine network loses as many points as a hard task should cost, and yet early ones are not behind at any length. So
#   it is not only a matter of what an affine network can express. What else the sum has, such as that it is learned slowly, is not tested here.
# * **Wrong labels**: less non-linearity is better, as it fits fewer of them. Here, too, late networks are ahead, between one and six units; we do not know why.
#
# ```{admonition} Hard, or only ambiguous?
# :class: note
# Few images and wrong labels make it harder to generalise, not harder to express: an affine network is as good or better there. The paper ties the gap to how
# difficult a task is, which can mean either; the ledger calls a task hard where an affine network loses ten points.
# ```
#
# ## The core network
#
# Where the non-linear channels are that stay:

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-advantage-core", "caption": "The core network: the channels of each activation (grey) and those of them that are not linear (blue, the number above; means over seeds), late, for the weight of the penalty that comes closest to three units on a path. Digits are told apart by the early activations; the sum of two needs the one before the last, too (`companion.chapter_16.core_network`)."}, "image": {"alt": "A panel for each task with thirteen bars, whose height is the number of channels. Blue parts are nearly as high as the grey bars on the left and vanish on the right. On the sum of two digits the last activation but one keeps half of its channels; on the larger of two digits the tenth keeps some."}}
UNITS = 3
late = study[study["start"] == LATE]
kept = {}
for task, network in pairs.items():
    own = late[(late["network"] == network) & (late["task"] == task)]
    lengths = own.groupby("omega")["napl"].mean()
    omega = (lengths - UNITS).abs().idxmin()
    title = WORDS.get(task, task)
    title += f": ω = {omega:g}, path length {lengths[omega]:.1f}"
    kept[task] = own[own["omega"] == omega].assign(panel=title)
core_network(pd.concat(kept.values()), "panel")
plt.show()

# %% [markdown]
# ## Does the affinity score know?
#
# The affinity score is measured at the end of ordinary training, before any slope moves. Do activations with a low score, the more non-linear ones, keep their channels?

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-advantage-survival", "caption": "Each activation by its affinity score before, and by the share of its channels that stay non-linear, the mean over weights of the penalty; a point for each seed. Early activations keep more; within a third the points fall, since those after a sum score higher and keep less (`companion.figures.two_measures`)."}, "image": {"alt": "Panels for the tasks with points in three colours for the first, middle and last third of the activations. Points of the first third lie highest, those of the last lowest, and within each colour they fall to the right."}}
survived = survival(study, scores)
thirds = ["first third", "middle third", "last third"]
part = survived.groupby("network")["index"].transform(
    lambda index: pd.cut(index, 3, labels=False)
)
survived = survived.assign(
    part=part.astype(int).map(dict(enumerate(thirds))),
    task_name=survived["task"].replace(WORDS),
)
axes = ("affinity score before", "share that stays")
two_measures(survived, "score", "survival", "task_name", "part", axes)
plt.show()

# %% [markdown]
# Activations with low scores keep more channels. But early activations keep more whatever
# their scores, and those after a sum keep fewer and score higher. With both held fixed the tasks disagree in sign, and nothing clear is left.
#
# ## Choosing channels without training
#
# `affscore.linearize` makes the least needed channels of a trained network linear at once: those with the highest affinity scores, random ones, or those
# whose trained slopes are nearest to 1.

# %%
at_once = affscore.linearize(
    model,
    dataset,
    keep=0.9,
    by="affinity",
    images=images or None,
    device=device,
    progress=False,
)
Markdown(
    f"{model} is right on {100 * at_once.accuracy_before:.1f} % of the "
    f"images ({dataset}), and with 90 % of its channels left on "
    f"{100 * at_once.accuracy_after:.1f} %."
)

# %% [markdown]
# Without training it costs a lot, whatever chooses. A high score says that an affine map comes close to ReLU on this channel, not that the identity does: where
# inputs are mostly negative ReLU is nearly constant, and a slope of 1 lets through all that it blocked. After five more epochs of training no difference is
# seen between channels that were chosen by affinity scores and by chance.
#
# ## Three measures on the same networks
#
# Two networks of {doc}`15_linear_regions` have the same architecture: one has learned the digits, the other has memorised labels that are all wrong. For the
# third measure each activation *alone* becomes linear, all of its slopes 1, and nothing is trained: how many of the network's decisions on test images change
# (`companion.chapter_16.decisions_changed`)?

# %% tags=["hide-input"]
folder, ways = "../examples", {"vanilla": "right", "noise-1.0": "wrong"}
scans = affscore.models.digits("test")[0][:200]
whole = {}
of_regions = under(studies["regions"])
paths = with_scores(of_regions, studies["regions-paths"])
for way, kind in ways.items():
    chosen = "network == 'vgg8' and seed == 1 and way == @way"
    network = affscore.load_model(
        f"{folder}/region_networks.py:vgg8"
        f"@{folder}/weights/vgg8-{way}-1.safetensors"
    )
    prepare = affscore.models.card_of(network).preprocessing
    samples = torch.stack([prepare(scan) for scan in scans])
    changed = decisions_changed(network, samples)["changed"]
    whole[f"{kind} labels"] = paths.query(chosen).iloc[0].to_dict() | {
        "changed": changed.mean()
    }
table(
    pd.DataFrame(whole).T.rename_axis("vgg8, trained on"),
    {
        "score": "mean affinity score",
        "crossings": "regions a segment",
        "absolute_deviation": "absolute deviation",
        "relative_deviation": "relative deviation",
        "changed": "decisions changed (%)",
    },
    digits={"crossings": 0, "absolute_deviation": 1, "changed": 0},
)

# %% [markdown]
# All three find the network with wrong labels the more non-linear one, by different amounts.
#
# The three measures ask different things:
#
# | | looks at | answers | does not see |
# |---|---|---|---|
# | affinity score | one activation, over the data | would an affine map have the same effect on the distribution? | what later layers make of it |
# | linear regions, deviation | the whole function, near an image | how far from its chord does the function bend? | where in the network; data elsewhere |
# | nonlinear advantage | the network, while it is retrained | can the task do without this non-linearity? | how far an activation bends |
#
# The paper's statements have their tests and verdicts in {doc}`18_what_is_reproduced`.
#
# ```{admonition} What this rests on
# :class: note
# Of the paper its abstracts and a summary were at hand. They do not state its recipes: epochs, learning rates, weights $\omega$, which epochs
# are *early*, how ResNets were fitted to CIFAR. The profile of the paper (`python -m companion.studies --only advantage-cifar10`, and
# so on) has recipes of ours.
# One architecture carries most of this page, on pictures of digits.
# ```
#
# ## What we found

# %% tags=["remove-input", "findings"]
shares = [100 * one.value for one in linear.values()]
behind = sorted(
    (task for task, one in gaps.items() if one.above()),
    key=lambda task: gaps[task].value,
)
listed = ", ".join(f"{words[task]} {100 * gaps[task]:.1f}" for task in behind)
ahead = ", ".join(words[task] for task in gaps if gaps[task].above() is False)
rest = ", ".join(words[task] for task in gaps if gaps[task].above() is None)
when = (
    "It matters when non-linearity goes, on some tasks"
    if 0 < len(behind) < len(gaps)
    else f"It matters when non-linearity goes on {'every' if behind else 'no'} task"
)
open_ = [words[task] for task in behind if by_channels[task].above() is None]
held = survival_correlations(survived).groupby("task")["partial"].mean()
Markdown(f"""
* **With retraining, {min(shares):.0f} to {max(shares):.0f} % of the channels of a trained network can become linear before that \
costs five points of accuracy** ({len(trained)} trainings of a residual network with 13 ReLUs, \
{len(gaps)} task{"s" * (len(gaps) > 1)}, \
{trained["seed"].nunique()} seeds). Without it a tenth is too much: {model} falls from {100 * at_once.accuracy_before:.0f} to \
{100 * at_once.accuracy_after:.0f} %.
* **{when}.** At equal path length, networks that lose it from the start are behind those that lose it after training, in \
points: {listed or "nowhere"}. {f"They are ahead on: {ahead}. " if ahead else ""}\
{f"No gap is seen on: {rest}. " if behind and rest else ""}\
{f"At equal shares of linear channels it is not decided for: {', '.join(open_)}." if open_ else ""}
* **The affinity score hardly knows which activations are needed.** At the same place in the network, its rank correlation with \
the share of channels that stay is between {held.min():+.2f} and {held.max():+.2f} over the tasks.
""")

# %% [markdown]
# ## Takeaways
#
# * Most non-linearity of a trained network can go if the weights may adapt; without training, a tenth is too much.
# * Path length counts units, the score measures how far they bend, deviation what comes out of it all. Say which one you mean.
#
# ## Exercises
#
# ```{exercise} 16.1 Two path lengths by hand
# :label: ex-16-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: follow paths through a residual sum.
#
# An image with one channel becomes $h = \phi_1(A x)$, then $y = h + C\,\phi_2(B h)$; the output is a linear map of the mean of $y$ over
# its pixels. $A$, $B$ and $C$ are 3 x 3 convolutions with four output channels. The four PReLUs of $\phi_1$ have the slopes 0, 0, 1, 1, those of
# $\phi_2$ the slopes 0, 0, 0.25, 1. A path goes from channel to channel: the nine positions of a kernel are one edge. Hand in `(NAPL, APL)`, to two
# decimals or more.
# ```
#
# ```{admonition} Hint for 16.1
# :class: dropdown hint
# Note for each channel of $h$ how many units its paths have met. Then follow skip and branch to $y$.
# ```

# %%
answer = None  # your answer here: a pair (NAPL, APL)
# companion.exercises.check("16.1", answer)

# %% [markdown]
# ```{solution-start} ex-16-1
# :class: dropdown
# ```
#
# Two of the four channels of $\phi_1$ are non-linear, and three of $\phi_2$: a slope of 0.25 still bends. A path along the skip meets 1/2 unit on
# average, one through the branch 1/2 + 3/4. For NAPL the skip counts as much as the branch. For APL it is one path, and 4 · 4 paths lead through
# $B$ and $C$ to the same channel of $y$.

# %%
skip, branch = 2 / 4, 2 / 4 + 3 / 4
napl, apl = (skip + branch) / 2, (skip + 16 * branch) / 17
companion.exercises.check("16.1", (napl, apl))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 16.2 The score of a slope
# :label: ex-16-2
# :nonumber:
#
# *Prove · 25 minutes · medium.* Aim: connect the slope of this chapter with the affinity score.
#
# Inputs have many independent standard normal coordinates, so that the score of an elementwise $\phi$ tends to
# $\rho = 1 - \sqrt{1 - \operatorname{corr}(x, \phi(x))}$ ({doc}`02_activation_functions`). (a) Prove that for $\phi_\alpha$ with $-1 < \alpha \le 1$
#
# $$\operatorname{corr}(x, \phi_\alpha(x)) = \left(1 + \kappa \left(\frac{1 - \alpha}{1 + \alpha}\right)^2\right)^{-1/2}, \qquad \kappa = 1 - \frac2\pi .$$
#
# (b) Conclude that the score rises with $\alpha$ from 0.62 (ReLU) to 1. (c) A penalty pulls the slopes of a layer from 0 to 0.25. By how much does its score rise, and by how
# much its path length falls? Which of the two notices the change?
# ```
#
# ```{admonition} Hint for 16.2
# :class: dropdown hint
# $\phi_\alpha(x) = \frac{1 + \alpha}{2} x + \frac{1 - \alpha}{2} |x|$, and $x$ and $|x|$ are uncorrelated.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-16-2
# :class: dropdown
# ```
#
# (a) By the hint, $\operatorname{cov}(x, \phi_\alpha) = \frac{1 + \alpha}{2}$, since $\operatorname{cov}(x, |x|) = E[x |x|] = 0$ by symmetry. For the same reason
# $\operatorname{var} \phi_\alpha = \left(\frac{1 + \alpha}{2}\right)^2 + \left(\frac{1 - \alpha}{2}\right)^2 \operatorname{var} |x|$ with $\operatorname{var} |x| = 1 - 2/\pi = \kappa$. Divide.
#
# (b) $(1 - \alpha)/(1 + \alpha)$ falls from $\alpha > -1$ to 0 at $\alpha = 1$, so the correlation rises to 1, and $\rho$ rises with it. At $\alpha = 0$ it is
# $1 - \sqrt{1 - (1 + \kappa)^{-1/2}} = 0.62$.
#
# (c) At $\alpha = 0.25$ the ratio is 0.6, and the score 0.76. The path length does not fall at all: a slope below 1 counts as a whole unit. The score sees how far a unit bends, the path length whether it bends.

# %%
kappa = 1 - 2 / np.pi


def score_of_slope(alpha):
    square = kappa * ((1 - alpha) / (1 + alpha)) ** 2
    return 1 - np.sqrt(1 - 1 / np.sqrt(1 + square))


x = np.random.default_rng(0).standard_normal((512, 1024))
for alpha in (0.0, 0.25, 0.75):
    y = np.where(x > 0, x, alpha * x)
    measured = affscore.affinity_score(x, y).value
    print(f"slope {alpha}: {score_of_slope(alpha):.2f}, {measured:.2f}")

# %% [markdown]
# (The closed form, and the score of 512 samples of 1,024 coordinates.)
#
# **Rubric** (6 points)
#
# * 2: the decomposition, and that $x$ and $|x|$ are uncorrelated.
# * 1: variance with $\kappa$, and the quotient.
# * 1: monotone, with both ends.
# * 2: (c) the rise of the score, no change of the path length, and what each of them sees.
#
# ```{solution-end}
# ```
#
# ## Further reading
#
# * {cite:t}`mehmetigopel2023nonlinear`, for the method, with images and translation.
# * {cite:t}`bendror2021layer`, for whole layers whose activations are folded into one linear layer.
