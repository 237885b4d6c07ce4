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
# # Reading a signature
#
# You have measured a network, and the list says 0.62, 0.97, 0.48. Is that much? This page says what a score means as
# a number, where the scores of trained networks lie by kind of activation and by place, what to do about what you see,
# and how to compare two networks. All numbers are computed from the results that come with the package.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
    )

# %% tags=["parameters", "hide-input"]
first: str = "shipped:resnet56"  # a result to read: shipped:MODEL, a file
second: str = "shipped:plainnet56"  # another, to compare it with
a: str = "mini:resnet34"  # a network to measure: MODEL or MODEL@WEIGHTS
b: str = "mini:vgg16"  # another, to compare it with
data: str = "digits"  # what a and b see
results: str = ""  # the folder of a store; empty: that of the package

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from affscore.analysis import reference_ranges
from affscore.experiments import limit_score
from affscore.figures import table
from affscore.transport import expected_bias, points_needed
from IPython.display import Markdown

measured = affscore.load_results(results or None)
measured = measured[measured["units"] == "activations"]
rows = measured[
    (measured["reduction"] == "mean")
    & (measured["order"] == "activate-first")
    & (measured["weights"] != "random")
]
WORDS = {"digits": "digits", "cifar": "CIFAR-10", "imagenet": "ImageNet"}


def images_of(dataset):
    """What the networks saw, in words."""
    known = [word for key, word in WORDS.items() if key in dataset]
    return known[0] if known else dataset


rows = rows.assign(images=rows["dataset"].map(images_of))
PLACES = {
    "first": "first in a block",
    "second": "second in a block",
    "after-sum": "after a sum",
    "hidden": "outside of blocks",
    "gate": "gate",
    "squeeze": "before a gate",
}

# %% [markdown]
# ## What a score says
#
# The score is one minus a distance, and distances are roots. Where each input is coupled with its own output, as in
# most layers, a score $\rho$ belongs to the correlation $\kappa = 1 - (1 - \rho)^2$ between the outputs and the
# affine image of the inputs ({prf:ref}`pairing <prop-paired>`). The scale is not linear: much of the interesting
# range lies between 0.5 and 0.9, and 0.9 already means a correlation of 0.99. Beside each score stands the share of the
# activations of networks trained on photographs (CIFAR-10 and ImageNet) that score lower.

# %% tags=["hide-input"]
levels = [0.99, 0.97, 0.95, 0.9, 0.8, 0.7, 0.62, 0.5, 0.3, 0.0]
scale = pd.DataFrame({"score": levels})
scale["correlation"] = 1 - (1 - scale["score"]) ** 2
photographs = rows[rows["images"] != "digits"]
photographs = photographs.groupby(["images", "model", "index"])[
    "score"
].mean()
scale["below"] = [(photographs < score).mean() for score in levels]
scale["reading"] = [
    "affine for most purposes, or saturated: look which",
    "nearly affine: few score more, nearly all of them after a sum",
    "nearly affine: after a sum, a gate",
    "bends little",
    "a usual ReLU of a trained network",
    "a usual ReLU within a block",
    "a ReLU of a wide standard normal cloud: half of it is cut off",
    "a ReLU most of whose outputs are zero",
    "few networks have one; rare activity, or heavy tails",
    "no affine map is better than an independent cloud; not reached",
]
table(
    scale,
    {
        "score": "score",
        "correlation": "correlation κ",
        "below": "lower on photographs (%)",
        "reading": "reading",
    },
    digits={"correlation": 4, "below": 0},
).set_index("score")

# %% [markdown]
# ## Reference ranges
#
# Where do trained networks lie? The ranges below hold the middle nine tenths of the scores, for one specification (reduction
# `mean`, order `activate-first`, Ledoit–Wolf, exact coupling, $n = 512$). The kinds are those of {doc}`../book/activations`.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-93-ranges", "caption": "Scores after a sum are near 1, and those within blocks spread widely. A row for each place and activation with at least eight scores; the number of activations stands behind its name. Drawn by `affscore.figures.score_ranges`."}, "image": {"alt": "Horizontal bars, one for each place and activation, for networks on digits, CIFAR-10 and ImageNet. Bars after a sum end near 1; those of the first and second activation of a block reach from about 0.5 to 0.9."}}
ranges = reference_ranges(
    rows, ["images", "kind", "activation"]
).reset_index()
ranges = ranges[ranges["activations"] >= 8].assign(
    place=lambda t: t["kind"].map(PLACES).fillna(t["kind"])
)
order = {"ImageNet": 0, "CIFAR-10": 1}
shown = ranges.sort_values(
    ["images", "place", "activation"],
    key=lambda c: c.map(order).fillna(2) if c.name == "images" else c,
    ignore_index=True,
)
affscore.figures.score_ranges(
    shown,
    [
        f"{one.activation} {one.place} ({one.activations})"
        for one in shown.itertuples()
    ],
    shown["images"],
)
plt.show()

# %% tags=["hide-input"]
table(
    shown[shown["images"] != "digits"],
    {
        "images": "images",
        "place": "place",
        "activation": "activation",
        "networks": "networks",
        "activations": "scores",
        "low": "5 % lie below",
        "median": "median",
        "high": "5 % lie above",
    },
).set_index("images")

# %% [markdown]
# ```{admonition} How far to trust these ranges
# :class: caution
# They describe few networks: eight on CIFAR-10, three on ImageNet (512 images each) and the small ones on digits. The
# activations of a network depend on each other. A score outside is a reason to look, not an error. Under another reduction
# or order the ranges are others ({doc}`09_a_multiverse_of_signatures`).
# ```
#
# ### The lowest scores
#
# What makes a ReLU bend most is not a kink in the middle of the data but one at their edge. For normal inputs with a share of
# positive ones of $p$, in high dimension:

# %% tags=["hide-input"]
normal = torch.distributions.Normal(0.0, 1.0)
shares = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.95]
active = pd.DataFrame({"active": shares})
active["score"] = [
    limit_score(torch.relu, mean=float(normal.icdf(torch.tensor(share))))
    for share in shares
]
table(
    active,
    {"active": "inputs above zero (%)", "score": "score of ReLU"},
    digits={"active": 0},
).set_index("inputs above zero (%)")

# %% tags=["remove-input"]
each = (
    rows.groupby(["images", "model", "index", "kind", "activation"])
    .agg(score=("score", "mean"), zeros=("sparsity_after", "mean"))
    .reset_index()
)
relus = each[(each["activation"] == "relu") & (each["images"] != "digits")]
low = relus[relus["score"] < 0.5]
rest = relus[relus["score"] >= 0.5]
sentence = (
    f"Of {len(relus)} ReLUs on photographs {len(low)} score below 0.5. "
    + (
        f"In the median {100 * low['zeros'].median():.0f} % of their outputs are zero, against "
        f"{100 * rest['zeros'].median():.0f} % of the others."
        if len(low)
        else ""
    )
)
Markdown(sentence)

# %% [markdown]
# ### A signature against the ranges
#
# So one can ask of each score of a network whether it is unusual for its kind. Here is the parameter `first`, with the
# range of its own images:

# %% tags=["hide-input"]
comparison = affscore.compare(first, second, names=[first, second])
one, other = comparison.signatures.values()
mine = one.summary.assign(
    images=images_of(str(one.metadata["dataset"])),
    place=one.summary["kind"].map(PLACES).fillna(one.summary["kind"]),
).merge(
    shown[["images", "place", "activation", "low", "high"]],
    on=["images", "place", "activation"],
    how="left",
)
outside = mine[(mine["score"] < mine["low"]) | (mine["score"] > mine["high"])]
placed = mine["low"].notna().sum()
side = np.where(outside["score"] < outside["low"], "below", "above")
table(
    outside.assign(side=side).sort_values("score"),
    {
        "layer": "layer",
        "place": "place",
        "width": "channels",
        "score": "score",
        "low": "usual from",
        "high": "to",
        "side": "lies",
    },
    digits=3,
).set_index("layer")

# %% tags=["remove-input"]
Markdown(
    f"{len(outside)} of the {placed} activations of `{first}` that have a range lie outside it "
    "(a tenth would by chance alone, for a network that was not used to make the ranges)."
)

# %% [markdown]
# ## What you see, and what to do
#
# **0.6 after a sum.** Unusual: sums of a shortcut and a branch are mostly above zero, where ReLU is the identity. Look whether
# the shortcut is alive (its share of the variance), whether the activation stands before the sum instead (pre-activation
# blocks), and whether the network is trained. In a block, before the sum, 0.6 is usual.
#
# **0.99.** Three different things score near 1. *Affine*: inputs mostly on one side of the kink; `cka` and `r2` are near 1, too.
# *Saturated or dead*: the output is constant, the score is 1 by definition, and the column `flag` says `constant output`.
# *Averaged away*: with the reduction `mean` the average over hundreds of positions can be affine while the activation bends
# every single one. Measure again with `reduction="sample"`: if the score falls, it was the averaging
# ({doc}`03_estimating_it_well`).
#
# **Nearly everything above 0.9.** The network may be untrained, above all if it has SiLUs and gates. Check the weights
# (`signature.metadata["weights"]`) and the accuracy.

# %% tags=["remove-input"]
untrained = measured[
    (measured["weights"] == "random") & (measured["reduction"] == "mean")
]
medians = untrained.groupby("activation")["score"].median()
Markdown(
    "With random weights and random inputs the median scores of torchvision's networks are "
    + ", ".join(f"{value:.2f} for {name}" for name, value in medians.items())
    + "."
    if len(medians)
    else ""
)

# %% [markdown]
# **High dimension.** With more channels than samples the empirical covariance learns the pairs by heart, and scores rise towards
# 1 ({ref}`why <theory-closed-form>`). Keep the default, Ledoit–Wolf; compare layers of different widths with care;
# `effective_width` in the summary says how many directions count.
#
# **Few samples.** Scores of small batches are too high. The expected bias of a score of 0.62 with the empirical covariance, and how many
# samples keep it to about 0.01 (both to first order):

# %% tags=["hide-input"]
bias = pd.DataFrame({"ratio": [0.5, 1.0, 2.0, 4.0, 8.0]})
bias["bias"] = [expected_bias(0.62, ratio) for ratio in bias["ratio"]]
widths = pd.DataFrame({"width": [16, 64, 256, 1024]})
widths["samples"] = [points_needed(width) for width in widths["width"]]
table(
    bias,
    {"ratio": "samples per channel n/d", "bias": "expected bias"},
    digits={"ratio": 1, "bias": 3},
).set_index("samples per channel n/d")

# %% tags=["hide-input"]
table(
    widths,
    {"width": "channels d", "samples": "samples for a bias of about 0.01"},
).set_index("channels d")

# %% [markdown]
# The signature has a note where this matters. Raise `n`, or compare only at equal `n`.
#
# **Dead channels.** A channel that is always zero adds nothing to the variance of the output. With the empirical covariance the
# score is that of the other channels. Ledoit–Wolf, though, gives every channel some variance, also a dead one, and the score
# falls. For a ReLU of 256 independent normal channels ($n = 512$), a part of which never reaches zero:

# %% tags=["hide-input"]
dead = pd.DataFrame({"dead": [0.0, 0.25, 0.5, 0.9]})
for covariance in ("ledoit-wolf", "empirical"):
    scores = []
    for share in dead["dead"]:
        x = np.random.default_rng(0).standard_normal((512, 256))
        x[:, : int(256 * share)] -= 10
        scores.append(
            affscore.affinity_score(x, np.maximum(x, 0), covariance)
        )
    dead[covariance] = [score.value for score in scores]
table(
    dead,
    {
        "dead": "dead channels (%)",
        "ledoit-wolf": "Ledoit–Wolf",
        "empirical": "empirical",
    },
    digits={"dead": 0},
).set_index("dead channels (%)")

# %% [markdown]
# So where `sparsity_after` is high, look at the channels, and measure with `covariance="empirical"`, too ($n$ above the number of
# channels). A channel that is *rarely* active lowers the score for good reason: it bends most (the table further above).
#
# **One layer far below its neighbours.** Look at `bound_exceeded` and `raw` (heavy tails under shrinkage can push the raw score
# below zero), then at `paired`: if it is far below `score`, the transport gains by coupling inputs with foreign outputs, which
# happens where channels are few.
#
# **Scores move by 0.05 between two runs.** Look at the standard deviation over the batches (`score_std` in the summary), and at
# the seed of the training, which moves signatures more ({doc}`10_batch_size_and_seed`).
#
# | first look at | because |
# |---|---|
# | `print(signature)` and `signature.notes` | what is wrong with a number is said there |
# | `signature.metadata` | weights, images, $n$, reduction, order: compare only like with like |
# | `kind` beside each score | ranges differ by place |
# | `score_std` | what another batch does |
# | `affscore.multiverse(...)` | whether a conclusion depends on the specification |
#
# ## Is A more non-linear than B?
#
# A signature is a list, so the question needs a summary: the mean score. `affscore.compare` measures both on the same images, and
# `differences` gives an interval for the difference of the means over images, by a paired bootstrap: both networks keep seeing the
# same images when these are drawn again. Here are the parameters `a` and `b`:

# %%
pair = affscore.compare(a, b, data=data, criteria=False)
answer = pair.differences()
table(
    answer,
    {
        "a": "a",
        "b": "b",
        "difference": "mean score of a minus b",
        "low": "from",
        "high": "to (95 %)",
        "more non-linear": "more non-linear",
    },
    digits=3,
).set_index("a")

# %% [markdown]
# ```{admonition} What the interval does not cover
# :class: caution
# It is about other images of the same kind. Another training of the same architecture moves the mean, too
# ({doc}`10_batch_size_and_seed`): a statement on architectures needs several trainings of each.
# ```
#
# Stored results (a file, `shipped:`) hold scores and not what the interval needs, so it takes networks and data by name. Everything else of
# a comparison works with them: statistics, the DTW distance, and the figure. Here are `first` and `second`:

# %% tags=["hide-input"]
statistics = comparison.statistics.rename_axis("network").reset_index()
table(
    statistics,
    {
        "network": "network",
        "activations": "activations",
        "mean": "mean score",
        "std": "standard deviation",
        "min": "lowest",
        "median": "median",
        "max": "highest",
    },
).set_index("network")

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-93-compare", "caption": "A residual network, whose scores alternate, and its plain twin, whose scores do not, are far apart: signatures and distance, as `affscore.compare` draws them."}, "image": {"alt": "The scores of both networks in the order of their activations."}}
comparison.figure()
plt.show()

# %% [markdown]
# Then answer three questions before the one in the title:
#
# 1. **Same setting?** The same images, $n$, reduction, order and covariance. `compare` refuses or notes what differs.
# 2. **Same places?** A difference of the means may only say that one network has more activations after sums. Compare within kinds,
#    first with first, after-sum with after-sum.
# 3. **More than chance?** The interval above, or, of stored results, the difference in each batch of the same images.

# %% tags=["remove-input"]
batches = [
    signature.table.groupby("batch")["score"].mean()
    for signature in (one, other)
]
together = pd.concat(batches, axis=1, keys=["one", "other"]).dropna()
difference = together["one"] - together["other"]
by_place = [
    signature.summary.groupby("kind")["score"].mean()
    for signature in (one, other)
]
same = by_place[0].index.intersection(by_place[1].index)
places = ", ".join(
    f"{PLACES.get(kind, kind)} {by_place[0][kind] - by_place[1][kind]:+.2f}"
    for kind in same
)
alike = one.metadata["dataset"] == other.metadata["dataset"]
said = f"The mean score of `{first}` minus that of `{second}` is {one.scores.mean() - other.scores.mean():+.3f}"
if alike and len(difference) > 1:
    above = int((difference > 0).sum())
    said += (
        f"; over {len(difference)} batches of the same images it has the standard deviation {difference.std():.3f}, "
        f"and is positive in {above or 'none'}"
    )
Markdown(
    f"{said}. By place: {places}."
    if places
    else f"{said}. They share no kind of activation."
)

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
photographs = each[each["images"] != "digits"]
spread = ((photographs["score"] - photographs["score"].mean()) ** 2).sum()
explained = {
    name: 1
    - (
        (
            photographs["score"]
            - photographs.groupby(name)["score"].transform("mean")
        )
        ** 2
    ).sum()
    / spread
    for name in ("kind", "model")
}
after = each[(each["kind"] == "after-sum") & (each["images"] != "digits")]
inside = each[
    each["kind"].isin(["first", "second"]) & (each["images"] != "digits")
]
almost = each[each["score"] >= 0.98]
gates = (
    almost["kind"].isin(["after-sum", "gate"]).mean()
    if len(almost)
    else np.nan
)
lowest = relus.loc[relus["score"].idxmin()]
Markdown(
    f"* On photographs the median score is {after['score'].median():.2f} after a sum and "
    f"{inside['score'].median():.2f} within blocks. The place explains {100 * explained['kind']:.0f} % of the variance of scores, "
    f"the network {100 * explained['model']:.0f} %.\n"
    f"* Scores below 0.5 are rare, {len(low)} of {len(relus)} ReLUs on photographs, and belong to ReLUs that are mostly zero; "
    f"the lowest is {lowest['score']:.2f}, with {100 * lowest['zeros']:.0f} % zeros.\n"
    f"* Of all {len(each)} activations {len(almost)} score 0.98 or more; "
    f"{100 * gates:.0f} % of them stand after a sum or are gates."
)
