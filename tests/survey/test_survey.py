import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from affscore import AffscoreError, load_model
from affscore.options import Options
from affscore.survey import Store, survey
from affscore.survey.job import describe
from affscore.survey.plan import plan
from affscore.survey.report import listing
from affscore.survey.verify import verify
from affscore.survey.work import Work, run_job
from tests.survey.conftest import assert_same_results, tables_of

REPOSITORY = Path(__file__).resolve().parents[2]
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

class Careless(nn.Module):
    def eval(self):
        sys.exit(0)

def raising():
    return Raising()

def leaving():
    return Leaving()

def careless():
    return Careless()

def bug():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
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
    ("arguments", "message"),
    [
        (([], ["digits"]), "names of one model or more"),
        ((["a"], []), "names of one data set or more"),
        (([""], ["digits"]), "names of one model or more"),
        (([3], ["digits"]), "names of one model or more"),
    ],
)
def test_plans_that_make_no_sense(arguments, message):
    with pytest.raises(AffscoreError, match=message):
        plan(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs must be an integer of at least 1"),
        ({"threads": 0}, "threads must be an integer of at least 1"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"n": 1}, "n must be"),
        ({"reductions": "max"}, "reduction must be one of"),
        ({"reductions": []}, "names of one reduction or more"),
        ({"orders": ["x"]}, "order must be one of"),
        ({"covariance": "x"}, "covariance must be"),
        ({"seed": -1}, "seed must be"),
        ({"only": 1}, "this survey has 1 job, numbered from 0, and none with the number 1"),
        ({"only": -1}, "the number of a job must be"),
        ({"scheduler": "nonsense"}, "no scheduler of dask at 'nonsense'"),
    ],
)
def test_options_that_are_not_possible(tmp_path, options, message):
    if "scheduler" in options:
        pytest.importorskip("distributed")
    with pytest.raises(AffscoreError, match=message) as caught:
        survey("mini:digitsnet", "digits", tmp_path, **options)
    assert "\n" not in str(caught.value)


def test_a_cluster_needs_a_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(AffscoreError, match=r"needs the package distributed: pip install \"affscore\[cluster\]\""):
        survey("mini:digitsnet", "digits", tmp_path, scheduler="tcp://127.0.0.1:1")


@pytest.mark.slow
def test_a_job_by_its_number_runs_in_this_process(tmp_path, broken):
    models = ["mini:digitsnet", broken("raising")]
    report = survey(models, "digits", tmp_path / "s", only=0, **OPTIONS)
    assert report.complete
    assert str(report).splitlines()[0] == "1 job: 1 measured"
    again = survey(models, "digits", tmp_path / "s", only=0, **OPTIONS)
    assert str(again).splitlines()[0] == "1 job: 1 already there"
    failed = survey(models, "random", tmp_path / "s", only=1, **OPTIONS)
    assert not failed.complete
    assert "RuntimeError: the head is broken" in failed.failures[0][1]
    lines = listing(plan(models, "digits", Options(n=32, images=64)), tmp_path / "s")
    assert lines == [
        "0: mini:digitsnet on digits (n=32, mean, activate-first): done",
        f"1: {models[1]} on digits (n=32, mean, activate-first): not begun",
    ]


def test_the_listing_without_a_store(tmp_path):
    lines = listing(plan(["mini:digitsnet", "resnet17"], "digits"), tmp_path / "nothing")
    assert lines[0].endswith(": not begun")
    assert "cannot be done: unknown model 'resnet17'" in lines[1]
    assert not (tmp_path / "nothing").exists()


def test_an_error_that_nobody_expected_stops_nobody(tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise ZeroDivisionError("a bug\nof two lines")

    monkeypatch.setattr("affscore.survey.work.Measurement", fail)
    report = survey("mini:digitsnet", "digits", tmp_path, only=0, **OPTIONS)
    assert report.failures[0][1] == "ZeroDivisionError: a bug"
    assert list(tmp_path.iterdir()) == []


def test_a_job_whose_outcome_was_lost_was_measured_all_the_same(tmp_path):
    """As where the pool of processes breaks between a result and its outcome; only that run may say so."""
    (job,) = plan("mini:digitsnet", "digits", Options(n=32, images=32, criteria=()))
    described = describe(job)
    Store(tmp_path / "s", create=True)
    mine, another = (Work(store=tmp_path / "s", run=run, folder=tmp_path) for run in ("mine", "another"))
    states = [run_job(0, described, work).state for work in (mine, mine, another)]
    assert states == ["measured", "measured", "there"]


def test_a_job_whose_files_change_after_the_survey_began(tmp_path, broken, monkeypatch):
    file = Path(broken("x").rpartition(":")[0])
    from affscore.survey import survey as module

    run = sys.modules["affscore.survey.survey"].run_job

    def change_first(*task):
        file.write_text(BROKEN + "\n")
        return run(*task)

    assert module
    monkeypatch.setattr(sys.modules["affscore.survey.survey"], "run_job", change_first)
    report = survey(broken("bug"), "random", tmp_path / "s", only=0, **OPTIONS)
    assert report.failures[0][1] == "its files were changed after the survey had begun; run it again"


@pytest.mark.parametrize("how", ["deleted", "put in place of", "the weights"])
@pytest.mark.slow
def test_files_that_change_while_a_job_runs(tmp_path, monkeypatch, how):
    """The images, or the weights, that were measured are not those that the key is of."""
    images, weights, store = tmp_path / "images", tmp_path / "w.pth", tmp_path / "store"
    images.mkdir()
    generator = np.random.default_rng(0)
    torch.save(load_model("mini:digitsnet").state_dict(), weights)

    def paint(*shape):
        for number in range(64):
            Image.fromarray(generator.integers(0, 256, shape).astype(np.uint8)).save(images / f"{number:02}.bmp")

    def change(*task):
        if how == "deleted":
            for file in sorted(images.iterdir())[::2]:
                file.unlink()
        elif how == "the weights":
            torch.save(load_model("mini:digitsnet@random").state_dict(), weights)
        else:
            times = {file: file.stat().st_mtime_ns for file in images.iterdir()}
            paint(8, 8)
            for file, time in times.items():
                os.utime(file, ns=(time, time))
        return load_model(*task)

    paint(8, 8)
    job = {"models": f"mini:digitsnet@{weights}", "datasets": f"folder:{images}", "store": store, "only": 0}
    with monkeypatch.context() as patch:
        patch.setattr("affscore.network.measurement.load_model", change)
        report = survey(**job, n=16, criteria=False, progress=False)
    assert report.failures[0][1].startswith("its files were changed after the survey had begun")
    assert not Store(store).files()
    assert not Store(store).unfinished()
    report = survey(**job, n=16, criteria=False, progress=False)
    assert report.complete
    assert verify(store) == {}


@pytest.mark.parametrize("name", ["leaving", "careless"])
@pytest.mark.slow
def test_a_network_that_ends_the_process(tmp_path, broken, run, name):
    options = ["--dataset", "random", "--n", 32, "--images", 32]
    models = f"{broken(name)},mini:digitsnet"
    codes, errors = [], []
    for number in (0, 1):
        code, _, err = run("survey", "--models", models, *options, "--store", tmp_path / "s", "--job", number)
        codes.append(code)
        errors.append(err)
    assert codes == [1, 0]
    assert "SystemExit: 0" in errors[0]
    assert len(Store(tmp_path / "s").files()) == 1
    code, out, err = run("signature", broken(name), *options)
    assert (code, out) == (1, "")
    assert re.search(r"sys\.exit\(0\)|SystemExit: 0", err)


@pytest.mark.slow
def test_progress_counts_batches(tmp_path, capsys):
    survey("mini:digitsnet", "digits", tmp_path, only=0, n=32, images=64, progress=True)
    shown = capsys.readouterr()
    assert "2/2" in shown.err
    assert "1/1 jobs" in shown.err
    assert shown.out == ""


@pytest.mark.slow
def test_a_failing_job_and_a_dying_process_stop_nobody(tmp_path, broken):
    failing = [broken("dying"), broken("leaving"), "resnet17"]
    models = ["mini:digitsnet", *failing, "mini:digitsnet@random"]
    report = survey(models, "random", tmp_path / "s", 2, threads=1, **OPTIONS)
    states = {job.model: outcome.state for job, outcome in report.outcomes}
    assert [states[model] for model in models] == ["measured", *["failed"] * 3, "measured"]
    assert not report.complete
    messages = {job.model: message for job, message in report.failures}
    assert messages[broken("dying")] == "its process died (SIGKILL(-9))"
    assert "SystemExit: 0" in messages[broken("leaving")]
    assert "did you mean" in messages["resnet17"]
    assert str(report).startswith("5 jobs: 2 measured, 3 failed")
    assert verify(tmp_path / "s") == {}
    assert not (tmp_path / "s" / ".affscore").exists()
    again = survey(models[:1], "random", tmp_path / "s", 2, threads=1, **OPTIONS)
    assert str(again).splitlines()[0] == "1 job: 1 already there"


def command(*words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "affscore.cli", "survey", *map(str, words)],
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


def batches_of(slow):
    return Counter(images for _, images in slow.passes())[32]


def parts_in(store):
    return sum(parts.count() for parts in Store(store).unfinished().values())


def words_for(slow, store, *more):
    models = [word for model in slow.models for word in ("--model", model)]
    return [*models, "--dataset", "digits", "--n", 32, "--images", 256, "--batch-size", 32, "--store", store, *more]


@pytest.fixture
def undisturbed(tmp_path, slow_network):
    """The results of both slow networks, and the networks, whose log is empty again."""

    def make(seconds):
        slow = slow_network(seconds)
        for only in range(2):
            survey(
                slow.models, "digits", tmp_path / "undisturbed", n=32, images=256, batch_size=32, threads=1, only=only,
                progress=False,
            )  # fmt: skip
        assert batches_of(slow) == 2 * 8
        slow.log.unlink()
        return slow, tables_of(tmp_path / "undisturbed")

    return make


@pytest.mark.slow
def test_surveys_that_are_killed_or_interrupted_are_finished_by_two_at_once(undisturbed, tmp_path):
    slow, expected = undisturbed(0.15)
    store = tmp_path / "store"
    words = words_for(slow, store, "--jobs", 2, "--threads", 1)
    for ending in (signal.SIGKILL, signal.SIGINT):
        before = batches_of(slow)
        process = command(*words)
        wait_for(lambda: batches_of(slow) >= before + 3)  # noqa: B023  # called at once
        workers = {worker for worker, _ in slow.passes()}
        os.kill(process.pid, ending)
        out, err = process.communicate(timeout=60)
        assert out == ""
        wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), 10)  # noqa: B023
        assert not list(store.glob("*.parquet"))
    assert process.returncode == 130, err
    assert err == "affscore: interrupted; the same command goes on from the last finished batches\n"
    before = len(slow.passes())

    both = [command(*words_for(slow, store, "--threads", 1)) for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert_same_results(store, expected)
    # each of two workers was in a batch when it ended, twice; and two surveys at once do nothing twice
    assert 16 <= batches_of(slow) <= 16 + 4
    assert len({process for process, _ in slow.passes()[before:]}) == 2
    assert not (store / ".affscore").exists()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the processes of another one are not listed")
def test_a_survey_that_is_killed_leaves_no_process(slow_network, tmp_path):
    """Not even a worker that never had a job: joblib starts two, where one would be enough."""
    slow = slow_network(0.5)
    process = command("--model", slow.models[0], "--n", 32, "--images", 512, "--store", tmp_path / "s", "--threads", 1)
    try:
        wait_for(lambda: batches_of(slow) >= 1, 200)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert set(children) - {str(worker) for worker, _ in slow.passes()}
    finally:
        process.kill()
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
    process.communicate()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_workers_of_which_one_is_killed(undisturbed, tmp_path):
    distributed = pytest.importorskip("distributed")
    slow, expected = undisturbed(0.15)
    store = tmp_path / "store"
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        process = command(*words_for(slow, store, "--threads", 1, "--scheduler", cluster.scheduler_address))
        # the second worker may begin when the first has ended its job, of which no parts are left then
        wait_for(lambda: len({worker for worker, _ in slow.passes()}) == 2 and parts_in(store) >= 2)
        os.kill(slow.passes()[-1][0], signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, (out, err)
    assert_same_results(store, expected)
    assert 16 <= batches_of(slow) <= 17
    assert len({worker for worker, _ in slow.passes()}) >= 2


def test_a_scheduler_that_is_not_there(tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(AffscoreError, match="there is no scheduler of dask"):
        survey("mini:digitsnet", "digits", tmp_path, scheduler="127.0.0.1")
