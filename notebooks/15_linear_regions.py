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
# # Linear regions
#
# A ReLU network is affine on each of its *linear regions*. More regions, more non-linearity? {cite:t}`gamba2022linear` doubt it: many
# regions whose affine maps are nearly the same bend less than a few that differ. They count regions along paths through the
# data (*density*), and measure the area between the network and its chords (*absolute deviation*). Both are computed exactly
# here, and compared with the affinity score.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
networks: list[str] = []  # of the first figures; none: two of the study
study: str = "regions"  # of the other figures; or yours, as regions-cifar10
store: str = "../_build/results"  # folder of your results, with studies in it
image: int = 0  # which test image the first two figures are about
points: int = 64  # along each side of the planes in the second figure
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown

import affscore
import companion
from affscore import AffscoreError
from affscore.linear_regions import along_segment, along_segments
from companion.chapter_15 import (
    against_width,
    logits_along_path,
    mean_correlation,
    mosaic,
    past_the_threshold,
    rank_correlations,
    trend_over,
)
from companion.figures import two_measures
from companion.planes import closed_paths, on_plane
from companion.printed import printed_table
from companion.studies import load_studies, stored_studies, under, with_scores
from companion.style import table

WAYS = ["vanilla", "noise-0.2", "noise-1.0"]
studies = stored_studies(store) | load_studies()
note = ""
if f"{study}-paths" not in studies:
    has_paths = ", ".join(
        name.removesuffix("-paths")
        for name in studies
        if name.endswith("-paths")
    )
    note = (
        f"Not found in {store}/studies: {study}, with its paths. "
        f"There are {has_paths}; python -m companion.studies --only makes "
        "others. "
        "This page shows regions, small networks on digits."
    )
    study = "regions"
paths = studies[f"{study}-paths"]
if lacking := [way for way in WAYS if way not in set(paths["way"])]:
    raise AffscoreError(
        "this page compares ways of training, and the study "
        f"{study} lacks {', '.join(lacking)}"
    )
trained = with_scores(under(studies[study]), paths)
wide = with_scores(
    under(studies["regions-width"]), studies["regions-width-paths"]
)
means = trained.groupby(["network", "way"], sort=False)[
    [
        "crossings",
        "absolute_deviation",
        "relative_deviation",
        "score",
        "test_error",
    ]
].mean()

# %% tags=["remove-input"]
Markdown(note) if note else None

# %% [markdown]
# Two numbers in brackets are a 95 % interval.
#
# ## A path and its regions
#
# A closed path leads through eight translations of an image by an eighth of its side. Unless you name other networks, two
# small VGG-like ones follow the same path: one has learned the digits (*vanilla*), the other has memorised wrong labels (*noise-1.0*).

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-regions-path", "caption": "A logit along a closed path around a digit. Left: the logit (black), its chords over each segment (dashed), and the area between, the absolute deviation. Mind the vertical axes, which differ. Right: the beginning of the first segment with a tick for each breakpoint. Both functions bend hundreds of times on each segment (`companion.chapter_15.logits_along_path`)."}, "image": {"alt": "Two rows of two panels, a row for each network. On the left a curve over the distance along a path with dashed straight lines between the ends of its eight segments, and the area between curve and lines shaded; it is larger in the lower row, whose axis reaches further, too. On the right the beginning of the first segment, where the curve looks almost straight above a row of ticks."}}
folder = "../examples"
named = networks or [
    f"{folder}/region_networks.py:vgg8"
    f"@{folder}/weights/vgg8-{way}-1.safetensors"
    for way in ("vanilla", "noise-1.0")
]
short = [one.rpartition("/")[2].removesuffix(".safetensors") for one in named]
models = {
    name if short.count(name) == 1 else one: affscore.load_model(one, seed)
    for one, name in zip(named, short, strict=True)
}
prepare = affscore.models.card_of(next(iter(models.values()))).preprocessing
pictures, _ = affscore.models.digits("test")
if not 0 <= image < len(pictures):
    raise AffscoreError(
        f"expected an image from 0 to {len(pictures) - 1}, got {image}"
    )
picture = torch.stack([prepare(pictures[image])])
path = closed_paths(picture)[0].double()
followed = {}
for name, model in models.items():
    try:
        followed[name] = along_segments(
            model, path[:-1], path[1:], device=device, progress=False
        )
    except AffscoreError as error:
        raise AffscoreError(
            f"{name}, on images as the first network takes them: {error}"
        ) from error
with torch.no_grad():
    logit = int(next(iter(models.values())).eval()(picture).argmax())
logits_along_path(followed, logit)
plt.show()


# %% tags=["hide-input"]
def on_the_path(segments):
    """Counts on the whole path, and means over segments and logits."""

    def mean(name):
        return sum(getattr(one, name).mean() for one in segments) / len(
            segments
        )

    size = sum(
        one.absolute_deviation.mean()
        / one.length
        / one.total_variation.mean()
        for one in segments
    )
    return {
        "patterns": sum(one.crossings for one in segments),
        "switches": sum(one.switches for one in segments),
        "breakpoints": sum(one.count - 1 for one in segments),
        "absolute": mean("absolute_deviation"),
        "bound": mean("deviation_upper_bound"),
        "relative": size / len(segments),
    }


table(
    pd.DataFrame.from_dict(
        {name: on_the_path(some) for name, some in followed.items()},
        orient="index",
    ).astype({"patterns": int, "switches": int, "breakpoints": int}),
    {
        "patterns": "changes of the pattern",
        "switches": "switches of max pooling",
        "breakpoints": "breakpoints",
        "absolute": "absolute deviation",
        "bound": "its published bound",
        "relative": "relative deviation",
    },
    digits={"absolute": 1, "bound": 1, "relative": 3},
)

# %% [markdown]
# Three things are counted apart, on the whole path: changes of the activation pattern (what the poster calls density, there per segment),
# switches of max pooling, and breakpoints of the function. A unit can cross zero without a bend in the function, if later layers
# ignore it. Deviations are means over logits and segments.
#
# ## How the regions are found
#
# On a segment $x(t) = x_0 + t\,(x_1 - x_0)$ every unit is piecewise affine in $t$. The **walk** of the poster goes from region to
# region: one forward pass with its derivative along the segment says when the next unit crosses zero. The **line** method
# {cite}`sotoudeh2019computing` pushes the whole segment through the network, layer by layer: between neighbouring points each feature is
# affine, and where a unit crosses zero a point is added. Both are exact up to rounding in double precision, and find the same.

# %% tags=["remove-input"]
said = []
for name, model in models.items():
    tenth = path[0] + (path[1] - path[0]) / 10
    line, walk = (
        along_segment(model, path[0], tenth, method, device=device)
        for method in ("line", "walk")
    )
    same = line.count == walk.count
    apart = abs(line.breakpoints - walk.breakpoints).max() if same else None
    said.append(
        f"{line.count - 1} and {walk.count - 1} breakpoints of {name}"
        + (f", at most {apart:.0e} apart" if same else "")
    )
Markdown(f"On a tenth of the first segment: {'; '.join(said)}.")

# %% [markdown]
# The line is the faster one, the more so the smaller the network. From the points follow, for each logit,
#
# * the **absolute deviation**, the area between $f$ and its chord $h$ in the metric of the input, $D = \ell \int_0^1 |f - h|\,dt$. The code
#   that was published with the poster adds up a bound of it, which is several times as large (the table above);
# * the **relative deviation**, ours: $D / (\ell\, \mathrm{TV}(f))$, the area as a fraction of the segment's length times the way that
#   $f$ goes up and down. It is 0 for an affine function, 1/2 at most, and does not change when the logits are multiplied by a number.
#
# ## Regions of a plane
#
# In a plane the regions are tiles. Each has one slope, its colour. Three points of the path span the plane:

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-regions-plane", "caption": "Regions of both networks in a plane through three points of the path, coloured by the slope of the logit; all panels have one scale. Left: the plane, where nearly every point lies in a region of its own. Right: 3 % of each side; lines part the regions where these are large enough. With right labels the slopes lie near each other, with wrong labels they spread (`companion.chapter_15.mosaic`)."}, "image": {"alt": "Two rows of two square panels, a row for each network. The upper left panel is almost uniformly dark, the lower left one has bright and dark streaks. On the right both are crossed by many thin white lines that part tiles, in one almost uniform colour above and in several shades below."}}
corner, *ends = path[0], path[2], path[6]
planes = {
    name: [
        on_plane(
            model,
            corner,
            *(corner + part * (end - corner) for end in ends),
            points=points,
            device=device,
        )
        for part in (1.0, 0.03)
    ]
    for name, model in models.items()
}
mosaic(planes, logit)
plt.show()

# %% [markdown]
# ```{admonition} What a grid misses
# :class: note
# A grid sees a region only where one of its points is inside, so these numbers of regions are too small. Along segments none is missed.
# ```
#
# ## Density against absolute deviation
#
# Two small architectures like those of the poster, without normalisation, learn the digits as they are (*vanilla*), moved at
# random (*augmented*), or with 20 to 100 % of wrong labels, from three seeds each. Nearly all training labels are fitted. Closed paths then lead
# around 16 test images, the same for all networks.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-regions-density", "caption": "Density and absolute deviation, a point for each training. With wrong labels the deviation grows several times over, the density by 20 to 40 % (`companion.figures.two_measures`)."}, "image": {"alt": "Two panels with points, one for each architecture, in seven colours for the ways of training. Points of vanilla and augmented training lie at the bottom; with more wrong labels points lie higher, and only a little further to the right."}}
axes_of = {
    "crossings": "density (crossings per segment)",
    "absolute_deviation": "absolute deviation",
    "score": "mean affinity score",
}
two_measures(
    trained,
    "crossings",
    "absolute_deviation",
    "network",
    "way",
    (axes_of["crossings"], axes_of["absolute_deviation"]),
    from_zero=True,
)
plt.show()

# %% [markdown]
# Over networks the two go together. The poster asks within a network: has a segment with more regions a larger deviation?
# Spearman's correlation over segments, the mean over seeds ± their standard deviation (with n), beside what the poster prints for
# CIFAR-10:

# %% tags=["hide-input"]
correlations = rank_correlations(paths)
printed = printed_table("poster_density_vs_absolute_deviation")
printed.index = printed.index.str.replace("_", "-").str.replace(
    "augmentation", "augmented"
)
by_way = correlations.groupby(["way", "network"], sort=False)[
    "correlation"
].agg(mean="mean", std=lambda seeds: seeds.std(ddof=0))
columns = {
    f"{name}, ours": by_way.xs(name, level="network").apply(
        lambda row: f"{row['mean']:.2f} ± {row['std']:.2f}", axis=1
    )
    for name in dict.fromkeys(correlations["network"])
}
for name in ("vgg8", "resnet18"):
    found = printed[[f"cifar10_{name}", f"cifar10_{name}_std"]].astype(float)
    columns[f"{name}, the poster"] = found.apply(
        lambda row: "{:.2f} ± {:.2f}".format(*row), axis=1
    )
table(pd.DataFrame(columns).reindex(by_way.index.unique("way")))


# %% tags=["remove-input"]
raw, per_length, relative = (
    mean_correlation(paths, *names)
    for names in (
        ("crossings", "absolute_deviation"),
        ("crossings_per_length", "deviation_per_length"),
        ("crossings", "relative_deviation"),
    )
)
Markdown(
    f"**Of how bent a segment is, whatever the size of the logits, its density says next to nothing**: its correlation with the "
    f"relative deviation is {relative:.2f}. With the absolute one it is {raw:.2f} (the interval is over seeds and images, and too wide to "
    f"say whether that is weak), part of which is length: per unit of length it is {per_length:.2f}."
)

# %% [markdown]
# ## Bent, or only large?
#
# Absolute deviation is measured in logits. A network whose logits are all multiplied by five has five times the deviation, and the
# same decisions. Means over trainings (a wrong label is never the right one, so that *noise-1.0* learns what an image
# is not, and errs more often than guessing):

# %% tags=["hide-input"]
names = {
    "crossings": "density",
    "absolute_deviation": "absolute deviation",
    "relative_deviation": "relative deviation",
}
labels = names | {"score": "mean score", "test_error": "test error (%)"}
table(
    means,
    labels,
    digits={
        "crossings": 0,
        "absolute_deviation": 1,
        "relative_deviation": 3,
        "test_error": 0,
    },
)

# %% tags=["remove-input"]
ratios = means.unstack("way")
change = {
    name: " and ".join(
        f"{value:.2f}"
        for value in ratios[name]["noise-1.0"] / ratios[name]["noise-0.2"]
    )
    for name in ("absolute_deviation", "relative_deviation")
}
augmented = ""
if "augmented" in set(trained["way"]):
    values = " and ".join(
        f"{value:.3f}" for value in ratios["relative_deviation"]["augmented"]
    )
    augmented = (
        f" Right labels on moved images have {values}, no less than wrong labels: the relative deviation does not tell "
        "wrong labels from right ones."
    )
Markdown(
    f"From a fifth of wrong labels to wrong labels alone the absolute deviation is multiplied by {change['absolute_deviation']}, the "
    f"relative one by {change['relative_deviation']}: logits swing further, and are hardly more bent.{augmented}"
)

# %% [markdown]
# ## Wider networks
#
# A fifth of the labels is wrong. Narrow networks cannot fit them; wide ones can. Near the width at which they just can, the
# *interpolation threshold*, the test error is largest, and falls again: model-wise double descent {cite}`nakkiran2020deep`. The poster: past the threshold, networks become more linear
# along the data.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-regions-width", "caption": "Measures of networks of nine widths, three seeds each (thin) and their mean (thick), with a fifth of the labels wrong. From the dashed line on 99 % of the training labels are fitted. Test error and absolute deviation peak near it and fall; the density rises throughout; the affinity score falls throughout (`companion.chapter_15.against_width`)."}, "image": {"alt": "Four panels over the width on a logarithmic axis. Test error and absolute deviation rise steeply up to a dashed vertical line and fall slowly behind it. The density rises all the way. The mean affinity score falls all the way."}}
wide["width"] = wide["network"].str.rpartition("_")[2].astype(int)
past = past_the_threshold(wide)
threshold = past["width"].min()
against_width(
    wide,
    {
        "test_error": "test error",
        "crossings": "density",
        "absolute_deviation": "absolute deviation",
        "score": "mean affinity score",
    },
    threshold,
)
plt.show()

# %% tags=["remove-input"]
over_widths = {
    name: trend_over(past, "width", "width", name)
    for name in ("absolute_deviation", "relative_deviation")
}
Markdown(
    f"Past the threshold the absolute deviation has the rank correlation {over_widths['absolute_deviation']} with the width, the "
    f"relative one {over_widths['relative_deviation']}. Wide networks swing less; that they are less bent is not seen."
)

# %% [markdown]
# ## Does the affinity score see it?

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-regions-score", "caption": "Absolute deviation and mean affinity score, a point for each training: the more wrong labels, the larger the deviation and the lower the score (`companion.figures.two_measures`)."}, "image": {"alt": "Two panels with points, one for each architecture, in seven colours for the ways of training. Points fall from the upper left, vanilla and augmented training, to the lower right, wrong labels alone."}}
two_measures(
    trained,
    "absolute_deviation",
    "score",
    "network",
    "way",
    (axes_of["absolute_deviation"], axes_of["score"]),
)
plt.show()

# %% [markdown]
# Over the ways of training the score goes with the absolute deviation. It goes as well with the test error, with the size of the logits, and with the
# density, and we see no agreement with
# the relative deviation. These trainings differ in one thing, and anything that follows the share of wrong labels would agree. Over widths
# score and absolute deviation part: past the threshold the deviation falls and so does the score, while the density rises.
#
# The two look at different things. The deviation compares the whole function with a chord, in units of logits, near one image. The
# score compares each activation with an affine map, over the whole data set.
#
# The statements have their tests and verdicts in {doc}`18_what_is_reproduced`.
#
# ## With your own network
#
# Any network of ReLU, LeakyReLU, PReLU, max pooling and affine operations:
#
# ```python
# from affscore.linear_regions import along_paths, along_segment
# from companion.planes import closed_paths
#
# segment = along_segment(model, start, end)
# segment.breakpoints, segment.crossings, segment.absolute_deviation
# table = along_paths(model, closed_paths(images))  # a row a segment and logit
# table.groupby("path")["absolute_deviation"].mean()
# ```
#
# Or with papermill: `-y "networks: [path/to/file.py:factory@weights.pt]"` for the first figures. The poster's networks take days on a GPU to train:
# `python -m companion.studies --only regions-cifar10 --out _build/results/studies`, and `-p study regions-cifar10` shows them on this page.
#
# ## What we found

# %% tags=["remove-input", "findings"]
grows = means.xs("noise-1.0", level="way") / means.xs("vanilla", level="way")
by = {
    name: " and ".join(f"{value:.1f}" for value in grows[name])
    for name in ("absolute_deviation", "crossings", "relative_deviation")
}
shares = np.log(grows["relative_deviation"]) / np.log(
    grows["absolute_deviation"]
)
size = (
    "Most of that growth is the size of the logits, not how bent they are"
    if (shares < 0.5).all()
    else "That growth is not of the size of the logits alone"
)
seen, bent = (
    {
        name: trend_over(rows, "way", deviation, "score")
        for name, rows in trained.groupby("network", sort=False)
    }
    for deviation in ("absolute_deviation", "relative_deviation")
)
falls = all(one.correlation < 0 for one in seen.values())
seen_words, bent_words = (
    "; ".join(
        f"{one.correlation:.2f} for {name}, p = {one.p_value:.2g}"
        for name, one in trends.items()
    )
    for trends in (seen, bent)
)
Markdown(f"""
* **Regions are not equal.** Memorising wrong labels instead of right ones multiplies the deviation from a chord by \
{by["absolute_deviation"]} ({" and ".join(grows.index)}), the number of regions by only {by["crossings"]} ({len(trained)} trainings: \
{len(set(trained["network"]))} architectures, {len(set(trained["way"]))} ways, {len(set(trained["seed"]))} seeds).
* **{size}**: the relative deviation, which no factor on the logits changes, is multiplied by \
{by["relative_deviation"]}, and its correlation with the number of regions on a segment is {relative:.2f}.
* **The affinity score {"falls as" if falls else "does not always fall as"} the deviation grows** (rank correlation over ways of training \
{seen_words}), and says less of the relative deviation ({bent_words}).
""")

# %% [markdown]
# ## Takeaways
#
# * Absolute deviation has a unit. Compare networks whose logits differ in size by the relative deviation, too: much of what looked like
#   non-linearity here is size.
# * Measures of non-linearity answer different questions: how far the whole function bends near an image, and how
#   far each activation bends over the data. {doc}`16_nonlinear_advantage` adds a third, and compares all three on the same networks.
#
# ## Exercises
#
# ```{exercise} 15.1 Crossings and breakpoints
# :label: ex-15-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: tell changes of the pattern from bends of the function.
#
# How often does the activation pattern of $f(x) = r(x) + r(-x) + r(x - 1) - r(2x - 2) / 2$, with $r(z) = \max(z, 0)$, change on $[-2, 2]$,
# and at how many points does $f$ bend? Hand in `(crossings, breakpoints)`.
# ```
#
# ```{admonition} Hint for 15.1
# :class: dropdown hint
# Write down for each unit where it changes its state, then the slope of the sum in between.
# ```

# %%
answer = None  # your answer here: a pair (crossings, breakpoints)
# companion.exercises.check("15.1", answer)

# %% [markdown]
# ```{solution-start} ex-15-1
# :class: dropdown
# ```
#
# At 0 two units change together: one crossing. There $|x|$ bends. At 1 the other two change together, and cancel.

# %%
companion.exercises.check("15.1", (2, 1))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 15.2 The deviation of a hinge
# :label: ex-15-2
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: compute a deviation by hand.
#
# A logit along a segment of length 1 is $f(t) = \max(t - a, 0)$ with $0 < a < 1$. Write a function `deviation(a)` that returns its
# absolute deviation.
# ```
#
# ```{admonition} Hint for 15.2
# :class: dropdown hint
# Draw the hinge and its chord. Which figure do they enclose?
# ```

# %%
answer = None  # your answer here: a function deviation(a)
# companion.exercises.check("15.2", answer)

# %% [markdown]
# ```{solution-start} ex-15-2
# :class: dropdown
# ```
#
# The chord is $h(t) = (1 - a)\,t$. Function and chord enclose a triangle: its corner at $t = a$ is $a (1 - a)$ below the chord, and its base, measured
# along $t$, is 1.


# %%
def deviation(a):
    return a * (1 - a) / 2


companion.exercises.check("15.2", deviation)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 15.3 Many regions, and few
# :label: ex-15-3
# :nonumber:
#
# *Change code · 25 minutes · hard.* Aim: build networks in which regions and deviation disagree.
#
# Build two networks of one input and one output whose functions go up and down equally far on $[0, 1]$ (their total variations agree to 1 %). The first
# has at least ten times as many breakpoints there as the second, and at most a tenth of its absolute deviation. Hand in both, as a pair.
# ```
#
# ```{admonition} Hint for 15.3
# :class: dropdown hint
# Many bends that hardly change the slope add hardly any area; one bend late on the segment adds much.
# ```

# %%
answer = None  # your answer here: a pair of networks
# companion.exercises.check("15.3", answer)

# %% [markdown]
# ```{solution-start} ex-15-3
# :class: dropdown
# ```
#
# A hinge late on the segment, and a straight line with many bends that are hardly any.


# %%
def hinges(places, heights):
    """The sum of max(t - place, 0), each times a height."""
    network = torch.nn.Sequential(
        torch.nn.Linear(1, len(places)),
        torch.nn.ReLU(),
        torch.nn.Linear(len(places), 1, bias=False),
    )
    with torch.no_grad():
        network[0].weight.fill_(1)
        network[0].bias.copy_(-torch.tensor(places))
        network[2].weight.copy_(torch.tensor([heights]))
    return network


many = hinges([k / 20 for k in range(20)], [1.0] + 19 * [1e-4])
few = hinges([0.9], [10.0])
companion.exercises.check("15.3", (many, few))

# %% [markdown]
# ```{solution-end}
# ```
#
# ## Further reading
#
# * {cite:t}`gamba2022linear`, for paths, density and absolute deviation.
# * {cite:t}`sotoudeh2019computing`, for the line method, in two dimensions, too.
# * {cite:t}`nakkiran2020deep`, for double descent.
