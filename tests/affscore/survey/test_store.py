"""A folder of results: what is in it, copies and older results, damaged and foreign files, and places that refuse."""

import json
import os
import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from affscore import AffscoreError, Signature, compare, load_results, load_signature, signature
from affscore.network.criteria import SCHEMA
from affscore.options import Options
from affscore.survey import load_or_measure, stored_signatures, survey
from affscore.survey.job import Job, describe, plan
from affscore.survey.survey import listing

OPTIONS = {"n": 32, "images": 64, "progress": False}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A store with two results, by the reductions mean and sample."""
    folder = tmp_path_factory.mktemp("finished")
    assert survey("mini:digitsnet", "digits", folder, reductions=["mean", "sample"], **OPTIONS).complete
    return folder


@pytest.fixture
def store(finished, tmp_path):
    """A copy of it."""
    return shutil.copytree(finished, tmp_path / "store")


def mean_of(folder):
    return next(folder.glob("*-mean-*.parquet"))


def rewrite(file, change):
    """Change the entry ``affscore`` of a file's metadata."""
    table = pq.read_table(file)
    kept = json.loads(table.schema.metadata[b"affscore"])
    change(kept)
    pq.write_table(table.replace_schema_metadata({b"affscore": json.dumps(kept).encode()}), file)


def test_a_result_has_the_columns_and_the_provenance(finished):
    result = load_signature(mean_of(finished))
    described = describe(Job("mini:digitsnet", "digits", Options(n=32, images=64)))
    assert result.metadata["key"] == described.key
    assert result.metadata["job"] == described.description
    assert {"versions", "seed", "fingerprint_weights", "fingerprint_data", "created", "threads"} <= set(result.metadata)
    expected = signature("mini:digitsnet", "digits", **OPTIONS).table.drop(columns="seconds")
    pd.testing.assert_frame_equal(result.table.drop(columns="seconds"), expected, check_exact=False, atol=1e-6)


def test_the_types_of_the_columns_are_plain(finished):
    schema = pq.read_schema(mean_of(finished))
    assert {str(field.type) for field in schema} <= {"string", "large_string", "int64", "double", "bool"}
    with pq.ParquetFile(mean_of(finished)) as file:
        physical = {file.schema.column(index).physical_type for index in range(len(schema))}
    assert physical == {"BYTE_ARRAY", "INT64", "DOUBLE", "BOOLEAN"}


def test_all_rows_in_one_table(finished):
    assert pd.read_parquet(finished)["reduction"].value_counts().to_dict() == {"mean": 2 * 9, "sample": 2 * 9}
    table = load_results(finished)
    assert len(table) == 2 * 2 * 9
    assert table["job"].nunique() == 2
    assert list(table.columns[:4]) == ["model", "weights", "dataset", "index"]
    rows = table[table["reduction"] == "mean"].groupby("index")["score"].mean()
    assert rows.to_numpy() == pytest.approx(load_signature(mean_of(finished)).scores)


@pytest.mark.slow
def test_criteria_that_were_not_measured_are_missing(tmp_path):
    for criteria, state in ((False, "measured"), (True, "measured"), ("cka", "there")):
        report = survey("mini:digitsnet", "digits", tmp_path, criteria=criteria, **OPTIONS)
        assert report.outcomes[0][1].state == state  # more criteria than asked for serve, too
    table = load_results(tmp_path)
    assert table.groupby("job")["cka"].apply(lambda column: column.isna().all()).tolist().count(True) == 1
    assert list(table.columns[-2:]) == ["seconds", "job"]


def test_blocks_in_a_store_are_told_from_activations(tmp_path):
    for units in ("activations", "blocks"):
        survey("mini:digitsnet", "digits", tmp_path, units=units, n=16, images=16, criteria=False, progress=False)
    linear = load_results(tmp_path).groupby("units")["kind"].agg(lambda kinds: "linear" in set(kinds))
    assert linear.to_dict() == {"activations": False, "blocks": True}


def test_copies_of_a_result_count_once(store):
    shutil.copy(mean_of(store), store / "copy.parquet")
    assert (len(load_results(store)), len(stored_signatures(store))) == (2 * 2 * 9, 2)


@pytest.mark.parametrize("number", ["1.2", "2.0", "10.0"])
def test_a_result_of_a_newer_format_is_refused(store, number):
    file = mean_of(store)
    rewrite(file, lambda kept: kept.update(format=number, notes=[3]))
    with pytest.raises(AffscoreError, match=f"written by a newer affscore .its format is {number}, this version reads"):
        load_signature(file)
    with pytest.raises(AffscoreError, match="update affscore"):
        load_results(store)


def test_a_file_without_a_number_is_of_the_first_format(store):
    expected = load_signature(mean_of(store))
    rewrite(mean_of(store), lambda kept: kept.pop("format"))
    assert load_signature(mean_of(store)).metadata == expected.metadata


def test_a_signature_from_before_the_column_paired_is_read_and_serves(store):
    new = load_signature(mean_of(store))
    file = Signature(new.table.drop(columns="paired"), new.metadata, new.notes).save(mean_of(store))
    older = load_signature(file)
    pd.testing.assert_frame_equal(older.summary, new.summary.drop(columns="paired"))
    assert older.expected_bias == pytest.approx(new.expected_bias)
    (found,) = load_or_measure(["mini:digitsnet"], "digits", store, **OPTIONS).values()
    assert found == older
    rows = load_results(store)
    own = [name for name in [column.name for column in SCHEMA] if name in new.table and name != "seconds"]
    assert list(rows.columns) == [*own, "units", "seconds", "job"]
    assert rows.groupby("reduction")["paired"].count().to_dict() == {"mean": 0, "sample": 18}
    assert compare(older, new, names=["older", "today"]).distances.to_numpy().max() == 0


def flip(file, positions):
    content = bytearray(file.read_bytes())
    for position in positions:
        content[position] ^= 0xFF
    file.write_bytes(content)


BAD = {
    "truncated": (lambda file: file.write_bytes(file.read_bytes()[:-500]), "is not a Parquet file that can be read"),
    "damaged": (lambda file: flip(file, range(500, 900)), "is damaged|is not a Parquet file that can be read"),
    "foreign": (lambda file: pq.write_table(pa.table({"a": [1]}), file), "is Parquet, but not a signature"),
    "folder": (lambda file: (file.unlink(), file.mkdir()), "there is a folder, not a file"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_result_is_named_and_measured_again(store, name):
    damage, message = BAD[name]
    file = mean_of(store)
    expected = load_results(store).drop(columns="seconds")
    damage(file)
    with pytest.raises(AffscoreError, match=f"({message}).*move it out of the store") as caught:
        load_results(store)
    assert file.name in str(caught.value)
    report = survey("mini:digitsnet", "digits", store, **OPTIONS)
    assert report.complete == (name != "folder")
    if report.complete:
        pd.testing.assert_frame_equal(load_results(store).drop(columns="seconds"), expected, atol=1e-6)
        assert len(list(store.iterdir())) == 2
    else:
        assert f"{file.name!r} is a folder" in report.failures[0][1]


def test_what_is_no_folder_of_results(tmp_path):
    with pytest.raises(AffscoreError, match="there is no signature in"):
        load_results(tmp_path)
    (tmp_path / "file").write_text("")
    for name in ("file", "nothing"):
        with pytest.raises(AffscoreError, match=f"the store '{name}' cannot be read"):
            load_results(tmp_path / name)
    with pytest.raises(AffscoreError, match=r"the store .* cannot be made"):
        survey("mini:digitsnet", "digits", tmp_path / "file")


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="everything is allowed to the superuser")
def test_a_store_that_may_not_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    report = survey("mini:digitsnet", "digits", tmp_path, **OPTIONS)
    tmp_path.chmod(0o700)
    assert "may not be written to" in report.failures[0][1]


def test_a_store_that_may_only_be_read_is_read(store, monkeypatch):
    """Everything is allowed to the superuser, who may run the tests; so the system's answer is given here."""
    (store / ".affscore" / "0123456789abcdef").mkdir(parents=True)  # as older versions left it
    opened = os.open

    def read_only(path, flags, *args, **kwargs):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(30, "Read-only file system")
        return opened(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", read_only)
    assert len(load_results(store)) == 2 * 2 * 9
    assert listing(plan("mini:digitsnet", "digits", Options(n=32, images=64)), store)[0].endswith(": done")
    assert str(survey("mini:digitsnet", "digits", store, **OPTIONS)).startswith("1 job: 1 already there")
