"""affscore survey and affscore store, in this process; how surveys end is in tests/survey."""

import re
import shutil
import sys

import pandas as pd
import pytest

from affscore import cli
from affscore.network.result import load_signature
from affscore.options import Options
from affscore.survey import Store
from affscore.survey.job import Job, describe
from affscore.survey.verify import verify

QUICK = ["--n", "32", "--images", "64", "--no-criteria"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A store with two results."""
    folder = tmp_path_factory.mktemp("measured") / "store"
    words = ["survey", "--models", "mini:digitsnet", *QUICK, "--reductions", "mean,sample", "--store", str(folder)]
    for number in ("0", "1"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["affscore", *words, "--job", number])
            with pytest.raises(SystemExit) as caught:
                cli.main()
        assert not caught.value.code
    return folder


@pytest.fixture
def store(measured, tmp_path):
    """A copy of that store, which a test may change."""
    return shutil.copytree(measured, tmp_path / "store")


@pytest.mark.slow
def test_a_survey_by_its_numbered_jobs(run, tmp_path):
    words = ["survey", "--models", "mini:digitsnet,mini:digitsnet@random", "--datasets", "digits,random", *QUICK]
    words += ["--store", tmp_path / "store"]
    code, out, err = run(*words, "--list")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines == [
        "0: mini:digitsnet on digits (n=32, mean, activate-first): not begun",
        "1: mini:digitsnet on random (n=32, mean, activate-first): not begun",
        "2: mini:digitsnet@random on digits (n=32, mean, activate-first): not begun",
        "3: mini:digitsnet@random on random (n=32, mean, activate-first): not begun",
    ]
    code, out, err = run(*words, "--job", 2)
    assert (code, out) == (0, "1 job: 1 measured\n")
    _, out, _ = run(*words, "--list")
    assert [line.endswith("done") for line in out.splitlines()] == [False, False, True, False]
    assert run(*words, "--job", 2)[1] == "1 job: 1 already there\n"
    code, out, err = run(*words, "--job", 4)
    assert code == 1
    assert err == "affscore: this survey has 4 jobs, numbered from 0, and none with the number 4\n"


@pytest.mark.slow
def test_options_are_those_of_the_command_signature(run, tmp_path):
    words = ["--n", 16, "--images", 48, "--covariance", "empirical", "--criteria", "--seed", 3, "--device", "cpu",
             "--batch-size", 5, "--order", "reduce-first", "--reduction", "sum", "--threads", 1]  # fmt: skip
    code, _, err = run("survey", "--model", "mini:digitsnet@random", *words, "--store", tmp_path, "--job", 0)
    assert code == 0, err
    (path,) = Store(tmp_path).files()
    metadata = load_signature(path).metadata
    wanted = {
        "n": 16, "images": 48, "covariance": "empirical", "seed": 3, "device": "cpu", "batch_size": 5,
        "order": "reduce-first", "reduction": "sum", "threads": 1, "coupling": "exact",
    }  # fmt: skip
    assert {name: metadata[name] for name in wanted} == wanted
    assert len(metadata["criteria"]) == 5


def test_names_may_hold_commas(run, tmp_path):
    folder = tmp_path / "a,b"
    folder.mkdir()
    (folder / "net.py").write_text("from torch import nn\ndef make():\n    return nn.Conv2d(3, 2, 9)\n")
    words = ["--model", f"{folder / 'net.py'}:make", "--model", "resnet18@random", "--models", "alexnet@random"]
    code, out, _ = run("survey", *words, "--dataset", "random", "--datasets", "digits", "--list", "--store", tmp_path)
    assert code == 0
    found = [re.fullmatch(r"\d+: (\S+) on (\S+) .*", line).groups() for line in out.splitlines()]
    models = [f"{folder / 'net.py'}:make", "resnet18@random", "alexnet@random"]
    assert found == [(model, dataset) for model in models for dataset in ("random", "digits")]


def test_a_failing_job_is_one_sentence_and_an_exit_status(run, tmp_path):
    code, out, err = run("survey", "--models", "resnet17", "--store", tmp_path / "s", "--job", 0)
    assert (code, out) == (1, "1 job: 1 failed\n")
    assert err.startswith("affscore: job 0 failed: resnet17 on digits (n=512, mean, activate-first): unknown model")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "say which networks"),
        (["--models", ""], "say which networks"),
        (["--models", "a", "--jobs", "0"], "jobs must be an integer of at least 1"),
        (["--models", "a", "--jobs", "x"], "invalid value for '--jobs'"),
        (["--models", "a", "--reductions", "max"], "reduction must be one of"),
        (["--models", "a", "--stor", "x"], "no such option"),
    ],
)
def test_bad_options_are_one_sentence(run, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("survey", *words)
    assert code in (1, 2)
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert err.startswith("affscore: ")
    assert message.lower() in err.lower()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_command_in_a_result_has_base_names_only(store, measured):
    for path in Store(store).files():
        command = load_signature(path).metadata["command"]
        assert command.startswith("affscore survey --models mini:digitsnet --n 32")
        assert "--store store --job" in command
        assert str(measured.parent).encode() not in path.read_bytes()


@pytest.mark.slow
def test_ls(run, store):
    code, out, err = run("store", "ls", store)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["key", "model", "weights", "dataset"]
    assert lines[-1] == "2 results"
    assert {line.split()[0] for line in lines[1:3]} == {path.stem[-16:] for path in Store(store).files()}


def test_ls_tells_of_what_is_no_result_and_of_what_is_not_finished(run, store):
    described = describe(Job("mini:digitsnet", "random", Options(n=8)))
    parts = Store(store).parts(described.key)
    parts.folder.mkdir(parents=True)
    (parts.folder / "part-000000.parquet").write_text("")
    (store / "foreign.parquet").write_text("")
    code, out, err = run("store", "ls", store)
    assert code == 0
    assert out.splitlines()[-2:] == ["2 results", f"not finished: {described.key}, 1 batch"]
    assert err == "affscore: the file 'foreign.parquet' is not a Parquet file that can be read\n"


def test_ls_of_an_empty_folder(run, tmp_path):
    assert run("store", "ls", tmp_path) == (0, "0 results\n", "")


def test_show(run, store):
    path = Store(store).files()[0]
    shown = [run("store", "show", store, name) for name in (path.name, path.stem, path.stem[-16:], path.stem[-16:-10])]
    assert len(set(shown)) == 1
    code, out, err = shown[0]
    assert (code, err) == (0, "")
    assert "key: " + path.stem[-16:] in out.splitlines()
    assert "blocks.0.relu" in out
    assert "\nSignature of mini:digitsnet (DEFAULT) on digits: 9 activations, 2 x 32 images" in out


@pytest.mark.parametrize(
    ("name", "message"), [("nothing", "there is no result 'nothing'"), ("", "there is no result ''")]
)
def test_show_what_is_not_there(run, store, name, message):
    code, out, err = run("store", "show", store, name)
    assert (code, out) == (1, "")
    assert err.startswith(f"affscore: {message}")


def test_export(run, store, tmp_path):
    code, out, err = run("store", "export", store, tmp_path / "all.csv")
    assert (code, out) == (0, "")
    assert err == f"written to {tmp_path / 'all.csv'}\n"
    assert len(pd.read_csv(tmp_path / "all.csv")) == 2 * 2 * 9
    assert run("store", "export", store, tmp_path / "all.txt")[0] == 1


def test_verify(run, store):
    assert run("store", "verify", store) == (0, "2 files, 0 with problems\n", "")
    path = Store(store).files()[0]
    path.write_bytes(path.read_bytes()[:-9])
    code, out, err = run("store", "verify", store)
    assert (code, out) == (1, "2 files, 1 with problems\n")
    assert err == f"{path.name}: the file {path.name!r} is not a Parquet file that can be read\n"
    assert list(verify(store)) == [path.name]


@pytest.mark.parametrize("command", ["ls", "verify"])
def test_a_store_that_is_not_there(run, tmp_path, command):
    code, out, err = run("store", command, tmp_path / "nothing")
    assert (code, out) == (1, "")
    assert err.startswith("affscore: there is no folder")
    assert len(err.splitlines()) == 1


def test_help(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # options are cut where the terminal is narrow
    code, out, _ = run("survey", "--help")
    assert code == 0
    for option in ("--models", "--datasets", "--store", "--jobs", "--n", "--images", "--reductions", "--orders",
                   "--covariance", "--criteria", "--device", "--batch-size", "--seed", "--threads",
                   "--scheduler", "--list", "--job"):  # fmt: skip
        assert option in out
    code, out, _ = run("store", "--help")
    assert code == 0
    for command in ("ls", "show", "export", "verify"):
        assert command in out


def test_a_command_alone_shows_its_help(run):
    for words in ([], ["store"]):
        code, out, err = run(*words)
        assert code == 2
        assert "Usage" in out
        assert err == ""
