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
# {cite:t}`bouniot2025alexnet` and in the poster of {cite:t}`gamba2022linear`, one row each, and then the claims in words, also
# those in the abstracts of {cite:t}`mehmetigopel2023nonlinear`, each with a test that decides it. No verdict is written down; they are computed while the page is built.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
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
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["remove-cell"]
from pathlib import Path

from affscore.figures import table
from affscore.papers import measure_as_printed
from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger
from affscore.papers.ledger_page import claims_page, ledger_page
from IPython.display import HTML, Markdown

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

# %% [markdown]
# ## In numbers
#
# What has a verdict is counted by the way in which ours was found, since the ways do not weigh the same: scores that were *measured* here, numbers that were
# *computed* from public metadata (sizes, depths, accuracies), and years and names that were *looked up*, which reproduce no
# experiment. Tables and figures with no verdict yet are in *the numbers* below.

# %% tags=["hide-input"]
counts = book.counts.rename(
    index=lambda one: one.removeprefix("From Alexnet to Transformers, "),
    level="source",
)
table(counts[counts["numbers"] > counts["needs data"]])

# %% tags=["remove-input"]
Markdown(f"In all {book}.")

# %% [markdown]
# ```{admonition} Why most numbers need data
# :class: note
# Most of the papers' numbers come from trained networks on the 50,000 validation images of ImageNet. Neither is part of this
# package, and in the profile `mini` no row about them has a verdict other than *needs data*. Trained networks that are here
# (ImageNet weights on a sample of photographs, ResNets on CIFAR-10, the mini zoo) give *analogues* beside them.
# ```
#
# ## How to read it
#
# *printed*
# : The number as the paper prints it, with its decimals.
#
# *way*
# : How ours was found, or would have to be: measured, computed or looked up.
#
# *ours*
# : The same thing, measured by us: the same network, weights and data. It stays empty otherwise. Figure 7 is measured here,
#   on normal samples. The R2 of common characteristics in figure 4, depths and the sizes of networks are computed from public
#   metadata; years are looked up, and names counted.
#
# *difference*
# : Ours minus printed.
#
# *verdict*
# : **reproduced**, where ours differs from the printed number by at most half a unit of its last digit, which is what
#   rounding does, plus two standard errors of sampling. **differs**, with what we know of the reason. (One number differs as
#   if it had been cut and not rounded: 0.95596 is printed as 0.955.) **needs data**, with the command that measures what is
#   missing: where nobody measured the same thing, and where the standard error of ours is larger than one unit of the last
#   printed digit. Without that rule the least data would reproduce the most.
#
#   A number that depends on a choice which the paper does not print is never reproduced. The panel of figure 7 with the
#   sample covariance prints one number for each function and not the dimension that it belongs to. Each is *consistent with*
#   ours, for it lies on the curve that we find along the axis of the panel; so would any number between the ends of this
#   curve ({doc}`03_estimating_it_well`).
#
# *analogue*
# : The same quantity of other networks, weights or data, and of which: the small networks `mini:` of this package on digits, ResNets
#   trained on CIFAR-10, networks with other weights. It shows what kind of number to expect. It is no evidence for or against the
#   printed one, and no verdict rests on it. Networks with random weights are no analogue of trained ones.
#
# ## The numbers

# %% tags=["hide-input"]
HTML(ledger_page(book.rows))

# %% [markdown]
# ## The claims in words
#
# Numbers are a small part of what the papers say. Each claim below is in our words, with the place where it stands. What "very
# low" or "consistently" means is our choice; it is under *test*. A claim is tested on everything that has something to say of
# it: *tested on* names it, with the trainings and batches that decided, and the choices under which these were measured where
# they are not the usual ones, to activate first and to average over positions. Where that is not what the papers looked at, the
# table says *analogue*: the claim then holds, or does not, for small networks on digits, for those trained on CIFAR-10 or on
# other inputs of an activation, and it may be otherwise on ImageNet.
#
# A verdict needs evidence that could have gone the other way. *Holds* and *does not hold* rest on an interval that
# excludes the limit (95 %, and wider where several comparisons must hold together) or on a test at 0.05; over
# networks where the claim is about a family, over trainings where it is about one network, over samples where it is
# about a function. *Cannot be decided* means that nothing was there to test it on, or that the results are compatible
# with both. Five networks seldom decide anything, and an accepted null hypothesis never does. *Found* shows
# each interval at 95 %, and says what leaves a claim of several tests undecided. That the printed tables agree with each other
# is arithmetic.

# %% tags=["hide-input"]
table(book.claim_counts)

# %% tags=["hide-input"]
HTML(claims_page(book.claims))

# %% [markdown]
# ### Under other specifications
#
# The papers' text and code leave choices open: the average over positions or one position of each image (*reduction*), the
# activation before or after the average (*order*), the shrunk or the empirical *covariance*, the exact coupling or the pairing
# of each image with itself (*coupling*). That makes 12 specifications, each as defensible as the papers' own. A claim about
# signatures is decided under the papers' choice, then under every other one that was measured on the same networks.
#
# *verdict*
# : The one under the papers' choice. Where another specification finds the opposite, the claim **depends on** a choice: the
#   smallest set of choices that turns it round is named. A verdict that becomes undecided is not turned round.
#
# *holds in, fails in, undecided in*
# : Numbers of specifications. *Not asked again* are claims about repeated
#   trainings, which were measured under the papers' choice alone. (Claims about criteria are asked again with the averages:
#   criteria depend on neither covariance nor coupling.)
#
# *turned by the published axes*
# : Where channels come last, the published code averages over other axes than its text says. These specifications are counted
#   apart, since no text defends them, and only where the axes themselves turn the verdict round. For the printed numbers of
#   these networks they are the papers' own choice.

# %% tags=["hide-input"]
again = book.robustness_table.set_index("claim")
headings = {
    "on": "tested on",
    "verdict": "verdict",
    "holds": "holds in",
    "does not hold": "fails in",
    "cannot be decided": "undecided in",
    "turned_apart": "turned by the published axes",
}
table(again, headings) if len(again) else Markdown(
    "No claim was asked again: "
    "there are no results under several specifications."
)

# %% [markdown]
# `affscore ledger --specifications claims.csv --results results` asks again with your own results, too, and writes each verdict
# with the numbers that decided it.

# %% [markdown]
# ## Fill it in
#
# With ImageNet's validation images at hand the rows fill up by themselves. In the shell, for one network, for all of them, and
# for those you name (papermill's `-y` takes lists):
#
# ```sh
# affscore survey --models resnet18 \
#   --datasets imagenet:data/imagenet --store results
# affscore ledger --results results --csv ledger.csv
# make book PROFILE=paper   # measures the study's networks
# papermill notebooks/18_what_is_reproduced.ipynb ledger.ipynb --cwd notebooks \
#   -y "models: [resnet18, swin_t]"
# ```
#
# What counts as the same measurement: torchvision's *default* weights (the accuracies of figure 4 are theirs), batches of 512
# images and at least two of them, activations before averages, Ledoit and Wolf's covariance, and the reduction that gave the
# printed numbers. For most networks that is `mean`. For ViTs, Swins, ConvNeXts and MaxViTs the published code averages over
# other axes than the text says: there only results of `--reductions published` count as ours. The other reduction of the two
# gives an analogue. At least two batches are enough for a number in *ours*; a verdict takes as many as make its standard error
# no larger than one unit of the last printed digit. That error comes from leaving out one batch at a time (the jackknife).
#
# In Python:

# %%
rows = book.table
differ = rows[rows["verdict"].str.startswith("differs")].set_index("item")
shown = {"published": "printed", "ours": "ours", "verdict": "verdict"}
table(differ, shown)

# %% [markdown]
# ## What we found

# %% tags=["remove-input", "findings"]
total = book.counts.xs("all", level="source")
same, other = total["reproduced"], total["differs"]
claims = book.claim_counts
own, analogues = (claims.loc[name] for name in claims.index)
turned = again["verdict"].str.startswith("depends").sum() if len(again) else 0
Markdown(f"""
* **Of {same.sum() + other.sum()} numbers with a verdict {same.sum()} are reproduced and {other.sum()} differ.** Among scores that were \
measured here it is {same["measured"]} of {same["measured"] + other["measured"]}; the others are sizes, depths, years and names. \
{total["needs data"].sum()} of {total["numbers"].sum()} printed numbers need ImageNet; {sum(bool(row.analogue) for row in book.rows)} have \
an analogue on other networks.
* **On networks of our own, trained on photographs, CIFAR-10 and digits, {analogues["holds"]} tests of the papers' claims hold and \
{analogues["does not hold"]} fail**; {analogues["cannot be decided"]} cannot be decided, and the verdict of \
{analogues["depends on a choice"] or "none"} depends on a choice. On the papers' own material {own["holds"]} hold, {own["does not hold"]} do \
not, and {own["cannot be decided"]} cannot be decided.
* **{len(again)} of these tests were repeated under other choices** of reduction, order, covariance or coupling, each as defensible as the \
papers' own. They turn {turned or "no"} verdict{"" if turned == 1 else "s"} round.
""")
