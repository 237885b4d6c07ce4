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
# # A multiverse of signatures
#
# Between a feature map and its score stand four choices: how positions are reduced to a point, before or after the
# activation, how the covariance is estimated, and which output each input is coupled with. Definition 3.1, the published
# code and the theory do not agree on them, and no argument settles them. So this chapter makes all of them at once
# (a *multiverse* analysis {cite}`steegen2016increasing`) and asks which conclusions survive. You will learn
#
# * where definition, code and theory part ways, and by how much each choice moves a signature,
# * what the score cannot see: which output belongs to which input,
# * which of the study's conclusions hold under every choice, and what to report with a signature of your own.

# %% tags=["parameters"]
models: list[str] = []  # with or without @WEIGHTS; none: 36 of the mini zoo
dataset: str = "digits"  # digits, cifar10, imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, of the choice of images and of positions

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import itertools

import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from affscore.analysis import effects_of_choices, unimodality_test
from affscore.experiments import extrapolation_errors
from affscore.figures import choice_effects
from affscore.options import Specification
from affscore.papers import short_names, study_models
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey import load_or_measure_multiverses, stored_multiverses
from IPython.display import Markdown

pd.set_option("display.max_colwidth", 200)
options = {
    "n": n,
    "images": images or None,
    "device": device,
    "seed": seed,
    "progress": False,
}
names = short_names(networks := models or study_models("mini:"))
measured = load_or_measure_multiverses(
    networks, dataset, store, jobs=jobs, **options
)
here = {names[model]: found for model, found in measured.items()}
real = {
    found.metadata["model"].rpartition(":")[2]: found
    for found in stored_multiverses()
    if not found.metadata["model"].startswith("mini:")
    and found.metadata["weights"] != "random"
}
ledger = Ledger(AllResults.gather())

# %% [markdown]
# ## The short answer
#
# Every claim of the papers about signatures was asked under all specifications that were measured: on the mini zoo, on
# eight networks trained on CIFAR-10, and on three trained on ImageNet. A claim *depends on a choice* where an equally
# defensible one turns its verdict round.

# %% tags=["remove-cell"]
claims = ledger.robustness_table
counts = claims[["holds", "does not hold", "cannot be decided"]]
same = np.array(
    [
        row[verdict]
        for (_, row), verdict in zip(
            counts.iterrows(), claims["papers_choice"], strict=True
        )
    ]
)
claims = claims.assign(
    differ=claims["specifications"] - same,
    turned=claims["verdict"].str.startswith("depends"),
)
kinds = {
    "the small networks on digits": "mini zoo",
    "networks trained on CIFAR-10, on its test images": "CIFAR-10",
}
kinds |= {
    "networks with other weights or reductions, on photographs": "photographs"
}
claims["tested on"] = claims["on"].replace(kinds)
words = {
    "holds": "holds in",
    "does not hold": "fails in",
    "cannot be decided": "open in",
}
claims["specifications"] = [
    ", ".join(
        f"{word} {row[verdict]}"
        for verdict, word in words.items()
        if row[verdict]
    )
    for _, row in claims.iterrows()
]

# %% tags=["remove-input"]
open_here = claims["papers_choice"] == "cannot be decided"
same = claims["differ"] == 0
Markdown(
    f"**{claims['turned'].sum() or 'No'} verdict{'' if claims['turned'].sum() in (0, 1) else 's'} of {len(claims)} "
    f"{'is' if claims['turned'].sum() in (0, 1) else 'are'} turned round by a choice, and {(same & ~open_here).sum()} are "
    "decided alike under all of them.** But choices decide whether there is a verdict at all: the papers' leaves "
    f"{(~same & open_here).sum()} claims open that others decide, and decides "
    f"{(~same & ~open_here & ~claims['turned']).sum()} that others leave open. "
    f"{(same & open_here).sum()} can be decided under none. The whole table is at the end of this chapter."
)

# %% [markdown]
# The three most surprising rows of {doc}`the ledger <80_the_ledger>`: where the most specifications disagree with the
# papers' own choice.

# %% tags=["hide-input"]
surprising = claims.sort_values(
    ["turned", "differ"], ascending=False, kind="stable"
)
columns = ["claim", "tested on", "papers_choice", "specifications"]
surprising.head(3)[columns].rename(
    columns={"papers_choice": "papers' choice"}
).set_index("claim")

# %% [markdown]
# ## Where definition, code and theory part ways
#
# | choice | definition 3.1 | published code | theory | here |
# |---|---|---|---|---|
# | **reduction** of positions | "averaged" | the mean over all axes behind the second: where channels come last (ViT, Swin, ConvNeXt) that is a mean *over channels* | none: the activation acts on every position, whose distribution `sample` draws from | `mean`; `sample` |
# | **order** | reduces, then activates: $(r(X), \sigma(r(X)))$ | activates, then reduces: $(r(X), r(\sigma(X)))$ | no difference without positions | `activate-first`; `reduce-first` |
# | **covariance** | that of the distribution | Ledoit and Wolf's | the empirical one is in $[0, 1]$, and 1 for affine maps | `ledoit-wolf`; `empirical` |
# | **coupling** | the optimal one, $W_2$ | the optimal one | the pairing of each input with its own output is what a function does | `exact`; `paired` |
#
# `sample` commutes with an elementwise function, so both orders are the same: 2 + 1 ways to a point, times two
# covariances, times two couplings are **12 specifications**. One forward pass gives them all, each to the last bit what
# `affscore.signature` measures (what it costs: {doc}`90_what_it_costs`):

# %%
example = here.get("resnet18") or next(iter(here.values()))
found = affscore.multiverse("mini:resnet18", "digits", n=512, progress=False)
found.summary.drop(columns=["bias", "activations"]).round(3)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-9-curve", "caption": "One trained network, twelve mean scores: MobileNetV2 on photographs. The specification curve {cite}`simonsohn2020specification` above the matrix of choices; bars are the quartiles of its activations (`affscore.figures.specification_curve`)."}, "image": {"alt": "Above, twelve points from left to right in rising order with grey bars, between 0.70 and 0.82; the default and Definition 3.1 have their own markers. Below, a matrix of dots shows which reduction, order, covariance and coupling each point has."}}
shown = real.get("mobilenet_v2", example)
shown.plot("MobileNetV2 on photographs" if shown is not example else None)
plt.show()

# %% tags=["remove-input"]
means = shown.scores.mean()
Markdown(
    f"In {shown.name} the mean score is {means.iloc[0]:.2f} under the default and "
    f"**{means.min():.2f} to {means.max():.2f} over all {len(means)} specifications**."
)

# %% [markdown]
# The same for all trained networks of usual size that come with the package, mean scores:

# %% tags=["hide-input"]
named = {
    "default": Specification(),
    "definition 3.1": Specification(order="reduce-first"),
}
named |= {
    "sample": Specification(reduction="sample"),
    "paired": Specification(coupling="paired"),
}
named |= {"empirical": Specification(covariance="empirical")}
rows = {
    name: {label: found.scores[one].mean() for label, one in named.items()}
    | {
        "all: from": found.scores.mean().min(),
        "to": found.scores.mean().max(),
    }
    for name, found in real.items()
}
in_real = pd.DataFrame(rows).T
in_real.round(2)

# %% tags=["remove-input"]
highest = [
    sum(
        found.scores.mean().idxmax() == Specification()
        for found in some.values()
    )
    for some in (real, here)
]
Markdown(
    f"**In {highest[0]} of {len(real)} networks the papers' choice gives the highest mean score of all**: every other one "
    f"says that the network is less linear than that. (Of this chapter's networks, in {highest[1]} of {len(here)}.)"
)

# %% [markdown]
# ## One choice at a time
#
# A mean that moves is harmless if the order of the activations stays. So change one choice, keep the others at the
# default, and correlate the ranks of both signatures:

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-9-effects", "caption": "Spearman's rank correlation of a signature with the default one, where a single choice is changed: a dot is a network, a black line the median of a row (`affscore.figures.choice_effects`). 1: the same ranks."}, "image": {"alt": "Rows of dots over the rank correlation from -0.6 to 1. Covariance and coupling lie close to 1; reduction to one sampled position and the other order scatter widely down to negative values; the published reduction of transformers scatters around 0.2."}}
groups = {"this chapter's networks": here, "CIFAR-10 and ImageNet": real}
tables = {
    kind: {name: found.scores for name, found in some.items()}
    for kind, some in groups.items()
}
effects = pd.concat(
    [
        effects_of_choices(scores).assign(group=kind)
        for kind, scores in tables.items()
        if scores
    ]
)
effects = effects.reset_index(drop=True)
choice_effects(effects, xlabel="rank correlation with the default signature")
plt.show()

# %% tags=["hide-input"]
effects.assign(change=effects["choice"] + ": " + effects["to"]).groupby(["change", "group"]).agg(**{
    "median change": ("mean_change", "median"),
    "largest fall": ("largest_fall", "min"),
    "largest rise": ("largest_rise", "max"),
    "median rank corr.": ("rank_correlation", "median"),
    "lowest": ("rank_correlation", "min"),
}).round(2)  # fmt: skip

# %% [markdown]
# Covariance and coupling move scores and mostly keep ranks. Order and reduction reorder small networks; of the trained
# ones on photographs they reorder the plain networks and MobileNetV2, and hardly the residual ones. Each gets a section.
#
# ## Order: the mean of a ReLU is not the ReLU of a mean
#
# Averages over positions have little spread. A channel whose mean is far from the bend passes through `reduce-first` as
# if there were no bend, and one whose mean is always negative is dead. `activate-first` sees the bend in every position.
# One channel, 512 images of 64 positions; the means of the images have a standard deviation of $s$, the positions of an
# image one of 1:

# %% tags=["hide-input"]
rng = np.random.default_rng(seed)
rows = []
for centre, s in itertools.product((0.0, 1.0), (0.05, 0.5, 2.0)):
    x = (
        centre
        + s * rng.standard_normal((512, 1))
        + rng.standard_normal((512, 64))
    )
    mean = x.mean(axis=1, keepdims=True)
    rows.append({
        "mean": centre, "s": s,
        "activate-first": affscore.affinity_score(mean, np.maximum(x, 0).mean(axis=1, keepdims=True)).value,
        "reduce-first": affscore.affinity_score(mean, np.maximum(mean, 0)).value,
        "sample": affscore.affinity_score(x[:, :1], np.maximum(x[:, :1], 0)).value,
    })  # fmt: skip
pd.DataFrame(rows).set_index(["mean", "s"]).round(3)

# %% [markdown]
# On the same numbers the same ReLU scores 0.3 more in one order than in the other where means lie at the bend, and a
# little less where they lie above it. No order is wrong: `activate-first` asks what the layer does to the *average* feature, `sample` what it does to a feature.
#
# It decides what one sees. The paper says that with shortcuts the scores of a network have two modes, and one without
# (figure 5 D). Silverman's test for one mode {cite}`silverman1981using` on the deepest pair that we have, a ResNet-56 and
# the same network without shortcuts, both trained on CIFAR-10:

# %% tags=["hide-input"]
rows = []
for way in (
    ("mean", "activate-first"),
    ("mean", "reduce-first"),
    ("sample", "activate-first"),
):
    row = {"reduction": way[0], "order": way[1]}
    for label, name in (
        ("without shortcuts", "plainnet56"),
        ("with shortcuts", "resnet56"),
    ):
        row[label] = unimodality_test(
            real[name].signature(*way).scores
        ).p_value
    rows.append(row)
modes = pd.DataFrame(rows).set_index(["reduction", "order"])
modes.round(3).rename(columns=lambda name: f"p, {name}")

# %% tags=["remove-input"]
reversed_by_order = ((modes < 0.05).iloc[0] != (modes < 0.05).iloc[1]).all()
code, printed_definition = (
    modes.loc["mean", "activate-first"],
    modes.loc["mean", "reduce-first"],
)
Markdown(
    "At 5 % one mode is rejected, in the order of the published code, "
    + (
        ", ".join(name for name, p in code.items() if p < 0.05)
        or "for neither"
    )
    + "; in that of definition 3.1, "
    + (
        ", ".join(name for name, p in printed_definition.items() if p < 0.05)
        or "for neither"
    )
    + (
        ". **One pair of networks says the opposite of itself.** "
        if reversed_by_order
        else ". "
    )
    + "Over all four pairs no order gives a significant difference, so the ledger leaves the claim open."
)

# %% [markdown]
# ## Reduction: the axes of the published code
#
# Where channels come last, the published code averages a ViT's (N, tokens, channels) over the channels: the
# coordinates of a point are tokens. The papers' numbers for transformers and ConvNeXts are these. Ours are means over positions:

# %% tags=["hide-input"]
published = effects[effects["to"] == "published"].set_index("network")
published[
    ["mean_change", "largest_fall", "largest_rise", "rank_correlation"]
].round(2)

# %% tags=["remove-input"]
Markdown(
    f"Over {len(published)} networks the median rank correlation is **{published['rank_correlation'].median():.2f}**: the "
    "published axes are another measurement, not a variant of the same. Compare transformers with convolutional networks "
    "under one reduction, and say which."
    if len(published)
    else "None of these networks has channels that come last."
)

# %% [markdown]
# ## Coupling: blind to the pairing
#
# The score compares two clouds. Whatever reorders the outputs among the inputs is invisible to it: $y = -x$ of a symmetric
# cloud is "affine". `paired` keeps each input with its own output, by the same formula,
#
# $$
# \rho_{\text{paired}} = \max\Bigl(0,\; 1 - \sqrt{\frac{\frac1n \sum_i \lVert T x_i - y_i \rVert^2}{2 \operatorname{tr} S_Y}}\Bigr)
# \;\le\; \rho ,
# $$
#
# at no cost (it is the column `paired` of every result). How often does it matter?

# %% tags=["hide-input"]
rows = pd.concat([found.rows for found in real.values()])
usual = rows[
    (rows["reduction"] == "mean")
    & (rows["order"] == "activate-first")
    & (rows["covariance"] == "ledoit-wolf")
]
by_layer = (
    usual.groupby(["model", "layer", "call", "kind", "width"])[
        ["score", "paired"]
    ]
    .mean()
    .reset_index()
)
worst = by_layer.assign(fall=by_layer["score"] - by_layer["paired"]).nlargest(
    6, "fall"
)
worst.assign(model=worst["model"].str.rpartition(":")[2]).set_index(
    "model"
).round(2)

# %% tags=["remove-input"]
mine = pd.concat([found.rows for found in here.values()])
mine = mine[
    (mine["reduction"] == "mean")
    & (mine["order"] == "activate-first")
    & (mine["covariance"] == "ledoit-wolf")
]
shares = [
    1 - some["pairing_optimal"].dropna().astype(float).mean()
    for some in (mine, usual)
]
Markdown(
    f"Under the default the pairing is not optimal in {shares[0]:.0%} of the rows of this chapter's networks, and in "
    f"{shares[1]:.0%} of those on CIFAR-10 and ImageNet; in {(usual['score'] - usual['paired'] > 0.1).mean():.0%} of the "
    f"latter it costs more than 0.1. The largest fall is {worst['fall'].max():.2f}: a ReLU with an affinity of "
    f"{worst['score'].iloc[0]:.2f} that, image by image, is no more affine than chance "
    f"(paired {worst['paired'].iloc[0]:.2f})."
)

# %% [markdown]
# Why so far? Averages do it. The mean output of a channel depends on how its positions spread, and not on their mean
# alone. So along some combinations of channels the mean output can *fall* while the mean input rises, and that no optimal
# map does: its matrix is positive semi-definite. An activation of the mini VGG-19 shows it, along the two directions in
# which inputs and outputs go together most and least (eigenvectors of their symmetrised cross-covariance):

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-9-falling", "caption": "Averages of 512 images before and after a ReLU of the mini VGG-19, along two directions. Left, the output rises with the input, as one expects of a ReLU; right, it falls."}, "image": {"alt": "Two scatter plots of 512 points each. In the left one the mean output rises with the mean input; in the right one it falls."}}
network = affscore.load_model("mini:vgg19")
data = affscore.load_data(
    "digits", affscore.zoo.card_of(network).preprocessing
)
seen = {}


def keep(module, inputs):  # before the ReLU overwrites them
    seen["x"], seen["y"] = (
        inputs[0].mean(dim=(2, 3)).double(),
        torch.relu(inputs[0]).mean(dim=(2, 3)).double(),
    )


hook = network.features[8].register_forward_pre_hook(keep)
with torch.no_grad():
    network.eval()(next(iter(torch.utils.data.DataLoader(data, 512))))
hook.remove()
x, y = seen["x"].numpy(), seen["y"].numpy()
cross = (x - x.mean(axis=0)).T @ (y - y.mean(axis=0))
directions = np.linalg.eigh(cross + cross.T).eigenvectors
with affscore.figures.house_style():
    figure, panels = plt.subplots(
        1, 2, figsize=(7.5, 2.8), layout="constrained"
    )
    for axes, direction in zip(
        panels, (directions[:, -1], directions[:, 0]), strict=True
    ):
        along, after = x @ direction, y @ direction
        share = after.var() / y.var(axis=0).sum()
        axes.scatter(along, after, 6, alpha=0.5)
        axes.set(
            xlabel="mean input",
            title=f"correlation {np.corrcoef(along, after)[0, 1]:.2f}, {share:.0%} of the output's variance",
        )
    panels[0].set_ylabel("mean output")
plt.show()

# %%
score = affscore.affinity_score(x, y)
print(f"exact {score.value:.2f}, paired {score.paired:.2f}")

# %% [markdown]
# ## Covariance and ridge: wide layers
#
# Shrinkage keeps scores comparable where a layer is wider than the sample, and misses affine maps
# ({doc}`03_estimating_it_well`). The empirical covariance is exact for those and too optimistic for $n$ near $d$. A ridge
# is no compromise between them, as the last columns show. ReLU on independent and on unequal coordinates (a power law), $n = 256$:

# %% tags=["hide-input"]
rows = []
for name, d in itertools.product(
    ("independent", "power law"), (32, 256, 512)
):
    spread = (
        np.ones(d) if name == "independent" else np.arange(1, d + 1) ** -0.75
    )
    x = rng.standard_normal((256, d)) * spread
    y = np.maximum(x, 0)
    rows.append({
        "coordinates": name, "d": d,
        "ledoit-wolf": affscore.affinity_score(x, y).value,
        "empirical": affscore.affinity_score(x, y, "empirical").value,
        **{f"ridge {ridge:g}": affscore.affinity_score(x, y, "empirical", ridge=ridge).value for ridge in (1e-3, 1e-1, 1.0)},
    })  # fmt: skip
pd.DataFrame(rows).set_index(["coordinates", "d"]).round(3)

# %% [markdown]
# Without a ridge all of these tend to 0.621 with infinitely many samples. A ridge $r$, relative to the mean variance,
# counts in the trace below the fraction bar, which grows by $1 + r$: it raises a score whatever the map does.
#
# ## $n$ below $d$: extrapolating the bias away
#
# A bias of $c/n$ is twice as large in half of the sample. So two halves of a batch tell how large it is, with no further
# forward pass {cite}`quenouille1949approximate`: `bias="extrapolated"` adds $2\rho_n$ minus the mean score of the halves to
# a multiverse. Root mean square errors against the known limit, before and after:

# %% tags=["hide-input"]
errors = extrapolation_errors(
    ratios=(1 / 4, 1 / 2, 1, 2, 4), width=64, repeats=4, seed=seed
)
errors = errors.assign(ratio=errors["n"] / errors["d"]).pivot_table(
    index=["covariance", "distribution"],
    columns="ratio",
    values=["as_measured", "extrapolated"],
)
errors.swaplevel(axis=1).sort_index(axis=1).rename(
    columns=lambda name: str(name).replace("_", " ")
).round(3)

# %% [markdown]
# It takes most of the error away for the empirical covariance from $n = d$ on, and a third or more with shrinkage where
# coordinates are unequal. It adds error where there is little to correct: independent coordinates under shrinkage, with
# $n$ near $d$.
#
# ## Positions as points
#
# The other way to more points: take several positions of each image. `reduction="positions"` draws $k$ for each image, so
# the clouds are those of the activation itself, with $kn$ points.

# %% tags=["hide-input"]
rows = []
for k in (1, 2, 8):
    several = affscore.signature(
        "mini:alexnet",
        "digits",
        n=128,
        images=512,
        reduction="positions",
        positions=k,
        criteria=False,
        progress=False,
    )
    low, high = several.mean_interval()
    rows.append(
        {
            "positions": k,
            "points": several.table["n"].max(),
            "mean score": several.scores.mean(),
            "low": low,
            "high": high,
        }
    )
pd.DataFrame(rows).set_index("positions").round(3)

# %% [markdown]
# ```{note}
# Points of one image depend on each other, so four times the points are not four times the evidence. The interval draws
# images again, not points. Above 2,048 points the coupling is the pairing, and the result says so.
# ```
#
# ## What of the study survives
#
# Every claim on signatures, on the results that come with the package: in how many specifications it holds, fails or
# stays open (of fewer than 12 where it is about criteria, which were measured for the default average alone). The verdict is that of the papers' own choice unless another turns it round.

# %% tags=["hide-input"]
claims[["claim", "tested on", "verdict", "specifications"]].set_index("claim")

# %% [markdown]
# ## A recommendation
#
# Words to cite when a reviewer asks why a signature was measured as it was:
#
# 1. **Say all four choices** with every signature: reduction, order, covariance, coupling, and $n$. Two signatures
#    compare only if all agree.
# 2. **Report `activate-first` means with Ledoit and Wolf's covariance** to compare with the published numbers of
#    convolutional networks, and `sample` beside them: it needs no order, and is about the activation itself. Say that the
#    former is the choice under which trained networks look most linear.
# 3. **Report `paired` beside the exact score.** Where the two differ by more than 0.1, the score speaks of clouds and not
#    of what the layer does to an image.
# 4. **Do not use the published axes** for channels-last networks, unless to reproduce the printed numbers.
# 5. **Draw a conclusion only if it holds under every specification** that you cannot rule out beforehand, or say on which
#    it depends. `affscore.multiverse` costs less than four signatures.
#
# ## Takeaways
#
# * A signature is a measurement with four dials. Order and reduction change the ranks of layers, covariance and coupling
#   mostly their level.
# * The exact score is blind to the pairing. Mostly that costs little, and in some layers everything.
# * What holds under one choice and is open under others, as most skews and spreads here, is a result about the choice,
#   too. What holds under all (activations after a sum are more linear, VGGs are alike) is a result about networks.
#
# ## Exercises
#
# ```{exercise} 9.1 How many universes?
# :label: ex-9-1
# :nonumber:
#
# Somebody measures with the reductions `mean`, `sum`, `sample` and `flatten`, both orders, three covariances and both
# couplings. How many *different* specifications are there, as two of the reductions commute with an elementwise function?
# Hand in the number.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("9.1", answer)

# %% [markdown]
# ```{solution-start} ex-9-1
# :class: dropdown
# ```
#
# `sample` and `flatten` have one order: six ways to a point.

# %%
affscore.exercises.check("9.1", (2 * 2 + 2) * 3 * 2)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 9.2 Affine as a cloud, not as a function
# :label: ex-9-2
# :nonumber:
#
# Make up inputs $x$ and outputs $y$, arrays of shape $(n, d)$ with $64 \le n \le 1024$, whose exact score with the
# empirical covariance is at least 0.8 and whose paired score is at most 0.1. Hand in `(x, y)`.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("9.2", answer)

# %% [markdown]
# ```{solution-start} ex-9-2
# :class: dropdown
# ```
#
# Any reordering of a cloud will do: as a cloud it is the same.

# %%
cloud = np.random.default_rng(0).standard_normal((128, 2))
affscore.exercises.check("9.2", (cloud, cloud[::-1]))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 9.3 The order decides
# :label: ex-9-3
# :nonumber:
#
# Make up a feature map of one channel, an array of shape (images, positions) with 64 to 512 images and 2 to 64 positions,
# on which ReLU scores at least 0.95 when it acts on the means of the images (reduce first), and at most 0.8 when its outputs
# are averaged (activate first). Hand in the array.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("9.3", answer)

# %% [markdown]
# ```{solution-start} ex-9-3
# :class: dropdown
# ```
#
# Positive means, so that reducing first meets no bend; positions that spread far below zero, in few images much more than
# in the others, so that the outputs are skewed and the means are not.

# %%
generator = np.random.default_rng(0)
means = 1 + 0.1 * generator.random((256, 1))
spread = np.exp(2 * generator.standard_normal((256, 1)))
affscore.exercises.check("9.3", means + spread * np.array([-1.0, 1.0]))

# %% [markdown]
# ```{solution-end}
# ```
