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
# # Nonlinear advantage
#
# *How much of its non-linearity does a network need?* The *nonlinear advantage* is what a network gains by non-linear units.
# {cite:t}`mehmetigopel2023nonlinear` make channels linear until it breaks. Which channels can go, how many, and when in training?
#
# :::{admonition} What we found
# :class: findings
# **It matters which channels of a network become linear:** if a quarter of them do, accuracy falls from {glue:text}`0%-random` to
# {glue:text}`25%-contribution`&nbsp;% where those go first that change least, and to {glue:text}`25%-random`&nbsp;% where chance
# chooses. {bdg-success}`robust`
#
# If a trained mini ResNet keeps training meanwhile, nine tenths can go for about three points of
# accuracy or fewer, on each of five tasks (table in 16.3). {bdg-warning}`depends`
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
model: str = ""  # a network of your own, for one table: MODEL@WEIGHTS
dataset: str = "digits"  # its images: digits, folder:DIR, imagenet:DIR ...
images: int = 0  # of these in all; 0: all there are
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights and the order of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import numpy as np
import pandas as pd
import torch

import affscore
import companion
from affscore.nonlinear_advantage import to_prelu
from companion.chapter_16 import (
    accuracy_by_share,
    accuracy_curves,
    by_kind,
    core_network,
    decisions_changed,
    gap,
    survival,
    survival_correlations,
    trainings,
)
from companion.chapter_16.linear_channels import FILE
from companion.slope_training import train
from companion.statistics import mean_of
from companion.studies import load_study, under
from companion.studies.tasks import TASKS
from companion.style import say, table

# %% [markdown]
# ## Which channels can go?
#
# **Those that a straight line replaces well.** A line in the place of an activation function costs little where the output hardly
# varies (variance $v_k$) or follows the input closely (correlation $c_k$). First go the channels
#
# * with the least *contribution*, which has both: $v_k (1 - c_k) / \sum_l v_l$ ({doc}`09_is_the_score_redundant`);
# * with the least *variance*;
# * with the highest score (*affinity*);
# * at *random*;
# * or with the largest contribution (*reversed*).
#
# In nine trained networks, which see CIFAR-10 images or photographs, 25, 50 or 75 % of the channels of each activation become their
# least-squares lines, without further training.

# %% mystnb={"figure": {"name": "fig-advantage-shares", "caption": "Accuracy falls least if the channels with the least contribution become linear first. Means over nine trained networks."}, "image": {"width": "540px", "alt": "Five falling lines over the share of channels that became linear, from 0 to 75 per cent. That of the contribution is highest at 25 and 50 per cent, that of the reversed order lowest; at 75 per cent all are close together, below 10 per cent."}}
runs = pd.read_parquet(FILE)
real = runs.query("scope == 'layer' and dataset != 'digits'")
shares = 100 * real.pivot_table("accuracy", "share", "by")
means = shares.mean()
shares.loc[0.0] = shares.pop("none")[0.0]
accuracy_by_share(shares)

# %% tags=["remove-cell"]
say(shares.rename("{:.0%}".format), "{:.0f}")
say((means["contribution"] - means).to_frame("lead"), "{:.0f}")

# %% [markdown]
# **The contribution chooses best.** In mean accuracy over the three shares it leads random by {glue:text}`random-lead` points
# and variance by {glue:text}`variance-lead`, so the correlation matters. It beats random and affinity in each of the nine
# networks. But with three quarters of the channels linear every order fails.

# %% tags=["hide-input"] mystnb={"code_prompt_show": "A network of your own", "code_prompt_hide": "A network of your own"}
if model:
    from companion.chapter_16.linear_channels import accuracies

    own = accuracies(model, dataset, min(images or 512, 512), device, draws=2)
    shares = own.query("scope == 'layer'").pivot_table(
        "accuracy", "by", "share"
    )
    print(
        f"{model}, accuracy:\n{(100 * shares).round(0).to_string(na_rep='')}"
    )

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Leads of the contribution, in points", "code_prompt_hide": "How sure? Leads of the contribution, in points"}
# With 95 % intervals; shares of each layer, or of the whole network. Half of
# the images give the lines, the others the accuracy. The rule fixed before:
# random and affinity by more than two points, and all networks agree.
runs, sure = runs.query("share > 0"), {}
runs["on"] = np.where(runs["dataset"] == "digits", "digits", "real images")
for one, some in runs.groupby(["on", "scope"]):
    kept = 100 * some.pivot_table("accuracy", ["dataset", "model"], "by")
    lead = -kept.sub(kept.pop("contribution"), axis=0)
    sure[", ".join(one)] = {by: f"{mean_of(lead[by]):.1f}" for by in lead}
table(pd.DataFrame(sure))

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Mini ResNets with half of the channels linear", "code_prompt_hide": "How sure? Mini ResNets with half of the channels linear"}
# Here a linear channel has the slope 1, not its least-squares line: then the
# highest scores choose no better than chance.
half = load_study("advantage-criteria").query("keep == 0.5 and by != 'slope'")
half = half.groupby(["by", "task"])["accuracy_after"].mean().unstack()
of = {"digits": "on digits (%)", "sum": "on sums of digits (%)"}
table(half.rename_axis("chosen by"), of, digits=0)

# %% [markdown]
# ## How many can go?
#
# **Most, if the weights adapt meanwhile.** To let them, every ReLU becomes a PReLU, which multiplies negative inputs by a slope
# $\alpha_k$ of its channel: a ReLU at $\alpha_k = 0$, where training begins, and linear at $\alpha_k = 1$. A penalty of weight
# $\omega$ pulls the slopes to 1 while they are trained with the weights:
#
# $$\mathcal L = \text{task loss} + \omega \sum_k |1 - \alpha_k|^{1/2}.$$
#
# The power 1/2 sends some slopes to 1 for good. (Whole layers can go, too {cite}`bendror2021layer`.) Two numbers tell what is left:
# the **share** of channels that are not linear, and the **path length**, the mean number of non-linear units on a path from input to
# output, where a sum sends half of the paths each way (NAPL in exercise 16.1). A small mini ResNet learns digits for ten epochs, then for ten with the
# penalty:

# %%
scans, labels, *test = TASKS["digits"].samples()
name = "../examples/matched_networks.py:residual8"
small = to_prelu(affscore.load_model(name, seed), scans[:2])
rates = {"rate": 4e-3, "slope_rate": 2e-2, "weight_decay": 1e-2}
how = {"epochs": 20, "start": 10, "omega": 0.005, "seed": seed, **rates}
record = train(small, scans, labels, test=test, progress=False, **how)
record = record.set_index("epoch")[["accuracy", "active", "napl"]]
record.columns = ["accuracy (%)", "share (%)", "path length"]
table(record.loc[9::5], digits=1)

# %% [markdown]
# **Four fifths of the channels go, and accuracy stays.**
#
# ## Early or late?
#
# **Late is better on two of five tasks, and we do not know why.** *Early*, the penalty is there from the first epoch; *late*, it
# comes after the network has learned. {cite:t}`mehmetigopel2023nonlinear` say that early ends worse. Only their abstracts and a
# summary were at hand, so the recipes are ours: a larger mini ResNet, with 13 ReLUs and a path length of 10.5, five seeds, all
# trained equally long. It learns five tasks:
#
# | Task | What the network tells |
# | --- | --- |
# | sum | the last digit of the sum of two digits in one image |
# | noise | a digit; 40 % of the labels in training are wrong |
# | larger | the larger of two digits in one image |
# | digits | a digit |
# | few | a digit, from a tenth of the images |

# %% mystnb={"figure": {"name": "fig-advantage-curves", "caption": "The sum of two digits breaks down below a path length of three if channels go early, below one if they go late; on the larger digit both fall together. A small dot is one training, a mark the mean of those with one weight of the penalty (untouched: none)."}, "image": {"width": "540px", "alt": "Two panels below each other with two curves each over the path length, and the untouched networks at their right ends. On the sum of two digits, below, the early curve falls below three units, the late one only below one. On the larger of two digits, above, both fall a little below one unit."}}
study = load_study("advantage")
when = {0.0: "early", 1.0: "late"}
study["when"] = study["start"].map(when).fillna("untouched")
study = study[study["start"].isin(when) | study["start"].isna()]
one = ["task", "seed", "when", "omega"]
trained = study.groupby(one)[["accuracy", "share", "napl"]].first()
trained = trained.reset_index()
drawn = {"sum": "sum of two digits", "larger": "larger of two digits"}
some = trained[trained["task"].isin(drawn)]
accuracy_curves(some.replace({"task": drawn}))


# %% [markdown]
# **At the same short path length early is worse by {glue:text}`gap-sum` points on the sum and by {glue:text}`gap-noise` on noise.** On
# *larger* early is better, by less than a point; on the others we see no gap. (At long path lengths early is better on the sum,
# too.) The gap is the mean over path lengths up to half of the untouched one, with a 95 % interval over seeds:


# %%
runs = trainings(load_study("advantage"))
tasks = ["sum", "noise", "few", "digits", "larger"]
gaps = {task: 100 * gap(runs, "residual14", task) for task in tasks}
shown = pd.Series(gaps).map("{:.1f}".format)
table(shown.to_frame("late minus early (points)"))

# %% [markdown]
# **How much non-linearity a task needs does not explain it.** We compare *untouched* networks, *late* ones with a tenth of the
# channels left, and *affine* ones, with nearly none. *Larger* needs some non-linearity, since an affine network is worse there;
# yet late is not better. *Noise* needs none, since an affine network is even *better* than an untouched one: it cannot memorise
# the wrong labels. Yet late is better. {bdg-warning}`depends`


# %%
def read_off(rows, left=0.1):
    points = rows.groupby("share")["accuracy"].mean()
    return np.interp(left, points.index, points)


both, each = ["share", "accuracy"], ["task", "seed"]
found = {"affine": trained.groupby(each)[both].apply(read_off, left=0)}
for when in ("early", "late", "untouched"):
    some = trained[trained["when"].isin([when, "untouched"])]
    found[when] = some.groupby(each)[both].apply(read_off)
left = pd.DataFrame(found).groupby("task").mean().loc[tasks]
headings = {name: f"{name} (%)" for name in ("untouched", "late", "affine")}
table(left, headings, digits=0)

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? With a tenth of the channels left the gap of the sum is open", "code_prompt_hide": "How sure? With a tenth of the channels left the gap of the sum is open"}
tenth = (100 * (found["late"] - found["early"])).groupby("task").agg(mean_of)
left["late minus early (points)"] = tenth.map("{:.1f}".format)
headings = {"late": "late (%)", "early": "early (%)"}
headings["late minus early (points)"] = "late minus early (points)"
table(left, headings, digits=0)

# %% tags=["remove-cell"]
say(
    pd.DataFrame({"gap": {k: one.value for k, one in gaps.items()}}).T,
    "{:.0f}",
)

# %% [markdown]
# ## Aside: What stays
#
# Digits keep their early activations; the sum keeps half of the last but one, too.

# %% mystnb={"figure": {"name": "fig-advantage-core", "caption": "What stays depends on the task. Blue, with their number, are the channels that stay non-linear (late, at a path length of about three), grey are all channels."}, "image": {"width": "540px", "alt": "Two panels with thirteen bars, whose height is the number of channels. Blue parts are nearly as high as the grey bars on the left and vanish on the right. On the sum of two digits the last activation but one keeps half of its channels."}}
late = study[study["when"] == "late"]
late = late[late["task"].isin(["digits", "sum"])]
lengths = late.groupby(["task", "omega"])["napl"].mean()
three = (lengths - 3).abs().groupby("task").idxmin()
core = late.set_index(["task", "omega"]).loc[three.tolist()]
core = core.groupby(["task", "index"])[["channels", "active"]].mean()
core_network(core)

# %% [markdown]
# ## Aside: Does the affinity score know?
#
# Activations with a low score keep more channels, as early ones score low. The rank correlations are weak, and with place and kind
# fixed (*partial*) nothing clear is left (fold).

# %% mystnb={"figure": {"name": "fig-advantage-survival", "caption": "The place says almost all about the share of channels that stays non-linear (above), the affinity score before little (below). Thirteen activations, means over trainings."}, "image": {"width": "540px", "alt": "Two panels. Above, the share that stays falls with the place in the network. Below, it is scattered over the affinity score, with the activations after a sum at high scores and low shares."}}
key = ["task", "seed", "layer", "call"]
stays = study[study["when"] == "late"]
stays = stays.assign(stays=stays["active"] / stays["channels"])
before = under(load_study("advantage-scores"))[[*key, "kind", "score"]]
stays = stays.merge(before, on=key).groupby(["index", "kind"])
stays = stays[["stays", "score"]].mean().reset_index()
stays["place"] = stays["index"] + 1
by_kind(stays, {"place": "activation, in order", "score": "affinity score"})

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Rank correlations", "code_prompt_hide": "How sure? Rank correlations"}
every = under(load_study("advantage-scores"))
rho = survival_correlations(survival(study, every)).groupby("task")
table(rho[["score", "partial"]].mean())

# %% [markdown]
# ## Aside: A third measure
#
# Wrong labels make a mini VGG more non-linear by this one, too: the mean share of decisions that change when one activation
# becomes linear ({doc}`15_linear_regions` has others).

# %%
labels_of = {"right labels": "vanilla", "wrong labels": "noise-1.0"}
file = "../examples/region_networks.py:vgg8@../examples/weights/vgg8-{}-1"
scans, share = affscore.models.digits("test")[0][:200], {}
for name, way in labels_of.items():
    network = affscore.load_model(file.format(way) + ".safetensors")
    prepare = affscore.models.card_of(network).preprocessing
    some = torch.stack([prepare(scan) for scan in scans])
    share[name] = decisions_changed(network, some)["changed"].mean()
table(pd.DataFrame({"decisions changed (%)": share}), digits=0)

# %% [markdown]
# ## Exercises
#
# ```{exercise} 16.1 Two path lengths by hand
# :label: ex-16-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: follow paths through a residual sum.
#
# An image with one channel becomes $h = \phi_1(A x)$, then $y = h + C\,\phi_2(B h)$; the output is a linear map of the mean of
# $y$ over its pixels. $A$, $B$ and $C$ are convolutions with four output channels. The PReLUs of $\phi_1$ have the slopes 0, 0,
# 1, 1, those of $\phi_2$ 0, 0, 0.25, 1. A path goes from channel to channel. APL is the mean number of non-linear units over
# all paths; NAPL takes each branch of an addition with probability 1/2. Hand in `(NAPL, APL)`, to two decimals or more.
# ```
#
# ```{admonition} Hint for 16.1
# :class: dropdown hint
# Note for each channel of $h$ how many units its paths met.
# ```

# %%
answer = None  # your answer here: a pair (NAPL, APL)
# companion.exercises.check("16.1", answer)

# %% [markdown]
# ```{solution-start} ex-16-1
# :class: dropdown
# ```
#
# A path along the skip meets 1/2 unit, one through the branch 1/2 + 3/4 (0.25 still bends). For NAPL they count alike. For
# APL the skip is one path beside 4 · 4.

# %%
skip, branch = 2 / 4, 2 / 4 + 3 / 4
napl, apl = (skip + branch) / 2, (skip + 16 * branch) / 17
companion.exercises.check("16.1", (napl, apl))

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 16.2 The score of a slope
# :label: ex-16-2
# :nonumber:
#
# *Prove · 25 minutes · medium.* Aim: connect the slope of this chapter with the affinity score.
#
# Inputs have many independent standard normal coordinates, so that the score of an elementwise $\phi$ tends to
# $1 - \sqrt{1 - \operatorname{corr}(x, \phi(x))}$ ({doc}`02_activation_functions`). (a) For $\phi_\alpha(x) = \max(0, x) +
# \alpha \min(0, x)$ and $-1 < \alpha \le 1$ prove
#
# $$\operatorname{corr}(x, \phi_\alpha) = \left(1 + \kappa \left(\frac{1 - \alpha}{1 + \alpha}\right)^2\right)^{-1/2}$$
#
# with $\kappa = 1 - 2 / \pi$.
#
# (b) A penalty pulls the slopes of a layer from 0 to 0.25. By how much does its score rise, and by how much its path
# length falls?
# ```
#
# ```{admonition} Hint for 16.2
# :class: dropdown hint
# $\phi_\alpha(x) = \frac{1 + \alpha}{2} x + \frac{1 - \alpha}{2} |x|$, and $x$ and $|x|$ are uncorrelated.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-16-2
# :class: dropdown
# ```
#
# (a) By the hint, $\operatorname{cov}(x, \phi_\alpha) = \frac{1 + \alpha}{2}$, since $E[x |x|] = 0$ by symmetry. For the same
# reason $\operatorname{var} \phi_\alpha = \left(\frac{1 + \alpha}{2}\right)^2 + \left(\frac{1 - \alpha}{2}\right)^2 \kappa$,
# with $\kappa = \operatorname{var} |x| = 1 - 2/\pi$. Divide.
#
# (b) At $\alpha = 0$ the score is 0.62, at 0.25, where the ratio is 0.6, it is 0.76. The path length does not fall: a slope
# below 1 counts as a whole unit. The score sees how far a unit bends, the path length whether it bends.
#
# **Rubric** (6 points)
#
# * 3: the decomposition, the variance with $\kappa$, the quotient.
# * 3: both scores, no change of the path length, and why.
#
# ```{solution-end}
# ```
