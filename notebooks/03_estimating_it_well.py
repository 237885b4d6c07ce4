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
# # Estimating it well
#
# **How many images does a score need, what do the choices on the way change, and what another seed?** Three choices turn a layer into a number: how a
# feature map becomes a vector, how a covariance is estimated, and how many points are taken. Figure 7 of
# {cite:t}`bouniot2025alexnet` reports that the first does not matter and that shrinkage solves the second. We look at
# two trained networks first, reproduce the figure, and then ask on which inputs it holds. Figure 8 measures a network in batches of 128 to 1024 images, and
# after training from nine seeds, and finds lines that overlap. *Chance* is what other images or another seed would change; it averages out. *Bias* is what
# every small batch gets wrong in the same way; no average removes it.
#
# You need the score from {doc}`01_the_affinity_score`, and its closed form there.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
points: int = 1000  # of figure 7; its curves take a quarter of them
repeats: int = 8  # fresh samples for each bias and spread
jobs: int = 2  # processes at the same time; -1: one per core
repeated: str = "mini:vgg16"  # of figure 8: MODEL, MODEL@WEIGHTS
dataset: str = "digits"  # digits, cifar10, imagenet:DIR, folder:DIR ...
sizes: list[int] = [32, 64, 128, 256]  # images in a batch, each: figure 8
images: int = 0  # images in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random samples and weights, and of the order of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import Markdown

import affscore
import companion
from affscore import affinity_score, transport
from affscore.options import Specification
from companion import sweeps
from companion.activations import ACTIVATIONS, points_needed
from companion.chapter_03 import (
    bias_and_spread,
    effects_of_size,
    estimation_sweep,
    heavy_tailed_sample,
    reduction_scores,
)
from companion.figures import repeated_signatures
from companion.printed import printed_table
from companion.studies import load_study, under
from companion.style import table

# what n is small for is what the page is about
warnings.simplefilter("ignore", UserWarning)
names = list(ACTIVATIONS)
printed = printed_table("figure7_activation_scores")

# %% tags=["remove-cell"]
# the package brings the scores of the default parameters
by_default = (points, repeats, seed) == (1000, 8, 0)

# %% [markdown]
# ## In trained networks
#
# The plain and the residual network with 56 layers {cite}`he2016deep` have 16 to 64 channels, few for a layer. Their mean
# scores on the test images of CIFAR-10, in batches of 128 to 1024, with all choices as by default and with one of them changed:

# %% tags=["hide-input"]
study = load_study("batch-size-cifar")
study["network"] = study["model"].str.partition(":")[2]
ways = {
    "default": ("mean", "activate-first", "ledoit-wolf", "exact"),
    "empirical covariance": ("mean", "activate-first", "empirical", "exact"),
    "pairs as given": ("mean", "activate-first", "ledoit-wolf", "paired"),
    "one random position": (
        "sample",
        "activate-first",
        "ledoit-wolf",
        "exact",
    ),
    "average first": ("mean", "reduce-first", "ledoit-wolf", "exact"),
}
by_way = study.groupby(
    ["reduction", "order", "covariance", "coupling", "network", "n"]
)["score"].mean()
sizes_of_batches = (128, 256, 512, 1024)
real = pd.DataFrame(
    {
        (network, way): {
            f"n = {size}": by_way[(*choice, network, size)]
            for size in sizes_of_batches
        }
        for network in ("plainnet56", "resnet56")
        for way, choice in ways.items()
    }
).T.rename_axis(["network", "choices"])
table(real)

# %% tags=["remove-input"]
by_size = (real["n = 128"] - real["n = 1024"]).abs().max()
by_choice = (
    real["n = 512"].groupby("network").max()
    - real["n = 512"].groupby("network").min()
).max()
Markdown(
    f"The mean score moves by at most {by_size:.3f} between 128 and 1024 images, "
    f"and by up to {by_choice:.3f} from one choice to another: **in layers this "
    f"narrow the choices matter more than the number of images**. "
    "{doc}`10_every_choice_at_once` makes all choices at once. Wider "
    "layers need more images."
)

# %% [markdown]
# ## From a feature map to a vector
#
# A convolution gives its activation a map with many positions, and the score wants one vector for each image. One may average
# over the positions, sum over them, or write all numbers one after the other. We take random maps with 100 channels
# and $3 \times 3$ positions, all entries independent and standard normal, and apply the activation *before* the reduction,
# as the published code does (`activate-first`, see {doc}`04_the_signature_of_a_network`). A fourth variant averages first.

# %% mystnb={"figure": {"caption": "For independent positions averaging, summing and flattening give the same score, and the printed one; averaging first does not, unless the activation ignores a factor (paper Fig. 7, top left; `companion.chapter_03.reductions`). Markers inside each other agree.", "name": "fig-3-reductions"}, "image": {"alt": "Nine rows, one for each activation, with markers on a horizontal axis of scores from 0.6 to 1. In each row the markers for average, sum, flatten and the printed value coincide; the marker for reduce first stands further right, except for ReLU, ReLU6 and LeakyReLU."}} tags=["hide-input"]
if by_default:  # `python -m companion.sweeps reductions`
    reduced = sweeps.sweep("reductions").query("draw == 0")
    reduced = reduced.drop(columns="draw").set_index("activation")
else:
    reduced = reduction_scores(names, points=points, seed=seed)
labels = {"mean": "average", "sum": "sum", "flatten": "flatten"}
labels |= {"printed": "printed", "reduce_first": "reduce first"}
companion.chapter_03.reductions(
    reduced.assign(printed=printed["reduced_mean"]), labels
)

# %% tags=["remove-input"]
three = reduced[["mean", "sum", "flatten"]]
to_print = three.sub(printed["reduced_mean"], axis=0).abs().max(axis=None)
apart = (three.max(axis=1) - three.min(axis=1)).max()
Markdown(
    f"The three reductions differ by at most {apart:.3f}, and from a printed "
    f"value by at most {to_print:.3f}."
)

# %% [markdown]
# The paper is right on these inputs. Averages and sums must agree, since the score does not see a factor. Why does an
# average of nine numbers have the score of each of them? For independent positions the averages of inputs and outputs
# have the same *correlation* as a single input and its output: all covariances shrink by the same factor. And with
# many independent coordinates the score is a function of that correlation alone.
#
# The argument has three conditions, and each can fail: the activation comes first (an average is a much narrower input, on which a smooth function is
# nearly straight), there are many channels, and positions are independent. Where they are correlated, the linear part of the activation survives the averaging,
# because it varies with the common part of the positions; the bends of different positions tend to cancel, and the score of ReLU rises.
#
# Real feature maps are somewhere in between. {doc}`04_the_signature_of_a_network` shows that the reduction changes their
# scores, so it must be reported with every result.
#
# ## Wider than the sample
#
# A covariance in $d$ dimensions that is estimated from $n \le d$ points is singular. The second and third panel of figure 7 show
# what happens to the score as $d$ grows, for independent normal inputs. We draw them with a quarter of the points, because only
# the ratio $d / n$ matters.

# %%
ratios = np.arange(0.5, 4.6, 0.5)
quarter = points // 4
if by_default:  # `python -m companion.sweeps drift`
    drift = sweeps.sweep("drift").query("repeat == 0")
else:
    widths = [round(ratio * quarter) for ratio in ratios]
    drift = estimation_sweep(names, widths, [quarter], n_jobs=jobs, seed=seed)

# %% mystnb={"figure": {"caption": "With the empirical covariance every activation looks the more affine the wider it is; with Ledoit-Wolf shrinkage the scores of these inputs stay (paper Fig. 7, top right and bottom, whose values are the ticks at the right edges; `companion.chapter_03.drift`).", "name": "fig-3-drift"}, "image": {"alt": "Two panels with nine curves each. With the empirical covariance all curves rise as the width grows, ReLU from 0.66 to 0.86. With shrinkage all nine are horizontal, from 0.61 for GELU to 0.91 for Sigmoid, and end at the printed ticks."}} tags=["hide-input"]
companion.chapter_03.drift(
    drift,
    printed.rename(columns={"shrinkage": "ledoit-wolf"})[
        ["empirical", "ledoit-wolf"]
    ],
)

# %% [markdown]
# On the left the score rises with $d$ for every activation, towards 1. With more coordinates than points the
# covariances describe the samples perfectly: all $x_i$ are nearly perpendicular to each other, all $y_i$ as well, and
# $T$ carries each $x_i$ to its own $y_i$. An affine map of $d$ dimensions is flexible enough to fit anything. On the
# right the scores stay constant.

# %% tags=["hide-input"]
if by_default:  # `python -m companion.sweeps shrinkage`
    full = sweeps.sweep("shrinkage").query("repeat == 0")
else:
    full = estimation_sweep(
        names, [100, 3000], [points], ["ledoit-wolf"], n_jobs=jobs, seed=seed
    )
ours = full.pivot_table(index="activation", columns="width", values="score")
curves = drift[drift["covariance"] == "empirical"].pivot_table(
    index="activation", columns="width", values="score"
)
beside = pd.DataFrame(
    {
        "printed, shrunk": printed["shrinkage"],
        "d = 100": ours[100],
        "d = 3000": ours[3000],
        "printed, plain": printed["empirical"],
        "passed at d/n": {
            name: np.interp(
                printed.loc[name, "empirical"], curves.loc[name], ratios
            )
            for name in names
        },
        "mean of curve": curves.mean(axis=1),
    }
).loc[names]
difference = ours.sub(printed["shrinkage"], axis=0).abs().max(axis=None)
decimals = {name: 3 for name in beside if name.startswith(("d =", "mean"))}
table(beside, digits=decimals)

# %% tags=["remove-input"]
crossings = beside["passed at d/n"]
excess = beside["mean of curve"] - beside["printed, plain"]
Markdown(f"""
With shrinkage ours differ from the nine printed values by at most
{difference:.3f}, at both widths. For the left panel the paper prints one value
for each activation, but not its $d$: ours passes these between
$d = {crossings.min():.1f}\\,n$ and ${crossings.max():.1f}\\,n$, and the mean
of our curve over the axis of the panel differs from them by
{excess.min():+.3f} to {excess.max():+.3f}. The printed numbers are consistent
with our curves and cannot be called reproduced.
""")

# %% [markdown]
# ## What the figure leaves out
#
# For the inputs of figure 7 "constant" means "correct": the values agree with the closed form $1 - \sqrt{1 - c}$,
# $c = \operatorname{corr}(x, \sigma(x))$. But the covariance of these inputs *is* a multiple of the identity, and
# that is what Ledoit and Wolf shrink to {cite}`ledoit2004well`. Independent coordinates of equal variance are the
# best case for shrinkage.
#
# The channels of a network are correlated, so we repeat this with correlated inputs. Each coordinate remains standard
# normal, but the spectrum of the covariance decays like $k^{-\alpha}$, in random directions: $\alpha = 0$ are the
# independent coordinates from above, and with $\alpha = 1.5$ a few directions hold most of the variance. For normal
# inputs the covariances of the output are known exactly, and with them the score that both estimates converge to as
# $n$ grows (`companion.activations.paired_limit`). We measure the difference from it: 128 coordinates, 32 to 2048
# points, ReLU, and several fresh samples for each point of the figure.

# %%
d = 128
alphas = (0.0, 0.5, 1.5)
numbers = [d // 4, d // 2, d, 2 * d, 4 * d, 8 * d, 16 * d]
sweep = estimation_sweep(
    ["relu"], [d], numbers, exponents=alphas, repeats=repeats, seed=seed
)
summary = bias_and_spread(sweep)
correlation = np.sqrt(np.pi / (2 * (np.pi - 1)))  # of x and max(x, 0)

# %% mystnb={"figure": {"caption": "The bias of a ReLU's score without shrinkage falls like $1/n$ whatever the spectrum is; shrinkage removes it for independent coordinates and adds to it for a steep spectrum. Bars: one standard deviation of a single score. Dashed: the formula {eq}`eq-3-bias` (ours; `companion.chapter_03.bias_against_points`).", "name": "fig-3-bias"}, "image": {"alt": "Three panels over n/d from one quarter to 16. The blue curve of the empirical covariance is the same in all of them: it falls from about 0.24 to 0.005, close to the dashed line from n/d = 2 on. The red curve of shrinkage is at 0 in the first panel, between 0 and the blue one in the second, and above the blue one for n/d of 1 and more in the third."}} tags=["hide-input"]
fine = np.geomspace(summary["ratio"].min(), summary["ratio"].max(), 100)
theory = pd.Series(
    {ratio: transport.first_order_bias(correlation, ratio) for ratio in fine}
)
companion.chapter_03.bias_against_points(summary, theory, tolerance=0.01)

# %% [markdown]
# * **The bias is upwards.** Too few points make an activation look *more affine* than it is.
# * **Without shrinkage it hardly depends on the spectrum.** The blue curve is nearly the same in the three panels.
# * **With shrinkage it does.** For independent coordinates almost no bias is left from $n = d/2$ on. For a mildly
#   decaying spectrum one half remains at $n = d$, and nearly all at $n = 16 d$. For a steep one shrinkage makes it
#   *worse* from $n = d$ on, because it equalises variances that really differ. "Constant in $d$" is a property of the
#   inputs of figure 7.
# * **The spread is small.** From $n = 2d$ on it is a few thousandths at most. The bias is the problem, and averaging
#   does not reduce it: the mean over a hundred batches of 512 images has a tenth of the spread of one batch, and all
#   of its bias.
#
# ### A formula for the bias
#
# The empirical curve has a simple form. Write the empirical covariances as their expectations plus fluctuations,
# $S_X = I + H$, $S_Y = I + K$, $S_{XY} = c I + M$, for independent coordinates of variance 1, and solve
# $A S_X A = S_Y$ order by order: $A = I + \frac12 (K - H) + A_2 + \dots$ The terms of first order have mean zero. Of
# second order only $c\, A_2$ contributes, and the result is
#
# $$
# \begin{gathered}
# \frac{\mathbb{E} \operatorname{tr} (A S_{XY})}{\operatorname{tr} S_Y} \approx c + \frac{c\,(1 - c^2)}{4} \cdot \frac{d}{n}, \\
# \text{bias} \approx \frac{c\,(1 + c) \sqrt{1 - c}}{8} \cdot \frac{d}{n} .
# \end{gathered}
# $$ (eq-3-bias)
#
# (The second formula is the derivative of $1 - \sqrt{1 - q}$ at $q = c$ times the first.) For ReLU the constant is
# 0.075. Its largest value over all correlations is 0.082, so the activation hardly matters. With shrinkage there is no single constant: it is near 0 in the best
# case and up to twice as large in the worst.
#
# ### A rule for the number of points
#
# For a bias of about $\varepsilon$ at most, to first order and with the empirical covariance, take
#
# $$
# n \ge \frac{0.082}{\varepsilon}\, d ,
# $$ (eq-3-rule)
#
# that is $8\,d$ points for a hundredth and $1.6\,d$ for 0.05, and about twice as many with shrinkage if you know nothing about the spectrum. The other way round, the 512 images of
# a batch are enough for a hundredth up to a width of 62. Layers of a network are often wider.

# %% tags=["hide-input"]
layers = (64, 128, 256, 512, 1024, 2048)
needed = {
    f"points for a bias of {bias}": [points_needed(d, bias) for d in layers]
    for bias in (0.01, 0.02, 0.05)
}
table(pd.DataFrame(needed, index=pd.Index(layers, name="width")))

# %% [markdown]
# What if no more points are available? Two checks cost next to nothing.
#
# *Subtract it.* The bias of the empirical score is known to first order, and $c$ can be read off the score itself:
# $c = 1 - (1 - \rho)^2$. This needs $n \ge 2d$.
#
# *Halve the sample.* A bias that falls like $1/n$ is as large at $n$ as the difference of the scores at $n/2$ and at $n$.
# That works for any covariance and any input, if the fall has set in.
#
# ### In layers wider than their data
#
# Layers are wide and their samples vary in few directions, so $d$ in the rule is not the width. The *participation ratio*
# $(\operatorname{tr} C)^2 / \|C\|_F^2$ of the covariance counts directions: $d$ for independent coordinates of equal variance, $k$ for
# $k$ such directions in a wider layer. The directions of small variance count a little, too: four times the participation ratio, and
# at most the width, is what `signature.expected_bias` and its warning put in place of $d$ (the column `effective_width`).
#
# ```{admonition} How far this holds
# :class: caution
# The factor of four is a fit
# to trained networks and no bound: for the spectrum $k^{-1.5}$ of {numref}`fig-3-bias` it gives less than the bias measured there.
# The other results hold for normal inputs, widths of 64 to 128 and smooth or piecewise linear activations, where
# the given pairs were the optimal coupling. Where they are not (few effective dimensions, an activation that falls),
# the transport adds a bias of its own. For a real layer use the halving, which assumes the least.
# ```
#
# ## Heavy tails and the broken bound
#
# Proposition 3.5 of the paper, and with it $\rho \ge 0$, is proved for the covariances of the clouds themselves. Here is a
# cloud that breaks it under shrinkage: 256 normal points in 1024 dimensions, 100 coordinates of scale 1 and the others of
# scale 1/1000. Each point is multiplied by the magnitude of a Student t variable, and ReLU6 cuts the result.

# %% tags=["hide-input"]
rows = {}
for degrees in (1.0, 2.0, np.inf):
    x = heavy_tailed_sample(256, 1024, degrees=degrees, large=100, seed=seed)
    y = F.relu6(x)
    shrunk = affinity_score(x, y, "ledoit-wolf")
    image = transport.affine_map(x, y, "ledoit-wolf")(x)
    rows["normal" if np.isinf(degrees) else f"t, {degrees:g} degrees"] = {
        "raw score": shrunk.raw,
        "bound exceeded": shrunk.bound_exceeded,
        "shrunk X (%)": shrunk.intensity[0],
        "shrunk Y (%)": shrunk.intensity[1],
        "var TX / var Y": float(image.var(dim=0).sum() / y.var(dim=0).sum()),
        "raw, empirical": affinity_score(x, y, "empirical").raw,
    }
tails = pd.DataFrame.from_dict(rows, orient="index")
percent = dict.fromkeys([name for name in tails if name.endswith("(%)")], 0)
table(tails.rename_axis("size of a row"), digits=percent)


# %% [markdown]
# With heavy tails a few points of $X$ carry most of the variance. The estimator treats that as noise and shrinks $X$
# nearly to a multiple of the identity, as if all 1024 coordinates had the same, small, variance. ReLU6 has cut the
# tails of $Y$, which is hardly shrunk. So $T$ stretches the 100 large coordinates as if they were small, $T X$
# becomes several times as large as $Y$, and the distance exceeds the bound. The library cuts the score at 0, sets
# `bound_exceeded` and keeps the raw value. With the empirical covariance the bound holds, as it must.
#
# If you meet this flag in a network, look at the tails of that layer, and compare with the empirical covariance.
#
# ## Figure 8, left: the batch size
#
# By how much does the score of an activation change? Four networks that were trained on CIFAR-10 (ResNet-20 and
# ResNet-56, with and without shortcuts), measured in batches of 128 to 1024 photographs, and eight small ones in
# batches of 32 to 256 digits. Root mean squares over the activations of a network, mean over the networks; last, for
# comparison, how much the activations of a network differ.


# %% tags=["hide-input"]
def named(study):
    return study.assign(model=study["model"].str.split(":").str[-1])


studies = {
    "CIFAR-10": named(load_study("batch-size-cifar")),
    "digits": named(load_study("batch-size")),
}
batches = {data: one[one["batches"] > 1] for data, one in studies.items()}
few, many = (
    {data: pick(one["n"]) for data, one in batches.items()}
    for pick in (min, max)
)
seeds = load_study("seeds")
vggs = under(seeds).pivot_table(index="index", columns="seed", values="score")

effects = pd.DataFrame(
    {
        data: effects_of_size(under(one)).mean()
        for data, one in batches.items()
    }
).T
of_seeds = vggs.var(axis=1).mean() ** 0.5
effects["seed"] = pd.Series({"digits": of_seeds})
headings = {
    "chance_of_few": "other images, smallest n",
    "chance_of_many": "other images, largest n",
    "change": "8 times the batch size",
    "seed": "another seed",
    "within": "another activation",
}
table(effects, headings, digits=3)

# %% [markdown]
# A signature for each $n$, the mean over its batches; last the network of this notebook's parameters, measured here.

# %% mystnb={"figure": {"caption": "Signatures in batches of several sizes lie nearly on each other, as in paper Fig. 8. But at most activations the colours are in the same order: the differences are systematic (`companion.figures.repeated_signatures`).", "name": "fig-3-sizes"}, "image": {"alt": "Three panels of signatures, the affinity score over the activations in their order. In each panel four lines, one for each batch size, hardly differ beside the zigzag of the signature itself."}} tags=["hide-input"]
options = {
    "images": images or None,
    "device": device,
    "seed": seed,
    "criteria": False,
    "progress": False,
}
own = pd.concat(
    affscore.signature(repeated, dataset, n=n, **options)
    .summary.reset_index()
    .assign(n=n)
    for n in sizes
)
cifar = under(batches["CIFAR-10"])
panels = {
    f"{name} on CIFAR-10": cifar[cifar["model"] == name]
    for name in ("resnet20", "plainnet56")
}
panels[f"{repeated} on {dataset}"] = own
repeated_signatures(panels, "n", label="n = ")
plt.show()

# %% [markdown]
# ### Errors with opposite signs
#
# A mean that depends on $n$ is a bias. Two errors of a small sample add up:
#
# * **The covariance is too flexible.** The map $T$ is fitted to the points that it is judged on, so fewer points look more
#   affine: too high a score. Under the paired coupling this is the only one. (Shrinkage
#   works against it where variances differ, and prevails in few networks.)
# * **The best coupling has to be found.** Where outputs are better matched with other inputs than their own
#   ({doc}`10_every_choice_at_once`), few points offer few partners: too low a score.
#
# The change of the mean score from the smallest to the largest $n$, split into both:

# %% tags=["remove-input"]
parts = []
for data, one in batches.items():
    low, high = (
        {
            way: under(
                one[one["n"] == n], Specification(coupling=way)
            ).set_index(["model", "index"])["score"]
            for way in ("exact", "paired")
        }
        for n in (few[data], many[data])
    )
    moved = pd.DataFrame({way: high[way] - low[way] for way in high})
    moved["gap"] = moved["exact"] - moved["paired"]
    parts.append(moved.assign(data=data))
activations = pd.concat(parts)
two = activations.groupby(["data", "model"], sort=False)
two = two.mean()
falls, grows = (two["paired"] < 0).sum(), (two["gap"] > 0).sum()
smaller = (two["exact"].abs() < two["paired"].abs()).sum()
Markdown(
    f"The paired score falls in {falls} of {len(two)} networks, the gap "
    f"grows in {grows}, and in {smaller} their sum is smaller than the fall "
    "alone. **Part of the robustness of figure 8 is two biases that "
    "cancel.** In the other order, and for sampled positions, the "
    "pairing mostly is the best coupling, and only the first error is left."
)

# %% [markdown]
# ## Figure 8, right: the seed
#
# Nine trainings of `mini:vgg16` on the digits, each measured in one batch of 512:

# %% mystnb={"figure": {"caption": "Signatures of one architecture that was trained from nine seeds, a colour each: the shape is the same, and single activations differ by up to a few tenths (paper Fig. 8, right; `companion.figures.repeated_signatures`).", "name": "fig-3-seeds"}, "image": {"alt": "Lines over the activations of the mini VGG16, one for each seed. They have the same shape and differ by a few hundredths at most activations."}} tags=["hide-input"]
repeated_signatures(
    {f"mini:vgg16 on digits, {vggs.shape[1]} trainings": under(seeds)}, "seed"
)
plt.show()

# %% tags=["remove-input"]
deviation, digits = vggs.std(axis=1), effects.loc["digits"]
mean_scores = vggs.mean()
share = of_seeds / vggs.mean(axis=1).std()
Markdown(
    f"The standard deviation over seeds is {deviation.min():.3f} to "
    f"{deviation.max():.3f} (largest at activation "
    f"{deviation.idxmax() + 1}), root mean square {of_seeds:.3f}: "
    f"{100 * share:.0f} % of that over the activations. The mean score of a network "
    f"has {mean_scores.std():.3f} over seeds (from {mean_scores.min():.3f} "
    f"to {mean_scores.max():.3f}). A difference between two networks that "
    "were trained once each counts only if it is larger than this; more "
    "images do not help."
)

# %% [markdown]
# The paper's statements on figures 7 and 8 have their tests and verdicts in {doc}`18_what_is_reproduced`.
#
# ## What we found

# %% tags=["remove-input", "findings"]
constant = points_needed(1000, 0.01) / 1000 * 0.01
shrunk_away = summary.query("exponent == 0 and ratio == 1")
steep = summary.query("exponent == 1.5 and ratio == 1")
parts = [
    rows.set_index("covariance")["bias"] for rows in (shrunk_away, steep)
]
helps, hurts = (part["ledoit-wolf"] / part["empirical"] for part in parts)
does = ["removes" if ratio < 1 else "adds to" for ratio in (helps, hurts)]
Markdown(f"""
* In a 56-layer plain and residual network the mean score moves by at most \
{by_size:.3f} between 128 and 1024 images, but by up to {by_choice:.2f} with \
the reduction, its order, the covariance and the coupling.
* Too few points make an activation look **more affine**: with the empirical \
covariance by up to about ${constant:.2f}\\, d/n$, so \
{100 * constant:.0f} points for each coordinate leave a bias of about 0.01. \
At $n = d$ shrinkage {does[0]} the bias for independent coordinates \
({parts[0]["empirical"]:.3f} becomes {parts[0]["ledoit-wolf"]:.3f}) and \
{does[1]} it for a steep spectrum ({parts[1]["empirical"]:.3f} becomes \
{parts[1]["ledoit-wolf"]:.3f}).
* Training again from another seed moves a score by {of_seeds:.3f} in \
mini:vgg16, {"more" if of_seeds > digits["change"] else "less"} than an eightfold \
batch does ({digits["change"]:.3f}). An error over images is not an error \
over trainings.
""")

# %% [markdown]
# ## Takeaways
#
# * The bias grows with $d / n$ and is far larger than the scatter over batches, so more batches do not help.
# * Scores of layers compare at similar $d / n$; halving the sample shows what is left of the bias.
# * Report $n$ with a signature, and compare only signatures of the same $n$. A raw score below 0 is a sign of heavy tails.
# * For a statement about an architecture, train it several times.
# * The reduction is a part of the measurement, as soon as positions are correlated.
#
# ## Exercises
#
# ```{exercise} 3.1 How many images?
# :label: ex-3-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: plan the number of images of a measurement.
#
# A layer has 256 channels and ReLU. How many images are enough for the bias of its score with the empirical covariance to
# stay below 0.01 to first order? Work it out from {eq}`eq-3-bias` or {eq}`eq-3-rule`; any number up to twice the smallest one is right.
# ```
#
# ```{admonition} Hint for 3.1
# :class: dropdown hint
# The constant of ReLU is in the text below {eq}`eq-3-bias`; the bias is that constant times $d / n$.
# ```

# %%
answer = None  # your answer here: a number
# companion.exercises.check("3.1", answer)

# %% [markdown]
# ```{solution-start} ex-3-1
# :class: dropdown
# ```
#
# The constant of ReLU is 0.075, so that $n \ge 0.075 \cdot 256 / 0.01$: nearly two thousand images, four of the usual batches *in one*.

# %%
answer = points_needed(256, 0.01, torch.relu)
print(answer, "points")

companion.exercises.check("3.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 3.2 Fool the shrinkage
# :label: ex-3-2
# :nonumber:
#
# *Change code · 20 minutes · medium.* Aim: find inputs on which the default covariance misleads.
#
# Build clouds `x` and `y` of shape `(n, d)` with $n > d$, where `y` is `x` with each coordinate multiplied by a positive number of
# its own, so that the score with shrinkage is at most 0.9. (With the empirical covariance it is 1.)
# ```
#
# ```{admonition} Hint for 3.2
# :class: dropdown hint
# Which differences of variances does a sample of hardly more points than coordinates not separate from noise?
# ```

# %%
answer = None  # your answer here: a pair (x, y)
# companion.exercises.check("3.2", answer)

# %% [markdown]
# ```{solution-start} ex-3-2
# :class: dropdown
# ```
#
# Let the coordinates of `x` be alike, take hardly more points than coordinates, and choose factors that differ enough to
# matter but not so much that the estimate trusts them: a factor of two or three between them is about right.

# %%
own_rng = np.random.default_rng(33)
x = own_rng.standard_normal((210, 200))
y = x * np.exp(0.5 * own_rng.standard_normal(200))

companion.exercises.check("3.2", (x, y))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 3.3 Averages look more affine
# :label: ex-3-3
# :nonumber:
#
# *Prove · 30 minutes · hard.* Aim: explain why the default reduction raises the score of a ReLU.
#
# A channel has $m$ positions, standard normal, with the correlation $r \ge 0$ between any two. Let $\sigma = \sum_k a_k h_k$ be the expansion of the
# activation in orthonormal Hermite polynomials, for which $\mathbb{E}\, h_j(x) h_k(x') = r^k$ if $j = k$ and 0 otherwise. Prove that the squared correlation of
# the average input and the average output is
#
# $$
# \frac{a_1^2\, (1 + (m - 1)\, r)}{\sum_{k \ge 1} a_k^2\, (1 + (m - 1)\, r^k)} ,
# $$
#
# and that it is at least that of a single position. For which $r$ are the two equal?
# ```
#
# ```{admonition} Hint for 3.3
# :class: dropdown hint
# Write the variance of an average of $m$ equally correlated numbers with variance $v$ and covariance $w$ as $(v + (m - 1)\, w) / m$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-3-3
# :class: dropdown
# ```
#
# For the average input the variance is $(1 + (m - 1) r)/m$. The outputs at two positions have the covariance $\sum_{k \ge 1} a_k^2 r^k$, so the average output
# has the variance $\sum_{k \ge 1} a_k^2 (1 + (m - 1) r^k)/m$. Since $x = h_1(x)$, the covariance of an input and an output is $a_1$ at the same position and $a_1 r$
# at two, so that of the averages is $a_1 (1 + (m - 1) r)/m$. Square it and divide: one factor $(1 + (m-1) r)/m$ cancels.
#
# At a single position the squared correlation is $a_1^2 / \sum_{k \ge 1} a_k^2$. For $0 \le r \le 1$ and $k \ge 1$, $r^k \le r$, hence
# $1 + (m-1) r^k \le 1 + (m-1) r$, and the fraction can only grow. Both are equal if $r^k = r$ for all $k > 1$ with $a_k \ne 0$: at $r = 0$ and $r = 1$, or for an affine
# activation, whose $a_k$ are zero. With many channels the score rises with this correlation.
#
# **Rubric** (6 points)
# * 2: both variances
# * 1: the covariance of the averages
# * 2: the inequality, from $r^k \\le r$
# * 1: the cases of equality, affine activations included
#
# ```{solution-end}
# ```
#
# ## Further reading
#
# * {cite:t}`bouniot2025alexnet`, appendix E, with figure 7, is what the first half of this section reproduces.
# * {cite:t}`ledoit2004well` derive the intensity of the shrinkage; {cite:t}`ledoit2004honey` explain in plain words when to
#   use it.
# * {cite:t}`bhatia2019bures` for the matrix $A$ and the equation $A S_X A = S_Y$ that the expansion started from.
# * Next: {doc}`04_the_signature_of_a_network`, where the clouds are those of a network.
