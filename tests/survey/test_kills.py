"""A survey that is killed again and again ends as one that was left in peace."""

import itertools
import random

import pytest

from affscore.survey.verify import verify
from tests.survey.conftest import assert_same_results, tables_of

SURVEY = {"models": "mini:digitsnet", "datasets": "digits", "n": 64, "images": 256, "reductions": ["mean", "sample"]}
JOBS, BATCHES = 2, 4

KILLS = [
    "in a batch",
    "before a part",
    "while writing a part",
    "before the rename of a part",
    "after the rename of a part",
    "after a part",
    "while writing a result",
    "before the rename of a result",
    "after the rename of a result",
    "at a random moment",
]
FULL = [
    "full disk while writing a part",
    "full disk at the rename of a part",
    "full disk while writing a result",
    "full disk at the rename of a result",
]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed(driver, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    assert driver.run(store=str(folder / "store"), log=str(folder / "log"), jobs=JOBS, survey=SURVEY) == 0
    lines = (folder / "log").read_text().splitlines()
    assert sum(line.startswith("begun") for line in lines) == JOBS * BATCHES
    return tables_of(folder / "store")


def events(log):
    return [line.split(" ", 1) for line in log.read_text().splitlines()] if log.exists() else []


def assert_nothing_twice(log):
    """What was finished never goes through a network again."""
    finished = set()
    for event, about in events(log):
        if event == "begun":
            assert about not in finished
            assert about.split()[0] not in finished, "a job was begun again whose result was there"
        elif event in ("finished", "result"):
            finished.add(about)
    return finished


def assert_done(folder, log, expected):
    finished = assert_nothing_twice(log)
    assert len([about for about in finished if " " in about]) <= JOBS * BATCHES
    assert_same_results(folder, expected)
    assert verify(folder) == {}
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in folder.glob("*-*.parquet"))
    assert len(expected) == JOBS


def test_kills_at_fault_points_and_at_random_moments(driver, undisturbed, tmp_path):
    generator = random.Random(0)
    kills = 0
    for number in itertools.count():
        folder, log = tmp_path / f"store{number}", tmp_path / f"log{number}"
        task = {"store": str(folder), "log": str(log), "jobs": JOBS, "survey": SURVEY, "within": 0.4}
        while driver.run(at=generator.choice(KILLS), count=generator.randrange(2), seed=kills, **task) == -9:
            kills += 1
            assert_nothing_twice(log)
        assert_done(folder, log, undisturbed)
        if kills >= 8:
            break


@pytest.mark.parametrize("at", KILLS[:-1])
def test_one_kill_at_every_fault_point(driver, undisturbed, tmp_path, at):
    folder, log = tmp_path / "store", tmp_path / "log"
    task = {"store": str(folder), "log": str(log), "jobs": JOBS, "survey": SURVEY}
    # there are two results, and more of everything else
    assert driver.run(at=at, count=1 if at.endswith("a result") else 2, **task) == -9
    assert driver.run(**task) == 0
    assert_done(folder, log, undisturbed)


@pytest.mark.parametrize("at", FULL)
def test_a_full_disk_is_said_and_what_was_finished_is_kept(driver, undisturbed, tmp_path, at):
    folder, log = tmp_path / "store", tmp_path / "log"
    task = {"store": str(folder), "log": str(log), "jobs": JOBS, "survey": SURVEY}
    assert driver.run(at=at, count=1, **task) == 1
    failures = [about for event, about in events(log) if event == "outcome" and about.startswith("failed")]
    assert failures
    assert all("No space left on device" in about for about in failures)
    assert not list(folder.rglob("*.part")) + list(folder.rglob(".*.part"))
    assert driver.run(**task) == 0
    assert_done(folder, log, undisturbed)


def test_a_limit_on_the_size_of_files(driver, undisturbed, tmp_path):
    """The kernel's own refusal to write: a part fits, a result does not."""
    folder, log = tmp_path / "store", tmp_path / "log"
    task = {"store": str(folder), "log": str(log), "jobs": JOBS, "survey": SURVEY}
    for size in (1000, 11000):
        assert driver.run(at="largest file", bytes=size, **task) == 1
        failures = [about for event, about in events(log) if event == "outcome"]
        assert all("File too large" in about for about in failures)
        assert not list(folder.glob("*.parquet"))
    assert driver.run(**task) == 0
    assert_done(folder, log, undisturbed)
