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
# # A signature for every architecture
#
# *Do networks of one design have similar signatures?* The paper clusters 36 networks by their signatures, and finds the
# families: VGGs beside VGGs, ResNets beside ResNets (paper Fig. 5 A).
#
# :::{admonition} What we found
# :class: findings
# **On CIFAR-10 the nearest signature mostly belongs to the same family**: for {glue:text}`CIFAR-10-signature` of
# {glue:text}`CIFAR-10-kin` networks. The nearest number of activations does for only {glue:text}`CIFAR-10-length`.
# {bdg-warning}`depends`
#
# **On photographs the signature is not shown to tell more than that number**: it finds the family of
# {glue:text}`photographs-signature` of {glue:text}`photographs-kin` networks; the number, of {glue:text}`photographs-length`.
# {bdg-secondary}`open`
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
import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from affscore import load_results
from affscore.comparison import distance_matrix
from affscore.options import DEFAULT
from companion.clustering import nearest_neighbour_accuracy
from companion.figures import dendrogram, forest
from companion.networks import network_table, study_models
from companion.real_networks import real_multiverses, real_scores
from companion.shipped import RESULTS
from companion.studies import load_study, under
from companion.studies.interventions import judged, outcomes
from companion.style import say, table

# %% [markdown]
# ## How far apart are two signatures?
#
# Networks differ in depth, so their signatures differ in length and cannot be subtracted. **Dynamic time warping**
# (DTW) {cite}`sakoe1978dynamic` lines them up first: both are read side by side, and either may wait for the other. The
# distance is what then still differs. From these distances we build a tree: the further left two branches meet, the
# less alike they are.


# %%
def compared(rows):  # signatures, their distances, and the families
    networks = rows.dropna(subset="score").groupby("network", sort=False)
    signatures = networks["score"].agg(lambda some: some.to_numpy())
    distances = distance_matrix(dict(signatures))
    return signatures, distances, networks["family"].first()


# %% mystnb={"figure": {"name": "fig-clustering", "caption": "Relatives stand together, but for ResNet-20. Twelve networks trained on CIFAR-10, clustered by their signatures on JPEG copies of test images."}, "image": {"width": "540px", "alt": "A dendrogram that grows from right to left, a network in each row with the colour and marker of its family, and beside it its signature as a line. The four plain networks form one branch, the two SimpNets another, and the residual networks of 32 to 56 layers join last."}}
def clustered(rows):
    lines, distances, family = compared(rows)
    tree = linkage(squareform(distances), "average")
    return dendrogram(tree, family.index, [*family], signatures=dict(lines))


cifar = real_scores("CIFAR-10")
clustered(cifar)

# %% tags=["remove-cell"]
say(compared(cifar)[1].loc[["plain-20"], ["plain-56", "ResNet-20"]])

# %% [markdown]
# **The plain network of 20 layers is nearer to that of 56 (distance {glue:text}`plain-20-plain-56`) than to its
# residual twin ({glue:text}`plain-20-ResNet-20`)**, which differs in its shortcuts alone. Shortcuts make the scores
# jump, but 36 layers more mostly stretch the line.
#
# ```{admonition} The distance as a formula, and two warnings
# :class: dropdown
#
# A path $\pi$ leads from the first scores of $a$ and $b$ to their last, and each step advances in one of them or in
# both:
#
# $$
# D(a, b) = \min_{\pi} \sqrt{\sum_{(i, j) \in \pi} (a_i - b_j)^2} .
# $$
#
# A repeated score costs nothing, so a network whose blocks all look alike is close to a deeper one with the same
# blocks. But the triangle inequality fails, and long signatures are far from everything else, as nothing is divided by
# the length.
# ```
#
# ## Is the nearest signature a relative's?
#
# Clustering yields a tree of anything. So we count: for how many networks is the nearest signature that of a
# *relative*, a network of the same family? Relatives of equal depth could be found without any score. So we count the
# same for the nearest *length*, the number of activations.


# %%
def near_relatives(distances, family):  # for how many networks
    away = np.where(np.eye(len(family)), np.inf, distances)
    nearest = family.to_numpy()[away.argmin(axis=1)]
    return (nearest == family)[family.duplicated(keep=False)].sum()


def by_both(rows):
    signatures, distances, family = compared(rows)
    sizes = signatures.map(len).to_numpy()
    by_length = near_relatives(abs(sizes[:, None] - sizes), family)
    kin = family.duplicated(keep=False).sum()
    return [kin, near_relatives(distances, family), by_length]


photographs = real_scores("photographs")
found = {"CIFAR-10": by_both(cifar), "photographs": by_both(photographs)}
found = pd.DataFrame(found, ["kin", "signature", "length"]).T
headings = {"kin": "networks with a relative"}
headings |= {"signature": "found by signature", "length": "found by length"}
table(found, headings)

# %% tags=["remove-cell"]
say(found, "{}")

# %% [markdown]
# **On CIFAR-10 the signature finds a relative for {glue:text}`CIFAR-10-signature` of {glue:text}`CIFAR-10-kin`
# networks, the length for {glue:text}`CIFAR-10-length`**: members of a family differ in depth, and each plain network
# has a residual twin of the same length. Plain and residual networks share a source of weights, so what tells them
# apart is not the source. Between other families it may be.
#
# **On photographs the signature is not shown to tell more than the length.** Most relatives there are widths of one
# design and have the same length.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? The same under every choice of the measure", "code_prompt_hide": "How sure? The same under every choice of the measure"}
# Least and greatest share over twelve choices of the measure; p is the share
# of shuffled families in which as many are found.
words = ["reduction", "order", "covariance", "coupling"]
sure = {}
for name in found.index:
    choices = [rows for _, rows in real_multiverses(name).groupby(words)]
    tests = [nearest_neighbour_accuracy(*compared(c)[1:]) for c in choices]
    sure[name] = pd.DataFrame(tests).agg(["min", "max"])
shown = {"value": "found by signature (%)", "p_value": "p"}
table(pd.concat(sure), shown, digits={"value": 0, "p_value": 4})

# %% [markdown]
# ## Aside: Which part of a design lowers the score?
#
# **In small vision transformers the score falls if attention is taken away, so that each token sees only itself.**
# {bdg-warning}`depends` Whether shortcuts and small
# filters change it is not decided. {bdg-secondary}`open`
#
# The paper calls attention "a focusing lens": if it brings the data to where GELU is most non-linear, scores rise
# without it. We changed one part at a time, in five small designs each, trained on digits. The first row of the figure
# has attention to itself only.

# %% mystnb={"figure": {"name": "fig-08-interventions", "caption": "Only the first difference stands once all comparisons are judged at once. Mean score with what the row names less that without it, over five designs, with 95 % intervals for each row alone; grey: too small to matter, by a margin fixed before the run."}, "image": {"width": "432px", "alt": "Rows with a point and its interval each, over a grey band for the margin of equivalence around zero; both changes of attention lie left of it, the activations after a sum right."}}
studied = ["attention", "shortcut-strength", "filters"]
rows = ["attention to itself only", "uniform attention"]
rows += [f"shortcuts: {x}" for x in ("inside a block", "after a sum", "all")]
rows += ["small filters: same field", "small filters: same depth"]
causes = judged(*studied).set_axis(rows)
figure = forest(causes, "difference of scores")
figure.set_figwidth(3.6)
figure

# %% [markdown]
# Instead scores fall: GELU's inputs spread wider and lie lower.


# %%
shown = {"score": "mean score", "gelu_mean": "mean of GELU's inputs"}
shown |= {"gelu_std": "their deviation"}
levels = outcomes(under(load_study("attention")))
levels = levels.groupby("level")[[*shown]].mean().iloc[[1, 0]]
levels.index = ["usual", "to itself only"]
table(levels.rename_axis("attention"), shown)

# %% [markdown]
# These are small transformers on digits, which need no attention, and other reductions leave at most a third of the
# effect.
#
# ```{admonition} The other rows of the figure
# :class: dropdown
#
# *Uniform attention* averages all tokens evenly. The paper also says that shortcuts make two groups, and that VGG's
# small filters lower the score. Small filters have 3 x 3 pixels, large ones 7 x 7. Six layers of small ones see the
# *same field* of 13 x 13 pixels as two of large ones; two have the *same depth*.
#
# Two more intervals exclude 0, but not once all thirteen comparisons of this page and of
# {doc}`17_training_for_non_linearity` are judged at once.
# ```

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Holm's p, and other reductions", "code_prompt_hide": "How sure? Holm's p, and other reductions"}
# p is corrected for all comparisons: an effect stands below 0.05. Differences
# with 95 % intervals, for three reductions.
sure = causes[["holm"]].rename(columns={"holm": "p"}).rename_axis(None)
choices = {"average after": {}, "one position": {"reduction": "sample"}}
choices["average before"] = {"order": "reduce-first"}
for name, choice in choices.items():
    row = judged(*studied, specification=DEFAULT._replace(**choice))
    half = row["high"] - row["difference"]
    ends = zip(row["difference"], half, strict=True)
    sure[name] = [f"{one:.2f}\u00a0±\u00a0{more:.2f}" for one, more in ends]
table(sure, digits=3)

# %% [markdown]
# ## Aside: Photographs as a tree
#
# Most widths of one design stand together; ResNet-18 and ResNet-50 do not.

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Drawn with networks of your own", "code_prompt_hide": "Drawn with networks of your own", "figure": {"name": "fig-photographs", "caption": "Fourteen ImageNet networks, clustered by their signatures. Most weights quantised; 512 photographs of ImageNet's training set."}, "image": {"width": "540px", "alt": "A dendrogram of fourteen networks with their signatures. The EfficientNet-Lites, the MobileNetV1s, two narrow MobileNetV2s and the SqueezeNets are pairs or branches; the two ResNets join different branches."}}
if models:
    from affscore.survey import load_or_measure

    options = {"n": n, "images": images or None, "seed": seed, "jobs": jobs}
    options |= {"device": device, "progress": False}
    results = load_or_measure(models, dataset, store, **options)
    yours = {k: one.summary for k, one in results.items()}
    mine = pd.concat(yours, names=["network"]).reset_index(level=0)
    mine["family"] = mine["network"].map(network_table(models)["family"])
    photographs = pd.concat([photographs, mine])
clustered(photographs)

# %% [markdown]
# ## Aside: Before training, and in small
#
# **Families differ before any training**, by the order of layers and the distribution of first weights. The untrained
# networks are the paper's at full size, with random weights, on noise; the {term}`mini zoo` was trained on digits.

# %%
rows = load_results(RESULTS).query("reduction == 'mean'")
rows = rows[rows["order"] == "activate-first"].assign(network=rows["model"])
untrained = rows[(rows["dataset"] == "random") & (rows["batch"] == 0)]
mini = rows["model"].isin(study_models()) & (rows["weights"] != "random")
more = {"untrained": untrained, "mini zoo": rows[mini & (rows["batch"] == 0)]}
for name, some in more.items():
    kin = network_table(some["model"].unique())["family"]
    found.loc[name] = by_both(some.assign(family=some["model"].map(kin)))
table(found.loc[[*more]], headings)

# %% [markdown]
# ## Exercises
#
# ```{exercise} 8.1 Warp it yourself
# :label: ex-8-1
# :nonumber:
#
# *Change code · 20 minutes · medium.* Aim: dynamic programming over two signatures.
#
# Write the DTW distance as a function `distance(a, b)` of two NumPy arrays, without a library for it. Hand in the
# function.
# ```
#
# ```{admonition} Hint for 8.1
# :class: dropdown hint
#
# Fill a table: the cheapest way to stand at $(i, j)$ comes from one of three places.
# ```

# %%
answer = None  # your answer here: a function distance(a, b)
# companion.exercises.check("8.1", answer)

# %% [markdown]
# ```{solution-start} ex-8-1
# :class: dropdown
# ```
#
# The cheapest way to stand at $(i, j)$ comes from one of three neighbours: dynamic programming.


# %%
def distance(a, b):
    price = np.full((len(a) + 1, len(b) + 1), np.inf)
    price[0, 0] = 0
    for i in range(len(a)):
        for j in range(len(b)):
            before = min(price[i, j], price[i, j + 1], price[i + 1, j])
            price[i + 1, j + 1] = (a[i] - b[j]) ** 2 + before
    return np.sqrt(price[-1, -1])


companion.exercises.check("8.1", distance)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 8.2 Not a metric
# :label: ex-8-2
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: know which laws of a distance hold for the DTW distance.
#
# Prove that $D(a, b) = D(b, a)$; that $D(a, b) = 0$ exactly when $a$ and $b$ become the same sequence once each run of
# equal scores is shortened to one; and find three signatures with scores in $[0, 1]$ that violate the triangle
# inequality.
# ```
#
# ```{admonition} Hint for 8.2
# :class: dropdown hint
#
# For the last part take a signature of one score, and stretch the end of another one, which costs nothing.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-8-2
# :class: dropdown
# ```
#
# *Symmetry.* Swap the two entries of every pair of a path $\pi$ between $a$ and $b$: that is a path between $b$ and
# $a$ of the same cost, and every path arises so. The minima agree.
#
# *Zero.* If $D(a, b) = 0$, some path has $a_i = b_j$ at each of its pairs. Read the common score along the path and
# shorten its runs. A step moves to the next place or stays, in $a$ and in $b$, so the sequence that is read is $a$ with
# some scores repeated, and also $b$ with some repeated; all three have the same shortened sequence. Conversely, let
# both shorten to $c$. Walk through the runs of $c$ one after the other: within a run all scores are equal, so any path
# through it is free, and the step to the next run advances in both. The cost is 0.
#
# *Triangle.* Let $a = (0)$, $b = (0, 1)$ and $c = (0, 1, 1, 1, 1)$. Then $D(b, c) = 0$ and $D(a, b) = 1$, but every
# score of $c$ is paired with 0, so $D(a, c) = \sqrt 4 = 2 > 1 + 0$.
#
# **Rubric** (6 points)
#
# * 1: symmetry by reversing paths.
# * 2: zero distance implies the same shortened sequence, using that a step advances by at most one.
# * 1: the converse.
# * 2: a counterexample with all three distances computed.

# %% [markdown]
# ```{solution-end}
# ```
