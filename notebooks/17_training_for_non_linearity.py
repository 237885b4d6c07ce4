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
# # Training for non-linearity
#
# *Can a network be trained to be more linear, and is it better then?* The score has a gradient, so it can be part of the
# loss. Appendix B of the paper leaves open what that does. One study compares networks
# that are pulled towards a score with free ones, a second also with networks that are pushed at random.
#
# :::{admonition} What we found
# :class: findings
# **A network can be trained towards a score, but this did not make it more accurate on held-out images, on
# average.** In the first
# study networks pulled to be more linear got {glue:text}`high-cost` more of 100 images wrong. The second study does not confirm
# this loss: its intervals against free training are wide and include 0. {bdg-warning}`depends`
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
model: str = "../examples/region_networks.py:vgg8"  # trained on this page
target: float = 0.6  # its mean score is pulled here
weight: float = 20.0  # of the penalty
epochs: int = 10  # of the training on this page
seed: int = 0  # of random weights and the order of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import pandas as pd
import torch
import torch.nn.functional as F

import affscore
import companion
from affscore.network import resampled
from affscore.transport import differentiable_affinity
from companion.chapter_17 import SMALL, accuracy_by_score, towards
from companion.figures import forest, signatures
from companion.shipped import shipped_signature
from companion.statistics import mean_of
from companion.studies import load_study, under
from companion.studies.interventions import judged, outcomes
from companion.style import say, table

# %% [markdown]
# ## Is a pulled network better?
#
# **No: in the first study pulled networks are no more accurate, on average.** A penalty
# $\omega\,(\text{mean score} - t)^2$ in the loss pulls the mean score towards a target $t$. We compare trainings that begin alike and see the same images:
#
# * *free*: without the penalty (mean score {glue:text}`free-mean score`);
# * *low*: pulled towards 0.6, so less linear; *high*: pulled towards 0.95, so more linear;
# * *control* (second study): pushed as hard, but in a random direction.
#
# In the first study a mini VGG and a mini ResNet learn two tasks from five seeds: *digits*, and *hard* digits, which are
# few, turned, scaled and noisy.

# %% mystnb={"figure": {"name": "fig-17-accuracy", "caption": "First study: most pulled networks are no more accurate than if trained freely; mini ResNets that are pulled low lose most. Each point is a pulled network, judged on held-out digits."}, "image": {"width": "540px", "alt": "Two panels, mini ResNet above mini VGG, with the accuracy less that of the free network over the mean score, pulled low on the left and high on the right. Nearly all points are below zero or at it; some mini ResNets that are pulled low are 15 to 25 points below."}}
MEASURES = {"test_accuracy": "accuracy", "accuracy_noise_1": "under noise"}
study = under(load_study("steered")).drop(columns="accuracy")
study = study.rename(columns=MEASURES).replace({"network": SMALL})
one = ["network", "task", "target", "seed"]
outcome = study.groupby(one)[list(MEASURES.values())].first()
outcome = 100 * outcome.astype(float)
outcome["mean score"] = study.groupby(one)["score"].mean()
free = outcome.xs("free", level="target")
outcome["change"] = outcome["accuracy"] - free["accuracy"]
accuracy_by_score(outcome.drop("free", level="target").reset_index())

# %% [markdown]
# **Pulled high, networks lose {glue:text}`high-cost` points on average, beyond chance.** Whether a low pull costs
# anything is {bdg-secondary}`open`: mini ResNets lose more, but their five seeds differ much.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Pulled minus free, in points", "code_prompt_hide": "How sure? Pulled minus free, in points"}
# 95 % intervals over seeds, as tasks share their images
# under noise: first study, noise with the standard deviation of the pixels
sure = {}
for way in ("low", "high"):
    change = outcome.xs(way, level="target") - free
    for name, some in [("all", change), *change.groupby("network")]:
        by_seed = some.groupby("seed").mean()
        row = by_seed.apply(lambda values: f"{mean_of(values):+.1f}")
        sure[f"{way}, {name}"] = row.str.replace("-", "\u2212")
sure = pd.DataFrame(sure).T[["accuracy", "under noise"]]
table(sure.rename_axis("pulled"))

# %% tags=["remove-cell"]
means = outcome.groupby("target").mean()
say(means[["mean score"]].loc[["free"]])
cost = means.loc["free"] - means.loc["high"]
say(pd.DataFrame({"high": cost["accuracy"]}, ["cost"]).T, "{:.0f}")

# %% [markdown]
# ## Is it the score, or the disturbance?
#
# **Not decided: any push may cost accuracy.** Any penalty disturbs a training. So a *control* gets at every step a push
# with the norm of the penalty's gradient, in a random direction. Eight designs (VGGs, networks with shortcuts or batch
# norm, a transformer) have two seeds each:

# %%
control = outcomes(under(load_study("control")))
control["level"] = control["level"].str.replace("-random", ", control")
lost = 100 * control.pivot_table("test_accuracy", "design", "level")
lost = lost.sub(lost.pop("free"), axis=0)
found = {}
for way in ("low", "high"):
    pull, push = lost[way], lost[f"{way}, control"]
    found[f"pulled {way} minus free"] = mean_of(pull)
    found[f"control of {way} minus free"] = mean_of(push)
    found[f"pulled {way} minus control"] = mean_of(pull - push)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "The figure", "code_prompt_hide": "The figure", "figure": {"name": "fig-17-control", "caption": "Second study: pulled networks and controls both may lose accuracy; only the last interval leaves out 0. Means over eight designs, with 95 % intervals."}, "image": {"width": "540px", "alt": "Six intervals over the difference of accuracy in points. Low: pulled minus free, control minus free, pulled minus control. High: the same. Only that of pulled high minus control, from nearly 7 points below zero to just below it, leaves out zero."}}
ends = {name: (one.value, *one.interval()) for name, one in found.items()}
ends = pd.DataFrame(ends, ["difference", "low", "high"]).T.assign(margin=0)
forest(ends, "difference of accuracy (points)")

# %% tags=["remove-cell"]
say(pd.DataFrame({"high": -ends.iloc[-1, 0]}, ["more"]), "{:.1f}")

# %% [markdown]
# **A high pull costs {glue:text}`more-high` points more than its control** (last row). Taken alone, that is beyond chance; with
# all comparisons judged at once it is not. Every interval against free networks includes 0.
#
# What the two studies show of accuracy:
#
# | Accuracy | Pulled to be more linear | Pulled to be less linear |
# | --- | --- | --- |
# | first study, against free training | loses | open |
# | second study, against free training | open | open |
# | second study, against the control | open | open |
#
# **With noise on the test images, mini ResNets of the second study gain if pulled high, but their controls gain nearly as much.**
# Over all designs the difference from the control is {bdg-secondary}`open`.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Accuracy under noise, second study", "code_prompt_hide": "How sure? Accuracy under noise, second study"}
# second study, the same noise, mean of four draws; pulled mini VGGs lose
noisy = control.pivot_table("accuracy_noise", "level", "design")
of = {"resnet8": "mini ResNet (%)", "vgg8": "mini VGG (%)"}
table(noisy.rename_axis("pulled"), of, digits=1)

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? All planned comparisons, pulled minus control", "code_prompt_hide": "How sure? All planned comparisons, pulled minus control"}
# planned before the run; p is corrected for all comparisons by Holm, and an
# effect stands where it is below 0.05; hundredths of a score or points of
# accuracy, with 95 % intervals
against, words = judged("control"), ["difference", "low", "high"]
against[words] *= 100
of = ["mean score", "accuracy", "accuracy under noise"]
against.index = [f"{what}, {way}" for what in of for way in words[1:]]
ours = dict(zip(words, ["pulled minus control", "from", "to"], strict=True))
holm = against["holm"].map("{:.3f}".format)
against["holm"] = holm.replace("0.000", "< 0.001")
table(against, ours | {"holm": "corrected p"}, digits=1)

# %% [markdown]
# ## What the gradient does
#
# **To raise the score, the gradient lets more inputs pass a ReLU; to lower it, fewer.** A ReLU that all inputs pass changes nothing; one
# that few pass flattens the others. Here the bias of one ReLU follows the gradient of the score
# ({ref}`the formula <gradient-of-the-score>`) for 60 steps from 0, on 512 normal inputs:

# %%
draw = torch.Generator().manual_seed(seed)
inputs = torch.randn(512, 1, generator=draw, dtype=torch.float64)
steps = []
for way in ("up", "down"):
    bias = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    for step in range(61):
        x = inputs + bias
        score = differentiable_affinity(x, x.relu())
        passing = (x > 0).double().mean().item()
        steps.append((way, step, bias.item(), passing, score.item()))
        (gradient,) = torch.autograd.grad(score, bias)
        bias.data += {"up": 0.1, "down": -0.1}[way] * gradient
names = ["score pulled", "step", "bias", "inputs that pass (%)", "score"]
steps = pd.DataFrame(steps, columns=names).set_index("score pulled")
course = pd.concat([steps[:1].rename({"up": "not yet"}), steps[60::61]])
table(course[names[2:]], digits={names[3]: 0})

# %% [markdown]
# ## Aside: One training
#
# The penalty (`affscore.AffinityPenalty`) lowers the whole signature of a network.

# %%
card = affscore.models.card_of(affscore.load_model(model))
(scans, labels), (test_scans, test_labels) = (
    (torch.stack([card.preprocessing(scan) for scan in some]), names)
    for some, names in map(affscore.models.digits, ("train", "test"))
)


def train(network, penalty=None):
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
    order = torch.Generator().manual_seed(seed)
    network.train()
    for _ in range(epochs):
        for some in torch.randperm(len(scans), generator=order).split(128):
            loss = F.cross_entropy(network(scans[some]), labels[some])
            if penalty:
                loss = loss + penalty()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network.eval()


networks = {"free": train(affscore.load_model(model, seed))}
pulled = affscore.load_model(model, seed)
with affscore.AffinityPenalty(
    pulled, target, weight, coupling="fixed"
) as penalty:
    networks["with the penalty"] = train(pulled, penalty)

# %% mystnb={"figure": {"name": "fig-17-one-training", "caption": "The penalty lowers all scores, least at the end. The same network after the same training, without it and with it."}, "image": {"width": "540px", "alt": "Two signatures of seven activations. Trained freely, scores lie between 0.7 and 0.95. With the penalty most lie between 0.5 and 0.75."}}
data = (test_scans, test_labels)
measured = {
    name: affscore.signature(one, data, criteria=False, progress=False)
    for name, one in networks.items()
}
rows = [one.summary.assign(network=name) for name, one in measured.items()]
signatures(pd.concat(rows), columns=1)

# %%
ends = {
    name: {"mean score": one.scores.mean(), **one.metadata}
    for name, one in measured.items()
}
table(pd.DataFrame(ends).loc[["mean score", "accuracy"]].astype(float))

# %% [markdown]
# (which-score)=
# ## Aside: Which score to train with
#
# Trained with the *paired* score, which takes each output with its own input, the exact one falls only a third as far as
# the paired one.
#
# The exact score looks for the best coupling of inputs and outputs; the paired one is a lower bound, quicker to compute. A
# network can lower it alone, by taking samples to the places of others. So we pulled networks by either, and measured both:

# %%
targets = pd.concat([load_study("steered"), load_study("steered-targets")])
digits = targets.query("task == 'digits'")
digits = digits[digits["target"].isin(["free", "low", "paired"])]
usual = under(study).iloc[0]
for word in ("reduction", "order", "covariance"):
    digits = digits[digits[word] == usual[word]]
both = digits.pivot_table("score", "target", "coupling")
both = both.rename({"low": "exact"}).rename_axis("trained with")
fall = both.loc["free"] - both
both["exact / paired fall"] = fall["exact"] / fall["paired"]
table(both)

# %% [markdown]
# So the penalty has `coupling="fixed"`: the optimal coupling, held during a step.
#
# ## Aside: A signature as the target
#
# A network can also come close to the signature of another.
#
# Two networks of the mini zoo lend theirs, resampled to seven activations.

# %% mystnb={"figure": {"name": "fig-17-signatures", "caption": "Trained towards the signature of another network (black), a mini VGG and a mini ResNet come close to it. Thin lines are five seeds, thick ones their means, on held-out digits."}, "image": {"width": "540px", "alt": "Two panels, towards a mini ViT and towards a mini ResNet-18, over seven depths, with the target in black and two bundles of lines near it."}}
LENT = {"mini ViT": "mini:vit_b_16", "mini ResNet-18": "mini:resnet18"}
called = {"as-vit": "mini ViT", "as-resnet": "mini ResNet-18"}
shaped = under(load_study("steered-targets"))
shaped = shaped.replace({"network": SMALL, "target": called})
shaped = shaped.pivot_table("score", ["target", "network", "seed"], "index")
shaped.columns += 1
lent = {name: shipped_signature(one).scores for name, one in LENT.items()}
goals = {name: resampled(scores, 7) for name, scores in lent.items()}
goals = pd.DataFrame(goals, shaped.columns).T
towards(goals, shaped)

# %% [markdown]
# Mean distances of a score from the target:

# %%
free = study.query("task == 'digits' and target == 'free'")
free = free.pivot(index=["network", "seed"], columns="index", values="score")
free.columns += 1
away = {
    name: {
        "trained for it": abs(shaped.loc[name] - goal).mean(axis=None),
        "trained freely": abs(free - goal).mean(axis=None),
    }
    for name, goal in goals.iterrows()
}
table(pd.DataFrame(away), digits=3)

# %% [markdown]
# ## Exercises
#
# ```{exercise} 17.1 A gradient by hand
# :label: ex-17-1
# :nonumber:
#
# *Compute · 15 minutes · medium.* Aim: see what the gradient of a score is made of.
#
# For $d = 1$ the paired score is $1 - \sqrt{1 - r}$ with $r$ the correlation of $x$ and $y$, where that is positive. Let $x =
# (-1, 0, 1)$ and $y = (0, 0, 1)$. By how much does the score change for a small change of $y_3$? Hand in the derivative.
# ```
#
# ```{admonition} Hint for 17.1
# :class: dropdown hint
#
# $r = c / \sqrt{v_x v_y}$ with $c = \tfrac13 y_3$; and $v_y$ depends on $y_3$. What happens to a correlation when $y$ is multiplied by a number?
# ```

# %%
answer = None  # your answer here: the derivative
# companion.exercises.check("17.1", answer)

# %% [markdown]
# ```{solution-start} ex-17-1
# :class: dropdown
# ```
#
# With $y = (0, 0, t)$ all values are $t$ times those of $(0, 0, 1)$, and no correlation depends on $t$: the derivative is 0.

# %%
companion.exercises.check("17.1", 0.0)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 17.2 Is it the score?
# :label: ex-17-2
# :nonumber:
#
# *Design · 25 minutes · hard.* Aim: separate what is trained for from the training.
#
# Under noise, networks pulled high named more images than free ones in the first study, on average. Somebody concludes that linear networks are robust. The control above speaks against it, for one kind of disturbance. Design
# the study that could show it: which other trainings, what is held equal, which unit and test, and which result would refute the conclusion.
# ```
#
# ```{admonition} Hint for 17.2
# :class: dropdown hint
#
# What else does a penalty of weight 20 do to a training? Which other penalty does the same without the score?
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-17-2
# :class: dropdown
# ```
#
# **What else may be the reason.** A penalty shrinks weights, moves biases, slows the fit and ends at another accuracy; each may
# change robustness. And the accuracy under noise depends on that without noise.
#
# **A study.** Fixed before: network, task, noise, and five or more seeds. Beside free and pulled networks: (a) weight decay of
# several strengths, and early stopping, so that some have the same accuracy as the pulled ones; (b) pulls by the same distance to
# the other side; (c) pulls of other statistics of the same activations, such as their mean or norm, of the same gradient norm.
# Compare at equal accuracy without noise, by the difference within a seed. Then a regression of robustness on the score
# over all trainings, with the kind of training as a factor.
#
# **Refuted** if controls of the same accuracy without a higher score are as robust, or if networks pulled low are more robust,
# too.
#
# **Rubric** (6 points)
#
# * 2: a penalty is a regulariser; the control has one without the score.
# * 1: compared at equal accuracy, or with it as a covariate.
# * 1: both directions of the score.
# * 1: paired by seed, with an interval.
# * 1: a result that would refute the conclusion.

# %% [markdown]
# ```{solution-end}
# ```
