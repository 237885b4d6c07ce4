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
# # A decade
#
# From AlexNet in 2012 to ConvNeXt in 2022, image classifiers were redesigned again and again. **Did they become more
# non-linear on the way, or less?** The paper {cite}`bouniot2025alexnet` compares the signatures of 36 networks and
# answers: less, until the transformers came. This chapter looks at what single designs do in trained networks, makes the
# paper's figures with small analogues of its networks, and tests whether what one sees is a trend.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
models: list[str] = []  # with or without @WEIGHTS; none: 36 of the mini zoo
efficient: list[str] = []  # for small devices; none: three of the mini zoo
dataset: str = "digits"  # digits, cifar10, imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, choice of images, permutations

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from IPython.display import Markdown

import companion
from affscore.plots import raw_signature
from affscore.survey import load_or_measure
from companion.chapter_06 import history, timeline
from companion.networks import short_name, short_names, study_models
from companion.permutation import trends
from companion.shipped import RESULTS, trained_networks
from companion.style import table

networks = models or study_models("mini:")
small_devices = ("squeezenet1_1", "shufflenet_v2_x1_0", "mobilenet_v2")
efficient = efficient or [f"mini:{name}" for name in small_devices]
options = {
    "n": n,
    "images": images or None,
    "device": device,
    "seed": seed,
    "progress": False,
    "also": [RESULTS],  # what comes with the book
}

# %% [markdown]
# ## Three networks on ImageNet
#
# The first version of the paper {cite}`bouniot2023understanding` looks at three networks for small devices:
# SqueezeNet {cite}`iandola2016squeezenet`, ShuffleNet {cite}`ma2018shufflenet` and MobileNet
# {cite}`sandler2018mobilenetv2`. It finds scores that alternate from one activation to the next, and squeeze layers
# that act as nearly affine maps. Here are results of two SqueezeNets and of MobileNetV2 with weights trained on ImageNet,
# on 512 photographs of its training set.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-efficient", "caption": "Two SqueezeNets and MobileNetV2 trained on ImageNet, on photographs: the squeeze layers of a SqueezeNet are nearly affine, the layers that expand again are not, and MobileNetV2 hardly alternates (figure 6 of the paper's first version; `affscore.plots.raw_signature`)."}, "image": {"alt": "Three scatter plots of the affinity score over depth. In SqueezeNet 1.0 and 1.1 the first activation of a block lies near 0.9 and the other two near 0.65; MobileNetV2 stays between 0.67 and 0.94."}}
trained = trained_networks()
photographs = ["squeezenet1_0", "squeezenet1_1", "mobilenet_v2"]
raw_signature(
    [trained[name] for name in photographs], columns=3, titles=photographs
)

# %% tags=["hide-input"]
small = load_or_measure(efficient, dataset, store, jobs=jobs, **options)
compared = {name: trained[name] for name in photographs} | small
rows = {}
for name, result in compared.items():
    of_kind = result.summary.groupby("kind")["score"].mean()
    rows[name] = {
        "smallest": np.nanmin(result.scores),
        "largest": np.nanmax(result.scores),
        "mean step": np.nanmean(np.abs(np.diff(result.scores))),
        "first of a block": of_kind.get("first", np.nan),
        "second of a block": of_kind.get("second", np.nan),
    }
alternating = pd.DataFrame.from_dict(rows, orient="index")
table(alternating)

# %% [markdown]
# In a SqueezeNet block the squeeze layer is the *first* activation, and the two that expand it share the second
# place; *mean step* is the mean change from one activation to the next. The trained SqueezeNets agree with the paper, and
# MobileNetV2 has much smaller steps. The last rows are analogues on 8 x 8 digits: the small SqueezeNet has
# the same order with a smaller gap, the small ShuffleNet and MobileNet hardly alternate. (The weights are
# quantised, pruned or retrained copies, not torchvision's own.)
#
# ## Depth, with and without shortcuts
#
# What happens when one design is made deeper? These are networks of He et al. for CIFAR-10 with 20 to 56 layers
# {cite}`he2016deep`, trained on it, on its test images:

# %% tags=["hide-input"]
rows = {}
for layers in (20, 32, 44, 56):
    plain = trained[f"plainnet{layers}"].scores
    result = trained[f"resnet{layers}"]
    after = result.summary["kind"] == "after-sum"
    rows[f"{layers} layers"] = {
        "plain, mean": plain.mean(),
        "plain, lowest": plain.min(),
        "residual, mean": result.scores.mean(),
        "after a sum": result.scores[after].mean(),
        "elsewhere": result.scores[~after].mean(),
        "residual, lowest": result.scores.min(),
    }
deeper = pd.DataFrame.from_dict(rows, orient="index")
table(deeper)

# %% [markdown]
# The plain networks become more nearly affine with depth, all of them together. In the residual ones the two kinds of
# activations move apart: those after a sum come closer to 1, the others stay where they are. The paper reports the same
# of the ResNets on ImageNet. Depth is not all that changes: deeper networks of one recipe have more blocks in each stage. Whether designs for small
# devices *as a group* shake a signature more than others do is undecided ({doc}`18_what_is_reproduced`).
#
# ## Thirty-six designs
#
# The study has one network of every landmark design, or several sizes of it: AlexNet {cite}`krizhevsky2012imagenet`,
# VGG {cite}`simonyan2015very`, GoogLeNet and Inception v3 {cite}`szegedy2015going,szegedy2016rethinking`, ResNets,
# DenseNets {cite}`huang2017densely`, two families found by automatic search, MNASNet
# {cite}`tan2019mnasnet` and EfficientNet {cite}`tan2019efficientnet`, vision transformers
# {cite}`dosovitskiy2021image`, Swin {cite}`liu2021swin` and ConvNeXt {cite}`liu2022convnet`. By default this page
# takes the **mini zoo**: a small member of each, with the same building blocks and the same name, trained on 8 x 8
# digits ({ref}`mini-zoo`). You can run it again with networks of your own.

# %% tags=["hide-input"]
results = load_or_measure(networks, dataset, store, jobs=jobs, **options)
by_name = {
    short_names(networks)[model]: result for model, result in results.items()
}
# an activation whose input is constant has no score
signatures = {
    name: result.scores[np.isfinite(result.scores)]
    for name, result in by_name.items()
}
decade = history(signatures)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-decade", "caption": "Small networks on digits: smallest, median and largest score of each by the year of its design. No trend is seen until 2019; the largest scores of the transformers and ConvNeXts are the lowest (paper Fig. 3; `companion.chapter_06.timeline`)."}, "image": {"alt": "A vertical bar for each network, oldest at the left, grouped by year from 2012 to 2022. The bar runs from the smallest to the largest affinity score of its activations, a marker shows the median. Colour and marker stand for the family."}}
timeline(decade)

# %% [markdown]
# ```{admonition} What an analogue can show
# :class: caution
# What follows from a design together with the mini zoo's recipe; it neither confirms nor refutes a number that the paper
# measured on ImageNet. Each network was trained once and scored on one batch, so its scores have no error bar.
# ```
#
# The means over each family. *Skewness* is negative where most scores are high and a few are low.

# %% tags=["hide-input"]
few = decade.attrs["few"]
headings = {
    "activations": "activations",
    "min": "lowest",
    "median": "median",
    "max": "highest",
    "spread": "range",
    "rarefied range": f"range of {few}",
    "skewness": "skewness",
}
by_family = decade.groupby(["year", "family"], dropna=False)[list(headings)]
shown = by_family.mean()
shown.index = [f"{year:.0f} {family}" for year, family in shown.index]
table(shown, headings, {"activations": 0})

# %% [markdown]
# The paper reads four things off its own figure:
#
# 1. Until the transformers, the largest score and the range (largest minus smallest) grow: networks use more and more
#    nearly affine activations beside strongly non-linear ones.
# 2. AlexNet and VGG have a narrow range; the Inception modules of GoogLeNet widen it at both ends.
# 3. EfficientNets, found by search, are skewed towards the affine end.
# 4. Vision transformers break the trend: their activations are the most non-linear of all. Swin and ConvNeXt, which
#    bring back some of the convolution's structure, look like AlexNet and VGG again.
#
# ## Is it a trend?
#
# Four VGGs are four sizes of one idea, not four independent observations for 2014. The fair sample is that of
# **designs**: networks of one family and year count once, with the mean of their statistics. Until 2019 the study has
# eight designs. For such a small sample we use two tools with few assumptions:
#
# * **Spearman's rank correlation** of a statistic with the year, with a **permutation test**: how often do permuted
#   years give a correlation as far from zero?
# * **Theil and Sen's slope** {cite}`sen1968estimates`, the median of the slopes between all pairs of designs, with a
#   95 % interval.

# %% tags=["hide-input"]
until_2019 = trends(decade, until=2019, seed=seed).rename(
    index={"rarefied range": f"range of {few}", "spread": "range"}
)
headings = {
    "points": "designs",
    "correlation": "rank correlation",
    "p_value": "p-value",
    "slope": "slope per year",
    "low": "from",
    "high": "to",
}
table(until_2019, headings, digits=3)

# %% [markdown]
# A row shows a trend where its p-value is small and the interval of the slope excludes
# zero. Five rows are five tests, so one p-value just below 0.05 is weak evidence.

# %% tags=["remove-input"]
tested = until_2019.dropna(subset="p_value")
detected = tested.index[
    (tested["p_value"] < 0.05) & (tested["low"] * tested["high"] > 0)
]
years = 2019 - decade["year"].min()
verdict = (
    "We detect no trend."
    if len(tested)
    else "There are too few designs to test a trend."
)
verdict = (
    f"We detect a trend in {', '.join(detected)}."
    if len(detected)
    else verdict
)
changes = ", ".join(
    f"{name} {years * row.low:+.2f} to {years * row.high:+.2f}"
    for name, row in tested.iterrows()
)
allowed = f" The intervals allow these changes in {years:.0f} years: {changes}. Where one is wide, a trend may still exist."
Markdown(f"**{verdict}**{allowed if changes else ''}")

# %% [markdown]
# ## A fair spread
#
# Minimum and maximum depend on the number of scores, whatever the network. The largest and the smallest of 7 uniform
# random numbers are on average three quarters of the range apart, those of 150 almost the whole range. AlexNet has 7
# activations, the original ResNet-152 151. A range that grows with the years may only say that networks became
# deeper.
#
# The remedy is known from ecology as **rarefaction**, since larger samples contain more species
# {cite}`hurlbert1971nonconcept`: draw the same number of scores from each network, as many as the shortest signature
# has, and take the expected range. No sampling is needed; over all subsets of size $m$ of the sorted scores
# $s_{(1)} \le \dots \le s_{(k)}$ it is
#
# $$
# \mathbb E\,(\max - \min) = \sum_{i=1}^{k} \frac{\binom{i-1}{m-1} - \binom{k-i}{m-1}}{\binom{k}{m}}\; s_{(i)} .
# $$

# %% tags=["remove-input"]
ranks = decade[["activations", "spread", "rarefied range"]].corr("spearman")
ranks = ranks["activations"]
Markdown(
    "The rank correlation with the number of activations is "
    f"{ranks['spread']:+.2f} for the range and {ranks['rarefied range']:+.2f} "
    "for the rarefied one."
)

# %% [markdown]
# On the mini zoo the five deepest networks have, with equally many scores from each, a smaller range than AlexNet, the oldest.
#
# ## The whole signatures
#
# Three numbers hide the order. These are the signatures of representatives, one point for each activation; parallel
# activations share a depth, and the colour says what an activation is for.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-representatives", "caption": "Signatures of representatives of the families: what an activation is for decides where it lies (paper Fig. 10, figures 3 to 5 and 7 of its first version; `affscore.plots.raw_signature`)."}, "image": {"alt": "A grid of scatter plots, one for each representative network: affinity score over the depth of the activation. Colours and markers tell hidden activations, places in a block, those after a residual sum, squeeze layers and gates apart."}}
chosen = """alexnet vgg16 googlenet inception_v3 resnet101 resnet152
densenet161 mnasnet1_0 efficientnet_b4 vit_h_14 swin_t convnext_tiny"""
brought = [
    name for name in by_name if short_name(name) not in study_models("")
]  # networks of your own
designs = {short_name(name): name for name in by_name}
representatives = [
    *(designs[name] for name in chosen.split() if name in designs),
    *brought,
]
representatives = list(by_name) if len(by_name) <= 12 else representatives
raw_signature(
    [by_name[name] for name in representatives],
    columns=3,
    titles=representatives,
)

# %% [markdown]
# What the paper reports on ImageNet:
#
# * **Inception.** Branches of different length and kernel size run in parallel; GoogLeNet's scores lie between 0.6
#   and 0.9, and Inception v3 has a wider range.
# * **ResNets.** An activation after a residual sum sees mostly what the shortcut brought, a signal that was already
#   rectified. Its scores come close to 1, those inside the block stay low.
# * **DenseNets.** All earlier feature maps are concatenated. The transition layers between two dense blocks are
#   nearly affine. Here they are among the `hidden` ones, together with the stem.
# * **EfficientNets.** The gates of squeeze-and-excite blocks are sigmoids of one number per channel, which hardly
#   varies, so an affine map does as well.
#
# On the mini zoo we match the paper within networks better than across years. Activations after a sum are the most
# nearly affine ones of the ResNets, except in the first block of each stage, where the shortcut is a convolution and
# not the identity. Gates are the most nearly affine activations of `mini:efficientnet_b4`, stem and transitions those of
# `mini:densenet161`. `mini:inception_v3` has no wider range than `mini:googlenet`, though.
#
# The recipe of the mini zoo ({ref}`mini-zoo`) starts each residual block with a branch of zero, and scores near 1 partly reflect this. The networks
# on CIFAR-10 above started otherwise.
#
# ## Depth in the mini zoo
#
# In the paper the VGGs keep their signature at any depth, and the ResNets behave as above.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-vggs", "caption": "VGGs of growing depth keep their signature: the lowest scores are in the middle (paper Fig. 12; `affscore.plots.raw_signature`)."}, "image": {"alt": "Four scatter plots of the affinity score over depth, for VGGs with 11, 13, 16 and 19 layers."}}
vggs = [name for name in by_name if short_name(name).startswith("vgg")]
raw_signature([by_name[name] for name in vggs], titles=vggs) if vggs else None

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-resnets", "caption": "In deeper ResNets more activations follow a sum, and these come closer to 1 (paper Fig. 13; `affscore.plots.raw_signature`)."}, "image": {"alt": "Five scatter plots of the affinity score over depth, for ResNets with 18 to 152 layers. The activations after a residual sum have a colour and a marker of their own."}}
resnets = [name for name in by_name if short_name(name).startswith("resnet")]
raw_signature(
    [by_name[name] for name in resnets], titles=resnets
) if resnets else None

# %% [markdown]
# Both look as in the paper, and neither is decided ({doc}`18_what_is_reproduced`). With depth the mean score after a
# sum rises, most in the deeper half, while the other scores stay where they are. The VGGs have their lowest scores in
# the middle third at all four depths.
#
# ## Patches
#
# A vision transformer cuts the image into patches, and each patch becomes a token. In the paper ViT-L with patches of
# 16 pixels is most non-linear in its early layers; with patches of 32 pixels the signature is flat, and only the last
# layer rises steeply towards the affine end. The mini transformers see images of 32 pixels in patches of 8 and 16
# instead, and `mini:vit_h_14` of 4.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-patches", "caption": "Vision transformers with smaller and larger patches: those with patches of 16 begin low (paper Fig. 11, figure 7 of its first version; `affscore.plots.raw_signature`)."}, "image": {"alt": "Scatter plots of the affinity score over depth for five vision transformers, whose names end in the size of their patches: 16, 32 or 14."}}
vits = [name for name in by_name if short_name(name).startswith("vit")]
raw_signature(
    [by_name[name] for name in vits], columns=3, titles=vits
) if vits else None

# %% [markdown]
# On the mini zoo only the low start agrees: the networks with patches of 16 begin low and are flat from the second
# activation on, flatter than those with larger patches. No last layer rises steeply, and `mini:vit_h_14`, with the smallest
# patches, becomes more non-linear with depth. All this is one training of each network.
#
# Each statement of the paper has its test and verdict in {doc}`18_what_is_reproduced`. To see the paper's own networks, run this notebook with
# `notebooks/params/paper.yml` ({doc}`../book/how_to_run_with_your_model`).
#
# ## What we found

# %% tags=["remove-input", "findings"]
squeeze, expand = alternating.loc[
    photographs[:2], ["first of a block", "second of a block"]
].mean()
first, last = deeper.iloc[0], deeper.iloc[-1]
Markdown(f"""
* In SqueezeNets trained on ImageNet the layers that squeeze score \
**{squeeze:.2f}** and those that expand again **{expand:.2f}**: the scores \
alternate, as the paper says.
* From 20 to 56 layers, networks on CIFAR-10 go from a mean score of \
{first["plain, mean"]:.2f} to {last["plain, mean"]:.2f} without shortcuts. With \
them the activations after a sum go from {first["after a sum"]:.2f} to \
{last["after a sum"]:.2f}, the others from {first["elsewhere"]:.2f} to \
{last["elsewhere"]:.2f}.
* {len(signatures)} networks on {dataset}: {verdict[0].lower() + verdict[1:]} \
The rank correlation of the range of a network's scores with their number is \
{ranks["spread"]:+.2f}; where equally many scores are taken from each \
network, it is {ranks["rarefied range"]:+.2f}.
""")

# %% [markdown]
# ## Takeaways
#
# * Within a network, what an activation is for (after a sum, squeeze, gate, transition) explains much of its score.
# * With eight designs until 2019 no trend is detected, and none is refuted: the intervals are wide.
# * Extremes grow with the number of activations; over equally many scores the newer networks have no wider range.
# * An analogue shows what follows from a design and its recipe. It is no measurement of the original.
#
# ## Exercises
#
# ```{exercise} 6.1 How far apart are extremes?
# :label: ex-6-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see how much a range owes to the number of scores.
#
# Suppose that every score of two networks was drawn independently and uniformly from $[0.4, 0.9]$. One has 7 activations, the
# other 151. By how much larger is the expected spread (largest minus smallest score) of the second? Hand in a number.
# ```
#
# ```{admonition} Hint for 6.1
# :class: dropdown hint
# Where is the smallest of $k$ independent uniform numbers on $[0, 1]$, on average?
# ```

# %%
answer = None  # your answer here
# companion.exercises.check("6.1", answer)

# %% [markdown]
# ```{solution-start} ex-6-1
# :class: dropdown
# ```
#
# Of $k$ uniform numbers on $[0, 1]$ the smallest has mean $1/(k+1)$ and the largest $k/(k+1)$. The spread is
# $(k-1)/(k+1)$ of the width.

# %%
width = 0.9 - 0.4
answer = width * (150 / 152 - 6 / 8)
companion.exercises.check("6.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 6.2 No trend
# :label: ex-6-2
# :nonumber:
#
# *Argue · 15 minutes · medium.* Aim: tell "no trend was found" from "there is no trend".
#
# The chapter detects no trend in the median score until 2019. A journalist writes: "Researchers refute that networks became less non-linear." Another one:
# "A small p-value was missed only for lack of data." Use the intervals of the table to say what is known, what is not, and what would decide it. What
# does counting all networks instead of designs do to the p-value, and why is that not allowed?
# ```
#
# ```{admonition} Hint for 6.2
# :class: dropdown hint
# Multiply both ends of the interval of the slope by seven years, and compare with the differences between families.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-6-2
# :class: dropdown
# ```
#
# The interval of the median's slope holds zero and reaches from a slight fall to a rise as large as the difference between the lowest and the highest family. So a trend
# as the paper describes it is possible, and so is none: the data do not refute it and do not show it. The second journalist assumes that the trend exists.
#
# To decide it one needs more designs (not more sizes of the same designs), several trainings of each to know the error of a point, and the networks at their own task: an analogue on digits
# cannot speak about ImageNet. Counting all networks makes 30 points out of 8 designs. The sizes of one design share nearly everything, so they are no
# independent observations, and the p-value becomes too small.
#
# **Rubric** (5 points)
# * 2: reads the interval as what is compatible with the data, with numbers
# * 1: rejects both sentences
# * 1: what would decide it: more designs, errors of points, the original task
# * 1: why networks of a family are not independent, and what that does to the p-value
#
# ```{solution-end}
# ```
