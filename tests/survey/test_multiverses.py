"""Multiverses in a store: measured once whatever happens, kept beside signatures, and checked."""

import itertools
import json
import random
import shutil

import numpy as np
import pandas as pd
import pytest
import torch

import affscore.survey.load
from affscore import AffscoreError, load_multiverse, load_results, load_signature, multiverse, signature
from affscore.network.multiverse_result import Multiverse
from affscore.options import Options, Specification
from affscore.survey import (
    Store,
    load_or_measure,
    load_or_measure_multiverses,
    stored_multiverses,
    stored_signatures,
    survey,
    tables,
)
from affscore.survey.job import Job, describe, key_of
from affscore.survey.plan import plan
from affscore.survey.report import listing
from affscore.survey.tables import contents, export
from affscore.survey.verify import verify
from tests.survey.conftest import assert_same_results, tables_of
from tests.survey.test_kills import KILLS, assert_nothing_twice

OPTIONS = {"n": 32, "images": 64, "progress": False}
SURVEYED = {**OPTIONS, "threads": 1, "only": 0}
"""Of a survey whose one job is done in this process."""

NETWORK = """
from pathlib import Path

import torch
from torch import nn

from affscore.zoo import Preprocessing

HERE = Path(__file__).parent


class Maps(nn.Module):
    def forward(self, x):
        assert x.ndim == 4, "a feature map is needed"
        return torch.tanh(x)


class Network(nn.Module):
    declared_activations = (Maps,)
    preprocessing = Preprocessing(channels=1, size=8, resize=8, mean=(0.3,), std=(0.3,))

    def __init__(self):
        super().__init__()
        first, second, third = nn.Conv2d(1, 6, 3), nn.Conv2d(6, 5, 3), nn.Conv2d(5, 4, 3)
        self.layers = nn.Sequential(first, Maps(), second, nn.ReLU(), third, nn.GELU())

    def forward(self, x):
        if len(x) == 32:  # a batch, and not a few images that are looked at first
            with (HERE / "passes.txt").open("a") as stream:
                stream.write(f"{float(x.sum()):.6f}\\n")
            if (HERE / "fuse.txt").exists():
                left = int((HERE / "fuse.txt").read_text()) - 1
                (HERE / "fuse.txt").write_text(str(left))
                if left < 0:
                    raise RuntimeError("the fuse has blown")
        return self.layers(x).mean((2, 3))
"""


class Fused:
    """A network in a file whose first activation takes feature maps only, and which fails once a fuse has burnt."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "net.py").write_text(NETWORK)
        self.model = f"{folder / 'net.py'}:Network"

    def light(self, batches):
        """Let it fail after so many batches; None for never."""
        fuse = self.folder / "fuse.txt"
        fuse.unlink(missing_ok=True)
        if batches is not None:
            fuse.write_text(str(batches))

    def passes(self):
        """The batches that went through it, by the sum of their images."""
        log = self.folder / "passes.txt"
        found = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return found


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Last bits may depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def fused(tmp_path):
    return Fused(tmp_path)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A store with a multiverse, a signature, and another multiverse, in this order of the names of their files."""
    folder = tmp_path_factory.mktemp("both")
    assert survey("mini:digitsnet", "digits", folder, multiverse=["mean", "sample"], **SURVEYED).complete
    assert survey("mini:digitsnet", "digits", folder, criteria=False, **SURVEYED).complete
    assert survey("mini:digitsnet@random", "digits", folder, multiverse="sum", **SURVEYED).complete
    return folder


@pytest.fixture
def store(measured, tmp_path):
    """A copy of it."""
    return shutil.copytree(measured, tmp_path / "store")


# interruptions

DISTURBED = {"multiverse": ["mean", "sample", "positions"], "bias": "extrapolated", "n": 32, "images": 160, "seed": 3}


@pytest.mark.parametrize("batches", [1, 2, 4])
def test_a_survey_that_failed_in_a_batch_ends_as_one_that_did_not(fused, tmp_path, batches):
    options = {**SURVEYED, **DISTURBED, "positions": 3}
    fused.light(batches)
    report = survey(fused.model, "digits", tmp_path / "store", **options)
    assert "the fuse has blown" in report.failures[0][1]
    *first, alone = fused.passes()
    assert len(first) == batches + 1
    assert alone == first[-1]  # a batch that fails goes through the network once more, by itself
    (key, parts), *others = Store(tmp_path / "store").unfinished().items()
    assert others == []
    found = parts.read()
    assert list(found) == list(range(batches))
    for number, (rows, about) in found.items():
        assert about["batch"]["number"] == number
        # two orders of mean, one of sample and of positions, two covariances; under reduce-first without the first
        expected = [(way, index) for way in range(8) for index in range(way in (2, 3), 3)]
        assert [(row["specification"], row["index"]) for row in rows] == expected
        assert all(0 <= row["paired_extrapolated"] <= 1 for row in rows)

    fused.light(None)
    report = survey(fused.model, "digits", tmp_path / "store", **options)
    assert report.complete
    assert report.outcomes[0][1].resumed == batches
    second = fused.passes()
    assert len(second) == 5 - batches
    assert not set(second) & set(first[:-1]), "a finished batch went through the network again"

    (kept,) = stored_multiverses(tmp_path / "store")
    assert kept.metadata["key"] == key
    assert_equal_but_for_the_run(kept, undisturbed(fused))
    assert len(fused.passes()) == 5


def undisturbed(fused):
    options = {name: value for name, value in DISTURBED.items() if name != "multiverse"}
    return multiverse(
        fused.model, "digits", reductions=DISTURBED["multiverse"], positions=3, progress=False, **options
    )  # fmt: skip


def assert_equal_but_for_the_run(kept, expected):
    rows, others = (one.rows.drop(columns="seconds") for one in (kept, expected))
    pd.testing.assert_frame_equal(rows, others, check_exact=True)
    pd.testing.assert_frame_equal(kept.scores, expected.scores, check_exact=True)
    of_a_run = {"created", "threads", "key", "job", "run"}
    about, wanted = ({k: v for k, v in one.metadata.items() if k not in of_a_run} for one in (kept, expected))
    assert json.loads(json.dumps(about)) == json.loads(json.dumps(wanted))
    assert kept.notes == expected.notes


def test_an_activation_without_a_score_under_reduce_first_is_missing_and_no_fault(fused, tmp_path):
    options = {**SURVEYED, **DISTURBED, "images": 64}
    assert survey(fused.model, "digits", tmp_path / "store", **options).complete
    assert verify(tmp_path / "store") == {}
    (kept,) = stored_multiverses(tmp_path / "store")
    counts = kept.summary.groupby("order")["activations"].unique()
    assert (list(counts["activate-first"]), list(counts["reduce-first"])) == ([3], [2])
    assert kept.metadata["positions"] == 4
    assert sum("no score under reduce-first" in note for note in kept.notes) == 1
    assert sum("each sample gives up to 4 points" in note for note in kept.notes) == 1


SURVEY = {"models": ["mini:digitsnet"], "datasets": "digits", "n": 32, "images": 128, "bias": "extrapolated"}
SURVEY["multiverse"] = ["mean", "positions"]


@pytest.fixture(scope="module")
def left_in_peace(driver, tmp_path_factory):
    folder = tmp_path_factory.mktemp("left_in_peace")
    task = {"store": str(folder / "store"), "log": str(folder / "log"), "jobs": 1, "survey": SURVEY}
    assert driver.run(**task) == 0
    lines = (folder / "log").read_text().splitlines()
    assert sum(line.startswith("begun") for line in lines) == 4
    return tables_of(folder / "store")


@pytest.mark.slow
def test_a_multiverse_of_an_undisturbed_survey_is_that_of_the_function(left_in_peace):
    (table, metadata, notes) = left_in_peace[next(iter(left_in_peace))]
    options = {name: SURVEY[name] for name in ("n", "images", "bias")}
    expected = multiverse("mini:digitsnet", "digits", reductions=SURVEY["multiverse"], progress=False, **options)
    pd.testing.assert_frame_equal(table, expected.rows.drop(columns="seconds"), check_exact=True)
    assert metadata["multiverse"] == ["mean", "positions"]
    assert notes == expected.notes


@pytest.mark.parametrize("at", ["in a batch", "while writing a part", "after a part", "after the rename of a result"])
@pytest.mark.slow
def test_one_kill_at_every_fault_point(driver, left_in_peace, tmp_path, at):
    folder, log = tmp_path / "store", tmp_path / "log"
    task = {"store": str(folder), "log": str(log), "jobs": 1, "survey": SURVEY}
    assert driver.run(at=at, count=0 if at.endswith("a result") else 2, **task) == -9
    assert driver.run(**task) == 0
    assert_done(folder, log, left_in_peace)


@pytest.mark.slow
def test_kills_at_random_moments(driver, left_in_peace, tmp_path):
    generator, kills = random.Random(1), 0
    for number in itertools.count():
        folder, log = tmp_path / f"store{number}", tmp_path / f"log{number}"
        task = {"store": str(folder), "log": str(log), "jobs": 1, "survey": SURVEY, "within": 1.0}
        while driver.run(at=generator.choice(KILLS), count=generator.randrange(2), seed=kills, **task) == -9:
            kills += 1
            assert_nothing_twice(log)
        assert_done(folder, log, left_in_peace)
        if kills >= 2:
            break


def assert_done(folder, log, expected):
    finished = assert_nothing_twice(log)
    assert len([about for about in finished if " " in about]) <= 4
    assert_same_results(folder, expected)
    assert verify(folder) == {}
    assert [path.suffix for path in folder.iterdir()] == [".parquet"]


# what is in a store


def test_a_survey_keeps_what_the_function_measures_and_a_second_one_measures_nothing(measured):
    kept, other = stored_multiverses(measured)
    expected = multiverse("mini:digitsnet", "digits", **OPTIONS)
    assert_equal_but_for_the_run(kept, expected)
    assert other.metadata["multiverse"] == ["sum"]
    before = {path: path.read_bytes() for path in Store(measured).files()}
    report = survey("mini:digitsnet", "digits", measured, multiverse=("mean", "sample"), **SURVEYED)
    assert report.outcomes[0][1].state == "there"
    assert str(report).splitlines()[0] == "1 job: 1 already there"
    assert {path: path.read_bytes() for path in Store(measured).files()} == before


def test_each_kind_of_result_is_read_by_its_own_functions(measured, tmp_path):
    (alone,), several = stored_signatures(measured), stored_multiverses(measured)
    expected = signature("mini:digitsnet", "digits", criteria=False, **OPTIONS)
    np.testing.assert_array_equal(alone.scores, expected.scores)
    np.testing.assert_array_equal(several[0].signature().scores, expected.scores)
    assert len(several) == 2
    assert set(load_results(measured)["job"]) == {alone.metadata["key"]}
    assert len(load_results(measured)) == 2 * 9
    for file in Store(measured).files():
        wrong, kind = (load_signature, "multiverse") if "multiverse" in file.name else (load_multiverse, "signature")
        with pytest.raises(
            AffscoreError, match=f"'{file.name}' is Parquet, but not .* it holds a {kind}".replace("+", ".")
        ):
            wrong(file)


def only(store, kind, folder):
    """A store with the results of one kind."""
    folder.mkdir()
    for file in Store(store).files():
        if ("multiverse" in file.name) == (kind == "multiverse"):
            shutil.copy(file, folder)
    return folder


def test_a_store_of_one_kind_says_that_the_other_is_not_there(measured, tmp_path):
    signatures, multiverses = (only(measured, kind, tmp_path / kind) for kind in ("signature", "multiverse"))
    with pytest.raises(AffscoreError, match=r"there is no multiverse in the folder .*--multiverse mean,sample --store"):
        stored_multiverses(signatures)
    for read in (stored_signatures, load_results):
        with pytest.raises(AffscoreError, match=r"no signature, only multiverses \(affscore.survey.stored_multiverses"):
            read(multiverses)
    assert len(stored_multiverses(multiverses)) == 2


def test_without_multiverses_of_the_package(tmp_path, monkeypatch, measured):
    for folder in (tmp_path, tmp_path / "nothing"):
        monkeypatch.setattr(tables, "MULTIVERSES", folder)
        with pytest.raises(AffscoreError, match="comes without results"):
            stored_multiverses()
    monkeypatch.setattr(tables, "MULTIVERSES", measured)
    assert len(stored_multiverses()) == 2


def test_copies_are_named_where_their_kind_is_read(store):
    (first, *_) = [file for file in Store(store).files() if "multiverse" in file.name]
    shutil.copy(first, store / "z.parquet")
    with pytest.warns(affscore.AffscoreWarning, match="count once: 'z.parquet'"):
        assert len(stored_multiverses(store)) == 2
    assert len(stored_signatures(store)) == 1
    _, said, _ = contents(store)
    assert len(said) == 1


def test_the_list_of_a_store(measured):
    table, problems, unfinished = contents(measured)
    assert (problems, unfinished) == ([], [])
    assert table["reduction"].tolist() == ["mean", "multiverse", "multiverse"]
    assert table["order"].tolist() == ["activate-first", "all", "all"]
    assert table["activations"].tolist() == [9, 9, 9]
    assert table.loc[0, "mean"] == table.loc[1, "mean"]  # that of the default specification
    assert (table["images"] == 64).all()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_all_rows_are_exported(measured, tmp_path, suffix):
    file = export(measured, tmp_path / f"all{suffix}")
    back = pd.read_csv(file) if suffix == ".csv" else pd.read_parquet(file)
    # two batches of nine activations: of the signature, under six and under four specifications
    assert back.groupby("job").size().tolist() == [18 * count for count in sizes(back)]
    assert sorted(sizes(back)) == [1, 4, 6]
    assert list(back.columns[-2:]) == ["seconds", "job"]
    (first, _) = stored_multiverses(measured)
    own = back[back["job"] == first.metadata["key"]]
    np.testing.assert_allclose(own["paired"], first.rows["paired"], rtol=1e-14)
    assert len(pd.read_csv(export(only(measured, "multiverse", tmp_path / "m"), tmp_path / "m.csv"))) == 18 * 10


def sizes(rows):
    return [len(part[["reduction", "order", "covariance"]].drop_duplicates()) for _, part in rows.groupby("job")]


def test_the_command_looks_into_a_store_of_both(measured, run, tmp_path):
    code, out, err = run("store", "ls", measured)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "3 results"
    assert out.count("multiverse") == 2
    (first, _) = stored_multiverses(measured)
    code, out, err = run("store", "show", measured, first.metadata["key"])
    assert (code, err) == (0, "")
    assert 'multiverse: ["mean", "sample"]' in out
    assert len([line for line in out.splitlines() if line[:1].isdigit() and "ledoit-wolf" in line]) == 6
    assert "9 activations, 12 specifications" in out
    assert run("store", "verify", measured)[:2] == (0, "3 files, 0 with problems\n")
    assert run("store", "export", measured, tmp_path / "all.parquet")[0] == 0
    assert len(pd.read_parquet(tmp_path / "all.parquet")) == 18 * 11


# keys

MULTIVERSE = ("mean", "sample")


def described(**options):
    return describe(Job("mini:digitsnet", "digits", Options(**{**{"n": 32, "images": 64}, **options})))


@pytest.mark.parametrize(
    "beside",
    [
        {"criteria": False}, {"criteria": ()}, {"positions": 2}, {"multiverse": ["mean", "sample", "mean"]},
    ],
    ids=str,
)  # fmt: skip
def test_the_key_of_a_multiverse_depends_on_nothing_that_it_varies(beside):
    expected = described(multiverse=MULTIVERSE)
    found = described(**{"multiverse": MULTIVERSE, **beside})
    assert found.key == expected.key
    assert found.file_name == expected.file_name == "mini_digitsnet-DEFAULT-digits-n32-multiverse+mean+sample-images64"


@pytest.mark.parametrize(
    "options",
    [
        {"multiverse": ()}, {"multiverse": "mean"}, {"multiverse": ("sample", "mean")}, {"bias": "extrapolated"},
        {"seed": 1}, {"n": 16}, {"images": 32}, {"multiverse": ("mean", "sample", "positions")},
    ],
    ids=str,
)  # fmt: skip
def test_another_multiverse_has_another_key(options):
    assert described(**{"multiverse": MULTIVERSE, **options}).key != described(multiverse=MULTIVERSE).key


def test_positions_are_part_of_the_key_where_they_are_used():
    several = ("mean", "positions")
    assert described(multiverse=several, positions=4).key == described(multiverse=several).key
    assert described(multiverse=several, positions=5).key != described(multiverse=several).key


def test_the_description_is_plain_json():
    job = described(multiverse=("mean", "positions"), positions=3, bias="extrapolated")
    assert json.loads(json.dumps(job.description)) == job.description
    assert job.description["options"] == {
        "n": 32, "images": 64, "multiverse": ["mean", "positions"], "positions": 3, "bias": "extrapolated",
    }  # fmt: skip
    assert key_of(json.loads(json.dumps(job.description))) == job.key
    assert job.file_name.endswith("-n32-multiverse+mean+positions-images64-positions3-extrapolated")


def test_a_multiverse_is_one_job_and_takes_no_reductions_and_orders_beside_it():
    options = Options(n=32, images=64, multiverse=MULTIVERSE)
    (job,) = plan("mini:digitsnet", "digits", options)
    for ways, name in (((["mean", "sum"], "activate-first"), "reduction"), (("mean", ["reduce-first"]), "order")):
        with pytest.raises(AffscoreError, match=f"omit {name}"):
            plan("mini:digitsnet", "digits", options, *ways)
    assert str(job) == "mini:digitsnet on digits (n=32, multiverse of mean, sample)"


def test_the_listing(measured):
    jobs = plan("mini:digitsnet", "digits", Options(n=32, images=64, multiverse=MULTIVERSE))
    assert listing(jobs, measured) == ["0: mini:digitsnet on digits (n=32, multiverse of mean, sample): done"]


# verify


def first_multiverse(store):
    return next(file for file in Store(store).files() if "multiverse+mean+sample" in file.name)


def rewritten(file, change):
    """The multiverse in a file with other rows or metadata, in the same place, with the right checksum."""
    kept = load_multiverse(file)
    rows, metadata = kept.rows.copy(), dict(kept.metadata)
    changed = change(rows, metadata)
    Multiverse(rows if changed is None else changed, metadata, kept.notes).save(file)


def assign(name, value, row=40):
    def change(rows, metadata):
        rows.loc[row, name] = value

    return change


def without(**words):
    def change(rows, metadata):
        gone = rows[list(words)].eq(list(words.values())).all(axis=1)
        return rows[~gone].reset_index(drop=True)

    return change


WRONG = {
    "a score above 1": (assign("score", 1.2), "the column 'score' has 1 values outside 0 to 1"),
    "a score that is missing": (assign("score", float("nan")), "the column 'score' lacks 1 values"),
    "raw and score": (assign("raw", 0.01), "1 scores are not their raw values"),
    "a paired score above the exact one": (assign("paired", 1.0), "1 scores of the pairing are above the score itself"),
    "a paired score below 0": (assign("paired", -0.1), "the column 'paired' has 1 values outside 0 to 1"),
    "a paired score that is missing": (assign("paired", float("nan")), "the column 'paired' lacks 1 values"),
    "a column too many": (lambda rows, m: rows.assign(cka=0.5), "the column 'cka' does not belong there"),
    "extrapolated scores that nobody asked for": (
        lambda rows, m: rows.assign(extrapolated=0.5), "the column 'extrapolated' does not belong there",
    ),
    "no extrapolated scores": (lambda rows, m: m.update(bias="extrapolated"), "the column 'extrapolated' is missing"),
    "another layer": (assign("layer", "x"), "an activation is not the same under all specifications"),
    "a row too few": (lambda rows, m: rows.drop(index=3), "batch 0 has 8 rows that are not those of"),
    "a batch that is missing": (lambda rows, m: rows.assign(batch=2 * rows["batch"]), "batches are missing"),
    "a reduction that is missing": (
        without(reduction="sample", covariance="empirical"), "it has no rows of sample, activate-first, empirical",
    ),
    "a reduction too many": (
        lambda rows, m: m.update(multiverse=["mean"]), "it has rows of sample, activate-first, empirical, which its",
    ),
    "no reductions": (lambda rows, m: m.update(multiverse=3), "does not say which reductions it holds"),
    "unknown reductions": (lambda rows, m: m.update(multiverse=["max"]), "does not say which reductions it holds"),
    "images": (lambda rows, m: m.update(images=3), "its metadata speaks of 3 images, its rows of 64"),
    "another model": (lambda rows, m: m.update(model="x"), "its rows and its metadata differ in 'model'"),
    "another job": (lambda rows, m: m["job"]["options"].update(multiverse=["mean"]), "its key is not that of the job"),
    "a word": (assign("reduction", "max"), "the column 'reduction' holds 'max'"),
    "no word": (lambda rows, m: rows.assign(coupling=""), "the column 'coupling' holds ''"),
    "no seed": (lambda rows, m: m.pop("seed") * 0 or None, "its metadata lacks 'seed'"),
    "no row": (lambda rows, m: rows.head(0), "it has no row"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_verify_says_what_is_wrong(store, name):
    change, message = WRONG[name]
    rewritten(file := first_multiverse(store), change)
    found = verify(store)
    assert list(found) == [file.name]
    assert any(message in problem for problem in found[file.name]), found


def test_verify_notices_what_was_changed_in_the_file(store):
    file = first_multiverse(store)
    content = bytearray(file.read_bytes())
    content[2000] ^= 255
    file.write_bytes(content)
    (problems,) = verify(store).values()
    assert any(words in problems[0] for words in ("is damaged", "cannot be read", "is not a Parquet file"))
    with pytest.raises(AffscoreError, match=file.name.replace("+", ".")):
        load_results(store)
    report = survey("mini:digitsnet", "digits", store, multiverse=MULTIVERSE, **SURVEYED)
    assert "move it out of the store and run again" in report.failures[0][1]


def test_verify_passes_scores_under_the_pairing_of_many_points(tmp_path, monkeypatch):
    monkeypatch.setattr(affscore.options, "MOST_COUPLED", 100)
    options = {"multiverse": ["mean", "positions"], "bias": "extrapolated", **SURVEYED}
    assert survey("mini:digitsnet", "digits", tmp_path, **options).complete
    assert verify(tmp_path) == {}
    (kept,) = stored_multiverses(tmp_path)
    assert {choice.coupling for choice in kept.choices if choice.reduction == "positions"} == {"paired"}
    assert any("the coupling is the pairing, since n x positions is 128" in note for note in kept.notes)


# results out of a store

OURS = {**OPTIONS, "threads": 1}


def test_what_is_missing_is_measured_and_what_is_there_is_taken(measured, store):
    before = {path.name: path.stat().st_mtime_ns for path in Store(store).files()}
    found = load_or_measure_multiverses(["mini:digitsnet"], "digits", store, shipped=False, **OURS)
    assert found == {"mini:digitsnet": stored_multiverses(measured)[0]}
    assert {path.name: path.stat().st_mtime_ns for path in Store(store).files()} == before
    fewer = load_or_measure_multiverses(["mini:digitsnet"], "digits", store, reductions="sample", **OURS)
    assert fewer == {"mini:digitsnet": stored_multiverses(measured)[0].narrowed(["sample"])}  # one with more serves
    assert {choice.reduction for choice in fewer["mini:digitsnet"].choices} == {"sample"}
    more = load_or_measure_multiverses(["mini:digitsnet"], "digits", store, reductions=["sample", "sum"], **OURS)
    assert len(Store(store).files()) == len(before) + 1
    assert {choice.reduction for choice in more["mini:digitsnet"].choices} == {"sample", "sum"}
    assert verify(store) == {}


@pytest.mark.slow
def test_of_several_networks_those_that_are_missing_are_measured(measured, store):
    names = ["mini:digitsnet@random", "mini:digitsnet"]
    found = load_or_measure_multiverses(names, "digits", store, jobs=2, shipped=False, **OURS)
    assert list(found) == names
    assert found["mini:digitsnet"] == stored_multiverses(measured)[0]
    assert found["mini:digitsnet@random"].choices == found["mini:digitsnet"].choices
    assert len(Store(store).files()) == 4
    both = [*names, "mini:digitsnet@nothing.pth"]
    with pytest.raises(AffscoreError, match=r"nothing\.pth"):
        load_or_measure_multiverses(both, "digits", store, shipped=False, **OURS)


def test_multiverses_of_the_package_count_where_they_are_wanted(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(affscore.survey.load, "MULTIVERSES", measured)
    found = load_or_measure_multiverses(["mini:digitsnet"], "digits", tmp_path / "own", **OURS)
    assert found == {"mini:digitsnet": stored_multiverses(measured)[0]}
    assert Store(tmp_path / "own").files() == []
    load_or_measure_multiverses(["mini:digitsnet"], "digits", tmp_path / "own", shipped=False, **OURS)
    assert len(Store(tmp_path / "own").files()) == 1


def test_a_signature_is_not_taken_for_a_multiverse_nor_the_other_way(measured, tmp_path):
    signatures, multiverses = (only(measured, kind, tmp_path / kind) for kind in ("signature", "multiverse"))
    (alone,) = load_or_measure(
        ["mini:digitsnet"], "digits", multiverses, shipped=False, criteria=False, **OPTIONS
    ).values()  # fmt: skip
    assert alone.metadata["reduction"] == "mean"
    assert len(Store(multiverses).files()) == 3
    (several,) = load_or_measure_multiverses(["mini:digitsnet"], "digits", signatures, **OURS).values()
    assert several.choices[0] == Specification()
    assert len(Store(signatures).files()) == 2


def test_what_makes_no_sense_is_said(tmp_path):
    with pytest.raises(AffscoreError, match="needs the name of one reduction"):
        load_or_measure_multiverses(["mini:digitsnet"], "digits", tmp_path, reductions=())
    with pytest.raises(AffscoreError, match="reduction must be one of"):
        load_or_measure_multiverses(["mini:digitsnet"], "digits", tmp_path, reductions="max")
    with pytest.raises(TypeError, match="load_or_measure_multiverses"):
        load_or_measure(["mini:digitsnet"], "digits", tmp_path, multiverse=("mean",))
    assert Store(tmp_path).files() == []
