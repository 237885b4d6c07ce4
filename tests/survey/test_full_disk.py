"""Disks that are full: one sentence, and no partial file."""

import contextlib
import resource

import pyarrow.parquet as pq
import pytest
from matplotlib import pyplot as plt

from affscore import AffscoreError, compare, signature
from affscore.network.result import load_signature
from affscore.survey import Store, survey

KEY = "0123456789abcdef"
NAME = f"m-w-d-n32-mean-{KEY}.parquet"
OPTIONS = {"n": 32, "images": 64, "criteria": False, "progress": False}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A result, its table in Parquet, and its bytes."""
    result = signature("mini:digitsnet", "digits", **OPTIONS)
    result.metadata["key"] = KEY
    file = tmp_path_factory.mktemp("good") / NAME
    result.save(file)
    return result, pq.read_table(file), file.read_bytes()


def sentence(call):
    """What an AffscoreError says, or None where there is none; any other exception goes on to pytest."""
    try:
        call()
    except AffscoreError as error:
        message = str(error)
        assert 10 < len(message) < 1500
        assert "\n" not in message
        assert "Traceback" not in message
        return message
    return None


@contextlib.contextmanager
def room_for(size):
    """No file of this process may grow beyond so many bytes, which ends a write as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


WRITERS = {
    "result.parquet": lambda result, file: result.save(file),
    "table.csv": lambda result, file: result.save(file),
    "comparison.csv": lambda result, file: compare(result, result).save(file),
    "comparison.svg": lambda result, file: compare(result, result).save(file),
}


@pytest.mark.parametrize(("share", "there"), [(0, True), (0.6, False), (0.99, True)])
@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_fills_up_leaves_no_part_and_what_was_there(good, tmp_path_factory, name, share, there):
    folder = tmp_path_factory.mktemp("full")
    file = folder / name
    WRITERS[name](good[0], file)
    whole = file.read_bytes()
    if not there:
        file.unlink()
    with room_for(int(share * min(len(whole), 4000))):
        told = sentence(lambda: WRITERS[name](good[0], file))
    plt.close("all")
    assert told is not None
    assert name in told
    assert sorted(path.name for path in folder.iterdir()) == ([name] if there else [])
    assert not there or file.read_bytes() == whole


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_survey_on_a_disk_that_fills_up_goes_on_afterwards(good, tmp_path_factory, share):
    folder = tmp_path_factory.mktemp("survey")
    with room_for(int(share * 6000)):
        report = survey("mini:digitsnet", "digits", folder, only=0, **OPTIONS)
    assert not report.complete
    assert len(report.failures) == 1
    assert Store(folder).files() == []
    assert survey("mini:digitsnet", "digits", folder, only=0, **OPTIONS).complete
    (file,) = Store(folder).files()
    assert load_signature(file).scores.tolist() == pytest.approx(good[0].scores.tolist(), abs=1e-12)
