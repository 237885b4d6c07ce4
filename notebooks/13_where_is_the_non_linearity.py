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
# # Where is the non-linearity?
#
# The papers score activations only. But attention, normalisation and pooling are not affine either, and a residual block is
# more than its activations. Here every block of a network is measured, and the network as one map. First we need another
# criterion: the affinity score takes a plain linear layer for something very non-linear.
# Read {doc}`05_residual_connections` first.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
dataset: str = "digits"  # of the two networks that are measured here
n: int = 512  # images in a batch
device: str = "auto"  # cpu, cuda, or auto: cuda where there is one
seed: int = 0  # of random layers

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from scipy import stats

import affscore
import companion
from affscore.network import affine_fit
from companion.chapter_13 import (
    PARTS,
    unexplained,
    unexplained_by_kind,
    unexplained_shares,
)
from companion.networks import network_table
from companion.statistics import mean_of
from companion.studies import load_study
from companion.style import table

# %% [markdown]
# ## A linear layer has a low score
#
# The score compares the output with the optimal transport map, whose matrix is symmetric with no negative eigenvalue. An
# elementwise activation is well described by such a map. A linear layer has a general matrix: it is affine, but it also
# *turns*. In one direction only its stretch is seen, and the turn counts as if it were a non-linearity.
#
# The **best affine map** asks for less: take the least-squares fit $A x + b$ of the output in place of the transport map.
# On the scale of the score,
#
# $$ a = 1 - \sqrt{\tfrac{u}{2}}, \qquad
# u = \frac{\min_{A, b} \sum_i \lVert A x_i + b - y_i \rVert^2 / (n - 1 - r)}{\sum_i \lVert y_i - \bar y \rVert^2 / (n - 1)} . $$
#
# $u$ is the **unexplained share**: of the variance of the output, the part that no affine map of the input explains. The
# degrees of freedom, with the rank $r$ of the input, correct for what a fit with many coefficients explains by chance
# (`affscore.network.affine_fit`). Input and output may have different widths.

# %% tags=["hide-input"]
draw = np.random.default_rng(seed)
layers = {}
for width in (2, 16, 64, 256):
    x = draw.standard_normal((n, width))
    weights = draw.standard_normal((width, width)) / np.sqrt(width)
    for name, y in {"linear": x @ weights, "ReLU": np.maximum(x, 0)}.items():
        found = affscore.affinity_score(x, y)
        layers[name, width] = [found.value, found.paired, affine_fit(x, y)]
layers = pd.DataFrame.from_dict(layers, orient="index")
layers.columns = ["score", "paired", "fit"]
layers.index = pd.MultiIndex.from_tuples(layers.index)
layers = layers.sort_index(level=0, sort_remaining=False)
table(
    layers,
    {"score": "score", "paired": "paired score", "fit": "best affine map"},
    digits={"fit": 3},
)

# %% tags=["remove-input"]
turned, relu = layers.loc["linear"], layers.loc["ReLU"]
Markdown(
    f"A random linear layer of 64 channels has a score of "
    f"{turned.loc[64, 'score']:.2f}, a ReLU one of "
    f"{relu.loc[64, 'score']:.2f}. With each input paired with its own "
    f"output the linear layer has {turned.loc[64, 'paired']:.2f}: its turn "
    "costs everything. In few dimensions the exact coupling hides the turn, "
    "since a Gaussian cloud stays Gaussian, and it compares clouds; in many "
    f"dimensions {n} points are too few for that. Under the best affine map "
    f"every linear layer has {turned['fit'].min():.3f}, and the ReLU "
    f"{relu['fit'].mean():.2f}. **The scores of blocks of different kinds do "
    "not compare.** Unexplained shares compare under one reduction, and "
    "another reduction may order them otherwise."
)

# %% [markdown]
# ## The blocks of two networks
#
# `affscore.signature(..., units="blocks")` finds the blocks by their structure: a module that adds two tensors of its
# output's shape is *residual*; several linear layers with activations between them are an *MLP*; and so on
# (`affscore.recorder.blocks.Blocks`). Residual blocks contain other blocks. Linear layers are the control: whatever
# share they leave unexplained comes from the reduction.

# %% tags=["hide-input"]
KINDS = ["network", "residual", "mlp", *PARTS]
rows = {}
for name in ("mini:resnet18", "mini:vit_b_16"):
    blocks = affscore.signature(
        name,
        dataset,
        n=n,
        units="blocks",
        criteria="affine_fit",
        device=device,
    ).summary
    blocks["unexplained"] = unexplained(blocks["affine_fit"])
    of_kind = blocks.groupby("kind")
    found = of_kind[["score", "paired", "affine_fit", "unexplained"]].mean()
    found.insert(0, "blocks", of_kind.size())
    rows[name] = found.reindex([one for one in KINDS if one in found.index])
two = pd.concat(rows)
table(
    two.rename_axis([None, None]),
    {
        "blocks": "blocks",
        "score": "score",
        "paired": "paired score",
        "affine_fit": "best affine map",
        "unexplained": "unexplained (%)",
    },
    digits={"unexplained": 1},
)

# %% tags=["remove-input"]
resnet, vit = two.loc["mini:resnet18"], two.loc["mini:vit_b_16"]
Markdown(
    f"In the ResNet the lowest scores are those of linear layers "
    f"({resnet.loc['linear', 'score']:.2f}), and those of batch "
    f"normalisation are below 1 ({resnet.loc['normalisation', 'score']:.2f}), "
    "although it multiplies each channel by a number: some of these numbers "
    "are negative, which no optimal transport map has. Under the best affine "
    f"map it has {resnet.loc['normalisation', 'affine_fit']:.3f}. Attention "
    f"in the ViT leaves {vit.loc['attention', 'unexplained']:.0%} of its "
    f"output unexplained, a GELU {vit.loc['activation', 'unexplained']:.0%}, "
    f"layer normalisation {vit.loc['normalisation', 'unexplained']:.0%}. (A "
    "dash: the widths differ, so that there is no score.)"
)

# %% [markdown]
# ```{admonition} What the mean over positions hides
# :class: caution
#
# A block is measured on reduced features, the mean of each channel over positions. The mean of the output is not a function
# of the mean of the input. So even a convolution leaves something unexplained, at its borders and strides, and that is the
# floor for all convolutional parts. A linear layer that acts on each token alone leaves none, and neither does average
# pooling. With one sampled position in place of the mean, activations and normalisation are functions of what is
# measured, but whatever looks at other positions (attention, convolution, pooling) is not. Conclusions must hold under both.
# ```
#
# ## All small networks

# %% tags=["hide-input"]
study = pd.concat(
    [load_study(name) for name in ("blocks", "blocks-cifar")],
    ignore_index=True,
)
about = network_table(study["model"].unique())
study = study.join(about[["name", "family"]], on="model")
digits = study["model"].str.startswith("mini:")
study.loc[~digits, "family"] = (
    study.loc[~digits, "name"]
    .str.extract("(plain|res)")[0]
    .map({"plain": "plain, CIFAR-10", "res": "residual, CIFAR-10"})
)
largest = study.groupby(digits)["images"].transform("max")
study["sample"] = np.where(study["images"] == largest, "all", "half")
first = study[(study["reduction"] == "mean") & (study["sample"] == "all")]
families = first.groupby("model", sort=False)["family"].first()
shares = unexplained_by_kind(first, ["model"])
shares = shares.reindex(families.index)[KINDS]

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-13-kinds", "caption": "The unexplained share of blocks of each kind, one point for each network (mean over its blocks). Whole networks on digits leave the most unexplained, about a fifth; whether attention or activations come next is undecided. Batch normalisation leaves nothing, and layer normalisation little. Linear layers are the control (`companion.chapter_13.unexplained_shares`)."}, "image": {"alt": "Eight rows of points, one for each kind of block. Whole networks on digits lie around 0.2. Residual blocks lie between 0.02 and 0.12, attention between 0.08 and 0.2, activations mostly between 0.05 and 0.1, and above 0.13 in ConvNeXts and Swins. Normalisation lies at 0, and up to 0.07 in ConvNeXts and transformers."}}
unexplained_shares(shares, families.to_dict())
plt.show()

# %% tags=["remove-input"]
with_norm = families.isin(["ViTs", "Swins", "ConvNeXts"])
of_both = shares.loc[with_norm, ["activation", "normalisation"]].mean()
Markdown(
    f"In the {with_norm.sum()} networks with layer normalisation activations leave {of_both['activation']:.0%} unexplained on "
    f"average, the normalisation {of_both['normalisation']:.0%}. Whether attention or activations leave more depends on the "
    "reduction: with one sampled position attention is charged for looking at others."
)

# %% [markdown]
# ## The network as one map
#
# From all pixels of an image to the logits. The widths differ and the reduction plays no part, so what is left
# unexplained is the network's own. How much of a trained network could a single affine map do? (On CIFAR-10 an image has
# 3,072 numbers, more than the images that were measured, so no best affine map is known. The digits are 8 x 8 pixels that
# were enlarged: hundreds of images suffice.)

# %% tags=["hide-input"]
whole = shares["network"].dropna()
activations = first[first["kind"] == "activation"].groupby("model").size()
by_family = pd.DataFrame(
    {
        family: {
            "networks": len(values),
            "share": f"{mean_of(values, (0, 1)):.2f}",
            "least": values.min(),
            "most": values.max(),
        }
        for family, values in whole.groupby(
            families[whole.index].to_numpy(), sort=False
        )
    }
).T
table(
    by_family.infer_objects(),
    {
        "networks": "networks",
        "share": "unexplained share",
        "least": "least",
        "most": "most",
    },
)

# %% tags=["remove-input"]
depth = stats.spearmanr(activations[whole.index], whole)
all_of = study[(study["kind"] == "network") & digits]
spread = unexplained(all_of["affine_fit"]).groupby(all_of["sample"]).mean()
Markdown(
    f"Over {len(whole)} networks on digits the best affine map of the pixels "
    f"leaves {whole.mean():.0%} of the variance of the logits unexplained "
    f"({whole.min():.0%} to {whole.max():.0%}; with half the images "
    f"{spread['half']:.0%} on average). With the number of activations it "
    f"has a rank correlation of {depth.statistic:+.2f} (p = "
    f"{depth.pvalue:.2f}; networks of a family are no independent "
    "observations). One of their activations leaves "
    f"{shares.loc[whole.index, 'activation'].mean():.0%} on average."
)

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
Markdown(
    f"* **One affine map explains {1 - whole.mean():.0%} of the logits' "
    "variance on digits**: a map of the pixels, on average over "
    f"{len(whole)} networks "
    f"({1 - whole.max():.0%} to {1 - whole.min():.0%}).\n"
    "* **Activations leave more unexplained than layer normalisation**, "
    f"{of_both['activation']:.0%} against {of_both['normalisation']:.0%}; "
    "batch normalisation is affine.\n"
    "* **The affinity score cannot compare blocks of different kinds**: a "
    f"random linear layer of 64 channels has {turned.loc[64, 'score']:.2f}, "
    f"a ReLU {relu.loc[64, 'score']:.2f}. It counts a rotation as a "
    "non-linearity."
)

# %% [markdown]
# ## Takeaways
#
# * Ask of a criterion what it says of something that you know: here, of a linear layer.
# * A control belongs beside each comparison. What linear layers leave unexplained is due to the reduction.
# * Local departures do not add up: a block in a branch counts here as much as one that everything passes.
#
# ## Exercises
#
# ```{exercise} 13.1 Two linear layers
# :label: ex-13-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: see which linear maps the score takes for affine.
#
# Make up two matrices of shape (16, 16) with the same singular values, none of them 0 and the largest at least 1.5 times the
# smallest. For 512 standard normal points the first has a score of at least 0.99 (empirical covariance), the second of at most 0.6. Hand in
# `(stretch, turn)`; rows are samples, so a layer computes `x @ matrix`.
# ```
#
# ```{admonition} Hint for 13.1
# :class: dropdown hint
#
# What is the matrix of an optimal transport map between Gaussians? Which matrices can you multiply it with, and keep its
# singular values?
# ```

# %%
answer = None  # your answer here: two matrices (stretch, turn)
# companion.exercises.check("13.1", answer)

# %% [markdown]
# ```{solution-start} ex-13-1
# :class: dropdown
# ```
#
# A diagonal matrix of positive numbers is symmetric with positive eigenvalues. An orthogonal matrix behind it turns the
# output and keeps the singular values.

# %%
stretch = np.diag(np.linspace(1, 3, 16))
turn = np.linalg.qr(np.random.default_rng(0).standard_normal((16, 16)))[0]
companion.exercises.check("13.1", (stretch, stretch @ turn))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 13.2 In closed form
# :label: ex-13-2
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: know the criterion on two functions before you trust it on networks.
#
# Let $x$ be standard normal. What is `affine_fit` of $\max(x, 0)$ and of $|x|$, for infinitely many samples? Hand in the pair,
# to two decimals at least.
# ```
#
# ```{admonition} Hint for 13.2
# :class: dropdown hint
#
# In one dimension $u = 1 - \operatorname{corr}(x, y)^2$. $\operatorname{E} \max(x, 0) = 1/\sqrt{2 \pi}$.
# ```

# %%
answer = None  # your answer here: (fit of max(x, 0), fit of |x|)
# companion.exercises.check("13.2", answer)

# %% [markdown]
# ```{solution-start} ex-13-2
# :class: dropdown
# ```
#
# $\operatorname{Cov}(x, \max(x, 0)) = 1/2$ and $\operatorname{Var} \max(x, 0) = 1/2 - 1/(2 \pi)$, so that $\operatorname{corr}^2 =
# 0.734$ and $a = 1 - \sqrt{0.266/2} = 0.635$. (The affinity score is $1 - \sqrt{1 - \operatorname{corr}} = 0.621$: its map has to
# reach the whole variance.) An even function has no covariance with $x$: $u = 1$ and $a = 1 - \sqrt{1/2} = 0.293$.

# %%
corr2 = 0.25 / (0.5 - 0.5 / np.pi)
answer = (1 - np.sqrt((1 - corr2) / 2), 1 - np.sqrt(0.5))
companion.exercises.check("13.2", answer)

# %% [markdown]
# ```{solution-end}
# ```
