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
# *Does training make a network more non-linear (its scores lower), where, and when?* The paper says that it does, of a
# VGG-16 (paper Fig. 9).
#
# :::{admonition} What we found
# :class: findings
# **Training lowers the scores inside residual blocks, and changes those after the sum with a shortcut much less.** In four
# ResNets on CIFAR-10 those inside fall from {glue:text}`residual, inside a block-averages, untrained` to
# {glue:text}`residual, inside a block-averages, trained` (averages over positions). {bdg-success}`robust`
#
# **In plain networks the measure decides** whether they fall or rise. {bdg-warning}`depends`
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
before: str = ""  # an untrained network of your own: MODEL@WEIGHTS
after: str = ""  # the same, trained
dataset: str = "digits"  # their images: digits, folder:DIR, imagenet:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images, and of the training on this page

# %% tags=["remove-cell"]
import companion
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import json

import numpy as np
import pandas as pd
import torch
from IPython.display import HTML
from scipy.stats import norm
from torch.nn.functional import cross_entropy

import affscore
from companion.figures import bundles_of_signatures
from companion.networks import network_title
from companion.predicted import predicted_beside_measured
from companion.real_networks import real_multiverses, real_scores
from companion.studies import load_study, under
from companion.style import narrow, say, table

# %% [markdown]
# ## Where do the scores change?
#
# **Above all inside residual blocks.** After a sum little can change: a block with a shortcut adds to what came in, which
# is positive already, so the ReLU there has little to do at any time ({doc}`05_residual_connections`). We measured four
# ResNets {cite}`he2016deep` and their twins without shortcuts (*plain*), trained on CIFAR-10 by others
# ({doc}`06_a_decade`), and the same networks with initial weights (batch norms as in training).
#
# **The measure of this page**, unless it names another: channels are averaged over positions after the activation
# (*averages*), and the score is {term}`exact <coupling>`.

# %% mystnb={"figure": {"name": "fig-before-after-cifar", "caption": "Training lowers most scores, in ResNet-20 above all those inside a block, the low points of its zigzag. Two networks before and after training, on {term}`JPEG copies` of test images."}, "image": {"width": "540px", "alt": "Two panels of affinity scores over depth, plain-20 and ResNet-20, two lines each. Untrained, the plain network lies near 0.8 and the residual one jumps between 0.8 and 0.95. Trained, the plain network lies between 0.55 and 0.9, and the residual one jumps between 0.5 and 0.95."}}
trained = real_scores("CIFAR-10").assign(stage="trained")
names = trained[["model", "network", "family"]].drop_duplicates()
initial = under(load_study("untrained-cifar")).merge(names, on="model")
untrained = initial.query("weights != 'as built'").assign(stage="untrained")
trained = trained[trained["network"].isin(untrained["network"])]
scores = pd.concat([untrained, trained]).sort_values("family", kind="stable")
two = scores[scores["network"].isin(["plain-20", "ResNet-20"])]
two = two.assign(group=two["stage"], line=0)
bundles_of_signatures(two, panels="network", columns=1)

# %% [markdown]
# Means over four networks, with averages and at *one position* of each image:

# %%
where = {"first": "inside a block", "second": "inside a block"}
where["after-sum"] = "after a sum"
both = predicted_beside_measured().merge(names, on="model")
both["place"] = both["family"] + ", " + both["kind"].map(where)
both = both[both["stage"] != "norms off"]
ways = {"score_of_means": "averages", "score": "one position"}
places = both.pivot_table(list(ways), "place", "stage").rename(columns=ways)
places.columns = places.columns.map(", ".join)
places = places.dropna().iloc[::-1, ::-1]
table(places.rename_axis(None))

# %% tags=["remove-cell"]
say(places)

# %% [markdown]
# **The level depends on the measure**: averages lift the untrained scores inside residual blocks from
# {glue:text}`residual, inside a block-one position, untrained` to
# {glue:text}`residual, inside a block-averages, untrained`. Training lowers them under both. But in plain networks scores
# fall with these averages only; at one position, or with averages before the activation, they *rise*.
# {bdg-warning}`depends`

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Every choice of the measure", "code_prompt_hide": "How sure? Every choice of the measure"}
# What training adds to the mean score of a place: least and most over the
# covariances and couplings.
words = ["reduction", "order", "covariance", "coupling", "family", "kind"]
fresh = load_study("untrained-cifar").query("weights != 'as built'")
fresh = fresh.merge(names, on="model").replace({"kind": where})
done = real_multiverses("CIFAR-10").replace({"kind": where})
change = [one.groupby(words)["score"].mean() for one in (done, fresh)]
change = (change[0] - change[1]).dropna().unstack(["family", "kind"])
change = change.drop(columns="hidden", level="kind")
change = change.groupby(["reduction", "order"]).agg(["min", "max"]).T
ways = ["average after", "average before", "one position"]
table(change.set_axis(ways, axis=1))

# %% [markdown]
# ## When do the scores fall?
#
# At once, or as the network learns? We measured nine trainings of a mini VGG-16 (34,000 parameters) every 19 steps, on
# held-out digits. So many measurements need the *paired* score (each input keeps its own output), which is faster than
# the exact one and never above it. Slide back through one training, the nearest to the mean (numbers of this training):

# %% tags=["hide-input"]
course = load_study("seeds-course")
one = course.query("seed == 8").round(3)
shown = {
    "steps": one["step"].unique().tolist(),
    "accuracy": one.groupby("step")["accuracy"].first().tolist(),
    "scores": one.pivot_table("score", "step", "index").to_numpy().tolist(),
}
HTML(
    "<div id='training-window'>This window needs the site's JavaScript.</div>"
    f"<script type='application/json'>{json.dumps(shown)}</script>"
)

# %% [markdown]
# **The scores dip, rise, and then fall while the network still learns.** Means of all nine trainings; the exact score was
# measured at the ends only:

# %%
means = course.groupby("step")[["accuracy", "score"]].mean()
means = means.loc[[0, 19, 57, 247, 570]]
for step, name in {0: "untrained", 570: "seeds"}.items():
    means.loc[step, "exact"] = under(load_study(name))["score"].mean()
columns = {"accuracy": "accuracy (%)", "score": "paired score"}
columns["exact"] = "exact score"
means = means.rename_axis("step (mean of nine)")
table(means, columns, digits={"accuracy": 0})

# %% tags=["remove-cell"]
say(100 * means[["accuracy"]], "{:.0f} %")

# %% [markdown]
# From their peak the scores fall mostly between steps 57 and 247, while the accuracy rises from
# {glue:text}`57-accuracy` to {glue:text}`247-accuracy`; then neither moves much. The exact score falls by less, and this
# is one architecture on one small data set. {bdg-warning}`depends`

# %% [markdown]
# ## Aside: Is an untrained network nearly linear?
#
# **Without batch norms it comes near: at one position the scores of an untrained VGG-11 rise with depth to
# {glue:text}`VGG-11, no norms-measured`, because random weights make inputs alike.** {bdg-warning}`depends`
#
# The paper says of its untrained VGG-16 that "the signature is increasing, reaching almost a perfectly linear pattern in
# the last layers". Why? If two inputs have cosine $c$, a layer with random weights and ReLUs takes it to
# {cite}`cho2009kernel`
#
# $$
# c' = \frac{\sqrt{1 - c^2} + c\,(\pi - \arccos c)}{\pi} \ge c .
# $$
#
# So inputs become alike, and the mean of a channel becomes large beside its deviation. More and more ReLUs are on for all
# inputs, or off for all, and their scores rise. But a batch norm sets the mean back to 0, where a ReLU scores 0.62 at
# every depth, unless a shortcut comes before it.
#
# Do real initial weights behave so? `companion.predicted` follows means and variances through them, with independent
# Gaussian noise for images and for the output of each layer. It predicts one position, so we measure there.

# %% mystnb={"figure": {"name": "fig-predicted-rise", "caption": "The weights alone predict the rise of VGG-11, which has no norms, and the jumps of ResNet-20 after sums. Both untrained, measured at one position (empirical covariance), VGG-11 on noise, ResNet-20 on JPEG copies of CIFAR-10."}, "image": {"width": "540px", "alt": "Two panels of affinity scores over depth. In VGG-11 predicted and measured lines rise together from 0.62 to above 0.9. In ResNet-20 they jump together between 0.62 and above 0.8."}}
noise = predicted_beside_measured().query("stage != 'trained'")
# 512 images say too little of the 4,096 channels of linear layers.
noise = noise[~noise["layer"].str.startswith("classifier")]
noise = noise.assign(network=noise["model"].map(network_title))
noise = noise.rename(columns={"score_unshrunk": "measured"})
two = noise[(noise["model"] == "vgg11") | (noise["stage"] == "untrained")]
two = two[two["network"].isin(["VGG-11", "ResNet-20"])][::-1]
two = two.assign(depth=two["index"] + 1, line=0).drop(columns="score")
keys = ["network", "depth", "line"]
two = two.melt(keys, ["measured", "predicted"], "group", "score")
bundles_of_signatures(two, "network", columns=1, dashed="predicted")

# %% [markdown]
# This does not decide the paper's case. It averages over positions, which lowers VGG-11 from
# {glue:text}`VGG-11, no norms-measured` (mean over the last three convolutions) to
# {glue:text}`VGG-11, no norms-score_of_means`; why is open. Nor did we measure its untrained VGG-16 on photographs.

# %% [markdown]
# ## Aside: With the norms off
#
# **As a network is built, its norms subtract 0 and divide by 1 (*off*). Then it is nearly linear**: scores are
# {glue:text}`inside a block-norms off` inside a block and {glue:text}`after a sum-norms off` after a sum.
#
# Means over all eight networks:

# %%
initial["norms"] = "norms on"
initial.loc[initial["weights"] == "as built", "norms"] = "norms off"
off = initial.pivot_table("score", initial["kind"].map(where), "norms")
table(off.rename_axis(None))

# %% tags=["remove-cell"]
say(off)

# %% [markdown]
# At one position the weights then predict the level, but not always which layer scores higher (fold). Means over the last
# three activations (VGG-11: convolutions):

# %%
noise = noise.replace({"stage": {"untrained": "norms on"}})
last = noise.groupby(["network", "stage"]).tail(3)
last = last[~last["network"].isin(["VGG-13", "VGG-16"])]
kind = last["network"].replace(r"(plain|ResNet)-\d+", r"\1", regex=True)
columns = {"predicted": "predicted", "measured": "measured"}
columns["score_of_means"] = "measured, averages"
ends = last.groupby([kind, "stage"])[list(columns)].mean()
ends.index = ends.index.map(", ".join)
ends = ends.rename({"VGG-11, norms off": "VGG-11, no norms"})
table(ends.rename_axis(None), columns)

# %% tags=["remove-cell"]
say(ends)


# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Network by network", "code_prompt_hide": "How sure? Network by network"}
# Mean error over activations, and rank correlation with the measured ones.
# With norms on and no shortcut the prediction is constant, so that a rank
# means nothing. With norms off the 16 to 64 channels of a layer leave much to
# chance. The digits of the mini VGG-16 are mostly dark.
def agreement(rows):
    error = (rows["predicted"] - rows["measured"]).abs().mean()
    rank = rows["predicted"].corr(rows["measured"], "spearman")
    return pd.Series({"error": error, "rank": rank})


sure = noise.replace({"network": {"VGG-16": "mini VGG-16"}})
sure = sure.groupby(["network", "stage"]).apply(agreement).unstack()
sure.columns = sure.columns.map(", ".join)
table(sure)

# %% [markdown]
# ## Aside: Your own training
#
# `affscore.track` measures a network while it trains: one line makes the tracker, one line a step feeds it.

# %%
torch.manual_seed(seed)
digits, labels = affscore.models.digits("train")
network = affscore.load_model("mini:digitsnet@random", seed).train()
prepare = affscore.models.card_of(network).preprocessing
pictures = torch.stack([prepare(image) for image in digits[:480]])
optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3)

# %% mystnb={"figure": {"name": "fig-own", "caption": "The mean score of a small network with batch norms falls with its first steps. Paired scores, a line for each activation; below, the accuracy."}, "image": {"width": "540px", "alt": "Affinity scores of nine activations over sixty optimisation steps, coloured by depth, with their mean, which falls, and the accuracy below, which rises."}}
with affscore.track(network, "digits", every=20, n=256) as tracker:
    for _ in range(60):
        some = torch.randint(len(pictures), (64,))
        optimiser.zero_grad()
        cross_entropy(network(pictures[some]), labels[some]).backward()
        optimiser.step()
        tracker.step()
figure = tracker.plot()
narrow(figure)
figure

# %% [markdown]
# `tracker.table` has a row for each measured step and activation. The training is unchanged, to the last bit. There are
# callbacks for Lightning and Hugging Face's Trainer: {doc}`../book/how_to_run_with_your_model`.

# %% tags=["hide-input"] mystnb={"code_prompt_show": "A pair of your own", "code_prompt_hide": "A pair of your own"}
if before and after:
    from affscore import signature

    options = {"n": n, "images": images or None, "device": device}
    options |= {"seed": seed, "criteria": False}
    for name in (before, after):
        own = signature(name, dataset, **options).summary
        print(name, *own.groupby("kind")["score"].mean().round(2).items())

# %% [markdown]
# ## Exercises
#
# ```{exercise} 11.1 A bias that linearises
# :label: ex-11-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see how a mean away from the bend makes a ReLU linear.
#
# Before training, the inputs of a ReLU are nearly normal. Let one be standard normal plus a bias $b \ge 0$. At which bias
# does the score of the ReLU (one coordinate, empirical covariance) reach 0.95? Hand in the number, to within 0.05.
# ```
#
# ```{admonition} Hint for 11.1
# :class: dropdown hint
#
# Take quantiles of the normal distribution instead of random numbers, and try biases on a grid.
# ```

# %%
answer = None  # your answer here: a number
# companion.exercises.check("11.1", answer)

# %% [markdown]
# ```{solution-start} ex-11-1
# :class: dropdown
# ```
#
# As in the hint.

# %%
x = norm.ppf((np.arange(200) + 0.5) / 200)[:, None]
biases = np.arange(0, 3, 0.05)
enough = [
    affscore.affinity_score(x + b, np.maximum(x + b, 0), "empirical").value
    >= 0.95
    for b in biases
]
companion.exercises.check("11.1", biases[np.argmax(enough)])

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 11.2 Towards the bend, and past it
# :label: ex-11-2
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
# ```{admonition} Hint for 11.2
# :class: dropdown hint
#
# In one dimension the optimal coupling keeps the order. For the covariance use Stein's identity
# $\operatorname{Cov}(x, f(x)) = \mathbb E f'(x)$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-11-2
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
# The score is relative to the variance of the output, and what is left of it comes from a few inputs that pass the bend. Only
# where the output is exactly constant the score is 1, by definition: the limit is not continuous.
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
