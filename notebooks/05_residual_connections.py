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
# # Residual connections
#
# *What do shortcuts change?* A residual block adds its input to what its layers computed. The paper saw that the scores of
# a ResNet-20 then fall into two groups (paper Fig. 5 D). Which are in which?
#
# :::{admonition} What we found
# :class: findings
# **A ReLU after a shortcut's sum is far more linear than the ReLU inside the block**: take one of each from a network, and
# the one after the sum scores higher {glue:text}`residual-mean` of the time. At the same places without shortcuts it is
# {glue:text}`plain-mean`, hardly more than chance. {bdg-success}`robust` (Most networks are small, on digits.)
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
model: str = ""  # a residual network of your own: MODEL@WEIGHTS
dataset: str = "digits"  # its images: digits, folder:DIR, imagenet:DIR ...
n: int = 512  # images in a batch of the statistic
images: int = 0  # images in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images

# %% tags=["remove-cell"]
import companion
from companion.parameters import check_parameters
from companion.style import say, table

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import numpy as np
import pandas as pd
from scipy.stats import combine_pvalues

from companion.chapter_05 import score_histograms, unimodality_test
from companion.figures import signatures, two_measures
from companion.predicted import predicted_beside_measured
from companion.real_networks import (
    real_multiverses,
    real_networks,
    real_scores,
)
from companion.statistics import mean_of
from companion.studies import load_study, under

# %% [markdown]
# ## Twins with and without shortcuts
#
# **After a sum a ReLU has little to cut off.** The input of a block came out of an earlier ReLU, so it is nowhere negative. What
# the layers add would have to be negative, and larger, to make the sum negative. So the sum is more often positive, where the
# next ReLU changes nothing.
#
# Is it the sum? A plain network is the residual network's *twin* without the additions: the same layers, number of
# weights and training. The first ReLU of a block is inside; the last comes after the sum or, without a shortcut, is
# the second inside. Others trained four pairs of twins on CIFAR-10 ({doc}`06_a_decade`):

# %% mystnb={"figure": {"name": "fig-twins", "caption": "With shortcuts the ReLUs after a sum lie nearer to 1 and those inside a block far below; without them both places overlap. Scores of averages over positions, two networks with 56 layers, {term}`JPEG copies` of test images."}, "image": {"width": "540px", "alt": "Two histograms of affinity scores. Without shortcuts, the bars of both activations of a block overlap between 0.6 and 0.95. With shortcuts, those after a sum lie between 0.75 and 1 and those inside a block between 0.45 and 0.8."}}
scores = real_scores("CIFAR-10").query("kind != 'hidden'")  # in blocks
two = scores[scores["network"].isin(["plain-56", "ResNet-56"])]
groups = two.groupby(["network", "kind"])["score"].agg(list)
panels = {name: groups[name].to_dict() for name in ("plain-56", "ResNet-56")}
score_histograms(panels, columns=1)

# %% [markdown]
# How far apart are the groups? Take one ReLU of each place. Their *separation* is the share of all such choices in which the last
# one scores higher: 1/2 where the groups are alike, 1 where they do not overlap. We trained fifteen more pairs of twins,
# small ones on digits (`examples/matched_networks.py`). Over all nineteen pairs:


# %%
def separation(rows):
    first = rows.loc[rows["kind"] == "first", "score"].to_numpy()
    last = rows.loc[rows["kind"] != "first", "score"].to_numpy()
    return (last[:, None] > first).mean()


twins = scores[scores["family"].isin(["plain", "residual"])]
digits = under(load_study("shortcuts")).query("kind != 'hidden'")
digits["family"] = digits["network"].str.rstrip("0123456789")
every = pd.concat([twins, digits]).fillna({"seed": 0})  # CIFAR-10: one
every = every.groupby(["family", "network", "seed"])[["kind", "score"]]
shares = every.apply(separation)
both = shares.groupby("family").agg(["mean", "min", "max"])
table(both.rename_axis(None))

# %% tags=["remove-cell"]
say(100 * both, "{:.0f} %")

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Each network on CIFAR-10", "code_prompt_hide": "How sure? Each network on CIFAR-10"}
# Accuracy: as published, in per cent, on the lossless test images.
pairs = real_networks()[["family", "accuracy"]]
pairs = pairs.join(shares.rename("separation").loc[:, :, 0].droplevel(0))
pairs = pairs.dropna(subset="separation")
table(pairs.rename_axis(None), digits={"accuracy": 1})

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Each network and seed on digits", "code_prompt_hide": "How sure? Each network and seed on digits"}
on_digits = shares.droplevel("family").unstack()[[1, 2, 3]].dropna()
on_digits.columns = [f"seed {seed}" for seed in (1, 2, 3)]
table(on_digits.rename_axis(None))

# %% [markdown]
# ## Predicted without an image
#
# **The split follows from sums and batch norms.** A norm sets the mean and deviation of each channel in front of a ReLU, and on
# Gaussian channels the score depends on these two alone. So images and convolutions should hardly matter. We
# replace every convolution by Gaussian noise, while norms, sums and ReLUs run as before.
# Scores are measured at one position of each image, which a norm describes.

# %% mystnb={"figure": {"name": "fig-predicted", "caption": "Norms and sums alone predict the scores of a plain and a residual network. A dot for each ReLU, at one position of 512 JPEG copies of test images."}, "image": {"width": "540px", "alt": "Two panels with predicted scores on the horizontal and measured ones on the vertical axis. In the residual network the dots lie along the diagonal: ReLUs inside a block from 0.4 to 0.7, those after a sum from 0.7 to 0.97. In the plain network both kinds lie along the diagonal from 0.55 to 0.87, mixed."}}
noise = predicted_beside_measured().query("kind != 'hidden'")
noise = noise.merge(real_networks().reset_index(), on="model")
deepest = noise[noise["network"].isin(["plain-56", "ResNet-56"])]
deepest = deepest.query("stage == 'trained'").sort_values("family")
look = {"labels": ("predicted", "measured"), "columns": 1, "diagonal": True}
two_measures(deepest, "predicted", "score", "network", "kind", **look)

# %% [markdown]
# **Where does the prediction fail?** Averages over positions depend on how a channel varies within an image, which no norm
# knows. And in most {term}`mini networks <mini network>` norms hardly left their start: the prediction is nearly constant
# within a place. {bdg-warning}`depends`

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Rank correlations with the score, by family", "code_prompt_hide": "How sure? Rank correlations with the score, by family"}
columns = ["predicted", "score", "score_of_means"]
every = predicted_beside_measured().query("stage == 'trained'")
by_model = every.groupby("model")[columns]
ranks = by_model.corr("spearman")["predicted"].unstack()
first = every.query("kind == 'first'").groupby("model")[columns]
ranks["predicted"] = first.corr("spearman")["predicted"].unstack()["score"]
heads = ["inside a block", "all ReLUs", "averages"]
fails = ranks.set_axis(heads, axis=1)
spread = every.groupby("model")["predicted"].std()
fails["prediction's deviation"] = spread
of = fails.index.str.extract(r"(mini:|)(?:\S+:|)([a-z]+)\S*$")
fails = fails.groupby(of.agg("".join, axis=1).to_numpy()).mean()
real = fails[~fails.index.str.startswith("mini:")]
print(f"all ReLUs, real networks: {mean_of(real['all ReLUs']):.2f}")
fails.index = fails.index.str.title().str.replace("net", "Net")
table(fails.set_axis(fails.index.str.replace(":", " ")))

# %% [markdown]
# ## Networks of ImageNet
#
# **The split is the same in networks of photographs.** ResNet-18 and ResNet-50 have no twins, but the same places; in ResNet-50
# two of a block's three ReLUs are inside.

# %% mystnb={"figure": {"name": "fig-imagenet", "caption": "On photographs, too, most ReLUs after a sum lie above those inside the blocks. Weights trained on ImageNet and quantised; 512 photographs."}, "image": {"width": "540px", "alt": "Affinity score over depth for ResNet-18 and ResNet-50. In both most activations after a sum score higher than their neighbours inside a block."}}
photographs = real_scores("photographs").query("family == 'ResNet'")
signatures(photographs)

# %% [markdown]
# Their separation:

# %%
inside = {"second": "first"}  # of three
photographs = photographs.query("kind != 'hidden'").replace({"kind": inside})
of_these = photographs.groupby("network")[["kind", "score"]]
of_these = of_these.apply(separation).rename("separation")
table(of_these.to_frame().rename_axis(None))

# %% tags=["hide-input"] mystnb={"code_prompt_show": "A network of your own", "code_prompt_hide": "A network of your own"}
if model:
    from affscore import signature

    options = {"n": n, "images": images or None, "device": device}
    mine = signature(model, dataset, criteria=False, seed=seed, **options)
    mine = mine.summary.query("kind != 'hidden'").replace({"kind": inside})
    print(f"{model} on {dataset}: {separation(mine):.2f}")

# %% [markdown]
# ## Aside: The split before training
#
# **Without training, too, sums split the scores**: predicted are {glue:text}`untrained-first-predicted` inside a block, as on any
# centred Gaussian, and {glue:text}`untrained-after-sum-predicted` after the sum.
#
# Means over four ResNets, at one position:

# %%
split = noise.query("family == 'residual'").groupby(["stage", "kind"])
split = split[["predicted", "score"]].mean().loc[["untrained", "trained"]]
shown = split.rename({"after-sum": "after a sum", "first": "inside a block"})
shown.index = shown.index.map(", ".join)
table(shown, {"predicted": "predicted", "score": "measured"})

# %% tags=["remove-cell"]
say(split.set_axis(split.index.map("-".join)))
zeros = scores.query("family == 'residual'").groupby("kind")
say(100 * zeros[["sparsity_after"]].mean(), "{:.0f} %")

# %% [markdown]
# What a block adds has mean zero and the same size in every block. The block's input, which the ReLUs keep positive, grows like the
# root of the number of blocks. So sums fall below 0 ever more rarely, as in one coordinate:

# %%
noise = np.random.default_rng(0).standard_normal((28, 10**5))
x, steps = np.maximum(noise[0], 0), {}
for block, change in enumerate(noise[1:], 1):
    total, x = x + change, np.maximum(x + change, 0)
    score = 1 - np.sqrt(1 - np.corrcoef(total, x)[0, 1])
    steps[block] = [np.sqrt(np.mean(total**2)), (total < 0).mean(), score]
steps = pd.DataFrame(steps, ["size of the sum", "share below 0", "score"])
table(steps[[1, 3, 9, 27]].add_prefix("block "))

# %% [markdown]
# Trained norms widen the gap, as they push ReLUs inside a block below 0: {glue:text}`first-sparsity_after` of their outputs are
# zero.

# %% [markdown]
# ## Aside: Two groups are not yet two modes
#
# **The groups are apart, but whether shortcuts make two humps of the scores depends on the measure.** {bdg-warning}`depends`
#
# The paper calls the distribution *bimodal*. Silverman's test {cite}`silverman1981using` asks how much the scores must be smoothed until
# one hump is left, and how often scores from that density need as much (p). A small p speaks against one hump:

# %%
humps = scores.groupby("network")["score"].agg(unimodality_test)
humps = humps.map(lambda test: test.p_value).loc[pairs.index]
table(humps.to_frame("p for one hump").rename_axis(None), digits=3)

# %% [markdown]
# Pooled over the four networks of a family, p is small with shortcuts, except for averages before the ReLU. (With
# five small networks more it is small there, too, but under some choices also for plain ones, {doc}`18_what_is_reproduced`.)
# Under every choice the separation stays: in the four pairs at least {glue:text}`residual-choices, min` with shortcuts, at most
# {glue:text}`plain-choices, max` without. Pooled p, least to most over covariance and coupling:

# %%
words = ["reduction", "order", "covariance", "coupling", "family"]
every = real_multiverses("CIFAR-10").query("kind != 'hidden'")
every = every[every["family"].isin(["plain", "residual"])]
by_choice = every.groupby([*words, "network"])
apart = by_choice[["kind", "score"]].apply(separation)
p = by_choice["score"].agg(lambda some: unimodality_test(some, 99).p_value)
modes = p.groupby(words).agg(lambda p: combine_pvalues(p).pvalue)
modes = modes.unstack().groupby(["reduction", "order"])
least, most = (p.map("{:.1g}".format) for p in (modes.min(), modes.max()))
three = ["average after", "average before", "one position"]
table((least + " to " + most).set_axis(three))

# %% tags=["remove-cell"]
say(apart.groupby("family").agg(["min", "max"]).add_prefix("choices, "))

# %% [markdown]
# ## Exercises
#
# ```{exercise} 5.1 A large change
# :label: ex-5-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see that the change of a block need not be small.
#
# One coordinate of a block: its input $x$ came out of a ReLU, so that it is never negative and a fifth of it at least is 0.
# Make up a change $f$ that is negative for at least a fifth of the samples, and varies at least half as much as $x$, such
# that a ReLU of $x + f$ scores at least 0.98. Hand in `(x, f)`, two arrays of 64 to 2000 numbers.
# ```
#
# ```{admonition} Hint for 5.1
# :class: dropdown hint
#
# How far may $f$ fall where $x$ is large, and what must it do where $x$ is 0?
# ```

# %%
answer = None  # your answer here: two arrays (x, f)
# companion.exercises.check("5.1", answer)

# %% [markdown]
# ```{solution-start} ex-5-1
# :class: dropdown
# ```
#
# A change may fall as far as the input is high: the sum stays positive, and the ReLU leaves it alone.

# %%
x = np.maximum(np.random.default_rng(0).standard_normal(500), 0)
companion.exercises.check("5.1", (x, np.where(x > 0.5, -0.9 * x, 1.0)))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 5.2 What the sum leaves to do
# :label: ex-5-2
# :nonumber:
#
# *Prove · 25 minutes · medium.* Aim: bound what the sum costs.
#
# One coordinate: $s = x + f$ with $x \ge 0$, $y = \max(s, 0)$, and $u_- = \max(-u, 0)$. Standard deviations are $\tau_s$
# and $\tau_y$, both positive. With infinitely many samples the score is $\rho = 1 - \sqrt{1 - r}$, where $r$ is the
# correlation of input and output ({eq}`eq-1-closed`). Show that
#
# $$
# \rho \;\ge\; 1 - \sqrt{\frac{\mathbb E s_-^2}{2\, \tau_s \tau_y}}, \qquad s_- \le f_- .
# $$
#
# When is $\rho = 1$? Which part of a change $f$ does not lower the score at all? Compute the bound for a standard normal $s$
# and compare it with the score, 0.62.
# ```
#
# ```{admonition} Hint for 5.2
# :class: dropdown hint
#
# Expand the variance of $y - s$, and use $\tau_s^2 + \tau_y^2 \ge 2 \tau_s \tau_y$.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-5-2
# :class: dropdown
# ```
#
# $y - s = s_-$. So
#
# $$
# \mathbb E s_-^2 \ge \operatorname{Var}(y - s) = \tau_y^2 + \tau_s^2 - 2 r \tau_s \tau_y \ge 2 \tau_s \tau_y (1 - r) ,
# $$
#
# hence $1 - r \le \mathbb E s_-^2 / (2 \tau_s \tau_y)$, and the bound follows from $\rho = 1 - \sqrt{1 - r}$. Since $x \ge
# 0$, $-s = -x - f \le -f$, so $s_- \le f_-$.
#
# $\rho = 1$ if and only if $r = 1$, that is if $y$ is an increasing affine function of $s$ almost surely. If $s_- = 0$ that
# holds. If $s$ is negative with positive probability, $y$ is 0 there, so the affine function, which has a positive slope,
# takes the value 0 at one point alone: then $s$ has one single negative value, and $y$ can still be affine (two values in
# all). Otherwise $\rho < 1$.
#
# Wherever $f \ge -x$ the change costs nothing, however large it is.
#
# For a standard normal $s$: $\mathbb E s_-^2 = \frac12$, $\tau_s = 1$, $\tau_y = \sqrt{\frac12 - \frac1{2 \pi}} = 0.584$. The
# bound is $1 - \sqrt{0.5 / 1.168} = 0.35$, well below 0.62: without a positive $x$ it is not sharp, as the mean of $s_-$,
# which costs nothing, is left in.
#
# **Rubric** (6 points)
#
# * 3: the bound, with both inequalities.
# * 1: $s_- \le f_-$, and which part of the change is free.
# * 1: when the score is 1, with $s \ge 0$ at least.
# * 1: 0.35, and why it is not sharp.

# %% [markdown]
# ```{solution-end}
# ```
