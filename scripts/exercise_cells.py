"""``classroom``, ``syllabus`` and tests read the exercises of a notebook with it, from the structure of its cells.

An exercise is the directive ``{exercise}``, a folded hint, a cell for the answer (code with its check as a comment, or
the text ``*Your answer:*``), and what is between ``{solution-start}`` and ``{solution-end}``.
The first line of its text is ``*Kind · N minutes · difficulty.* Aim: ...``; a solution that is marked by hand ends with
``**Rubric** (N points)`` and a list.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from plain_markdown import pieces

POINTS = {"easy": 2, "medium": 4, "hard": 6}
"""The points of an exercise with a check, by difficulty."""

ABOUT = re.compile(
    r"\*(?P<kind>[^*·]+?) · (?P<minutes>\d+) minutes? · (?P<difficulty>[a-z]+)\.\*\s+Aim: (?P<aim>.+)", re.DOTALL
)
DIRECTIVE = re.compile(r"\{(?P<name>exercise|solution-start|solution-end|admonition(?=\} Hint for ))\} ?(?P<title>.*)")
CHECK = re.compile(r'^# companion\.exercises\.check\("[\d.]+", answer\)$', re.MULTILINE)
RUBRIC = re.compile(r"^\*\*Rubric\*\* \((\d+) points\)$", re.MULTILINE)
ANSWER = "*Your answer:*"


@dataclass
class Exercise:
    """An exercise, with what stands about it in the notebook.

    Attributes:
        number: "5.1".
        title: Its title.
        text: What is asked, in MyST Markdown, without the line about it.
        kind: "Compute", "Prove", ...; empty where the line is missing.
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
    def points(self) -> int:
        """What it is worth: by its difficulty where it has a check, or else what its rubric says; 0 without one."""
        if self.checked:
            return POINTS.get(self.difficulty, POINTS["easy"])
        rubrics = [RUBRIC.search(cell.source) for cell in self.solution if cell.cell_type == "markdown"]
        return sum(int(rubric[1]) for rubric in rubrics if rubric)

    @property
    def code(self) -> str:
        """The code of the solution; it leaves the answer in ``answer``, and checks nothing."""
        return "\n\n".join(as_answer(cell.source) for cell in self.solution if cell.cell_type == "code")


def parts(notebook: NotebookNode) -> list[NotebookNode | Exercise]:
    """The cells of a notebook in their order, with each exercise as a whole in their place."""
    found: list[NotebookNode | Exercise] = []
    current: Exercise | None = None
    solving = False
    for cell in notebook.cells:
        code = cell.cell_type == "code"
        new = new_code_cell if code else new_markdown_cell
        for name, title, text in [("", "", cell.source)] if code else pieces(cell.source, DIRECTIVE):
            if name == "exercise":
                current = new_exercise(title, text)
                found.append(current)
            elif name == "solution-start":
                solving = True
            elif name == "solution-end":
                current, solving = None, False
            elif current is None:
                found.append(new(text, metadata=cell.metadata))
            elif solving:
                current.solution.append(new(text, metadata=cell.metadata))
            elif name:
                current.hint = text
            else:
                current.answer, current.checked = CHECK.sub("", text).rstrip(), bool(CHECK.search(text))
    return found


def exercises(notebook: NotebookNode) -> list[Exercise]:
    """The exercises of a notebook."""
    return [part for part in parts(notebook) if isinstance(part, Exercise)]


def read_exercises(notebook: Path) -> list[Exercise]:
    """The exercises of a file."""
    return exercises(nbformat.read(notebook, as_version=4))


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

    >>> print(as_answer('x = 2\ncompanion.exercises.check("8.1", (x, 3))\nprint(x)'))
    x = 2
    answer = (x, 3)
    print(x)
    """
    lines = code.splitlines()
    for node in reversed(ast.parse(code).body):
        match node:
            case ast.Expr(ast.Call(function, [_, handed_in])) if ast.unparse(function) == "companion.exercises.check":
                answer = ast.get_source_segment(code, handed_in) or ""
                answer = f"({answer})" if "\n" in answer else answer
                lines[node.lineno - 1 : node.end_lineno] = [] if answer == "answer" else [f"answer = {answer}"]
    return "\n".join(lines).strip()
