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
# # A decade at a glance
#
# From AlexNet in 2012 to ConvNeXt in 2022, image classifiers were redesigned again and again. Did they become more
# non-linear on the way, or less? The paper {cite}`bouniot2025alexnet` compares the signatures of 36 networks and
# answers: less, until the transformers came. This chapter makes the same figures, tests whether what one sees is a
# trend, and looks inside single families. You will learn
#
# * how minimum, median and maximum of a signature changed over ten years, and how to test a trend on eight designs,
# * why the range of 150 scores must not be compared with the range of 7,
# * what a residual sum, a dense connection, a smaller patch or a squeeze layer does to a signature,
# * how to run the same comparison on the paper's own networks, or with one of yours among them.

# %% tags=["parameters"]
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
from affscore.parameters import check_parameters

check_parameters(globals())

# %% [markdown]
# ## The networks
#
# The study has one network of every landmark design, or several sizes of it: AlexNet {cite}`krizhevsky2012imagenet`,
# VGG {cite}`simonyan2015very`, GoogLeNet and Inception v3 {cite}`szegedy2015going,szegedy2016rethinking`, ResNets
# {cite}`he2016deep`, DenseNets {cite}`huang2017densely`, two families found by automatic search, MNASNet
# {cite}`tan2019mnasnet` and EfficientNet {cite}`tan2019efficientnet`, vision transformers
# {cite}`dosovitskiy2021image`, Swin {cite}`liu2021swin` and ConvNeXt {cite}`liu2022convnet`. By default this page
# takes the **mini zoo**: a small member of each, with the same building blocks and the same name, trained on 8 x 8
# digits. What it shows is an **analogue**: it can show what follows from a design together with **the mini zoo's
# recipe** ({doc}`92_the_mini_zoo`), and it neither confirms nor refutes a number that the paper measured on ImageNet.
#
# Signatures come from a store of results. Those of the mini zoo are shipped; missing ones are measured once. Each
# mini network was trained once, and each of its scores comes from one batch of 512 images, so the scores have no
# error bar ({doc}`04_signature_of_a_network` shows how much batches vary).

# %%
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore.analysis import along_depth, common_language_effect_size, trends
from affscore.figures import raw_signature, timeline
from affscore.papers import history, short_name, short_names, study_models
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey import load_or_measure
from affscore.survey.shipped import shipped_signature
from IPython.display import Markdown

networks = models or study_models("mini:")
efficient = efficient or [
    f"mini:{name}"
    for name in ("squeezenet1_1", "shufflenet_v2_x1_0", "mobilenet_v2")
]
options = {
    "n": n,
    "images": images or None,
    "device": device,
    "seed": seed,
    "progress": False,
}
results = load_or_measure(networks, dataset, store, jobs=jobs, **options)
by_name = {
    short_names(networks)[model]: result for model, result in results.items()
}
# an activation whose input is constant has no score
signatures = {
    name: result.scores[np.isfinite(result.scores)]
    for name, result in by_name.items()
}
print(
    f"{len(signatures)} networks on {dataset}, {sum(map(len, signatures.values()))} activations"
)

# %% [markdown]
# ## Minimum, median, maximum
#
# The signature of a network is a list of affinity scores, one for each activation call: 1 where the activation acted
# as an affine map, lower the more it bent its data. Figure 3 reduces each list to three numbers.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-decade", "caption": "Smallest, median and largest affinity score of each network, by the year of its design (figure 3 of the paper; `affscore.figures.timeline`)."}, "image": {"alt": "A vertical bar for each network, oldest at the left, grouped by year from 2012 to 2022. The bar runs from the smallest to the largest affinity score of its activations, a marker shows the median. Colour and marker stand for the family."}}
decade = history(signatures)
timeline(decade)
plt.show()

# %% [markdown]
# The means over each family. *Activations* is the number of scores in a signature, *spread* their range; *skewness*
# is negative where most scores are high and a few are low.

# %% tags=["hide-input"]
shown = [
    "activations",
    "min",
    "median",
    "max",
    "spread",
    "rarefied range",
    "skewness",
]
few = decade.attrs["few"]
by_family = decade.groupby(["year", "family"], sort=True, dropna=False)[
    shown
].mean()
by_family.rename(columns={"rarefied range": f"range of {few} scores"}).round(
    3
)

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
until_2019 = trends(decade, until=2019, seed=seed)
until_2019.rename(index={"rarefied range": f"range of {few} scores"}).round(3)

# %% [markdown]
# A row shows a trend where its p-value is small and the interval of the slope (`low` to `high`, per year) excludes
# zero. Five rows are five tests, so one p-value just below 0.05 is weak evidence.

# %% tags=["remove-input"]
tested = until_2019.dropna(subset="p_value").rename(
    index={"rarefied range": f"range of {few} scores"}
)
detected = tested.index[
    (tested["p_value"] < 0.05) & (tested["low"] * tested["high"] > 0)
]
years = 2019 - decade["year"].min()
by_name_of_family = decade.groupby("family")[
    ["median", "spread", "skewness"]
].mean()
pure, inception, searched = (
    by_name_of_family.reindex([name]).iloc[0]
    for name in ("Pure convnets", "Inception", "EfficientNets")
)
later, older = (
    decade.loc[decade["year"].gt(2019) == late, "max"]
    for late in (True, False)
)
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
points = (
    f"Point 2: the mean range is {pure['spread']:.2f} for AlexNet and the VGGs, {inception['spread']:.2f} for Inception.",
    f"Point 3: EfficientNets have a mean median of {searched['median']:.2f}, a skewness of {searched['skewness']:+.2f}.",
    f"Point 4: the largest score is at most {later.max():.2f} after 2019, at least {older.min():.2f} before. "
    f"The lowest medians are those of {' and '.join(by_name_of_family['median'].nsmallest(2).index)}.",
)
Markdown(
    f"**{verdict}**{allowed if changes else ''}\n\n"
    + "\n".join(f"* {point}" for point in points if "nan" not in point)
)

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

# %% tags=["hide-input"]
deepest = decade["activations"].nlargest(5).index
shallowest = decade["activations"].nsmallest(5).index
fair = decade.loc[
    [*shallowest, *deepest.difference(shallowest)],
    ["activations", "spread", "rarefied range"],
]
fair.rename(columns={"rarefied range": f"range of {few} scores"}).round(3)

# %% tags=["hide-input"]
for column in ("spread", "rarefied range") if len(decade) > 2 else ():
    rank = decade[["activations", column]].corr("spearman").iloc[0, 1]
    print(
        f"rank correlation of {column:>13} with the number of activations: {rank:+.2f}"
    )

# %% [markdown]
# On the mini zoo the raw range grows with the number of activations and the rarefied one hardly does. With equally
# many scores from each network, the five deepest have a smaller range than AlexNet, the oldest.
#
# ## The whole signatures
#
# Three numbers hide the order. These are the signatures of representatives, one point for each activation; parallel
# activations share a depth, and the colour says what an activation is for.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-representatives", "caption": "Raw signatures of representatives of the families (figure 10 of the paper, figures 3 to 5 and 7 of its first version; `affscore.figures.raw_signature`)."}, "image": {"alt": "A grid of scatter plots, one for each representative network: affinity score from 0 to 1 over the depth of the activation. Colours and markers tell hidden activations, places in a block, those after a residual sum, squeeze layers and gates apart."}}
chosen = ["alexnet", "vgg16", "googlenet", "inception_v3", "resnet101", "resnet152", "densenet161",
          "mnasnet1_0", "efficientnet_b4", "vit_h_14", "swin_t", "convnext_tiny"]  # fmt: skip
brought = [
    name for name in by_name if short_name(name) not in study_models("")
]  # networks of your own
representatives = [*(name for name in chosen if name in by_name), *brought]
representatives = list(by_name) if len(by_name) <= 12 else representatives
raw_signature(
    [by_name[name] for name in representatives],
    columns=3,
    titles=representatives,
)
plt.show()

# %% [markdown]
# The kinds, averaged over each of these networks (a gap where a network has none of that kind):

# %% tags=["hide-input"]
kinds = {
    name: by_name[name].summary.groupby("kind")["score"].mean()
    for name in representatives
}
pd.DataFrame(kinds).T.map(
    lambda mean: "" if np.isnan(mean) else f"{mean:.2f}"
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
# not the identity. Gates are the most nearly affine activations of EfficientNet-B4, stem and transitions those of
# DenseNet-161. Inception v3 has no wider range than GoogLeNet, though.
#
# One caveat: the recipe of the mini zoo ({doc}`92_the_mini_zoo`) starts each residual block as its shortcut, with a
# branch of zero, and scores near 1 partly reflect this zero initialisation.
#
# ## Depth
#
# What happens when one design is made deeper? In the paper the VGGs keep their signature; in the ResNets the two
# kinds of activations move apart, and those after a sum approach 1.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-vggs", "caption": "VGGs of growing depth (figure 12 of the paper; `affscore.figures.raw_signature`)."}, "image": {"alt": "Four scatter plots of the affinity score over depth, for VGGs with 11, 13, 16 and 19 layers."}}
vggs = [name for name in by_name if short_name(name).startswith("vgg")]
if vggs:
    raw_signature([by_name[name] for name in vggs], titles=vggs)
    plt.show()

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-resnets", "caption": "ResNets of growing depth (figure 13 of the paper; `affscore.figures.raw_signature`)."}, "image": {"alt": "Five scatter plots of the affinity score over depth, for ResNets with 18 to 152 layers. The activations after a residual sum have a colour and a marker of their own."}}
resnets = [name for name in by_name if short_name(name).startswith("resnet")]
if resnets:
    raw_signature([by_name[name] for name in resnets], titles=resnets)
    plt.show()

# %% [markdown]
# The next tables have the means of the three thirds of a VGG, and for each ResNet the mean score after a sum (of all,
# and of the deeper half) and elsewhere. `AUC` is the probability that a score after a sum exceeds one
# elsewhere (the common-language effect size): 0.5 means no difference.


# %% tags=["hide-input"]
def of_thirds(names):
    return (
        along_depth({name: signatures[name] for name in names})
        .join(decade[["mean", "std", "activations"]])
        .round(3)
    )


of_thirds(vggs) if vggs else None

# %% tags=["hide-input"]
rows = {}
for name in resnets:
    table = by_name[name].summary.dropna(subset="score")
    after = table[table["kind"] == "after-sum"]
    inside = table.loc[table["kind"] != "after-sum", "score"]
    rows[name] = {
        "activations": len(table),
        "after a sum": after["score"].mean(),
        "deeper half of these": after.loc[
            after["depth"] > after["depth"].median(), "score"
        ].mean(),
        "elsewhere": inside.mean(),
        "AUC": common_language_effect_size(after["score"], inside),
    }
pd.DataFrame.from_dict(rows, orient="index").round(3)

# %% [markdown]
# On the mini zoo both agree with the paper, for the ResNets with the caveat above. With depth the mean score after a
# sum rises, most in the deeper half, while the other scores stay where they are. The VGGs are alike at all four
# depths, with their lowest scores in the middle third.
#
# ## Patches
#
# A vision transformer cuts the image into patches, and each patch becomes a token. In the paper ViT-L with patches of
# 16 pixels is most non-linear in its early layers; with patches of 32 pixels the signature is flat, and only the last
# layer rises steeply towards the affine end. The mini transformers see images of 32 pixels in patches of 8 and 16
# instead, and of 4 for ViT-H/14.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-patches", "caption": "Vision transformers with smaller and larger patches (figure 11 of the paper, figure 7 of its first version; `affscore.figures.raw_signature`)."}, "image": {"alt": "Scatter plots of the affinity score over depth for five vision transformers, whose names end in the size of their patches: 16, 32 or 14."}}
vits = [name for name in by_name if short_name(name).startswith("vit")]
if vits:
    raw_signature([by_name[name] for name in vits], columns=3, titles=vits)
    plt.show()

# %% tags=["hide-input"]
of_thirds(vits) if vits else None

# %% [markdown]
# `correlation` is the rank correlation of score and position: positive where a network becomes more nearly affine with
# depth.
#
# On the mini zoo only the low start agrees: the networks with patches of 16 begin low and are flat from the second
# activation on, flatter than those with larger patches. No last layer rises steeply, and ViT-H/14, with the smallest
# patches, becomes more non-linear with depth. All this is one training of each network.
#
# ## Small on purpose
#
# The first version of the paper {cite}`bouniot2023understanding` looks at three networks for small devices:
# SqueezeNet {cite}`iandola2016squeezenet`, ShuffleNet {cite}`ma2018shufflenet` and MobileNet
# {cite}`sandler2018mobilenetv2`. It finds scores that alternate from one activation to the next, and squeeze layers
# that act as nearly affine maps. The package ships results of three such networks with weights trained on ImageNet,
# on 512 photographs of its training set; the weights are quantised, pruned or retrained copies, not torchvision's
# own. These come first, the analogues after them.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-efficient", "caption": "Efficient networks: first with copies of weights that were trained on ImageNet, on photographs, then those of the parameter `efficient` (figure 6 of the paper's first version; `affscore.figures.raw_signature`)."}, "image": {"alt": "Six scatter plots of the affinity score over depth: SqueezeNet 1.0 and 1.1 and MobileNetV2 with weights from ImageNet, and below them the networks of the parameter efficient."}}
real = {
    name: shipped_signature(f"shipped:{name}")
    for name in ("squeezenet1_0", "squeezenet1_1", "mobilenet_v2")
}
small = load_or_measure(efficient, dataset, store, jobs=jobs, **options)
raw_signature([*real.values(), *small.values()], columns=3)
plt.show()

# %% tags=["hide-input"]
rows = {}
for name, result in {**real, **small}.items():
    of_kind = result.summary.groupby("kind")["score"].mean()
    rows[name] = {
        "data": result.metadata["dataset"],
        "mean": np.nanmean(result.scores),
        "smallest": np.nanmin(result.scores),
        "largest": np.nanmax(result.scores),
        "mean step": np.nanmean(np.abs(np.diff(result.scores))),
        "first of a block": of_kind.get("first", np.nan),
        "second of a block": of_kind.get("second", np.nan),
    }
pd.DataFrame.from_dict(rows, orient="index").round(2)

# %% [markdown]
# In a SqueezeNet block the squeeze layer is the `first` activation, and the two that expand it share the second
# place; `mean step` is the mean change from one activation to the next.
#
# The trained SqueezeNets agree with the paper: squeeze layers score far higher than the layers that expand again, and
# the scores alternate. MobileNetV2 has much smaller steps. The mini SqueezeNet shows the same order with a smaller
# gap, the mini ShuffleNet and MobileNet hardly alternate.
#
# ## Why a small network on digits need not agree
#
# * **The data.** An activation is as non-linear as its input lets it be ({doc}`02_activation_functions`). Ten digits
#   in grey are easier than a thousand classes in colour, and a network can solve them with most of its activations
#   nearly affine.
# * **The size.** A mini network has tens of channels where the original has hundreds, and the score compares clouds
#   in that many dimensions. The mini ResNet-152 has fewer blocks than the original, the mini ViT-H ten layers for 32.
# * **The training.** The original weights come from recipes that changed with the years, some with more data than
#   ImageNet, so a trend over years in the paper is one of designs **and** of recipes. The mini zoo was trained in
#   minutes, with one kind of recipe whose length and rate differ from family to family.
#
# Where both agree, the design is a likely cause, unless the common recipe would do the same to any design; where they
# differ, look at data and training first. To see the paper's own networks, run this notebook with
# `notebooks/params/paper.yml` ({doc}`../book/how_to_run_with_your_model`).
#
# ## What holds, and under which choices
#
# One row for each conclusion of the paper that this chapter looks at: the verdict under the papers' own choice of
# reduction, order, covariance and coupling, and in how many of the equally defensible choices it holds
# ({doc}`09_a_multiverse_of_signatures`). The tests are in {doc}`80_the_ledger`; they are on the results that come with
# the package, whatever the parameters of this chapter are.

# %% tags=["hide-input"]
ledger = Ledger(AllResults.gather())
ledger.conclusions(
    "transitions-linearise",
    "squeeze-layers-linearise",
    "large-patches-plateau",
    "pure-convnets-low-spread",
    "inception-widens",
    "spread-grows-until-2020",
    "less-non-linear-until-2020",
    "vits-most-non-linear",
    "efficientnets-skewed",
)

# %% [markdown]
# ## Takeaways
#
# * With eight designs until 2019 a trend needs a test; an undetected trend is not refuted: look at the width of its
#   interval.
# * Compare ranges over equally many scores: extremes grow with the number of activations.
# * Within a network the kind of an activation (after a sum, squeeze, gate, transition) explains much of its score.
# * An analogue shows what follows from a design and its recipe. It is no measurement of the original.
#
# ## Exercises
#
# ```{exercise} 5.1 How far apart are extremes?
# :label: ex-5-1
# :nonumber:
#
# Suppose that every score of two networks was drawn independently and uniformly from $[0.4, 0.9]$. One has 7 activations, the
# other 151. By how much larger is the expected spread (largest minus smallest score) of the second? Hand in a number.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("5.1", answer)

# %% [markdown]
# ```{solution-start} ex-5-1
# :class: dropdown
# ```
#
# Of $k$ uniform numbers on $[0, 1]$ the smallest has mean $1/(k+1)$ and the largest $k/(k+1)$. The spread is
# $(k-1)/(k+1)$ of the width.

# %%
width = 0.9 - 0.4
answer = width * (150 / 152 - 6 / 8)
affscore.exercises.check("5.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 5.2 The spread of a few
# :label: ex-5-2
# :nonumber:
#
# Write a function `spread(scores, size)` that returns the expected largest minus smallest of `size` scores drawn from
# `scores` (a NumPy array) without replacement, exactly, for up to a hundred scores. Hand in the function.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("5.2", answer)

# %% [markdown]
# ```{solution-start} ex-5-2
# :class: dropdown
# ```
#
# The $i$-th smallest score is the largest of a subset when the others come from the $i - 1$ below it.


# %%
from math import comb


def spread(scores, size):
    ordered, k = np.sort(scores), len(scores)
    largest = sum(
        comb(i, size - 1) * score for i, score in enumerate(ordered)
    )
    smallest = sum(
        comb(k - 1 - i, size - 1) * score for i, score in enumerate(ordered)
    )
    return (largest - smallest) / comb(k, size)


answer = spread
affscore.exercises.check("5.2", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 5.3 What three numbers hide
# :label: ex-5-3
# :nonumber:
#
# Hand in a pair of signatures, each with at least 10 scores between 0 and 1, that have the same minimum, median and maximum
# and yet a DTW distance (`affscore.analysis.signature_distance`) of at least 1.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("5.3", answer)

# %% [markdown]
# ```{solution-start} ex-5-3
# :class: dropdown
# ```
#
# Minimum, median and maximum forget the order, and all but three of the values. The first signature alternates; the
# second has the same scores in rising order.

# %%
low, high = [0.3] * 8, [0.9] * 8
jumping = [score for pair in zip(low, high, strict=True) for score in pair]
rising = [*low, *high]
answer = (jumping, rising)
affscore.exercises.check("5.3", answer)

# %% [markdown]
# ```{solution-end}
# ```
