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
# Papers report numbers and make claims. This page compares each of them with ours: every number that is printed in
# {cite:t}`bouniot2025alexnet` and in the poster of {cite:t}`gamba2022linear`, and the claims in words, also those in the abstracts of
# {cite:t}`mehmetigopel2023nonlinear`, each with a test that decides it. No verdict is written down; they are computed while the page is built.
# Findings of our own are in the chapters, and not counted here.

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

# %% tags=["remove-cell"]
from base64 import b64encode
from pathlib import Path

import pandas as pd
from IPython.display import HTML, Markdown

from companion.all_results import AllResults, measure_as_printed
from companion.ledger import ALL, Ledger
from companion.style import table

if models:
    options = {
        "n": n,
        "images": images or None,
        "device": device,
        "seed": seed,
        "progress": False,
    }
    measure_as_printed(models, dataset, store, jobs=jobs, **options)
results_of_yours = store if list(Path(store).glob("*.parquet")) else None
book = Ledger(AllResults.gather(results_of_yours))
numbers, claims = book.table, book.claim_table


def download(frame, name):
    """A link to a table that is in the page itself."""
    data = b64encode(frame.to_csv(index=False).encode()).decode()
    link = (
        f'<a download="{name}" href="data:text/csv;base64,{data}">{name}</a>'
    )
    return f"{link} ({len(frame)} rows)"


# %% [markdown]
# ## The printed numbers
#
# They are counted by the way in which ours was found, since the ways do not weigh the same: scores of *functions* on synthetic
# samples, scores *measured* on networks, numbers *computed* from public metadata (sizes, depths, accuracies), and years and names
# that were *looked up*, which reproduce no experiment.

# %% tags=["hide-input"]
table(book.counts.xs(ALL, level="source").rename_axis(None))

# %% tags=["remove-input"]
Markdown(f"In all {book}.")

# %% [markdown]
# **reproduced**: ours differs from the printed number by at most half a unit of its last digit, which is what rounding does, plus
# two standard errors of sampling. **needs data**: nobody measured the same thing, or the standard error of ours is larger than one
# unit of the last printed digit. Without that rule the least data would reproduce the most. **differs**, with what we know of the reason:

# %% tags=["hide-input"]
differ = numbers[numbers["verdict"].str.startswith("differs")]
shown = {"published": "printed", "ours": "ours", "verdict": "verdict"}
table(differ.set_index("item").rename_axis(None), shown)

# %% [markdown]
# Most numbers come from trained networks on the 50,000 validation images of ImageNet. Neither is part of this package. Where there are
# other networks, weights or data for the same quantity, their number stands in the column *analogue*. It shows what to expect, and no
# verdict rests on it. Nor is a number ever reproduced that depends on a choice which the paper does not print: those of figure 7
# with the sample covariance lie on our curve, and so would any number between its ends ({doc}`03_estimating_it_well`).

# %% tags=["hide-input"]
HTML(f"All numbers: {download(numbers, 'ledger.csv')}.")

# %% [markdown]
# ## The claims in words
#
# Each claim is in our words. What "very low" or "consistently" means is our choice, and stands in the column *test* of the file. It is tested on
# everything that has something to say of it, and counted by what that is:

# %% tags=["hide-input"]
table(book.claim_counts)

# %% [markdown]
# One rule decides all of them.
#
# * A number decides where its 95 % interval excludes the limit, or where its two-sided p-value is below 0.05.
# * A claim of several parts **holds** where each part is decided at 5 %. It **does not hold** where one of $k$ parts is decided the other
#   way at 5 % over $k$, since some part of many may fail by chance.
# * "No different" is no missing difference: the whole interval must lie within a margin.
# * The units are designs (networks) for a claim about designs, and trainings or samples only where it is about one network or function.
# * A claim that **cannot be decided** says which effect would have been seen.
#
# Twenty-five of them, chosen for what the papers say first, and not for their verdicts. *Elsewhere* has the other results that they were tested on.

# %% tags=["hide-input"]
MATTER = """
signature-explains-accuracy transformers-better-when-bent
no-criterion-says-the-same table-1-sums-up-table-2 pure-convnets-low-spread
spread-grows-until-2020 vits-most-non-linear shortcuts-make-two-modes
resnets-bimodal families-are-found no-outliers relu-and-gelu-near-zero
modern-functions-lower shrinkage-is-constant seeds-change-little
training-bends squeeze-layers-linearise after-sums-more-linear
deeper-approaches-one noise-is-further-than-cifar
nearer-data-are-like-the-first methods-are-found
wide-networks-are-locally-linear linear-early-costs-more
gap-vanishes-on-easy-tasks
"""
of_claims = {
    name: rows.to_dict("records") for name, rows in claims.groupby("name")
}
for first, *others in of_claims.values():
    first["on"] += f" ({first['units']})" * bool(first["units"])
    first["elsewhere"] = "; ".join(
        f"{one['on']}: {one['verdict']}" for one in others
    )
matter = pd.DataFrame([of_claims[name][0] for name in MATTER.split()])
shown = {
    "on": "tested on",
    "verdict": "verdict",
    "found": "found",
    "elsewhere": "elsewhere",
}
table(matter.set_index("claim").rename_axis(None), shown)

# %% tags=["hide-input"]
HTML(f"All claims, with their tests: {download(claims, 'claims.csv')}.")

# %% [markdown]
# ### Under other specifications
#
# The papers' text and code leave choices open: the average over positions or one position of each image (*reduction*), the
# activation before or after the average (*order*), the shrunk or the empirical *covariance*, the exact coupling or the pairing
# of each image with itself (*coupling*). That makes 12 specifications, each as defensible as the papers' own. A claim about scores
# is decided again under every one that was measured on the same networks. It **depends on a choice** where one of them finds the
# opposite. The columns *holds*, *does not hold* and *cannot be decided* of the file count them; *not asked again* are claims about
# repeated trainings and about other criteria, which were measured under the papers' choice alone. These hold in some specifications and not in all:

# %% tags=["hide-input"]
again = claims.dropna(subset="holds").set_index("claim").rename_axis(None)
asked = ["holds", "does not hold", "cannot be decided"]
partly = again[
    (again["holds"] > 0) & (again["holds"] < again[asked].sum(axis=1))
]
table(partly[["on", *asked]].astype(dict.fromkeys(asked, int)))

# %% [markdown]
# ## Fill it in
#
# With ImageNet's validation images at hand the rows fill up by themselves. In the shell, for one network, for all of them, and
# for those you name (papermill's `-y` takes lists):
#
# ```sh
# affscore survey --models resnet18 \
#   --datasets imagenet:data/imagenet --store results
# python -m companion.ledger --results results \
#   --csv ledger.csv --claims claims.csv
# make book PROFILE=paper   # measures the study's networks
# papermill notebooks/18_what_is_reproduced.ipynb ledger.ipynb --cwd notebooks \
#   -y "models: [resnet18, swin_t]"
# ```
#
# What counts as the same measurement: torchvision's *default* weights (the accuracies of figure 4 are theirs), batches of 512
# images and at least two of them, activations before averages, Ledoit and Wolf's covariance, and the reduction that gave the
# printed numbers. For most networks that is `mean`. For ViTs, Swins, ConvNeXts and MaxViTs the published code averages over
# other axes than the text says: there only results of `--reductions published` count as ours, and the other reduction gives an
# analogue. The error of a number comes from leaving out one batch at a time (the jackknife). `--specifications verdicts.csv` asks
# the claims under every choice again, with your own results, too.
#
# ## What we found

# %% tags=["remove-input", "findings"]
total = book.counts.xs(ALL, level="source")
same, other = total["reproduced"], total["differs"]
counts = book.claim_counts
functions, printed, own, others = (counts.loc[name] for name in counts.index)
turned = counts["depends on a choice"].sum()
Markdown(f"""
* **Of the papers' {total["numbers"].sum()} printed numbers {same.sum()} are reproduced and {other.sum()} differ; \
{same["measured"] or "none"} of those reproduced {"is" if same["measured"] < 2 else "are"} measured on a network.** \
{same["simulated"]} are scores of functions on synthetic samples, {same["computed"]} are computed from public metadata, \
{same["looked up"]} are looked up. {total["needs data"].sum()} need data that are not in this package.
* **Of the claims in words {own["holds"] or "none"} {"is" if own["holds"] < 2 else "are"} shown on the papers' own networks, {own["does not hold"] or "none"} refuted.** \
On activation functions with synthetic inputs {functions["holds"]} hold and {functions["does not hold"]} do not; by the papers' own printed numbers \
{printed["holds"]} hold and {printed["does not hold"]} do not.
* **On other networks, trained on photographs, CIFAR-10 and digits, {others["holds"]} tests hold, {others["does not hold"]} fail and \
{others["cannot be decided"]} cannot be decided.** Of so many at 5 % chance alone could decide {0.05 * others.sum():.0f}. Other \
choices of reduction, order, covariance or coupling turn {turned or "none"} of these verdicts round.
""")
