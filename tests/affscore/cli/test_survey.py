"""affscore survey, in this process; how surveys end is in tests/affscore/survey."""

import pytest

from affscore.network.result import load_signature
from affscore.survey import Store

QUICK = ["--n", "32", "--images", "64", "--criteria", "none"]


@pytest.mark.slow
def test_a_survey_by_its_numbered_jobs(run, tmp_path):
    words = ["survey", "--models", "mini:digitsnet,mini:digitsnet@random", "--datasets", "digits,random", *QUICK]
    words += ["--store", tmp_path / "store"]
    code, out, err = run(*words, "--list")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines == [
        "0: mini:digitsnet on digits (n=32, mean, activate-first): to do",
        "1: mini:digitsnet on random (n=32, mean, activate-first): to do",
        "2: mini:digitsnet@random on digits (n=32, mean, activate-first): to do",
        "3: mini:digitsnet@random on random (n=32, mean, activate-first): to do",
    ]
    code, out, err = run(*words, "--job", 2)
    assert (code, out) == (0, "1 job: 1 measured\n")
    _, out, _ = run(*words, "--list")
    assert [line.endswith("done") for line in out.splitlines()] == [False, False, True, False]
    assert run(*words, "--job", 2)[1] == "1 job: 1 already there\n"
    code, out, err = run(*words, "--job", 4)
    assert code == 1
    assert err == "affscore: the number of a job (from 0) must be at most 3, got 4\n"


@pytest.mark.slow
def test_options_are_those_of_the_command_signature(run, tmp_path):
    words = ["--n", 16, "--images", 48, "--covariance", "empirical", "--seed", 3, "--device", "cpu",
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


def test_a_failing_job_is_one_sentence_and_an_exit_status(run, tmp_path):
    code, out, err = run("survey", "--models", "resnet17", "--store", tmp_path / "s", "--job", 0)
    assert (code, out) == (1, "1 job: 1 failed\n")
    assert err.startswith("affscore: job 0 failed: resnet17 on digits (n=512, mean, activate-first): unknown model")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "name one model or more"), (["--models", "a", "--jobs", "0"], "jobs must be an integer of at least 1")],
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


def test_the_command_alone_shows_its_help(run):
    code, out, err = run()
    assert code == 2
    assert "Usage" in out
    assert err == ""
