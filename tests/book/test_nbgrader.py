"""An assignment of nbgrader from the book to the marks: out, three submissions in, marked."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import jupytext
import nbformat
import pytest
import torch
from classroom import WRITE, chapters_of

from companion.activations import points_needed
from tests.book.small_book import REPOSITORY
from tests.book.small_exercises import small_exercises

pytest.importorskip("nbgrader")

RIGHT = str(points_needed(256, 0.01, torch.relu))
"""To exercise 3.1."""

NAME = "03_small.ipynb"


def nbgrader(course: Path, *arguments: str) -> str:
    """Run a command in a course, with the environment's programs on the path, as nbgrader needs them."""
    folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "_config.yml").write_text((REPOSITORY / "_config.yml").read_text())
    source = tmp_path / "notebooks" / NAME
    source.parent.mkdir()
    nbformat.write(jupytext.reads(small_exercises(RIGHT), fmt="py:percent"), source)
    WRITE["assignments"](chapters_of([source]), tmp_path / "course")
    return tmp_path / "course"


def submission(released: nbformat.NotebookNode, answer: str | None) -> str:
    """A notebook as a student hands it in."""
    notebook = nbformat.from_dict(released)
    for cell in notebook.cells:
        if answer is not None and "raise NotImplementedError" in cell.source:
            cell.source = f"answer = {answer}"
        if cell.source.startswith("*Your answer:*"):
            cell.source += "\n\nBecause of something."
    return nbformat.writes(notebook)


@pytest.mark.slow
def test_an_assignment_goes_out_and_marks_come_back(course):
    nbgrader(course, "generate_assignment", "chapter_03")
    released = course / "release" / "chapter_03" / NAME
    text = released.read_text()
    assert "SECRET" not in text
    assert "Rubric" not in text
    assert "There is no answer yet" in text
    assert 'check(\\"3.1\\", answer)' in text

    archive = course / "downloaded" / "chapter_03" / "archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "class.zip", "w") as file:
        for student, answer in {"ada": RIGHT, "bob": "-1", "eve": None}.items():
            file.writestr(f"{student}/{NAME}", submission(nbformat.read(released, as_version=4), answer))
    nbgrader(course, "zip_collect", "chapter_03")
    nbgrader(course, "autograde", "chapter_03")
    nbgrader(course, "export", "--to", "marks.csv")

    rows = {row["student_id"]: row for row in csv.DictReader((course / "marks.csv").open())}
    assert {student: float(row["score"]) for student, row in rows.items()} == {"ada": 2, "bob": 0, "eve": 0}
    assert {float(row["max_score"]) for row in rows.values()} == {5}
    graded = (course / "autograded" / "bob" / "chapter_03" / NAME).read_text()
    assert "AssertionError" in graded
    assert "Not yet." in graded  # what the check says reaches the student with the feedback
    assert "There is no answer yet" in (course / "autograded" / "eve" / "chapter_03" / NAME).read_text()
    for folder in (released.parent, course / "autograded" / "ada" / "chapter_03"):
        command = [sys.executable, "-c", "import companion; print(companion.__file__)"]
        found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
        assert Path(found).is_relative_to(folder)  # the book's code comes with the assignment
