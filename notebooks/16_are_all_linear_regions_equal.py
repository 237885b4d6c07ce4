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
# # Are all linear regions equal?
#
# A ReLU network is affine on each of its *linear regions*. More regions, more non-linearity? The poster of
# {cite:t}`gamba2022linear` doubts it: many regions whose affine maps are nearly the same bend less than a few that differ. It
# counts regions along paths (*density*) and measures the area between the function and its chords (*absolute
# deviation*). Both are computed exactly here, and held against the affinity score. You will learn
#
# * how all regions along a segment are found, exactly,
# * why their number says little about non-linearity, and what says more,
# * whether the affinity score agrees with either.

# %% tags=["parameters"]
model: str = "mini:digitsnet"  # the network of the first two figures: piecewise affine, MODEL or MODEL@WEIGHTS
images: int = 1  # around how many held-out digits a path is followed in the first figure
grid: int = 96  # points to a side of the slice in the second figure
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, and of which digits are taken

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import torch
from IPython.display import Markdown

import affscore
from affscore.figures import against_width, logits_along_path, two_measures
from affscore.linear_regions import along_segments, closed_paths
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.papers.linear_regions import poster
from affscore.survey.studies import load_study, under

paths, widths = load_study("regions-paths"), load_study("regions-width-paths")
networks = poster.scores_and_deviations(under(load_study("regions")), paths)
wide = poster.scores_and_deviations(under(load_study("regions-width")), widths)
correlations = poster.rank_correlations(paths)
ledger = Ledger(AllResults.gather())

# %% [markdown]
# ## The short answer

# %% tags=["remove-input"]
means = networks.groupby(["network", "way"], sort=False)[["crossings", "absolute_deviation", "score"]].mean()
clean, noisy = (means.xs(way, level="way") for way in ("vanilla", "noise-1.0"))
grows = noisy / clean
Markdown(
    "**The number of regions hardly changes where the function changes much.** From right labels to wrong ones the "
    + " and the ".join(
        f"absolute deviation of {name} is multiplied by {row['absolute_deviation']:.1f}, its density by {row['crossings']:.2f}"
        for name, row in grows.iterrows()
    )
    + f". Within a network the rank correlation of the two, over segments, is {correlations['correlation'].mean():.2f} on average "
    f"({correlations['correlation'].min():.2f} to {correlations['correlation'].max():.2f})."
)

# %% [markdown]
# ## A path and its regions
#
# A closed path leads through eight translations of an image by an eighth of its side. Along each segment the network is
# piecewise affine; ticks are the breakpoints, dashed lines the chords, and the shaded area is the absolute deviation.

# %% tags=["hide-input"]
network = affscore.load_model(model, seed)
prepare = affscore.zoo.card_of(network).preprocessing
pictures, labels = affscore.zoo.digits("test")
inputs = torch.stack([prepare(picture) for picture in pictures[:images]])
path = closed_paths(inputs)[0]
segments = along_segments(network, path[:-1], path[1:], device=device, progress=False)
with torch.no_grad():
    order = network.eval()(inputs[:1]).argsort(descending=True)[0].tolist()
logits_along_path(segments, {f"logit of {order[0]}": order[0], f"logit of {order[1]}": order[1]})
plt.show()

# %% [markdown]
# ## Density and absolute deviation
#
# Small networks like those of the poster, without normalisation, trained on the digits as they are (*vanilla*), on moved
# ones (*augmented*), and with a share of wrong labels, from three seeds each. Paths around 16 held-out digits:

# %% tags=["hide-input"]
two_measures(
    networks, "crossings", "absolute_deviation", "network", "way",
    ("density (crossings per segment)", "absolute deviation"),
)  # fmt: skip
plt.show()

# %% tags=["hide-input"]
shown = correlations.groupby(["network", "way"], sort=False)["correlation"].agg(["mean", "std"])
shown.unstack("network").round(2)

# %% [markdown]
# ## Wider networks
#
# A fifth of the labels is wrong. Narrow networks cannot fit them; wide ones can.

# %% tags=["hide-input"]
wide["width"] = wide["network"].str.rpartition("_")[2].astype(int)
fitted = wide.groupby("width")["fitted"].min()
threshold = fitted.index[fitted >= poster.FITTED].min()
against_width(
    wide, {"test_error": "test error", "crossings": "density", "absolute_deviation": "absolute deviation"}, threshold
)
plt.show()

# %% [markdown]
# ## Does the affinity score see it?

# %% tags=["hide-input"]
two_measures(networks, "absolute_deviation", "score", "network", "way", ("absolute deviation", "mean affinity score"))
plt.show()

# %% [markdown]
# ## What holds, and under which choices
#
# The columns are those of {doc}`80_the_ledger`.

# %% tags=["hide-input"]
ledger.conclusions("density-is-noisy", "wide-networks-are-locally-linear", "score-sees-deviation")
