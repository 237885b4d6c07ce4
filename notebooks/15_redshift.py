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
# # Redshift: what random networks compute
#
# Draw the weights of a network at random, evaluate it on every pixel of a square, and show its output as a grey image.
# {cite:t}`teney2024neural` look at such images to learn which functions an architecture prefers before any training (one that
# prefers low frequencies is shifted to the red, as light is: hence the name):
# ReLU networks prefer simple ones, whatever the size of their weights; Tanh networks get complex as the weights grow.
# Here each image has the affinity scores of its network's layers below it. Does the score follow the complexity of the
# function?
#
# You will learn
#
# * what the size, the mean and the biases of random weights do to images and scores, and what is exactly true of ReLU,
# * where the score follows the complexity of the function, and where it does not,
# * what scores tend to along the depth, with closed forms for both ends,
# * what a score is where 32 units see two numbers.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
    )

# %% tags=["parameters", "hide-input"]
points: int = 128  # pixels that a score compares
seeds: int = 32  # networks of each kind
jobs: int = 2  # networks to measure at once; -1: one per core
seed: int = 0  # of the first network, and of the choice of pixels

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore import experiments
from affscore.experiments import RandomMLP
from affscore.experiments.redshift import BIAS, DEPTHS, SCALES, SHIFT, SIZES
from affscore.figures import table
from affscore.figures.style import score_axis
from IPython.display import Markdown

all_scores = experiments.mlp_scores(
    experiments.redshift_networks(seeds, seed),
    points=points,
    seed=seed,
    n_jobs=jobs,
)
networks = experiments.mean_scores(all_scores)
correlations = experiments.redshift_correlations(networks)
changes = experiments.redshift_changes(networks)


def interval(row, name, digits=2, low="low", high="high"):
    value, below, above = (
        f"{row[column]:.{digits}f}" for column in (name, low, high)
    )
    return f"{value} [{below}, {above}]"


def correlation(group, over):
    return correlations.set_index(["group", "over"]).loc[(group, over)]


# %% [markdown]
# ## The gallery
#
# The networks have 2 inputs, 6 hidden layers of 32 units and one output. With independent standard normal draws $g$,
# the weights of a layer with $k$ inputs are
#
# $$
# W_{ij} = \frac{s}{\sqrt{k}} \, (g_{ij} + m) , \qquad b_i = t \, g_i ,
# $$ (eq-15-weights)
#
# where $s$ is the *size* of the weights, $m$ their mean in units of the standard deviation (0 here), and $t$ the size of
# the biases (none here). All networks of a figure share their draws: only $s$, $m$ and $t$ differ.


# %% tags=["hide-input"]
def gallery(rows):
    """The images of networks, with mean and spread of their scores."""
    flat = [mlp for row in rows.values() for mlp in row]
    scores = experiments.mlp_scores(
        flat, points=points, covariances=["ledoit-wolf"], seed=seed
    )
    texts = [
        f"{row['mean']:.2f} ± {row['spread']:.2f}"
        for _, row in experiments.mean_scores(scores).iterrows()
    ]
    images = [
        [experiments.output_image(mlp.network(), 128) for mlp in row]
        for row in rows.values()
    ]
    captions = [
        texts[k : k + len(SCALES)] for k in range(0, len(texts), len(SCALES))
    ]
    return affscore.figures.image_gallery(
        images, list(rows), [f"weights × {s:g}" for s in SCALES], captions
    )


def sizes(activation, **kind):
    return [
        RandomMLP(activation, scale, seed=seed, **kind) for scale in SCALES
    ]


# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-15-gallery", "caption": "A ReLU and a Tanh network, their weights multiplied by five factors. Below each image: mean \u00b1 standard deviation of the affinity scores of its six hidden layers. The ReLU row is one image; the Tanh row goes from a plane to noise, and its scores fall (`affscore.figures.image_gallery`)."}, "image": {"alt": "Two rows of five grey images. The ReLU row shows the same soft fan of wedges five times, with the same scores. In the Tanh row the first image is a smooth ramp, the second a little bent, the third has soft wedges, the fourth sharp streaks, and the last is a noisy star; the mean scores fall from 0.99 to about 0.7."}}
gallery({"ReLU": sizes("relu"), "Tanh": sizes("tanh")})
plt.show()

# %% [markdown]
# ```{admonition} What is from where
# :class: note
# The images are an idea of {cite:t}`teney2024neural`. The authors of the affinity score set scores beside them in the third
# notebook of their repository: random MLPs on a grid, ReLU and Tanh, weight scales, shifted weights, with the mean score and
# its spread. We know its subject, neither its code nor its numbers: settings and measurements here are ours.
# ```
#
# ## What is exact: ReLU does not notice the size
#
# For $c > 0$, $\operatorname{ReLU}(c x) = c \operatorname{ReLU}(x)$. Without biases a factor $s$ on all weights goes
# through every layer: the input and the output of hidden layer $l$ are multiplied by $s^l$, which no score notices, and
# the image of a network with $L$ hidden layers by $s^{L + 1}$. With a power of two not even the rounding changes: all
# numbers of the image are multiplied by $4^7$, and no score changes.

# %%
one, four = RandomMLP(scale=1.0, seed=seed), RandomMLP(scale=4.0, seed=seed)
images = [experiments.output_image(mlp.network()) for mlp in (one, four)]
assert (images[1] == 4.0 ** (one.depth + 1) * images[0]).all()

scores = experiments.mlp_scores([one, four], points=points, seed=seed)
of_one, of_four = (
    rows[["score", "paired"]] for _, rows in scores.groupby("scale")
)
assert (of_one.to_numpy() == of_four.to_numpy()).all()

# %% [markdown]
# ## Shifted weights
#
# *Shifted* can mean two things, and we draw both: weights with a mean, $m = \frac12$, and biases, $t = \frac12$.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-15-shifted", "caption": "The same draws with a mean of half their standard deviation, and with biases. A mean of the weights makes images simple: of a large Tanh network it leaves two halves. From weights \u00d7 2 on that image hardly changes, and its scores go on falling. With biases ReLU notices the size."}, "image": {"alt": "Four rows of five grey images. Shifted ReLU: one soft ramp with a corner, five times. Shifted Tanh: a smooth ramp, then four times a black and a white half with the same straight border, while the mean score falls. ReLU with biases: a smooth image at first, the fan of the first gallery at the end. Tanh with biases: from a smooth ramp to noise."}}
gallery({
    "ReLU, shifted": sizes("relu", shift=SHIFT),
    "Tanh, shifted": sizes("tanh", shift=SHIFT),
    "ReLU, biases": sizes("relu", bias=BIAS),
    "Tanh, biases": sizes("tanh", bias=BIAS),
})  # fmt: skip
plt.show()

# %% [markdown]
# **A mean** adds the same number to all units of the next layer: $m s / \sqrt k$ times the sum of the layer before, which
# grows with the width. Soon all units agree. Those of a ReLU network are all on, or all off, and its deeper layers are
# affine; those of a Tanh network are all at $1$ or all at $-1$, on either side of a line.
#
# **Biases** break the argument of the last section. Dividing layer $l$ by $s^l$ gives weights of size 1 and biases of size
# $t / s^l$. So large weights make the biases disappear, and small ones leave only them: most units are then on, or off,
# for the whole square, which brings the network closer to affine. ReLU networks with biases, means over all seeds:

# %% tags=["hide-input"]
rows = {
    f"weights × {cell.scale:g}": experiments.networks_of(networks, cell)[
        ["mean", "frequency"]
    ].mean()
    for cell in SIZES["ReLU, biases"]
}
rows["without biases"] = experiments.networks_of(networks, SIZES["ReLU"][0])[
    ["mean", "frequency"]
].mean()
table(
    pd.DataFrame(rows).T,
    {"mean": "mean score", "frequency": "mean frequency (cycles per side)"},
    digits=3,
)

# %% [markdown]
# ## Does the score follow the complexity?
#
# We need a number for "complex". {cite:t}`teney2024neural` use several: Fourier and polynomial coefficients, and how far an
# image can be compressed. We take one of the first kind. The *mean frequency* weighs every frequency by its share of the
# variance,
#
# $$
# C = \sum_{k \ne 0} \frac{\lVert k \rVert}{2} \, \frac{\lvert c_k \rvert^2}{\sum_{j \ne 0} \lvert c_j \rvert^2}
# \quad \text{cycles per side,}
# $$ (eq-15-frequency)
#
# with the coefficients $c_k$ of the discrete cosine transform. The Fourier transform would continue the image
# periodically, and count the jump at its border as detail; so a plane has $C = 0.52$, however fine the pixels are. All
# images have 64 × 64 pixels here.

# %% tags=["remove-cell"]
parts = []
for name, cells in SIZES.items():
    panel = (
        "Tanh, size of the weights"
        if name.startswith("Tanh")
        else "ReLU, size of the weights"
    )
    parts += [
        experiments.networks_of(networks, cell).assign(
            panel=panel, series=name, cell=f"× {cell.scale:g}"
        )
        for cell in cells
    ]
for name, cells in DEPTHS.items():
    parts += [
        experiments.networks_of(networks, cell).assign(
            panel="depth", series=name, cell=f"{cell.depth} layers"
        )
        for cell in cells
    ]

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-15-complexity", "caption": "Mean score against mean frequency: a small point is a network, a large one the median of its kind. Lines join sizes of the weights (left, middle) and depths (right; Tanh: weights \u00d7 2). Larger weights lead down and to the right, more layers up or straight to the right (`affscore.figures.score_against_frequency`)."}, "image": {"alt": "Three panels with a logarithmic horizontal axis. Left: Tanh networks run from score 0.99 at frequency 0.5 down to 0.72 at 7; shifted ones fall vertically at frequency 1.3 from 0.9 to 0.82. Middle: ReLU networks with biases fall from 0.93 to 0.84 between frequency 0.6 and 0.9. Right: from 3 to 12 layers ReLU rises from 0.79 to 0.89, Tanh goes from frequency 0.7 to 2 at a score of 0.89."}}
affscore.figures.score_against_frequency(pd.concat(parts))
plt.show()

# %% [markdown]
# Networks of one seed share their draws, so the intervals redraw whole seeds. Rank correlation of mean score and mean
# frequency, first over all sizes of the weights, then among networks of one kind and size (ranks within each):

# %% tags=["hide-input"]
shown = correlations.set_index(["over", "group"])
shown["interval"] = [
    interval(row, "correlation") for _, row in shown.iterrows()
]
table(
    shown,
    {
        "networks": "networks",
        "interval": "rank correlation [95 %, all rows together]",
        "verdict": "verdict",
    },
)

# %% [markdown]
# **Over sizes the score follows the complexity; within a size little of that is left.** The size of the weights drives
# both, and a correlation over a mixture of sizes says no more than that.
#
# Better than mixtures are pairs: change one thing, keep the draws, and see what both numbers do. The score *follows* where
# it falls as the frequency rises, or the other way round; both in the same direction *contradicts* (intervals at 95 % for
# all rows together).

# %% tags=["hide-input"]
score_ends = ("score_low", "score_high")
frequency_ends = ("frequency_low", "frequency_high")
pairs = changes.assign(
    by=[
        interval(row, "score", 3, *score_ends)
        for _, row in changes.iterrows()
    ],
    factor=[
        interval(row, "frequency", 2, *frequency_ends)
        for _, row in changes.iterrows()
    ],
)
table(
    pairs,
    {
        "by": "change of the mean score",
        "factor": "factor of the mean frequency",
        "verdict": "verdict",
    },
)

# %% tags=["remove-input"]
names = [
    "shifted Tanh: weights × 8 instead of × 2",
    "Tanh: weights × 8 instead of × 2",
    "Tanh × 2 instead of ReLU",
]
halves, grown, other = (changes.loc[name] for name in names)
totals = [
    [
        experiments.networks_of(networks, DEPTHS[name][place])["total"].mean()
        for place in (0, 2)
    ]
    for name in ("Tanh", "ReLU")
]
Markdown(f"""
Three ways in which the mean score is not a complexity:

* **Depth.** A mean over layers does not add up; complexity does. The *sum* of $1 - \\rho$ over the layers does rise with the \
depth: from {totals[0][0]:.2f} to {totals[0][1]:.2f} for Tanh, from {totals[1][0]:.2f} to {totals[1][1]:.2f} for ReLU.
* **Activations.** At similar frequencies (factor {other["frequency"]:.2f}) Tanh networks score {other["score"]:.2f} more \
than ReLU networks.
* **Bends without effect.** From weights × 2 to × 8 the frequency of a Tanh network is multiplied by {grown["frequency"]:.1f}; \
that of a shifted one by {halves["frequency"]:.2f}, and its score falls all the same, by {-halves["score"]:.2f}.
""")

# %% [markdown]
# ## Along the depth: closed forms for both ends
#
# The layers of one network have different scores, the *spread* of the gallery. Wider networks show best to what they tend
# (64 units, 10 hidden layers, 256 pixels, four seeds):

# %% tags=["hide-input"]
cases = {
    f"Tanh × {scale:g}": RandomMLP("tanh", scale)
    for scale in (0.5, 2.0, 8.0, 64.0)
} | {"ReLU": RandomMLP()}
deep = [
    mlp._replace(width=64, depth=10, seed=seed + k)
    for mlp in cases.values()
    for k in range(4)
]
layers = experiments.mlp_scores(deep, points=256, seed=seed)
layers["network"] = np.repeat(list(cases), len(layers) // len(cases))
usual = layers[layers["covariance"] == "ledoit-wolf"].pivot_table(
    index="layer", columns="network", values="score"
)

radius = experiments.square(64).norm(dim=1)
roundness = float(
    radius.mean() / radius.square().mean().sqrt()
)  # m of the text
share = {"ReLU": 1 / (2 - 8 * roundness**2 / np.pi**2), "sign": 8 / np.pi**2}
first = {
    "ReLU": 1 - np.sqrt((1 - share["ReLU"]) / 2),
    "sign": 1
    - np.sqrt((1 + share["sign"] - 2 * share["sign"] * roundness) / 2),
}
last = 1 - np.sqrt(1 - np.sqrt(2 / np.pi))

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-15-layers", "caption": "Scores of the hidden layers, means of four seeds. Tanh with small weights becomes affine, with large ones it tends to a sign function of independent coordinates (dotted: 0.55); ReLU becomes more affine along the depth. Crosses: the closed forms of the first layer."}, "image": {"alt": "Five curves over ten layers. Tanh \u00d7 0.5 lies at 1 from the second layer on. Tanh \u00d7 2 rises to 0.92 and stays near 0.9. ReLU rises from 0.66 to above 0.9. Tanh \u00d7 8 falls from 0.8 to 0.65, and Tanh \u00d7 64 from 0.74 to 0.6, near the dotted line at 0.55. Crosses at the first layer at 0.67 and 0.62 lie on the starts of ReLU and of Tanh \u00d7 64."}}
with affscore.figures.house_style():
    figure, axes = plt.subplots(layout="constrained")
    for (name, colour), marker in zip(
        dict(
            zip(
                cases,
                ("#56B4E9", "#0072B2", "#D55E00", "#000000", "#009E73"),
                strict=True,
            )
        ).items(),
        "ovs^D",
        strict=True,
    ):
        axes.plot(
            usual[name],
            marker=marker,
            color=colour,
            linestyle="-",
            label=name,
        )
    axes.plot(
        [1, 1],
        list(first.values()),
        "x",
        color="#CC79A7",
        markersize=9,
        markeredgewidth=2,
        label="closed forms",
    )
    axes.axhline(
        last,
        color="#707070",
        linestyle=":",
        label=f"{last:.2f}, the limit of large weights",
    )
    axes.set(xlabel="hidden layer", xticks=usual.index)
    score_axis(axes, [*usual.to_numpy().ravel(), last])
    figure.legend(loc="outside lower center", ncols=4)
plt.show()

# %% [markdown]
# **Small weights: 1.** A Tanh of a narrow input is a straight line, and small weights keep it narrow.
#
# **ReLU rises.** Each layer adds positive means: the layer's inputs lie ever more to one side of the bend, on or off for
# most of the square.
#
# **Large weights: 0.55.** A Tanh of a wide input is a sign. Deep down, where the layers have torn neighbours apart, the
# inputs are close to independent normal ones. There the closed form of {doc}`02_activation_functions` holds, with
# $\operatorname{corr}(x, \operatorname{sign} x) = \sqrt{2 / \pi}$:
#
# $$
# \rho \to 1 - \sqrt{1 - \sqrt{2 / \pi}} = 0.55 .
# $$ (eq-15-sign)

# %% tags=["hide-input"]
both = layers.pivot_table(
    index=["network", "layer"], columns="covariance", values="score"
)
places = {
    "ReLU, first layer": ("ReLU", 1, first["ReLU"]),
    "Tanh × 64, first layer": ("Tanh × 64", 1, first["sign"]),
    "Tanh × 64, last layer": ("Tanh × 64", 10, last),
    "Tanh × 0.5, last layer": ("Tanh × 0.5", 10, 1.0),
}
forms = pd.DataFrame(
    {
        name: {"closed": closed, **both.loc[(network, layer)]}
        for name, (network, layer, closed) in places.items()
    }
).T
table(
    forms,
    {
        "closed": "closed form",
        "ledoit-wolf": "shrunk covariance",
        "empirical": "empirical covariance",
    },
)

# %% [markdown]
# Width and size must grow together. For a fixed width, $s \to \infty$ ends at a true sign network. Without biases the lines
# of its first layer all meet in the middle, so that it sees no more than two sectors per unit, and the score deep down stays
# higher than 0.55.
#
# ## Two inputs, 32 units
#
# The first layer is peculiar: its inputs $W x$ lie in a plane, whatever the width, and its outputs do not. An affine map
# takes a plane to a plane, so it reaches only a share $p$ of the variance of the outputs; the rest is lost, and counts in
# full. In the limit of many units and of inputs that are alike in all directions
#
# $$
# \rho = 1 - \sqrt{\frac{1 + p - 2 p q}{2}} , \qquad
# \begin{array}{lll}
# \text{ReLU:} & p = \left(2 - 8 m^2 / \pi^2\right)^{-1}, & q = 1 , \\
# \text{sign:} & p = 8 / \pi^2, & q = m ,
# \end{array}
# $$ (eq-15-plane)
#
# where $m$ is the mean radius of an input, divided by its root mean square. These are the crosses of {numref}`fig-15-layers`.
#
# Where the output varies along directions that the input lacks, and the covariance is not shrunk, the library flags the
# input as *degenerate*: always in the first layer, and deeper down where units before are off everywhere. Shrinkage gives
# the matrix full rank, and the flag is gone. But the sample has no variance outside of its plane, and $T$ adds none:

# %% tags=["hide-input"]
one_size = all_scores.query(
    "activation == 'relu' and scale == 1 and depth == 6"
    " and shift == 0 and bias == 0"
)
one_size = one_size.assign(flagged=one_size["degenerate"].astype(float))
by_layer = one_size.pivot_table(
    index="layer", columns="covariance", values=["score", "flagged"]
)
by_layer.columns = [", ".join(pair) for pair in by_layer.columns]
table(
    by_layer.rename_axis("hidden layer"),
    {
        "score, ledoit-wolf": "mean score, shrunk",
        "score, empirical": "mean score, empirical",
        "flagged, ledoit-wolf": "flagged, shrunk (%)",
        "flagged, empirical": "flagged, empirical (%)",
    },
    digits={"flagged, ledoit-wolf": 0, "flagged, empirical": 0},
)

# %% tags=["remove-input"]
gap = one_size.pivot_table(
    index=["layer", "seed"], columns="covariance", values="score"
)
gap = (gap["ledoit-wolf"] - gap["empirical"]).abs().groupby("layer").mean()
Markdown(
    f"In the first layer both covariances agree within {np.ceil(1000 * gap[1]) / 1000:g}, degenerate or not. They differ most in "
    f"layer {gap.idxmax()}, by {gap.max():.3f}: there the inputs fill more dimensions, most of them with little variance.\n\n"
    f"So a first layer of two inputs says little about its network: {first['ReLU']:.2f} is what *every* wide ReLU layer "
    "without biases gets on this square."
)

# %% [markdown]
# ## Do the verdicts depend on a choice?
#
# {doc}`09_a_multiverse_of_signatures` has twelve specifications. An MLP has no positions to reduce, so reduction and order
# change nothing, and four are left. Mean scores of a Tanh network with weights × 4:

# %%
generator = np.random.default_rng(seed)
pixels = experiments.square()[generator.permutation(64 * 64)[:points]]
network = RandomMLP("tanh", 4.0, seed=seed).network()
found = affscore.multiverse(
    network, pixels, n=points, data_name="the square", progress=False
)
ways, words = ["covariance", "coupling"], ["reduction", "order"]
means = found.summary.pivot_table(
    "mean", index=ways, columns=words, sort=False
)
assert (means.max(axis=1) - means.min(axis=1)).max() < 1e-9
means.columns = [", ".join(pair) for pair in means.columns]
table(means)

# %% tags=["hide-input"]
verdicts = {}
for covariance in ("ledoit-wolf", "empirical"):
    for coupling in ("exact", "paired"):
        chosen = experiments.mean_scores(all_scores, covariance, coupling)
        over = experiments.redshift_correlations(chosen)
        named = over.set_index(over["group"] + ", " + over["over"])["verdict"]
        verdicts[f"{covariance}, {coupling}"] = pd.concat(
            [named, experiments.redshift_changes(chosen)["verdict"]]
        )
verdicts = pd.DataFrame(verdicts)
table(verdicts)

# %% tags=["remove-input"]
differ = verdicts.index[verdicts.ne(verdicts.iloc[:, 0], axis=0).any(axis=1)]
turned = [
    name
    for name in differ
    if {"follows", "contradicts"} <= set(verdicts.loc[name])
]
pairs = networks.merge(
    experiments.mean_scores(all_scores, coupling="paired"),
    on=list(RandomMLP._fields),
)
Markdown(
    f"**{len(verdicts) - len(differ)} of {len(verdicts)} verdicts are the same under all four; "
    f"{len(turned) or 'none'} {'is' if len(turned) == 1 else 'are'} turned round.** "
    + (
        f"Open under some: {'; '.join(name for name in differ if name not in turned)}. "
        if len(differ)
        else ""
    )
    + "The coupling hardly matters: the mean scores of a network under both differ by at most "
    f"{(pairs['mean_x'] - pairs['mean_y']).max():.3f}."
)

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
tanh = correlation("Tanh", "all sizes")
within = [correlation(name, "one size") for name in ("Tanh", "ReLU")]
tanh_depth, relu_depth = (
    changes.loc[f"{name}: 12 hidden layers instead of 3"]
    for name in ("Tanh × 2", "ReLU")
)
plane = experiments.networks_of(networks, SIZES["Tanh"][0])["mean"].mean()
against = {tanh_depth["verdict"], relu_depth["verdict"]}
claim = (
    "But the score is no measure of complexity"
    if "contradicts" in against
    else "Whether the score measures complexity is undecided here"
)
decided = {
    "follows": "scores still fall as complexity grows",
    "contradicts": "scores rise as complexity grows",
    "undecided": "the sign cannot be decided",
}
Markdown(f"""
* **Larger weights make the image of a Tanh network complex and lower its scores**, from {plane:.2f} for a plane towards {last:.2f} for a \
sign function: the rank correlation of mean score and complexity over all sizes is {interval(tanh, "correlation")}. A ReLU network without \
biases does not notice the size of its weights at all.
* **{claim}.** With 12 hidden layers instead of 3 the images of ReLU networks are {relu_depth["frequency"]:.1f} times as complex, and \
their mean score changes by {relu_depth["score"]:+.2f}; those of Tanh networks (weights × 2) are {tanh_depth["frequency"]:.1f} times as \
complex, and their mean score changes by {tanh_depth["score"]:+.3f}.
* **Among networks of one kind and size little is left**: for Tanh the rank correlation is {interval(within[0], "correlation")}, and \
{decided[within[0]["verdict"]]}; for ReLU it is {interval(within[1], "correlation")}, and {decided[within[1]["verdict"]]}.
""")

# %% [markdown]
# ## Takeaways
#
# * The mean score says how much the average layer bends its inputs, not what the bends add up to, nor whether they reach the
#   output. Compare it between networks of the same depth and activation only.
# * Saturated Tanh layers have a score of 0.55, deep ReLU layers above 0.9: a Tanh network with large weights is the less
#   affine one. With small weights it is the other way round.
# * Scores of a layer whose inputs lie in few dimensions count what the map cannot reach. Look at the flag.
#
# ## Exercises
#
# ```{exercise} 15.1 Three times the weights
# :label: ex-15-1
# :nonumber:
#
# *Compute · 5 minutes · easy.* Aim: follow a factor through a ReLU network.
#
# All weights of a ReLU network with four hidden layers and no biases are multiplied by 3. By which factor do the numbers of
# its image grow? Paper and pencil are enough.
# ```
#
# ```{admonition} Hint for 15.1
# :class: dropdown hint
# What does one layer make of inputs that are multiplied by a positive number? Count the matrices.
# ```

# %%
answer = None  # your answer here: a number
# affscore.exercises.check("15.1", answer)

# %% [markdown]
# ```{solution-start} ex-15-1
# :class: dropdown
# ```
#
# Each of the five matrices, four before a ReLU and one behind the last, contributes a factor 3.

# %%
affscore.exercises.check("15.1", 3**5)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 15.2 What the map cannot reach
# :label: ex-15-2
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: derive a score from a share of variance.
#
# An affine map reproduces a share $p$ of the variance of $Y$ exactly, and leaves out the rest: along those directions $T(X)$
# does not vary. The coupling that pairs each input with its output is optimal. Write a function `score(p)` that returns the
# score for a $p$ in $[0, 1]$.
# ```
#
# ```{admonition} Hint for 15.2
# :class: dropdown hint
# Which part of the variance of $Y$ is the squared distance, and which multiple of it is the squared bound?
# ```

# %%
answer = None  # your answer here: a function score(p)
# affscore.exercises.check("15.2", answer)

# %% [markdown]
# ```{solution-start} ex-15-2
# :class: dropdown
# ```
#
# The squared distance is what is left out, $(1 - p) \operatorname{tr} \Sigma_Y$, and the bound is
# $2 \operatorname{tr} \Sigma_Y$. Even a map that reaches nothing gets $1 - \sqrt{1/2} = 0.29$.


# %%
def score(p):
    return 1 - np.sqrt((1 - p) / 2)


affscore.exercises.check("15.2", score)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 15.3 More complex, and more affine
# :label: ex-15-3
# :nonumber:
#
# *Change code · 15 minutes · medium.* Aim: find where score and complexity part.
#
# Find two Tanh networks, `RandomMLP("tanh", size, depth=depth)`, of which the second has an image of at least one and a
# half times the mean frequency, and yet a mean score that is higher by 0.02 or more. Hand in
# `((size, depth), (size, depth))`, sizes from 0.1 to 64 and depths from 1 to 12.
# ```
#
# ```{admonition} Hint for 15.3
# :class: dropdown hint
# The right panel of {numref}`fig-15-complexity`: which change adds complexity without lowering the score?
# ```

# %%
answer = None  # your answer here: two pairs (size, depth)
# affscore.exercises.check("15.3", answer)

# %% [markdown]
# ```{solution-start} ex-15-3
# :class: dropdown
# ```
#
# Larger weights lower the score. Layers add complexity and, at a moderate size of the weights, score more than the first
# one, which sees only a plane.

# %%
affscore.exercises.check("15.3", ((2.0, 1), (2.0, 6)))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 15.4 What a ReLU network cannot draw
# :label: ex-15-4
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: use homogeneity twice, for images and for scores.
#
# Let $f$ be a ReLU network without biases. (a) Prove that $f(c x) = c f(x)$ for all $c > 0$, and that its image on the square is determined by its values on the border.
# Which pictures can it therefore not draw, whatever its weights? (b) Prove that multiplying the weights of layer $l$ by $s_l > 0$ changes no affinity score of any layer, although the factors
# differ from layer to layer. (c) Add a bias to the first layer only. Which of (a) and (b) survive?
# ```
#
# ```{admonition} Hint for 15.4
# :class: dropdown hint
# Induction over layers. For (b): the score does not change when input and output are multiplied by positive numbers, also by different ones.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-15-4
# :class: dropdown
# ```
#
# (a) A matrix maps $c x$ to $c W x$, ReLU maps $c z$ to $c \operatorname{ReLU}(z)$ for $c > 0$; by induction $f(c x) = c f(x)$. Each point of the square other than the middle is $c$ times one point of the
# border, with $c \in (0, 1]$, and $f(0) = 0$. So the picture is a fan of rays: along each ray it is linear. It cannot draw a disc, a stripe that does not pass through the middle, or anything that oscillates along a ray.
#
# (b) By (a) for the layers before, the input and the output of activation $l$ are multiplied by $s_1 \cdots s_l > 0$. The affine map of the multiplied pair is the same matrix $A$, so that transport distance and
# bound are both multiplied by $s_1 \cdots s_l$, and their ratio stays.
#
# (c) A bias $b$ in the first layer breaks both: $W c x + b \ne c (W x + b)$. If the bias is multiplied with its layer's weights, (b) survives for all later factors, since what comes out of layer 1 is then simply another input.
#
# **Rubric** (6 points)
#
# * 2: homogeneity by induction, with $c > 0$ used at the ReLU.
# * 1: the border determines the image; one kind of picture that is impossible.
# * 2: (b) with the product of the factors, and why the score does not change.
# * 1: (c) the counterexample, or the case in which (b) survives.
#
# ```{solution-end}
# ```
#
# ```{exercise} 15.5 A better measure of complexity?
# :label: ex-15-5
# :nonumber:
#
# *Argue · 25 minutes · hard.* Aim: test a proposed measure by cases in which it must fail.
#
# A colleague proposes the *sum* of $1 - \rho$ over the layers as a measure of how complex a network's function is: unlike the mean it rises with the depth. Give an argument for it from this chapter, then two networks of at most three
# layers on which it fails: one with a large sum and an affine function, one with a small sum and a function more complex than the first. Is there any function of the scores of the layers alone that
# cannot fail in this way?
# ```
#
# ```{admonition} Hint for 15.5
# :class: dropdown hint
# Let a later layer undo an earlier one, or ignore what it did. The scores look at each activation by itself.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-15-5
# :class: dropdown
# ```
#
# *For*: the sums in this chapter rise with the depth for Tanh and ReLU, as the frequencies do, where the means do not.
#
# *Against*: (1) Let a layer compute $(\operatorname{ReLU}(x), \operatorname{ReLU}(-x))$ and the next weights subtract: the output is $x$. Each of three such layers has a low score, the sum is large, and the function
# is the identity. Or let the output weights of half of the units be zero: their bends count in the score and do not reach the output. (2) One hidden layer of many units whose bends are spread
# evenly, and whose output weights alternate in sign: the function is a saw-tooth of high frequency, while the sum has one term, at most 1, so less than that of three layers.
#
# No function of the scores alone can avoid (1): change the last matrix only. No activation, and so no score, changes, but the function goes from affine to not affine. A measure of the function has to see the weights after the last activation, as deviation from a chord does
# ({doc}`16_are_all_linear_regions_equal`).
#
# **Rubric** (6 points)
#
# * 1: an argument for the sum, with numbers of the chapter.
# * 2: a network with low scores and an affine function.
# * 1: a network with a smaller sum and a more complex function.
# * 2: no function of the scores can do it, since the last weights change the function and no score.
#
# ```{solution-end}
# ```
#
# ## Further reading
#
# * {cite:t}`teney2024neural`, for the images, other architectures, and what the preference means for trained networks.
# * {doc}`02_activation_functions`, for the closed forms of single activations.
