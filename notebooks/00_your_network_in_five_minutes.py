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
# # Your network in five minutes
#
# *How non-linear is my network, layer by layer?*
#
# :::{admonition} What we found
# :class: findings
# **A network bends its data at some activations and hardly at others.** In a small residual network on digits the scores run
# from {glue:text}`score-min` to {glue:text}`score-max`; in most blocks the one after the sum is the higher one. Other images give
# other scores. {bdg-warning}`depends`
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
model: str = "mini:digitsnet"  # or path/to/file.py:function@weights.pt ...
dataset: str = "digits"  # its images: digits, folder:DIR, imagenet:DIR ...
n: int = 512  # images in a batch of the statistic
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights and of the choice of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% [markdown]
# ## 1. Install
#
# In a copy of the repository (the folder with `pyproject.toml`), with Python 3.11 or 3.12:
#
# ```sh
# pip install .
# ```
#
# ## 2. Measure
#
# With a network in memory and a tensor of what it takes, preprocessed as in its training:
#
# ```python
# import affscore
#
# signature = affscore.signature(my_network, my_images)
# signature.plot()
# ```
#
# Networks and images can also be given by name: `"resnet18@DEFAULT"` is torchvision's, `"folder:/data/photos"` is a folder of
# images, and `"path/to/file.py:function@weights.pt"` calls a function of yours and loads your weights. This page gives both by name:

# %% mystnb={"figure": {"name": "fig-five-minutes", "caption": "The non-linearity signature: the score of each activation in turn; colour and marker say where in a block it stands (*ReLU* alone: outside of blocks)."}, "image": {"alt": "Scatter plot of the affinity score over the depth of the activation, one point for each of the nine activations of a small residual network. Those after a sum lie higher than those before in most of its blocks."}}
import affscore

options = {"n": n, "device": device, "seed": seed}
signature = affscore.signature(model, dataset, **options)
signature.plot()

# %%
from companion.style import say, table

scores = signature.summary.set_index("layer")
table(scores[["kind", "activation", "score"]])

# %% tags=["remove-cell"]
say(scores["score"].agg(["min", "max"]).to_frame().T)

# %% [markdown]
# In the shell the same is
#
# ```sh
# affscore signature mini:digitsnet --dataset digits --out mine.parquet
# ```
#
# ## 3. Read the result
#
# * **1**: on these images the outputs look as after an affine map that stretches and does not turn, or they are constant.
# * **0.62**: a ReLU on normal inputs in many dimensions (mean 0: it sets half of them to zero).
# * **Near 0**: the output is zero but for a few spikes, falls where its input rises, or lies in the long tail of a Sigmoid
#   ({doc}`02_activation_functions`).
# * **The place matters.** After a shortcut's sum (`after-sum`) scores are mostly higher than inside a block (`first`,
#   {doc}`05_residual_connections`); `hidden` is outside of blocks.
#
# A score says nothing about accuracy, and it does not say that an activation may be left out.
#
# Are your scores usual? Compare them place by place with those of a network that is known, here ResNet-20:

# %% mystnb={"figure": {"name": "fig-five-minutes-beside", "caption": "In ResNet-20 a score after a sum is higher than the two beside it; in most blocks of this page's network, too. ResNet-20 was measured on {term}`JPEG copies` of CIFAR-10 test images."}, "image": {"width": "540px", "alt": "Affinity score over depth for both networks. That of ResNet-20 jumps up and down between 0.5 and 0.95, that of the other between 0.7 and 0.95."}}
import pandas as pd

from companion.figures import signatures
from companion.real_networks import real_scores

mine = signature.summary.assign(network="this network")
other = real_scores("CIFAR-10").query("network == 'ResNet-20'")
both = pd.concat([mine, other])
signatures(both)

# %% [markdown]
# Mean scores by place:

# %%
words = {"first": "inside a block", "after-sum": "after a sum"}
words |= {"hidden": "outside of blocks"}
places = both.pivot_table("score", "kind", "network").rename(words)
table(places[["this network", "ResNet-20"]].rename_axis("place"))

# %% [markdown]
# ## 4. Before you believe it
#
# * Compare scores only at the same `n` (images scored together), the same way to turn feature maps into vectors (`reduction`), and comparable images
#   ({doc}`03_estimating_it_well`).
# * Read the notes, which say what makes a number doubtful:

# %%
print(*signature.notes, sep="\n")

# %% [markdown]
# * Try every choice at once with `affscore.multiverse(model, dataset)` ({doc}`10_every_choice_at_once`).
#
# ## 5. A chapter with your network
#
# Each chapter with a parameter `model` runs with yours and adds it to its figures and tables:
#
# ```sh
# papermill --cwd notebooks notebooks/05_residual_connections.ipynb \
#   mine.ipynb -p model path/to/file.py:function@weights.pt \
#   -p dataset folder:/data/photos
# ```
#
# All names of networks and data, networks of text, several inputs, and activations that PyTorch does not have:
# {doc}`../book/how_to_run_with_your_model`. The columns of a result: {doc}`../book/columns`.
