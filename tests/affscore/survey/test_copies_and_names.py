"""Copies, results of newer versions, and names that a figure could take for more than names."""

import json
import shutil

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import affscore
from affscore import AffscoreError, Signature, compare, load_results, signature
from affscore.errors import AffscoreWarning
from affscore.network.result import load_signature
from affscore.survey import Store, survey
from affscore.survey.tables import stored_signatures
from companion import figures
from companion.chapter_05.figures import score_histograms
from companion.chapter_06 import timeline
from companion.chapter_08 import score_distributions

OPTIONS = {"n": 8, "images": 8, "criteria": False, "progress": False}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    store = tmp_path_factory.mktemp("measured")
    assert survey("mini:digitsnet", "digits", store, only=0, **OPTIONS).complete
    return store


@pytest.fixture
def store(measured, tmp_path):
    return shutil.copytree(measured, tmp_path / "store")


@pytest.fixture
def copied(store):
    """A store with a result under three names; the original and the copies."""
    (original,) = Store(store).files()
    copies = [store / "copy.parquet", store / f"x-{original.stem[-16:]}.parquet"]
    for copy in copies:
        shutil.copy(original, copy)
    return store, original, copies


def test_copies_of_a_result_count_once_and_are_named(copied):
    store, original, copies = copied
    *others, last = sorted([original, *copies])
    with pytest.warns(AffscoreWarning, match="do not count, since the store has a later one") as given:
        table = load_results(store)
    assert len(table) == 9
    assert all(f"{other.name!r} (the same measurement)" in str(given[0].message) for other in others)
    assert last.name not in str(given[0].message)
    with pytest.warns(AffscoreWarning, match="do not count"):
        assert len(stored_signatures(store)) == 1
    assert "are copies of one result: the distance between them says nothing" in compare(original, copies[0]).notes[0]


@pytest.mark.parametrize("number", ["1.2", "2.0", "10.0"])
def test_a_result_of_a_newer_format_is_refused(store, number):
    (file,) = Store(store).files()
    table = pq.read_table(file)
    kept = json.loads(table.schema.metadata[b"affscore"]) | {"format": number, "notes": [3]}
    pq.write_table(table.replace_schema_metadata({b"affscore": json.dumps(kept).encode()}), file)
    with pytest.raises(AffscoreError, match=f"written by a newer affscore .its format is {number}, this version reads"):
        load_signature(file)
    with pytest.raises(AffscoreError, match="update affscore"):
        load_results(store)


def test_a_file_without_a_number_is_of_the_first_format(store):
    (file,) = Store(store).files()
    table = pq.read_table(file)
    kept = json.loads(table.schema.metadata[b"affscore"])
    assert kept.pop("format") == "1.1"
    expected = load_signature(file)
    pq.write_table(table.replace_schema_metadata({b"affscore": json.dumps(kept).encode()}), file)
    assert load_signature(file).metadata == expected.metadata


NAMES = [r"$\frac{1$", "cost$_a$", "_hidden", r"a_b^c\d", "$5", "100 % # & ~ {}"]
SCORES = {name: np.linspace(0.1, 0.9, 6) ** number for number, name in enumerate(NAMES, 1)}
DISTANCES = pd.DataFrame(np.abs(np.subtract.outer(range(6), range(6))) / 6, NAMES, NAMES)


def named():
    measured = signature("mini:digitsnet", "digits", **OPTIONS)
    table = measured.table.assign(model=NAMES[0], weights=NAMES[1], dataset=NAMES[2])
    table["activation"] = (NAMES * 2)[: len(table)]
    table["kind"] = "other"
    return Signature(table, measured.metadata, measured.notes)


def tree():
    from companion.clustering import linkage

    return linkage(DISTANCES)


FIGURES = {
    "comparison": lambda: affscore.plots.compared_signatures(SCORES, DISTANCES),
    "raw_signature": lambda: affscore.plots.raw_signature(named()),
    "distance_heatmap": lambda: figures.distance_heatmap(DISTANCES),
    "dendrogram": lambda: figures.dendrogram(tree(), NAMES, NAMES),
    "score_distributions": lambda: score_distributions(SCORES, NAMES),
    "score_histograms": lambda: score_histograms(dict.fromkeys(NAMES, SCORES)),
    "timeline": lambda: timeline(
        pd.DataFrame({"name": NAMES, "family": NAMES, "year": 2020, "min": 0.1, "median": 0.5, "max": 0.9})
    ),
}
HIDDEN = {"comparison", "raw_signature", "dendrogram", "score_histograms", "timeline"}
"""Those that have a legend of names."""


@pytest.mark.parametrize("kind", FIGURES)
@pytest.mark.slow
def test_names_in_figures_are_shown_letter_by_letter(kind, tmp_path):
    figure = FIGURES[kind]()
    with plt.rc_context({"svg.fonttype": "none"}):
        figure.savefig(tmp_path / "x.svg")
    plt.close(figure)
    shown = (tmp_path / "x.svg").read_text()
    if kind in HIDDEN:
        assert "_hidden" in {text.get_text().strip().partition(" (")[0] for text in figure.legends[0].get_texts()}
    for name in NAMES[:1] if kind == "raw_signature" else NAMES:
        assert name.replace("&", "&amp;") in shown
