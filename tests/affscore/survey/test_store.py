import os

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import affscore
from affscore import AffscoreError, load_results, signature
from affscore.network.parquet import read_parquet
from affscore.network.result import load_signature
from affscore.options import Options
from affscore.survey import Store, load_or_measure, survey
from affscore.survey.job import Job, describe, key_of

OPTIONS = {"n": 32, "images": 64}


@pytest.fixture(scope="module")
def described():
    return describe(Job("mini:digitsnet", "digits", Options(**OPTIONS)))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A store with two results."""
    folder = tmp_path_factory.mktemp("finished")
    for only in range(2):
        report = survey(
            "mini:digitsnet", "digits", folder, reductions=["mean", "sample"], progress=False, only=only, **OPTIONS
        )
        assert report.complete
    return folder


@pytest.fixture
def store(finished, tmp_path):
    """A copy of it."""
    for path in finished.glob("*.parquet"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def mean_of(folder):
    return next(folder.glob("*-mean-*.parquet"))


def test_a_result_has_the_columns_and_the_provenance(finished, described):
    result = load_signature(mean_of(finished))
    assert result.metadata["key"] == described.key
    assert result.metadata["job"] == described.description
    assert {"versions", "seed", "fingerprint_weights", "fingerprint_data", "created", "threads"} <= set(result.metadata)
    expected = signature("mini:digitsnet", "digits", progress=False, **OPTIONS)
    pd.testing.assert_frame_equal(
        result.table.drop(columns="seconds"), expected.table.drop(columns="seconds"), check_exact=False, atol=1e-6
    )


def test_the_types_of_the_columns_are_plain(finished):
    schema = pq.read_schema(mean_of(finished))
    plain = {"string", "large_string", "int64", "double", "bool"}
    assert {str(field.type) for field in schema} <= plain
    with pq.ParquetFile(mean_of(finished)) as file:
        physical = {file.schema.column(index).physical_type for index in range(len(schema))}
    assert physical == {"BYTE_ARRAY", "INT64", "DOUBLE", "BOOLEAN"}


def test_duckdb_reads_a_store(finished):
    duckdb = pytest.importorskip("duckdb")
    (count,) = duckdb.sql(f"select count(*) from '{finished}/*.parquet'").fetchone()
    assert count == 2 * 2 * 9


def test_pandas_reads_a_store_as_one_data_set(finished):
    rows = pd.read_parquet(finished)
    assert len(rows) == 2 * 2 * 9
    assert set(rows["reduction"]) == {"mean", "sample"}
    assert rows["score"].between(0, 1).all()


def test_load_results(finished):
    table = affscore.load_results(finished)
    assert len(table) == 2 * 2 * 9
    assert table["job"].nunique() == 2
    assert list(table.columns[:4]) == ["model", "weights", "dataset", "index"]
    assert set(table["reduction"]) == {"mean", "sample"}
    by_hand = load_signature(mean_of(finished)).scores
    rows = table[table["reduction"] == "mean"].groupby("index")["score"].mean()
    assert rows.to_numpy() == pytest.approx(by_hand)


@pytest.mark.slow
def test_criteria_that_were_not_measured_are_missing(tmp_path):
    for criteria, state in ((False, "measured"), (True, "measured"), ("cka", "there")):
        report = survey("mini:digitsnet", "digits", tmp_path, criteria=criteria, progress=False, only=0, **OPTIONS)
        assert report.outcomes[0][1].state == state  # more criteria than asked for serve, too
    table = load_results(tmp_path)
    assert table.groupby("job")["cka"].apply(lambda column: column.isna().all()).tolist().count(True) == 1
    assert list(table.columns[-2:]) == ["seconds", "job"]


def test_load_results_without_any(tmp_path):
    with pytest.raises(AffscoreError, match="there is no signature in the folder"):
        load_results(tmp_path)
    with pytest.raises(AffscoreError, match="there is no folder"):
        load_results(tmp_path / "nothing")


# what is no result


BAD = {
    "empty": (lambda file: file.write_bytes(b""), "is not a Parquet file that can be read"),
    "truncated": (lambda file: file.write_bytes(file.read_bytes()[:-500]), "is not a Parquet file that can be read"),
    "damaged": (lambda file: flip(file, range(500, 900)), "is damaged|is not a Parquet file that can be read"),
    "text": (lambda file: file.write_text("layer,score\n"), "is not a Parquet file that can be read"),
    "foreign": (lambda file: pq.write_table(pa.table({"a": [1]}), file), "is Parquet, but not a signature"),
    "folder": (lambda file: (file.unlink(), file.mkdir()), "there is a folder, not a file"),
}


def flip(file, positions):
    content = bytearray(file.read_bytes())
    for position in positions:
        content[position] ^= 0xFF
    file.write_bytes(content)


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_result_is_named_and_measured_again(store, name):
    damage, message = BAD[name]
    file = mean_of(store)
    expected = load_results(store).drop(columns="seconds")
    damage(file)
    with pytest.raises(AffscoreError, match=f"({message}).*move it out of the store") as caught:
        load_results(store)
    assert file.name in str(caught.value)
    report = survey("mini:digitsnet", "digits", store, progress=False, **OPTIONS)
    assert report.complete == (name != "folder")
    if report.complete:
        pd.testing.assert_frame_equal(load_results(store).drop(columns="seconds"), expected, atol=1e-6)
        assert len(list(store.iterdir())) == 2
    else:
        assert f"{file.name!r} is a folder" in report.failures[0][1]


def test_a_file_that_may_not_be_read(store, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pq, "ParquetFile", refused)
    with pytest.raises(AffscoreError, match="may not be read"):
        load_results(store)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="everything is allowed to the superuser")
def test_a_store_that_may_not_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    report = survey("mini:digitsnet", "digits", tmp_path, progress=False, only=0, **OPTIONS)
    tmp_path.chmod(0o700)
    assert "may not be written to" in report.failures[0][1]


def test_a_store_that_is_a_file(tmp_path):
    (tmp_path / "store").write_text("")
    with pytest.raises(AffscoreError, match="store"):
        survey("mini:digitsnet", "digits", tmp_path / "store", only=0)
    with pytest.raises(AffscoreError, match="there is a file, not a folder"):
        Store(tmp_path / "store")


def as_written_by_version_0_1(file):
    """The same result under the key that names every option."""
    result = load_signature(file)
    job = result.metadata["job"]
    every = {**vars(Options()), **job["options"], "criteria": result.metadata["criteria"]}
    job = {**job, "options": every}
    old = file.with_name(f"{file.stem[:-16]}{key_of(job)}.parquet")
    type(result)(result.table, {**result.metadata, "job": job, "key": key_of(job)}, result.notes).save(old)
    file.unlink()
    return old


@pytest.mark.slow
def test_results_of_older_versions_are_found_and_left_as_they_are(store):
    old = as_written_by_version_0_1(mean_of(store))
    before = {path: path.read_bytes() for path in store.iterdir()}
    report = survey("mini:digitsnet", "digits", store, reductions=["mean", "sample"], progress=False, only=0, **OPTIONS)
    assert report.outcomes[0][1].state == "there"
    found = load_or_measure(["mini:digitsnet"], "digits", store, criteria="cka", **OPTIONS)
    assert found["mini:digitsnet"] == load_signature(old)
    assert {path: path.read_bytes() for path in store.iterdir()} == before
    old.write_bytes(old.read_bytes()[:-9])  # what is damaged does not stand in the way of the new key
    assert (
        survey("mini:digitsnet", "digits", store, progress=False, only=0, **OPTIONS).outcomes[0][1].state == "measured"
    )


def test_a_store_of_anything_else(tmp_path):
    store, key, notes = Store(tmp_path), "a" * 16, ["a note"]
    for losses in ([1.0], [1, 1 / 3, 1 / 9]):  # the second takes the place of the first
        file = store.add(key, "training", pd.DataFrame({"loss": losses}), {"rate": 0.1}, notes)
    assert [path.name for path in tmp_path.iterdir()] == [file.name] == [f"training-{key}.parquet"]
    assert store.descriptions() == {file: {"rate": 0.1, "key": key}}
    table, metadata, said = read_parquet(file)
    assert table["loss"].tolist() == [1, 1 / 3, 1 / 9]
    assert (metadata["rate"], said) == (0.1, notes)
    with pytest.raises(AffscoreError, match="is Parquet, but not a signature that affscore wrote: the column"):
        load_signature(file)


def test_blocks_in_a_store_are_told_from_activations(tmp_path):
    for units in ("activations", "blocks"):
        survey("mini:digitsnet", "digits", tmp_path, units=units, n=16, images=16, criteria=False, progress=False)
    table = load_results(tmp_path)
    assert table.groupby("units")["kind"].agg(lambda kinds: "linear" in set(kinds)).to_dict() == {
        "activations": False, "blocks": True,
    }  # fmt: skip
