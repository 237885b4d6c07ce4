"""``make student``, ``make teacher`` and ``make assignments``: what a class gets of the notebooks.

    python scripts/classroom.py student|teacher|assignments --out FOLDER [NOTEBOOK ...]

One source for all three: the notebooks of the book, whose cells say what belongs to an exercise (``exercise_cells``).
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from exercise_cells import ANSWER, Exercise, exercises, parts
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from notebook_files import book_notebooks
from plain_markdown import plain

COMPANION = Path(__file__).resolve().parents[1] / "notebooks" / "companion"

FOLDED = {"hide-input", "remove-input", "remove-cell"}
"""Tags of cells whose code the page does not show, or folds."""

COLUMNS = ("chapter", "exercise", "kind", "minutes", "difficulty", "points", "marked by", "aim")
"""Those of the teacher's table."""

COURSE = '''\
"""The course for nbgrader: nbgrader generate_assignment chapter_05, and so on. The syllabus of the book says more."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "affscore"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError('There is no answer yet.')  # delete this line"}
c.ClearSolutions.text_stub = ""
c.ExecutePreprocessor.timeout = 300  # seconds, for a cell
# nbgrader zip_collect: archives whose folders are the students, as ada/06_a_decade.ipynb
c.FileNameCollectorPlugin.named_regexp = r".+/(?P<student_id>[^/]+)/(?P<file_id>[^/]+)\\.ipynb"
'''


def version(notebook: NotebookNode, exercise_as: Callable[[Exercise], list[NotebookNode]]) -> NotebookNode:
    """A notebook in plain Markdown, with other cells for each exercise; the same cells have the same ids each time."""
    cells: list[NotebookNode] = []
    for part in parts(notebook):
        cells += exercise_as(part) if isinstance(part, Exercise) else cells_of(part)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number:03d}"
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": dict(notebook.metadata.kernelspec)})


def cells_of(cell: NotebookNode) -> Iterator[NotebookNode]:
    """A cell that is no exercise: text in plain Markdown; code folded as on the page, with the caption below."""
    if cell.cell_type == "markdown":
        yield new_markdown_cell(plain(cell.source))
        return
    tags = cell.metadata.get("tags", [])
    folded = {"jupyter": {"source_hidden": True}} if FOLDED.intersection(tags) else {}
    yield new_code_cell(cell.source, metadata={"tags": tags, **folded} if tags else {})
    figure = cell.metadata.get("mystnb", {}).get("figure", {})
    if "caption" in figure:
        yield new_markdown_cell(f"*{figure['name']}.* {plain(figure['caption'])}")


def question(exercise: Exercise) -> NotebookNode:
    """What is asked, with a folded hint."""
    about = f"*{exercise.kind}, {exercise.minutes} minutes, {exercise.difficulty}.* {exercise.aim}"
    hint = f"<details>\n<summary>Hint</summary>\n\n{plain(exercise.hint)}\n\n</details>"
    texts = [f"### Exercise {exercise.name}"]
    texts += [about] if exercise.kind else []
    texts += [plain(exercise.text)]
    texts += [hint] if exercise.hint else []
    return new_markdown_cell("\n\n".join(texts))


def check_line(exercise: Exercise) -> str:
    """The check of an exercise."""
    return f'companion.exercises.check("{exercise.number}", answer)'


def for_students(exercise: Exercise) -> list[NotebookNode]:
    """An exercise without its solution: a stub that raises its name, and the check."""
    if not exercise.checked:
        return [question(exercise), new_markdown_cell(ANSWER)]
    name = json.dumps(f"Exercise {exercise.name}", ensure_ascii=False)
    stub = f"{exercise.answer}\nraise NotImplementedError({name})  # delete this line"
    return [question(exercise), new_code_cell(stub), new_code_cell(check_line(exercise))]


def for_teachers(exercise: Exercise) -> list[NotebookNode]:
    """An exercise with its solution, rubric and points."""
    cells = [question(exercise)]
    cells += [new_markdown_cell(f"**Solution of exercise {exercise.number}** ({exercise.points} points)")]
    for cell in exercise.solution:
        code = cell.cell_type == "code"
        cells.append(new_code_cell(cell.source) if code else new_markdown_cell(plain(cell.source)))
    return cells


def for_nbgrader(exercise: Exercise) -> list[NotebookNode]:
    """An exercise for nbgrader: what is asked, the answer, and where there is a check a locked cell with points."""
    name = f"exercise-{exercise.number.replace('.', '-')}"
    asked = question(exercise)
    asked.metadata["nbgrader"] = graded(name)
    if not exercise.checked:
        text = "\n\n".join(
            plain(cell.source) if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```"
            for cell in exercise.solution
        )
        answer = new_markdown_cell(f"{ANSWER}\n\n### BEGIN SOLUTION\n{text}\n### END SOLUTION")
        answer.metadata["nbgrader"] = graded(f"{name}-answer", grade=True, solution=True, points=exercise.points)
        return [asked, answer]
    answer = new_code_cell(f"{exercise.answer}\n### BEGIN SOLUTION\n{exercise.code}\n### END SOLUTION")
    answer.metadata["nbgrader"] = graded(f"{name}-answer", solution=True)
    check = new_code_cell(f"verdict = {check_line(exercise)}\nassert verdict, verdict\nprint(verdict)")
    check.metadata["nbgrader"] = graded(f"{name}-check", grade=True, points=exercise.points)
    return [asked, answer, check]


def graded(name: str, grade: bool = False, solution: bool = False, points: int | None = None) -> dict[str, object]:
    """The metadata that nbgrader reads in a cell (version 3 of its schema)."""
    about: dict[str, object] = {"grade_id": name, "schema_version": 3, "task": False}
    about |= {"grade": grade, "solution": solution, "locked": not solution}
    return about if points is None else about | {"points": points}


def write_students(chapters: dict[Path, NotebookNode], out: Path) -> None:
    """Write the notebooks for students."""
    empty(out)
    copy_companion(out)
    for path, notebook in chapters.items():
        nbformat.write(version(notebook, for_students), out / path.name)


def write_teachers(chapters: dict[Path, NotebookNode], out: Path) -> None:
    """Write the notebooks for the teacher, and a table of all exercises."""
    empty(out)
    copy_companion(out)
    with (out / "exercises.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for path, notebook in chapters.items():
            nbformat.write(version(notebook, for_teachers), out / path.name)
            title = re.match("# (.+)", notebook.cells[0].source)
            for one in exercises(notebook):
                about = [one.name, one.kind, one.minutes, one.difficulty, one.points]
                table.writerow([title and title[1], *about, "check" if one.checked else "rubric", one.aim])


def write_assignments(chapters: dict[Path, NotebookNode], out: Path) -> None:
    """Write a course of nbgrader, an assignment for each chapter; what was submitted, marks and settings stay."""
    empty(out / "source")
    if not (out / "nbgrader_config.py").exists():
        (out / "nbgrader_config.py").write_text(COURSE, encoding="utf-8")
    for path, notebook in chapters.items():
        folder = out / "source" / f"chapter_{path.stem[:2]}"
        folder.mkdir()
        copy_companion(folder)
        nbformat.write(version(notebook, for_nbgrader), folder / path.name)


def empty(folder: Path) -> None:
    """Make an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def copy_companion(folder: Path) -> None:
    """Put the book's code beside notebooks, which import it."""
    shutil.copytree(COMPANION, folder / COMPANION.name, ignore=shutil.ignore_patterns("__pycache__", ".*", "ruff.toml"))


WRITE = {"student": write_students, "teacher": write_teachers, "assignments": write_assignments}


def chapters_of(paths: list[Path]) -> dict[Path, NotebookNode]:
    """The notebooks that have exercises, by their paths."""
    notebooks = {path: nbformat.read(path, as_version=4) for path in paths}
    return {path: notebook for path, notebook in notebooks.items() if exercises(notebook)}


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=WRITE)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("notebooks", nargs="*", type=Path)
    arguments = parser.parse_args()
    chapters = chapters_of(arguments.notebooks or [script.with_suffix(".ipynb") for script in book_notebooks()])
    WRITE[arguments.what](chapters, arguments.out)
    print(f"{len(chapters)} notebooks are in {arguments.out}")


if __name__ == "__main__":
    main()
