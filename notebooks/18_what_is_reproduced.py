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
# # What is reproduced
#
# *What of the papers did we find again?* We tested claims of {cite:t}`bouniot2025alexnet`,
# {cite:t}`gamba2022linear` (a poster) and {cite:t}`mehmetigopel2023nonlinear`, and set the numbers of the first two beside ours.
#
# :::{admonition} What we found
# :class: findings
# **The paper's three main claims stay open.** No printed score of a network could be checked, because for all
# {glue:text}`measured-needs data` the weights or images are missing. {bdg-secondary}`open`
#
# **Of {glue:text}`in all-tests` tests of claims {glue:text}`in all-holds` hold, {glue:text}`in all-does not hold` fail,
# {glue:text}`in all-depends on a choice` depends on a choice, and {glue:text}`in all-cannot be decided` are open.**
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
models: list[str] = []  # networks to measure first; none: take what is there
dataset: str = "imagenet:../data/imagenet"  # where they are measured
n: int = 512  # images in a batch; only 512 is what the papers did
images: int = 0  # images in all; 0: all there are
store: str = "../_build/results"  # folder with results of your own
jobs: int = 1  # networks to measure at once
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of the choice of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports", "code_prompt_hide": "Imports"}
from pathlib import Path

import pandas as pd
from IPython.display import HTML

from companion.all_results import AllResults, measure_as_printed
from companion.chapter_18 import (
    SHORT,
    WHY_OPEN,
    by_material,
    linked,
    material,
    readable,
    results,
    words_of,
)
from companion.ledger import Ledger
from companion.printed import UNEXPLAINED
from companion.style import download, say, table

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Networks of your own", "code_prompt_hide": "Networks of your own"}
if models:
    options = {"n": n, "images": images or None, "device": device}
    options |= {"seed": seed, "progress": False}
    measure_as_printed(models, dataset, store, jobs=jobs, **options)

# %% [markdown]
# ## Do the paper's main claims hold?
#
# **We can neither confirm nor refute any of the three.** Such claims are *open*: they may well be true. In brackets stands the
# chapter:

# %%
own = store if list(Path(store).glob("*.parquet")) else None
book = Ledger(AllResults.gather(own))
numbers, claims = book.table, book.claim_table
main = claims[claims["name"].isin(WHY_OPEN)].replace(SHORT)
main = main.drop_duplicates(["name", "verdict"])
main["verdict"] += ": " + main["name"].map(WHY_OPEN)
main["claim"] += linked(main["name"])
words_of(main[["claim", "verdict"]])

# %% [markdown]
# ## How many claims hold?
#
# **On the paper's own inputs every claim holds; on mini networks most are open.** So its examples of functions are right,
# but of its networks little is decided. The rows, nearest to the papers first:
#
# * *paper's inputs* and *other inputs*: activation functions on random numbers;
# * *printed numbers*: computed again from the papers' tables;
# * *other networks*: trained by others, on ImageNet or CIFAR-10, or pairs of ours with and without shortcuts;
# * *mini networks*: small ones named as the papers', which learn digits;
# * *not tested*, hence open: we lack large networks that differ in one thing only, or a measurement (how near is a block to the
#   identity?), or the paper's limit (how slow is "slowly"?).

# %% mystnb={"figure": {"name": "fig-18-claims", "caption": "All tests on the paper's inputs hold; most on mini networks are open. Numbers of tests, by what the claim was tested on."}, "image": {"width": "540px", "alt": "A bar for each material, with its own hatch or shade for the numbers of tests that hold, do not hold, depend on a choice and cannot be decided. That of the paper's inputs, on top, holds in whole; that of mini networks is the longest, more than half of it open."}}
tests = pd.crosstab(material(claims), claims["verdict"])
by_material(tests)

# %% tags=["remove-cell"]
tests["tests"] = tests.sum(axis=1)
tests.loc["in all"] = tests.sum()
say(tests, "{:.0f}")

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The claims that hold", "code_prompt_hide": "The claims that hold"}
results(claims, "holds")

# %% [markdown]
# ## What fails in the papers' tables, and on functions?
#
# **Four claims about functions fail on inputs that are not the paper's, and two tables do not add up.** Three of the four hold on
# the paper's inputs. So a claim about a function should name its inputs.

# %% tags=["hide-cell"] mystnb={"code_prompt_show": "The claims that fail there", "code_prompt_hide": "The claims that fail there"}
results(claims, "fails", on=["printed numbers", "other inputs"])

# %% [markdown]
# ## What fails on networks?
#
# **On other networks no claim fails, and one depends on a choice (first row); on mini networks seven fail**, one of them in two
# tests. Of the papers' own networks they may still be true.

# %%
networks = ["mini networks", "other networks"]
results(claims, "fails", "depends", on=networks)

# %% [markdown]
# ```{admonition} How sure? One rule decides all claims
# :class: dropdown
# A number decides where its 95 % interval excludes the limit, or its two-sided p-value is below 0.05. A claim of several
# parts holds where each part is decided at 5 %; it fails where one of $k$ parts is decided the other way at 5 % over $k$.
# So chance alone would decide one test in twenty. Some claims could hardly fail.
#
# The units are designs for a claim about designs, and trainings or samples only where it is about one network. A claim about
# scores is decided again under every choice of the measure, and *depends* where one finds the opposite.
# ```
#
# ## Are the printed numbers reproduced?
#
# **Where we can compare, most are, and none that differs is a score:** {glue:text}`in all-reproduced` numbers are *reproduced*, up
# to rounding and two standard errors, and {glue:text}`in all-differs` differ. We *simulated* scores of functions (for half of them the paper leaves out a setting), *computed*
# sizes, depths and accuracies from public metadata, and *looked up* years and names; none was *measured*.

# %%
verdict = numbers["verdict"].str.extract("^(reproduced|differs|needs data)")
counts = pd.crosstab(numbers["way"], verdict[0])
counts.loc["in all"] = counts.sum()
words = {"reproduced": "reproduced", "differs": "differs"}
words["needs data"] = "not comparable"
table(counts.rename_axis("our number is"), words)

# %% tags=["remove-cell"]
say(counts, "{:.0f}")

# %% [markdown]
# These differ, the largest relative difference first:

# %%
differ = numbers[verdict[0] == "differs"].copy()
why = differ["verdict"].str.extract(r"\((.*?)[;)]", expand=False)
why = why.replace(UNEXPLAINED, "we know no reason")
differ["number"] = differ["item"].map(readable) + "<br><i>" + why + "</i>"
differ["paper"] = differ.pop("published")
by = abs(differ["difference"] / differ["ours"]).sort_values().index[::-1]
differ["ours"] = differ["ours"].map("{:.4g}".format)
words_of(differ.loc[by, ["number", "paper", "ours"]])

# %% [markdown]
# ## The whole ledger
#
# With tests and units:

# %%
HTML(f"{download(numbers, 'ledger.csv')}, {download(claims, 'claims.csv')}")

# %% [markdown]
# ````{admonition} The same from the shell, with your own results
# :class: dropdown
#
# ```sh
# affscore survey --models resnet18 \
#   --datasets imagenet:data/imagenet --store results
# # --specifications FILE asks the claims again under every choice
# python -m companion.ledger --results results \
#   --csv ledger.csv --claims claims.csv
# papermill notebooks/18_what_is_reproduced.ipynb ledger.ipynb \
#   --cwd notebooks -y "models: [resnet18, swin_t]"
# ```
#
# A measurement counts as the same with torchvision's default weights, at least two batches of 512 images, activations before
# averages, and Ledoit and Wolf's covariance. The reduction is `mean`; for ViTs, Swins, ConvNeXts and MaxViTs it is `published`.
# Errors come from leaving out one batch at a time.
# ````
