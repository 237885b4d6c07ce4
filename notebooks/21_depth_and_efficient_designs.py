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
# # Deeper, and more efficient
#
# Two ways in which architectures grew after 2014: more layers, and designs that save parameters and operations. The paper
# says that depth changes little in VGGs and that efficient designs "shake" the signature: squeeze modules, inverted
# bottlenecks, channel shuffling, squeeze-and-excite (first version, section 4.1). On CIFAR-10 the mean score rises with
# the depth. Efficient designs do not stand out as a group: some of their parts shake a signature, for others we see nothing.
# Read {doc}`12_what_a_residual_connection_does` first.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
    )

# %% tags=["parameters", "hide-input"]
permutations: int = 2000  # of random permutations, where there are more
seed: int = 0  # of random permutations

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore.analysis import depth_trends, reference_ranges, shaking_test
from affscore.figures import raw_signature, score_ranges, table
from affscore.options import Specification
from affscore.papers.alexnet_to_transformers.efficient_designs import (
    places_in_blocks,
    shaking_of_networks,
)
from affscore.papers.all_results import AllResults
from affscore.papers.estimate import CHANCE, mean_of
from affscore.papers.ledger import Ledger
from affscore.papers.networks import network_table
from affscore.survey import stored_multiverses
from affscore.survey.studies import load_study, under
from IPython.display import Markdown
from scipy import stats

pd.set_option("display.max_colwidth", None)  # conclusions are sentences
words = list(Specification._fields)
measured = {
    one.metadata["model"]: one
    for one in stored_multiverses()
    if one.metadata["weights"] != "random"
}
study = pd.concat([one.table.assign(model=m) for m, one in measured.items()])
study = study.join(network_table(measured)[["name", "family"]], on="model")
later = ["ViTs", "Swins", "ConvNeXts"]  # transformers, and what followed them
study = study[
    ~study["family"].isin(later) & (study["reduction"] != "published")
]
choices = len(study.groupby(words))
real = ~study["model"].str.startswith("mini:")
cifar = study["model"].str.startswith("cifar_networks.py")

# %% [markdown]
# ## Depth
#
# The clearest material: plain and residual networks of one recipe {cite}`he2016deep` that differ in their depth alone,
# trained on CIFAR-10. Below them the small VGGs on digits {cite}`simonyan2015very`, which you can train again.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-21-depth", "caption": "Scores of networks of several depths. On CIFAR-10 the whole distribution moves towards 1 with the depth in plain networks; in residual ones mostly its upper end does. The VGGs on digits show no order (`affscore.figures.score_ranges`)."}, "image": {"alt": "A row for each of twelve networks, with the range of its scores, a bar over the middle nine tenths, and the median. From 20 to 56 layers the bars of plain networks move to the right; those of residual networks are wide, and their upper ends move to the right. Four VGGs have wide bars in no order."}}
GROUPS = {
    "plainnet": "CIFAR-10, plain",
    "resnet": "CIFAR-10, residual",
    "vgg": "digits, VGGs",
}
deep = under(study[cifar | study["name"].str.startswith("vgg")])
ranges = reference_ranges(deep, ["name"])
order = sorted(ranges.index, key=[*deep["name"].unique()].index)
groups = [
    next(group for start, group in GROUPS.items() if name.startswith(start))
    for name in order
]
score_ranges(ranges.loc[order], order, groups)
plt.show()


# %% [markdown]
# With the number of activations we compare the mean score, the spread (standard deviation) and the lowest score. Four
# networks of one kind have 24 orders, so that even a perfect rise has $p = 2/24 = 0.08$: alone they decide nothing. So we
# test kinds together: ranks within each kind, values permuted within each kind (`affscore.analysis.trend_within`).
#
# * **CIFAR-10**: plain and residual networks, four depths each, one training of each.
# * **Pairs on digits**: the plain and residual networks of chapter 12, five depths, three trainings of each; those of three
#   and of four stages are kinds of their own.
# * **Designs on digits**: VGGs, ResNets of basic and of bottleneck blocks, DenseNets; one training of each.


# %% tags=["hide-input"]
def with_kinds(rows, networks, **kinds):
    """The statistics of networks, with kinds by their names."""
    known = {name: kind for kind, names in kinds.items() for name in names}
    rows = rows.assign(kind=rows[networks].map(known)).dropna(subset="kind")
    scores = rows.groupby([*words, "kind", "weights"])["score"]
    found = scores.agg(["size", "count", "mean", "std", "min"]).reset_index()
    assert (found["size"] == found["count"]).all()  # none without a score
    return found.rename(columns={"size": "activations"})


def numbered(name, *depths):
    return [f"{name}{depth}" for depth in depths]


trained_once = study.assign(weights=study["model"])
material = {
    "CIFAR-10": with_kinds(
        trained_once[cifar],
        "name",
        plain=numbered("plainnet", 20, 32, 44, 56),
        residual=numbered("resnet", 20, 32, 44, 56),
    ),
    "pairs on digits": with_kinds(
        load_study("shortcuts"),
        "network",
        plain_in_three_stages=numbered("plain", 14, 20, 32),
        plain_in_four_stages=numbered("plain", 18, 34),
        residual_in_three_stages=numbered("residual", 14, 20, 32),
        residual_in_four_stages=numbered("residual", 18, 34),
    ),
    "designs on digits": with_kinds(
        trained_once[~real],
        "name",
        vggs=numbered("vgg", 11, 13, 16, 19),
        basic_blocks=numbered("resnet", 18, 34),
        bottlenecks=numbered("resnet", 50, 101, 152),
        densenets=numbered("densenet", 121, 161, 169, 201),
    ),
}
trends = pd.concat(
    {
        name: depth_trends(rows, permutations=permutations, seed=seed)
        for name, rows in material.items()
    }
)
STATISTICS = {"mean": "mean score", "std": "spread", "min": "lowest score"}
trends = trends.rename(STATISTICS, level=1)
table(
    trends,
    {
        "networks": "networks",
        "correlation": "rank correlation with depth",
        "p": "p",
        "rises": f"rises in, of {choices}",
        "falls": "falls in",
        "undecided": "undecided in",
    },
    digits={"correlation": 2, "p": 3},
)

# %% tags=["remove-input"]
on_cifar, pairs, designs = (
    trends.loc[(name, "mean score")] for name in material
)
means = under(material["CIFAR-10"]).pivot_table(
    index="kind", columns="activations", values="mean"
)
Markdown(
    f"**On CIFAR-10 the mean score rises with the depth under "
    f"{on_cifar['rises']:.0f} of {choices} specifications** (the largest p is "
    f"{on_cifar['largest_p']:.3f}), from {means.loc['plain'].iloc[0]:.2f} "
    f"to {means.loc['plain'].iloc[-1]:.2f} in plain networks and from "
    f"{means.loc['residual'].iloc[0]:.2f} to "
    f"{means.loc['residual'].iloc[-1]:.2f} in residual ones. In the pairs on "
    f"digits it rises under {pairs['rises']:.0f} and is undecided under "
    f"{pairs['undecided']:.0f}. Over the other designs on digits it is "
    f"undecided under {designs['undecided']:.0f}. Where the lowest score and "
    "the spread go is undecided under most."
)

# %% [markdown]
# ```{admonition} Depth is not all that changes
# :class: caution
#
# A deeper network of one recipe has more blocks in each stage, and no other layers. Among VGGs, ResNets and DenseNets widths
# and blocks differ as well. Deep plain networks are also trained less well ({doc}`12_what_a_residual_connection_does`).
# ```
#
# ## What shaking is
#
# The paper shows figures and has no number for it. Ours is the **step**: the mean absolute difference of scores at
# neighbouring depths (all pairs, where branches are parallel). A large spread makes large steps in any order, so beside it
# stands the **ratio** of the step to what it is when the scores are permuted over the activations: 1 for a random order,
# below 1 for a smooth course, above 1 for a zigzag (`affscore.analysis.shaking`).

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-21-shaken", "caption": "A smooth signature (PlainNet-20), two zigzags, by shortcuts (ResNet-20) and by squeeze modules (SqueezeNet 1.1), and one in no fixed order (MobileNetV2): neither place of its blocks is always the higher one (`affscore.figures.raw_signature`)."}, "image": {"alt": "Four signatures over the depth. PlainNet-20 moves slowly. ResNet-20 jumps between high scores after sums and low ones inside blocks. SqueezeNet 1.1 jumps between squeeze activations near 0.95 and expand activations down to 0.5. MobileNetV2 varies between 0.7 and 0.9 in no fixed order."}}
shown = {
    "cifar_networks.py:plainnet20": "PlainNet-20, CIFAR-10",
    "cifar_networks.py:resnet20": "ResNet-20, CIFAR-10",
    "squeezenet1_1": "SqueezeNet 1.1, photographs",
    "mobilenet_v2": "MobileNetV2, photographs",
}
raw_signature(
    [measured[name].signature() for name in shown],
    titles=list(shown.values()),
)
plt.show()


# %% tags=["hide-input"]
def course(rows):
    """Whether a signature is a zigzag or smooth, by a permutation test."""
    test = shaking_test(rows["score"], rows["depth"], permutations, seed)
    if test.two_sided >= CHANCE:
        return "undecided"
    return "zigzag" if test.p_value < 0.5 else "smooth"


def of_networks(rows):
    return shaking_of_networks(dict(list(rows.groupby("model", sort=False))))


every = study.groupby(words, sort=False).apply(of_networks)
every.index = every.index.set_names("model", level=-1)
every = every.reset_index()
courses = study[real].groupby(["model", *words])[["depth", "score"]]
courses = courses.apply(course).rename("course").reset_index()
COURSES = ["zigzag", "smooth", "undecided"]
counts = pd.crosstab(courses["model"], courses["course"])
counts = counts.reindex(columns=COURSES, fill_value=0)
shaken = under(every).set_index("model").join(counts, how="inner")
shaken.index = [name.rpartition(":")[2] for name in shaken.index]
table(
    shaken.sort_values("ratio"),
    {
        "activations": "activations",
        "step": "step",
        "ratio": "ratio",
        **{name: f"{name} in, of {choices}" for name in COURSES},
    },
)

# %% tags=["remove-input"]
squeeze = shaken[shaken.index.str.startswith("squeezenet")]
residual = shaken[shaken.index.str.startswith("resnet")]
plain = shaken[shaken.index.str.startswith("plainnet")]
mobile = shaken.loc["mobilenet_v2"]
Markdown(
    f"Both SqueezeNets are shaken on photographs: a step of "
    f"{squeeze['step'].min():.2f} to {squeeze['step'].max():.2f}, as in "
    f"residual networks ({residual['step'].min():.2f} to "
    f"{residual['step'].max():.2f}), and a zigzag under at least "
    f"{squeeze['zigzag'].min()} of {choices} specifications. MobileNetV2 has "
    f"a step of {mobile['step']:.2f}, above that of plain networks "
    f"({plain['step'].min():.2f} to {plain['step'].max():.2f}), but its "
    f"order is undecided under {mobile['undecided']}: it varies as a random "
    "order of the same scores would. These are three efficient networks, "
    "and the others saw other images: whether efficiency is the reason, "
    "they cannot tell."
)

# %% [markdown]
# ## Efficient against other designs
#
# On digits there are five efficient families, each trained in the same way as the others. Networks of a family are
# variants of one design, so families are compared. ResNets stand apart, as the paper says of them that they shake, too.
# In brackets: 95 % intervals over the networks of a family.

# %% tags=["hide-input"]
small = every[every["model"].str.startswith("mini:")].copy()
small.loc[small["family"] == "ResNets", "design"] = "residual"
small = small[small["design"] != ""]
families = under(small).groupby(["design", "family"])
shown = families.agg(networks=("step", "size"), ratio=("ratio", "mean"))
shown["step"] = [f"{mean_of(one):.2f}" for _, one in families["step"]]
table(
    shown.rename_axis([None, None]),
    {"networks": "networks", "step": "step", "ratio": "ratio"},
)


# %% tags=["remove-input"]
def gap(rows, others=("other",)):
    """The efficient families less the others, with exact p-values."""
    of = rows.groupby(["design", "family"])[["step", "ratio"]].mean()
    test = stats.permutation_test(
        (of.loc["efficient"].to_numpy(), of.loc[list(others)].to_numpy()),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
    )
    names = ["step", "ratio", "p of step", "p of ratio"]
    return pd.Series([*test.statistic, *test.pvalue], names)


gaps = small.groupby(words).apply(gap)
wider = small.groupby(words).apply(gap, others=("other", "residual"))
ours = under(gaps.reset_index()).iloc[0]
decided = (gaps[["p of step", "p of ratio"]] < CHANCE).sum()
also = (wider["p of step"] < CHANCE).sum()
steps_of_families = families["step"].mean()
ends = steps_of_families["efficient"].agg(["min", "max", "idxmin", "idxmax"])
least, most, least_of, most_of = ends
Markdown(
    "**Whether efficient families shake more is undecided.** Their step is "
    f"{ours['step']:+.3f} from that of AlexNet, VGGs, Inception and "
    f"DenseNets (exact permutation test over families, p = "
    f"{ours['p of step']:.2f}), their ratio {ours['ratio']:+.2f} (p = "
    f"{ours['p of ratio']:.2f}). Under {decided['p of step']} of {choices} "
    f"specifications the steps differ, under {decided['p of ratio']} the "
    f"ratios, and with ResNets among the others the steps under {also}. "
    "Efficient families differ among themselves, from a step of "
    f"{least:.2f} ({least_of}) to {most:.2f} ({most_of})."
)

# %% [markdown]
# ## Which part of a block shakes
#
# **Squeeze-and-excite.** EfficientNets have it, MobileNetV2 does not; both have inverted bottlenecks. Leave out the two
# activations of each squeeze-and-excite module, and measure the step of the rest:

# %% tags=["remove-input"]
gated = study[study["name"].str.startswith("efficientnet")]
rest = gated[~gated["kind"].isin(["squeeze", "gate"])]
steps = pd.DataFrame(
    {
        "whole": gated.groupby(words).apply(of_networks)["step"],
        "rest": rest.groupby(words).apply(of_networks)["step"],
    }
)
steps["fall"] = steps["whole"] - steps["rest"]
falls = [mean_of(one) for _, one in steps["fall"].groupby(words)]
sure = sum(one.above() is True for one in falls)
usual = under(steps.reset_index(words))
bare = steps_of_families["efficient"]
gates = under(gated).groupby("kind")["score"].mean()
Markdown(
    f"Over {len(usual)} EfficientNets the step falls from "
    f"{usual['whole'].mean():.3f} to {usual['rest'].mean():.3f} (by "
    f"{mean_of(usual['fall']):.3f}); MNASNets and MobileNetV2 have "
    f"{bare['MNASNets']:.3f} and {bare['MobileNets']:.3f}. The fall is above "
    f"zero under {sure} of {choices} specifications. Gates score {gates['gate']:.2f} on average, the "
    f"activations of the bottlenecks {gates['first']:.2f} and "
    f"{gates['second']:.2f}: what shakes is going from one kind of "
    "activation to another and back."
)

# %% [markdown]
# **Squeeze modules and inverted bottlenecks.** In each block we compare two activations; the unit is the block, of one
# network each, and the test a sign test over blocks.

# %% tags=["hide-input"]
with_places = study[study["name"].str.contains("squeezenet|mobilenet")]
found = with_places.groupby(words).apply(places_in_blocks)
mostly = 2 * found["higher"] > found["blocks"]
found["more"] = (found["p"] < CHANCE) & mostly
found["less"] = (found["p"] < CHANCE) & ~mostly
places = under(found.reset_index()).set_index(["model", "comparison"])
counts = found.groupby(["model", "comparison"])[["more", "less"]].sum()
places = places[["difference", "higher", "blocks", "p"]].join(counts)
table(
    places.rename_axis([None, None]),
    {
        "difference": "mean difference",
        "higher": "higher in",
        "blocks": "of blocks",
        "p": "p",
        "more": f"holds in, of {choices}",
        "less": "reversed in",
    },
    digits={"p": 3},
)

# %% tags=["remove-input"]
fire = places.loc[["squeezenet1_0", "squeezenet1_1"]]
depthwise = places.loc["mobilenet_v2"].iloc[0]
small_fire = places.loc[["mini:squeezenet1_0", "mini:squeezenet1_1"]]
small_fire = small_fire.xs("squeeze above expand 1x1", level=1)
Markdown(
    "On photographs the squeeze activation is the most linear of a module "
    f"and expand 3x3 the most non-linear: each comparison in "
    f"{fire['higher'].min():.0f} of {fire['blocks'].min():.0f} modules at "
    f"least, and under {fire['more'].min()} of {choices} specifications at "
    "least. On digits that squeeze is above expand 1x1 holds under "
    f"{small_fire['more'].max()} at most. Between the two places of "
    f"MobileNetV2 on photographs we detect no difference "
    f"({depthwise['higher']:.0f} of {depthwise['blocks']:.0f} blocks, p = "
    f"{depthwise['p']:.2f}; undecided under "
    f"{choices - depthwise['more'] - depthwise['less']:.0f})."
)

# %% [markdown]
# The number of channels does not explain the squeeze layers: too few images for many channels make a score too high
# ({doc}`10_batch_size_and_seed`), and squeeze layers have the fewest channels of their module.
#
# ## What the paper says, and what we see
#
# The columns are those of {doc}`80_the_ledger`.

# %% tags=["hide-input"]
conclusions = Ledger(AllResults.gather()).conclusions(
    "efficient-designs-shake",
    "squeeze-layers-linearise",
    "transitions-linearise",
    "deeper-approaches-one",
)
table(
    conclusions.set_index("tested on", append=True).rename_axis([None, None]),
    {"verdict": "verdict", "under other choices": "under other choices"},
)

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
Markdown(
    "* **On CIFAR-10 the mean score rises with the depth**, under "
    f"{on_cifar['rises']:.0f} of {choices} specifications "
    f"({on_cifar['networks']:.0f} plain and residual networks). On digits it "
    f"does under {pairs['rises']:.0f} ({pairs['networks']:.0f} networks of the "
    "same kinds), and over VGGs, ResNets and DenseNets under "
    f"{designs['rises']:.0f}.\n"
    "* **Whether efficient designs shake a signature more than others is "
    f"undecided**: p = {ours['p of step']:.2f} over "
    f"{len(steps_of_families.drop('residual'))} families on digits, and "
    f"significant under {decided['p of step']} of {choices} specifications.\n"
    "* **Parts of a block do shake it**: squeeze modules on photographs "
    f"(in {fire['higher'].min():.0f} of {fire['blocks'].min():.0f} modules "
    "at least), and squeeze-and-excite, without which the step of "
    f"EfficientNets falls from {usual['whole'].mean():.2f} to "
    f"{usual['rest'].mean():.2f}. Between expand and depthwise activations "
    "of MobileNetV2 on photographs no difference is seen."
)

# %% [markdown]
# ## Takeaways
#
# * Four networks that differ in depth decide nothing by themselves. Test several kinds together, each in its own ranks.
# * A large step may be a large spread. Compare it with the same scores in a random order.
# * Compare places in a block before you compare architectures: the units are many, and all else is the same.
#
# ## Exercises
#
# ```{exercise} 21.1 The same scores, shaken
# :label: ex-21-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: see that shaking is a property of the order.
#
# Make up two signatures of the same 10 to 200 scores in two orders, so that mean, spread and minimum agree: the first with
# a ratio of at most 0.3, the second with at least 1.5. Each activation has a depth of its own. Hand in `(smooth, shaken)`.
# ```
#
# ```{admonition} Hint for 21.1
# :class: dropdown hint
#
# `affscore.analysis.shaking(scores).ratio`. What is the largest step that each score can make?
# ```

# %%
answer = None  # your answer here: two arrays (smooth, shaken)
# affscore.exercises.check("21.1", answer)

# %% [markdown]
# ```{solution-start} ex-21-1
# :class: dropdown
# ```
#
# Two levels: first all scores of one, then all of the other; or one after the other in turn.

# %%
levels = [0.6, 0.9]
affscore.exercises.check("21.1", (np.repeat(levels, 10), np.tile(levels, 10)))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 21.2 How many depths
# :label: ex-21-2
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: plan a study that can decide before you train it.
#
# A statistic rises from each depth to the next, without exception. How many depths of one kind of network do you need for a
# two-sided $p < 0.05$ of the exact test? And with three depths of each kind, how many kinds, tested together as here? Hand
# in `(depths, kinds)`, the smallest numbers.
# ```
#
# ```{admonition} Hint for 21.2
# :class: dropdown hint
#
# Count the orders within kinds. How many of them are as extreme as the one you have, on either side?
# ```

# %%
answer = None  # your answer here: (depths, kinds)
# affscore.exercises.check("21.2", answer)

# %% [markdown]
# ```{solution-start} ex-21-2
# :class: dropdown
# ```
#
# $k$ depths have $k!$ orders, and $m$ kinds of three have $6^m$. A perfect rise is one of them, and its mirror image as
# extreme: $p = 2 / k!$ and $2 / 6^m$. $2/24 = 0.08$ and $2/120 = 0.017$; $2/36 = 0.056$ and $2/216 = 0.009$.

# %%
affscore.exercises.check("21.2", (5, 3))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 21.3 A pattern found by looking
# :label: ex-21-3
# :nonumber:
#
# *Design · 25 minutes · medium.* Aim: turn a pattern that you saw into a test that can fail.
#
# In {numref}`fig-21-shaken` the depthwise activations of MobileNetV2 with stride 2 (blocks 2, 4, 7 and 14 of 16 that have
# both activations) score 0.90 on average, the others 0.80; a permutation test over blocks gives $p = 0.004$ under the
# papers' choice, and $p = 0.08$ with a sampled position in place of the mean. Somebody concludes that subsampling
# linearises. Design the study that could show it: say what is wrong with the conclusion, what you would measure, on which
# networks, with which unit and test, and which result would refute it.
# ```
#
# ```{admonition} Hint for 21.3
# :class: dropdown hint
#
# Where did the hypothesis come from? What else is different in a block with stride 2?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-21-3
# :class: dropdown
# ```
#
# **What is wrong.** The pattern was found in the same 16 blocks of one network that test it, so the p-value does not
# count how many patterns were looked for. Blocks with stride 2 also begin a stage: their input has no shortcut around it,
# and the number of channels and the map size change. And the result depends on the reduction: an average over a quarter of the
# positions is another average.
#
# **A study.** Before measuring: the claim (with stride 2 the depthwise score is higher), the specification (the papers'
# and a sampled position, both must agree) and the size that matters, say 0.05. Networks that were not looked at: MNASNets and
# EfficientNets without the activations of their gates; better, pairs of one network trained with the stride in the depthwise
# layer, and with the stride moved to a pooling layer before or behind the block, from five seeds each. The unit is the
# training, not the block: per training the mean difference of the blocks concerned, Student's interval over
# seeds. A block that begins a stage without stride is the control for the shortcut.
#
# **Refuted** if the interval lies below 0.05 in the pairs, or if blocks that begin a stage without stride are as high.
#
# **Rubric** (6 points)
#
# * 2: the hypothesis comes from the data that test it, and stride goes with the beginning of a stage.
# * 1: other networks, or pairs that differ in the stride alone.
# * 1: a unit that is independent (network or training), and a test or interval over it.
# * 1: the specification is fixed before, or more than one must agree.
# * 1: a result that would refute the claim.

# %% [markdown]
# ```{solution-end}
# ```
