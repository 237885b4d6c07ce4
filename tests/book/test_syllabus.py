"""The syllabus has every chapter once, and its times are those of the exercises."""

from __future__ import annotations

import re

import pytest
from exercise_cells import exercises, read_exercises
from syllabus import PAGE, WEEK, filled, week

from tests.book.small_book import REPOSITORY
from tests.book.small_exercises import small_exercises
from tests.book.test_exercise_cells import CHAPTERS, read

TEXT = (REPOSITORY / PAGE).read_text()


def test_every_chapter_belongs_to_a_week():
    listed = [int(number) for numbers in WEEK.findall(TEXT) for number in numbers.split()]
    assert sorted(listed) == [int(path.name[:2]) for path in CHAPTERS]
    linked = re.findall(r"\{doc\}`../notebooks/(\d\d)_", TEXT.partition("## Two projects")[0])
    assert sorted(map(int, linked)) == sorted(listed)


def test_a_week_has_its_exercises_and_their_time():
    first, *_, last = week(exercises(read(small_exercises()))).splitlines()
    assert first == "2 exercises, 1 with a check: 0.2 hours."
    assert last == "| 3.4 Why so? | Argue | 1 | hard | write. |"


def test_the_page_lists_all_exercises(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    page = filled(TEXT)
    assert not WEEK.search(page)
    for path in CHAPTERS:
        for one in read_exercises(path):
            assert f"| {one.name} |" in page


@pytest.mark.parametrize("project", ["Project A", "Project B"])
def test_the_points_of_a_project_add_up(project):
    text = TEXT.partition(f"### {project}")[2].partition("\n#")[0]
    points = [int(number) for number in re.findall(r"^\* (\d+): ", text, re.MULTILINE)]
    assert sum(points) == int(re.search(r"\*\*Rubric\*\* \((\d+) points\)", text)[1])


def test_the_commands_of_the_page_exist():
    makefile = (REPOSITORY / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", TEXT, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
