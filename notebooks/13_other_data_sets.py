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
# # Other data sets
#
# A signature belongs to a network *and* to data. Appendix H of the paper {cite}`bouniot2025alexnet` measures 33 networks on
# CIFAR-10, CIFAR-100 and noise, finds the first two nearer to ImageNet than the third (figure 15), and concludes that they are
# semantically closer. This chapter makes the figure again and tests the conclusion. Then it goes from other data to a part
# of the data: the images of one class. You will learn
#
# * how far a signature moves on other data, and how far the choice of images alone moves it,
# * whether a small deviation says that the data mean the same,
# * how to test whether scores depend on the class of the images, and in which activations they do.

# %% tags=["parameters"]
models: list[str] = []  # with or without @WEIGHTS; none: 36 of the mini zoo
dataset: str = "digits"  # of reference: digits, imagenet:DIR, folder:DIR ...
others: list[str] = []  # other data; none: altered digits, and noise
n: int = 512  # images in a batch of the statistic
images: int = 0  # images of reference in all; 0: those of the study, or all
other_images: int = 0  # of each other data set; 0: likewise, of noise n
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, choice of images, permutations

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore import AffscoreError, analysis, papers
from affscore.figures import class_ratios, class_signatures, data_deviations
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey import load_or_measure
from affscore.survey.studies import load_study, study_of, under
from IPython.display import Markdown
from scipy.stats import spearmanr

options = {
    "n": n,
    "device": device,
    "seed": seed,
    "jobs": jobs,
    "progress": False,
}
names = papers.short_names(networks := models or papers.study_models("mini:"))
others = others or [
    "digits-noisy",
    "digits-inverted",
    "digits-shuffled",
    "random",
]
measured = load_study(
    "other-data"
)  # the default of this chapter, which comes with the package
asked = (dataset, n, seed, images, other_images)
if (
    models
    or asked != ("digits", 512, 0, 0, 0)
    or not set(others) <= set(measured["dataset"])
):

    def measure(data, size, count):
        results = load_or_measure(
            networks,
            data,
            store,
            **options | {"n": size, "images": count or None},
        )
        return pd.concat(
            study_of([one]).assign(model=name)
            for name, one in results.items()
        )

    parts = [
        measure(dataset, n, images),
        *(measure(data, n, other_images) for data in others),
    ]
    about = pd.concat(part.iloc[:1] for part in parts).set_index("dataset")
    if about.index.has_duplicates:
        raise AffscoreError(
            f"two data sets are called {about.index[about.index.duplicated()][0]}: rename a folder"
        )
    if len(sizes := set(about["images"] // about["batches"])) > 1:
        raise AffscoreError(
            f"scores depend on the size of a batch, which is {sizes} here: lower n, or bring more images"
        )
    if parts[0]["batches"].min() < 2:
        parts.append(
            measure(dataset, n // 2, images)
        )  # two halves: how far other images move a score
    measured = pd.concat(parts)
else:
    measured = measured[measured["dataset"].isin([dataset, *others])]
study = under(measured).replace({"model": names})
deviations = analysis.data_deviations(study)
deviations["times chance"] = deviations["euclidean"] / deviations["chance"]
ledger = Ledger(AllResults.gather())

# %% [markdown]
# ## The short answer

# %% tags=["remove-input"]
means = (
    deviations.groupby("dataset", sort=False)["euclidean"]
    .mean()
    .sort_values()
)
effects = {
    kind: analysis.class_effects(
        under(load_study(name)).assign(
            model=lambda rows: rows["model"].str.rpartition(":")[2]
        )
    )
    for kind, name in {
        "digits": "classes",
        "CIFAR-10": "classes-cifar",
    }.items()
}
ratios = pd.Series(
    {
        name: one.ratio
        for some in effects.values()
        for name, one in some.items()
    }
)
p_values = [one.p_value for some in effects.values() for one in some.values()]
Markdown(
    f"**On other data signatures move by {means.iloc[0]:.2f} ({means.index[0]}) to {means.iloc[-1]:.2f} ({means.index[-1]})** on "
    f"average over {deviations['model'].nunique()} networks; other images of {dataset} move them by "
    f"{deviations.groupby('model')['chance'].first().mean():.2f}. "
    f"**The class of the images moves them, too:** in {sum(p < 0.05 for p in p_values)} of {len(p_values)} networks "
    f"of the study (permutation test), by {ratios.min():.1f} to {ratios.max():.1f} times what random subsets of the same size do."
)

# %% [markdown]
# ## Far from the data of reference
#
# Let $s$ be the signature of a network on the data of reference and $s'$ that on other data. Both have a score for each of its
# activations, so that their distance is simply
#
# $$
# D = \lVert s' - s \rVert_2 = \sqrt{\textstyle\sum_l (s'_l - s_l)^2} .
# $$
#
# That is what the caption of figure 15 says; the text of appendix H says dynamic time warping
# ({doc}`07_a_signature_for_every_architecture`), which is never larger: it may align other activations with each other. Both are
# here. And since a signature on *other images of the same data* is different, too, the figure shows that distance as well
# (estimated from how scores vary between two halves of the images). *Times chance*, in the table, is the first over the second, the
# median over the networks; SD is the standard deviation over them.
#
# By default the networks are those of the mini zoo, trained on digits, and the other data are digits that are *noisy*,
# *inverted* (black for white) or *shuffled* (one permutation of the pixels for all images), and standard normal noise
# (*random*). With `notebooks/params/paper.yml` they are the paper's.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-13-data", "caption": "Distance of each network's signature on other data to that on the data of reference (figure 15 of the paper): above by the definition in the paper's caption, with the distance between other images of the same data as bars; below by that in its text. Dotted lines are means (`affscore.figures.data_deviations`)."}, "image": {"alt": "Two panels with 36 networks side by side and four markers for each, between 0 and about 1. Noise lies highest for most networks, noisy digits lowest; grey bars at the bottom are far below all markers for most networks."}}
data_deviations(deviations, chance=f"other images of {dataset}")
plt.show()

# %% tags=["hide-input"]
by_data = deviations.groupby("dataset", sort=False)
table = by_data.agg(**{
    "Euclidean": ("euclidean", "mean"), "Euclidean, SD": ("euclidean", "std"),
    "DTW": ("dtw", "mean"), "DTW, SD": ("dtw", "std"),
    "times chance": ("times chance", "median"), "change of the mean score": ("mean_change", "mean"),
})  # fmt: skip
rows = study[study["n"] == study["n"].max()].groupby(["dataset", "model"])
table["accuracy (%)"] = (
    100 * rows["accuracy"].first().astype(float).groupby("dataset").mean()
)
table.round(2)

# %% tags=["remove-input"]
printed = papers.printed_table("figure15_deviation")
Markdown(
    "The paper prints "
    + ", ".join(
        f"{name} {row['mean']:.2f} ± {row['std']:.2f}"
        for name, row in printed.iterrows()
    )
    + ". These are other networks and data: compare the order, not the numbers."
)

# %% [markdown]
# ### Is the claim seen?

# %% tags=["hide-input"]
ledger.conclusions(
    "noise-is-further-than-cifar", "other-data-move-signatures"
)

# %% tags=["remove-input"]
wide = deviations.pivot_table(
    index="model", columns="dataset", values="euclidean"
)
furthest = wide.idxmax(axis=1).value_counts()
Markdown(
    f"{furthest.iloc[0]} of {len(wide)} networks are furthest away on {furthest.index[0]}"
    + "".join(
        f", {count} on {data}" for data, count in furthest.iloc[1:].items()
    )
    + f". In every network and on every data set the distance is at least {deviations['times chance'].min():.1f} times that of "
    f"other images of {dataset}."
)

# %% [markdown]
# On the small networks of the study noise is furthest on average, as in the paper, and by both distances. But that is the order of the
# published code (activate, then average). With the order that the paper prints, inverted digits are as far as noise.
# And it is no rule for a single network: ViTs and AlexNet are nearer to noise than to inverted digits. What does hold under
# every choice is weaker: other data move a signature by more than other images do.

# %% tags=["remove-input"]
depth = {
    data: spearmanr(rows["euclidean"], rows["activations"]).statistic
    for data, rows in by_data
}
Markdown(
    f"**{'Most of a distance is depth' if min(depth.values()) > 0.7 else 'Depth is a part of it'}.** The distance is a root of "
    "a sum over activations (exercise 13.1): its rank correlation with their number is "
    + ", ".join(f"{value:.2f} on {data}" for data, value in depth.items())
    + ". Compare data sets within a network, not networks."
    if len(wide) > 3
    else ""
)

# %% [markdown]
# ## Is it semantics?
#
# "[...] suggesting that these data sets are semantically closer to Imagenet" is one explanation of a small distance. Digits let us
# test it. *Inverted* digits mean what digits mean; everybody can read them. *Shuffled* digits mean
# nothing; they only have the grey values of digits, and a pixel varies as some pixel of a digit does.

# %% tags=["hide-input"]
ledger.conclusions("nearer-data-are-like-the-first")

# %% [markdown]
# **Under no choice does the distance separate readable from unreadable digits.** Under the papers' choice inverted and shuffled digits are
# equally far; with the order that the paper prints the unreadable ones are *nearer*. Nor does it show what the *network*
# can read: on both the networks guess, and yet they are nearer than noise is. The distance measures how much the
# distributions of the activations change. What an image means is not part of these.
#
# ## Trained on photographs, trained on CIFAR-10
#
# The same on networks of usual size: MobileNetV2 and SqueezeNet 1.0 and 1.1, trained on ImageNet, from photographs of ImageNet to
# CIFAR-10 and noise; and the other way round, networks trained on CIFAR-10, with and without shortcuts, from CIFAR-10 to the
# photographs and noise. 512 images of each.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-13-real", "caption": "The same for networks of usual size: distance between signatures on the images they were trained for and on others. Right of the third: networks trained on CIFAR-10 (`affscore.figures.data_deviations`)."}, "image": {"alt": "Eleven networks side by side. Triangles for noise lie between about 0.4 and 0.8. Circles for CIFAR-10, on the first three networks, lie between 0.3 and 0.5; squares for ImageNet, on the other eight, all near 0.13. Grey bars of other images are below 0.05."}}
label = {
    "folder:imagenet-sample": "ImageNet",
    "folder:cifar10-test": "CIFAR-10",
    "random": "noise",
}
kinds = {
    of: under(load_study(f"other-data-{kind}"))
    for of, kind in {"ImageNet": "photographs", "CIFAR-10": "cifar"}.items()
}
real = pd.concat(
    [
        analysis.data_deviations(one).assign(trained=kind)
        for kind, one in kinds.items()
    ],
    ignore_index=True,
)
real["model"], real["dataset"] = (
    real["model"].str.rpartition(":")[2],
    real["dataset"].map(label),
)
data_deviations(real, ["euclidean"], chance="other images of the first data")
plt.show()

# %% tags=["hide-input"]
real.assign(over=real["euclidean"] / real["chance"]).groupby(["trained", "dataset"], sort=False).agg(**{
    "networks": ("model", "nunique"), "Euclidean": ("euclidean", "mean"), "Euclidean, SD": ("euclidean", "std"),
    "DTW": ("dtw", "mean"), "times chance": ("over", "median"), "change of the mean score": ("mean_change", "mean"),
}).round(2)  # fmt: skip

# %% tags=["remove-input"]
noisier = real.pivot_table(
    index=["trained", "model"],
    columns="dataset",
    values="euclidean",
    sort=False,
)
noisier = (
    (noisier["noise"] > noisier.drop(columns="noise").max(axis=1))
    .groupby("trained")
    .agg(["sum", "size"])
)
Markdown(
    "**Noise is further than images are** in "
    + ", and in ".join(
        f"{row['sum']} of {row['size']} networks that were trained on {of}"
        for of, row in noisier.iterrows()
    )
    + "."
)

# %% [markdown]
# Here, too, a distance may have a simpler cause than semantics: photographs that are shrunk to 32 pixels look like CIFAR-10,
# whereas its images, enlarged to 224 pixels, have no fine detail. These data cannot separate the two explanations.
#
# ## One class at a time
#
# Other data differ in everything. The images of one class differ from the rest in what they show, and in nothing else: same camera, same size,
# same network. So let us measure the score *conditional on the label*. Two things need care:
#
# * **Fewer images.** There are about 60 held-out images of a digit, and with few images scores are too high
#   ({doc}`03_estimating_it_well`). So a class is compared with random subsets **of the same size**, which have that bias, too.
# * **Chance.** 49 such subsets show what the choice of images does. If the label said nothing, a class would be one
#   more of them; so classes and subsets can be permuted, which gives p-values without further assumptions.
#
# ```sh
# affscore signature mini:digitsnet --dataset digits:3 --n 58 --images 58
# affscore signature mini:digitsnet --dataset digits --n 58 --images 58 --seed 1
# ```
#
# Eight networks on digits, 58 images at a time, and four on CIFAR-10, 250 at a time:

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-13-classes", "caption": "The signature on each class (thin lines) over those on 49 random subsets of the same size (`affscore.figures.class_signatures`)."}, "image": {"alt": "Four panels with scores over activations. Thin red lines, one for each class, leave the narrow grey band of the random subsets, mostly in the second half of each network."}}
tables = pd.concat(
    [under(load_study(name)) for name in ("classes", "classes-cifar")]
)
tables["model"] = tables["model"].str.rpartition(":")[2]
shown = {}
for name in ("resnet18", "vit_b_16", "resnet20", "plainnet20"):
    scores = tables[tables["model"] == name].pivot_table(
        index=["draw", "dataset"], columns="index", values="score"
    )
    shown[name] = scores.loc[0], scores.drop(index=0)
class_signatures(shown)
plt.show()

# %% [markdown]
# How far are the classes from the mean of the subsets, compared with how far the subsets are? For C classes, with the mean $m$
# and the variances $v_l$ of the subsets,
#
# $$
# q = \sqrt{\frac{\frac1C \sum_c \lVert s_c - m \rVert^2}{\sum_l v_l}} , \qquad q_l = \sqrt{\frac{\frac1C \sum_c (s_{cl} - m_l)^2}{v_l}} .
# $$
#
# Both are 1 where the label says nothing. The p-value of $q_l$ is that of the largest of all activations of the
# network, so that the last column but one is corrected for the number of activations.

# %% tags=["hide-input"]
rows = {
    (kind, name): {
        "activations": len(one.layers),
        "q": one.ratio,
        "p-value": one.p_value,
        "classes beyond all subsets": (
            one.distances > one.chance.max()
        ).sum(),
        "activations with p < 0.05": (one.layers["p_value"] < 0.05).sum(),
        "change of the mean score": one.change,
    }
    for kind, some in effects.items()
    for name, one in some.items()
}
pd.DataFrame(rows).T.astype({"activations": int}).round(3)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-13-layers", "caption": "The ratio $q_l$ along each network: how far classes are from the mean of random subsets, in standard deviations of these (`affscore.figures.class_ratios`)."}, "image": {"alt": "Two panels, digits and CIFAR-10, with a line for each network, on a logarithmic axis from about 1 to 10. Nearly all points are above the dashed line at 1; most lines rise towards the end of the network, with much zigzag."}}
class_ratios(
    {
        kind: {name: one.layers["ratio"] for name, one in some.items()}
        for kind, some in effects.items()
    }
)
plt.show()

# %% tags=["remove-input"]
correlations = [
    one.layers["ratio"]
    .reset_index(drop=True)
    .corr(pd.Series(range(len(one.layers))), method="spearman")
    for some in effects.values()
    for one in some.values()
]
changes = [one.change for some in effects.values() for one in some.values()]
Markdown(
    f"**The class matters more in late activations.** The rank correlation of $q_l$ with the place in the network is positive in "
    f"{sum(value > 0 for value in correlations)} of {len(correlations)} networks (mean {np.mean(correlations):.2f}). The mean "
    f"score of a network hardly changes: by {min(changes):+.3f} to {max(changes):+.3f}, mean over the classes. Classes move the "
    "profile, not its level."
)

# %% [markdown]
# An activation can be straight on each class and bent on all of them together, where its bend lies between the classes
# (exercise 13.3). The score of all images is no average over classes.
#
# ## What holds, and under which choices
#
# The columns are those of {doc}`80_the_ledger`.

# %% tags=["hide-input"]
ledger.conclusions(
    "noise-is-further-than-cifar",
    "nearer-data-are-like-the-first",
    "other-data-move-signatures",
    "class-more-than-draw",
    "late-activations-know-the-class",
)

# %% [markdown]
# ## Takeaways
#
# * A signature belongs to a network and its data. Other data move it by several times what other images of the same data do,
#   and in most networks noise moves it most.
# * A small distance does not say that data mean the same: inverted digits, which anyone can read, are no nearer than shuffled
#   ones, which nobody can.
# * The images of one class have a signature of their own, most of all in late activations. Compare it with random subsets of
#   the same size.
#
# ## Exercises
#
# ```{exercise} 13.1 Deeper is further
# :label: ex-13-1
# :nonumber:
#
# A network with 16 activations has the Euclidean distance 0.4 between its signatures on two data sets, and all of its scores
# change by the same amount. What is the distance for a network with 100 activations whose scores change by that amount, too?
# Hand in a number.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("13.1", answer)

# %% [markdown]
# ```{solution-start} ex-13-1
# :class: dropdown
# ```
#
# Each score changes by $0.4 / \sqrt{16}$. To compare networks of different depths, divide by the root of their number of
# activations.

# %%
answer = 0.4 / np.sqrt(16) * np.sqrt(100)
affscore.exercises.check("13.1", answer)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 13.2 One more subset
# :label: ex-13-2
# :nonumber:
#
# Write the p-value of a class as a function `p_value(distance, chance)`: of its distance and of the array of distances of the
# random subsets. Hand in the function.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("13.2", answer)

# %% [markdown]
# ```{solution-start} ex-13-2
# :class: dropdown
# ```
#
# If the label says nothing, the class is one more random subset. It is one of those that are at least as far away.


# %%
def p_value(distance, chance):
    return (np.sum(chance >= distance) + 1) / (len(chance) + 1)


affscore.exercises.check("13.2", p_value)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 13.3 Affine on each class
# :label: ex-13-3
# :nonumber:
#
# Make up the inputs of two classes, arrays $x_0$ and $x_1$ of one shape $(n, d)$ with $64 \le n \le 512$, such that ReLU has a score
# of at least 0.95 on each of them (empirical covariance), and of at most 0.7 on both together. Hand in `(x0, x1)`.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("13.3", answer)

# %% [markdown]
# ```{solution-start} ex-13-3
# :class: dropdown
# ```
#
# One class on each side of the bend. An activation that separates classes may be affine on all of them.

# %%
generator = np.random.default_rng(0)
below, above = (
    -1 - generator.exponential(size=(256, 1)),
    generator.exponential(size=(256, 1)),
)
affscore.exercises.check("13.3", (below, above))

# %% [markdown]
# ```{solution-end}
# ```
