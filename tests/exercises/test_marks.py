"""Reports of a class, hostile ones among them, become a table of marks."""

import json
import subprocess
import sys

import pandas as pd
import pytest

from affscore.exercises import marks as module
from affscore.exercises.limited import Outcome
from affscore.exercises.reports import LARGEST_REPORT

RIGHT = 0.5 * (150 / 152 - 6 / 8)  # to exercise 5.1

HOSTILE = {
    "1.1": ("too slow", "while True: pass"),
    "2.3": ("too slow", "import time; time.sleep(1000)"),
    "4.3": ("too large", "import numpy; return numpy.ones(10**10)"),
    "5.2": ("not yet", "import sys; sys.exit(0)"),
    "6.2": ("ended", "import os; os._exit(0)"),
    "7.1": ("refused", "return len(open('/etc/passwd').read())"),
    "13.2": ("refused", "import os; os.system('touch SOMEWHERE')"),
    "15.2": ("refused", "import os; os.kill(os.getppid(), 9)"),
    "16.2": ("refused", "try:\n        open('SOMEWHERE', 'w')\n    except OSError:\n        return 1"),
    "17.2": ("refused", "import socket; socket.create_connection(('127.0.0.1', 9))"),
}
"""Exercise: what comes of it, and what the function does that is handed in."""


def row(answer, said="Right! It was."):
    return {"answer": answer, "said": said}


def write(folder, name, answers, written="2026-01-01T00:00:00+00:00", **more):
    content = {"format": 1, "student": name, "written": written, "answers": answers, **more}
    path = folder / f"{name}{written[:4]}.json"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def without_processes(monkeypatch):
    """Answers are right if they are 1; no process is started."""
    monkeypatch.setattr(module, "get_ready", lambda: None)
    monkeypatch.setattr(
        module, "checked", lambda number, kept, *limits: Outcome("right" if kept == 1 else "not yet", ".")
    )


def test_the_table_has_a_row_for_each_student_and_a_column_for_each_exercise(tmp_path, without_processes):
    write(tmp_path, "ada", {"10.1": row(1), "9.1": row(1)})
    write(tmp_path / "in_a_folder", "bob", {"9.1": row(0)})
    (tmp_path / "eve.json").write_text("no report")
    table = module.marks(tmp_path).table
    assert list(table.columns) == ["right", "handed in", "9.1", "10.1"]
    assert table.loc["ada"].tolist() == [2, 2, "right", "right"]
    assert table.loc["bob"].tolist() == [0, 1, "not yet", "-"]
    assert table.loc["eve"].tolist() == [0, "unreadable", "-", "-"]


def test_the_later_of_two_answers_counts_and_that_is_said(tmp_path, without_processes):
    write(tmp_path, "ada", {"9.1": row(0), "9.2": row(1)}, written="2026-01-01T00:00:00+00:00")
    write(tmp_path, "ada", {"9.1": row(1), "99.1": row(1)}, written="2027-01-01T00:00:00+00:00")
    found = module.marks(tmp_path)
    assert found.table.loc["ada"].tolist() == [2, 2, "right", "right"]
    assert "ada, 9.1: ada2026.json and ada2027.json differ; the later one counts" in found.notes
    assert "ada2027.json: there is no exercise 99.1" in found.notes


def test_what_was_not_kept_is_no_mark(tmp_path, without_processes):
    write(tmp_path, "ada", {"9.1": {"not kept": "it is of type lock", "said": "Right! So."}})
    found = module.marks(tmp_path)
    assert found.table.loc["ada", "9.1"] == "not kept"
    assert "it is of type lock; the student's own session said: Right! So." in found.rows["message"][0]


def test_a_class_whose_files_are_all_broken_has_a_table(tmp_path, without_processes):
    (tmp_path / "eve.json").write_text("{")
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(LARGEST_REPORT + 1)
    found = module.marks(tmp_path)
    assert found.table["handed in"].tolist() == ["unreadable", "unreadable"]
    assert any("more than 40 MB" in note for note in found.notes)


def test_a_folder_without_reports_is_an_error(tmp_path):
    done = marks(tmp_path)
    assert done.returncode == 1
    assert "affscore: there is no report (*.json) in" in done.stderr


@pytest.mark.slow
def test_hostile_answers_become_rows(tmp_path):
    folder = tmp_path / "class"
    touched = tmp_path / "touched"
    source = "def answer(*given):\n    "
    hostile = {
        number: row({"function": source + body.replace("SOMEWHERE", str(touched))})
        for number, (_, body) in HOSTILE.items()
    }
    hostile["1.2"] = row({"function": "while True: pass"})  # already when it is read
    hostile["1.3"] = row({"network": "AAAA", "classes": {}})
    hostile["3.1"] = row({"unknown": 1})
    write(folder, "mallory", hostile)
    write(folder, "ada", {"5.1": row(RIGHT), "5.2": row(0.5)})
    (folder / "eve.json").write_text("[")
    done = marks(
        folder, "--csv", tmp_path / "m.csv", "--messages", tmp_path / "all.csv", "--seconds", 10, "--memory", 1024
    )
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "m.csv", index_col="student").astype(str)
    expected = {number: result for number, (result, _) in HOSTILE.items()}
    expected |= {"1.2": "too slow", "1.3": "not yet", "3.1": "not yet", "5.1": "-"}
    assert table.loc["mallory", list(expected)].to_dict() == expected
    assert table.loc["ada", ["right", "5.1", "5.2"]].tolist() == ["1", "right", "not yet"]
    assert table.loc["eve", "handed in"] == "unreadable"
    assert not touched.exists()
    messages = pd.read_csv(tmp_path / "all.csv", dtype=str).set_index(["student", "exercise"])["message"]
    assert "Your function raised SystemExit" in messages["mallory", "5.2"]
    assert "the file /etc/passwd" in messages["mallory", "7.1"]
    assert "an answer of an unknown kind, 'unknown'" in messages["mallory", "3.1"]


def marks(*arguments):
    command = [sys.executable, "-m", "affscore.cli", "marks", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
