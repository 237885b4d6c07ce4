"""Signatures that were written before the score under the pairing was a column of its own."""

import pandas as pd
import pytest

from affscore import AffscoreError, Signature, compare, load_results, load_signature, signature
from affscore.network.criteria import SCHEMA
from affscore.survey import Store, load_or_measure, stored_signatures, survey

OPTIONS = {"n": 32, "images": 64, "criteria": False, "progress": False}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with an older signature, by the reduction mean, and one of today, by sample."""
    folder = tmp_path_factory.mktemp("older")
    for only in range(2):
        options = {**OPTIONS, "reductions": ["mean", "sample"], "only": only, "threads": 1}
        assert survey("mini:digitsnet", "digits", folder, **options).complete
    file = older_file(folder)
    new = load_signature(file)
    Signature(new.table.drop(columns="paired"), new.metadata, new.notes).save(file)
    return folder


def older_file(folder):
    return next(file for file in Store(folder).files() if "-mean-" in file.name)


def test_it_is_read_without_the_column(store):
    older = load_signature(older_file(store))
    expected = signature("mini:digitsnet", "digits", **OPTIONS)
    assert "paired" not in older.table
    assert "paired" not in older.summary
    assert "paired" in expected.summary
    pd.testing.assert_frame_equal(older.summary, expected.summary.drop(columns="paired"), atol=1e-6)
    assert older.expected_bias == pytest.approx(expected.expected_bias, abs=1e-6)
    assert older == load_signature(older_file(store))
    assert "9 activations" in repr(older)


@pytest.mark.parametrize("older_first", [True, False])
def test_beside_results_of_today_it_lacks_the_values(store, tmp_path, older_first):
    older, new = sorted(stored_signatures(store), key=lambda one: "paired" in one.table)
    for name, one in zip("ab" if older_first else "ba", (older, new), strict=True):
        one.save(tmp_path / f"{name}.parquet")
    rows = load_results(tmp_path)
    own = [one.name for one in SCHEMA if one.name in new.table and one.name != "seconds"]
    assert list(rows.columns) == [*own, "units", "seconds", "job"]
    assert set(rows["units"]) == {"activations"}
    missing = rows["paired"].isna()
    assert set(rows.loc[missing, "reduction"]) == {"mean"}
    assert set(rows.loc[~missing, "reduction"]) == {"sample"}
    assert rows["paired"].dtype == float
    assert missing.sum() == 18


def test_it_still_serves_for_its_job(store):
    before = {path: path.read_bytes() for path in Store(store).files()}
    (found,) = load_or_measure(["mini:digitsnet"], "digits", store, **OPTIONS).values()
    assert found == load_signature(older_file(store))
    assert {path: path.read_bytes() for path in Store(store).files()} == before


def test_it_is_compared_with_one_of_today(store):
    older, new = (load_signature(file) for file in Store(store).files())
    with pytest.raises(AffscoreError, match="reduction"):
        compare(older, new)
    today = signature("mini:digitsnet", "digits", **OPTIONS)
    assert compare(older, today, names=["older", "today"]).distances.to_numpy().max() == pytest.approx(0, abs=1e-6)
