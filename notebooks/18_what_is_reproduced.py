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
# *Of what the papers print and claim, what did we find again?* This page sets every number of {cite:t}`bouniot2025alexnet`
# and the poster of {cite:t}`gamba2022linear` beside ours. It tests their claims, and those of
# {cite:t}`mehmetigopel2023nonlinear`.
#
# :::{admonition} What we found
# :class: findings
# **No printed score of a network could be checked: for {glue:text}`measured-needs data` of them the weights or images are
# missing.** Of the {glue:text}`functions-scores` printed scores of activation functions {glue:text}`simulated-reproduced`
# are reproduced. {glue:text}`in all-differs` numbers differ from ours.
#
# Of {glue:text}`in all-tests` tests of claims {glue:text}`in all-holds` hold, {glue:text}`in all-does not hold` fail,
# {glue:text}`in all-depends on a choice` depends on a choice, and {glue:text}`in all-cannot be decided` are
# {bdg-secondary}`open`.
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
# Scores of functions are *simulated*, scores of networks *measured*. Sizes, depths and accuracies are
# *computed* from public metadata, years and names *looked up*.

# %%
verdict = numbers["verdict"].str.extract("^(reproduced|differs|needs data)")
counts = pd.crosstab(numbers["way"], verdict[0])
counts.loc["in all"] = counts.sum()
table(counts.rename_axis("our number is"))

# %% tags=["remove-cell"]
say(counts, "{:.0f}")
scores = counts.loc["simulated"].sum()
say(pd.DataFrame({"scores": scores}, ["functions"]), "{:.0f}")

# %% [markdown]
# * **Reproduced**: ours differs by at most half a unit of the last printed digit, plus two standard errors.
# * **Needs data**: weights or the validation images of ImageNet are missing, the paper leaves out a setting, or our standard
#   error is larger than that digit.
# * **Differs**: the numbers below.

# %%
differ = numbers[verdict[0] == "differs"].set_index("item")
differ["why"] = differ["verdict"].str.extract(r"\((.*?)[;)]")
differ["ours"] = differ["ours"].map("{:.4g}".format)
readable = {"R2": "R\u00b2", "num_params": "parameters", "vgg": "VGG-"}
readable |= {"googlenet": "GoogLeNet", "alexnet": "AlexNet"}
differ.index = differ.index.to_series().replace(readable, regex=True)
table(differ[["published", "ours", "why"]].rename_axis("number"))

# %% [markdown]
# ## The claims in words
#
# **Claims about activation functions hold on the paper's own inputs. Claims about networks are mostly open**, as we had to
# test them on others.

# %%
on = {"^$": "nothing at hand", "^the small networks.*": "mini networks"}
on |= {".*figures 6 and 7$": "the paper's inputs"}
on |= {".*other inputs$": "other inputs", "^the printed.*": "printed numbers"}
material = claims["on"].replace(on, regex=True).rename("tested on")
material = material.where(material.isin(on.values()), claims["material"])
short = {"does not hold": "fails", "depends on a choice": "depends"}
short |= {"holds": "holds", "cannot be decided": "open"}  # in this order
by_material = pd.crosstab(material, claims["verdict"])

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-18-claims", "caption": "Every claim that we tested on the paper's own inputs of activation functions holds, and the four tested on others fail."}, "image": {"width": "540px", "alt": "A bar for each material, with the numbers of tests that hold, do not hold, depend on a choice and cannot be decided. Mini networks have the longest bar, more than half of it undecided."}}
shown = by_material.loc[by_material.sum(axis=1).sort_values().index]
shown = shown.rename(columns=short).iloc[:, ::-1]
colours = ["C2", "C1", "C4", "0.8"]
with house_style():
    axes = shown.plot.barh(stacked=True, color=colours)
    axes.figure.set_size_inches(5, 3)
    for bars in axes.containers:
        labels = [f"{k:.0f}" if k else "" for k in bars.datavalues]
        axes.bar_label(bars, labels, label_type="center", fontsize=9)
    axes.set(xlabel="tests of claims", ylabel="")
    axes.legend(loc="lower right")

# %% tags=["remove-cell"]
by_material.loc["in all"] = by_material.sum()
by_material["tests"] = by_material.sum(axis=1)
say(by_material, "{:.0f}")

# %% [markdown]
# *Mini networks* have the names of the papers' networks, at most 152,000 parameters and digits to learn: a claim on AlexNet
# that fails on them says nothing of AlexNet. *Other networks* have other weights, mostly for CIFAR-10 and ImageNet.
# The claims that were decided:

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Caveats of the table", "code_prompt_hide": "Caveats of the table"}
caveats = {
    "modern-functions-lower": "hardly, where functions rise",
    "batch-size-keeps-the-signature": "where it holds, two errors cancel",
    "seeds-change-little": "single scores differ by up to 0.3",
    "resnets-bimodal": "pooled; alone, by some choices, none of four",
    "wide-networks-are-locally-linear": "relative deviation: open",
    "noise-is-further-than-cifar": "three on photographs",
    "no-criterion-says-the-same": "each is below 0.5 somewhere; yet CKA "
    "rises with the score in nearly all of ours",
}

# %%
chapter = {one.name: one.test_on.__module__[18:20] for one in all_claims()}
chapter |= {"after-sums-more-linear": "05", "training-bends": "11"}
link = '<a href="{}.html">{:.0f}</a>'.format
pages = sorted(path.stem for path in Path().glob("*_*.ipynb"))
links = {page[:2]: link(page, int(page[:2])) for page in pages}
del links["13"]  # where no page is about a claim

# %%
tests = claims.assign(on=material, verdict=claims["verdict"].map(short))
by = tests.groupby(["name", "claim", "verdict"])["on"].unique()
by = by.str.join(", ").reset_index("verdict")
by["result"] = "<b>" + by["verdict"] + ":</b> " + by["on"]
by["worst"] = by["verdict"].map(list(short.values()).index)
rows = by.sort_values("worst").groupby(["name", "claim"])
rows = rows.agg({"worst": "first", "result": "; ".join}).reset_index()
rows["result"] += rows["name"].map(caveats).radd(" (").add(")").fillna("")
rows["chapter"] = rows["name"].map(chapter)
rows = rows.query("worst < 3").sort_values(["worst", "chapter"])
rows["chapter"] = rows["chapter"].map(links).fillna("")
shown = rows[["claim", "result", "chapter"]].style.hide()
shown.set_table_attributes('class="dataframe words"')

# %% [markdown]
# ```{admonition} How sure? One rule decides all claims
# :class: dropdown
# A number decides where its 95 % interval excludes the limit, or its two-sided p-value is below 0.05. A claim of several
# parts holds where each part is decided at 5 %; it fails where one of $k$ parts is decided the other way at 5 % over $k$.
# So chance alone would decide one test in twenty. Some claims could hardly fail, and what "consistently" means is our choice.
#
# The units are designs for a claim about designs, and trainings or samples only where it is about one network. A claim about
# scores is decided again under every combination of reduction, order, covariance and coupling. It *depends* where one of them
# finds the opposite.
# ```
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
# A measurement counts as the same with torchvision's default weights, at least two batches of 512 images, activations before
# averages, and Ledoit and Wolf's covariance. The reduction is `mean`; for ViTs, Swins, ConvNeXts and MaxViTs it is `published`.
# Errors come from leaving out one batch at a time.
