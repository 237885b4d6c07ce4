"""``stage_book`` makes the page of the syllabus with it: the exercises of each week with their times."""

from __future__ import annotations

import re
from pathlib import Path

from exercise_cells import Exercise, read_exercises
from notebook_files import book_notebooks

PAGE = Path("book/syllabus.md")
WEEK = re.compile(r"<!-- exercises: ([\d ]+) -->")


def filled(page: str) -> str:
    """The page with a table in each week's place, and the sum of its minutes."""
    chapters = {int(script.name[:2]): read_exercises(script.with_suffix(".ipynb")) for script in book_notebooks()}
    return WEEK.sub(lambda match: week([one for k in match[1].split() for one in chapters[int(k)]]), page)


def week(exercises: list[Exercise]) -> str:
    """A table of exercises, and their time."""
    rows = ["| exercise | kind | minutes | difficulty | aim |", "|---|---|--:|---|---|"]
    for one in exercises:
        rows.append(f"| {one.name} | {one.kind} | {one.minutes} | {one.difficulty} | {one.aim} |")
    minutes = sum(one.minutes for one in exercises)
    checked = sum(one.checked for one in exercises)
    return "\n".join([f"{len(exercises)} exercises, {checked} with a check: {minutes / 60:.1f} hours.", "", *rows])
