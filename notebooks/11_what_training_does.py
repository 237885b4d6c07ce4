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
# # What training does
#
# The paper measures a VGG-16 before and after training (figure 9), and says: at initialisation "the signature is
# increasing, reaching almost a perfectly linear pattern in the last layers"; training makes the network more
# non-linear. This chapter does it from nine seeds, looks at the way in between, and shows how to watch a training of your
# own.

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
from affscore import AffscoreError
from affscore.figures import bundles_of_signatures, scores_over_steps
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.survey import load_or_measure
from affscore.survey.shipped import shipped_signature
from affscore.survey.studies import load_study, study_of, under
from IPython.display import Markdown
from torch.nn.functional import cross_entropy

if len(before) != len(after):
    raise AffscoreError(
        f"each network needs both: got {len(before)} untrained and {len(after)} trained networks"
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
            f"expected networks of one architecture, got {', '.join([*before, *after])}"
        )
    untrained, trained = (
        pd.concat(both[: len(before)]),
        pd.concat(both[len(before) :]),
    )
else:
    untrained, trained = (
        under(load_study("untrained")),
        under(load_study("seeds")),
    )
stages = pd.concat(
    [
        untrained.assign(group="before training"),
        trained.assign(group="after training"),
    ]
)
means = stages.pivot_table(index="seed", columns="group", values="score")
print(
    f"{len(means)} networks of {trained['index'].nunique()} activations on {trained['dataset'].iloc[0]}"
)

# %% tags=["remove-input"]
rises = untrained.groupby("seed").apply(
    lambda rows: np.corrcoef(rows["index"], rows["score"])[0, 1],
    include_groups=False,
)
last = untrained.groupby("seed")["score"].apply(
    lambda scores: scores.iloc[-3:].mean()
)
fall = means["before training"] - means["after training"]
change = trained.pivot_table(
    index="seed", columns="index", values="score"
) - untrained.pivot_table(index="seed", columns="index", values="score")
falls = (fall > 0).sum()
Markdown(
    f"**The finding.** Before training the scores {'rise' if rises.mean() > 0 else 'fall'} with depth for "
    f"{max((rises > 0).sum(), (rises < 0).sum())} of {len(rises)} networks (correlation {rises.min():.2f} to "
    f"{rises.max():.2f}); the paper reports a rise. The last three activations score "
    f"{last.mean():.2f} on average: {'nearly' if last.mean() > 0.9 else 'not'} linear. "
    f"Training {'lowers' if 2 * falls > len(fall) else 'raises'} the mean score, from "
    f"{means['before training'].mean():.3f} to {means['after training'].mean():.3f}, for "
    f"{max(falls, len(fall) - falls)} of {len(fall)} networks."
)

# %% [markdown]
# You will learn
#
# * what the signature of an untrained network says, and where it comes from,
# * when, in a training, the scores change,
# * how to record the signature of your own training with `affscore.track`, at next to no cost.
#
# ## Before and after

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-before-after", "caption": "Signatures of a small VGG-16 before and after training on digits, from nine seeds each: thin lines the seeds, thick lines their means (figure 9 of the paper; `affscore.figures.bundles_of_signatures`)."}, "image": {"alt": "Affinity score over the depth of the activations in two bundles of thin lines, before and after training, with a thick line for the mean of each bundle."}}
bundles_of_signatures(stages.rename(columns={"seed": "line"}))
plt.show()

# %% [markdown]
# How far training moves each activation, as a mean over the seeds, and how much that differs between seeds:

# %% tags=["hide-input"]
moves = pd.DataFrame(
    {
        "before": untrained.groupby("index")["score"].mean(),
        "after": trained.groupby("index")["score"].mean(),
        "change": change.mean(),
        "deviation of the change": change.std(),
        "seeds that fall": (change < 0).sum(),
    }
)
moves.round(3)

# %% [markdown]
# In the study, small VGG-16s on digits, the fall is seen again, most in the middle layers; the rise to nearly linear is not. Is
# that because these networks are small? The package has
# VGGs of full size with torchvision's initial weights, on images of noise. Their last three activations:

# %% tags=["hide-input"]
full_size = {
    name: shipped_signature(f"shipped:{name}@random").scores
    for name in ("vgg11", "vgg13")
}
pd.DataFrame({name: [scores.mean(), scores[-3:].mean()] for name, scores in full_size.items()},
             index=["mean score", "last three"]).round(3)  # fmt: skip

# %% [markdown]
# So neither do these become nearly linear. The paper does not say how its VGG-16 was initialised.
#
# ## On the way
#
# The same trainings, measured every epoch (19 steps) on 512 held-out digits. While a network trains the score is that of
# the **pairing** (each input with its own output), a lower bound of the exact one that needs no assignment
# problem: {doc}`90_what_it_costs` says what a measurement costs.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-course", "caption": "The first of the nine trainings, from random weights to the end: scores of all activations, and the accuracy on held-out digits (`affscore.figures.scores_over_steps`)."}, "image": {"alt": "Upper panel: affinity scores of fifteen activations over optimisation steps, coloured by depth, with a dashed line for their mean. Lower panel: the accuracy on held-out digits, which rises from one tenth to nearly one."}}
course = load_study("seeds-course")
scores_over_steps(course[course["seed"] == 1], "small VGG-16, seed 1")
plt.show()

# %% [markdown]
# When does a signature change? Its distance from where it began, as a share of the largest distance in that training, beside
# the accuracy, as means over the seeds:

# %% tags=["hide-input"]
began = (
    course[course["step"] == 0]
    .set_index(["seed", "index"])["score"]
    .rename("first")
)
away = course.join(began, on=["seed", "index"]).assign(
    square=lambda rows: (rows["score"] - rows["first"]) ** 2
)
away = away.groupby(["seed", "step"]).agg(
    distance=("square", "sum"), accuracy=("accuracy", "first")
) ** [0.5, 1]
away["distance"] /= away["distance"].groupby("seed").transform("max")
over_seeds = away.groupby("step").mean()
shown = [
    step
    for step in (0, 19, 38, 76, 152, 304, 456, 570)
    if step in over_seeds.index
]
over_seeds.loc[shown].rename(
    columns={"distance": "distance (share of the largest)"}
).round(3)

# %% tags=["remove-input"]
level = course.groupby("step")["score"].mean()
halfway = {
    name: over_seeds.index[over_seeds[name] >= over_seeds[name].max() / 2][0]
    for name in over_seeds
}
Markdown(
    f"Half of the change happens in the first {halfway['distance']} steps, half of the accuracy comes in the first "
    f"{halfway['accuracy']}, of {over_seeds.index[-1]} steps in all. The mean score takes a detour: from {level.iloc[0]:.2f} up "
    f"to {level.max():.2f} at step {level.idxmax()}, then down to {level.iloc[-1]:.2f}. The fall comes after the rise in accuracy."
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
# * `tracker.table` has a row for each measured step and activation; `tracker.save("training.parquet")` writes it, and
#   `affscore.load_record` reads it.
# * The training is not changed: with and without a tracker the weights are the same to the last bit. (The nine trainings
#   above are those of {doc}`10_batch_size_and_seed`, and were measured on the way.)
# * A training that is interrupted resumes with its record: put `tracker.state_dict()` into the checkpoint.
# * For Lightning and for Hugging Face's Trainer there are callbacks: {doc}`../book/how_to_run_with_your_model`.
#
# ## What holds, and under which choices
#
# The columns are those of {doc}`80_the_ledger`.

# %% tags=["hide-input"]
Ledger(AllResults.gather()).conclusions(
    "training-bends", "seeds-change-little"
)

# %% [markdown]
# ## Takeaways
#
# * A signature before training is a property of the architecture and of how its weights are drawn. It is the baseline
#   for everything that one says about training.
# * One network before and after is an anecdote: what a seed does must be known, too.
# * Tracking is cheap. A curve of scores beside the loss shows when layers stop changing, and when one goes dead.
#
# ## Exercises
#
# ```{exercise} 11.1 How many measurements?
# :label: ex-11-1
# :nonumber:
#
# A training has 550 steps. `with affscore.track(network, probe, every=100) as tracker:` surrounds its loop. After how many of
# the steps 0 (before the first), 1, ..., 550 is the network measured? Hand in the number.
# ```

# %%
answer = None  # your answer here
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
# Before training, the inputs of a ReLU are nearly normal. Let one be standard normal plus a bias $b \ge 0$. At which bias
# does the score of the ReLU (one coordinate, empirical covariance) reach 0.95? Hand in the number, to within 0.05.
# ```

# %%
answer = None  # your answer here
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
# A training of 1,000 steps is tracked every 100 steps, and killed at step 730. It resumes from its checkpoint of step 700,
# which holds the state of the tracker, too. How many different steps are in the record in the end? Hand in the number.
# ```

# %%
answer = None  # your answer here
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
