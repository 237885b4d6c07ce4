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
# *Of what the papers print and claim, what did we find again?* Papers report numbers and make claims. Every number that is
# printed in {cite:t}`bouniot2025alexnet` and in the poster of {cite:t}`gamba2022linear`, and every claim that we could test,
# also those in the abstract of {cite:t}`mehmetigopel2023nonlinear`, has a row beside ours. The verdicts are computed when this page is built.
#
# :::{admonition} What we found
# :class: findings
# **No printed score of a network could be checked: for {glue:text}`measured-needs data` of them the weights or images are
# missing.** Of the others, {glue:text}`simulated-reproduced` scores of nine activation functions, each printed twice, are reproduced. That a further
# {glue:text}`computed-reproduced` follow from public metadata and {glue:text}`looked up-reproduced` can be looked up
# reproduces no experiment. {bdg-secondary}`open`
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

# %%
from pathlib import Path

import pandas as pd
from IPython.display import HTML

from companion.all_results import AllResults, measure_as_printed
from companion.ledger import Ledger
from companion.style import download, say, table

if models:
    options = {"n": n, "images": images or None, "device": device}
    options |= {"seed": seed, "progress": False}
    measure_as_printed(models, dataset, store, jobs=jobs, **options)
own = store if list(Path(store).glob("*.parquet")) else None
book = Ledger(AllResults.gather(own))
numbers, claims = book.table, book.claim_table

# %% [markdown]
# ## The printed numbers
#
# They are counted by the way in which ours was found, since the ways do not weigh the same: *simulated* scores of functions on
# synthetic samples, scores *measured* on networks, numbers *computed* from public metadata (sizes, depths, accuracies), and
# years and names that were *looked up*.

# %%
verdict = numbers["verdict"].str.extract("^(reproduced|differs|needs data)")
counts = pd.crosstab(numbers["way"], verdict[0])
table(counts.rename_axis(None).rename_axis(None, axis=1))

# %% tags=["remove-cell"]
say(counts, "{:.0f}")

# %% [markdown]
# **reproduced**: ours differs by at most half a unit of the last printed digit, plus two standard errors of sampling.
# **needs data**: nobody measured the same thing, or the standard error is larger than one unit of the last digit. Most of the numbers
# come from trained networks on the 50,000 validation images of ImageNet; neither is part of this package. The same quantity on
# other networks is an *analogue*: the file has it, and no verdict rests on it. **differs**:

# %%
differ = numbers[verdict[0] == "differs"].set_index("item")
differ["why"] = differ["verdict"].str.extract(r"\((.*?)[;)]")
differ["ours"] = differ["ours"].map("{:.4g}".format)
table(differ[["published", "ours", "why"]].rename_axis(None))

# %% [markdown]
# ## The claims in words
#
# Each claim is in our words, and what "very low" or "consistently" means is our choice; both stand in the file, with the test.
# It is tested on all that has something to say of it, and these do not weigh the same either.

# %%
small = claims["on"].str.contains("small networks")
material = claims["material"].replace("", "nothing at hand")
claims = claims.assign(material=material.mask(small, "mini networks"))
by_material = pd.crosstab(claims["material"], claims["verdict"])
table(by_material.rename_axis(None).rename_axis(None, axis=1))

# %% tags=["remove-cell"]
say(by_material, "{:.0f}")

# %% [markdown]
# No claim was tested by measuring the papers' own networks, since none of them is at hand; those on *printed numbers* were
# decided by reading them again. *Mini networks* have the papers' names, at most 152,000 parameters and digits to learn:
# {glue:text}`mini networks-holds` tests hold there, {glue:text}`mini networks-does not hold` fail and
# {glue:text}`mini networks-cannot be decided` are open. A claim on AlexNet that fails on them says nothing of AlexNet. *Other
# networks* have other weights than the papers', for CIFAR-10 and ImageNet. At 5 % chance alone would decide one test in
# twenty, and several of those that hold could hardly fail. The claims that were decided somewhere:

# %%
decided = claims[claims["verdict"] != "cannot be decided"]
of_these = claims[claims["claim"].isin(decided["claim"])]
by_claim = of_these.groupby(["claim", "material"], sort=False)["verdict"]
by_claim = by_claim.value_counts().rename("tests").reset_index()
by_claim["found"] = (
    by_claim["verdict"] + " (" + by_claim["tests"].map(str) + ")"
)
by_claim = by_claim.groupby(["claim", "material"], sort=False)["found"]
by_claim = by_claim.agg(", ".join).unstack()
table(by_claim.rename_axis(None).rename_axis(None, axis=1))

# %% [markdown]
# One rule decides all of them. A number decides where its 95 % interval excludes the limit, or its two-sided p-value is below
# 0.05. A claim of several parts holds where each part is decided at 5 %; it does not hold where one of $k$ parts is decided the
# other way at 5 % over $k$. The units are designs for a claim about designs, and trainings or samples only where it is about one
# network. A claim about scores is decided again under every combination of reduction, order, covariance and coupling that was
# measured; it *depends on a choice* where one of them finds the opposite.
#
# ## The whole ledger
#
# All rows, with tests, units and what would fill each gap:

# %%
HTML(f"{download(numbers, 'ledger.csv')}, {download(claims, 'claims.csv')}")

# %% [markdown]
# The same from the shell, with your own results; `--specifications FILE` asks the claims again under every choice:
#
# ```sh
# affscore survey --models resnet18 \
#   --datasets imagenet:data/imagenet --store results
# python -m companion.ledger --results results \
#   --csv ledger.csv --claims claims.csv
# papermill notebooks/18_what_is_reproduced.ipynb ledger.ipynb \
#   --cwd notebooks -y "models: [resnet18, swin_t]"
# ```
#
# The same measurement is: torchvision's default weights, at least two batches of 512 images, activations before averages, Ledoit
# and Wolf's covariance, and the reduction that gave the printed numbers (`mean`; for ViTs, Swins, ConvNeXts and MaxViTs, whose
# activations the published code averages over other axes, `published`). The error of a number comes from leaving out one batch at a time.
