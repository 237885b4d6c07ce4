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
# # Robust to batch size and seed
#
# Appendix E of {cite:t}`bouniot2025alexnet` measures a VGG16 in batches of 128 to 1024 images and after training from nine
# seeds (paper Fig. 8). The lines lie on each other, "suggesting that the obtained results are not subject to a strong
# stochasticity". Lines that overlap can hide two things. *Chance* is what other images or another seed would change; it
# averages out. *Bias* is what every small batch gets wrong in the same way; no average removes it. This chapter puts
# numbers on both: mostly it is bias, and it is small because two errors partly cancel.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
    )

# %% tags=["parameters", "hide-input"]
repeated: str = "mini:vgg16"  # of the first figure: MODEL, MODEL@WEIGHTS
dataset: str = "digits"  # digits, cifar10, imagenet:DIR, folder:DIR ...
sizes: list[int] = [32, 64, 128, 256]  # images in a batch, each
images: int = 0  # images in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights, and of the order of the images

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import warnings

import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from affscore.analysis import against_reference, effects_of_size
from affscore.figures import against_batch_size, repeated_signatures, table
from affscore.options import Specification
from affscore.papers.alexnet_to_transformers import figure_08
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey.studies import load_study, under
from IPython.display import Markdown

pd.set_option("display.max_colwidth", None)  # conclusions are sentences
# what n is small for is what the page is about
warnings.simplefilter("ignore", UserWarning)


def named(study):
    return study.assign(model=study["model"].str.split(":").str[-1])


studies = {
    "CIFAR-10": named(load_study("batch-size-cifar")),
    "digits": named(load_study("batch-size")),
}
batches = {data: one[one["batches"] > 1] for data, one in studies.items()}
few, many = (
    {data: pick(one["n"]) for data, one in batches.items()}
    for pick in (min, max)
)
seeds = load_study("seeds")
vggs = under(seeds).pivot_table(index="index", columns="seed", values="score")
ledger = Ledger(AllResults.gather())

# %% [markdown]
# ## What moves a score
#
# By how much does the score of an activation change? Four networks that were trained on CIFAR-10 (ResNet-20 and
# ResNet-56, with and without shortcuts), measured in batches of 128 to 1024 photographs, and eight small ones in
# batches of 32 to 256 digits. Root mean squares over the activations of a network, mean over the networks; last, for
# comparison, how much the activations of a network differ.

# %% tags=["hide-input"]
effects = pd.DataFrame(
    {
        data: effects_of_size(under(one)).mean()
        for data, one in batches.items()
    }
).T
of_seeds = vggs.var(axis=1).mean() ** 0.5
effects["seed"] = pd.Series({"digits": of_seeds})
headings = {
    "chance_of_few": "other images, smallest n",
    "chance_of_many": "other images, largest n",
    "change": "8 times the batch size",
    "seed": "another seed",
    "within": "another activation",
}
table(effects, headings, digits=3)

# %% tags=["remove-input"]
photographs, digits = (effects.loc[data] for data in ("CIFAR-10", "digits"))
results = ledger.results
robust = figure_08.batch_size_keeps_the_signature
Markdown(
    "**Eight times as many images change a score by "
    f"{photographs['change']:.3f} on CIFAR-10 and by {digits['change']:.3f} "
    f"on digits, {100 * photographs['change'] / photographs['within']:.0f} % and "
    f"{100 * digits['change'] / digits['within']:.0f} % of how much the activations "
    "of a network differ.** Is that less than half, with a 95 % interval over "
    f"networks? On CIFAR-10 this {robust.decide(results.cifar).word}; on "
    f"digits it {robust.decide(results.mini).word}. It is not chance: on "
    "CIFAR-10 it is "
    f"{photographs['change'] / photographs['chance_of_many']:.0f} times the "
    f"standard deviation over batches of {many['CIFAR-10']}. Another seed "
    f"moves a score by {of_seeds:.3f}, "
    f"{'more' if of_seeds > digits['change'] else 'less'} than the batch "
    "size does."
)

# %% [markdown]
# ## Figure 8, left: the batch size
#
# A signature for each $n$, the mean over its batches; last the network of this notebook's parameters, measured here.

# %% mystnb={"figure": {"caption": "Signatures in batches of several sizes lie nearly on each other, as in paper Fig. 8. But at most activations the colours are in the same order: the differences are systematic (`affscore.figures.repeated_signatures`).", "name": "fig-10-sizes"}, "image": {"alt": "Three panels of signatures, the affinity score over the activations in their order. In each panel four lines, one for each batch size, hardly differ beside the zigzag of the signature itself."}} tags=["hide-input"]
options = {
    "images": images or None,
    "device": device,
    "seed": seed,
    "criteria": False,
    "progress": False,
}
own = pd.concat(
    affscore.signature(repeated, dataset, n=n, **options)
    .summary.reset_index()
    .assign(n=n)
    for n in sizes
)
cifar = under(batches["CIFAR-10"])
panels = {
    f"{name} on CIFAR-10": cifar[cifar["model"] == name]
    for name in ("resnet20", "plainnet56")
}
panels[f"{repeated} on {dataset}"] = own
repeated_signatures(panels, "n", label="n = ")
plt.show()

# %% tags=["remove-cell"]
if (repeated, dataset, images, seed) == ("mini:vgg16", "digits", 0, 0):
    # what the package brings is measured again
    brought = under(studies["digits"][studies["digits"]["model"] == "vgg16"])
    both = own.merge(brought, on=["n", "index"], suffixes=("", "_brought"))
    assert len(both) >= len(sizes)
    assert np.allclose(both["score"], both["score_brought"], atol=1e-4)

# %% [markdown]
# ## Chance: which images are in the batch

# %% mystnb={"figure": {"caption": "Standard deviation of a score over batches (root mean square over the activations of a network) against the batch size, both on a logarithmic axis: it falls about as one over the root of n, dashed, in every network (`affscore.figures.against_batch_size`).", "name": "fig-10-chance"}, "image": {"alt": "Two panels, CIFAR-10 and digits, with a falling line for each network. All fall about as steeply as the dashed line of the power -0.5, from about 0.02 to 0.005."}} tags=["hide-input"]
references = {  # all images are one batch
    data: one[one["n"] == one["images"]] for data, one in studies.items()
}
large = named(load_study("batch-size-large-cifar"))
references["CIFAR-10"] = pd.concat(
    [references["CIFAR-10"], large[large["coupling"] == "exact"]]
)
found = pd.concat(
    [
        against_reference(one, references[data]).assign(data=data)
        for data, one in batches.items()
    ],
    ignore_index=True,
)
chance = under(found)
against_batch_size(
    chance,
    "chance",
    panels="data",
    series="model",
    ylabel="standard deviation\nof a score",
    power=-0.5,
)
plt.show()

# %% tags=["remove-input"]
reliable = chance[chance["batches"] >= 4].groupby(["data", "model"])
powers = reliable.apply(
    lambda line: np.polyfit(np.log(line["n"]), np.log(line["chance"]), 1)[0]
)
means = pd.concat(
    {
        data: under(one)
        .groupby(["model", "n"], sort=False)[["score", "mean_std", "batches"]]
        .mean()
        for data, one in batches.items()
    },
    names=["data"],
)
means["squared"] = means["mean_std"] ** 2 / means["batches"]
ends = means.groupby(["data", "model"], sort=False)
change = ends["score"].last() - ends["score"].first()
errors = (ends["squared"].first() + ends["squared"].last()) ** 0.5
clear = change[(change / errors).abs() > 2]
Markdown(
    f"The fitted power of $n$ is {powers.mean():.2f} ± {powers.std():.2f} "
    f"over {len(powers)} networks (sizes with four batches or more). So one "
    "batch of 1024 and eight of 128 leave the same chance, and **which $n$ "
    "to take is a question of bias alone**. The mean score of a network has "
    "less chance still: from the smallest to the largest $n$ it changes by "
    f"more than two standard errors in {len(clear)} of {len(change)} "
    f"networks, {(clear < 0).sum()} times down and {(clear > 0).sum()} times "
    "up, by "
    f"{change.abs().min():.3f} to {change.abs().max():.3f}."
)

# %% [markdown]
# ## Bias: errors with opposite signs
#
# A mean that depends on $n$ is a bias. Against what? The score of all images in one batch, 10,000 photographs and 597
# digits, is the nearest that we have to the truth. (An exact coupling of 10,000 images takes minutes: there the
# reference is two batches of 5,000, for ResNet-20 and PlainNet-20 alone.)

# %% mystnb={"figure": {"caption": "Mean score in batches of n minus the reference in one batch, mean over networks (bars: standard error over networks), with Ledoit and Wolf's covariance. Small batches look too linear in every way but the papers', the mean with the exact coupling (`affscore.figures.against_batch_size`).", "name": "fig-10-bias"}, "image": {"alt": "Two panels, CIFAR-10 and digits. Three lines, the paired coupling, the sampled position and reduce-first, lie above zero and fall towards it as n grows. The line of the exact coupling of means lies near zero."}} tags=["hide-input"]
WAYS = {
    "mean, exact": Specification(),
    "mean, paired": Specification(coupling="paired"),
    "reduce first, exact": Specification(order="reduce-first"),
    "sampled position, exact": Specification(reduction="sample"),
}
known = (
    found["change"]
    .notna()
    .groupby([found["data"], found["model"]])
    .transform("all")
)
measured = found[known & (found["bias"] == "none")]
curves = pd.concat(
    [under(measured, one).assign(way=way) for way, one in WAYS.items()]
)
curves = (
    curves.groupby(["data", "way", "n"], sort=False)["change"]
    .agg(["mean", "sem"])
    .reset_index()
)
against_batch_size(
    curves,
    "mean",
    error="sem",
    panels="data",
    series="way",
    ylabel="mean score in batches of n\nminus the reference",
)
plt.show()

# %% [markdown]
# Two errors of a small sample add up:
#
# * **The covariance is too flexible.** The map $T$ is fitted to the points that it is judged on, so fewer points look more
#   affine: too high a score ({doc}`03_estimating_it_well`). Under the paired coupling this is the only one. (Shrinkage
#   works against it where variances differ, and prevails in few networks.)
# * **The best coupling has to be found.** Where outputs are better matched with other inputs than their own
#   ({doc}`09_a_multiverse_of_signatures`), few points offer few partners: too low a score.
#
# The change of the mean score from the smallest to the largest $n$, split into both:

# %% tags=["hide-input"]
parts = []
for data, one in batches.items():
    low, high = (
        {
            way: under(one[one["n"] == n], WAYS[f"mean, {way}"]).set_index(
                ["model", "index"]
            )["score"]
            for way in ("exact", "paired")
        }
        for n in (few[data], many[data])
    )
    moved = pd.DataFrame({way: high[way] - low[way] for way in high})
    moved["gap"] = moved["exact"] - moved["paired"]
    moved["apart"] = high["exact"] - high["paired"] > 0.02
    parts.append(moved.assign(data=data))
activations = pd.concat(parts)
two = activations.drop(columns="apart").groupby(["data", "model"], sort=False)
two = two.mean()
headings = {
    "paired": "by the covariance (paired score)",
    "gap": "by the coupling (exact - paired)",
    "exact": "both (exact score)",
}
table(two.rename_axis([None, None]), headings, digits=3)

# %% tags=["remove-input"]
falls, grows = (two["paired"] < 0).sum(), (two["gap"] > 0).sum()
smaller = (two["exact"].abs() < two["paired"].abs()).sum()
rise = (activations["exact"] > 0).groupby(activations["apart"]).mean()
Markdown(
    f"The paired score falls in {falls} of {len(two)} networks, the gap "
    f"grows in {grows}, and in {smaller} their sum is smaller than the fall "
    "alone. **Part of the robustness of figure 8 is two biases that "
    "cancel.** Of the activations whose exact score is above the paired one "
    f"by more than 0.02, {100 * rise[True]:.0f} % rise with $n$; of the others "
    f"{100 * rise[False]:.0f} %. In the other order, and for sampled positions, the "
    "pairing mostly is the best coupling, and only the first error is left."
)

# %% [markdown]
# The second error is not of the form $c/n$, and more data may never suffice. Take $y = -x$ with independent normal
# coordinates: both clouds are the same distribution, so with infinitely many points the score is 1. But for $d > 4$ the
# distance of two samples falls only as $n^{-1/d}$ {cite}`fournier2015rate`:

# %% tags=["hide-input"]
cloud = np.random.default_rng(seed).standard_normal((1024, 16))
rows = {
    f"d = {d}": {
        f"n = {n}": np.mean(
            [
                affscore.affinity_score(x, -x, "empirical").value
                for x in np.split(cloud[:, :d], 1024 // n)
            ]
        )
        for n in (64, 256, 1024)
    }
    for d in (1, 2, 4, 8, 16)
}
table(pd.DataFrame(rows).T)

# %% [markdown]
# ### Under every choice
#
# The bias at the smallest and at the largest $n$, mean over the networks, for the twelve specifications:

# %% tags=["hide-input"]
at_ends = [
    n in (few[data], many[data])
    for n, data in zip(measured["n"], measured["data"], strict=True)
]
by_choice = measured[at_ends].pivot_table(
    index=["reduction", "order", "covariance", "coupling"],
    columns=["data", "n"],
    values="change",
    sort=False,
)
by_choice.columns = [f"{data}, n = {n}" for data, n in by_choice.columns]
table(by_choice.rename_axis([None] * 4), digits=3)

# %% tags=["remove-input"]
at_few = [f"{data}, n = {few[data]}" for data in few]
lowest = (
    by_choice[at_few]
    .melt(ignore_index=False)
    .groupby("covariance")["value"]
    .agg(["min", "max"])
)
Markdown(
    "At the smallest $n$ the bias is between "
    + " and ".join(
        f"{row['min']:+.3f} and {row['max']:+.3f} with the {name} covariance"
        for name, row in lowest.iterrows()
    )
    + f". It is positive in {100 * (by_choice[at_few] > 0).to_numpy().mean():.0f} % "
    "of the cells, and smallest where the coupling is exact and means are "
    "taken after the activation."
)

# %% [markdown]
# ### Does the extrapolation remove it?
#
# {doc}`09_a_multiverse_of_signatures` extrapolates from two halves of a batch to infinite $n$, as if the bias were $c/n$.
# The root mean square over activations of score minus reference, mean over networks, as measured → extrapolated:

# %% tags=["hide-input"]
both = {"before": "none", "after": "extrapolated"}
rows = [
    under(
        found[known], one._replace(bias=bias, covariance=covariance)
    ).assign(way=way, score=label)
    for way, one in WAYS.items()
    for label, bias in both.items()
    for covariance in ("ledoit-wolf", "empirical")
]
errors = pd.concat(rows).pivot_table(
    index=["data", "n"], columns=["way", "score"], values="rms", sort=False
)
before, after = (errors.xs(label, axis=1, level="score") for label in both)
shown = before.map("{:.3f} → ".format) + after.map("{:.3f}".format)
table(shown.sort_index().rename_axis([None, None])[list(WAYS)])

# %% tags=["remove-input"]
removed = 1 - after.mean() / before.mean()
Markdown(
    f"It removes {100 * removed['mean, paired']:.0f} % of this error under the "
    f"paired coupling and {100 * removed['mean, exact']:.0f} % under the exact one "
    f"({100 * removed['sampled position, exact']:.0f} % for sampled positions, which "
    "mostly are coupled as they are paired); the error is smaller in "
    f"{(after < before).to_numpy().sum()} of {after.size} cells. **The bias "
    "of the covariance is near $c/n$; that of the coupling is not.**"
)

# %% [markdown]
# ## Figure 8, right: the seed
#
# Nine trainings of the mini VGG16 on the digits, each measured in one batch of 512:

# %% mystnb={"figure": {"caption": "Signatures of one architecture that was trained from nine seeds, a colour each: the shape is the same, and single activations differ by up to a few tenths (paper Fig. 8, right; `affscore.figures.repeated_signatures`).", "name": "fig-10-seeds"}, "image": {"alt": "Lines over the activations of the mini VGG16, one for each seed. They have the same shape and differ by a few hundredths at most activations."}} tags=["hide-input"]
repeated_signatures(
    {f"mini VGG16 on digits, {vggs.shape[1]} trainings": under(seeds)}, "seed"
)
plt.show()

# %% tags=["remove-input"]
deviation = vggs.std(axis=1)
mean_scores = vggs.mean()
share = of_seeds / vggs.mean(axis=1).std()
Markdown(
    f"The standard deviation over seeds is {deviation.min():.3f} to "
    f"{deviation.max():.3f} (largest at activation "
    f"{deviation.idxmax() + 1}), root mean square {of_seeds:.3f}: "
    f"{100 * share:.0f} % of that over the activations. The mean score of a network "
    f"has {mean_scores.std():.3f} over seeds (from {mean_scores.min():.3f} "
    f"to {mean_scores.max():.3f}). A difference between two networks that "
    "were trained once each counts only if it is larger than this; more "
    "images do not help."
)

# %% [markdown]
# ## What of the claim survives
#
# "Robust" made testable, as in {doc}`the ledger <80_the_ledger>`: *less than half* of what it is compared with, with a
# 95 % interval. A signature is robust if the change is less than half of the standard deviation over its activations;
# conclusions on networks are, if their mean score changes by less than half of the standard deviation over networks.

# %% tags=["hide-input"]
claims = [
    figure_08.batch_size_keeps_the_signature,
    figure_08.batch_size_keeps_networks_apart,
    figure_08.images_change_little,
    figure_08.seeds_keep_the_signature,
    figure_08.seeds_change_little,
]
conclusions = ledger.conclusions(*(claim.name for claim in claims))
table(
    conclusions.set_index("tested on", append=True).rename_axis([None, None]),
    {"verdict": "verdict", "under other choices": "under other choices"},
)

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
Markdown(
    f"* On CIFAR-10 batches of {many['CIFAR-10']} instead of "
    f"{few['CIFAR-10']} photographs move a score by "
    f"{photographs['change']:.3f}, "
    f"{100 * photographs['change'] / photographs['within']:.0f} % of how much the "
    "activations of a network differ, and "
    f"{photographs['change'] / photographs['chance_of_many']:.0f} times the "
    "standard deviation over batches: it is bias, and no average removes "
    "it.\n"
    "* Two biases partly cancel. With more images the covariance lowers the "
    f"score in {falls} of {len(two)} networks, the coupling raises it in "
    f"{grows}, and in {smaller} the sum is smaller than the first alone.\n"
    f"* Training again from another seed moves a score by {of_seeds:.3f} in "
    f"a small VGG16, {'more' if of_seeds > digits['change'] else 'less'} "
    f"than an eightfold batch does ({digits['change']:.3f}). An error "
    "over images is not an error over trainings."
)

# %% [markdown]
# ## Takeaways
#
# * Report $n$ with a signature, and compare only signatures of the same $n$.
# * More batches make the error bar smaller and leave the bias; only a larger $n$, or the extrapolation, touches it.
# * For a statement about an architecture, train it several times.
#
# ## Exercises
#
# ```{exercise} 10.1 The error of an average
# :label: ex-10-1
# :nonumber:
#
# *Compute · 5 minutes · easy.* Aim: add chance and bias.
#
# A score that was measured in one batch is 0.02 too high on average, with a standard deviation of 0.04 over batches.
# Somebody averages 16 independent batches. What is the root mean square error of this average? Hand in the number.
# ```
#
# ```{admonition} Hint for 10.1
# :class: dropdown hint
#
# Which of the two does an average over batches make smaller, and how do they add?
# ```

# %%
answer = None  # your answer here: a number
# affscore.exercises.check("10.1", answer)

# %% [markdown]
# ```{solution-start} ex-10-1
# :class: dropdown
# ```
#
# The standard deviation falls to a quarter, the bias stays; they add as squares.

# %%
affscore.exercises.check("10.1", np.hypot(0.02, 0.04 / np.sqrt(16)))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 10.2 Too low in small batches
# :label: ex-10-2
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: build a cloud on which only the second error acts.
#
# Make up inputs $x$ and outputs $y$, arrays of shape $(512, d)$ with $d \le 64$, whose 16 consecutive batches of 32 have a
# mean score that is at least 0.05 *lower* than the score of all 512 points (empirical covariance, exact coupling). Hand in
# `(x, y)`.
# ```
#
# ```{admonition} Hint for 10.2
# :class: dropdown hint
#
# Look for outputs that are best coupled with other inputs than their own.
# ```

# %%
answer = None  # your answer here: two arrays (x, y)
# affscore.exercises.check("10.2", answer)

# %% [markdown]
# ```{solution-start} ex-10-2
# :class: dropdown
# ```
#
# Outputs that are best coupled with other inputs than their own: $y = -x$.

# %%
cloud = np.random.default_rng(0).standard_normal((512, 4))
affscore.exercises.check("10.2", (cloud, -cloud))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 10.3 An error bar for figure 8
# :label: ex-10-3
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: get an error over trainings from a study.
#
# `affscore.survey.studies.load_study("seeds")` has the nine trainings under every specification. What is the standard
# deviation over the seeds of the score of each activation, under the default specification? Hand in an array, in the order
# of the activations.
# ```
#
# ```{admonition} Hint for 10.3
# :class: dropdown hint
#
# `affscore.survey.studies.under` picks the rows of one specification, the default unless you say which.
# ```

# %%
answer = None  # your answer here: an array, one number for each activation
# affscore.exercises.check("10.3", answer)

# %% [markdown]
# ```{solution-start} ex-10-3
# :class: dropdown
# ```
#
# The rows of one specification, grouped by activation; nine trainings are a sample, so the divisor is 8.

# %%
affscore.exercises.check(
    "10.3", under(load_study("seeds")).groupby("index")["score"].std()
)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 10.4 What two halves can remove
# :label: ex-10-4
# :nonumber:
#
# *Prove · 20 minutes · medium.* Aim: know when an extrapolation helps, and when it harms.
#
# Let the mean score of batches of $n$ be $\rho + c\, n^{-a}$, and let $\hat\rho = 2 \rho_n - \bar\rho_{n/2}$, with the mean
# score of both halves. Which share of the bias is left, as a function of $a$? For which $a$ does the extrapolation remove it,
# reduce it, and make it larger? Then let $a = 1/16$, as for the coupling in 16 dimensions: how much does it remove? Is $\hat
# \rho$ always in $[0, 1]$?
# ```
#
# ```{admonition} Hint for 10.4
# :class: dropdown hint
#
# Insert both sizes, and divide by the bias at $n$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-10-4
# :class: dropdown
# ```
#
# The expectation of $\hat\rho$ is $2 (\rho + c n^{-a}) - (\rho + c (n/2)^{-a}) = \rho + c n^{-a} (2 - 2^a)$, so the share
# $2 - 2^a$ of the bias is left. It is 0 exactly for $a = 1$. It is between -1 and 1 for $0 < a < \log_2 3 \approx 1.58$: the
# bias gets smaller, and for $a > 1$ it changes its sign. For $a > \log_2 3$ it gets larger in size. (A bias that falls so
# fast is small already.)
#
# For $a = 1/16$ the share is $2 - 2^{1/16} = 0.956$: only 4 % is removed. That is why the extrapolation does little where a
# coupling has to be found in many dimensions.
#
# $\hat\rho$ need not be in $[0, 1]$: with $\rho_n = 0.98$ and halves of 0.94 it is 1.02. Chance alone does that, as the
# variance of $2 \rho_n - \bar\rho_{n/2}$ is larger than that of $\rho_n$ unless both go closely together.
#
# **Rubric** (6 points)
#
# * 2: the share $2 - 2^a$.
# * 2: removed for $a = 1$ alone; reduced below $\log_2 3$; the change of sign.
# * 1: 4 % for $a = 1/16$.
# * 1: an example outside of $[0, 1]$.

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 10.5 A budget
# :label: ex-10-5
# :nonumber:
#
# *Design · 25 minutes · medium.* Aim: spend trainings and images where the error is.
#
# You want to know whether architecture A has a higher mean score than B, and a difference of 0.02 would matter. The standard
# deviation of a mean score is 0.012 over seeds, and 0.004 over batches of 512 of one trained network. You can afford 20
# trainings in all, and 20 batches for each. Plan the study: how many trainings of each, how many batches of which size, the
# test, its power, and what you do about bias. What would you answer somebody who offers 100 times as many images instead?
# ```
#
# ```{admonition} Hint for 10.5
# :class: dropdown hint
#
# The variance of a mean over $s$ seeds with $b$ batches each is $\sigma_s^2 / s + \sigma_b^2 / (s b)$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-10-5
# :class: dropdown
# ```
#
# With $s$ seeds of each architecture and $b$ batches the variance of the difference is $2 (0.012^2 / s + 0.004^2 / (s b))$.
# With $b = 1$ the second term is a ninth of the first, with $b = 4$ a 36th: four batches are enough. For a power of 80 % at
# 5 % the difference must be 2.8 standard errors: $s = 2 \cdot 2.8^2 \cdot (0.012^2 + 0.004^2 / 4) / 0.02^2 \approx 5.8$, so 6
# seeds of each are enough for a normal test; the $t$-test with few seeds needs about 7. Take 8 of each, 16 trainings, and
# keep 4 for a training that fails. The test is Welch's $t$-test, or a permutation of the labels, with seeds as units: the
# batches of one training are not independent of each other in what matters.
#
# Bias: the same $n$ and the same images for both; it cancels only if it is alike, so repeat with $n = 1024$ or the
# extrapolation, and say whether the sign of the difference stays. 100 times as many images make the smaller of both terms
# smaller still. They do not touch $0.012^2 / s$; with one training of each no number of images helps.
#
# **Rubric** (8 points)
#
# * 2: the two variances, and that seeds dominate.
# * 2: a number of seeds from a power calculation, between 6 and 10.
# * 1: a test with seeds as units.
# * 2: bias: the same $n$, and a check with another.
# * 1: the answer on images.

# %% [markdown]
# ```{solution-end}
# ```
