"""The syllabus has every chapter once, and its times are those of the exercises."""

from __future__ import annotations

import re

from exercise_cells import exercises, read_exercises
from syllabus import PAGE, WEEK, filled, week

from tests.book.small_book import REPOSITORY
from tests.book.small_exercises import small_exercises
from tests.book.test_exercise_cells import CHAPTERS, read

TEXT = (REPOSITORY / PAGE).read_text()


def test_every_chapter_belongs_to_a_week():
    listed = [int(number) for numbers in WEEK.findall(TEXT) for number in numbers.split()]
    assert sorted(listed) == [int(path.name[:2]) for path in CHAPTERS]
    linked = re.findall(r"\{doc\}`../notebooks/(\d\d)_", TEXT)
    assert sorted(map(int, linked)) == sorted(listed)


def test_a_week_has_the_time_of_its_exercises():
    assert week(exercises(read(small_exercises()))) == "2, 1 with a check: 0.2 hours"


def test_the_page_counts_all_exercises(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    page = filled(TEXT)
    assert not WEEK.search(page)
    counts = re.findall(r"\| (\d+), \d+ with a check", page)
    assert sum(map(int, counts)) == sum(len(read_exercises(path)) for path in CHAPTERS)


def test_the_commands_of_the_page_exist():
    makefile = (REPOSITORY / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", TEXT, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
