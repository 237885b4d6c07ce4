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
# seeds (figure 8). The lines lie on each other, "suggesting that the obtained results are not subject to a strong
# stochasticity". Lines that overlap can hide two things. *Chance* is what other images or another seed would change; it
# averages out. *Bias* is what every small batch gets wrong in the same way; no average removes it. This chapter puts
# numbers on both. You will learn
#
# * how much of a score is chance, and how it falls with $n$ and with the number of batches,
# * that the dependence on $n$ is bias: errors with opposite signs, which partly cancel,
# * how far another seed moves a signature, beside all else that moves it.

# %% tags=["parameters"]
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
from affscore.figures import against_batch_size, repeated_signatures
from affscore.options import Specification
from affscore.papers.alexnet_to_transformers import figure_08
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey.studies import load_study, under
from IPython.display import Markdown, display

warnings.simplefilter(
    "ignore", UserWarning
)  # what n is small for is what the page is about
SPECIFICATION = list(Specification._fields)


def named(study):
    return study.assign(model=study["model"].str.split(":").str[-1])


studies = {
    "digits": named(load_study("batch-size")),
    "CIFAR-10": named(load_study("batch-size-cifar")),
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
# ## The short answer
#
# By how much does a score change? Root mean squares over the activations of a network, mean over the networks: eight
# small ones on the digits, four trained on CIFAR-10 (ResNet-20 and ResNet-56, with and without shortcuts). Last, for comparison: the standard deviation within a network.

# %% tags=["hide-input"]
effects = {
    data: effects_of_size(under(one)).mean() for data, one in batches.items()
}
of_seeds = vggs.var(axis=1).mean() ** 0.5
rows = {
    (data, what): value
    for data, one in effects.items()
    for what, value in {
        f"other images, n = {few[data]}": one["chance_of_few"],
        f"other images, n = {many[data]}": one["chance_of_many"],
        f"batch size, {few[data]} to {many[data]}": one["change"],
        "another seed": of_seeds if data == "digits" else np.nan,
        "another activation": one["within"],
    }.items()
}
pd.Series(rows).dropna().to_frame("a score changes by").round(3)

# %% tags=["remove-input"]
on_digits, on_photographs = effects.values()
robust = figure_08.batch_size_keeps_the_signature
words = [
    robust.decide(results).word
    for results in (ledger.results.mini, ledger.results.cifar)
]
Markdown(
    f"**Eight times as many images change a score by {on_digits['change']:.3f} on the digits and by "
    f"{on_photographs['change']:.3f} on CIFAR-10, {on_digits['change'] / on_digits['within']:.0%} and "
    f"{on_photographs['change'] / on_photographs['within']:.0%} of how much the activations of a network differ.** That it is "
    f"less than half (with a 95 % interval over networks) {words[0]} on the digits, and {words[1]} on CIFAR-10. It is no "
    f"chance: on CIFAR-10 it is {on_photographs['change'] / on_photographs['chance_of_many']:.0f} times the standard deviation "
    f"over batches of {many['CIFAR-10']}. **Another seed moves a score by {of_seeds:.3f}, "
    f"{'more' if of_seeds > on_digits['change'] else 'less'} than the batch size does;** that this is less than half of how much "
    f"the activations differ {figure_08.seeds_keep_the_signature.decide(ledger.results.mini).word}."
)

# %% [markdown]
# ## Figure 8, left: the batch size
#
# A signature for each $n$, the mean over its batches:

# %%
options = {
    "images": images or None,
    "device": device,
    "seed": seed,
    "criteria": False,
    "progress": False,
}
signatures = {
    n: affscore.signature(repeated, dataset, n=n, **options) for n in sizes
}
own = pd.concat(
    one.summary.reset_index().assign(n=n) for n, one in signatures.items()
)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-10-sizes", "caption": "Signatures in batches of several sizes: as in figure 8 of the paper the lines lie nearly on each other (`affscore.figures.repeated_signatures`)."}, "image": {"alt": "Three panels of signatures, the affinity score from 0 to 1 over the activations in their order. In each panel four lines, one for each batch size, hardly differ beside the zigzag of the signature itself."}}
cifar = under(batches["CIFAR-10"])
panels = {f"{repeated} on {dataset}": own}
panels |= {
    f"{name} on CIFAR-10": cifar[cifar["model"] == name]
    for name in ("resnet20", "plainnet56")
}
repeated_signatures(panels, "n", label="n = ")
plt.show()

# %% tags=["remove-cell"]
if (repeated, dataset, images, seed) == (
    "mini:vgg16",
    "digits",
    0,
    0,
):  # what the package brings is measured again
    brought = under(studies["digits"][studies["digits"]["model"] == "vgg16"])
    both = own.merge(brought, on=["n", "index"], suffixes=("", "_brought"))
    assert len(both) >= len(sizes)
    assert np.allclose(both["score"], both["score_brought"], atol=1e-4)

# %% [markdown]
# They follow each other up and down. But at most activations the colours are in the same order, so the differences are systematic.
#
# ## Chance: which images are in the batch
#
# The standard deviation of a score over the batches says what other images would change:

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-10-chance", "caption": "Standard deviation of a score over batches (root mean square over the activations of a network) against the batch size, both on a logarithmic axis; dashed: one over the root of n (`affscore.figures.against_batch_size`)."}, "image": {"alt": "Two panels, digits and CIFAR-10, with a falling line for each network. All fall about as steeply as the dashed line of the power -0.5, from about 0.02 to 0.005."}}
references = {
    data: one[one["n"] == one["images"]] for data, one in studies.items()
}  # all images are one batch
large = named(load_study("batch-size-large-cifar"))
references["CIFAR-10"] = pd.concat(
    [references["CIFAR-10"], large[large["coupling"] == "exact"]]
)
tables = [
    against_reference(one, references[data]).assign(data=data)
    for data, one in batches.items()
]
found = pd.concat(tables, ignore_index=True)
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
Markdown(
    f"The power of $n$ is {powers.mean():.2f} ± {powers.std():.2f} over the {len(powers)} networks (fitted to sizes with four batches "
    "or more): about one over the root, as for independent images. So one batch of 1024 and eight of 128 leave the same "
    "chance. **Which $n$ to take is a question of bias alone.**"
)

# %% [markdown]
# The mean score of a network has less chance still. Its change from the smallest to the largest $n$, in units of its
# standard error over batches (that of independent batches; the images are the same, so the true one is smaller):

# %% tags=["hide-input"]
rows = []
for data, one in batches.items():
    means = (
        under(one)
        .groupby(["model", "n"], sort=False)[["score", "mean_std", "batches"]]
        .mean()
    )
    squared_errors = means["mean_std"] ** 2 / means["batches"]
    for name in dict.fromkeys(one["model"]):
        ends = [(name, few[data]), (name, many[data])]
        low, high = means.loc[ends, "score"]
        rows.append(
            (
                data,
                name,
                low,
                high,
                high - low,
                (high - low) / squared_errors[ends].sum() ** 0.5,
            )
        )
names = ["data", "network", "smallest n", "largest n", "change", "in errors"]
changes = pd.DataFrame(rows, columns=names).set_index(["data", "network"])
changes.round({"smallest n": 3, "largest n": 3, "change": 4, "in errors": 1})

# %% tags=["remove-input"]
clear = changes.loc[changes["in errors"].abs() > 2, "change"]
Markdown(
    f"In {len(clear)} of {len(changes)} networks the change is more than two errors: {(clear < 0).sum()} times a fall, "
    f"{(clear > 0).sum()} times a rise. **The lines of figure 8 overlap, and yet differ by more than chance.**"
)

# %% [markdown]
# ## Bias: errors with opposite signs
#
# A mean that depends on $n$ is a bias. Against what? The score of all images in one batch, 597 digits and 10,000
# photographs, is the nearest that we have to the truth. (An exact coupling of 10,000 images takes minutes: there the
# reference is two batches of 5,000, for ResNet-20 and PlainNet-20 alone.) The mean score of small batches minus that one:

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-10-bias", "caption": "Mean score in batches of n minus the reference in one batch, mean over networks (bars: standard error over networks), with Ledoit and Wolf's covariance (`affscore.figures.against_batch_size`)."}, "image": {"alt": "Two panels, digits and CIFAR-10. Three lines, the paired coupling, the sampled position and reduce-first, lie above zero and fall towards it as n grows. The line of the exact coupling of means lies near zero."}}
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
curves = curves.sort_values(
    "data", key=lambda data: data != "digits", kind="stable"
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
# Two errors of a small sample add up here:
#
# * **The covariance is too flexible.** The map $T$ is fitted to the points that it is judged on, so fewer points look more
#   affine: too high a score ({doc}`03_estimating_it_well`). Under the paired coupling this is the only one. (Shrinkage
#   works against it where variances differ, since it equalises them, and prevails in few networks.)
# * **The best coupling has to be found.** Where outputs are better matched with other inputs than their own
#   ({doc}`09_a_multiverse_of_signatures`), few points offer few partners: too low a score. The gap between exact and paired
#   grows with $n$:

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
    change = {way: high[way] - low[way] for way in high}
    columns = {"paired: covariance": change["paired"], "exact - paired: coupling": change["exact"] - change["paired"],
               "exact: sum": change["exact"], "apart": high["exact"] - high["paired"] > 0.02}  # fmt: skip
    parts.append(pd.DataFrame(columns).assign(data=data))
activations = pd.concat(parts)
two = (
    activations.drop(columns="apart")
    .groupby(["data", "model"], sort=False)
    .mean()
)
two.round(3)

# %% tags=["remove-input"]
falls, grows = (
    (two["paired: covariance"] < 0).sum(),
    (two["exact - paired: coupling"] > 0).sum(),
)
smaller = (two["exact: sum"].abs() < two["paired: covariance"].abs()).sum()
rise = (activations["exact: sum"] > 0).groupby(activations["apart"]).mean()
Markdown(
    f"From the smallest to the largest $n$ the paired score falls in {falls} of {len(two)} networks, the gap grows in "
    f"{grows}, and in {smaller} their sum is smaller than the fall alone. **Part of the robustness of figure 8 is two biases "
    "that cancel.** The first figure shows both: of the activations whose exact score is above the paired one by more "
    f"than 0.02, {rise[True]:.0%} rise with $n$, of the others {rise[False]:.0%}. They cancel under the papers' choice: in the "
    "other order, and for sampled positions, the pairing mostly is the best coupling, and only the first is left."
)

# %% [markdown]
# The second error is not of the form $c/n$, and more data may never suffice. Take $y = -x$ with independent normal
# coordinates: both clouds are the same distribution, so with infinitely many points the score is 1. But for $d > 4$ the
# distance of two samples falls only as $n^{-1/d}$ {cite}`fournier2015rate`:

# %% tags=["hide-input"]
cloud = np.random.default_rng(seed).standard_normal((1024, 16))
rows = {}
for d in (1, 2, 4, 8, 16):
    for n in (64, 256, 1024):
        parts = np.split(cloud[:, :d], 1024 // n)
        scores = [
            affscore.affinity_score(x, -x, "empirical").value for x in parts
        ]
        rows.setdefault(d, {})[f"n = {n}"] = np.mean(scores)
pd.DataFrame(rows).T.rename_axis("d").round(2)

# %% [markdown]
# ### Under every choice
#
# The bias of the smallest and of the largest batches, mean over the networks, for the twelve specifications. Above zero:
# small batches look too linear.

# %% tags=["hide-input"]
ends = measured[
    [
        n in (few[data], many[data])
        for n, data in zip(measured["n"], measured["data"], strict=True)
    ]
]
by_choice = ends.pivot_table(
    index=SPECIFICATION[:4],
    columns=["data", "n"],
    values="change",
    sort=False,
)
by_choice.columns = [f"{data}, n = {n}" for data, n in by_choice.columns]
by_choice.round(3)

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
    + f". It is positive in {(by_choice[at_few] > 0).to_numpy().mean():.0%} of the cells, and smallest where the coupling is "
    "exact and means are taken after the activation."
)

# %% [markdown]
# ### Does the extrapolation remove it?
#
# {doc}`09_a_multiverse_of_signatures` extrapolates from two halves of a batch to infinite $n$, as if the bias were $c/n$. The root
# mean square over activations of score minus the reference, mean over networks, as measured and extrapolated:

# %% tags=["hide-input"]
both = {"as measured": "none", "extrapolated": "extrapolated"}
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
errors = errors.sort_index(
    level="data",
    key=lambda data: data != "digits",
    kind="stable",
    sort_remaining=False,
)
errors.round(3)

# %% tags=["remove-input"]
before, after = (errors.xs(label, axis=1, level="score") for label in both)
removed = 1 - after.mean() / before.mean()
Markdown(
    f"It removes {removed['mean, paired']:.0%} of this error under the paired coupling, and {removed['mean, exact']:.0%} under "
    f"the exact one ({removed['sampled position, exact']:.0%} for sampled positions, which mostly are coupled as they are "
    f"paired). After it the error is smaller in {(after < before).to_numpy().sum()} of {after.size} cells. **So the dependence on "
    "$n$ is a bias near $c/n$ as far as it is that of the covariance, and less so where a coupling has to be found.**"
)

# %% [markdown]
# ### Which layers?
#
# The change from the smallest to the largest $n$ by the width $d$ of the activation, mean over the activations of that width
# in all networks:

# %% tags=["hide-input"]
parts = {}
for data, one in batches.items():
    for way in ("paired", "exact"):
        wide = under(one, WAYS[f"mean, {way}"]).pivot_table(
            index=["model", "index", "width"], columns="n", values="score"
        )
        parts[data, way] = (
            (wide[many[data]] - wide[few[data]])
            .groupby("width")
            .mean()
            .round(3)
        )
        parts[data, "activations"] = wide.groupby("width").size()
pd.DataFrame(parts).sort_index(axis=1, level=0, sort_remaining=False).astype(
    object
).fillna("")

# %% [markdown]
# ## Figure 8, right: the seed
#
# Nine trainings of the mini VGG16 on the digits, from seeds 1 to 9, each measured in one batch of 512:

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-10-seeds", "caption": "Signatures of one architecture that was trained from nine seeds, a colour each, as in figure 8 of the paper (`affscore.figures.repeated_signatures`)."}, "image": {"alt": "Lines over the activations of the mini VGG16, one for each seed. They have the same shape and differ by a few hundredths at most activations."}}
repeated_signatures(
    {f"mini VGG16 on digits, {vggs.shape[1]} trainings": under(seeds)}, "seed"
)
plt.show()

# %% tags=["remove-input"]
deviation = vggs.std(axis=1)
means = vggs.mean()
vgg = under(batches["digits"]).query("model == 'vgg16'")
wide = vgg.pivot_table(index="index", columns="n", values="score")
of_size = ((wide[few["digits"]] - wide[many["digits"]]) ** 2).mean() ** 0.5
Markdown(
    f"The standard deviation over seeds is {deviation.min():.3f} to {deviation.max():.3f} (largest at activation "
    f"{deviation.idxmax() + 1}), root mean square "
    f"{(deviation**2).mean() ** 0.5:.3f}: {((deviation**2).mean() / vggs.mean(axis=1).var()) ** 0.5:.0%} of that over the "
    f"activations. The mean score of a network has {means.std():.3f} over seeds (from {means.min():.3f} to {means.max():.3f}). "
    f"For the same network batches of {few['digits']} instead of {many['digits']} change a score by {of_size:.3f}."
)

# %% [markdown]
# One training is a sample of one. A difference between two networks that were trained once each counts only if it is larger
# than this; more images do not help.
#
# ## What of the claim survives
#
# "Robust" made testable, as in {doc}`the ledger <80_the_ledger>`: *less than half* of what it is compared with, with a 95 %
# interval. A signature is robust if the change is less than half of the standard deviation over its activations;
# conclusions on networks are, if their mean score changes by less than half of the standard deviation over
# networks. Each was asked again under the twelve specifications.

# %% tags=["hide-input"]
claims = [
    figure_08.batch_size_keeps_the_signature, figure_08.batch_size_keeps_networks_apart, figure_08.images_change_little,
    figure_08.seeds_keep_the_signature, figure_08.seeds_change_little,
]  # fmt: skip
ledger.conclusions(*(claim.name for claim in claims))

# %% tags=["hide-input"]
decided = [
    (kind.about, claim.decide(kind))
    for claim in claims
    for kind in ledger.results.kinds
]
with pd.option_context("display.max_colwidth", None):
    rows = [
        (about, verdict.found)
        for about, verdict in decided
        if verdict is not None
    ]
    display(
        pd.DataFrame(
            rows, columns=["tested on", "found, under the papers' choice"]
        ).set_index("tested on")
    )

# %% [markdown]
# ## Takeaways
#
# * Report $n$ with a signature, and compare only signatures of the same $n$: what differs between batch sizes is bias.
# * Chance falls as $n^{-1/2}$ and with the number of batches; bias does only with $n$.
# * Fewer points make a covariance too flexible (score too high) and a coupling too poor (too low). Under the papers'
#   choice the two partly cancel.
# * Retraining moves a signature more than the batch size does. An error over batches is not an error over trainings.
#
# ## Exercises
#
# ```{exercise} 10.1 The error of an average
# :label: ex-10-1
# :nonumber:
#
# A score that was measured in one batch is 0.02 too high on average, with a standard deviation of 0.04 over batches.
# Somebody averages 16 independent batches. What is the root mean square error of this average? Hand in the number.
# ```

# %%
answer = None  # your answer here
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
# Make up inputs $x$ and outputs $y$, arrays of shape $(512, d)$ with $d \le 64$, whose 16 consecutive batches of 32 have a
# mean score that is at least 0.05 *lower* than the score of all 512 points (empirical covariance, exact coupling). Hand in
# `(x, y)`.
# ```

# %%
answer = None  # your answer here
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
# `affscore.survey.studies.load_study("seeds")` has the nine trainings under every specification. What is the standard
# deviation over the seeds of the score of each activation, under the default specification? Hand in an array, in the order
# of the activations.
# ```

# %%
answer = None  # your answer here
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
