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
# # What a residual connection does
#
# A residual block adds its input to what its layers computed. The paper looks at ResNet-20 with and without these
# connections (figure 5 D) and sees that they make the distribution of the scores **bimodal**, with one mode at highly
# linear activations. This chapter asks the same of nineteen pairs of networks that differ in nothing else but what follows
# from it: the deep ones are trained less well without shortcuts.

# %% tags=["parameters"]
residual: list[str] = []  # with shortcuts, MODEL@WEIGHTS; none: the study's
plain: list[str] = []  # without, in this order; two activations a block
dataset: str = "digits"  # for networks of your own: digits, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
resamples: int = 99  # of Silverman's test; 19 at least, to reject at 5 %
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore import AffscoreError
from affscore.figures import score_histograms
from affscore.options import Specification
from affscore.papers.alexnet_to_transformers.figure_05_d import (
    FIRST,
    SECOND,
    groups_of_scores,
)
from affscore.survey import load_or_measure_multiverses, stored_multiverses
from affscore.survey.studies import load_study, study_of, under
from IPython.display import Markdown

if len(residual) != len(plain):
    raise AffscoreError(
        f"each network needs its twin: got {len(residual)} residual and {len(plain)} plain networks"
    )
if residual:
    options = {
        "n": n,
        "images": images or None,
        "jobs": jobs,
        "device": device,
        "seed": seed,
        "progress": False,
    }
    measured = load_or_measure_multiverses(
        [*residual, *plain], dataset, store, **options
    )
    parts = [
        study_of([one]).assign(weights=name) for name, one in measured.items()
    ]  # two files may have one name
    study = pd.concat(parts).assign(on=dataset)
else:
    on_cifar = [
        one
        for one in stored_multiverses()
        if one.metadata["model"].startswith("cifar_networks.py")
    ]
    study = pd.concat(
        [
            load_study("shortcuts").assign(on="digits"),
            study_of(on_cifar).assign(on="CIFAR-10"),
        ]
    )
groups = groups_of_scores(study, resamples).merge(
    study[["weights", "on", "accuracy"]].drop_duplicates(), on="weights"
)
groups["depth"] = groups["activations"] + 1  # layers with weights
groups["network"] = groups["shortcuts"].map(
    {False: "plain", True: "residual"}
)
mine = under(
    groups
)  # the papers' own choice of reduction, order, covariance and coupling
print(
    f"{mine['shortcuts'].sum()} residual networks and {(~mine['shortcuts']).sum()} plain ones"
)

# %% tags=["remove-input"]
with_it, without = (
    mine[mine["network"] == name] for name in ("residual", "plain")
)
Markdown(
    f"**The finding.** With shortcuts a score after a sum is above one inside a block in "
    f"**{with_it['separation'].mean():.0%}** of all cases (at least {with_it['separation'].min():.0%} in every network); "
    f"without them the second activation of a block is above the first in {without['separation'].mean():.0%}; 50 % is "
    f"chance. Tests that do not know which score belongs to which activation see less: one mode is rejected for {(with_it['one mode'] < 0.05).sum()} of "
    f"{len(with_it)} residual networks, one Gaussian for {(with_it['one Gaussian'] < 0.05).sum()}, and for "
    f"{(without['one Gaussian'] < 0.05).sum()} of {len(without)} plain ones. Whether two *modes* are seen depends on the "
    "order: on the reading of the definition (average, then activate) more than on the network."
)

# %% [markdown]
# You will learn
#
# * how to compare networks that differ in one thing alone,
# * why *bimodal* is a claim about a density, and *two groups* is another one,
# * what is left of both under all choices of a measurement.
#
# ## The pairs
#
# A plain network is its residual twin without the additions: the same layers, the same number of weights, the same
# initial values, the same training. Shortcuts here have no weights; where a block has more channels than its input,
# zeros stand for the others (`examples/matched_networks.py`, `examples/cifar_networks.py`).
#
# * **On digits:** 14, 20 and 32 layers in three stages, as He et al. {cite}`he2016deep` have them for CIFAR-10, and 18
#   and 34 layers in four stages, as they have them for ImageNet (with fewer channels); each from three seeds.
# * **On CIFAR-10:** 20, 32, 44 and 56 layers, trained once, measured on the 10,000 test images.

# %% tags=["hide-input"]
about = mine.assign(accuracy=(100 * mine["accuracy"]).round(1)).groupby(
    ["on", "depth", "network"], sort=False
)
table = about.agg(
    trainings=("weights", "size"), accuracy=("accuracy", "mean")
).reset_index()
table.pivot_table(
    index=["on", "depth"], columns="network", values=["trainings", "accuracy"]
).round(1)

# %% tags=["remove-input"]
as_good = table.set_index(["on", "depth", "network"])["accuracy"].unstack()  # noqa: PD010 - a value for each
as_good = as_good.index[(as_good["residual"] - as_good["plain"]).abs() < 2]
alike = (
    mine.set_index(["on", "depth"])
    .loc[as_good]
    .groupby("network")["separation"]
)
Markdown(
    "A failed training is no twin. Where the accuracies of both differ by less than 2 points "
    f"({', '.join(f'{depth} layers on {on}' for on, depth in as_good)}), the shares are "
    f"{alike.mean()['residual']:.0%} with shortcuts and {alike.mean()['plain']:.0%} without."
    if len(as_good)
    else ""
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-twins", "caption": "Scores of networks without (left) and with shortcuts (right). Only with them do the two activations of a block part: after the sum the scores are higher (figure 5 D of the paper; `affscore.figures.score_histograms`)."}, "image": {"alt": "Six histograms of affinity scores, a row for each pair of networks. Left, without shortcuts, the bars of both activations of a block overlap. Right, with shortcuts, those after a sum lie near one and those inside a block far below."}}
default = under(study)


def kinds_of(weights):
    scores = default[default["weights"] == weights]
    last = (
        "after a sum"
        if (scores["kind"] == "after-sum").any()
        else "second of a block"
    )
    parts = {
        "first of a block": scores["kind"].isin(FIRST),
        last: scores["kind"].isin(SECOND),
    }
    return {
        name: scores.loc[rows, "score"].dropna()
        for name, rows in parts.items()
    }


shown = [("digits", 18), ("digits", 34), ("CIFAR-10", 56)]
panels = {}
for on, depth in (
    shown
    if not residual
    else [(dataset, depth) for depth in mine["depth"].unique()[:3]]
):
    some = (
        mine[(mine["on"] == on) & (mine["depth"] == depth)]
        .drop_duplicates("network")
        .sort_values("network")
    )
    panels |= {
        f"{one.network}, {depth} layers, {on}": kinds_of(one.weights)
        for one in some.itertuples()
    }
score_histograms(panels)
plt.show()

# %% [markdown]
# ## One group or two, without looking at the activations
#
# Two tests ask whether the scores of a network are of one group. They know the scores alone, and not which activation
# has which.
#
# * **One mode?** Silverman's test {cite}`silverman1981using` smooths the scores until their density has one mode, and
#   asks how often a sample from that density would need as much smoothing. It is conservative.
# * **One Gaussian, or two?** The likelihood ratio of two Gaussians against one, compared with that of samples from one
#   Gaussian {cite}`mclachlan1987bootstrapping`. It sees two groups that are too near each other for two modes, and it also
#   rejects a single group that is skewed.
#
# Each cell counts the networks for which the test rejects at 5 %, of the trainings there are:

# %% tags=["hide-input"]
TESTS = ["one mode", "one Gaussian"]
counted = mine.assign(**{test: mine[test] < 0.05 for test in TESTS})
counted.pivot_table(
    index=["on", "depth"], columns="network", values=TESTS, aggfunc="sum"
)

# %% tags=["remove-input"]
deep = mine[mine["depth"] > 30]
Markdown(
    "With few layers both tests are weak: 13 scores in two groups look like one wide group. "
    f"With more than 30 layers, one Gaussian is rejected for {(deep.loc[deep['shortcuts'], 'one Gaussian'] < 0.05).sum()} of "
    f"{deep['shortcuts'].sum()} residual networks, and for "
    f"{(deep.loc[~deep['shortcuts'], 'one Gaussian'] < 0.05).sum()} of {(~deep['shortcuts']).sum()} plain ones."
)

# %% [markdown]
# The same for every specification of the multiverse ({doc}`09_a_multiverse_of_signatures`): the share of networks for
# which a test rejects, over all pairs.

# %% tags=["hide-input"]
words = [word for word in Specification._fields if len(set(groups[word])) > 1]
shares = groups.assign(**{test: groups[test] < 0.05 for test in TESTS})
shares.pivot_table(
    index=words, columns="network", values=TESTS, sort=False
).round(2)

# %% [markdown]
# The choices matter. When averages come before the activation, as the definition in the paper has it, or a single position
# stands for an image, Silverman's test sees two modes in most residual networks, and in fewer plain ones. In the order of the
# published code, which made figure 5, it sees them in few.
#
# ## Are the two groups the two activations?
#
# This question needs no test of modes, since we know which score belongs to which activation:
#
# * **separation**: how often a score after a sum exceeds one inside a block (without shortcuts: the second activation of
#   a block exceeds the first); 0.5 is chance;
# * **agreement**: fit two Gaussians without looking, and compare their two groups with the two activations by the
#   adjusted Rand index {cite}`hubert1985comparing`, 1 for the same groups and 0 for chance;
# * **within each kind**: is one Gaussian rejected for the first activations alone, for the second ones alone?

# %% tags=["hide-input"]
by_depth = mine.assign(
    **{
        "one Gaussian, first": mine["first"] < 0.05,
        "one Gaussian, second": mine["second"] < 0.05,
    }
)
columns = [
    "separation",
    "agreement",
    "one Gaussian, first",
    "one Gaussian, second",
]
by_depth.groupby(["network", "on", "depth"])[columns].mean().round(2)

# %% tags=["remove-input"]
every = groups.groupby("shortcuts")["separation"]
lowest, highest = (
    groups.loc[groups["shortcuts"], "separation"].min(),
    groups.loc[~groups["shortcuts"], "separation"].max(),
)
Markdown(
    f"With shortcuts the separation hardly depends on the depth or on a choice: over all networks and specifications it is "
    f"{every.mean()[True]:.2f} (lowest {lowest:.2f}). Without, it is {every.mean()[False]:.2f} (from {every.min()[False]:.2f} "
    f"to {highest:.2f}). The agreement is {with_it['agreement'].mean():.2f} on average with shortcuts and "
    f"{without['agreement'].mean():.2f} without. It is below 1 because scores within a kind also change with depth: one "
    f"Gaussian is rejected for {(with_it['second'] < 0.05).mean():.0%} of the residual networks among the activations "
    "after sums alone."
)

# %% [markdown]
# So a shortcut does what the paper says of it, in other words: the sum of a feature map and a small change is
# mostly positive where the feature map was, since that came out of a ReLU. There the next ReLU has little to do, and its
# score is near 1. Exercise 12.1 makes this exact for one coordinate.
#
# *Bimodal* is the weaker way to say it. Whether a density has two modes depends on how wide both groups are, and
# on the number of scores; that the groups are apart does not.
#
# ## What holds, and under which choices
#
# The columns are those of {doc}`80_the_ledger`.

# %% tags=["hide-input"]
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger

Ledger(AllResults.gather()).conclusions(
    "shortcuts-make-two-modes",
    "shortcuts-make-two-components",
    "groups-are-kinds",
    "after-sums-more-linear",
    "one-mode-is-linear",
)

# %% [markdown]
# ## Takeaways
#
# * With shortcuts nearly every score after a sum is above nearly every one inside a block: for every pair, at every depth,
#   under every choice. Without them neither activation of a block is regularly above the other.
# * Whether that makes the distribution bimodal is another question. It depends on the depth, since that is the number of
#   scores, and on how wide both groups are.
# * To see what a component does, compare networks that differ in nothing else, and look at what you know of the
#   activations before you look for groups.
#
# ## Exercises
#
# ```{exercise} 12.1 A large change
# :label: ex-12-1
# :nonumber:
#
# One coordinate of a block: its input $x$ came out of a ReLU, so that it is never negative and a fifth of it at least is 0.
# Make up a change $f$ that is negative for at least a fifth of the samples, and varies at least half as much as $x$, such
# that a ReLU of $x + f$ scores at least 0.98. Hand in `(x, f)`, two arrays of 64 to 2000 numbers.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("12.1", answer)

# %% [markdown]
# ```{solution-start} ex-12-1
# :class: dropdown
# ```
#
# A change may fall as far as the input is high: the sum stays positive, and the ReLU leaves it alone.

# %%
x = np.maximum(np.random.default_rng(0).standard_normal(500), 0)
affscore.exercises.check("12.1", (x, np.where(x > 0.5, -0.9 * x, 1.0)))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 12.2 Two groups, one mode
# :label: ex-12-2
# :nonumber:
#
# Make up scores of two groups, 10 to 200 in each and as many in one as in the other, such that a score of the second
# exceeds one of the first in at least 95 % of all cases, and Silverman's test does not reject one mode ($p > 0.2$). Hand in
# `(first, second)`.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("12.2", answer)

# %% [markdown]
# ```{solution-start} ex-12-2
# :class: dropdown
# ```
#
# Cut one group in the middle.

# %%
scores = np.linspace(0.2, 0.9, 40)
affscore.exercises.check("12.2", (scores[:20], scores[20:]))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 12.3 Two modes, not the groups
# :label: ex-12-3
# :nonumber:
#
# The other way round: scores of two groups that are not apart at all (one exceeds the other in 40 to 60 % of all
# cases), while Silverman's test rejects one mode of all scores together ($p < 0.05$). Hand in `(first, second)`.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("12.3", answer)

# %% [markdown]
# ```{solution-start} ex-12-3
# :class: dropdown
# ```
#
# Let each group have two modes itself, as where the early blocks of a network differ from the late ones.

# %%
generator = np.random.default_rng(0)
first, second = (
    np.concatenate(
        [generator.normal(level, 0.02, 15) for level in (0.3, 0.8)]
    )
    for _ in range(2)
)
affscore.exercises.check("12.3", (first, second))

# %% [markdown]
# ```{solution-end}
# ```
