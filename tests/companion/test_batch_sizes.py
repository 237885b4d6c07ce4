"""The studies of batch sizes that come with the companion: rows of them are measured again, or were before."""

import numpy as np
import pytest

from affscore import multiverse
from affscore.network.parquet import read_description
from affscore.options import Specification
from affscore.survey import stored_multiverses
from companion.shipped import MULTIVERSES
from companion.studies import STUDIES, load_study, study_of

KEYS = ["n", "images", "batches", "index", *Specification._fields]
NAMES = ("batch-size", "batch-size-cifar", "batch-size-large-cifar")


def compare(ours, theirs, columns=("score", "score_std", "mean_std"), tolerance=2e-5):
    both = ours.merge(theirs, on=KEYS, suffixes=("", "_theirs"), validate="1:1")
    assert len(both) == len(ours) > 0
    for column in columns:
        np.testing.assert_allclose(both[column], both[f"{column}_theirs"], atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_says_how_to_make_it_again_and_names_no_place(name):
    about = read_description(STUDIES / f"{name}.parquet")
    assert f" --only {name}" in about["command"]
    table = load_study(name)
    assert not table[["model", "weights"]].stack().str.contains("/").any()
    assert set(table["dataset"]) == {"folder:cifar10-test" if name.endswith("cifar") else "digits"}
    assert table["score"].between(0, 1).all()
    assert (table["batches"] == table["images"] // table["n"]).all()
    assert not table.duplicated(["model", *KEYS]).any()


@pytest.mark.slow
def test_rows_of_the_digits_are_measured_again():
    study = load_study("batch-size")
    again = study_of([multiverse("mini:alexnet", "digits", n=256, bias="extrapolated", progress=False)])
    compare(again, study[study["model"] == "mini:alexnet"])


@pytest.mark.slow
def test_photographs_score_as_in_the_multiverses_that_come_with_the_companion():
    study = load_study("batch-size-cifar")
    before = {found.metadata["model"]: found for found in stored_multiverses(MULTIVERSES)}
    for model, rows in study[(study["n"] == 512) & (study["bias"] == "none")].groupby("model"):
        compare(rows, study_of([before[model]]))


def test_large_batches_of_photographs_are_near_the_whole_data_set():
    """Under the pairing, where both are known: the mean over two halves and the score of all."""
    large = load_study("batch-size-large-cifar").query("coupling == 'paired'").drop(columns=["n", "images", "batches"])
    whole = load_study("batch-size-cifar").query("n == images")
    assert set(whole["coupling"]) == {"paired"}
    both = large.merge(whole, on=["model", "index", *Specification._fields], suffixes=("", "_whole"), validate="1:1")
    assert len(both) == len(large) > 0
    change = (both["score"] - both["score_whole"]).groupby(both["model"]).mean()
    assert change.between(0, 0.01).all()
