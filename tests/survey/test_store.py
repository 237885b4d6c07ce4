import os
import threading
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import affscore
from affscore import AffscoreError, load_results, signature
from affscore.network.parquet import read_parquet
from affscore.network.result import load_signature
from affscore.options import Execution, Options
from affscore.survey import Store, load_or_measure, survey, tables
from affscore.survey.job import Job, describe, key_of
from affscore.survey.parts import Parts
from affscore.survey.tables import contents, export
from affscore.survey.verify import verify
from affscore.survey.work import Work, run_job

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


def work(store, run="0", **more):
    return Work(Path(store), run, Path.cwd(), Execution(threads=1, **more))


def test_a_result_has_the_columns_and_the_provenance(finished, described):
    result = Store(finished).load(described.key, load_signature)
    assert result.metadata["key"] == described.key
    assert result.metadata["job"] == described.description
    assert {"versions", "seed", "fingerprint_weights", "fingerprint_data", "created", "threads"} <= set(result.metadata)
    expected = signature("mini:digitsnet", "digits", progress=False, **OPTIONS)
    pd.testing.assert_frame_equal(
        result.table.drop(columns="seconds"), expected.table.drop(columns="seconds"), check_exact=False, atol=1e-6
    )
    assert verify(finished) == {}


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
    assert len(pd.concat(map(pd.read_parquet, sorted(finished.glob("*.parquet"))))) == 2 * 2 * 9


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


def test_load_results_without_any(tmp_path, monkeypatch):
    with pytest.raises(AffscoreError, match="there is no result in the folder"):
        load_results(tmp_path)
    with pytest.raises(AffscoreError, match="there is no folder"):
        load_results(tmp_path / "nothing")
    for shipped in (tmp_path, tmp_path / "nothing"):
        monkeypatch.setattr(tables, "SHIPPED", shipped)
        with pytest.raises(AffscoreError, match="comes without results"):
            load_results()


def test_the_shipped_results(finished, monkeypatch):
    monkeypatch.setattr(tables, "SHIPPED", finished)
    assert len(load_results()) == 36


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_export(finished, tmp_path, suffix):
    file = export(finished, tmp_path / f"all{suffix}")
    back = pd.read_csv(file) if suffix == ".csv" else pd.read_parquet(file)
    scores = load_results(finished)["score"].to_numpy()  # older versions of pandas read the last bit of text otherwise
    assert back["score"].to_numpy() == pytest.approx(scores, rel=1e-15 if suffix == ".csv" else 0, abs=0)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_export_to_a_bad_place(finished, tmp_path):
    for file, message in [
        (tmp_path / "all.xlsx", "must end in .csv or .parquet"),
        (finished / "all.parquet", "would lie among the results"),
        (tmp_path / "missing" / "all.csv", "there is no folder"),
    ]:
        with pytest.raises(AffscoreError, match=message):
            export(finished, file)


# what is no result


BAD = {
    "empty": (lambda file: file.write_bytes(b""), "is not a Parquet file that can be read"),
    "truncated": (lambda file: file.write_bytes(file.read_bytes()[:-500]), "is not a Parquet file that can be read"),
    "damaged": (lambda file: flip(file, range(500, 900)), "is damaged|is not a Parquet file that can be read"),
    "text": (lambda file: file.write_text("layer,score\n"), "is not a Parquet file that can be read"),
    "foreign": (lambda file: pq.write_table(pa.table({"a": [1]}), file), "is Parquet, but not a signature"),
    "folder": (lambda file: (file.unlink(), file.mkdir()), "there is a folder, not a file"),
    "another result": (lambda file: file.write_bytes(other_result(file)), "is not the result of the job in its name"),
}


def flip(file, positions):
    content = bytearray(file.read_bytes())
    for position in positions:
        content[position] ^= 0xFF
    file.write_bytes(content)


def other_result(file):
    return next(file.parent.glob("*-sample-*.parquet")).read_bytes()


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_result_is_named_and_left_alone(store, described, name):
    damage, message = BAD[name]
    file = mean_of(store)
    damage(file)
    before = file.read_bytes() if file.is_file() else None
    with pytest.raises(AffscoreError, match=message) as caught:
        Store(store).load(described.key, load_signature)
    assert file.name in str(caught.value)
    found = verify(store)
    assert list(found) == [file.name]
    report = survey("mini:digitsnet", "digits", store, reductions=["mean", "sample"], progress=False, only=0, **OPTIONS)
    assert not report.complete
    ((_, sentence),) = report.failures
    assert file.name in sentence
    assert "move it out of the store" in sentence
    if name != "another result":
        with pytest.raises(AffscoreError, match=message):
            load_results(store)
    assert (file.read_bytes() if file.is_file() else None) == before
    assert len(list(store.iterdir())) == 2


def test_a_flipped_bit_is_noticed_or_does_no_harm(store):
    """All over the file: in its pages, their headers, and the description at its end."""
    file = mean_of(store)
    content = file.read_bytes()
    expected = load_signature(file)
    noticed = 0
    for position in range(2, len(content), max(1, len(content) // 150)):
        file.write_bytes(content[:position] + bytes([content[position] ^ 0x10]) + content[position + 1 :])
        try:
            found = load_signature(file)
        except AffscoreError:
            noticed += 1
            continue
        pd.testing.assert_frame_equal(found.table, expected.table, check_exact=True)
        assert (found.metadata, found.notes) == (expected.metadata, expected.notes)
    assert noticed > 50


def test_a_file_that_may_not_be_read(store, described, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pq, "ParquetFile", refused)
    with pytest.raises(AffscoreError, match="may not be read"):
        Store(store).load(described.key, load_signature)
    assert len(verify(store)) == 2


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="everything is allowed to the superuser")
def test_a_store_that_may_not_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    report = survey("mini:digitsnet", "digits", tmp_path, progress=False, only=0, **OPTIONS)
    tmp_path.chmod(0o700)
    assert "cannot be locked (Permission denied)" in report.failures[0][1]


def test_a_store_that_is_a_file(tmp_path):
    (tmp_path / "store").write_text("")
    with pytest.raises(AffscoreError, match="store"):
        survey("mini:digitsnet", "digits", tmp_path / "store", only=0)
    with pytest.raises(AffscoreError, match="there is a file, not a folder"):
        Store(tmp_path / "store")


def rewritten(file, change):
    """The result in a file with another table or metadata, in the same place."""
    result = load_signature(file)
    table, metadata = result.table.copy(), dict(result.metadata)
    changed = change(table, metadata)
    table = table if changed is None else changed
    type(result)(table, metadata, result.notes).save(file)


def assign(name, row, value):
    def change(table, metadata):
        table.loc[row, name] = value

    return change


WRONG = {
    "a column too few": (lambda t, m: t.drop(columns="raw"), "the column 'raw' is missing"),
    "a column too many": (lambda t, m: t.assign(more=1), "the column 'more' does not belong there"),
    "a criterion too few": (lambda t, m: t.drop(columns="cka"), "the column 'cka' is missing"),
    "text for numbers": (
        lambda t, m: t.assign(score="0.5"),
        f"the column 'score' holds {pd.Series(['0.5']).dtype}, not numbers",
    ),
    "no row": (lambda t, m: t.head(0), "it has no row"),
    "a score above 1": (assign("score", 3, 1.2), "the column 'score' has 1 values outside 0 to 1"),
    "a score that is missing": (assign("score", 3, float("nan")), "the column 'score' lacks 1 values"),
    "raw and score": (assign("raw", 3, 0.1), "1 scores are not their raw values"),
    "sparsity": (assign("sparsity_after", 0, -0.5), "the column 'sparsity_after' has 1 values outside"),
    "a width of 0": (assign("width", 0, 0), "the column 'width' has 1 values outside"),
    "a batch of one image": (lambda t, m: t.assign(n=1), "the column 'n' has 18 values outside"),
    "a row too few": (lambda t, m: t.drop(index=12), "batch 1 has 8 rows that are not those"),
    "a batch that is missing": (lambda t, m: t.assign(batch=t["batch"] * 2), "batches are missing: it has 0, 2"),
    "another layer": (assign("layer", 3, "x"), "an activation is not the same in all batches"),
    "a flag": (assign("flag", 3, "?"), "the column 'flag' holds '?'"),
    "images": (lambda t, m: m.update(images=3), "its metadata speaks of 3 images, its rows of 64"),
    "another model": (lambda t, m: m.update(model="x"), "its rows and its metadata differ in 'model'"),
    "no seed": (lambda t, m: m.pop("seed") and None, "its metadata lacks 'seed'"),
    "no criteria": (lambda t, m: m.update(criteria=3), "does not say which criteria"),
    "another job": (lambda t, m: m["job"].update(format="0.9"), "its key is not that of the job"),
    "no job": (lambda t, m: m.pop("job") and None, "its key is not that of the job"),
}


@pytest.mark.parametrize("name", WRONG)
def test_verify_says_what_is_wrong(store, name):
    change, message = WRONG[name]
    file = mean_of(store)
    rewritten(file, lambda table, metadata: _table(change(table, metadata)))
    found = verify(store)
    assert list(found) == [file.name]
    assert any(message in problem for problem in found[file.name]), found


def _table(changed):
    return changed if isinstance(changed, pd.DataFrame) else None


def test_verify_notices_names_that_are_not_those_of_the_job(store):
    file = mean_of(store)
    file.rename(store / "renamed.parquet")
    assert "does not end in its key" in verify(store)["renamed.parquet"][0]
    twice = next(store.glob("*-sample-*.parquet"))
    (store / f"copy-{twice.name}").write_bytes(twice.read_bytes())
    assert sum("is in the names of 2 files" in " ".join(problems) for problems in verify(store).values()) == 2


def test_verify_passes_constant_activations(tmp_path):
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\ndef make():\n"
        "    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.Sigmoid())\n"
        "    nn.init.constant_(net[0].bias, -1e3)\n    return net\n"
    )
    everything = ["cka", "norm", "sparsity", "entropy", "r2", "cka_debiased", "nlc"]
    options = {"n": 8, "images": 16, "criteria": everything, "progress": False, "only": 0}
    report = survey(f"{tmp_path / 'net.py'}:make", "random", tmp_path / "s", **options)
    assert report.complete, report
    assert verify(tmp_path / "s") == {}
    assert set(load_results(tmp_path / "s")["flag"]) == {"constant output"}


# locks and checkpoints


def waiting_for(store, got):
    """A thread that waits for the lock, and holds it until the event is set."""
    let_go = threading.Event()

    def wait():
        with store.lock("job", wait=True) as held:
            got.append(held)
            let_go.wait(10)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    assert got == []
    return thread, let_go


@pytest.mark.parametrize("removed", [False, True])
def test_only_one_holds_the_lock_and_a_waiting_one_gets_it(tmp_path, removed):
    """Whoever holds it may remove its folder, and the one that waits gets it all the same."""
    store, got = Store(tmp_path), []
    with store.lock("job") as first:
        assert first
        with store.lock("job") as second:
            assert not second
        thread, let_go = waiting_for(store, got)
        if removed:
            store.parts("job").remove()
            assert not (tmp_path / ".affscore" / "job").exists()
    for _ in range(200):
        if got:
            break
        thread.join(0.05)
    assert got == [True]
    assert (tmp_path / ".affscore" / "job" / "lock").exists()
    with store.lock("job") as third:
        assert not third
    let_go.set()
    thread.join(10)
    with store.lock("job") as fourth:
        assert fourth


def test_a_job_that_another_process_is_at(described, tmp_path):
    store = Store(tmp_path)
    with store.lock(described.key) as held:
        assert held
        assert store.is_running(described.key)
        assert run_job(0, described, work(tmp_path)).state == "busy"
        outcomes = []
        waiting = threading.Thread(target=lambda: outcomes.append(run_job(0, described, work(tmp_path), wait=True)))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
    waiting.join(60)
    assert outcomes[0].state == "measured"
    assert run_job(0, described, work(tmp_path, run="1")).state == "there"
    assert not store.is_running(described.key)


def interrupted(described, folder, after=1):
    """A store in which a job ended after a batch."""
    store, write, seen = Store(folder, create=True), Parts.write, []

    def stopping(self, number, *part):
        if len(seen) == after:
            raise KeyboardInterrupt
        seen.append(number)
        write(self, number, *part)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Parts, "write", stopping)
        with pytest.raises(KeyboardInterrupt):
            run_job(0, described, work(folder))
    assert store.parts(described.key).count() == after
    return store


DAMAGE = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "empty": lambda path: path.write_bytes(b""),
    "foreign": lambda path: path.write_text("hello\n{}\n"),
    "of another version": lambda path: None,
}


@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.slow
def test_a_part_that_cannot_be_trusted_is_not_used(described, tmp_path, finished, monkeypatch, name):
    store = interrupted(described, tmp_path)
    path = store.parts(described.key).folder / "part-000000.parquet"
    assert len(store.parts(described.key).read()) == 1
    DAMAGE[name](path)
    if name == "of another version":
        monkeypatch.setattr("affscore.__version__", "0.0.0")
    outcome = run_job(0, described, work(tmp_path))
    assert (outcome.state, outcome.resumed) == ("measured", 0)
    table = store.load(described.key, load_signature).table["score"].to_numpy()
    assert table == pytest.approx(
        Store(finished).load(described.key, load_signature).table["score"].to_numpy(), abs=1e-6
    )


def test_finished_batches_are_taken_over(described, tmp_path):
    store = interrupted(described, tmp_path)
    outcome = run_job(0, described, work(tmp_path))
    assert (outcome.state, outcome.resumed) == ("measured", 1)
    assert not [note for note in store.load(described.key, load_signature).notes if "interruption" in note]
    assert list(store.unfinished()) == []


def test_finished_batches_of_other_conditions_are_told_of(described, tmp_path):
    store = interrupted(described, tmp_path)
    run_job(0, described, work(tmp_path, batch_size=7))
    (note,) = (note for note in store.load(described.key, load_signature).notes if "interruption" in note)
    assert note == "batches 0 were measured before an interruption, with batch_size=64, device=cpu, threads=1"


BIAS_FROM_A_FILE = """
from pathlib import Path

from torch import nn


def make():
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    nn.init.constant_(network[0].bias, float((Path(__file__).parent / "bias.txt").read_text()))
    return network
"""


def test_batches_of_a_network_that_is_not_the_same_any_more_are_dropped(tmp_path):
    """The file of one's own is the same, and draws its weights from somewhere else."""
    (tmp_path / "net.py").write_text(BIAS_FROM_A_FILE)
    (tmp_path / "bias.txt").write_text("0.1")
    job = describe(Job(f"{tmp_path / 'net.py'}:make", "random", Options(n=4, images=8)))
    interrupted(job, tmp_path / "store")
    (tmp_path / "bias.txt").write_text("0.2")
    outcome = run_job(0, job, work(tmp_path / "store"))
    assert (outcome.state, outcome.resumed) == ("measured", 0)


def test_tidying_spares_what_a_process_is_writing(described, tmp_path):
    store = interrupted(described, tmp_path)
    folder = store.parts(described.key).folder
    (folder / ".part-000001.parquet.0123.part").write_text("half")
    with store.lock(described.key):
        store.tidy()
        assert (folder / ".part-000001.parquet.0123.part").exists()
    store.tidy()
    assert not (folder / ".part-000001.parquet.0123.part").exists()
    assert store.parts(described.key).count() == 1


def test_nobody_elses_files_are_touched(described, tmp_path):
    store = interrupted(described, tmp_path)
    folder = store.parts(described.key).folder
    mine = [tmp_path / "notes.txt", tmp_path / ".hidden.parquet", tmp_path / ".affscore" / "mine", folder / "mine"]
    for path in mine:
        path.write_text("mine")
    store.tidy()
    assert run_job(0, described, work(tmp_path)).state == "measured"
    assert [path.read_text() for path in mine] == ["mine"] * 4
    assert verify(tmp_path) == {}


def test_a_part_comes_back_as_it_was(tmp_path):
    described = describe(Job("mini:digitsnet", "digits", Options(n=16, images=64)))
    store = interrupted(described, tmp_path, after=2)
    parts = store.parts(described.key)
    found = parts.read()
    assert {number: about["batch"]["number"] for number, (_, about) in found.items()} == {0: 0, 1: 1}
    rows, _ = found[0]
    assert len(rows) == 9
    assert list(rows[0])[:3] == ["index", "layer", "call"]
    parts.write(1, *found[0])
    assert parts.read() == {0: found[0], 1: found[0]}
    parts.drop()
    assert parts.count() == 0


def test_what_an_older_version_left_of_a_job_stays_for_it(described, tmp_path):
    old = tmp_path / ".affscore" / ("0" * 16)
    old.mkdir(parents=True)
    for name in ("batch-000000.json", "begun", "lock"):
        (old / name).write_text("")
    Store(tmp_path).tidy()
    assert (old / "batch-000000.json").exists()
    assert Store(tmp_path).unfinished()["0" * 16].count() == 1


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
    assert verify(store) == {}
    report = survey("mini:digitsnet", "digits", store, reductions=["mean", "sample"], progress=False, only=0, **OPTIONS)
    assert report.outcomes[0][1].state == "there"
    found = load_or_measure(["mini:digitsnet"], "digits", store, criteria="cka", shipped=False, **OPTIONS)
    assert found["mini:digitsnet"] == load_signature(old)
    assert {path: path.read_bytes() for path in store.iterdir()} == before
    old.write_bytes(old.read_bytes()[:-9])  # what is damaged does not stand in the way of the new key
    assert (
        survey("mini:digitsnet", "digits", store, progress=False, only=0, **OPTIONS).outcomes[0][1].state == "measured"
    )


def test_a_store_of_anything_else(tmp_path):
    store, key = Store(tmp_path), "a" * 16
    with store.lock(key):
        for epoch in range(3):
            store.parts(key).write(epoch, [{"epoch": epoch, "loss": 1 / 3**epoch}], {})
        rows = [row for part, _ in store.parts(key).read().values() for row in part]
        file = store.add(key, "training", pd.DataFrame(rows), {"rate": 0.1}, ["a note"])
    assert [path.name for path in tmp_path.glob("*")] == [file.name, ".affscore"] or not store.unfinished()
    assert store.descriptions() == {file: {"rate": 0.1, "key": key}}
    table, metadata, notes = store.load(key, read_parquet)
    assert table["loss"].tolist() == [1, 1 / 3, 1 / 9]
    assert (metadata["rate"], notes) == (0.1, ["a note"])
    with pytest.raises(AffscoreError, match="is Parquet, but not a signature that affscore wrote: the column"):
        load_signature(file)


def test_blocks_in_a_store_are_told_from_activations(tmp_path):
    for units in ("activations", "blocks"):
        survey("mini:digitsnet", "digits", tmp_path, units=units, n=16, images=16, criteria=False, progress=False)
    table = load_results(tmp_path)
    assert table.groupby("units")["kind"].agg(lambda kinds: "linear" in set(kinds)).to_dict() == {
        "activations": False, "blocks": True,
    }  # fmt: skip
    shown, problems, _ = contents(tmp_path)
    assert sorted(shown["units"]) == ["activations", "blocks"]
    assert shown["mean"].between(0, 1).all()
    assert not problems
