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
# # Is the score redundant?
#
# *Could something cheaper replace the score?* If a simple criterion always moved with it, optimal transport would be
# unnecessary. The paper {cite}`bouniot2025alexnet` tries five older criteria and finds none.
#
# :::{admonition} What we found
# :class: findings
# **At single positions of the images two numbers for each channel nearly replace the score**: a correlation and a
# variance explain {glue:text}`one position-ImageNet` of its variation over the layers of an ImageNet network (median of
# 14). With averages over positions, as in the paper, it is {glue:text}`average after-ImageNet`. {bdg-warning}`depends`
#
# **In nearly all our networks two older criteria, NLC and CKA, move with the score**: as it rises, NLC falls in all 26
# and CKA rises in {glue:text}`cka-ours`. But in the paper's 32 CKA rises in only {glue:text}`CKA-32 printed`. How closely they follow the score is undecided. {bdg-secondary}`open`
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
model: str = ""  # a network of your own: MODEL or MODEL@WEIGHTS
dataset: str = "digits"  # its images: digits, folder:DIR, imagenet:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights and of the choice of images

# %% tags=["remove-cell"]
import companion
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import numpy as np
import pandas as pd
import seaborn as sns
from myst_nb import glue

from affscore import affinity_score
from affscore.plots import house_style
from affscore.transport import diagonal_affinity
from companion.chapter_09.decomposition import FILE
from companion.chapter_09.measurements import strength_counts
from companion.networks import study_models
from companion.printed import printed_correlations
from companion.real_networks import real_scores
from companion.regression import criterion_correlations, criterion_values
from companion.shipped import shipped_signature
from companion.style import say, table

# %% [markdown]
# ## Is one channel at a time enough?
#
# A transport moves all channels together. If each could be looked at by itself, two numbers of a channel $k$ would do:
# the correlation $c_k$ of its input and output, which is 1 where it acts as a rising line, and the variance $v_k$ of its
# output. Then the score is the *diagonal score* ({prf:ref}`theorem <thm-diagonal>`,
# `affscore.transport.diagonal_affinity`),
#
# $$
# 1 - \sqrt{\frac{\sum_k v_k\,(1 - c_k)}{\sum_k v_k}} .
# $$
#
# Under the root is the average of $1 - c_k$, where channels count by their variance. For example, ReLUs of standard
# normal inputs have $c_k = 0.856$ and score $1 - \sqrt{0.144} = 0.62.$ (It is negative where outputs mostly fall as
# inputs rise.)
#
# How close is it to the score in trained networks? Channels are taken at *one position* of each image, or *averaged*
# over positions *after* the activation, as in the paper.

# %%
layers = pd.read_parquet(FILE)  # a row for each activation
of = {"cifar10-test": "CIFAR-10", "imagenet-sample": "ImageNet"}
layers["of"] = layers["dataset"].map(of).fillna("mini networks")
ways = {"activate-first": "average after", "reduce-first": "average before"}
one = layers["reduction"] == "sample"
layers["way"] = layers["order"].map(ways).mask(one, "one position")
whole = layers[layers["n"] == 512]

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-diagonal", "caption": "At one position the diagonal score nearly agrees with the score; with averages after the activation the score is higher, by different amounts. A point for each activation of 26 networks, on 512 images (CIFAR-10: {term}`JPEG copies` of test images)."}, "image": {"width": "540px", "alt": "Four panels of points with the diagonal score on the horizontal and the score on the vertical axis, for CIFAR-10 and ImageNet. At one position the points lie close to the diagonal; with averages after the activation they lie above it and scatter, most by up to 0.3."}}
shown = whole.query("of != 'mini networks' and way != 'average before'")
shown = shown.sort_values(["of", "way"], ascending=[True, False])
with house_style():
    look = {"height": 2.25, "s": 7, "alpha": 0.4, "linewidth": 0}
    which = {"x": "diagonal", "y": "score", "col": "way", "row": "of"}
    panels = sns.relplot(shown, **which, **look)
    for axes in panels.axes.flat:
        axes.axline((0.5, 0.5), slope=1, color="grey", linewidth=0.8)
        axes.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), aspect="equal")
    panels.set_titles("{row_name}, {col_name}").set_xlabels("diagonal score")

# %% [markdown]
# **At one position the diagonal score explains nearly all of the score's variation over layers; with averages it misses a
# fifth to a quarter.** The explained share is their squared correlation, here the median over networks:

# %%
of_network = whole.groupby(["way", "of", "model"])
squares = of_network[["diagonal", "score"]].corr() ** 2
fits = squares["score"].xs("diagonal", level=-1).to_frame("r2")
agreement = fits.groupby(["way", "of"])["r2"].median().unstack()
agreement = agreement.loc[["one position", "average after"]]
headings = {of: f"explained, {of} (%)" for of in ["CIFAR-10", "ImageNet"]}
table(agreement.rename_axis(None), headings, digits=0)

# %% tags=["remove-cell"]
say(100 * agreement, "{:.0f} %")

# %% tags=["hide-input"] mystnb={"code_prompt_show": "A network of your own", "code_prompt_hide": "A network of your own"}
if model:
    from affscore import signature

    options = {"n": n, "images": images or None, "device": device}
    mine = signature(model, dataset, seed=seed, **options).summary
    own = signature(model, dataset, seed=seed, criteria="diagonal", **options)
    both = own.summary[["score", "diagonal"]]
    print(f"{model}: explained share {both.corr().iloc[0, 1] ** 2:.2f}")
    print(both.mean().round(2).to_string())

# %% [markdown]
# ## Does an older criterion move with it?
#
# Does a criterion *keep its sign*: does it rise with the score over the activations of every network, or fall in every
# one? And does it *follow* the score closely? We tried seven in our 26 networks, the paper five in 32. Three come nearest (CKA also debiased):
#
# * **Linear CKA** {cite}`kornblith2019similarity`: how alike points are arranged before and after the activation.
# * **Sparsity**: how many more of the outputs are zero than of the inputs.
# * **NLC**, the non-linearity coefficient {cite}`philipp2021nonlinearity`, which the paper did not try: how steep the
#   function is at its inputs, against how far its outputs spread.
#
# The others are *debiased CKA* {cite}`song2012feature,nguyen2021wide` (for few images), *norm* (how far outputs are from
# inputs), *entropy* (how much more varied outputs are than inputs) and *R²* (how well a linear fit predicts the outputs;
# exercise 9.2).


# %%
sets = {"CIFAR-10": "12 CIFAR-10", "photographs": "14 ImageNet"}
tables = {of: real_scores(images) for images, of in sets.items()}
tables |= {model: mine.assign(network=model)} if model else {}
five = ["cka", "norm", "sparsity", "entropy", "r2"]
seven = [*five, "cka_debiased", "nlc"]
found = {}
for of, rows in tables.items():
    networks = dict(list(rows.groupby("network")))
    found[of] = criterion_correlations(networks, seven)
found["32 printed"] = printed_correlations()
every = pd.concat(found, names=["of"]).reset_index()
ours = every[every["of"].isin(sets.values())]

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-correlations-real", "caption": "In our networks NLC keeps its sign in all, both CKAs and sparsity in all but one; in the paper's table 2 no criterion does. A dot for each network: correlation of score and criterion over its activations (ours: 14 ImageNet networks, most quantised, on 512 photographs of the training set; 12 CIFAR-10 networks on JPEG copies of test images)."}, "image": {"width": "540px", "alt": "Two panels, our 26 networks and the paper's 32, with a row of dots between -1 and 1 for each criterion. In ours nearly all dots of CKA are right of zero, and nearly all of sparsity and all of NLC left of it. In the paper's all five rows have dots on both sides."}}
names = {"cka": "CKA", "r2": "R²", "nlc": "NLC"}
names["cka_debiased"] = "debiased CKA"
dots = every.replace({"criterion": names})
whose = dict.fromkeys(sets.values(), "our 26 networks")
dots["whose"] = dots["of"].replace(whose | {"32 printed": "the paper's 32"})
in_order = ["CKA", "debiased CKA", "sparsity", "NLC"]
in_order += ["norm", "entropy", "R²"]
with house_style():
    look = {"kind": "swarm", "col": "whose", "height": 3.9, "aspect": 0.58}
    which = {"x": "correlation", "y": "criterion", "order": in_order}
    panels = sns.catplot(dots, **which, **look, size=3, width=1)
    panels.refline(x=0, linestyle="-", linewidth=0.8)
    ends = ["−1", "falls", 0, "rises", 1]
    panels.set(xticks=np.linspace(-1, 1, 5), xticklabels=ends)
    panels.set_titles("{col_name}").set_axis_labels("correlation", "")

# %% [markdown]
# **Does one keep its sign?** In ours NLC does, CKA and sparsity nearly. But CKA rises in only {glue:text}`CKA-32 printed`
# of the paper's 32. Those are other networks, at full size, so networks or computation may differ.
#
# **Does one follow closely?** In most networks the correlations are too uncertain to tell (fold,
# {doc}`18_what_is_reproduced`). {bdg-secondary}`open`

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Intervals of the correlations", "code_prompt_hide": "How sure? Intervals of the correlations"}
# Does a criterion follow the score closely, with a correlation beyond 0.5 in
# its usual direction? Networks whose whole interval says yes, no, or neither.
# The intervals (Fisher's) hold together for all networks of a criterion. They
# take activations for independent. Neighbours are alike: they are too short.
answers = {"strong": "yes", "weak": "no", "undecided": "undecided"}
closely = strength_counts(ours).rename(names).loc[in_order]
table(closely.rename_axis("follows closely"), answers)

# %% [markdown]
# ## Aside: What the transport adds
#
# **Beyond single channels a transport has a *map*, which moves them together, and a *pairing*, which may give an input
# another output. With averages the map adds more.**
#
# The score is the diagonal score and what these two add. Medians over networks:

# %%
parts = whole.assign(map=whole["paired"] - whole["diagonal"])
parts["pairing"] = whole["score"] - whole["paired"]
of_network = parts.groupby(["way", "of", "model"])
adds = of_network[["map", "pairing"]].mean().groupby(["way", "of"]).median()
adds = adds.drop("mini networks", level="of").drop("average before")
adds.index = adds.index.map(", ".join)
headings = {"map": "map adds", "pairing": "pairing adds"}
table(adds, headings)

# %% [markdown]
# When does each help? Send three clouds through a ReLU: four independent channels at *one position*; averages over
# 16 such positions (*average of 16*); and averages where all positions of an image have a *shared contrast*:

# %%
draw = np.random.default_rng(seed)
z = draw.standard_normal((16, 1024, 4))  # positions, images, channels
level, contrast = draw.standard_normal((2, 1024, 1))
shared = np.exp(contrast / 2) * (1 + 2 * z) + level * [1, -1, 1, -1]
rows = {}
clouds = {"one position": z[:1], "average of 16": z}
clouds["shared contrast"] = shared
for name, positions in clouds.items():
    x, y = positions.mean(axis=0), np.maximum(positions, 0).mean(axis=0)
    exact = affinity_score(x, y, "empirical")
    rows[name] = [float(diagonal_affinity(x, y)), exact.paired, exact.value]
added = pd.DataFrame(rows, ["diagonal score", "map", "pairing"]).T
table(added.diff(axis=1).fillna(added).rename(columns=headings))

# %% [markdown]
# **The pairing helps with averages**, because an average of outputs is no function of the averaged input, so that another
# pairing is cheaper. **The map helps where channels share something**, such as the contrast of an image: outputs of a
# ReLU share it more strongly than inputs, and only a map that mixes channels can follow. Channels of real networks share
# much.
#
# ## Aside: More networks, and more images
#
# **With averages, the share that the diagonal score explains depends on the network**:
# {glue:text}`average after, ImageNet-min` in one of ImageNet, {glue:text}`average after, ImageNet-max` in another.
#
# Over all networks:

# %%
sure = fits.groupby(["way", "of"])["r2"].agg(["median", "min", "max"])
sure = sure.loc[["one position", "average after"]]
sure = sure.drop("mini networks", level="of")
sure.index = sure.index.map(", ".join)
shares = {"min": "least (%)", "median": "median (%)", "max": "most (%)"}
table(sure.rename_axis("explained"), shares, digits=0)

# %% tags=["remove-cell"]
say(100 * sure, "{:.0f} %")

# %% [markdown]
# **With 8,192 images, too, the map adds to averages, and nothing at one position.** Means over CIFAR-10
# networks:

# %%
layers["map"] = layers["paired"] - layers["diagonal"]
cifar = layers[layers["of"] == "CIFAR-10"]
by_n = cifar.groupby(["way", "n"])["map"].mean().unstack()
counts = {512: "512 images", 8192: "8,192 images"}
by_n = by_n.loc[["one position", "average after"]]
table(by_n.rename_axis("the map adds"), counts, digits=3)

# %% [markdown]
# ## Aside: The paper's five criteria
#
# **Of the paper's five criteria CKA keeps its sign best**: it rises with the score in {glue:text}`cka-measured` of
# {glue:text}`networks-measured` networks, the 26 above and 36 of the {term}`mini zoo`.

# %%
mini = {name: shipped_signature(name).summary for name in study_models()}
mini = criterion_correlations(mini).assign(of="36 mini")
signs = pd.concat([every, mini]).replace({"criterion": names})
signs = signs.dropna(subset="correlation")
signs["positive"] = signs["correlation"] > 0
counts = signs.groupby(["criterion", "of"])["positive"].sum().unstack()
headings = {of: f"of {of}" for of in [*sets.values(), "36 mini"]}
headings["32 printed"] = "of the paper's 32"
shown = [name for name in in_order if name != "debiased CKA"]
table(counts.loc[shown].rename_axis("rises in"), headings, digits=0)

# %% tags=["remove-cell"]
say(counts.loc[["CKA"]], "{:.0f}")
ours_only = counts.loc["CKA", [*sets.values()]].sum()
glue("cka-ours", int(ours_only), display=False)
positive = counts.loc["CKA", [*sets.values(), "36 mini"]].sum()
glue("cka-measured", int(positive), display=False)
glue("networks-measured", len(ours) // 7 + len(mini) // 5, display=False)

# %% [markdown]
# **Together the five predict {glue:text}`explained` of the score's variation** over the layers of a network. They are
# fitted to the other families; all are standardised within each network. Over families:


# %%
def standard(rows):
    values = criterion_values(rows)
    return (values - values.mean()) / values.std()


real = pd.concat([tables[of] for of in sets.values()])
real = real.groupby(["family", "network"]).apply(standard)
explained = {}
for family, own in real.groupby("family"):
    others = real.drop(family)
    weights = np.linalg.lstsq(others[five], others["score"])[0]
    missed = own["score"] - own[five] @ weights
    explained[family] = 1 - (missed**2).sum() / (own["score"] ** 2).sum()
explained = pd.Series(explained).agg(["min", "mean", "max"])
table(explained.to_frame("share predicted").T)

# %% tags=["remove-cell"]
glue("explained", f"{100 * explained['mean']:.0f} %", display=False)

# %% [markdown]
# ## Exercises
#
# ```{exercise} 9.1 Why not all activations in one pot?
# :label: ex-9-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: build Simpson's paradox.
#
# Tables 1 and 2 have a correlation for each network, and not one over all activations of all networks. Make up two
# networks, four activations or more each, whose scores have a correlation of at least 0.9 with a criterion in either of
# them, and of at most -0.5 when the activations of both are thrown together. Hand in
# `((scores, criterion), (scores, criterion))`.
# ```
#
# ```{admonition} Hint for 9.1
# :class: dropdown hint
#
# Draw two rising lines of points. Where must the second one lie for the whole picture to fall?
# ```

# %%
answer = None  # your answer here: two pairs (scores, criterion)
# companion.exercises.check("9.1", answer)

# %% [markdown]
# ```{solution-start} ex-9-1
# :class: dropdown
# ```
#
# The network with the higher scores gets the lower criterion: its level runs against its course. This is Simpson's
# paradox {cite}`simpson1951interpretation`.

# %%
course = np.linspace(0.2, 0.4, 6)
companion.exercises.check(
    "9.1", ((course, course), (course + 0.5, course - 3))
)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 9.2 Blind by construction
# :label: ex-9-2
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: know what $R^2$ is worth in a wide layer.
#
# Let the columns of $X \in \mathbb R^{n \times d}$ be centred, and let $X$ have rank $r \le n - 1$. Show that $R^2$ of
# the least-squares fit of $Y$ on $X$ (with an intercept) is 1 for every $Y$ if $r = n - 1$. Then let the entries of $Y$
# be independent standard normal, and independent of $X$: show that $R^2$ has expectation $r / (n - 1)$ in each column.
# What follows for a layer of 400 channels and 512 images?
# ```
#
# ```{admonition} Hint for 9.2
# :class: dropdown hint
#
# The fit is an orthogonal projection within the space of centred vectors, which has dimension $n - 1$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-9-2
# :class: dropdown
# ```
#
# Let $V$ be the centred vectors of $\mathbb R^n$, of dimension $n - 1$. A column of $Y$, centred, is some $y \in V$. The
# intercept fits the mean, so the fitted part of $y$ is $P y$, with $P$ the orthogonal projection onto the column space
# $U \subseteq V$ of $X$, and $R^2 = \lVert P y \rVert^2 / \lVert y \rVert^2$.
#
# If $r = n - 1$, then $U = V$, $P y = y$ and $R^2 = 1$, whatever $y$ is.
#
# For the second part, $y$ is a standard normal vector in $V$. In an orthonormal basis of $V$ whose first $r$ vectors span
# $U$ it has $n - 1$ independent standard normal coordinates $g_i$, and $R^2 = \sum_{i \le r} g_i^2 / \sum_{i \le n-1}
# g_i^2$. The $n - 1$ ratios $g_i^2 / \sum_j g_j^2$ have the same distribution and the sum 1, so each has expectation
# $1/(n - 1)$, and $R^2$ has $r/(n - 1)$.
#
# With 400 channels and 512 images pure noise has $R^2 = 400/511 = 0.78$: a high value says nothing about the activation.
#
# **Rubric** (6 points)
#
# * 2: the fit as a projection, with the intercept accounted for.
# * 1: full rank gives 1.
# * 2: the expectation, by symmetry or by the beta distribution.
# * 1: the number 0.78 and what it means.

# %% [markdown]
# ```{solution-end}
# ```
