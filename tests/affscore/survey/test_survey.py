import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from affscore import AffscoreError, load_data, load_model, load_signature
from affscore.models import register, sources
from affscore.models.data import DataSource, registered_data
from affscore.models.naming import switched
from affscore.options import Options
from affscore.survey import Store, load_or_measure, survey
from affscore.survey.job import plan
from affscore.survey.store import load_results
from affscore.survey.survey import listing
from tests.affscore.models.sources.test_sources import Narrow
from tests.affscore.survey.conftest import assert_same_results, tables_of

REPOSITORY = Path(__file__).resolve().parents[3]
OPTIONS = {"n": 32, "images": 64, "progress": False}

BROKEN = """
import os
import signal
import sys
import torch
from torch import nn

class Dying(nn.Module):
    def forward(self, x):
        os.kill(os.getpid(), signal.SIGKILL)

class Raising(nn.Module):
    def forward(self, x):
        raise RuntimeError("the head is broken")

def dying():
    return Dying()

class Leaving(nn.Module):
    def forward(self, x):
        sys.exit(0)

def raising():
    return Raising()

def leaving():
    return Leaving()
"""


@pytest.fixture
def broken(tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN)
    return lambda name: f"{tmp_path / 'broken.py'}:{name}"


def test_the_jobs_are_all_pairs_and_their_order_is_fixed():
    jobs = plan(["a", "b"], ["c", "d"], reductions=["mean", "sample"], orders=["activate-first", "reduce-first"])
    told = [(job.model, job.dataset, job.options.reduction, job.options.order) for job in jobs]
    assert told[:3] == [
        ("a", "c", "mean", "activate-first"),
        ("a", "c", "mean", "reduce-first"),
        ("a", "c", "sample", "activate-first"),
    ]
    assert len(jobs) == len(set(jobs)) == 2 * 2 * 3
    assert plan("a", "c") == plan(["a", "a"], ["c"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs must be an integer of at least 1"),
        ({"threads": 100_000}, "threads must be at most"),
        ({"models": [3]}, "name one model or more"),
        ({"datasets": []}, "name one data set or more"),
        ({"reductions": []}, "name one reduction or more"),
        ({"only": 1}, r"the number of a job \(from 0\) must be at most 0, got 1"),
    ],
)
def test_options_that_are_not_possible(tmp_path, options, message):
    with pytest.raises(AffscoreError, match=message) as caught:
        survey(**{"models": "mini:digitsnet", "store": tmp_path, **options})
    assert "\n" not in str(caught.value)


def test_a_cluster_needs_a_package(tmp_path, monkeypatch, run):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, out, err = run("survey", "--model", "mini:digitsnet", "--store", tmp_path, "--scheduler", "tcp://127.0.0.1:1")
    assert (code, out) == (1, "")
    assert "--scheduler needs the package distributed" in err
    assert 'pip install "affscore[cluster]"' in err


def test_the_listing_without_a_store(tmp_path):
    lines = listing(plan(["mini:digitsnet", "resnet17"], "digits"), tmp_path / "nothing")
    assert lines[0].endswith(": to do")
    assert "cannot be done: unknown model 'resnet17'" in lines[1]
    assert not (tmp_path / "nothing").exists()


@pytest.mark.slow
def test_weights_that_change_while_a_job_runs(tmp_path, monkeypatch):
    """Those that were measured are not those that the key is of."""
    weights, store = tmp_path / "w.pth", tmp_path / "store"
    torch.save(load_model("mini:digitsnet").state_dict(), weights)

    def change(*task):
        torch.save(load_model("mini:digitsnet@random").state_dict(), weights)
        return load_model(*task)

    job = {"models": f"mini:digitsnet@{weights}", "datasets": "digits", "store": store, **OPTIONS}
    with monkeypatch.context() as patch:
        patch.setattr("affscore.network.batch.load_model", change)
        report = survey(**job)
    assert report.failures[0][1].startswith("its files were changed after the survey had begun")
    assert not Store(store).files()
    assert survey(**job).complete


def command(*words, **options):
    return subprocess.Popen(
        [sys.executable, "-c", "from affscore.cli import main; main()", "survey", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        start_new_session=True,
        # a shell starts what runs in the background with this signal ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def words_for(slow, store, *more):
    models = [word for model in slow.models for word in ("--model", model)]
    return [*models, "--dataset", "digits", "--n", 32, "--images", 256, "--batch-size", 32, "--store", store, *more]


@pytest.mark.slow
def test_a_survey_that_is_killed_does_what_is_missing_from_its_start(slow_network, tmp_path):
    slow, expected = slow_network(0.2), tmp_path / "undisturbed"
    survey(slow.models, "digits", expected, n=32, images=256, batch_size=32, threads=1, progress=False)
    for jobs, ending in ((2, signal.SIGINT), (1, signal.SIGKILL)):
        store = tmp_path / f"store{jobs}"
        words = words_for(slow, store, "--jobs", jobs, "--threads", 1)
        slow.log.unlink()
        process = command(*words)
        wait_for(lambda: len(slow.passes()) >= 4, 120)  # called at once
        os.kill(process.pid, ending)
        out, err = process.communicate(timeout=60)
        assert out == ""
        if ending == signal.SIGINT:
            assert process.returncode == 130
            assert err.endswith("affscore: interrupted; the same command does the jobs that are not finished\n")
        assert survey(slow.models, "digits", store, n=32, images=256, batch_size=32, threads=1, progress=False).complete
        assert_same_results(store, tables_of(expected))
        assert sorted(path.name for path in store.iterdir()) == sorted(path.name for path in expected.iterdir())


@pytest.mark.slow
def test_a_process_that_dies_ends_the_survey_and_what_had_finished_is_kept(tmp_path, broken):
    models = ["mini:digitsnet", "mini:digitsnet@random", "mini:alexnet"]
    with pytest.raises(AffscoreError, match=r"a process died.*what had finished is kept.*--job NUMBER does one"):
        survey([*models, broken("dying")], "digits", tmp_path / "s", 2, threads=1, **OPTIONS)
    kept = Store(tmp_path / "s").files()
    assert len(kept) >= 2
    report = survey(models, "digits", tmp_path / "s", threads=1, **OPTIONS)
    assert report.complete
    assert sum(outcome.state == "there" for _, outcome in report.outcomes) == len(kept)


@pytest.mark.slow
def test_a_failing_job_stops_no_other(tmp_path, broken):
    failing = [broken("raising"), broken("leaving"), "resnet17"]
    models = ["mini:digitsnet", *failing, "mini:digitsnet@random"]
    report = survey(models, "random", tmp_path / "s", 2, threads=1, **OPTIONS)
    states = {job.model: outcome.state for job, outcome in report.outcomes}
    assert [states[model] for model in models] == ["measured", *["failed"] * 3, "measured"]
    assert not report.complete
    messages = {job.model: message for job, message in report.failures}
    assert "RuntimeError: the head is broken" in messages[broken("raising")]
    assert "SystemExit: 0" in messages[broken("leaving")]
    assert "did you mean" in messages["resnet17"]
    assert str(report).startswith("5 jobs: 2 measured, 3 failed")
    again = survey(models[:1], "random", tmp_path / "s", 2, threads=1, **OPTIONS)
    assert str(again).splitlines()[0] == "1 job: 1 already there"


def test_the_result_of_another_file_of_the_same_name_takes_the_place_of_the_older_one(tmp_path):
    weights, store, keys = tmp_path / "w.pth", tmp_path / "store", set()
    for name in ("mini:digitsnet", "mini:digitsnet@random"):
        torch.save(load_model(name).state_dict(), weights)
        (line,) = listing(plan(f"mini:digitsnet@{weights}", "digits", Options(n=32, images=64)), store)
        assert line.endswith(": to do")
        for state in ("measured", "already there"):
            assert str(survey(f"mini:digitsnet@{weights}", "digits", store, **OPTIONS)).startswith(f"1 job: 1 {state}")
        (key,) = set(load_results(store)["job"])
        keys.add(key)
    assert (len(keys), len(Store(store).files())) == (2, 1)


def test_files_of_one_name_in_two_folders_are_two_results(tmp_path):
    files = [tmp_path / folder / "w.pth" for folder in ("one", "other")]
    for file, name in zip(files, ("mini:digitsnet", "mini:digitsnet@random"), strict=True):
        file.parent.mkdir()
        torch.save(load_model(name).state_dict(), file)
    models = [f"mini:digitsnet@{file}" for file in files]
    for state in ("measured", "there"):
        report = survey(models, "digits", tmp_path / "store", **OPTIONS)
        assert [outcome.state for _, outcome in report.outcomes] == [state] * 2
    assert len(load_results(tmp_path / "store")) == 2 * 2 * 9
    found = load_or_measure(models, "digits", tmp_path / "store", n=32, images=64)
    assert list(found) == models
    assert found[models[0]].scores.tolist() != found[models[1]].scores.tolist()


def test_a_bar_of_jobs_where_it_is_asked_for(tmp_path, capsys):
    models = ["mini:digitsnet", "resnet17"]
    survey(models, "digits", tmp_path, **{**OPTIONS, "progress": True})
    shown = capsys.readouterr()
    assert "2/2" in shown.err
    assert shown.out == ""
    for progress in (None, True):  # where there is no terminal, and where there is nothing to do
        survey(models, "digits", tmp_path, **{**OPTIONS, "progress": progress})
        assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_client_of_dask(slow_network, tmp_path, run):
    distributed = pytest.importorskip("distributed")
    slow, expected = slow_network(0), tmp_path / "expected"
    survey(slow.models, "digits", expected, n=32, images=64, threads=1, progress=False)
    slow.log.unlink()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        models, store = [word for model in slow.models for word in ("--model", model)], tmp_path / "store"
        words = [*models, "--n", 32, "--images", 64, "--threads", 1, "--scheduler", cluster.scheduler_address]
        code, out, _ = run("survey", *words, "--store", store)
        with distributed.Client(cluster, set_as_default=False) as client:
            again = survey(slow.models, "digits", store, n=32, images=64, threads=1, client=client, progress=False)
    assert (code, out) == (0, "2 jobs: 2 measured\n")
    assert str(again).startswith("2 jobs: 2 already there")
    assert_same_results(store, tables_of(expected))
    assert os.getpid() not in {process for process, _ in slow.passes()}


def test_a_scheduler_that_is_not_there(tmp_path, run):
    pytest.importorskip("distributed")
    code, out, err = run("survey", "--model", "mini:digitsnet", "--store", tmp_path, "--scheduler", "nonsense")
    assert (code, out) == (1, "")
    assert "there is no scheduler of dask at 'nonsense'" in err
    assert "start one with: dask scheduler" in err


def own_digits(argument, seed):
    return load_data("digits", seed=seed)


@pytest.mark.slow
def test_worker_processes_know_the_networks_and_data_that_were_registered(tmp_path, monkeypatch):
    monkeypatch.delitem(sources.registered, "own", raising=False)
    monkeypatch.setitem(registered_data, "own-digits", DataSource("own-digits", "", own_digits))
    register(Narrow("own"))
    report = survey(["own:narrow", "own:narrow@random"], "own-digits", tmp_path, jobs=2, **OPTIONS)
    assert str(report).startswith("2 jobs: 2 measured")


def test_no_more_threads_than_pytorch_may_have(tmp_path):
    with switched(torch.get_num_threads, torch.set_num_threads, 1):
        survey("mini:digitsnet", "digits", tmp_path, **OPTIONS)
    (file,) = Store(tmp_path).files()
    assert load_signature(file).metadata["threads"] == 1
