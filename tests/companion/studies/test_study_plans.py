"""Plans of studies: which measurements they make, and studies of networks and images that somebody else must bring."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from affscore.network.parquet import read_description
from companion.studies import __main__ as make_studies
from companion.studies import study as study_module
from companion.studies.plans import STUDIES
from companion.studies.study import DRAWS, Study


def run(monkeypatch: pytest.MonkeyPatch, study: Study, folder: Path, *words: str) -> Path:
    """The command on a study that is called ``small``; the file that it writes."""
    monkeypatch.setitem(STUDIES, "small", study)
    places = ["--work", str(folder / "work"), "--out", str(folder / "out"), "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", ["make_studies.py", "--only", "small", *places, *words])
    make_studies.main()
    return folder / "out" / "small.parquet"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder with a folder of pictures, in two classes."""
    generator = np.random.default_rng(0)
    for number in range(24):
        place = tmp_path / "here" / "photos" / f"class{number % 2}" / f"{number}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(generator.integers(0, 255, (8, 8), dtype=np.uint8)).save(place)
    return tmp_path / "here"


def test_what_is_measured() -> None:
    halves = Study(datasets=["digits", "random"], n=[64], images=64, halves=True)
    assert halves.measurements == [("digits", 64, 0), ("random", 64, 0), ("digits", 32, 0)]
    classes = Study(datasets=["digits:1", "digits:2"], n=[58], subsets="digits").measurements
    assert classes[:3] == [("digits:1", 58, 0), ("digits:2", 58, 0), ("digits", 58, 1)]
    assert len(classes) == 2 + DRAWS
    assert Study(n=[32, 64]).measurements == [("digits", 32, 0), ("digits", 64, 0)]


def test_a_study_without_its_folders_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(models=["mini:digitsnet@{weights}/mine.pth"], datasets=["folder:{images}/photos"])
    assert study.needs == {"weights", "images"}
    assert not run(monkeypatch, study, tmp_path, "--images", str(tmp_path)).exists()
    assert "small: left alone; it takes --weights DIR and --images DIR" in capsys.readouterr().err


@pytest.mark.slow
def test_classes_and_random_subsets_of_somebodys_images(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(study_module, "DRAWS", 3)
    photos = "folder:{images}/photos"
    study = Study(
        models=["mini:alexnet"], datasets=[f"{photos}/class{k}" for k in (0, 1)], n=[10], images=10, subsets=photos
    )
    file = run(monkeypatch, study, tmp_path, "--images", str(pictures))
    table = pd.read_parquet(file)
    found = table[["dataset", "draw", "n", "images"]].drop_duplicates().to_numpy().tolist()
    wanted = [["folder:class0", 0], ["folder:class1", 0], *(["folder:photos", draw] for draw in (1, 2, 3))]
    assert found == [[*one, 10, 10] for one in wanted]
    one, other = (table.loc[table["draw"] == draw, "score"].to_numpy() for draw in (1, 2))
    assert (one != other).any()
    assert table["score"].dtype == np.float32
    about = read_description(file)
    assert about["command"] == "python -m companion.studies --only small --images DIR"
    assert str(pictures) not in str(about)
    assert about["job"]["draws"] == 3
    capsys.readouterr()
    written = file.stat().st_mtime_ns
    run(monkeypatch, study, tmp_path)  # it is there: its folders are not asked for
    assert file.stat().st_mtime_ns == written
    assert "left alone" not in capsys.readouterr().err
