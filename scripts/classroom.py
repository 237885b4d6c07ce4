"""What a class gets of the notebooks: for students, for the teacher, and as assignments of nbgrader.

    python scripts/classroom.py student|teacher|assignments --out FOLDER [NOTEBOOK ...]

One source for all three: the notebooks of the book, whose cells say what belongs to an exercise (``exercise_cells``).
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from exercise_cells import ANSWER, Exercise, exercises, parts
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from notebook_files import book_notebooks
from plain_markdown import Plain, plain, read
from setup_cell import setup_cell

FOLDED = {"hide-input", "remove-input", "remove-cell"}
"""Tags of cells whose code the page does not show, or folds."""

HEAD = ("exercise", "kind", "minutes", "difficulty", "points", "marked by")
"""The columns of the teacher's tables."""

COURSE = '''\
"""The course for nbgrader: nbgrader generate_assignment chapter_05, and so on. The syllabus of the book says more."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "affscore"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError('There is no answer yet.')  # delete this line"}
c.ClearSolutions.text_stub = ""
c.ExecutePreprocessor.timeout = 300  # seconds, for a cell
# nbgrader zip_collect: archives whose folders are the students, as ada/05_a_decade_at_a_glance.ipynb
c.FileNameCollectorPlugin.named_regexp = r".+/(?P<student_id>[^/]+)/(?P<file_id>[^/]+)\\.ipynb"
'''


@dataclass
class Chapter:
    """A notebook, and what it becomes.

    Attributes:
        path: The notebook of the book.
        notebook: Its cells.
        words: What its references stand for.
    """

    path: Path
    notebook: NotebookNode
    words: Plain

    @property
    def title(self) -> str:
        """The title of the chapter."""
        return self.words.titles[self.path.stem]

    def version(self, exercise_as: Callable[[Exercise, Plain], list[NotebookNode]]) -> NotebookNode:
        """The notebook in plain Markdown, with other cells for each exercise, and first one that finds the library."""
        has_setup = any("setup" in cell.metadata.get("tags", []) for cell in self.notebook.cells)
        cells = [] if has_setup else [setup_cell()]
        for part in parts(self.notebook):
            if part.exercise is not None:
                cells += exercise_as(part.exercise, self.words)
            elif part.cell is not None:
                cells += self.cells_of(part.cell)
        for k, cell in enumerate(cells):
            cell["id"] = f"{self.path.stem[:2]}-{k:03d}"  # so that a file that is written again is the same
        return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": dict(self.notebook.metadata.kernelspec)})

    def cells_of(self, cell: NotebookNode) -> Iterator[NotebookNode]:
        """A cell that is no exercise: text in plain Markdown; code folded as on the page, with the caption below."""
        if cell.cell_type == "markdown":
            yield new_markdown_cell(self.words.text(cell.source))
            return
        tags = cell.metadata.get("tags", [])
        folded = {"jupyter": {"source_hidden": True}} if FOLDED.intersection(tags) else {}
        yield new_code_cell(cell.source, metadata={"tags": tags, **folded} if tags else {})
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if "caption" in figure:
            yield new_markdown_cell(f"*{self.words.figures[figure['name']]}.* {self.words.text(figure['caption'])}")


def question(exercise: Exercise, words: Plain) -> NotebookNode:
    """What is asked, with a folded hint."""
    about = f"*{exercise.kind}, {exercise.minutes} minutes, {exercise.difficulty}.* {exercise.aim}"
    hint = f"<details>\n<summary>Hint</summary>\n\n{words.text(exercise.hint)}\n\n</details>"
    texts = [f"### Exercise {exercise.name}"]
    texts += [about] if exercise.kind else []
    texts += [words.text(exercise.text)]
    texts += [hint] if exercise.hint else []
    return new_markdown_cell("\n\n".join(texts))


def check_line(exercise: Exercise) -> str:
    """The check of an exercise."""
    return f'affscore.exercises.check("{exercise.number}", answer)'


def for_students(exercise: Exercise, words: Plain) -> list[NotebookNode]:
    """An exercise without its solution: a stub that raises its name, and the check."""
    if not exercise.checked:
        return [question(exercise, words), new_markdown_cell(ANSWER)]
    name = json.dumps(f"Exercise {exercise.name}", ensure_ascii=False)
    stub = f"{exercise.answer}\nraise NotImplementedError({name})  # delete this line"
    return [question(exercise, words), new_code_cell(stub), new_code_cell(check_line(exercise))]


def for_teachers(exercise: Exercise, words: Plain) -> list[NotebookNode]:
    """An exercise with its solution, rubric and points."""
    cells = [question(exercise, words)]
    cells += [new_markdown_cell(f"**Solution of exercise {exercise.number}** ({exercise.points} points)")]
    for cell in exercise.solution:
        code = cell.cell_type == "code"
        cells.append(new_code_cell(cell.source) if code else new_markdown_cell(words.text(cell.source)))
    return cells


def for_nbgrader(exercise: Exercise, words: Plain) -> list[NotebookNode]:
    """An exercise for nbgrader: what is asked, the answer, and where there is a check a locked cell with points."""
    name = f"exercise-{exercise.number.replace('.', '-')}"
    asked = question(exercise, words)
    asked.metadata["nbgrader"] = graded(name)
    if not exercise.checked:
        text = "\n\n".join(
            words.text(cell.source) if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```"
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


def row(exercise: Exercise) -> tuple[str, ...]:
    """An exercise in the teacher's tables, under HEAD."""
    numbers = (str(exercise.minutes), exercise.difficulty, str(exercise.points))
    return (exercise.name, exercise.kind, *numbers, "check" if exercise.checked else "rubric")


def overview(chapter: Chapter) -> NotebookNode:
    """The exercises of a chapter as a table, with their sums."""
    found = exercises(chapter.notebook)
    sums = ("**all**", "", str(sum(one.minutes for one in found)), "", str(sum(one.points for one in found)), "")
    rows = (HEAD, ("---",) * len(HEAD), *map(row, found), sums)
    return new_markdown_cell("**For the teacher**\n\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in rows))


def summary(chapters: list[Chapter]) -> str:
    """The exercises of all chapters as a table of comma separated values."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["chapter", *HEAD, "aim"])
    table.writerows([chapter.title, *row(one), one.aim] for chapter in chapters for one in exercises(chapter.notebook))
    return file.getvalue()


def write_students(chapters: list[Chapter], out: Path) -> None:
    """Write the notebooks for students."""
    empty(out)
    for chapter in chapters:
        nbformat.write(chapter.version(for_students), out / chapter.path.name)


def write_teachers(chapters: list[Chapter], out: Path) -> None:
    """Write the notebooks for the teacher, and a table of all exercises."""
    empty(out)
    for chapter in chapters:
        notebook = chapter.version(for_teachers)
        notebook.cells.insert(1, overview(chapter))
        nbformat.write(notebook, out / chapter.path.name)
    (out / "exercises.csv").write_text(summary(chapters), encoding="utf-8")


def write_assignments(chapters: list[Chapter], out: Path) -> None:
    """Write a course of nbgrader, an assignment for each chapter; what was submitted, marks and settings stay."""
    empty(out / "source")
    if not (out / "nbgrader_config.py").exists():
        (out / "nbgrader_config.py").write_text(COURSE, encoding="utf-8")
    for chapter in chapters:
        folder = out / "source" / f"chapter_{chapter.path.stem[:2]}"
        folder.mkdir()
        nbformat.write(chapter.version(for_nbgrader), folder / chapter.path.name)


def empty(folder: Path) -> None:
    """Make an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


WRITE = {"student": write_students, "teacher": write_teachers, "assignments": write_assignments}


def chapters_of(paths: list[Path]) -> list[Chapter]:
    """The notebooks that have exercises."""
    notebooks = read(paths)
    words = plain(notebooks, others=Path("book").glob("*.md"))
    found = [Chapter(path, notebook, words) for path, notebook in notebooks.items() if exercises(notebook)]
    words.pages = frozenset(chapter.path.stem for chapter in found)
    return found


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
