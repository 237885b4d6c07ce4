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
# *Of what the papers print and claim, what did we find again?* Every number in {cite:t}`bouniot2025alexnet` and in the poster
# of {cite:t}`gamba2022linear`, and every claim that we could test, also of the abstract of {cite:t}`mehmetigopel2023nonlinear`,
# has a row beside ours.
#
# :::{admonition} What we found
# :class: findings
# **No printed score of a network could be checked: for {glue:text}`measured-needs data` of them the weights or images are
# missing.** Of the {glue:text}`functions-scores` scores that are printed for nine activation functions,
# {glue:text}`simulated-reproduced` are reproduced; for the others the paper leaves out a setting.
# **{glue:text}`in all-differs` numbers differ**: three values of $R^2$, two counts and a year. Of
# {glue:text}`in all-tests` tests of claims {glue:text}`in all-holds` hold, {glue:text}`in all-does not hold` fail,
# {glue:text}`in all-depends on a choice` depends on a choice, and {glue:text}`in all-cannot be decided` are {bdg-secondary}`open`.
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

from affscore.plots import house_style
from companion.all_results import AllResults, measure_as_printed
from companion.claims import all_claims
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
# Counted by the way to ours: scores of functions on synthetic samples are *simulated*, those of networks *measured*, numbers
# from public metadata (sizes, depths, accuracies) *computed*, years and names *looked up*.

# %%
verdict = numbers["verdict"].str.extract("^(reproduced|differs|needs data)")
counts = pd.crosstab(numbers["way"], verdict[0])
counts.loc["in all"] = counts.sum()
table(counts.rename_axis(None).rename_axis(None, axis=1))

# %% tags=["remove-cell"]
say(counts, "{:.0f}")
scores = counts.loc["simulated"].sum()
say(pd.DataFrame({"scores": scores}, ["functions"]), "{:.0f}")

# %% [markdown]
# **reproduced**: ours differs by at most half a unit of the last printed digit, plus two standard errors of sampling.
# Numbers from metadata and lists reproduce no experiment.
# **needs data**: nobody measured the same thing, or the standard error is larger than one unit of the last digit. Most of the numbers
# come from trained networks on the 50,000 validation images of ImageNet; neither is part of this package. **differs**:

# %%
differ = numbers[verdict[0] == "differs"].set_index("item")
differ["why"] = differ["verdict"].str.extract(r"\((.*?)[;)]")
differ["ours"] = differ["ours"].map("{:.4g}".format)
readable = {"R2": "R\u00b2", "num_params": "parameters"}
differ.index = differ.index.to_series().replace(readable, regex=True)
table(differ[["published", "ours", "why"]].rename_axis(None))

# %% [markdown]
# ## The claims in words
#
# Each claim has a test, which stands in the file. What "very low" or "consistently" means in it is our choice.

# %%
called = {"": "nothing at hand"}
called["printed numbers read again"] = "printed numbers"
called["functions on synthetic inputs"] = "synthetic inputs"
small = claims["on"].str.contains("small networks")
material = claims["material"].replace(called).mask(small, "mini networks")
by_material = pd.crosstab(material, claims["verdict"])

# %% mystnb={"figure": {"name": "fig-18-claims", "caption": "Tests of claims, by what they were tested on: most hold on synthetic inputs, and most are open on the small networks of ours that stand in for the papers'."}, "image": {"width": "540px", "alt": "A bar for each material, with the numbers of tests that hold, do not hold, depend on a choice and cannot be decided. Mini networks have the longest bar, more than half of it undecided."}}
shown = by_material.iloc[::-1, ::-1].rename_axis(columns=None)
colours = ["C2", "C1", "C4", "0.8"]
with house_style():
    axes = shown.plot.barh(stacked=True, figsize=(4.5, 2.8), color=colours)
    for bars in axes.containers:
        labels = [f"{k:.0f}" if k else "" for k in bars.datavalues]
        axes.bar_label(bars, labels, label_type="center")
    axes.set(xlabel="tests of claims", ylabel="")
    axes.legend(loc="lower right")

# %% tags=["remove-cell"]
by_material.loc["in all"] = by_material.sum()
by_material["tests"] = by_material.sum(axis=1)
say(by_material, "{:.0f}")

# %% [markdown]
# None of the papers' own networks is at hand. *Mini networks* have their names, at most 152,000 parameters and digits to
# learn: a claim on AlexNet that fails on them says nothing of AlexNet. *Other networks* have other weights, for CIFAR-10 and
# ImageNet. At 5 % chance alone would decide one test in twenty, and several of those that hold could hardly fail.
#
# The claims that were decided somewhere, in our words, those that failed anywhere first; with the chapter about them, and what it
# says against a verdict (*holds, fails*: on the paper's inputs, and on others):

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Words, chapters and caveats of the table", "code_prompt_hide": "Words, chapters and caveats of the table"}
order = ["fails", "depends", "open", "holds"]
short = {"does not hold": "fails", "depends on a choice": "depends"}
short["cannot be decided"] = "open"
caveats = {
    "modern-functions-lower": "hardly, where functions rise",
    "batch-size-keeps-the-signature": "two errors cancel",
    "seeds-change-little": "single scores differ by up to 0.3",
    "resnets-bimodal": "pooled; alone, by some choices, none of four",
    "wide-networks-are-locally-linear": "relative deviation: open",
}
chapter = {one.name: one.test_on.__module__[18:20] for one in all_claims()}
chapter["after-sums-more-linear"] = "05"
chapter["training-bends"] = "11"
pages = {path.stem[:2]: path.stem for path in Path().glob("*_*.ipynb")}
del pages["13"]  # where no page is about a claim

# %%
tests = claims.assign(material=material).replace({"verdict": short})
found = tests.groupby(["name", "claim", "material"])["verdict"]
found = found.agg(lambda some: ", ".join(some.unique()))
found = found.unstack(fill_value="").drop(columns="nothing at hand")
rows = []
for (name, claim), cells in found.iterrows():
    words, number = set(", ".join(cells).split(", ")), chapter[name]
    if words & {"fails", "depends", "holds"}:
        worst = min(order.index(word) for word in words if word)
        page = pages.get(number)
        link = f'<a href="{page}.html">{int(number)}</a>' if page else ""
        cells["chapter"] = f"{link} {caveats.get(name, '')}"
        rows.append({"worst": worst, "of": number, "claim": claim, **cells})
shown = pd.DataFrame(rows).sort_values(["worst", "of"])
shown = shown.drop(columns=["worst", "of"]).style.hide()
shown.set_table_attributes('class="dataframe words"')

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
