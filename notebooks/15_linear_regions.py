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
# *Does a network that cuts its inputs into more linear regions bend more?* A ReLU network is affine on each of its
# *linear regions*, with a kink from one to the next. But a kink may be too slight to see. So the poster of
# {cite:t}`gamba2022linear` doubts that their number says much. We compare it with the *bend*: how far an output is from
# straight lines.
#
# :::{admonition} What we found
# :class: findings
# **Within one network, an output bends more where a path crosses more regions, but mostly because it moves further
# there.** In mini ResNets regions have a rank correlation of {glue:text}`ResNet-bend-within` with the bend, and of
# {glue:text}`ResNet-relative bend-within` with the bend divided by how far the output moves. {bdg-warning}`depends`
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
networks: list[str] = []  # of your own, along the same path: MODEL@WEIGHTS
image: int = 0  # the path is about this test image
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import numpy as np
import pandas as pd
import torch

import affscore
import companion
from affscore.linear_regions import along_segments
from companion.chapter_15 import (
    against_width,
    logits_along_path,
    mean_correlation,
    mosaic,
    times_as_large,
    trend_over,
)
from companion.planes import closed_paths, on_plane
from companion.studies import load_study, under, with_scores
from companion.style import say, table

# %% [markdown]
# ## What is a bend?
#
# **It is the area between an output and straight lines.** We follow two mini VGGs without normalisation along the same
# closed path: eight straight segments between eight translations of a digit. One network has learned the digits, the
# other has memorised labels that are all wrong. In each segment we compare an output with its *chord*, the straight
# line between its ends.

# %%
weights = "../examples/region_networks.py:vgg8@../examples/weights/vgg8"
names = {
    "right labels": f"{weights}-vanilla-1.safetensors",
    "wrong labels": f"{weights}-noise-1.0-1.safetensors",
}
names |= {one.rpartition("/")[2]: one for one in networks}
models = {name: affscore.load_model(one, seed) for name, one in names.items()}
prepare = affscore.models.card_of(models["right labels"]).preprocessing

# %% mystnb={"figure": {"name": "fig-regions-path", "caption": "With wrong labels an output is much further from its chords (dashed), with only a quarter more kinks. Left: the whole path, with the area in between; right: its start, enlarged, with a tick for each kink."}, "image": {"width": "540px", "alt": "Two rows of two panels. On the left a curve over the distance along a path, dashed straight lines between the ends of its eight segments, and the area between shaded: narrow with right labels, wide with wrong ones. On the right a short part, where the curve looks almost straight above a row of ticks."}}
pictures, digits = affscore.models.digits("test")
path = closed_paths(prepare(pictures[image])[None])[0].double()
followed = {
    name: along_segments(
        model, path[:-1], path[1:], device=device, progress=False
    )
    for name, model in models.items()
}
digit = int(digits[image])
logits_along_path(followed, digit)

# %% [markdown]
# At each kink a new **region** begins. All can be found exactly {cite}`sotoudeh2019computing`: `along_segments` pushes
# a segment through the network, layer by layer, and adds a point wherever a unit crosses zero.
#
# The **bend** $D$ is the shaded area (the poster's *absolute deviation*). Ten times the output has ten times the bend.
# So the **relative bend** divides by how far the output moves up and down: it sees the form of a curve, not its size.
# For an output $f(t)$ with chord $h(t)$ on a segment of length $\ell$:
#
# $$
# \begin{gathered}
# D = \ell \int_0^1 |f(t) - h(t)| \, dt, \\
# D_{\mathrm{rel}} = \frac{D}{\ell \int_0^1 |f'(t)| \, dt}
# \end{gathered}
# $$
#
# Wrong labels raise the bend much more than the relative bend. Means over the eight segments and all outputs:


# %%
def measure(segment):
    fine = np.linspace(0, 1, 20_001)
    f = np.array([np.interp(fine, segment.t, y) for y in segment.logits.T])
    chord = f[:, :1] + fine * (f[:, -1:] - f[:, :1])
    distance = abs(f - chord).mean(axis=1)
    way = abs(np.diff(segment.logits, axis=0)).sum(axis=0)
    bend = segment.length * distance.mean()
    return bend, distance.mean() / way.mean()


MEASURES = ["bend", "relative bend"]
of_path = {
    name: pd.DataFrame(map(measure, segments), columns=MEASURES).mean()
    for name, segments in followed.items()
}
table(pd.DataFrame(of_path).T)

# %% [markdown]
# ## Do more regions mean more bend?
#
# **Yes, but mostly because the output moves further: the relative bend grows much less.** A mini VGG and a mini ResNet
# learned the digits as they are, moved at random, and with 20 to 100 % of wrong labels, from three seeds each. All were
# followed around the same 16 test images. Rank correlations over the segments of a network, means over trainings (the
# poster has −0.15 to 0.27 for the bend, on CIFAR-10):

# %%
called = {"vgg8": "VGG", "resnet8": "ResNet"}
paths = load_study("regions-paths").replace({"network": called})
NAMES = {"crossings": "regions", "absolute_deviation": "bend"}
NAMES["relative_deviation"] = "relative bend"
paths = paths.rename(columns=NAMES)
way = paths["length"] * paths["total_variation"]
paths["relative bend"] = paths["bend"] / way
by_training = paths.groupby(["network", "way", "seed"])
rho = by_training[["regions", *MEASURES]].corr("spearman")["regions"]
within = rho.unstack()[MEASURES].groupby("network").mean()
table(within.add_prefix("regions and "))

# %% tags=["remove-cell"]
say(within.add_suffix("-within"))

# %% [markdown]
# **With wrong labels mostly the outputs grow**, and the bend with them:

# %% mystnb={"figure": {"name": "fig-regions-labels", "caption": "With wrong labels the bend grows several times over, the number of regions and the relative bend little. Each measure is divided by its value with right labels; means over three seeds."}, "image": {"width": "540px", "alt": "Two panels, mini VGG and mini ResNet below each other, with three lines over the labels: right, right on moved digits, and 20 to 100 per cent wrong. The line of the bend rises from 1 to about 6; those of regions and relative bend stay between 1 and 1.8."}}
by_labels = paths.groupby(["network", "way"], sort=False)
means = by_labels[["regions", *MEASURES]].mean()
times = means.div(means.xs("vanilla", level="way"), level="network")
times_as_large(times)

# %% tags=["remove-cell"]
say(times.xs("noise-1.0", level="way"), "{:.1f}")

# %% [markdown]
# With all labels wrong the bend of a mini VGG is {glue:text}`VGG-bend` times as large, its relative bend only
# {glue:text}`VGG-relative bend` times.
#
# ## Are wider networks more linear?
#
# **By their bend yes, once they fit their labels. By their affinity score no: it falls over all widths.** (The score is
# a mean over activations; 1 is linear.) With a fifth of the labels wrong, only wide networks can fit them. Near the
# width at which they just can, the *test error*, the share of wrong answers, is largest. Then it falls, here nearly to
# that of the narrowest: *double descent* {cite}`nakkiran2020deep`. The poster says that past this width networks become
# more linear along the data.

# %% mystnb={"figure": {"name": "fig-regions-width", "caption": "Past the dashed line, where networks fit their labels, the bend falls (more linear); the score falls over all widths (less linear). Mini VGGs of nine widths: three seeds (thin) and their mean (thick)."}, "image": {"width": "540px", "alt": "Four panels below each other over the width on a logarithmic axis. Test error and bend rise up to a dashed vertical line and fall slowly behind it. The number of regions rises all the way. The mean affinity score falls all the way."}}
scores = under(load_study("regions-width"))
wide = with_scores(scores, load_study("regions-width-paths"))
wide["width"] = wide["network"].str.rpartition("_")[2].astype(int)
wide["test_error"] *= 100
wide = wide.rename(columns=NAMES)
fitted = wide.groupby("width")["fitted"].min()
threshold = fitted.index[fitted >= 0.99].min()
shown = {"test_error": "test error (%)", "regions": "regions"}
shown |= {"bend": "bend", "score": "mean affinity score"}
against_width(wide, shown, threshold)

# %% tags=["remove-cell"]
means = wide.groupby("width")[["regions", "bend"]].mean()
say((means.iloc[-1] / means.loc[threshold]).to_frame("grown"), "{:.1f}")

# %% [markdown]
# **Within a network more regions go with more bend; over widths past the dashed line, with less.** There regions become
# {glue:text}`regions-grown` times as many, and the bend falls to {glue:text}`bend-grown` of its value. Before the line the bend rises.
#
# Why do bend and score disagree? The bend compares the whole network with a chord near one image; the score compares
# each activation with an affine map, over all images. The relative bend has no trend.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Intervals and p-values", "code_prompt_hide": "How sure? Intervals and p-values"}
# 95 % intervals over seeds and images; p from permuting means over seeds
sure = {}
for what in MEASURES:
    rho = mean_correlation(paths, "regions", what)
    sure["regions, over segments", what] = f"{rho:.2f}"
past = wide[wide["width"] >= threshold]
for what in (*MEASURES, "score"):
    rho = trend_over(past, "width", "width", what)
    sure["width, past the line", what] = rho
sure = pd.Series(sure).rename_axis(["rank correlation of", "with"])
table(sure.to_frame("is"))

# %% [markdown]
# ## Aside: Regions of a plane
#
# With wrong labels the slopes of regions differ more. Tiles are regions in a plane through three points of the path,
# coloured by the norm of an output's gradient.

# %% mystnb={"figure": {"name": "fig-regions-plane", "caption": "With wrong labels gradients of regions differ more in norm. Left: the plane, where nearly every point of the grid has its own region; right: a corner, 3&nbsp;% of each side, where white lines part regions."}, "image": {"width": "540px", "alt": "Two rows of two square panels. The upper left panel is almost uniformly dark, the lower left one has bright and dark streaks. On the right both are crossed by many thin white lines, in one almost uniform colour above and in several shades below."}}
corner, right, up = path[0], path[2] - path[0], path[6] - path[0]
planes = {}
for name, model in models.items():
    for part in (1.0, 0.03):
        ends = corner, corner + part * right, corner + part * up
        plane = on_plane(model, *ends, points=64, device=device)
        planes.setdefault(name, []).append(plane)
mosaic(planes, digit)

# %% [markdown]
# ## Exercises
#
# ```{exercise} 15.1 The deviation of a hinge
# :label: ex-15-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: compute a deviation by hand.
#
# A logit along a segment of length 1 is $f(t) = \max(t - a, 0)$ with $0 < a < 1$. Write a function `deviation(a)` that
# returns its bend, the absolute deviation.
# ```
#
# ```{admonition} Hint for 15.1
# :class: dropdown hint
# Draw the hinge and its chord. Which figure do they enclose?
# ```

# %%
answer = None  # your answer here: a function deviation(a)
# companion.exercises.check("15.1", answer)

# %% [markdown]
# ```{solution-start} ex-15-1
# :class: dropdown
# ```
#
# The chord is $h(t) = (1 - a)\,t$. Function and chord enclose a triangle: its corner at $t = a$ is $a (1 - a)$ below
# the chord, and its base, measured along $t$, is 1.


# %%
def deviation(a):
    return a * (1 - a) / 2


companion.exercises.check("15.1", deviation)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 15.2 Many regions, and few
# :label: ex-15-2
# :nonumber:
#
# *Change code · 25 minutes · hard.* Aim: build networks in which regions and deviation disagree.
#
# Build two networks of one input and one output whose functions go up and down equally far on $[0, 1]$ (their total
# variations agree to 1 %). The first has at least ten times as many breakpoints there as the second, and at most a
# tenth of its absolute deviation. Hand in both, as a pair.
# ```
#
# ```{admonition} Hint for 15.2
# :class: dropdown hint
# Many bends that hardly change the slope add hardly any area; one bend late on the segment adds much.
# ```

# %%
answer = None  # your answer here: a pair of networks
# companion.exercises.check("15.2", answer)

# %% [markdown]
# ```{solution-start} ex-15-2
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
companion.exercises.check("15.2", (many, few))

# %% [markdown]
# ```{solution-end}
# ```
