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
# non-linear on the way, or less? The paper {cite}`bouniot2025alexnet` lays the signatures of 36 networks side by side and
# answers: until the transformers came, less. This chapter makes the same figures, asks how much of what one sees is a
# trend, and looks inside single families. You will learn
#
# * how minimum, median and maximum of a signature went over ten years, and how to test a trend on eight designs,
# * why the spread of 150 scores must not be compared with the spread of 7,
# * what a residual sum, a dense connection, a smaller patch or a squeeze layer does to a signature,
# * how to run the same comparison on the paper's own networks, or with one of yours among them.

# %% tags=["parameters"]
models: list[str] = []  # the networks, names with or without @WEIGHTS; none: the study's 36 from the mini zoo
efficient: list[str] = ["mini:squeezenet1_1", "mini:shufflenet_v2_x1_0", "mini:mobilenet_v2"]  # for small devices
dataset: str = "digits"  # digits, random, cifar10, cifar100, fashion-mnist, imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # the folder where new results are kept, seen from the folder of this notebook
jobs: int = 2  # networks to measure at once, where results are missing
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, of the choice of images and of the permutations

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% [markdown]
# ## The networks
#
# The study has one network of every landmark design, or several sizes of it: AlexNet {cite}`krizhevsky2012imagenet`,
# VGG {cite}`simonyan2015very`, GoogLeNet and Inception v3 {cite}`szegedy2015going,szegedy2016rethinking`, ResNets
# {cite}`he2016deep`, DenseNets {cite}`huang2017densely`, two families found by automatic search, MNASNet
# {cite}`tan2019mnasnet` and EfficientNet {cite}`tan2019efficientnet`, vision transformers {cite}`dosovitskiy2021image`,
# Swin {cite}`liu2021swin` and ConvNeXt {cite}`liu2022convnet`. By default this page takes the **mini zoo**: a small
# member of each, with the same building blocks and the same name, trained on scanned digits. What it shows is an
# **analogue**. It can show what follows from a design together with **the mini zoo's recipe** ({doc}`92_the_mini_zoo`);
# it cannot confirm or refute a number that the paper measured on ImageNet.
#
# Signatures come out of a store of results. Those of the mini zoo are shipped; what is not there is measured, once. In
# the default run each network was trained once, and each score comes from one batch of 512 of the 597 held-out images,
# so it has no error bar. With two batches of 256 the scores of the small AlexNet, VGG-16 and ConvNeXt-T have a standard
# deviation of 0.005, averaged over the activations ({doc}`04_signature_of_a_network` has more on batches). How much
# another training would move them is not known from this page.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

import affscore
from affscore.analysis import along_depth, common_language_effect_size, trends
from affscore.figures import raw_signature, timeline
from affscore.papers import history, short_name, short_names, study_models
from affscore.survey import kept_signatures
from affscore.survey.shipped import shipped_signature

networks = models or study_models("mini:")
options = {"n": n, "images": images or None, "device": device, "seed": seed, "progress": False}
results = kept_signatures(networks, dataset, store, jobs=jobs, **options)
by_name = {short_names(networks)[model]: result for model, result in results.items()}
# an activation whose input is constant has no score
signatures = {name: result.scores[np.isfinite(result.scores)] for name, result in by_name.items()}
print(f"{len(signatures)} networks on {dataset}, {sum(map(len, signatures.values()))} activations")

# %% [markdown]
# ```{warning}
# The score takes the **best coupling** of the two clouds, which need not be the pairing of each input with its own output
# ({doc}`01_the_affinity_score`). Where it is another one, an activation looks more nearly affine than it acts on single
# images. In narrow layers that is the rule: in the default run it is so in 63 % of the rows, and in 44 % of those
# of the CIFAR-10 networks of chapters 7 and 8. The first activation of the small VGG-19, of 8 channels, has a score of 0.87,
# and 0.48 by its pairs. Networks with narrow layers are compared on these pages with that in mind: part of a difference
# between them may be the coupling.
# ```

# %%
rows = pd.concat([result.table for result in results.values()])["pairing_optimal"].astype(float).dropna()
print(f"The optimal coupling is not the pairing in {1 - rows.mean():.0%} of {len(rows)} rows.")
exact, paired = (
    affscore.signature("mini:vgg19", "digits", images=512, criteria=False, whole=whole).scores
    for whole in (False, True)
)
print(
    f"Of the small VGG-19 it raises scores by up to {(exact - paired).max():.2f}, by {(exact - paired).mean():.2f} on average."
)

# %% [markdown]
# ## Minimum, median, maximum
#
# The signature of a network is a list of affinity scores, one for each activation call: 1 where the activation acted as
# an affine map, lower where it bent its data. Three numbers of each list make the figure of the decade.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-decade", "caption": "Smallest, median and largest affinity score of each network, by the year of its design (figure 3 of the paper; `affscore.figures.timeline`)."}, "image": {"alt": "A vertical bar for each network, oldest at the left, grouped by year from 2012 to 2022. The bar runs from the smallest to the largest affinity score of its activations, a marker shows the median. Colour and marker stand for the family."}}
decade = history(signatures)
timeline(decade)
plt.show()

# %% [markdown]
# Family by family, as means over the members. *Activations* is how many scores a signature has; *skewness* is negative
# where most scores are high and a few are low.

# %% tags=["hide-input"]
shown = ["activations", "min", "median", "max", "spread", "spread of few", "skewness"]
few = decade.attrs["few"]
by_family = decade.groupby(["year", "family"], sort=True, dropna=False)[shown].mean()
by_family.rename(columns={"spread of few": f"spread of {few}"}).round(3)

# %% [markdown]
# What the paper reads off its own figure, in our words:
#
# 1. Until the transformers, largest score and spread (largest minus smallest) grow: networks use more and more
#    nearly affine activations beside the bent ones.
# 2. AlexNet and VGG have a narrow range; the Inception modules of GoogLeNet widen it at both ends.
# 3. EfficientNets, found by search, are skewed towards the affine end.
# 4. Vision transformers break the trend: their activations are the most non-linear of all. Swin and ConvNeXt, which give
#    some of a convolution's habits back to the transformer, look like AlexNet and VGG again.
#
# ## Is it a trend?
#
# Four VGGs are four sizes of one idea, not four independent observations for the year 2014. The fair sample is that of
# **designs**: networks of one family and year count once, with the mean of their statistics. Until 2019 the study has eight
# designs. With so few, two tools that assume little:
#
# * **Spearman's rank correlation** of a statistic with the year, and a **permutation test**: how often would years that are
#   permuted over the designs give a correlation as far from zero?
# * **Theil and Sen's slope** {cite}`sen1968estimates`, the median of the slopes between all pairs of designs, with a 95 %
#   interval.

# %% tags=["hide-input"]
until_2019 = trends(decade, until=2019, seed=seed)
until_2019.rename(index={"spread of few": f"spread of {few}"}).round(3)

# %% [markdown]
# Each row has one point for each of the eight designs. It shows a trend where the p-value is small and the interval of
# the slope (`low` to `high`, in points of the score per year) does not hold zero. Five rows are five tests, so that one
# p-value just below 0.05 is no news.
#
# In the default run we detect no trend: every interval contains zero, and no p-value is below 0.2. That is no proof that
# there is none, for the intervals are wide. The one of the median goes from -0.012 to 0.037 a year and so allows a rise
# by 0.26 in seven years; that of the spread, from -0.042 to 0.046, allows a change by 0.3 in either direction. Median,
# maximum and spread lean the way that the paper says, the fair spread (next section) the other way. Of the four points
# above,
#
# * the first cannot be shown on digits;
# * neither is the second: AlexNet and the VGGs have a **wider** range than the Inception networks;
# * of the third, the EfficientNets have the highest median of all families, and scores up to 1, but are not skewed;
# * of the fourth, no network after 2019 has a score above 0.82, while each of the older ones has one above 0.85. The lowest medians
#   are those of ConvNeXt and Swin, though, not of the ViTs.
#
# ## A fair spread
#
# The last row is there because minimum and maximum depend on how many scores there are, whatever the network. Take
# uniform random numbers: the largest and the smallest of 7 lie on average three quarters of the range apart, those of 150
# almost the whole range. AlexNet has 7 activations, the original ResNet-152 151 (the small one 91). A spread that grows with the years may say
# nothing but that networks became deeper.
#
# The remedy is known from ecology as **rarefaction**; there big catches have more species than small ones
# {cite}`hurlbert1971nonconcept`: draw the same number of scores from each network, as many as the shortest signature
# has, and take the expected spread. No drawing is needed; over all subsets of size $m$ of the sorted scores
# $s_{(1)} \le \dots \le s_{(k)}$ it is
#
# $$
# \mathbb E\,(\max - \min) = \sum_{i=1}^{k} \frac{\binom{i-1}{m-1} - \binom{k-i}{m-1}}{\binom{k}{m}}\; s_{(i)} .
# $$

# %% tags=["hide-input"]
deepest = decade["activations"].nlargest(5).index
shallowest = decade["activations"].nsmallest(5).index
fair = decade.loc[[*shallowest, *deepest.difference(shallowest)], ["activations", "spread", "spread of few"]]
fair.rename(columns={"spread of few": f"spread of {few}"}).round(3)

# %% tags=["hide-input"]
for column in ("spread", "spread of few") if len(decade) > 2 else ():
    rank = decade[["activations", column]].corr("spearman").iloc[0, 1]
    print(f"rank correlation of {column:>13} with the number of activations: {rank:+.2f}")

# %% [markdown]
# In the default run the spread goes with the number of activations (rank correlation about 0.5), the fair spread hardly
# does. With as many scores from each, all five of the deepest networks spread less than AlexNet, the first of all
# (0.312). Of all 36, only ResNet-34 and VGG-16 spread a little further (0.328 and 0.327).
#
# ## The whole signatures
#
# Three numbers hide the order. These are the signatures of representatives, one point for each activation; activations
# that run side by side share a depth and lie above each other, and what an activation is for gives its colour.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-representatives", "caption": "Raw signatures of representatives of the families (figure 10 of the paper, figures 3 to 5 and 7 of its first version; `affscore.figures.raw_signature`)."}, "image": {"alt": "A grid of scatter plots, one for each representative network: affinity score from 0 to 1 over the depth of the activation. Colours and markers tell hidden activations, places in a block, those after a residual sum, squeeze layers and gates apart."}}
chosen = ["alexnet", "vgg16", "googlenet", "inception_v3", "resnet101", "resnet152", "densenet161",
          "mnasnet1_0", "efficientnet_b4", "vit_h_14", "swin_t", "convnext_tiny"]  # fmt: skip
brought = [name for name in by_name if short_name(name) not in study_models("")]  # networks of your own
representatives = [*(name for name in chosen if name in by_name), *brought]
representatives = list(by_name) if len(by_name) <= 12 else representatives
raw_signature([by_name[name] for name in representatives], columns=3, titles=representatives)
plt.show()

# %% [markdown]
# The kinds, averaged over each of these networks (a gap where a network has none of that kind):

# %% tags=["hide-input"]
kinds = {name: by_name[name].summary.groupby("kind")["score"].mean() for name in representatives}
pd.DataFrame(kinds).T.map(lambda mean: "" if np.isnan(mean) else f"{mean:.2f}")

# %% [markdown]
# What to look for, with what the paper says of ImageNet:
#
# * **Inception.** Branches of different length and kernel size run in parallel; for GoogLeNet the paper reports
#   0.6 as the lowest and 0.9 as the highest score, and a wider range for Inception v3.
# * **ResNets.** An activation behind a residual sum sees mostly what the shortcut brought: a signal that was rectified
#   before. Its scores come close to 1, those inside the block stay low.
# * **DenseNets.** All earlier feature maps are concatenated. In the paper the transition layers between two dense blocks are
#   nearly affine, so that a new block starts afresh. Here they are among the `hidden` ones, together with the stem.
# * **EfficientNets.** The gates of squeeze-and-excite blocks are sigmoids of one number per channel, which hardly vary, so
#   that an affine map does as well.
#
# In the default run what happens **inside** the networks is the paper's, more than what happens over the years. Behind a sum the
# two ResNets have a mean score of 0.94 or more, elsewhere of 0.76 or less. The few low scores after a sum are those of the first block
# of each stage: there the shortcut is no identity but a convolution that changes the number of channels. Gates are the most
# nearly affine activations of EfficientNet-B4, and the stem and the transitions those of DenseNet-161. Inception v3 spreads no
# further than GoogLeNet, though, and both stay between 0.67 and 0.88.
#
# One caution. The recipe of the mini zoo ({doc}`92_the_mini_zoo`) begins each block of a ResNet as its shortcut, with a
# branch of zero. The nearness to 1 is in part what is left of this start.
#
# ## Depth
#
# What happens when one design is made deeper? The VGGs of the paper keep their signature; in its ResNets the two kinds of
# activations move apart, and those after a sum approach 1.

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
# In numbers: the means of the three thirds of a VGG, and for each ResNet the mean score after a sum (of all, and of the
# deeper half) and elsewhere. `told apart` is how often a score after a sum is larger than one that is not (the
# probability of superiority): 0.5 is by chance, 1 is always.

# %% tags=["hide-input"]
if vggs:
    display(
        along_depth({name: signatures[name] for name in vggs}).join(decade[["mean", "std", "activations"]]).round(3)
    )

# %% tags=["hide-input"]
rows = {}
for name in resnets:
    table = by_name[name].summary.dropna(subset="score")
    after = table[table["kind"] == "after-sum"]
    inside = table.loc[table["kind"] != "after-sum", "score"]
    deeper = after.loc[after["depth"] > after["depth"].median(), "score"]
    rows[name] = [
        len(table),
        after["score"].mean(),
        deeper.mean(),
        inside.mean(),
        common_language_effect_size(after["score"], inside),
    ]
pd.DataFrame.from_dict(
    rows, orient="index", columns=["activations", "after a sum", "deeper half of these", "elsewhere", "told apart"]
).round(3)

# %% [markdown]
# In the default run the small VGGs and ResNets do what the paper says of theirs; for the ResNets the caution above
# counts. From 18 to 152 layers the mean score after a sum grows from 0.88 to 0.95, in the deeper half from 0.84 to
# 0.97, and the others stay between 0.71 and 0.76. The VGGs are alike at all four depths, with means of 0.72 to 0.75,
# the lowest scores in the middle third and high ones at both ends.
#
# ## Patches
#
# A vision transformer cuts the image into patches, and each of them becomes a token. In the paper ViT-L with patches of 16
# pixels is most non-linear in its early layers and less and less so later; with patches of 32 pixels the signature is
# flat, and only the last layer jumps towards the affine end. The mini transformers see images of 32 pixels in patches of 8
# and 16 instead, and of 4 for ViT-H/14.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-patches", "caption": "Vision transformers with smaller and larger patches (figure 11 of the paper, figure 7 of its first version; `affscore.figures.raw_signature`)."}, "image": {"alt": "Scatter plots of the affinity score over depth for five vision transformers, whose names end in the size of their patches: 16, 32 or 14."}}
vits = [name for name in by_name if short_name(name).startswith("vit")]
if vits:
    raw_signature([by_name[name] for name in vits], columns=3, titles=vits)
    plt.show()

# %% tags=["hide-input"]
if vits:
    display(
        along_depth({name: signatures[name] for name in vits}).join(decade[["mean", "std", "activations"]]).round(3)
    )

# %% [markdown]
# `correlation` is the rank correlation of score and position: positive where a network becomes more nearly affine with
# depth.
#
# In the default run the two networks in 16 begin low: their first activation scores 0.62 and 0.56, the later ones 0.75
# to 0.81. Without the first, all four signatures are flat, with standard deviations of 0.01 to 0.02, and those with the
# **smaller** patches are the flatter ones. So of the paper's pattern only the low start is there. The steep last step
# is not: ViT-L/32 rises slowly, to 0.74. And ViT-H/14, with the smallest patches, starts at 0.81 and goes the other
# way, more non-linear with depth; with a standard deviation of 0.028 it is about as flat as ViT-L/32 with 0.022. All
# this is one training of each.
#
# ## Small on purpose
#
# The first version of the paper {cite}`bouniot2023understanding` looks at three networks for small devices: SqueezeNet
# {cite}`iandola2016squeezenet`, ShuffleNet {cite}`ma2018shufflenet` and MobileNet {cite}`sandler2018mobilenetv2`. It
# finds scores that go up and down from one activation to the next, and squeeze layers that act nearly as affine maps.
# Of three such networks the package ships results with weights that were trained on ImageNet, on 512 photographs of its
# training set; the weights are quantised, pruned or retrained copies and not torchvision's own. These results stand
# first, the analogues after them.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-efficient", "caption": "Efficient networks: first with copies of weights that were trained on ImageNet, on photographs, then those of the parameter `efficient` (figure 6 of the paper's first version; `affscore.figures.raw_signature`)."}, "image": {"alt": "Six scatter plots of the affinity score over depth: SqueezeNet 1.0 and 1.1 and MobileNetV2 with weights from ImageNet, and below them the networks of the parameter efficient."}}
real = {name: shipped_signature(f"shipped:{name}") for name in ("squeezenet1_0", "squeezenet1_1", "mobilenet_v2")}
small = kept_signatures(efficient, dataset, store, jobs=jobs, **options)
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
# In a SqueezeNet's block the squeeze layer is the `first` activation and the two that expand it share the second place;
# `mean step` is the mean change from one activation to the next.
#
# The real SqueezeNets do what the paper says. Their squeeze layers have mean scores of 0.91 and 0.92, the layers that expand again 0.66
# and 0.68, and from one activation to the next the score changes by 0.22 on average. MobileNetV2 is calmer, with steps of 0.08. In the
# default run the mini SqueezeNet has the same order by a smaller distance, and mini ShuffleNet and MobileNet change by 0.05 or less.
#
# ## Why a small network on digits need not agree
#
# * **The data.** The paper says, and {doc}`02_activation_functions` shows, that an activation is as non-linear as its input lets
#   it be. Ten digits in grey are easier than a thousand kinds of things in colour: a network can solve them with most of its
#   activations half asleep.
# * **The size.** A mini network has tens of channels where the original has hundreds, and the score compares clouds in that
#   many dimensions. The mini ResNet-152 has fewer blocks than the original, the mini ViT-H ten layers for 32.
# * **The training.** The original weights come from recipes that changed with the years, some from more data than
#   ImageNet. A trend over years in the paper is one of designs **and** of recipes. The mini zoo was trained in minutes
#   with one kind of recipe, whose length and rate differ from family to family, and the branches of its ResNets start
#   at zero.
#
# So where both agree, the design is a likely cause, unless the common recipe would do the same to any design; where
# they differ, look at data and training first. To see the paper's own networks, run this notebook with
# `notebooks/params/paper.yml` ({doc}`../book/how_to_run_with_your_model`).
#
# ## Takeaways
#
# * Figure 3 of the paper is three numbers per network; with eight designs until 2019 a trend needs a test, and gets one here.
# * Compare spreads of as many scores: extremes grow with the number of activations.
# * Within a network the kind of an activation (after a sum, squeeze, gate, transition) explains much of where its score lies.
# * A trend that cannot be shown is not refuted. Look how wide the interval is.
# * An analogue shows what follows from a design and this recipe. It is no measurement of the original.
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
    largest = sum(comb(i, size - 1) * score for i, score in enumerate(ordered))
    smallest = sum(comb(k - 1 - i, size - 1) * score for i, score in enumerate(ordered))
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
# and yet a warping distance (`affscore.analysis.signature_distance`) of at least 1.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("5.3", answer)

# %% [markdown]
# ```{solution-start} ex-5-3
# :class: dropdown
# ```
#
# Minimum, median and maximum forget the order, and all but three of the values. The first signature jumps up and down as a
# ResNet does; the second has the same scores in rising order.

# %%
low, high = [0.3] * 8, [0.9] * 8
jumping = [score for pair in zip(low, high, strict=True) for score in pair]
rising = [*low, *high]
answer = (jumping, rising)
affscore.exercises.check("5.3", answer)

# %% [markdown]
# ```{solution-end}
# ```
