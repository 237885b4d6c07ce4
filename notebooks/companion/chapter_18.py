"""Chapter 18: what is reproduced. The tests of claims in the words of its page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from pandas.io.formats.style import Styler

from affscore.plots.style import PALETTE, house_style
from companion.claims import all_claims

SHORT = {"holds": "holds", "does not hold": "fails", "depends on a choice": "depends", "cannot be decided": "open"}
"""The page's word for each verdict, in the order of a row."""

_ON = {
    ".*figures 6 and 7$": "the paper's inputs", "^the printed.*": "printed numbers", ".*other inputs$": "other inputs",
    "^other networks$": "other networks", "^the small networks.*": "mini networks", "^$": "not tested",
}  # fmt: skip
"""What the page calls what claims were tested on, that which is nearest to the papers first."""

_ITEMS = {"R2": "R\u00b2", "num_params": "parameters", "vgg": "VGG-", "googlenet": "GoogLeNet", "alexnet": "AlexNet"}

_CAVEATS = {
    "modern-functions-lower": "it does not hold where functions rise",
    "batch-size-keeps-the-signature": "where it holds, two errors cancel",
    "seeds-change-little": "seeds change the mean score more than other images do, and single scores by up to 0.3",
    "resnets-bimodal": "this is of pooled scores; whether plain networks have two modes, too, depends on the measure",
    "wide-networks-are-locally-linear": "of relative deviation it is open",
    "noise-is-further-than-cifar": "those open are three, on photographs",
    "shortcuts-make-two-modes": "it holds if measured as in the paper, but fails by other choices of the measure",
    "no-criterion-says-the-same": "each is below 0.5 somewhere; yet CKA rises with the score in nearly all of ours",
}

WHY_OPEN = {
    "less-non-linear-until-2020": "no trend is certain in mini networks or in seven designs on ImageNet, and we had no "
    "AlexNet, VGG or transformer with ImageNet weights",
    "vits-most-non-linear": "mini ViTs do not stand apart, and we had no ViT with ImageNet weights",
    "signature-explains-accuracy": "as the paper prints it, signatures lead in three of five groups of networks, but "
    "chance could do as much",
}
"""The main claims of the paper, and why they stay open."""

_MEASURED = {
    "relu-more-than-sigmoid": ("on other inputs, of deviation 8, Tanh scores {} less than ReLU", r"tanh at 8 -(\S+)"),
    "sigmoid-not-near-zero": ("on other inputs its lowest score is {}", r"Sigmoid (\S+)"),
    "no-outliers": ("{} networks stand beside another family", r"others (\d+ of \d+)"),
    "average-of-table-2": ("{} of {} averages differ", r"^(\d+) of the (\w+)"),
    "tanh-lower-than-sigmoid": ("on other inputs its lowest is above half of Sigmoid's (our limit) by {}", r"(\S+) \["),
    "shrinkage-is-constant": ("on other inputs the score of one function moves by {}", r"functions (\S+)"),
    "pure-convnets-low-spread": ("it fails in two tests: on digits they spread by {} more than ViTs'", r"ViTs (\S+)"),
    "table-1-sums-up-table-2": ("{1} of {0} numbers differ", r"Of (\d+) .* (\d+) differ"),
    "training-bends": ("training lowers the scores by {}, but untrained averages do not rise", r"score (\S+)"),
    "inception-widens": ("its lowest score is {} above AlexNet's", r"alexnet \(smallest\) (\S+)"),
    "large-patches-plateau": ("its last score is {}, far from 1", r"itself (\S+)"),
    "transitions-linearise": ("there scores go only {} of the way to 1", r"DenseNets go (\S+)"),
    "better-than-widened-plain-networks": ("they lead on sums, but lag by {} on digits at depth 5", r"depth 5 -(\S+)"),
}  # fmt: skip
"""What the test of a failing claim found, in the page's words, and where its number stands in the words of the test."""

# pages that are not those of the module of a claim, and claims that no page treats
_PAGES = {"after-sums-more-linear": "05", "training-bends": "11"}
_PAGES |= dict.fromkeys(("inception-widens", "average-of-table-2", "better-than-widened-plain-networks"), "no")


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
    """What is said of a claim: a caveat, or a number that the failing test found."""
    words, pattern = _MEASURED.get(name, (_CAVEATS.get(name, ""), ""))
    if pattern:
        failing = claims[(claims["name"] == name) & (claims["verdict"] == "does not hold")]
        words = "".join(words.format(*row) for row in failing["found"].str.extract(pattern).dropna().to_numpy()[:1])
    return words


def _pages(names: pd.Series) -> pd.Series:
    """The number of the page about each claim, or ``no``."""
    page = {one.name: one.test_on.__module__.partition(".chapter_")[2][:2] for one in all_claims()}
    return names.map(page | _PAGES).replace(["", "13"], "no")  # page 13 is about none


def linked(names: pd.Series) -> list[str]:
    """A link to the page about each claim, in brackets, or nothing where there is none."""
    links = {p.name[:2]: f' (<a href="{p.stem}.html">{int(p.name[:2])}</a>)' for p in Path().glob("[0-9][0-9]_*.ipynb")}
    return [links.get(page, "") for page in _pages(names)]


def results(claims: pd.DataFrame, *verdicts: str, on: Sequence[str] = ()) -> Styler:
    """Claims and how their tests ended; each links to the page about it, if there is one.

    Args:
        claims: A row for each test: ``name``, ``claim``, ``verdict``, ``on`` and ``material``.
        verdicts: Of the claims that are shown. One that fails or depends in any test is not one that holds.
        on: Where they ended so; if empty, on anything.

    Returns:
        A table of HTML: the ``claim`` and what we found in sentences, first what it holds and is open on.
    """
    tests = claims.assign(on=material(claims), verdict=claims["verdict"].map(SHORT))
    by = tests.drop_duplicates(["name", "on", "verdict"]).pivot_table("on", ["name", "claim"], "verdict", ", ".join)
    by = by.reindex(columns=[*SHORT.values()])
    by["worst"] = by.notna()[["fails", "depends", "holds", "open"]].idxmax(axis=1)
    by = by[by["worst"].isin(verdicts)].fillna("").reset_index()
    if on:
        by = by[(by["fails"] + by["depends"]).isin(on)]
    by["page"] = _pages(by["name"])
    pairs = zip(by["open"], by["holds"], strict=True)  # a claim may hold on some networks, and be open on others
    by["open"] = [f"some {some}" if some and some in on else some for some, on in pairs]
    by = by.sort_values(["page", "worst"], ascending=[True, False])  # those that no page treats last
    by["claim"] += linked(by["name"])
    heading, on_which = ("it holds", "on") if "holds" in verdicts else ("we found", "it holds on")
    for word, shown in {"holds": on_which, "open": "it is open on"}.items():
        by[word] = by[word].str.replace("^(?=.)", f"{shown} ", regex=True)
    found = by[["holds", "open"]].assign(note=by["name"].map(partial(_note, claims))).to_numpy()
    by[heading] = [" ".join(f"{some[0].upper()}{some[1:]}." for some in row if some) for row in found]
    return words_of(by[["claim", heading]])


_LOOKS = ((PALETTE["blue"], "white"), (PALETTE["vermilion"], "black"), (PALETTE["black"], "white"), ("0.85", "black"))
"""Colours of the bars of each verdict and of the numbers on them; those that fail are hatched, too."""


def words_of(table: pd.DataFrame) -> Styler:
    """A table of HTML without its index, as a page shows tables of words."""
    return table.style.hide().set_table_attributes('class="dataframe words" style="font-size: 0.85em"')


@house_style()
def by_material(counts: pd.DataFrame) -> Figure:
    """Draw how many tests of claims ended how, a bar for each material, those nearest to the papers on top.

    Args:
        counts: Of tests, by material and verdict.
    """
    nearest = [name for name in _ON.values() if name in counts.index]
    shown = counts.loc[nearest[::-1], [*SHORT]].rename(columns=SHORT)
    figure, axes = plt.subplots(figsize=(5, 3))
    shown.plot.barh(ax=axes, stacked=True, color=[colour for colour, _ in _LOOKS], edgecolor="white", linewidth=0)
    every: Any = axes.containers
    for bars, (_, colour) in zip(every, _LOOKS, strict=True):
        labels = [f"{k:.0f}" if k else "" for k in bars.datavalues]
        for label in axes.bar_label(bars, labels, label_type="center", fontsize=9, color=colour):
            if bars is every[1] and label.get_text():
                label.set_bbox({"facecolor": "white", "edgecolor": "none", "boxstyle": "round,pad=0.1"})
    for bar in every[1]:
        bar.set_hatch("////")
    axes.set(xlabel="tests of claims", ylabel="")
    axes.legend(loc="upper right")
    return figure
