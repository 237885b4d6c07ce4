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
# another network, and compared with the same networks trained freely: in accuracy, calibration, robustness to noise,
# transfer, linear regions, and how much non-linearity they need. Read {doc}`04_signature_of_a_network` first.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
    )

# %% tags=["parameters", "hide-input"]
model: str = (
    "../examples/region_networks.py:vgg8"  # trained here, from scratch
)
target: float = 0.6  # its mean score is pulled here
weight: float = 20.0  # of the penalty
epochs: int = 10  # of the training on this page
seed: int = 0  # of random weights and the order of images

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from affscore.figures import (
    bundles_of_signatures,
    raw_signature,
    table,
    two_measures,
)
from affscore.options import Specification
from affscore.papers.alexnet_to_transformers.appendix_b import (
    CELL,
    FREE,
    by_cell,
    differences,
    outcomes,
)
from affscore.papers.all_results import AllResults
from affscore.papers.estimate import mean_of
from affscore.papers.ledger import Ledger
from affscore.papers.linear_regions.networks import with_scores
from affscore.survey.shipped import shipped_signature
from affscore.survey.studies import load_study, under
from affscore.transport import differentiable_affinity
from IPython.display import Markdown

pd.set_option("display.max_colwidth", None)  # conclusions are sentences
words = list(Specification._fields)

# %% [markdown]
# ## The gradient of a score
#
# `affscore.transport.differentiable_affinity` is the score as a function that PyTorch can differentiate: through both
# covariances, their shrinkage, and the matrix root ({ref}`the formula <gradient-of-the-score>`). Take one ReLU with a bias
# on normal inputs, and follow the gradient from a bias of zero. Up, it moves the kink out of the data; down, into the
# part where few inputs pass.


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
# to a target. The coupling is the optimal one, held during a step (`coupling="fixed"`); the reason comes below.

# %%
prepare = affscore.zoo.card_of(affscore.load_model(model)).preprocessing
(images, labels), (test_images, test_labels) = (
    (torch.stack([prepare(image) for image in some]), names)
    for some, names in map(affscore.zoo.digits, ("train", "test"))
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

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-18-one-training", "caption": "Signatures of the same network after the same training, without and with a penalty that pulls the mean score down (`affscore.figures.raw_signature`)."}, "image": {"alt": "Two signatures of seven activations. Trained freely, scores lie between 0.7 and 0.95. Pulled down, most lie between 0.5 and 0.75."}}
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
# Two piecewise affine networks without normalisation, a VGG and a ResNet ({doc}`16_are_all_linear_regions_equal`), learn
# two tasks in equally many epochs: *digits* (1,200 images, moved at random) and *hard* (200 images, turned, scaled, moved
# and noisy). Their mean score is pulled to 0.6 (*low*) or 0.95 (*high*), or not at all (*free*), from five seeds each. A
# pulled network and the free one of the same seed begin alike and see the same images, so that we look at their
# difference. On the digits there are three targets more, which come below.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-18-accuracy", "caption": "Accuracy on held-out images against the mean score that was reached, a point for each training; both axes are fitted to the data (`affscore.figures.two_measures`)."}, "image": {"alt": "Four panels, one for each network and task, with accuracy over the mean score in three groups of points: pulled low, free and pulled high."}}
names = ("steered", "steered-targets")
study = pd.concat(map(load_study, names), ignore_index=True)
choices = len(study.groupby(words))
ours = under(study)
every = outcomes(ours)
every["panel"] = every["network"] + ", " + every["task"]
main = every[every["target"].isin([FREE, "low", "high"])].sort_values("panel")
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
# The differences from free training, in points, with 95 % intervals over five seeds each. *Noise* is normal, of half the
# standard deviation of the pixels; *transfer* the accuracy of a logistic regression on the last features for the other of
# the two tasks; the *calibration error* is the mean distance of confidence and accuracy (15 bins), so that less is better.

# %% tags=["hide-input"]
MEASURES = {
    "test_accuracy": "accuracy",
    "accuracy_noise_0.5": "under noise",
    "transfer": "transfer",
    "calibration_error": "calibration error",
}
COLUMNS = ["mean_score", *MEASURES, "accuracy_kept_0.75", "cross_entropy"]
paired = differences(ours, COLUMNS)
of_claims = paired[paired["target"].isin(["low", "high"])]


def in_cells(rows, column, factor=1, digits=1):
    """The mean difference in words, for each network, task and target."""
    cells = by_cell(rows, column)
    return pd.Series(
        {cell: f"{factor * one:+.{digits}f}" for cell, one in cells.items()}
    )


shown = pd.DataFrame(
    {"mean_score": in_cells(of_claims, "mean_score", digits=2)}
    | {name: in_cells(of_claims, name, 100) for name in MEASURES}
).sort_index()
shown.index.names = CELL
table(shown, {"mean_score": "mean score", **MEASURES})


# %% tags=["remove-input"]
def decided(rows, column):
    """Cells whose difference is above and below zero, all together."""
    cells = by_cell(rows, column)
    sides = {cell: one.above(0, len(cells)) for cell, one in cells.items()}
    return [
        [c for c, side in sides.items() if side is s] for s in (True, False)
    ]


def counted(column, target, rows=of_claims):
    """How many cells of a target rise and fall, and of how many."""
    sides = [
        [c for c in some if c[2] == target] for some in decided(rows, column)
    ]
    return (
        *map(len, sides),
        sum(c[2] == target for c in by_cell(rows, column)),
    )


def sentence(column, target):
    rise, fall, of = counted(column, target)
    return f"rises in {rise} and falls in {fall} of {of}"


Markdown(
    "Counting only intervals that hold for all comparisons of a column "
    "together: pulled **high**, accuracy "
    f"{sentence('test_accuracy', 'high')}, accuracy under noise "
    f"{sentence('accuracy_noise_0.5', 'high')}, transfer "
    f"{sentence('transfer', 'high')}, the calibration error "
    f"{sentence('calibration_error', 'high')}. Pulled **low**, accuracy "
    f"{sentence('test_accuracy', 'low')}, accuracy under noise "
    f"{sentence('accuracy_noise_0.5', 'low')}, transfer "
    f"{sentence('transfer', 'low')}, the calibration error "
    f"{sentence('calibration_error', 'low')}."
)

# %% [markdown]
# ```{admonition} What is compared
# :class: caution
#
# A penalty is also a regulariser, whatever it penalises, and one weight was tried for each target. A difference says that
# pulling the scores changes the outcome, not that the score of a network causes it; exercise 18.3 designs the control.
# ```
#
# ## Which score is pulled
#
# The pairing $i \to i$ is cheaper than the optimal coupling, and a lower bound of the score. A network that is pulled by
# it can lower the bound alone: it need not become non-linear, only permute. So we pull the digits networks to the same
# target by the pairing, too, and measure both scores on held-out images.

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
fell = couplings.groupby(level=["network", "target"]).mean()
fell = fell.xs(FREE, level="target") - fell
shares = fell["exact"] / fell["paired"]
by_pairing = shares.xs("paired", level="target")
by_exact = shares.xs("low", level="target")
Markdown(
    f"Pulled by the pairing, the exact score falls by {100 * by_pairing.min():.0f} "
    f"to {100 * by_pairing.max():.0f} % of what the paired score falls by; "
    f"pulled by the exact one, by {100 * by_exact.min():.0f} to "
    f"{100 * by_exact.max():.0f} %."
)

# %% [markdown]
# ## A signature as the target
#
# The target may be a number for each activation. Two networks of the mini zoo lend their signatures, brought to the length
# of seven activations: the ViT (*as-vit*) and the residual network (*as-resnet*).

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-18-signatures", "caption": "Signatures on held-out digits after free training and after training towards the signature of another network, thin lines for five seeds and a thick one for their mean; dashed, the targets are in the table below (`affscore.figures.bundles_of_signatures`)."}, "image": {"alt": "Two panels, for the VGG and the residual network, with three bundles of lines over seven depths: free, as the ViT, and as the residual network."}}
AS = {"as-vit": "mini:vit_b_16", "as-resnet": "mini:resnet18"}
shaped = ours[(ours["task"] == "digits") & ours["target"].isin([FREE, *AS])]
bundles_of_signatures(
    shaped.assign(group=shaped["target"], line=shaped["seed"]),
    panels="network",
    columns=2,
)
plt.show()


# %% tags=["hide-input"]
def wanted(name, length):
    """The signature of a network of the mini zoo, brought to a length."""
    scores = shipped_signature(name).scores
    places = np.linspace(0, 1, len(scores))
    return np.interp(np.linspace(0, 1, length), places, scores)


rows = []
for (network, seed_), own in shaped.groupby(["network", "seed"]):
    by_target = own.pivot_table("score", "index", "target")
    for name, source in AS.items():
        goal = wanted(source, len(by_target))
        for trained in (FREE, name):
            far = (by_target[trained] - goal).pow(2).mean() ** 0.5
            kind = "free" if trained == FREE else "pulled"
            rows.append((network, name, seed_, kind, far))
far = pd.DataFrame(rows, columns=["network", "target", "seed", "kind", "far"])
far = far.pivot_table(
    index=["network", "target", "seed"], columns="kind", values="far"
)
nearer = far.groupby(level=[0, 1]).agg(lambda one: f"{mean_of(one):.3f}")
of_shapes = paired[paired["target"].isin(list(AS))]
nearer["accuracy"] = in_cells(of_shapes, "test_accuracy", 100).droplevel(1)
table(
    nearer,
    {
        "free": "distance, free",
        "pulled": "distance, pulled",
        "accuracy": "accuracy (points)",
    },
)

# %% [markdown]
# The distance to the target is the root of the mean squared difference of scores, on held-out images.
#
# ## Linear regions, and the need for non-linearity
#
# Do other measures of non-linearity follow ({doc}`16_are_all_linear_regions_equal`, {doc}`17_nonlinear_advantage`)? Around 8 held-out
# images we follow closed paths and count the linear regions on them. And we make a random quarter of the channels linear at
# once, the mean over five draws. Numbers are of the pulled networks over those of the free ones; of accuracy, points lost.

# %% tags=["hide-input"]
segments = load_study("steered-paths")
regions = with_scores(ours, segments)
regions[["task", "target"]] = regions["way"].str.split("-", n=1, expand=True)
REGIONS = {
    "crossings": "regions",
    "absolute_deviation": "absolute deviation",
    "relative_deviation": "relative deviation",
}
for name in REGIONS:
    regions[name] = np.log(regions[name])
turned = differences(regions, ["mean_score", *REGIONS])
turned = turned[turned["target"].isin(["low", "high"])]


def times(one):
    """A mean difference of logarithms as a factor, with its interval."""
    low, high = one.interval()
    return f"{np.exp(one.value):.2f} [{np.exp(low):.2f}, {np.exp(high):.2f}]"


factors = pd.DataFrame(
    {
        name: {c: times(one) for c, one in by_cell(turned, name).items()}
        for name in REGIONS
    }
)
lost = of_claims.assign(
    lost=of_claims["test_accuracy"] - of_claims["accuracy_kept_0.75"]
)
factors["lost"] = in_cells(lost, "lost", 100)
factors = factors.sort_index()
factors.index.names = CELL
table(factors, {**REGIONS, "lost": "lost when a quarter is linear (points)"})

# %% tags=["remove-input"]
directions = {
    name: [*counted(name, "low", turned), *counted(name, "high", turned)]
    for name in REGIONS
}
need = [*counted("lost", "low", lost), *counted("lost", "high", lost)]


def both(one):
    """What a measure does under both targets, in words."""
    rise_low, fall_low, of, rise_high, fall_high, _ = one
    return (
        f"pulled low up in {rise_low} and down in {fall_low} of {of} "
        f"comparisons, pulled high up in {rise_high} and down in {fall_high}"
    )


Markdown(
    f"The number of regions is {both(directions['crossings'])}; absolute "
    f"deviation {both(directions['absolute_deviation'])}; relative deviation "
    f"{both(directions['relative_deviation'])}. What a quarter of linear "
    f"channels costs is {both(need)}."
)

# %% [markdown]
# ## What the paper leaves open, and what we see
#
# The columns are those of {doc}`80_the_ledger`.

# %% tags=["hide-input"]
ledger = Ledger(AllResults.gather())
conclusions = ledger.conclusions(
    "training-for-scores-changes-accuracy",
    "training-for-scores-changes-robustness",
    "training-for-scores-changes-transfer",
)
table(
    conclusions.set_index("tested on", append=True).rename_axis([None, None]),
    {"verdict": "verdict", "under other choices": "under other choices"},
)

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
reached = outcomes(ours).groupby("target")["mean_score"].mean()
cost = {
    target: by_cell(of_claims[of_claims["target"] == target], "test_accuracy")
    for target in ("low", "high")
}
worst = {
    t: 100 * min(one.value for one in c.values()) for t, c in cost.items()
}
best = {
    t: 100 * max(one.value for one in c.values()) for t, c in cost.items()
}
noise_up, noise_down, noise_of = counted("accuracy_noise_0.5", "high")
crossings = directions["crossings"]
Markdown(
    f"* **A network can be trained to a score**: mean scores of "
    f"{reached['free']:.2f} become {reached['low']:.2f} or "
    f"{reached['high']:.2f}. Pulled high, accuracy changes by "
    f"{worst['high']:+.1f} to {best['high']:+.1f} points; pulled low, by "
    f"{worst['low']:+.1f} to {best['low']:+.1f} "
    f"({len(of_claims)} pulled trainings, 5 seeds).\n"
    f"* **Robustness to noise** rises in {noise_up} and falls in {noise_down} "
    f"of {noise_of} comparisons with networks pulled high; the number of "
    f"linear regions falls there in {crossings[4]} and rises in "
    f"{crossings[3]}.\n"
    "* **Pull the exact score, not the pairing**: networks pulled by the "
    f"pairing lower it by permuting; {100 * by_pairing.min():.0f} to "
    f"{100 * by_pairing.max():.0f} % of its fall are a fall of the exact "
    f"score, against {100 * by_exact.min():.0f} to "
    f"{100 * by_exact.max():.0f} %."
)

# %% [markdown]
# ## Takeaways
#
# * Compare a pulled network with the free one of the same seed: the differences are smaller than what seeds do.
# * Measure what you trained for on held-out images and with the exact coupling; the training batch flatters it.
# * A target outside of what a network does by itself costs accuracy first. Pull gently, or towards where it goes anyway.
#
# ## Exercises
#
# ```{exercise} 18.1 A gradient by hand
# :label: ex-18-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see what the gradient of a score is made of.
#
# For $d = 1$ the paired score is $1 - \sqrt{1 - r}$ with $r$ the correlation of $x$ and $y$, where that is positive. Let $x =
# (-1, 0, 1)$ and $y = (0, 0, 1)$. By how much does the score change for a small change of $y_3$? Hand in the derivative.
# ```
#
# ```{admonition} Hint for 18.1
# :class: dropdown hint
#
# $r = c / \sqrt{v_x v_y}$ with $c = \tfrac13 y_3$; and $v_y$ depends on $y_3$. What happens to a correlation when $y$ is multiplied by a number?
# ```

# %%
answer = None  # your answer here: the derivative
# affscore.exercises.check("18.1", answer)

# %% [markdown]
# ```{solution-start} ex-18-1
# :class: dropdown
# ```
#
# With $y = (0, 0, t)$ all values are $t$ times those of $(0, 0, 1)$, and no correlation depends on $t$: the derivative is 0.

# %%
affscore.exercises.check("18.1", 0.0)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 18.2 A score that does not train
# :label: ex-18-2
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: know where the cut at 0 hides the gradient.
#
# Find samples $x$ and $y$ of 10 to 200 points in one dimension whose paired score is 0 with a gradient of 0, while the raw
# score has a gradient. Hand in `(x, y)`.
# ```
#
# ```{admonition} Hint for 18.2
# :class: dropdown hint
#
# Which map has a correlation below zero? Compare `clip=True` and `clip=False`.
# ```

# %%
answer = None  # your answer here: two arrays (x, y)
# affscore.exercises.check("18.2", answer)

# %% [markdown]
# ```{solution-start} ex-18-2
# :class: dropdown
# ```
#
# Where $y$ falls with $x$, the pairing is the worst coupling: $1 - \sqrt{1 - r} < 0$. So the penalty uses the raw score.

# %%
x = np.linspace(-1, 1, 20)
affscore.exercises.check("18.2", (x, np.maximum(-x, 0)))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 18.3 Is it the score?
# :label: ex-18-3
# :nonumber:
#
# *Design · 25 minutes · hard.* Aim: separate what is trained for from the training.
#
# Networks that were pulled to a mean score of 0.95 differ from free ones in their accuracy under noise. Somebody concludes
# that linear networks are robust. Design the study that could show it: which other trainings, what is held equal, which
# unit and test, and which result would refute the conclusion.
# ```
#
# ```{admonition} Hint for 18.3
# :class: dropdown hint
#
# What else does a penalty of weight 20 do to a training? Which other penalty does the same without the score?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-18-3
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
