"""The exercises of a notebook, read from the structure of its cells.

    python scripts/exercise_cells.py [NOTEBOOK ...]

prints a line for each. An exercise is the directive ``{exercise}``, a folded hint, a cell for the answer (code with its
check as a comment, or the text ``*Your answer:*``), and what is between ``{solution-start}`` and ``{solution-end}``.
The first line of its text is ``*Kind · N minutes · difficulty.* Aim: ...``; a solution that is marked by hand ends with
``**Rubric** (N points)`` and a list.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from notebook_files import book_notebooks, error

CHECKED, OPEN = ("Compute", "Read a figure", "Change code"), ("Prove", "Argue", "Design")
"""The kinds of exercises: ``affscore.exercises.check`` marks the first, a teacher the second, by a rubric."""

POINTS = {"easy": 2, "medium": 4, "hard": 6}
"""The points of an exercise with a check, by difficulty."""

ABOUT = re.compile(
    r"\*(?P<kind>[^*·]+?) · (?P<minutes>\d+) minutes? · (?P<difficulty>[a-z]+)\.\*\s+Aim: (?P<aim>.+)", re.DOTALL
)
FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\} ?(?P<title>.*)$")
CHECK = re.compile(r'^# (affscore\.exercises\.check\("([\d.]+)", answer\))$', re.MULTILINE)
RUBRIC = re.compile(r"^\*\*Rubric\*\* \((\d+) points\)$", re.MULTILINE)
ANSWER = "*Your answer:*"


@dataclass
class Exercise:
    """An exercise, with what stands about it in the notebook.

    Attributes:
        number: "5.1".
        title: Its title.
        text: What is asked, in MyST Markdown, without the line about it.
        kind: One of CHECKED or OPEN; empty where the line is missing.
        minutes: How long it takes; 0 where the line is missing.
        difficulty: easy, medium or hard.
        aim: What one learns.
        hint: The folded hint.
        checked: Whether the cell of the answer has a check.
        answer: The source of that cell, without the check.
        solution: The cells of the solution.
    """

    number: str
    title: str
    text: str
    kind: str = ""
    minutes: int = 0
    difficulty: str = ""
    aim: str = ""
    hint: str = ""
    checked: bool = False
    answer: str = ""
    solution: list[NotebookNode] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Number and title."""
        return f"{self.number} {self.title}"

    @property
    def rubric(self) -> int:
        """The points of the rubric at the end of the solution; 0 without one, or where those of its items differ."""
        text = "\n".join(cell.source for cell in self.solution if cell.cell_type == "markdown")
        match = RUBRIC.search(text)
        if match is None:
            return 0
        items = re.findall(r"^\* (\d+)( each)?", text[match.end() :], re.MULTILINE)
        points, each = sum(int(number) for number, _ in items), any(each for _, each in items)
        return int(match[1]) if points == int(match[1]) or each else 0

    @property
    def points(self) -> int:
        """What it is worth: by its difficulty, or its rubric."""
        return POINTS.get(self.difficulty, POINTS["easy"]) if self.checked else self.rubric

    @property
    def code(self) -> str:
        """The code of the solution; it leaves the answer in ``answer``, and checks nothing."""
        return "\n\n".join(as_answer(cell.source) for cell in self.solution if cell.cell_type == "code")


@dataclass
class Part:
    """A part of a notebook: a cell that is no exercise (``cell``), or an exercise as a whole."""

    cell: NotebookNode | None = None
    exercise: Exercise | None = None


def parts(notebook: NotebookNode) -> list[Part]:
    """The cells of a notebook in their order, with each exercise as one part."""
    found: list[Part] = []
    current: Exercise | None = None
    solving = False
    for cell in notebook.cells:
        for name, title, text in blocks(cell.source) if cell.cell_type == "markdown" else [("code", "", cell.source)]:
            if name == "exercise":
                current = new_exercise(title, text)
                found.append(Part(exercise=current))
            elif name == "solution-end":
                current, solving = None, False
            elif current is None:
                found.append(
                    Part(cell if name == "code" else nbformat.v4.new_markdown_cell(text, metadata=cell.metadata))
                )
            elif name == "solution-start":
                solving = True
            elif solving:
                new = nbformat.v4.new_code_cell if name == "code" else nbformat.v4.new_markdown_cell
                current.solution.append(new(text, metadata=cell.metadata))
            elif name == "hint":
                current.hint = text
            elif name == "code":
                current.answer, current.checked = CHECK.sub("", text).rstrip(), bool(CHECK.search(text))
            else:
                current.answer = text
    return found


def exercises(notebook: NotebookNode) -> list[Exercise]:
    """The exercises of a notebook."""
    return [part.exercise for part in parts(notebook) if part.exercise is not None]


def read_exercises(notebook: Path) -> list[Exercise]:
    """The exercises of a file."""
    return exercises(nbformat.read(notebook, as_version=4))


def blocks(markdown: str) -> Iterator[tuple[str, str, str]]:
    """The text of a cell cut at the directives of exercises: name ("text" for the rest), title, text of each piece."""
    lines, plain = markdown.splitlines(), list[str]()
    while lines:
        line = lines.pop(0)
        match = FENCE.match(line)
        if match is None:
            plain.append(line)
            continue
        hint = match["name"] == "admonition" and match["title"].startswith("Hint for ")
        if not hint and match["name"] not in ("exercise", "solution-start", "solution-end"):
            plain += [line, *body_of(lines, match["fence"], keep=True)]  # it may show one of these
            continue
        if text := "\n".join(plain).strip():
            yield "text", "", text
        plain = []
        body = body_of(lines, match["fence"])
        while body and (not body[0].strip() or re.match(r":[\w-]+:", body[0])):  # its options
            body.pop(0)
        yield "hint" if hint else match["name"], match["title"].strip(), "\n".join(body).strip()
    if text := "\n".join(plain).strip():
        yield "text", "", text


def body_of(lines: list[str], fence: str, keep: bool = False) -> list[str]:
    """The lines up to the end of a directive, taken from the front of a list; with that end, to keep all."""
    body: list[str] = []
    while lines:
        line = lines.pop(0)
        if line.rstrip() == fence:
            return [*body, line] if keep else body
        body.append(line)
    return body


def new_exercise(title: str, text: str) -> Exercise:
    """An exercise by its directive."""
    number, _, title = title.partition(" ")
    first, _, rest = text.partition("\n\n")
    about = ABOUT.fullmatch(first.strip())
    if about is None:
        return Exercise(number, title, text)
    aim = " ".join(about["aim"].split())
    return Exercise(number, title, rest.strip(), about["kind"], int(about["minutes"]), about["difficulty"], aim)


def as_answer(code: str) -> str:
    r"""The code of a solution, with what it hands in as ``answer`` instead of a check.

    >>> print(as_answer('x = 2\naffscore.exercises.check("8.1", (x, 3))\nprint(x)'))
    x = 2
    answer = (x, 3)
    print(x)
    """
    lines = code.splitlines()
    for node in reversed(ast.parse(code).body):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and is_check(node.value):
            answer = ast.get_source_segment(code, node.value.args[1]) or ""
            if "\n" in answer:
                answer = f"({answer})"
            lines[node.lineno - 1 : node.end_lineno] = [] if answer == "answer" else [f"answer = {answer}"]
    return "\n".join(lines).strip()


def is_check(call: ast.Call) -> bool:
    """Whether a call is that of a check with a number and an answer."""
    return ast.unparse(call.func) == "affscore.exercises.check" and len(call.args) == 2


def lacks(exercise: Exercise) -> list[str]:
    """What an exercise lacks, in words."""
    open_one = exercise.kind in OPEN
    wanted = {
        "a first line `*Kind · N minutes · difficulty.* Aim: ...`": exercise.kind,
        "a kind of " + ", ".join((*CHECKED, *OPEN)): exercise.kind in (*CHECKED, *OPEN),
        "a difficulty of " + ", ".join(POINTS): exercise.difficulty in POINTS,
        "a number of minutes": exercise.minutes,
        "a text": exercise.text,
        "a hint": exercise.hint,
        "a cell for the answer": exercise.answer,
        "a solution": exercise.solution,
        "no check, as its kind has none": not (open_one and exercise.checked),
        "a check": open_one or exercise.checked,
        "a rubric, a list of items with points that add up,": not open_one or exercise.rubric,
    }
    return [what for what, there in wanted.items() if not there]


def main(notebooks: list[Path]) -> None:
    """Print a line for each exercise, and what it lacks."""
    found = [exercise for notebook in notebooks for exercise in read_exercises(notebook)]
    for one in found:
        about = f"{one.kind:14s} {one.minutes:3d} minutes {one.difficulty:7s} {one.points:2d} points"
        print(f"{one.number:5s} {about}  {one.title}")
    checked = sum(one.checked for one in found)
    print(f"{len(found)} exercises, {checked} with a check, {sum(one.minutes for one in found) / 60:.1f} hours")
    if missing := [f"{one.number} lacks {what}" for one in found for what in lacks(one)]:
        raise error("\n".join(missing))


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or [path.with_suffix(".ipynb") for path in book_notebooks()])
