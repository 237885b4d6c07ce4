"""Chapter 18: what is reproduced. The tests of claims in the words of its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from pandas.io.formats.style import Styler

from affscore.plots.style import house_style
from companion.claims import all_claims

SHORT = {"holds": "holds", "does not hold": "fails", "depends on a choice": "depends", "cannot be decided": "open"}
"""The page's word for each verdict, in the order of a row."""

_ON = {
    "^$": "nothing at hand", "^the small networks.*": "mini networks", ".*figures 6 and 7$": "the paper's inputs",
    ".*other inputs$": "other inputs", "^the printed.*": "printed numbers",
}  # fmt: skip

_ITEMS = {"R2": "R\u00b2", "num_params": "parameters", "vgg": "VGG-", "googlenet": "GoogLeNet", "alexnet": "AlexNet"}

_CAVEATS = {
    "modern-functions-lower": "not where functions rise",
    "batch-size-keeps-the-signature": "where it holds, two errors cancel",
    "seeds-change-little": "but more than other images do; single scores by up to 0.3",
    "resnets-bimodal": "pooled; alone, by some choices, none of four",
    "wide-networks-are-locally-linear": "relative deviation: open",
    "noise-is-further-than-cifar": "open on three networks on photographs",
    "no-criterion-says-the-same": "each is below 0.5 somewhere; yet CKA rises with the score in nearly all of ours",
}

_MEASURED = {
    "relu-more-than-sigmoid": ("at a deviation of 8 Tanh scores {} less than ReLU", r"tanh at 8 -(\S+)"),
    "sigmoid-not-near-zero": ("its lowest score there is {}", r"Sigmoid (\S+)"),
    "no-outliers": ("{} stand elsewhere", r"others (\d+ of \d+)"),
    "average-of-table-2": ("{} of 5 averages differ", r"^(\d+)"),
    "tanh-lower-than-sigmoid": ("its lowest is {} above half of Sigmoid's", r"(\S+) \["),
    "shrinkage-is-constant": ("that of one function moves by {}", r"functions (\S+)"),
    "pure-convnets-low-spread": ("they spread {} wider than those of ViTs", r"ViTs (\S+)"),
    "table-1-sums-up-table-2": ("{} of its numbers differ", r"(\d+) differ"),
    "training-bends": ("no rise of averages over positions; but training lowers the mean score by {}", r"score (\S+)"),
    "inception-widens": ("its lowest score is {} above AlexNet's", r"alexnet \(smallest\) (\S+)"),
    "large-patches-plateau": ("its last score is {}", r"itself (\S+)"),
    "transitions-linearise": ("scores rise by {} of the way to 1", r"DenseNets go (\S+)"),
    "better-than-widened-plain-networks": ("less accurate by {} on digits, at depth 5", r"digits at depth 5 -(\S+)"),
}  # fmt: skip
"""What the test of a failing claim found, in the page's words, and where its number stands in the words of the test."""

# pages that are not those of the module of a claim, and claims that no page treats
_PAGES = {"after-sums-more-linear": "05", "training-bends": "11"}
_ON_NO_PAGE = ("inception-widens", "average-of-table-2", "better-than-widened-plain-networks")


def readable(item: str) -> str:
    """A printed number's name with the usual spelling of what it is about.

    >>> readable("alexnet: layers with a ReLU")
    'AlexNet: layers with a ReLU'
    """
    for raw, word in _ITEMS.items():
        item = item.replace(raw, word)
    return item


def material(claims: pd.DataFrame) -> pd.Series:
    """What each claim was tested on, in a word or two.

    >>> material(pd.DataFrame({"on": ["the small networks on digits", "six"], "material": "other networks"})).tolist()
    ['mini networks', 'other networks']
    """
    named = claims["on"].replace(_ON, regex=True)
    return named.where(named.isin(_ON.values()), claims["material"]).rename("tested on")


def _note(claims: pd.DataFrame, name: str) -> str:
    """What stands below a claim: a caveat, or a number that the failing test found."""
    words, pattern = _MEASURED.get(name, (_CAVEATS.get(name, ""), ""))
    if pattern:
        failing = claims[(claims["name"] == name) & (claims["verdict"] == "does not hold")]
        words = "".join(map(words.format, failing["found"].str.extract(pattern, expand=False).dropna()[:1]))
    return words and f"<br><i>{words}</i>"


def results(claims: pd.DataFrame, *verdicts: str) -> Styler:
    """Claims with what they were tested on, those that hold somewhere first; each links to the page about it.

    Args:
        claims: A row for each test: ``name``, ``claim``, ``verdict``, ``on`` and ``material``.
        verdicts: Of the claims that are shown. One that fails or depends in any test is not one that holds.

    Returns:
        A table of HTML: the ``claim``, and for each verdict that occurs what it was found on.
    """
    tests = claims.assign(on=material(claims), verdict=claims["verdict"].map(SHORT))
    by = tests.drop_duplicates(["name", "on", "verdict"]).pivot_table("on", ["name", "claim"], "verdict", ", ".join)
    by = by.reindex(columns=[*SHORT.values()])
    by["worst"] = by.notna()[["fails", "depends", "holds", "open"]].idxmax(axis=1)
    by = by[by["worst"].isin(verdicts)].reset_index()
    page = {one.name: one.test_on.__module__.partition(".chapter_")[2][:2] for one in all_claims()}
    page |= _PAGES | dict.fromkeys(_ON_NO_PAGE, "")
    by["page"] = by["name"].map(page).replace(["", "13"], "no")  # page 13 is about none
    by = by.sort_values(["worst", "page"], ascending=[False, True])  # those that fail before one that depends
    paths = {path.name[:2]: path.stem for path in Path().glob("[0-9][0-9]_*.ipynb")}
    links = {number: f' (<a href="{stem}.html">{int(number)}</a>)' for number, stem in paths.items()}
    by["claim"] += [links.get(page, "") for page in by["page"]]
    by["claim"] += [_note(claims, name) for name in by["name"]]
    by["fails"] = by["fails"].fillna(by["depends"] + ", by some choices")
    shown = by[["claim", "holds", "fails", "open"]].dropna(axis=1, how="all").fillna("")
    return words_of(shown.rename(columns={word: f"{word} on" for word in SHORT.values()}))


def words_of(table: pd.DataFrame) -> Styler:
    """A table of HTML without its index, as a page shows tables of words."""
    return table.style.hide().set_table_attributes('class="dataframe words"')


@house_style()
def by_material(counts: pd.DataFrame) -> Figure:
    """Draw how many tests of claims ended how, a bar for each material.

    Args:
        counts: Of tests, by material and verdict.
    """
    shown = counts.loc[counts.sum(axis=1).sort_values().index, [*SHORT]].rename(columns=SHORT)
    figure, axes = plt.subplots(figsize=(5, 3))
    shown.plot.barh(ax=axes, stacked=True, color=["C2", "C1", "C4", "0.8"])
    every: Any = axes.containers
    for bars in every:
        labels = [f"{k:.0f}" if k else "" for k in bars.datavalues]
        axes.bar_label(bars, labels, label_type="center", fontsize=9)
    axes.set(xlabel="tests of claims", ylabel="")
    axes.legend(loc="lower right")
    return figure
