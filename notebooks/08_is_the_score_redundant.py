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
# Activations were compared with their inputs long before the affinity score. If one of the older criteria always
# moved with the score, optimal transport would be unnecessary. Tables 1 and 2 of the paper {cite}`bouniot2025alexnet`
# correlate five of them with the score, network by network, and find none that does. This chapter computes both
# tables for other networks, adds an interval to each correlation, and combines all five. You will learn
#
# * what the five criteria measure,
# * how much a correlation over a dozen activations is worth,
# * which criteria follow the score in one family and run against it in another, and which do not.

# %% tags=["parameters"]
models: list[str] = []  # with or without @WEIGHTS; none: 36 of the mini zoo
dataset: str = "digits"  # digits, cifar10, imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
device: str = "auto"  # cpu, cuda or auto
level: float = 0.95  # of the intervals
seed: int = 0  # of random weights and of the choice of images

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% [markdown]
# ## Five criteria
#
# All five use the same pair as the score: the reduced inputs $X$ and outputs $Y$ of an activation, $n$ samples with
# $d$ coordinates each.
#
# | criterion | what it is | it does not see |
# |---|---|---|
# | linear CKA {cite}`kornblith2019similarity` | how alike the distances between the points are before and after, in $[0, 1]$ | rotations and scalings of either |
# | norm | $\lVert X - Y\rVert_F$ | whether the difference is affine |
# | sparsity | the share of entries next to zero, after minus before | anything but zeros |
# | entropy | of the values of a point, after minus before | which coordinate has which value |
# | $R^2$ | of the least-squares fit of $Y$ on $X$ | anything, where $d \ge n$: then it is 1 |
#
# The paper does not say in which direction it takes the changes of sparsity and entropy. Here it is after minus
# before, so a ReLU that makes zeros has a positive change of sparsity; the other direction flips the signs. Precise
# definitions are in {doc}`../book/definitions`.
#
# By default the networks are those of the **mini zoo**: small members of the families, trained on 8 x 8 digits. They
# give an **analogue** of the paper's tables. Printed numbers stand in columns of their own; they belong to the real
# networks on ImageNet, and no number of ours confirms or refutes them.

# %%
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore.analysis import (
    CRITERIA_OF_TABLE_1,
    correlations_by_kind,
    criterion_correlations,
    criterion_values,
    explained_by_all,
    family_correlations,
    sign_counts,
    strength_counts,
)
from affscore.figures import criterion_dots, criterion_scatter
from affscore.papers import (
    network_table,
    printed_correlations,
    printed_table,
    short_name,
    short_names,
    study_models,
    table_1_again,
    table_1_families,
)
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey import load_or_measure
from affscore.survey.shipped import shipped_signature
from IPython.display import Markdown, display

pd.set_option("display.max_colwidth", 200)  # notes are sentences
criteria = list(CRITERIA_OF_TABLE_1)
networks = models or study_models("mini:")
options = {
    "n": n,
    "images": images or None,
    "device": device,
    "seed": seed,
    "progress": False,
}
results = load_or_measure(networks, dataset, store, jobs=jobs, **options)
names = short_names(networks)
summaries = {
    names[model]: result.summary for model, result in results.items()
}
print(
    f"{len(summaries)} networks on {dataset}, {sum(map(len, summaries.values()))} activations"
)

# %% [markdown]
# One network first: each point is one of its activations, darker where it is deeper.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-one-network", "caption": "The affinity score of each activation of one network over each of the five criteria, with Pearson's correlation (`affscore.figures.criterion_scatter`)."}, "image": {"alt": "Five scatter plots side by side: affinity score over linear CKA, norm, change of sparsity, change of entropy and R2. Darker points are deeper activations. The correlation stands above each panel."}}
example = "resnet50" if "resnet50" in summaries else next(iter(summaries))
one = criterion_correlations({example: summaries[example]}, level=level)
criterion_scatter(criterion_values(summaries[example]), one)
plt.show()

# %%
one.set_index("criterion")[
    ["activations", "correlation", "low", "high", "note"]
].round(2)

# %% [markdown]
# ## What is a correlation worth?
#
# Such a number rests on as many points as the network has activations: 7 in AlexNet, 63 to 103 in the small
# DenseNets. *low* and *high* are the ends of Fisher's interval {cite}`fisher1921probable`. The correlation $r$ itself
# has a skewed distribution, but $z = \operatorname{artanh} r$ is nearly normal with variance $1/(n - 3)$ for $n$
# independent pairs, so
#
# $$
# \tanh\Bigl(\operatorname{artanh} r \pm \frac{1.96}{\sqrt{n - 3}}\Bigr)
# $$
#
# covers the true correlation in 95 of 100 cases. Activations of one network are **not** independent draws: neighbours
# are autocorrelated, so the intervals are too short rather than too long. Tables 1 and 2 have none.
#
# ## Network by network

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-correlations", "caption": "Correlations of the affinity score with five criteria over the activations of each network, with Fisher's intervals (tables 1 and 2 of the paper; `affscore.figures.criterion_dots`). The black ticks are what the paper prints for the real network of that name on ImageNet."}, "image": {"alt": "Five panels side by side, one for each criterion, with a line for each network. A dot marks the correlation from -1 to 1 and a bar its interval; colour and marker stand for the family; short black ticks mark the printed values. Dots lie on both sides of zero in each panel."}}
correlations = criterion_correlations(summaries, level=level)
printed = printed_table("table2_correlations")
families = network_table(summaries)["family"].to_dict()
criterion_dots(correlations, families, printed)
plt.show()

# %% tags=["hide-input"]
ours = correlations.assign(
    shown=[
        ""
        if np.isnan(row.correlation)
        else f"{row.correlation:.2f} [{row.low:.2f}, {row.high:.2f}]"
        for row in correlations.itertuples()
    ]
).pivot_table(
    index="model",
    columns="criterion",
    values="shown",
    aggfunc="first",
    sort=False,
)
beside = pd.concat(
    {
        "here": ours[criteria],
        "printed (ImageNet)": printed.reindex(ours.index)[criteria],
    },
    axis=1,
)
beside.insert(
    0,
    ("", "activations"),
    correlations.groupby("model", sort=False)["activations"].max(),
)
beside.astype(object).fillna("")

# %% [markdown]
# MNASNets have no row in the printed table 2, though table 1 has their mean. Cells that are empty on our side:

# %% tags=["hide-input"]
noted = correlations.loc[
    correlations["note"] != "", ["model", "criterion", "activations", "note"]
]
noted.set_index("model") if len(
    noted
) else "Every correlation is defined, over all activations of its network."

# %% [markdown]
# ## Family by family
#
# Means and standard deviations over the networks of a family, as in table 1; the last row is over all networks. *low*
# and *high* are the ends of Student's interval of the mean over a family's networks, cut at -1 and 1. With four
# networks it is wide, and it describes networks like these four, which are four sizes of one design.

# %% tags=["hide-input"]
by_family = family_correlations(
    correlations, table_1_families(summaries), level=level
)
columns = {
    "networks": "networks",
    "mean": "mean",
    "std": "std",
    "low": "low",
    "high": "high",
}
columns |= {
    "printed_mean": "printed mean (ImageNet)",
    "printed_std": "printed std (ImageNet)",
}
beside = by_family.set_index(["criterion", "family"]).join(
    table_1_again()[["printed_mean", "printed_std"]]
)
beside[list(columns)].rename(columns=columns).reindex(
    criteria, level=0
).round(2).astype(object).fillna("")

# %% tags=["hide-input"]
noted = by_family.loc[
    by_family["note"] != "", ["family", "criterion", "note"]
]
noted.set_index("family") if len(
    noted
) else "Every family has a mean and an interval, over all of its networks."

# %% [markdown]
# On the mini zoo members of a family mostly agree with one another, and families do not: sparsity has a strongly
# negative correlation with the score in the ResNets and a positive one in the DenseNets; the norm a negative one in
# the ResNets and a positive one in the MNASNets. The same happens in the printed columns, in other places. ViTs
# scatter most: with six to ten activations a correlation can be nearly anything.
#
# ## The sign is not the same everywhere
#
# A criterion that could replace the score would go with it, or against it, in every network. So we count the networks
# whose whole interval is above zero, below zero, or contains zero:

# %% tags=["hide-input"]
counts = sign_counts(correlations).reindex(criteria)
counts.round(2)

# %% tags=["remove-input"]
both_signs = counts.index[counts[["positive", "negative"]].min(axis=1) > 0]
Markdown(
    f"**Criteria with decided cases on both sides: {', '.join(both_signs) or 'none'}.**"
)

# %% [markdown]
# On the mini zoo CKA and $R^2$ never run against the score by more than chance. Its layers are narrow, so $R^2$ of
# 512 images is not blind here, and a trained digit network is no trained ImageNet network.
#
# The same count for the printed table 2, with Fisher's intervals for the number of activations that the recorder
# counts in torchvision's networks. Each of the five criteria has networks on either side of zero.

# %% tags=["hide-input"]
sign_counts(printed_correlations(level)).loc[criteria].round(2)

# %% [markdown]
# The paper says that no criterion correlates *strongly and consistently* with the score. The smallest of 36
# correlations does not test that: with a true correlation of 0.8 in every network the smallest is often below 0.5,
# since some networks have six activations. Intervals do: a criterion is refuted by a network whose whole interval is
# below 0.5 in the usual direction of that criterion, with intervals wide enough to hold for all networks together
# (Bonferroni). *weak* counts such networks.

# %% tags=["hide-input"]
found = {"here": correlations, "printed (ImageNet)": printed_correlations()}
strength = {
    name: strength_counts(one).loc[criteria] for name, one in found.items()
}
pd.concat(strength, axis=1).round(2)

# %% tags=["remove-input"]
refuted = {
    name: counts.index[counts["weak"] > 0]
    for name, counts in strength.items()
}
Markdown(
    "\n".join(
        f"* {name}: refuted are {', '.join(which) or 'none'}; "
        f"undecided are {', '.join(criterion for criterion in criteria if criterion not in which) or 'none'}."
        for name, which in refuted.items()
    )
)

# %% [markdown]
# ## Do the two printed tables agree?
#
# Table 1 should hold the means and standard deviations of the rows of table 2, so we compute them again.

# %% tags=["hide-input"]
again = table_1_again().pivot_table(
    index="family", columns="criterion", values="difference", sort=False
)
again[criteria].rename_axis(columns="mean of table 2 - table 1").round(3)

# %% [markdown]
# Rounding explains differences up to 0.01. VGGs, ResNets, ViTs, Swins and ConvNeXts agree (their standard deviations
# do, too, with $n$ in the denominator). DenseNets, EfficientNets and the average do not: table 1 has at least one
# more network there, or other ones. The MNASNets, which table 2 lacks, are not the cause: four more networks with
# their printed mean would take the average of the norm from -0.467 to -0.475, away from the printed -0.44. In table 2
# the rows of DenseNet-161 and DenseNet-169 are the same in all five columns, which may be a slip.
#
# ## Two clouds
#
# A correlation over a whole network mixes two clouds: in a residual network the activations after a sum and the
# others ({doc}`07_a_signature_for_every_architecture`). Whatever is higher in one cloud correlates with the score,
# even if nothing does within either (Simpson's paradox). So take each cloud alone.

# %% tags=["hide-input"]
residual = {
    model: summary
    for model, summary in summaries.items()
    if short_name(model).startswith("resnet")
}
if residual:
    by_kind = correlations_by_kind(residual).reset_index("part")
    by_kind["network"] = [short_name(model) for model in by_kind.index]
    display(
        by_kind.set_index(["network", "part"])[
            ["activations", *criteria]
        ].round(2)
    )
else:
    print("None of these networks is a ResNet.")

# %% [markdown]
# On the mini zoo the change of sparsity is the clearest case: in the deep ResNets its strong correlation with the
# score vanishes among the activations that do not follow a sum, and that of the norm nearly does. After a sum both
# stay; there the few sums whose shortcut is a convolution are a third cloud. CKA and $R^2$ mostly keep their sign
# within the clouds. The intervals above ignore all this: they take all activations of a network as independent
# points.
#
# ## All five together
#
# Could a weighted sum of all five follow the score? Two regressions, with scores and criteria standardised in each
# network:
#
# * **within** a network: the weights that fit this network best. Adjusted $R^2$, as before.
# * **from others**: one set of weights, fitted to all networks of the *other* families, predicts this one. This is
#   what redundancy means. Below 0, the prediction is worse than the plain mean of the signature.

# %% tags=["hide-input"]
if len(set(families.values())) > 1:
    together = explained_by_all(summaries, families)
    by_design = together.groupby("family", sort=False)[
        ["activations", "within", "from_others"]
    ].mean()
    by_design.loc["all networks"] = together[
        ["activations", "within", "from_others"]
    ].mean()
    display(by_design.round(2))
else:
    together = pd.DataFrame(columns=["activations", "note"])
    print(
        "Weights are carried over between families, and these networks are of one."
    )

# %% tags=["hide-input"]
noted = together.loc[together["note"] != "", ["activations", "note"]]
display(noted) if len(noted) else print(
    "Both regressions could be computed for every network."
)

# %% tags=["remove-input"]
explained = (
    together.reindex(columns=["within", "from_others"]).astype(float).mean()
)
Markdown(
    f"**Weights of a network's own explain {explained['within']:.0%} of the variance of its scores, weights from other "
    f"families {explained['from_others']:.0%}** (means over the networks where they can be computed)."
)

# %% [markdown]
# So on the mini zoo the score is neither a combination of the other five nor foreign to them. What no weights explain
# is noise, or not linear, or the score's own.
#
# ## On trained networks of usual size
#
# The package has results of eight networks trained on CIFAR-10 (with and without residual connections), and of a
# MobileNetV2 and two SqueezeNets trained on ImageNet, each on photographs. They have two more criteria: CKA with the
# unbiased estimate {cite}`song2012feature,nguyen2021wide`, which does not grow with $d/n$, and the non-linearity
# coefficient {cite}`philipp2021nonlinearity`. The paper has none of these networks in its tables.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-correlations-real", "caption": "The same for networks trained on CIFAR-10 and ImageNet, from the results that come with the package, with two more criteria (`affscore.figures.criterion_dots`)."}, "image": {"alt": "Seven panels side by side, one for each criterion, with a line for each of eleven networks: plain and residual networks of 20 to 56 layers, MobileNetV2 and two SqueezeNets. Dots with bars show correlations with their intervals."}}
of_package = [
    f"{kind}{layers}"
    for kind in ("plainnet", "resnet")
    for layers in (20, 32, 44, 56)
]
of_package += ["mobilenet_v2", "squeezenet1_0", "squeezenet1_1"]
shipped = {
    name: shipped_signature(f"shipped:{name}").summary for name in of_package
}
all_criteria = [*criteria, "cka_debiased", "nlc"]
real = criterion_correlations(shipped, all_criteria, level=level)
kinds = {
    name: "Plain"
    if name.startswith("plain")
    else "Residual"
    if name.startswith("res")
    else "Efficient"
    for name in shipped
}
criterion_dots(real, kinds)
plt.show()

# %% tags=["hide-input"]
sign_counts(real).loc[all_criteria].round(2)

# %% [markdown]
# On these eleven convolutional networks criteria do keep their sign: CKA and $R^2$ go with the score in each of them,
# the change of sparsity and the non-linearity coefficient against it, with intervals that exclude zero. The norm is
# negative in all; only the change of entropy goes both ways. (CKA and its debiased form hardly differ. Where a layer
# has more channels than there are images, mostly in MobileNetV2, $R^2$ is 1 by construction.) So "no criterion
# follows the score" is a statement on *all* families at once: within such networks CKA would rank layers much as the
# score does.
#
# ## What holds, and under which choices
#
# One row for each conclusion of the paper that this chapter looks at: the verdict under the papers' own choice of
# reduction, order, covariance and coupling, and in how many of the equally defensible choices it holds
# ({doc}`09_a_multiverse_of_signatures`). The tests are in {doc}`80_the_ledger`; they are on the results that come with
# the package, whatever the parameters of this chapter are.
# Criteria depend on reduction and order, not on covariance or coupling. Printed tables cannot be asked again.

# %% tags=["hide-input"]
ledger = Ledger(AllResults.gather())
ledger.conclusions(
    "no-criterion-says-the-same",
    "cka-fits-densenets-only",
    "steadiest-criterion",
)

# %% [markdown]
# ## Takeaways
#
# * A correlation over the activations of one network rests on few and dependent points. Report an interval.
# * On the mini zoo CKA and $R^2$ never run against the score by more than chance; norm, sparsity and entropy do. In
#   the printed table 2 all five go both ways, each with one to four networks on the rarer side.
# * For norm, sparsity and entropy the sign belongs to the family.
# * A criterion can be blind by construction: $R^2$ is 1 wherever a layer is wider than the number of images.
# * Redundant means predictable with weights that were found elsewhere. Fit and test on different families.
#
# ## Exercises
#
# ```{exercise} 8.1 A dozen activations
# :label: ex-8-1
# :nonumber:
#
# A network has 12 activations, and its scores have a correlation of 0.6 with some criterion. What is the 95 % interval of
# Fisher? Hand in the pair `(low, high)`.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("8.1", answer)

# %% [markdown]
# ```{solution-start} ex-8-1
# :class: dropdown
# ```
#
# Into $z$, a step to both sides, and back.

# %%
z, step = np.arctanh(0.6), 1.96 / np.sqrt(12 - 3)
affscore.exercises.check("8.1", (np.tanh(z - step), np.tanh(z + step)))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 8.2 Why not all activations in one pot?
# :label: ex-8-2
# :nonumber:
#
# Tables 1 and 2 have a correlation for each network, and not one over all activations of all networks. Make up two networks,
# four activations or more each, whose scores have a correlation of at least 0.9 with a criterion in either of them, and
# of at most -0.5 when the activations of both are thrown together. Hand in `((scores, criterion), (scores, criterion))`.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("8.2", answer)

# %% [markdown]
# ```{solution-start} ex-8-2
# :class: dropdown
# ```
#
# The network with the higher scores gets the lower criterion: its level runs against its course. This is Simpson's
# paradox {cite}`simpson1951interpretation`.

# %%
course = np.linspace(0.2, 0.4, 6)
affscore.exercises.check(
    "8.2", ((course, course), (course + 0.5, course - 3))
)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 8.3 Only together
# :label: ex-8-3
# :nonumber:
#
# Make up the scores of a network with eight or more activations and two criteria $a$ and $b$, neither of which has a
# correlation of more than 0.5 in size with the scores, while both together explain at least 0.9 of them (adjusted $R^2$
# of the regression). Hand in `(scores, a, b)`.
# ```

# %%
answer = None  # your answer here
# affscore.exercises.check("8.3", answer)

# %% [markdown]
# ```{solution-start} ex-8-3
# :class: dropdown
# ```
#
# A large signal that has nothing to do with the scores is in both criteria. Their difference takes it out again.

# %%
scores = np.linspace(0.3, 0.9, 12)
nuisance = np.tile([3.0, -3.0], 6)
affscore.exercises.check("8.3", (scores, nuisance + scores, nuisance))

# %% [markdown]
# ```{solution-end}
# ```
