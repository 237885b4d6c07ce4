"""Exercises are read from the structure of a notebook's cells, and those of the book have all that they need."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import pytest
from exercise_cells import POINTS, RUBRIC, Exercise, exercises, parts, read_exercises

from companion.exercises import known
from tests.book.small_book import REPOSITORY
from tests.book.small_exercises import small_exercises

NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("[0-9][0-9]_*.ipynb"))
CHAPTERS = [path for path in NOTEBOOKS[1:] if not path.stem.endswith("_what_is_reproduced")]  # those with exercises

CHECKED, OPEN = ("Compute", "Read a figure", "Change code"), ("Prove", "Argue", "Design")
"""The kinds of exercises: ``companion.exercises.check`` marks the first, a teacher the second, by a rubric."""

each_chapter = pytest.mark.parametrize("notebook", CHAPTERS, ids=lambda path: path.stem)


def read(text: str):
    return jupytext.reads(text, fmt="py:percent")


def lacks(exercise: Exercise) -> list[str]:
    """What an exercise lacks, in words."""
    is_open = exercise.kind in OPEN
    wanted = {
        "a first line `*Kind · N minutes · difficulty.* Aim: ...`": exercise.kind,
        "a kind of " + ", ".join((*CHECKED, *OPEN)): exercise.kind in (*CHECKED, *OPEN),
        "a difficulty of " + ", ".join(POINTS): exercise.difficulty in POINTS,
        "a number of minutes": exercise.minutes,
        "a text": exercise.text,
        "a hint": exercise.hint,
        "a cell for the answer": exercise.answer,
        "a solution": exercise.solution,
        "no check, as its kind has none": not (is_open and exercise.checked),
        "a check": is_open or exercise.checked,
        "a rubric, a list of items with points that add up,": not is_open or adds_up(exercise),
    }
    return [what for what, there in wanted.items() if not there]


def adds_up(exercise: Exercise) -> bool:
    """Whether the items of the rubric have its points in all; those of "1 each" may be any number."""
    _, *rubric = RUBRIC.split("\n".join(cell.source for cell in exercise.solution))
    items = re.findall(r"^\* (\d+)( each)?", rubric[-1], re.MULTILINE) if rubric else []
    points = sum(int(number) for number, _ in items)
    return points > 0 and (points == exercise.points or any(each for _, each in items))


def test_what_an_exercise_says_of_itself():
    first, second = exercises(read(small_exercises()))
    assert (first.name, first.kind, first.minutes, first.difficulty) == ("3.1 How many images?", "Compute", 10, "easy")
    assert first.aim == "see how the error falls with the number."
    assert first.text == "How many? See {eq}`eq-3-x`."
    assert first.hint == "The HINT of it."
    assert first.answer == "answer = None  # your answer here: a number"
    assert first.checked
    assert first.points == 2
    assert first.code == "images = 0\nanswer = images"
    assert [cell.cell_type for cell in first.solution] == ["markdown", "code", "markdown"]
    assert (second.name, second.checked, second.points) == ("3.4 Why so?", False, 3)
    assert lacks(first) == lacks(second) == []
    texts = [part.number if isinstance(part, Exercise) else part.source for part in parts(read(small_exercises()))]
    assert texts[-5:] == ["3.1", "Some text between.", "3.4", "## Afterwards", 'print("end")']


def test_a_directive_that_shows_an_exercise_is_text():
    text = "# %% [markdown]\n# ````{admonition} As it is written\n# ```{exercise} 1.1 Title\n# ```\n# ````\n"
    assert exercises(read(text)) == []


@each_chapter
def test_every_exercise_of_the_book_has_all_that_it_needs_a_number_and_a_check_that_is_known(notebook: Path):
    found = read_exercises(notebook)
    assert {one.number: lacks(one) for one in found if lacks(one)} == {}
    chapter = str(int(notebook.name[:2]))
    assert [one.number for one in found] == [f"{chapter}.{k}" for k in range(1, len(found) + 1)]
    assert [one.number for one in found if one.checked] == [n for n in known() if n.partition(".")[0] == chapter]
    for one in found:
        text = "\n".join(cell.source for cell in one.solution)
        assert re.findall(r'exercises\.check\(\s*"(.*?)"', text) == ([one.number] if one.checked else [])


def test_the_book_has_enough_exercises_of_each_kind_and_they_are_in_its_chapters():
    found = [one for notebook in NOTEBOOKS for one in read_exercises(notebook)]
    assert [path.stem for path in NOTEBOOKS if path not in CHAPTERS and read_exercises(path)] == []
    assert len(found) >= 34
    assert sum(one.kind in CHECKED for one in found) >= 17
    assert 3 * sum(one.kind in OPEN for one in found) >= len(found)
    assert [one.number for one in found if one.checked] == known()
