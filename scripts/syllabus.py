"""``stage_book`` makes the page of the syllabus with it: how many exercises a week has, and their time."""

from __future__ import annotations

import re
from pathlib import Path

from exercise_cells import Exercise, read_exercises
from notebook_files import book_notebooks

PAGE = Path("book/syllabus.md")
WEEK = re.compile(r"<!-- exercises: ([\d ]+) -->")


def filled(page: str) -> str:
    """The page with the exercises of each week, counted."""
    chapters = {int(script.name[:2]): read_exercises(script.with_suffix(".ipynb")) for script in book_notebooks()}
    return WEEK.sub(lambda match: week([one for k in match[1].split() for one in chapters[int(k)]]), page)


def week(exercises: list[Exercise]) -> str:
    """How many exercises there are, and their time."""
    minutes = sum(one.minutes for one in exercises)
    checked = sum(one.checked for one in exercises)
    return f"{len(exercises)}, {checked} with a check: {minutes / 60:.1f} hours"
