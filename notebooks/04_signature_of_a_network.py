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
# A network has many activations, and each of them meets its own data. This chapter measures the affinity score of every
# one of them while images pass through, and reads the resulting list of numbers, the **non-linearity signature**. You
# will learn
#
# * what exactly is measured, and where,
# * how a feature map becomes a point of a cloud, a choice that moves the scores,
# * how steady a signature is, and what training changes in it,
# * how to do the same for your own network: every result of this chapter follows from the parameters in the next cell.

# %% tags=["parameters"]
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
from affscore.parameters import check_parameters

check_parameters(globals())

# %% [markdown]
# ## One call
#
# Let $\sigma_1, \dots, \sigma_L$ be the activations of a network in the order in which they run, and $X_i$ what arrives at
# $\sigma_i$ when $n$ images pass. A reduction $r$ makes a vector of each image's feature map. The signature is the list
#
# $$
# \rho(\text{network}) = \bigl(\rho(r(X_1), r(\sigma_1(X_1))), \dots, \rho(r(X_L), r(\sigma_L(X_L)))\bigr),
# $$
#
# where $\rho$ is the affinity score of {doc}`01_the_affinity_score`: 1 where the activation did to these data what an
# affine map could have done, lower where it bent them. More images than $n$ make several batches, whose scores are
# averaged {cite}`bouniot2025alexnet`.

# %%
import warnings

import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from affscore.figures import raw_signature
from IPython.display import Markdown

warnings.simplefilter(
    "ignore", UserWarning
)  # warnings are printed with the result

spec = model if "@" in model or not weights else f"{model}@{weights}"
network = affscore.load_model(spec, seed)
options = {
    "images": images or None,
    "device": device,
    "seed": seed,
    "progress": False,
}

result = affscore.signature(
    network, dataset, n=n, reduction=reduction, order=order, **options
)
print(result)

# %% tags=["hide-input", "front-page"] mystnb={"figure": {"name": "fig-signature", "caption": "The non-linearity signature: the affinity score of every activation over its depth, coloured by what kind of activation it is (figure 10 of the paper; `affscore.figures.raw_signature`)."}, "image": {"alt": "Scatter plot. Horizontal axis: depth of the activation in the network; vertical axis: affinity score from 0 to 1. One point for each activation; the first activation of a block and the one that follows its residual sum have a colour and a marker each."}}
raw_signature(result)
plt.show()

# %% [markdown]
# {numref}`fig-signature` is what the chapter is about. By default it shows the small residual network of the package,
# on 8 x 8 digits {cite}`alpaydin1998optical` that it was not trained on. Every second ReLU follows a residual sum; in
# the deeper half of that network these are the most nearly affine ones, as in the ResNets {cite}`he2016deep` of the
# paper: the sum carries a large part of the signal past the bend.
#
# The same, as a table. `depth` is the largest number of activations on a path from the image to this one, so parallel
# branches share a depth. `width` is the number $c$ of channels: the score compares two clouds of $n$ points in
# $\mathbb R^c$. The scores of several batches are averaged; `score_std` is their standard deviation, and is missing where
# there is one batch only.

# %% tags=["hide-input"]
columns = [
    "layer",
    "call",
    "activation",
    "kind",
    "depth",
    "width",
    "score",
    "score_std",
]
result.summary[columns].round(3).set_index("layer")

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
small.summary[["layer", "activation", "kind", "depth", "score"]].round(3)

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

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-reductions", "caption": "One network, one set of images, three answers: the reduction and its order are part of the measurement (definition 3.1; `affscore.figures.raw_signature`)."}, "image": {"alt": "Three scatter plots of the affinity score over depth for the same network: averages of inputs and outputs, averages taken before the activation, and one random position for each image. The scores differ from panel to panel."}}
choices = [
    ("mean", "activate-first"),
    ("mean", "reduce-first"),
    ("sample", "activate-first"),
]
measured = {(reduction, order): result}
for choice in choices:
    if choice not in measured:
        measured[choice] = affscore.signature(
            network,
            dataset,
            n=n,
            reduction=choice[0],
            order=choice[1],
            criteria=False,
            **options,
        )
reductions = [measured[choice] for choice in choices]
raw_signature(reductions, columns=3)
plt.show()

# %% tags=["hide-input"]
comparison = pd.DataFrame(
    {
        f"{r}, {o}": s.scores
        for (r, o), s in zip(choices, reductions, strict=True)
    }
)
change = comparison.sub(comparison.iloc[:, 0], axis=0).abs()
pd.DataFrame(
    {
        "mean score": comparison.mean(),
        "smallest": comparison.min(),
        "largest": comparison.max(),
        "largest change": change.max(),
    }
).round(3)

# %% [markdown]
# The last column says how far a single score moves against the default. Compare signatures only under the same
# reduction and order; the library stores both with every result.
#
# One more disagreement concerns networks that keep their channels last. The published code always averages over the
# axes behind the second: for a vision transformer's {cite}`dosovitskiy2021image` $(n, \text{tokens}, c)$ that is the
# channels, for Swin {cite}`liu2021swin` and ConvNeXt {cite}`liu2022convnet` the width and the channels. Here the channel
# axis is followed from the layer that makes it, and a ViT-B/16 has twelve activations of width 3072.
# `reduction="published"` does as the published code does.
#
# ## How steady is it?
#
# A score is a statistic of $n$ images. With fewer images it varies more, and it is biased upwards, since a map with
# $c \times c$ coefficients is fitted to $n$ points. Shrinking the covariances (Ledoit and Wolf) reduces the bias.

# %% tags=["hide-input"]
used = int(
    result.table["n"].max()
)  # less than the parameter n where there are fewer images
smaller = [
    affscore.signature(
        network,
        dataset,
        n=size,
        reduction=reduction,
        order=order,
        criteria=False,
        **options,
    )
    for size in sorted({max(used // 4, 2), max(used // 2, 2)})
]
steadiness = {int(s.table["n"].max()): s for s in [*smaller, result]}
pd.DataFrame(
    {
        "batches": {
            size: int(s.table["batch"].nunique())
            for size, s in steadiness.items()
        },
        "mean score": {
            size: np.nanmean(s.scores) for size, s in steadiness.items()
        },
        "standard deviation over batches": {
            size: s.summary["score_std"].mean()
            for size, s in steadiness.items()
        },
        f"largest change against n = {used}": {
            size: np.nanmax(np.abs(s.scores - result.scores))
            for size, s in steadiness.items()
        },
    }
).rename_axis("n").round(3)

# %% [markdown]
# Compare the standard deviations with the paper's: 0.004 to 0.024 for its networks on ImageNet (figures 10 to 13).
#
# ## What training changes
#
# The same architecture with random weights has a signature, too. In the paper an untrained VGG16
# {cite}`simonyan2015very` becomes more and more nearly affine with depth, and training brings the non-linearity back
# (figure 9).

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-training", "caption": "With the given weights and as built, with random ones (figure 9 of the paper, there for VGG16; `affscore.figures.raw_signature`)."}, "image": {"alt": "Two scatter plots of the affinity score over depth: the network with the given weights, and the same architecture with the weights it is built with."}}
name = spec.partition("@")[0]
trained_or_not = [result]
if result.metadata["weights"] not in ("random", "as built"):
    # a file of one's own has no @random: without a file of weights it gives the network as built
    untrained = affscore.load_model(
        name if ".py:" in name else f"{name}@random", seed
    )
    trained_or_not.append(
        affscore.signature(
            untrained,
            dataset,
            n=n,
            reduction=reduction,
            order=order,
            criteria=False,
            **options,
        )
    )
raw_signature(trained_or_not)
plt.show()

# %% tags=["hide-input"]
pd.DataFrame(
    {
        f"{s.table['weights'].iloc[0]} weights": {
            "mean score": np.nanmean(s.scores),
            "smallest": np.nanmin(s.scores),
            "largest": np.nanmax(s.scores),
        }
        for s in trained_or_not
    }
).round(3)

# %% tags=["remove-input"]
if len(trained_or_not) == 2:
    trained, random = (s.scores for s in trained_or_not)
    sentence = f"{(random > trained).sum()} of {len(trained)} activations are more nearly affine with random weights."
else:
    sentence = "This network has the weights with which it was built, so there is nothing to compare."
Markdown(sentence)

# %% [markdown]
# On the default network training makes nearly every activation more non-linear: it spreads the images over the bend.
# This is one small network on one small data set, not a general rule. (`FILE.py:factory@WEIGHTS` gives both panels
# for a file of your own.)
#
# ## Takeaways
#
# * A signature has one score for each activation **call**; depth is counted along the longest path.
# * The reduction and its order are part of the measurement. They move scores by more than the noise does.
# * Report $n$, the number of batches and their standard deviation. For a few hundred images the second decimal is
#   noise.
# * After a residual sum a ReLU is more nearly affine, above all in the deeper layers.
#
# ## Exercises
#
# ```{exercise} 4.1 The length of a signature
# :label: ex-4-1
# :nonumber:
#
# Without running it: how many scores has the signature of torchvision's ResNet-34? Its four stages have 3, 4, 6 and 3 basic
# blocks. Print `torchvision.models.resnet34()` if you like, but mind what a block does with its one ReLU module.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("4.1", answer)

# %% [markdown]
# ```{solution-start} ex-4-1
# :class: dropdown
# ```
#
# The stem has one ReLU. Each block calls its ReLU twice, after the first convolution and after the sum.

# %%
answer = 1 + 2 * (3 + 4 + 6 + 3)
affscore.exercises.check("4.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 4.2 Side by side
# :label: ex-4-2
# :nonumber:
#
# Write a `torch.nn.Module` for inputs of shape $(N, 10)$ that calls at least six activations, none of which is deeper than 3,
# with at least one at depth 3. Hand in the network.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("4.2", answer)

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
affscore.exercises.check("4.2", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 4.3 Channels last
# :label: ex-4-3
# :nonumber:
#
# Write the reduction `mean` for feature maps of shape $(N, H, W, C)$, channels last, as a function of a NumPy array that
# returns an array $(N, C)$. (This is where the published code averages over the wrong axes.) Hand in the function.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("4.3", answer)

# %% [markdown]
# ```{solution-start} ex-4-3
# :class: dropdown
# ```
#
# Images and channels stay, positions go.


# %%
def pool(features):
    return features.mean(axis=(1, 2))


answer = pool
affscore.exercises.check("4.3", answer)

# %% [markdown]
# ```{solution-end}
# ```
