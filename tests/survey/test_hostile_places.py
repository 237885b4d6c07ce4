"""Links, names that are not UTF-8, and stores that may only be read."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from affscore import AffscoreError, compare, load_results, signature
from affscore.options import Options
from affscore.survey import Store, survey
from affscore.survey.plan import plan
from affscore.survey.report import listing
from affscore.survey.tables import contents
from affscore.survey.verify import verify

OPTIONS = {"n": 8, "images": 8, "criteria": False, "progress": False}
NETWORK = "from torch import nn\ndef make():\n    return nn.Sequential(nn.Conv2d(3, 2, 3), nn.ReLU())\n"
BAD = "n\udcffet"  # how Python reads the bytes 6e ff 65 74


@pytest.fixture
def badly_named(tmp_path, monkeypatch):
    """A network, weights and images under a name that is not UTF-8, and under one that is."""
    import torch

    monkeypatch.chdir(tmp_path)
    for name in (BAD, "ok"):
        try:
            Path(f"{name}.py").write_text(NETWORK)
        except OSError:
            pytest.skip("file names are UTF-8 here")
        torch.save({}, f"{name}.pth")
        Path(name).mkdir()
        for number in range(8):
            pixels = np.random.default_rng(number).integers(0, 255, (16, 16, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(Path(name) / f"{number}.png")


@pytest.mark.parametrize(
    ("model", "data"),
    [(f"{BAD}.py:make", "folder:ok"), ("ok.py:make", f"folder:{BAD}"), (f"mini:digitsnet@{BAD}.pth", "digits")],
)
def test_names_that_are_not_utf_8_are_refused_before_anything_is_measured(badly_named, run, model, data):
    with pytest.raises(AffscoreError, match=r"the name 'n\\udcffet.*' is not UTF-8, as results need it; rename it"):
        signature(model, data, **OPTIONS)
    with pytest.raises(AffscoreError, match="is not UTF-8"):
        survey(model, data, "store", only=0, **OPTIONS)
    for words in (["signature", model], ["survey", "--list", "--models", model]):
        code, out, err = run(*words, "--dataset", data, "--n", 8, "--images", 8)
        assert (code, out) == (1, "")
        assert "is not UTF-8" in err
    assert not list(Path("store").glob("*.parquet"))


@pytest.mark.parametrize("name", [BAD, "a\0b"])
def test_places_and_labels_that_are_not_utf_8(tmp_path, run, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    measured = signature("mini:digitsnet", "digits", **OPTIONS)
    calls = [
        lambda: measured.save(f"{name}.parquet"),
        lambda: Store(name, create=True),
        lambda: compare("mini:digitsnet", "mini:digitsnet@random", names=[name, "b"], **OPTIONS),
        lambda: signature("mini:digitsnet", "digits", data_name=name, **OPTIONS),
    ]
    for call in calls:
        with pytest.raises(AffscoreError, match="is not UTF-8"):
            call()
    code, out, err = run("signature", "mini:digitsnet", "--n", 8, "--images", 8, "--out", f"{BAD}.parquet")
    assert (code, out) == (1, "")
    assert "is not UTF-8" in err
    assert not list(tmp_path.iterdir())


@pytest.fixture
def left(tmp_path):
    """A store with a result, and the folder of a job that was killed."""
    store = tmp_path / "store"
    assert survey("mini:digitsnet", "digits", store, only=0, **OPTIONS).complete
    unfinished = store / ".affscore" / "0123456789abcdef"
    unfinished.mkdir(parents=True)
    for name in ("lock", "begun", "part-000000.parquet", ".x.part"):
        (unfinished / name).write_text("")
    return store


def test_a_store_that_may_only_be_read_is_read(left, monkeypatch):
    """Everything is allowed to the superuser, who may run the tests; so the system's answer is given here."""
    opened = os.open

    def read_only(path, flags, *args, **kwargs):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(30, "Read-only file system")
        return opened(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", read_only)
    table, unreadable, unfinished = contents(left)
    assert (len(table), unreadable, unfinished) == (1, [], ["not finished: 0123456789abcdef, 1 batch"])
    assert len(load_results(left)) == 9
    assert verify(left) == {}
    assert listing(plan("mini:digitsnet", "digits", Options(n=8, images=8, criteria=())), left)[0].endswith(": done")
    assert str(survey("mini:digitsnet", "digits", left, only=0, **OPTIONS)).startswith("1 job: 1 already there")


def test_a_job_that_runs_is_seen_without_writing(left):
    store = Store(left)
    with store.lock("0123456789abcdef"):
        assert store.is_running("0123456789abcdef")
    assert not store.is_running("0123456789abcdef")
    assert not store.is_running("f" * 16)
    assert [path.name for path in (left / ".affscore").iterdir()] == ["0123456789abcdef"]


@pytest.mark.parametrize("which", ["the job", "the working folder"])
@pytest.mark.slow
def test_links_in_the_working_folder_are_not_followed(left, tmp_path, which):
    inside, other = left / ".affscore", tmp_path / "other"
    place = inside / "0123456789abcdef" if which == "the job" else inside
    place.rename(other)
    place.symlink_to(other)
    before = {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}
    assert len(before) == 4
    store = Store(left)
    store.tidy()
    assert store.unfinished() == {}
    for call in (store.parts, lambda key: store.lock(key).__enter__(), store.is_running):
        with pytest.raises(AffscoreError, match="is a link, which is not followed; remove it"):
            call("0123456789abcdef")
    report = survey("mini:digitsnet", "digits", left, only=0, **OPTIONS)
    assert "already there" in str(report)
    assert {path: path.read_bytes() for path in other.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["lock", "begun"])
def test_links_of_files_in_the_working_folder_are_not_followed(tmp_path, name):
    store = Store(tmp_path)
    place = tmp_path / ".affscore" / ("f" * 16)
    place.mkdir(parents=True)
    other = tmp_path / "other"
    (place / name).symlink_to(other)
    with pytest.raises(AffscoreError, match=r"not followed|symbolic links"), store.lock("f" * 16):
        store.parts("f" * 16).begin("run")
    assert not other.exists()
