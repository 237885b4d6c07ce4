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
# # Did networks become less non-linear?
#
# *How did scores change over the years?* The paper {cite}`bouniot2025alexnet` compares 36 networks of 2012 to 2022 and says that
# they became less non-linear, until transformers came (paper Fig. 3). We measured fourteen networks of 2015 to 2020.
#
# :::{admonition} What we found
# :class: findings
# **In seven designs of 2015 to 2020 no trend can be seen.** The {term}`rank correlation` of the mean score with the year is
# {glue:text}`year-mean`, where chance alone often reaches more. {bdg-secondary}`open`
#
# **Scores differ within networks far more than between them.** The network explains {glue:text}`network-explained` of the variance of
# all scores, so most of it is within networks. {bdg-success}`robust`
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
models: list[str] = []  # networks of your own, beside those of this page
dataset: str = "digits"  # their images: digits, imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights and of the choice of images

# %% tags=["remove-cell"]
import companion
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import pandas as pd

from affscore import load_results
from companion.chapter_06 import PUBLISHED, timeline
from companion.figures import signatures
from companion.networks import network_table, study_models
from companion.permutation import trend
from companion.real_networks import (
    real_multiverses,
    real_networks,
    real_scores,
)
from companion.shipped import RESULTS
from companion.style import say, table

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Networks of your own", "code_prompt_hide": "Networks of your own"}
own = []
if models:
    from affscore.survey import load_or_measure

    options = {"n": n, "images": images or None, "seed": seed, "jobs": jobs}
    options |= {"device": device, "progress": False}
    mine = load_or_measure(models, dataset, store, **options)
    numbers = {k: v.summary["score"].describe() for k, v in mine.items()}
    numbers = pd.DataFrame(numbers).T.rename(columns={"50%": "median"})
    own.append(numbers.join(network_table(models)))

# %% [markdown]
# ## Did scores rise with the years?
#
# **Between 2015 and 2020 we see no rise.** Had networks become less non-linear, the markers would move to the right as one
# goes down in the figure. They do until 2018, then they move back, and a little to the right again.

# %% mystnb={"figure": {"name": "fig-decade", "caption": "The medians show no trend from 2015, on top, to 2020, and scores within a network spread far more. Smallest, median (marker) and largest score of fourteen ImageNet networks, most with quantised weights, on 512 photographs of the training set (paper: Fig.\u00a03)."}, "image": {"width": "540px", "alt": "A bar for each network, oldest on top, from its smallest to its largest affinity score, with a marker at the median. All bars overlap; those of SqueezeNets are the longest and those of MobileNetV1 the shortest."}}
statistics = ["count", "mean", "min", "median", "max"]
scores = real_scores("photographs")
decade = scores.groupby(["family", "network"])["score"].agg(statistics)
decade = decade.reset_index("family").assign(name=lambda t: t.index)
decade["year"] = decade["family"].map(PUBLISHED)
decade = pd.concat([decade, *own]).sort_values("year", kind="stable")
timeline(decade)

# %% [markdown]
# The paper also says that the largest score of a network and the *range* of its scores, largest less smallest, grew. Here neither
# is seen to grow: their rank correlations with the year are {glue:text}`year-max` and {glue:text}`year-range`. With seven designs
# a correlation must reach 0.79 before chance is unlikely. (Sizes of a design are not independent, so we average over them.)

# %%
designs = decade.groupby(["year", "family"])[statistics].mean()
designs["range"] = designs["max"] - designs["min"]
order = designs.reset_index("year").corr("spearman").loc[["year"]]
shown = {"mean": "mean score", "max": "largest score", "range": "range"}
table(designs.rename_axis(["year", "design"]), shown)

# %% tags=["remove-cell"]
say(order)

# %% [markdown]
# **The two ends of the decade are missing.** We had no weights trained on ImageNet for AlexNet
# {cite}`krizhevsky2012imagenet`, VGG {cite}`simonyan2015very`, Inception, a DenseNet or a transformer; in the paper transformers
# are the most non-linear. Nor can we separate a design from its training: the weights come from different sources, and most
# are quantised. With 512 images all scores are a little too high ({doc}`03_estimating_it_well`).
#
# ## Where do scores differ?
#
# **Mostly between the places within a network.** Who guesses a score and knows its network has a squared error smaller by
# {glue:text}`network-explained` than without it; who knows the design and the *place* in a block, by
# {glue:text}`place in the design-explained`. For each design has its own pattern: in SqueezeNet the first
# ReLU of a block, which squeezes, is nearly linear, and the two that expand mostly score lower. A network's mean hides that.

# %% mystnb={"figure": {"name": "fig-within", "caption": "The scores of SqueezeNet jump from place to place, those of MobileNetV1 do not. Two ImageNet networks on 512 photographs of the training set."}, "image": {"width": "540px", "alt": "Affinity score over depth. In SqueezeNet 1.1 the first activations of blocks lie near 0.92 and the second ones between 0.46 and 0.89. In MobileNetV1 all lie between 0.73 and 0.92."}}
signatures(scores.query("network in ['SqueezeNet 1.1', 'MobileNetV1']"))

# %% [markdown]
# Explained variance, and what random groups would explain *by chance*:


# %%
def explained(scores, by):
    groups = scores.groupby(by)["score"]
    left = scores["score"] - groups.transform("mean")
    share = 1 - left.var() / scores["score"].var()
    return share, (groups.ngroups - 1) / (len(scores) - 1)


ways = {"network": "network"}
ways |= {"place in the design": ["family", "kind"]}
known = scores.dropna(subset="score")
groups = {name: explained(known, by) for name, by in ways.items()}
groups = pd.DataFrame(groups, ["explained", "noise"]).T
headings = {"explained": "explained (%)", "noise": "by chance (%)"}
words = {"place in the design": "design and place"}
table(groups.rename(words).rename_axis("known"), headings, digits=0)

# %% tags=["remove-cell"]
say(100 * groups, "{:.0f} %")


# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Explained shares, and correlation with the year, under every choice", "code_prompt_hide": "How sure? Explained shares, and correlation with the year, under every choice"}
def over_the_years(rows):
    means = rows.groupby(["family", "network"])["score"].mean()
    means = means.groupby("family").mean()
    _, rho, p, *_ = trend(means.index.map(PUBLISHED), means)
    found = {name: explained(rows, by)[0] for name, by in ways.items()}
    return pd.Series(found | {"correlation": rho, "p": p})


words = ["reduction", "order", "covariance", "coupling"]
every = real_multiverses("photographs").dropna(subset="score").groupby(words)
every = every[["family", "kind", "network", "score"]].apply(over_the_years)
table(every.agg(["min", "max"]).set_axis(["least", "most"]))

# %% [markdown]
# ## Aside: Smaller images
#
# **On CIFAR-10 the deeper network of a family mostly has the higher mean score**, as on photographs between ResNet-18 and ResNet-50.
# **In small members of the paper's designs the three families with GELUs, from 2020
# on, have lower largest scores than all before**, as in the paper.
#
# *CIFAR-10.* Twelve networks: plain and residual ones {cite}`he2016deep`, a SqueezeNet {cite}`iandola2016squeezenet`, a DenseNet
# {cite}`huang2017densely` and two VGG-like networks.

# %%
design = ["family", "network"]
cifar = real_scores("CIFAR-10").groupby(design)["score"].mean()
copies = real_scores("CIFAR-10 as JPEG"), real_scores("CIFAR-10 lossless")
jpeg, lossless = (one.groupby(design)["score"].mean() for one in copies)
raised = (jpeg - lossless).agg(["min", "max"]).to_frame("JPEG")
table(cifar.to_frame("mean score"))

# %% tags=["remove-cell"]
say(raised.T, "{:.3f}")

# %% [markdown]
# All were measured on *JPEG copies* of the test images, which cost 6 to 13 points of accuracy and raise the mean scores by
# {glue:text}`JPEG-min` to {glue:text}`JPEG-max` (on 221 images).

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "Whose weights are these? All 26 networks", "code_prompt_hide": "Whose weights are these? All 26 networks"}
# Published accuracy, on images that no training saw, where one is known.
known = real_networks().reset_index()
accuracy = known["accuracy"].map(" ({:.1f} %)".format, "ignore").fillna("")
named = (known["network"] + accuracy).groupby(known["weights_are"])
table(named.agg(", ".join).rename_axis("weights").to_frame("networks"))

# %% [markdown]
# *Digits.* The **mini zoo** has a small member of each of the paper's 36 networks, trained on handwritten digits ({ref}`mini-zoo`). It
# shows what follows from a design, and nothing about ImageNet.

# %%
mini = load_results(RESULTS).query("dataset == 'digits'")
mini = mini[
    mini["model"].isin(study_models()) & (mini["weights"] != "random")
]
small = mini.groupby("model")["score"].agg(["mean", "max"])
small = small.join(network_table(small.index)[["family", "year"]])
of_digits = small.groupby(["year", "family"])[["mean", "max"]].mean()
table(of_digits, {name: shown[name] for name in of_digits})

# %% [markdown]
# Their mean scores are not all low: that of the ViTs is as high as that of the first convnets. (For the paper's own networks
# run this page with `notebooks/params/paper.yml`, {doc}`../book/how_to_run_with_your_model`.)
#
# ## Exercises
#
# ```{exercise} 6.1 How far apart are extremes?
# :label: ex-6-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see how much a range owes to the number of scores.
#
# Suppose that every score of two networks was drawn independently and uniformly from $[0.4, 0.9]$. One has 7 activations, as
# AlexNet, the other 151, as ResNet-152. By how much larger is the expected spread (largest minus smallest score) of the
# second? Hand in a number.
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
# The year does not order the mean scores of seven designs. A journalist writes: "Researchers refute that networks became
# less non-linear." Another one: "A trend was missed only for lack of data." What is known, what is not, and what would
# decide it? What does counting all fourteen networks do to the p-value, and why is that not allowed?
# ```
#
# ```{admonition} Hint for 6.2
# :class: dropdown hint
# How large must a rank correlation of seven values be before chance is unlikely? And which years are missing?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-6-2
# :class: dropdown
# ```
#
# With seven designs only a rank correlation near 0.8 is unlikely by chance. The one found is compatible with a moderate
# trend and with none, so the first sentence is wrong. The second assumes that the trend exists. And the networks that the
# claim is about, AlexNet and VGG at one end and transformers at the other, are missing.
#
# To decide it one needs those networks on ImageNet, more designs (not more sizes), and several trainings of each. Fourteen
# networks are not fourteen observations: sizes of a design share nearly everything, so the p-value becomes too small.
#
# **Rubric** (5 points)
#
# * 2: reads the correlation as compatible with both, with numbers.
# * 1: rejects both sentences.
# * 1: what would decide it: the missing networks, more designs, repeated trainings.
# * 1: why networks of a family are not independent, and what that does to the p-value.

# %% [markdown]
# ```{solution-end}
# ```
