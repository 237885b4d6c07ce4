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
# # The signature of a network
#
# **A network is not equally non-linear everywhere.** It has many activations, each of which meets its own data. This chapter
# measures the affinity score of every one of them while images pass through, and reads the list of
# numbers, the **non-linearity signature**: first of two trained networks, then of any network that you name. At the end it says what a score means as a
# number, and where those of trained networks lie.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
model: str = "mini:digitsnet"  # torchvision name, mini:NAME, file.py:factory
weights: str = ""  # fills in a missing @: DEFAULT, random, a name or a file
dataset: str = "digits"  # digits, cifar10, imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
reduction: str = "mean"  # or sum, flatten, sample, published
order: str = "activate-first"  # or reduce-first: the activation acts last
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, choice of images, positions of `sample`

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown

import affscore
import companion
from affscore.plots import raw_signature
from companion.chapter_04 import reference_ranges
from companion.shipped import RESULTS, trained_networks
from companion.style import table

warnings.simplefilter("ignore")  # warnings are printed with the result

# %% [markdown]
# ## Two signatures
#
# Both networks below have 55 ReLUs and were trained on CIFAR-10; the one on the right has shortcuts around each pair of
# its convolutions, the other one has none {cite}`he2016deep`. Every point is a ReLU, from the image at the left to the
# classes at the right.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-two-signatures", "caption": "Two trained networks of the same size: the plain one has scores between 0.6 and 0.95 all along; the residual one alternates between ReLUs near 0.6 inside its blocks and near 0.95 after a sum (19 batches of 512 images, bars of one standard deviation; paper Fig. 10 has others; `affscore.plots.raw_signature`)."}, "image": {"alt": "Two scatter plots of the affinity score over depth for 55 ReLUs. In the plain network the points lie between 0.6 and 0.95 without order by kind. In the residual network they form two bands: those inside a block around 0.6, those after a residual sum near 0.95; both fall in the last third."}}
trained = trained_networks()
raw_signature(
    [trained["plainnet56"], trained["resnet56"]],
    titles=["plain, 56 layers", "residual, 56 layers"],
)

# %% [markdown]
# Read the right panel in three steps.
#
# * **The upper band** are the ReLUs after a residual sum. What arrives there is mostly what the shortcut brought, a signal that
#   was already rectified: only a third of their outputs are zero, and a ReLU changes little in such data.
# * **The lower band** are the ReLUs inside the blocks. Seven of ten of their outputs are zero, and a ReLU that
#   is rarely active is strongly non-linear ({doc}`02_activation_functions`).
# * **Along the depth** both bands fall, most in the last of the three stages, where maps have 64 channels: towards the classes
#   the network uses more of its non-linearity. The plain network has its lowest scores there, too.
#
# The eleven trained networks whose results come with the book, each with its lowest, median and highest score
# (CIFAR-10: the networks of 20 to 56 layers; ImageNet: the others):

# %% tags=["hide-input"]
rows = {}
for name, one in trained.items():
    after = one.summary["kind"] == "after-sum"
    rows[name] = {
        "activations": len(one.scores),
        "lowest": one.scores.min(),
        "median": np.median(one.scores),
        "highest": one.scores.max(),
        "after a sum": one.scores[after].mean(),
        "elsewhere": one.scores[~after].mean(),
        "± between batches": one.summary["score_std"].mean(),
    }
of_eleven = pd.DataFrame.from_dict(rows, orient="index")
table(of_eleven, digits={"± between batches": 3})

# %% [markdown]
# The last column is the standard deviation of a score over batches of 512 images, averaged over the network (a dash where there is
# one batch). The paper has 0.004 to 0.024 for its networks on ImageNet. What the shortcut does to a signature is the
# subject of {doc}`05_residual_connections`.
#
# ## One call
#
# Let $\sigma_1, \dots, \sigma_L$ be the activations of a network in the order in which they run, and $X_i$ what arrives at
# $\sigma_i$ when $n$ images pass. A reduction $r$ makes a vector of each image's feature map. The signature is the list
#
# $$
# \rho(\text{network}) = \bigl(\rho(r(X_1), r(\sigma_1(X_1))), \dots, \rho(r(X_L), r(\sigma_L(X_L)))\bigr),
# $$
#
# where $\rho$ is the affinity score of {doc}`01_the_affinity_score`. More images than $n$ make several batches, whose
# scores are averaged {cite}`bouniot2025alexnet`. Everything below follows from the parameters above; by default it shows the small
# residual network of the package on 8 x 8 digits {cite}`alpaydin1998optical` that it was not trained on.

# %%
spec = model if "@" in model or not weights else f"{model}@{weights}"
network = affscore.load_model(spec, seed)
options = {"device": device, "seed": seed, "progress": False}
options |= {"images": images or None, "reduction": reduction, "order": order}
result = affscore.signature(network, dataset, n=n, **options)
print(result)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-signature", "caption": "In this example, a small residual network on digits, the first ReLU bends its data most and the last one, after a sum, least: the affinity score of every activation over its depth, coloured by what kind of activation it is (paper Fig. 10; `affscore.plots.raw_signature`)."}, "image": {"alt": "Scatter plot. Horizontal axis: depth of the activation in the network; vertical axis: affinity score. One point for each activation; the first activation of a block and the one that follows its residual sum have a colour and a marker each."}}
raw_signature(result)

# %% [markdown]
# ## What counts as an activation
#
# Every elementwise activation that **runs** counts, once for each call, whether it is a module or a function and whether or
# not it overwrites its input. A module that is used twice, as the ReLU in each block of a ResNet, counts twice; one that
# is defined and never called does not count at all. Softmax in attention is not elementwise and does not count. The gates
# of squeeze-and-excite blocks count as a kind of their own. The whole list, and what to do about an activation of one's
# own, is in {doc}`../book/activations`.
#
# The recorder sees the calls as they happen, so that it needs to know nothing about the network. Here it watches a block
# with two branches that meet again:


# %%
class TwoBranches(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.long = torch.nn.Sequential(
            torch.nn.Linear(8, 8),
            torch.nn.Tanh(),
            torch.nn.Linear(8, 8),
            torch.nn.Tanh(),
        )
        self.short = torch.nn.Linear(8, 8)

    def forward(self, x):
        x = torch.relu(x)
        return torch.nn.functional.gelu(
            self.long(x) + torch.sigmoid(self.short(x))
        )


points = torch.randn(256, 8, generator=torch.Generator().manual_seed(seed))
torch.manual_seed(seed)
small = affscore.signature(
    TwoBranches(), points, criteria=False, progress=False
)
branches = small.summary.set_index("layer")
table(branches[["activation", "kind", "depth", "score"]])

# %% [markdown]
# The sigmoid of the short branch has depth 2, like the first tanh of the long one: one ReLU comes before each. The GELU
# where the branches meet has depth 4, one more than the deeper branch.
#
# ## From a feature map to a vector
#
# A convolution hands its activation a tensor of shape $(n, c, h, w)$, and a score needs points. Four reductions keep the
# channels as coordinates or keep everything:
#
# | reduction | point of an image | |
# |---|---|---|
# | `mean` | the average over all positions, per channel | the default, as in the paper |
# | `sum` | the sum over all positions | activate first: the same score as `mean` |
# | `sample` | the channels at one random position | a true input and output of the activation |
# | `flatten` | all $c\,h\,w$ numbers | expensive |
#
# There is a second choice. The published code averages the activation's output, $r(\sigma(X))$: **activate first**.
# Definition 3.1 as it is printed applies the activation to the averaged input, $\sigma(r(X))$: **reduce first**. These are
# different clouds. Averages of ReLU outputs over many positions vary almost in proportion to the averages of the
# inputs, which looks more affine. Reduce first and `sample` show the bend itself, unless all averages lie on one side
# of it: then reduce first sees an affine map.
#
# With activate first, `sum` and `mean` have the same score, because the score does not see the scale. With reduce first the
# activation is fed sums in the place of averages, and these lie elsewhere on its curve. (ReLU does not mind, since
# $\sigma(t x) = t\,\sigma(x)$ for $t > 0$; GELU and tanh do.)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-reductions", "caption": "One network, one set of images, three signatures: the reduction and its order are part of the measurement (`affscore.plots.raw_signature`)."}, "image": {"alt": "Three scatter plots of the affinity score over depth for the same network: averages of inputs and outputs, averages taken before the activation, and one random position for each image. The scores differ from panel to panel."}}
choices = [
    ("mean", "activate-first"),
    ("mean", "reduce-first"),
    ("sample", "activate-first"),
]
measured = {(reduction, order): result}
for choice in choices:
    if choice not in measured:
        ways = dict(zip(("reduction", "order"), choice, strict=True))
        measured[choice] = affscore.signature(
            network, dataset, n=n, criteria=False, **options | ways
        )
reductions = [measured[choice] for choice in choices]
titles = [", ".join(choice) for choice in choices]
raw_signature(reductions, columns=3, titles=titles)


# %% tags=["hide-input"]
def compared(signatures):
    """A row for each signature, and how far it is from the first."""
    first = next(iter(signatures.values())).scores
    rows = {
        name: {
            "mean score": np.nanmean(one.scores),
            "smallest": np.nanmin(one.scores),
            "largest": np.nanmax(one.scores),
            "largest change": np.nanmax(np.abs(one.scores - first)),
        }
        for name, one in signatures.items()
    }
    return pd.DataFrame(rows).T


of_resnet = compared(
    {
        title: trained_networks(*choice)["resnet56"]
        for title, choice in zip(titles, choices, strict=True)
    }
)
table(of_resnet.rename_axis("resnet56"))

# %% [markdown]
# The last column says how far a single score moves against the default. **Signatures compare only under the same
# reduction and order**; the library stores both with every result, and {doc}`10_every_choice_at_once` makes all choices.
#
# One more disagreement concerns networks that keep their channels last. The published code always averages over the
# axes behind the second: for a vision transformer's {cite}`dosovitskiy2021image` $(n, \text{tokens}, c)$ that is the
# channels, for Swin {cite}`liu2021swin` and ConvNeXt {cite}`liu2022convnet` the width and the channels. Here the channel
# axis is followed from the layer that makes it, and a ViT-B/16 has twelve activations of width 3072.
# `reduction="published"` does as the published code does.
#
# (reading-one)=
# ## Reading one
#
# You have measured a network, and the list says 0.62, 0.97, 0.48. Is that much? The score is one minus a distance, and distances are roots. Where each input is coupled with its own output, as in
# most layers, a score $\rho$ belongs to the correlation $\kappa = 1 - (1 - \rho)^2$ between the outputs and the
# affine image of the inputs ({prf:ref}`pairing <prop-paired>`). The scale is not linear: much of the interesting
# range lies between 0.5 and 0.9, and 0.9 already means a correlation of 0.99. Beside each score stands the share of the
# activations of networks trained on photographs (CIFAR-10 and ImageNet) that score lower.

# %% tags=["hide-input"]
shipped = affscore.load_results(RESULTS)
rows = shipped[
    (shipped["units"] == "activations")
    & (shipped["reduction"] == "mean")
    & (shipped["order"] == "activate-first")
    & (shipped["weights"] != "random")
]
seen = rows["dataset"].str.extract("(digits|cifar|imagenet)")[0]
WORDS = {"cifar": "CIFAR-10", "imagenet": "ImageNet"}
rows = rows.assign(images=seen.replace(WORDS))
PLACES = {
    "first": "first in a block",
    "second": "second in a block",
    "after-sum": "after a sum",
    "hidden": "outside of blocks",
    "gate": "gate",
    "squeeze": "before a gate",
}

levels = [0.99, 0.97, 0.95, 0.9, 0.8, 0.7, 0.62, 0.5, 0.3, 0.0]
scale = pd.DataFrame({"score": levels})
scale["correlation"] = 1 - (1 - scale["score"]) ** 2
photographs = rows[rows["images"] != "digits"]
photographs = photographs.groupby(["images", "model", "index", "kind"])[
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

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-ranges", "caption": "Scores after a sum are near 1, and those within blocks spread widely. A row for each place and activation with at least eight scores; the number of activations stands behind its name. Drawn by `companion.chapter_04.score_ranges`."}, "image": {"alt": "Horizontal bars, one for each place and activation, for networks on digits, CIFAR-10 and ImageNet. Bars after a sum end near 1; those of the first and second activation of a block reach from about 0.5 to 0.9."}}
ranges = reference_ranges(
    rows, ["images", "kind", "activation"]
).reset_index()
ranges = ranges[ranges["activations"] >= 8].assign(
    place=lambda t: t["kind"].map(PLACES).fillna(t["kind"])
)
largest_first = {"ImageNet": 0, "CIFAR-10": 1}
shown = ranges.sort_values(
    ["images", "place", "activation"],
    key=lambda c: c.map(largest_first).fillna(2) if c.name == "images" else c,
    ignore_index=True,
)
companion.chapter_04.score_ranges(
    shown,
    [
        f"{one.activation} {one.place} ({one.activations})"
        for one in shown.itertuples()
    ],
    shown["images"],
)
plt.show()

# %% [markdown]
# ```{admonition} How far to trust these ranges
# :class: caution
# They describe few networks: eight on CIFAR-10, three on ImageNet (512 images each) and the small ones on digits. The
# activations of a network depend on each other. A score outside is a reason to look, not an error. Under another reduction
# or order the ranges are others ({doc}`10_every_choice_at_once`).
# ```
#
# ### What you see, and what to do
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
#
# **Dead channels.** A channel that is always zero adds nothing to the variance of the output. With the empirical covariance the
# score is that of the other channels. Ledoit–Wolf, though, gives every channel some variance, also a dead one, and the score
# falls.
#
# | first look at | because |
# |---|---|
# | `print(signature)` and `signature.notes` | what is wrong with a number is said there |
# | `signature.metadata` | weights, images, $n$, reduction, order: compare only like with like |
# | `kind` beside each score | ranges differ by place |
# | `score_std` | what another batch does |
# | `affscore.multiverse(...)` | whether a conclusion depends on the specification |
#
# Whether one network is more non-linear than another is a question with an interval: {ref}`comparing`.
#
# ## What we found

# %% tags=["remove-input", "findings"]
plain, residual = (of_eleven.loc[name] for name in ("plainnet56", "resnet56"))
moved = of_resnet["largest change"].iloc[1:]
each = photographs.reset_index()
after = each.loc[each["kind"] == "after-sum", "score"]
inside = each.loc[each["kind"].isin(["first", "second"]), "score"]
explained = {
    name: 100
    * each.groupby(name)["score"].transform("mean").var()
    / each["score"].var()
    for name in ("kind", "model")
}
Markdown(f"""
* A residual network alternates: of the 55 ReLUs of a trained ResNet-56 those \
after a sum score **{residual["after a sum"]:.2f}** on average and those inside \
the blocks **{residual["elsewhere"]:.2f}**. The same network without \
shortcuts has a mean of {plain["elsewhere"]:.2f} and no such bands.
* How feature maps become vectors is part of the measurement: on ResNet-56 it \
moves single scores by up to {moved.max():.2f}, where batches of images move \
them by {residual["± between batches"]:.3f}.
* On photographs the median score is {after.median():.2f} after a sum and \
{inside.median():.2f} within blocks. The place explains \
{explained["kind"]:.0f} % of the variance of scores, the network \
{explained["model"]:.0f} %.
""")

# %% [markdown]
# ## Takeaways
#
# * A signature has one score for each activation **call**; depth is counted along the longest path.
# * After a residual sum a ReLU is nearly affine; inside a block it is strongly non-linear.
# * The reduction and its order move scores by more than the noise does: signatures compare only where they agree.
# * With a few hundred images the second decimal is noise.
#
# ## Exercises
#
# ```{exercise} 4.1 The length of a signature
# :label: ex-4-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: count calls, not modules.
#
# Without running it: how many scores has the signature of torchvision's ResNet-34? Its four stages have 3, 4, 6 and 3 basic
# blocks. Print `torchvision.models.resnet34()` if you like, but mind what a block does with its one ReLU module.
# ```
#
# ```{admonition} Hint for 4.1
# :class: dropdown hint
# How often does `BasicBlock.forward` call `self.relu`? And is there an activation before the first block?
# ```

# %%
answer = None  # your answer here
# companion.exercises.check("4.1", answer)

# %% [markdown]
# ```{solution-start} ex-4-1
# :class: dropdown
# ```
#
# The stem has one ReLU. Each block calls its ReLU twice, after the first convolution and after the sum.

# %%
answer = 1 + 2 * (3 + 4 + 6 + 3)
companion.exercises.check("4.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 4.2 Side by side
# :label: ex-4-2
# :nonumber:
#
# *Change code · 20 minutes · medium.* Aim: tell depth from the number of activations.
#
# Write a `torch.nn.Module` for inputs of shape $(N, 10)$ that calls at least six activations, none of which is deeper than 3,
# with at least one at depth 3. Hand in the network.
# ```
#
# ```{admonition} Hint for 4.2
# :class: dropdown hint
# Let several activations read the same tensor: none of them lies behind another.
# ```

# %%
answer = None  # your answer here
# companion.exercises.check("4.2", answer)

# %% [markdown]
# ```{solution-start} ex-4-2
# :class: dropdown
# ```
#
# Four branches start from the same input; where they have been concatenated, two more activations follow.


# %%
class Inception(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = torch.nn.ModuleList(
            torch.nn.Linear(10, 4) for _ in range(4)
        )
        self.mixed, self.head = (
            torch.nn.Linear(16, 16),
            torch.nn.Linear(16, 2),
        )

    def forward(self, x):
        merged = torch.cat(
            [torch.relu(branch(x)) for branch in self.branches], dim=1
        )
        return torch.sigmoid(self.head(torch.relu(self.mixed(merged))))


answer = Inception()
companion.exercises.check("4.2", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 4.3 More or less non-linear?
# :label: ex-4-3
# :nonumber:
#
# *Argue · 15 minutes · medium.* Aim: not to reduce a signature to one number without a question.
#
# Look at {numref}`fig-two-signatures` and its table. One student says: "The residual network is more non-linear: its lowest score is 0.47, that of the
# plain one 0.63." Another one: "It is less non-linear: more than a third of its activations score above 0.9." Which claim does the data support? Say what a third
# student would have to compute to compare the two networks *as functions*, and why no statistic of the signature does that.
# ```
#
# ```{admonition} Hint for 4.3
# :class: dropdown hint
# A score belongs to one activation on its data. What happens to the output of a block that is added to a much larger signal?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-4-3
# :class: dropdown
# ```
#
# Both statements are true of the signatures, and neither is a statement about the networks. The minimum looks at one activation and the share above 0.9 at one kind of
# activations; the means (0.77 and 0.82) are close. A strongly non-linear activation inside a residual block acts on a branch whose output is added to
# the shortcut: how much of it arrives depends on the sizes of both, which the score of that activation does not know. So a signature does not add up to the
# non-linearity of the whole map.
#
# To compare the functions, measure the map itself: score the input of the network against its logits, or count linear regions along paths
# between images ({doc}`15_linear_regions`), or replace activations by linear ones and see how many predictions
# change ({doc}`16_nonlinear_advantage`).
#
# **Rubric** (5 points)
# * 1: both sentences describe the signature correctly
# * 2: why neither transfers to the network: scores per activation, and a branch that is added to a shortcut
# * 1: a measurement of the whole map, or an intervention
# * 1: says what outcome of it would support which student
#
# ```{solution-end}
# ```
