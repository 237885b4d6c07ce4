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

# %%

# %% [markdown]
# # What training does
#
# The paper measures a VGG-16 before and after training (paper Fig. 9), and says: at initialisation "the signature is
# increasing, reaching almost a perfectly linear pattern in the last layers"; training makes the network more
# non-linear. On eight networks on photographs we see the same, and where it happens: inside the blocks. On small networks
# from nine seeds we see the way there, and you can watch a training of your own at next to no cost.

# %% tags=["parameters"]
before: list[str] = []  # untrained, MODEL@WEIGHTS; none: nine of the study
after: list[str] = []  # the same trained, in this order; one architecture
dataset: str = "digits"  # for networks of your own: digits, folder:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder of results, seen from this notebook
jobs: int = 2  # networks to measure at once, where results are missing
steps: int = 60  # of the training in this chapter
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images, and of the training in this chapter

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import affscore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from affscore import AffscoreError, analysis
from affscore.figures import bundles_of_signatures, scores_over_steps, table
from affscore.options import Specification
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey import load_or_measure, stored_multiverses
from affscore.survey.shipped import shipped_signature
from affscore.survey.studies import load_study, study_of, under
from IPython.display import Markdown
from torch.nn.functional import cross_entropy

pd.set_option("display.max_colwidth", None)  # conclusions are sentences

# %% [markdown]
# ## Eight networks on photographs
#
# Networks of 20 to 56 layers, with and without residual connections {cite}`he2016deep`, with their initial weights and
# after training on CIFAR-10; both measured on its test images in batches of 512.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-before-after-cifar", "caption": "Signatures before and after training on CIFAR-10. Before, they rise to nearly 1 within a few layers, as in paper Fig. 9. Training lowers every second score of the residual networks by 0.3 and hardly touches the others; without shortcuts it lowers all of them (`affscore.figures.bundles_of_signatures`)."}, "image": {"alt": "Four panels of affinity scores over the depth, for networks of 20 and 56 layers without and with shortcuts. Before training the lines rise from 0.7 to above 0.9. After training the lines of the plain networks lie between 0.6 and 0.9, and those of the residual networks jump between 0.6 and 0.95 from one activation to the next."}}
kinds = {"plainnet": "plain", "resnet": "residual"}


def on_cifar(study, group):
    names = study["model"].str.rpartition(":")[2].str.extract(r"(\D+)(\d+)")
    network = names[0].map(kinds) + ", " + names[1] + " layers"
    return study.assign(
        network=network, kind_of=names[0].map(kinds), group=group
    )


stages = {
    "before": load_study("untrained-cifar"),
    "after": study_of(
        one
        for one in stored_multiverses()
        if one.metadata["model"].startswith("cifar_networks.py")
    ),
}
stages = {
    when: on_cifar(study, f"{when} training")
    for when, study in stages.items()
}
photographs = pd.concat(under(study) for study in stages.values())
shown = [
    f"{kind}, {layers} layers"
    for layers in (20, 56)
    for kind in ("plain", "residual")
]
panels = photographs[photographs["network"].isin(shown)]
bundles_of_signatures(
    panels.assign(line=panels["model"]).sort_values(
        "network", key=lambda names: names.map(shown.index), kind="stable"
    ),
    panels="network",
    columns=2,
)
plt.show()

# %% tags=["remove-input"]
wide = photographs.pivot_table(
    index=["network", "index"], columns="group", values="score"
)
real = wide.groupby("network").mean()
real["fall"] = real["before training"] - real["after training"]
first = wide["before training"].groupby("network")
real["rise"] = first.apply(
    lambda scores: np.corrcoef(np.arange(len(scores)), scores)[0, 1]
)
real["last"] = first.apply(lambda scores: scores.iloc[-3:].mean())
every = {
    when: study.groupby([*Specification._fields, "network"])["score"].mean()
    for when, study in stages.items()
}
fall_everywhere = (every["before"] > every["after"]).groupby(
    list(Specification._fields)
)
agree = fall_everywhere.all()
Markdown(
    f"**Before training the scores rise with depth in "
    f"{(real['rise'] > 0).sum()} of {len(real)} networks, and the last three "
    f"activations score {real['last'].min():.2f} to "
    f"{real['last'].max():.2f}. Training lowers the mean score in "
    f"{(real['fall'] > 0).sum()} of {len(real)}**, from "
    f"{real['before training'].mean():.2f} to "
    f"{real['after training'].mean():.2f} on average. All "
    f"{len(real)} fall under {agree.sum()} of {len(agree)} choices of "
    "reduction, order, covariance and coupling."
)

# %% [markdown]
# Which activations? In a residual network the first activation of a block and the one after the sum begin alike, and
# training takes them apart.

# %% tags=["hide-input"]
titles = {
    "first": "first of a block",
    "second": "second of a block",
    "after-sum": "after a sum",
    "hidden": "stem",
}
place = photographs["kind"].map(titles)
by_place = photographs.assign(place=place).pivot_table(
    index=["kind_of", "place"], columns="group", values="score"
)
by_place["change"] = by_place["after training"] - by_place["before training"]
columns = ["before training", "after training", "change"]
table(by_place.rename_axis([None, None]), {name: name for name in columns})

# %% tags=["remove-input"]
inside, sums = (
    by_place.loc[("residual", name)]
    for name in ("first of a block", "after a sum")
)
residual = photographs[photographs["kind_of"] == "residual"]
apart = {
    when: np.mean(
        [
            analysis.common_language_effect_size(
                one.loc[one["kind"] == "after-sum", "score"],
                one.loc[one["kind"] == "first", "score"],
            )
            for _, one in rows.groupby("network")
        ]
    )
    for when, rows in residual.groupby("group")
}
Markdown(
    "A score after a sum exceeds one inside a block in "
    f"{apart['before training']:.0%} of all pairs before training and in "
    f"{apart['after training']:.0%} after it. The two groups of "
    "{doc}`12_what_a_residual_connection_does` are made by training, not by "
    "the shortcut alone."
)

# %% [markdown]
# ```{admonition} What *before training* means here
# :class: caution
#
# One draw of He's initial weights, one batch of 512 images, and batch norms that do nothing: an untrained one, in
# evaluation mode, subtracts 0 and divides by 1. In that these networks are like the paper's VGG-16, which has none.
# Exercise 11.5 asks how to find out what it does.
# ```
#
# ## Nine small VGG-16s
#
# One training is an anecdote. Nine trainings of a small VGG-16 on 8 x 8 digits show what a seed does (or the networks of
# this notebook's parameters):

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-before-after", "caption": "Signatures of one architecture before and after training, from several seeds: thin lines the seeds, thick lines their means. By default small VGG-16s on digits: training lowers the scores of the middle most, and before it they do not rise with depth (paper Fig. 9; `affscore.figures.bundles_of_signatures`)."}, "image": {"alt": "Affinity score over the depth of the activations in two bundles of thin lines, before and after training, with a thick line for the mean of each bundle."}}
if len(before) != len(after):
    raise AffscoreError(
        f"each network needs both: got {len(before)} untrained "
        f"and {len(after)} trained networks"
    )
if before:
    options = {
        "n": n,
        "images": images or None,
        "jobs": jobs,
        "device": device,
        "seed": seed,
        "progress": False,
    }
    found = load_or_measure([*before, *after], dataset, store, **options)
    both = [
        study_of([found[name]]).assign(seed=place)
        for names in (before, after)
        for place, name in enumerate(names)
    ]
    if len({tuple(one["layer"]) for one in both}) > 1:
        raise AffscoreError(
            "expected networks of one architecture, "
            f"got {', '.join([*before, *after])}"
        )
    untrained, trained = (
        pd.concat(some) for some in (both[: len(before)], both[len(before) :])
    )
else:
    untrained, trained = map(under, map(load_study, ("untrained", "seeds")))
bundles_of_signatures(
    pd.concat(
        [
            untrained.assign(group="before training"),
            trained.assign(group="after training"),
        ]
    ).rename(columns={"seed": "line"})
)
plt.show()

# %% tags=["remove-input"]
first, last = (
    one.pivot_table(index="seed", columns="index", values="score")
    for one in (untrained, trained)
)
change = last - first
rises = first.corrwith(
    pd.Series(range(first.shape[1]), first.columns), axis=1
)
falls = (change.mean(axis=1) < 0).sum()
most = change.mean().idxmin()
full_size = {
    name: shipped_signature(f"shipped:{name}@random").scores
    for name in ("vgg11", "vgg13")
}
Markdown(
    f"{len(first)} {'network' if len(first) == 1 else 'networks'} of "
    f"{first.shape[1]} activations on {trained['dataset'].iloc[0]}: training "
    f"lowers the mean score in {falls}, from {first.mean(axis=None):.2f} to "
    f"{last.mean(axis=None):.2f} on average, and most at activation "
    f"{most + 1} ({change.mean()[most]:+.2f}). The scores before training "
    f"rise with depth in {(rises > 0).sum()} of {len(rises)} (correlation "
    f"{rises.min():.2f} to {rises.max():.2f}), and the last three activations "
    f"score {first.iloc[:, -3:].mean(axis=None):.2f}. VGGs of full size with "
    "torchvision's initial weights, on images of noise, do not become nearly "
    "linear either: their last three activations score "
    + " and ".join(
        f"{scores[-3:].mean():.2f} ({name})"
        for name, scores in full_size.items()
    )
    + ". So the fall is general here, and the rise before it is not."
)

# %% [markdown]
# ## On the way
#
# The small trainings, measured every epoch (19 steps) on 512 held-out digits. While a network trains the score is that of
# the **pairing** (each input with its own output), a lower bound of the exact one that needs no assignment
# problem: {doc}`90_what_it_costs` says what a measurement costs.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-course", "caption": "The first of nine trainings of a small VGG-16 on digits, from random weights to the end: the scores rise at first, while the accuracy does, and fall afterwards (`affscore.figures.scores_over_steps`)."}, "image": {"alt": "Upper panel: affinity scores of fifteen activations over optimisation steps, coloured by depth, with a dashed line for their mean. Lower panel: the accuracy on held-out digits, which rises from one tenth to nearly one."}}
course = load_study("seeds-course")
scores_over_steps(course[course["seed"] == 1], "small VGG-16, seed 1")
plt.show()

# %% tags=["remove-input"]
wide = course.pivot_table(
    index=["seed", "step"], columns="index", values="score"
)
began = wide.xs(0, level="step")
away = wide.sub(began, level="seed").pow(2).sum(axis=1).pow(0.5)
ways = pd.DataFrame(
    {
        "distance": away / away.groupby("seed").transform("max"),
        "accuracy": course.groupby(["seed", "step"])["accuracy"].first(),
    }
)
over_seeds = ways.groupby("step").mean()
level = course.groupby("step")["score"].mean()
halfway = {
    name: over_seeds.index[over_seeds[name] >= over_seeds[name].max() / 2][0]
    for name in over_seeds
}
Markdown(
    f"Over the nine trainings half of the way (the distance from the first "
    f"signature) is made in the first {halfway['distance']} of "
    f"{over_seeds.index[-1]} steps, and half of the accuracy comes in the "
    f"first {halfway['accuracy']}. The mean score takes a detour: from "
    f"{level.iloc[0]:.2f} up to {level.max():.2f} at step {level.idxmax()}, "
    f"then down to {level.iloc[-1]:.2f}. **The network bends after it has "
    "learned most of what it will.**"
)

# %% [markdown]
# ## Your own training
#
# `affscore.track` measures a network while it trains. One line makes the tracker, one line a step feeds it:

# %%
torch.manual_seed(seed)
images_, labels = affscore.zoo.digits("train")
network = affscore.load_model("mini:digitsnet@random", seed)
to_network = affscore.zoo.card_of(network).preprocessing
pictures = torch.stack([to_network(image) for image in images_[:480]])
optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3)

with affscore.track(network, "digits", every=20, n=256) as tracker:
    for _ in range(steps):
        chosen = torch.randint(len(pictures), (64,))
        optimiser.zero_grad()
        cross_entropy(
            network.train()(pictures[chosen]), labels[chosen]
        ).backward()
        optimiser.step()
        tracker.step()
tracker

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-own", "caption": "What the tracker has recorded of that training: `tracker.plot()`."}, "image": {"alt": "Affinity scores of nine activations over some tens of optimisation steps, coloured by depth, with their mean and the accuracy below."}}
tracker.plot()
plt.show()

# %% [markdown]
# `tracker.table` has a row for each measured step and activation; `tracker.save("training.parquet")` writes it, and
# `affscore.load_record` reads it. The training is not changed: with and without a tracker the weights are the same to the
# last bit. One that is interrupted resumes with its record: put `tracker.state_dict()` into the checkpoint. For Lightning
# and Hugging Face's Trainer there are callbacks: {doc}`../book/how_to_run_with_your_model`.
#
# ## What holds, and under which choices
#
# The columns are those of {doc}`80_the_ledger`. (The networks on CIFAR-10 are no VGGs, so they are not asked there.)

# %% tags=["hide-input"]
conclusions = Ledger(AllResults.gather()).conclusions(
    "training-bends", "seeds-change-little"
)
table(
    conclusions.set_index("tested on", append=True).rename_axis([None, None]),
    {"verdict": "verdict", "under other choices": "under other choices"},
)

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
Markdown(
    f"* Training bends networks. In {(real['fall'] > 0).sum()} of "
    f"{len(real)} networks on CIFAR-10 it lowers the mean score, from "
    f"{real['before training'].mean():.2f} to "
    f"{real['after training'].mean():.2f} on average; before it, the last "
    f"three activations score {real['last'].min():.2f} to "
    f"{real['last'].max():.2f}, nearly linear, as the paper says.\n"
    "* It bends the inside of residual blocks: there the scores go from "
    f"{inside['before training']:.2f} to {inside['after training']:.2f}, and "
    f"after the sums from {sums['before training']:.2f} to "
    f"{sums['after training']:.2f}.\n"
    f"* The bending comes late. In nine small trainings half of the accuracy "
    f"is there after {halfway['accuracy']} of {over_seeds.index[-1]} steps, "
    f"while the mean score rises from {level.iloc[0]:.2f} to "
    f"{level.max():.2f}; it ends at {level.iloc[-1]:.2f}."
)

# %% [markdown]
# ## Takeaways
#
# * The untrained signature is the baseline: say what training changed, not only what is there at the end.
# * Whether an untrained network is nearly linear depends on the architecture, the initial weights and the images. That
#   training lowers the scores did not, in any of the networks here.
# * Tracking is cheap. A curve of scores beside the loss shows when layers stop changing, and when one goes dead.
#
# ## Exercises
#
# ```{exercise} 11.1 How many measurements?
# :label: ex-11-1
# :nonumber:
#
# *Compute · 5 minutes · easy.* Aim: know when a tracker measures.
#
# A training has 550 steps. `with affscore.track(network, probe, every=100) as tracker:` surrounds its loop. After how many of
# the steps 0 (before the first), 1, ..., 550 is the network measured? Hand in the number.
# ```
#
# ```{admonition} Hint for 11.1
# :class: dropdown hint
#
# Do not forget both ends.
# ```

# %%
answer = None  # your answer here: a number
# affscore.exercises.check("11.1", answer)

# %% [markdown]
# ```{solution-start} ex-11-1
# :class: dropdown
# ```
#
# After 0, 100, 200, 300, 400 and 500 steps, and after the last.

# %%
affscore.exercises.check("11.1", 7)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 11.2 A bias that linearises
# :label: ex-11-2
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see how a mean away from the bend makes a ReLU linear.
#
# Before training, the inputs of a ReLU are nearly normal. Let one be standard normal plus a bias $b \ge 0$. At which bias
# does the score of the ReLU (one coordinate, empirical covariance) reach 0.95? Hand in the number, to within 0.05.
# ```
#
# ```{admonition} Hint for 11.2
# :class: dropdown hint
#
# Take quantiles of the normal distribution instead of random numbers, and try biases on a grid.
# ```

# %%
answer = None  # your answer here: a number
# affscore.exercises.check("11.2", answer)

# %% [markdown]
# ```{solution-start} ex-11-2
# :class: dropdown
# ```
#
# Try biases on a grid of quantiles of the normal distribution.

# %%
from scipy.stats import norm

x = norm.ppf((np.arange(200) + 0.5) / 200)[:, None]
biases = np.arange(0, 3, 0.05)
enough = [
    affscore.affinity_score(x + b, np.maximum(x + b, 0), "empirical").value
    >= 0.95
    for b in biases
]
affscore.exercises.check("11.2", biases[np.argmax(enough)])

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 11.3 Killed and resumed
# :label: ex-11-3
# :nonumber:
#
# *Compute · 5 minutes · easy.* Aim: know what a checkpoint must hold.
#
# A training of 1,000 steps is tracked every 100 steps, and killed at step 730. It resumes from its checkpoint of step 700,
# which holds the state of the tracker, too. How many different steps are in the record in the end? Hand in the number.
# ```
#
# ```{admonition} Hint for 11.3
# :class: dropdown hint
#
# Compare with a training that is not killed.
# ```

# %%
answer = None  # your answer here: a number
# affscore.exercises.check("11.3", answer)

# %% [markdown]
# ```{solution-start} ex-11-3
# :class: dropdown
# ```
#
# As many as without the interruption: 0, 100, ..., 1,000.

# %%
affscore.exercises.check("11.3", 11)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 11.4 Towards the bend, and past it
# :label: ex-11-4
# :nonumber:
#
# *Prove · 30 minutes · hard.* Aim: derive the score of a ReLU on one normal coordinate.
#
# Let $d = 1$, with infinitely many samples, and let $\sigma$ be non-decreasing. Show that the score is $1 - \sqrt{1 - r}$,
# where $r$ is Pearson's correlation of $x$ and $\sigma(x)$. Then let $x$ be normal with mean $b$ and variance 1, and
# $\sigma$ the ReLU. Show that $\operatorname{Cov}(x, \sigma(x)) = \Phi(b)$, compute the score at $b = 0$, and find its
# limits for $b \to \infty$ and $b \to -\infty$. Why are they not the same, although a ReLU that is always off is constant?
# ```
#
# ```{admonition} Hint for 11.4
# :class: dropdown hint
#
# In one dimension the optimal coupling keeps the order. For the covariance use Stein's identity
# $\operatorname{Cov}(x, f(x)) = \mathbb E f'(x)$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-11-4
# :class: dropdown
# ```
#
# In one dimension $T(x) = \frac{s_y}{s_x} (x - m_x) + m_y$ is increasing, and so is $y = \sigma(x)$ in $x$; the optimal
# coupling on the line keeps the order, so it is $x \mapsto \sigma(x)$. Both $T x$ and $y$ have mean $m_y$ and variance
# $s_y^2$, hence $W_2^2 = \mathbb E (T x - y)^2 = 2 s_y^2 - 2 \frac{s_y}{s_x} \operatorname{Cov}(x, y) = 2 s_y^2 (1 - r)$.
# Divided by the square of the bound, $2 s_y^2$, that is $1 - r$, and the score is $1 - \sqrt{1 - r}$.
#
# Stein: $\operatorname{Cov}(x, \sigma(x)) = \mathbb P(x > 0) = \Phi(b)$. At $b = 0$ it is $\frac12$, and the variance of the
# output is $\frac12 - \frac1{2\pi}$, so $r = 0.856$ and the score is 0.621.
#
# For $b \to \infty$ the input is positive with probability near 1 and $\sigma(x) - x$ tends to 0 in mean square, so
# $r \to 1$ and the score tends to 1. For $b \to -\infty$, with $t = |b|$ and the normal density $\varphi$, $\Phi(-t) \sim
# \varphi(t) / t$, and $\mathbb E \sigma(x)^2 = \int_0^\infty u^2 \varphi(u + t)\, du \sim 2 \varphi(t) / t^3$, which is
# also the variance, as the square of the mean is of the order $\varphi(t)^2$. So $r^2 \sim (\varphi^2 / t^2) / (2 \varphi /
# t^3) = t\, \varphi(t) / 2 \to 0$: the score tends to 0.
#
# The score is relative to the variance of the output. What is left of it comes from a few inputs that pass the bend, and
# no increasing affine map of a normal distribution looks like many equal values and a few large ones. Only where the
# output is exactly constant the score is 1, by definition: the limit is not continuous.
#
# **Rubric** (8 points)
#
# * 3: the formula, with the reason that the monotone coupling is optimal.
# * 1: the covariance.
# * 1: 0.621.
# * 1: the limit 1.
# * 1: the limit 0.
# * 1: the explanation, with the case of a constant.

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 11.5 Why are they so linear before training?
# :label: ex-11-5
# :nonumber:
#
# *Design · 30 minutes · hard.* Aim: separate the causes of an observation.
#
# The untrained networks of {numref}`fig-before-after-cifar` become nearly linear within a few layers. Candidates: batch
# norms that do nothing; images that look more and more alike deeper in the network, so that every channel is on one side of
# the bend; the average over positions; the scale of the initial weights. Design the smallest set of measurements that tells
# which of them matter. Use what this package has, and say what each result would mean.
# ```
#
# ```{admonition} Hint for 11.5
# :class: dropdown hint
#
# Change one thing at a time. What would `reduction="sample"` show, and what a forward pass in training mode?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-11-5
# :class: dropdown
# ```
#
# All on ResNet-20 and PlainNet-20, five draws of the weights, the same 512 images, mean score of the last third.
#
# 1. *Batch norm.* Pass the images through once in training mode with momentum 1 so that the running statistics are those of
#    the data, then measure in evaluation mode. If the scores fall to about 0.6 to 0.7, the norms were the cause: they centre
#    each channel at its bend.
# 2. *Alike images.* Record for each channel the mean and the standard deviation over images of the reduced input; the ratio
#    $|m| / s$ says how far the bend is. If it grows with depth, and score and ratio go together over the layers (with and
#    without 1), this is the mechanism, whatever causes it.
# 3. *Average.* `reduction="sample"` needs no new forward pass; the study has it (`load_study("untrained-cifar")`): the mean
#    over the networks is lower by about 0.12, but still above that after training. So the average explains a part.
# 4. *Scale.* Multiply all convolutions by 0.5 and by 2. Without norms a ReLU network without biases is positively
#    homogeneous: all feature maps scale, and a score does not see a scale. Nothing changes in the plain network, which can
#    be said without measuring; in the residual one branch and shortcut scale differently, so there it must be measured.
#
# 1 and 2 belong together: 1 is an intervention, 2 the quantity that it acts on.
#
# **Rubric** (8 points)
#
# * 2: an intervention on the batch norms that keeps all else.
# * 2: a measurement of how far inputs are from the bend.
# * 1: the other reduction, with or without the number.
# * 1: the scale, with the homogeneity of the plain network.
# * 1: several draws of the weights.
# * 1: what each result would mean.

# %% [markdown]
# ```{solution-end}
# ```
