"""Disks that are full: one sentence, and no partial file."""

import contextlib
import resource

import pytest
from matplotlib import pyplot as plt

from affscore import AffscoreError, compare, signature
from affscore.network.result import load_signature
from affscore.survey import Store, survey

OPTIONS = {"n": 32, "images": 64, "criteria": False, "progress": False}


@pytest.fixture(scope="module")
def result():
    return signature("mini:digitsnet", "digits", **OPTIONS)


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
    "comparison.svg": lambda result, file: compare(result, result).save(file),
}


@pytest.mark.parametrize(("share", "there"), [(0, True), (0.6, False), (0.99, True)])
@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_fills_up_leaves_no_part_and_what_was_there(result, tmp_path_factory, name, share, there):
    folder = tmp_path_factory.mktemp("full")
    file = folder / name
    WRITERS[name](result, file)
    whole = file.read_bytes()
    if not there:
        file.unlink()
    with room_for(int(share * min(len(whole), 4000))), pytest.raises(AffscoreError, match=name) as caught:
        WRITERS[name](result, file)
    plt.close("all")
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in folder.iterdir()) == ([name] if there else [])
    assert not there or file.read_bytes() == whole


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_survey_on_a_disk_that_fills_up_goes_on_afterwards(result, tmp_path_factory, share):
    folder = tmp_path_factory.mktemp("survey")
    with room_for(int(share * 6000)):
        report = survey("mini:digitsnet", "digits", folder, only=0, **OPTIONS)
    assert not report.complete
    assert len(report.failures) == 1
    assert Store(folder).files() == []
    assert survey("mini:digitsnet", "digits", folder, only=0, **OPTIONS).complete
    (file,) = Store(folder).files()
    assert load_signature(file).scores.tolist() == pytest.approx(result.scores.tolist(), abs=1e-12)
