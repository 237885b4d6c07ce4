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
# *Where is a network non-linear, and what does one score say?* The list of the affinity scores of all
# activations, in the order in which they run, is its **non-linearity signature**
# {cite}`bouniot2025alexnet`.
#
# :::{admonition} What we found
# :class: findings
# **What counts as a low score depends on the place.** In 26 trained networks {glue:text}`inside a block-rare` of the scores inside a
# block lie below 0.6, and {glue:text}`after a sum-rare` of those after a shortcut's sum. So 0.6 after a sum is a reason to look.
# {bdg-warning}`depends`
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
import companion
from companion.parameters import check_parameters
from companion.style import say, table

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import pandas as pd
import torch

import affscore
from companion.chapter_04 import scores_and_zeros
from companion.figures import signatures
from companion.networks import network_title
from companion.real_networks import real_multiverses, real_scores
from companion.shipped import shipped_signature

# %% mystnb={"figure": {"name": "fig-resnet18", "caption": "In each block of ResNet-18 the ReLU after the sum scores higher than the one inside. Signatures of ResNet-18 (quantised ImageNet weights, 512 photographs) and of the network of this page."}, "image": {"width": "540px", "alt": "Affinity score over depth for the activations of two networks. In ResNet-18 those after a sum lie between 0.63 and 0.89, those inside a block between 0.49 and 0.75."}}
photographs = real_scores("photographs")
resnet = photographs.query("network == 'ResNet-18'")
spec = model if "@" in model or not weights else f"{model}@{weights}"
options = {"images": images or None, "device": device, "progress": False}
options |= {"reduction": reduction, "order": order, "n": n, "seed": seed}
result = affscore.signature(spec, dataset, **options)
both = [resnet, result.summary.assign(network=network_title(model))]
if model != "mini:digitsnet":
    both.reverse()  # a network of your own comes first
signatures(pd.concat(both))

# %% [markdown]
# Read a signature in three steps, here ResNet-18's.
#
# * **By place.** After a block's sum, scores are higher ({doc}`05_residual_connections`), though hardly in the last block but one.
#   (In DigitsNet, a small network on digits, they are in three blocks of four.)
# * **By zeros.** The more of its data a ReLU cuts off, the lower it scores ({numref}`fig-zeros`). After the sum at depth 15 it has
#   only {glue:text}`15-score`: {glue:text}`15-zeros` of its outputs are zero, after other sums at most {glue:text}`others-zeros`.
# * **Along the depth.** Where are the lowest scores? Here in the middle.

# %% [markdown]
# (reading-one)=
# ## Which score is low?
#
# **Compare a score with others of its place.** In 26 networks that others trained (six have ReLUs after sums) nine tenths of the
# scores of a place lie between *low* and *high*:

# %%
measured = {"ImageNet": photographs, "CIFAR-10": real_scores("CIFAR-10")}
activations = pd.concat(measured, names=["images"]).reset_index("images")
places = {"first": "inside a block", "second": "inside a block"}
places |= {"after-sum": "after a sum", "hidden": "outside of blocks"}
of_place = activations.groupby(activations["kind"].map(places))["score"]
usual = of_place.quantile([0.05, 0.5, 0.95]).unstack()
usual = usual.set_axis(["low", "median", "high"], axis=1)
usual["rare"] = of_place.agg(lambda scores: (scores < 0.6).mean())
headings = {name: name for name in usual} | {"rare": "below 0.6 (%)"}
table(usual.rename_axis("place"), headings, {"rare": 0})

# %% tags=["remove-cell"]
say(100 * usual[["rare"]], "{:.0f} %")

# %% [markdown]
# An unusual score is a reason to look:
#
# | score | the reason may be | look at |
# |---|---|---|
# | 0.6 after a sum | sums are mostly negative; the shortcut is dead; the activation stands before the sum | the inputs |
# | 0.99 | inputs are on one side of the kink; the average hides the activation | the score at one position |
# | exactly 1 | the output is constant, or all inputs are on one side of the kink | the flag of the score |
# | nearly all above 0.9 | an untrained network, whose norms subtract 0 and divide by 1 ({doc}`11_what_training_does`) | its accuracy |
# | lower than expected | channels are dead, and shrinkage gives each some variance | the score without shrinkage |
#
# `signature.notes` says what is wrong with a number; {ref}`comparing` compares two networks.

# %% [markdown]
# ## By zeros
#
# **In trained networks, too, a ReLU scores lower the more it cuts off** ({doc}`02_activation_functions`). The {term}`rank correlation`
# of score and zeros is {glue:text}`correlation-ResNet-18` in ResNet-18, and negative in {glue:text}`correlation-negative` networks.

# %% mystnb={"figure": {"name": "fig-zeros", "caption": "The score falls with the share of zeros in the output. Each point is an activation of one of 26 trained networks (ImageNet: quantised weights, 512 photographs; CIFAR-10: {term}`JPEG copies` of test images)."}, "image": {"width": "540px", "alt": "Two scatter plots of the affinity score over the share of zero outputs. In both, points fall from near 0.95 at a share of 0.2 to about 0.55 at a share of 0.8; those after a sum are at the upper left. One point lies at a share of 1 and a score of 0.99."}}
activations = activations.rename(columns={"sparsity_after": "zeros"})


def with_zeros(rows):
    return rows["score"].corr(rows["zeros"], "spearman")


falls = activations.groupby("network")[["score", "zeros"]].apply(with_zeros)
about = falls.to_frame("correlation").T[["ResNet-18"]].astype(object)
about["negative"] = f"{(falls < 0).sum()} of {len(falls)}"
scores_and_zeros(activations)

# %% tags=["remove-cell"]
say(about)
sums = activations.query("network == 'ResNet-18' and kind == 'after-sum'")
sums = sums.set_index("depth")[["score", "zeros"]]
sums.loc["others"] = sums.drop(15).max()
say(sums[["score"]])
say(100 * sums[["zeros"]], "{:.0f} %")

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? The same under every choice of the measure", "code_prompt_hide": "How sure? The same under every choice of the measure"}
chosen = pd.concat(map(real_multiverses, ["photographs", "CIFAR-10"]))
zeros = activations[["network", "index", "zeros"]]
chosen = chosen.merge(zeros, on=["network", "index"])
words = ["reduction", "order", "covariance", "coupling"]
rho = chosen.groupby([*words, "network"])[["score", "zeros"]]
rho = rho.apply(with_zeros)
negative = (rho < 0).groupby(words).sum()
print(f"negative in {negative.min()} to {negative.max()} networks")

# %% [markdown]
# ## From a feature map to a vector
#
# **Scores depend on how feature maps become vectors.** A convolution hands its activation a tensor of shape $(n, c, h, w)$, but a
# score needs one vector for each of the $n$ images. Four ways:
#
# | way | output vector of an image |
# |---|---|
# | average after | the average of the outputs over all positions, per channel: the default |
# | average before | the activation of the averaged input: Definition 3.1 as printed |
# | one position | the channels at one random position: a true output of the activation |
# | all positions | all $c\,h\,w$ numbers: expensive |
#
# In the library these are the *reduction* `mean` with the *order* `activate-first` or `reduce-first`, and the reductions
# `sample` and `flatten`. Where positions are partly correlated, an average makes a ReLU look more linear than it is
# (exercise 3.2). In ResNet-18 the choice moves single scores by more than 0.2 against the default:

# %%
choices = real_multiverses("photographs").query("network == 'ResNet-18'")
choices = choices.query("covariance == 'ledoit-wolf' and coupling == 'exact'")
single = choices.pivot_table("score", "index", ["reduction", "order"])
moved = single.sub(single["mean", "activate-first"], axis=0).abs().max()
three = pd.DataFrame({"mean score": single.mean(), "largest move": moved})
ways = ["average after", "average before", "one position"]
table(three.set_axis(ways))

# %% [markdown]
# **So compare signatures only under the same reduction and order.**

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Other images", "code_prompt_hide": "How sure? Other images"}
for name in ("resnet56", "plainnet56"):
    deviation = shipped_signature(name).summary["score_std"].mean()
    print(f"{name}: a score's deviation over 19 batches is {deviation:.3f}")

# %% [markdown]
# ## Aside: The scale is steep
#
# **A score of 0.9 belongs to a correlation of 0.99, one of 0.6 to 0.84.**
#
# Where each input is coupled with its own output, as in most layers, the score $\rho$ belongs to the correlation
# $\kappa = 1 - (1 - \rho)^2$ between the outputs and the affine image of the inputs ({prf:ref}`pairing <prop-paired>`).

# %%
scale = pd.DataFrame(index=pd.Index([0.97, 0.9, 0.8, 0.7, 0.6, 0.5]))
scale["correlation"] = 1 - (1 - scale.index) ** 2
scores = activations["score"].dropna().to_numpy()
scale["lower"] = [(scores < score).mean() for score in scale.index]
headings = {"correlation": "correlation", "lower": "scores below (%)"}
table(scale.rename_axis("score"), headings, {"correlation": 3, "lower": 0})

# %% [markdown]
# ## Aside: One call
#
# `affscore.signature` above measures any network. `mini:digitsnet` is DigitsNet of the package, here on 8 x 8
# digits {cite}`alpaydin1998optical` that it was not trained on:

# %%
rows = result.summary.set_index("layer")
table(rows[["call", "kind", "depth", "score"]].head(3))

# %% [markdown]
# Every elementwise activation counts once for each call: the ReLU of a ResNet's block, which is called twice, counts twice. Depth
# is the number of activations on the longest path from the input. `hidden` is outside of blocks. ({doc}`../book/activations` has the whole list.)

# %% [markdown]
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
        self.mixed = torch.nn.Linear(16, 16)
        self.head = torch.nn.Linear(16, 2)

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
