"""What the scripts of the book know about notebooks: their pairs, their parameters, the profiles."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from copy import deepcopy
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import jupytext
import yaml
from nbformat import NotebookNode

# The metadata of a cell that changes a page. Editors write more, of no consequence.
_METADATA = ("tags", "mystnb")

_CHECK = re.compile(r"^# (affscore\.exercises\.check\(.*\))$", re.MULTILINE)


def error(message: str) -> SystemExit:
    """What to raise to stop a script with one message and a non-zero exit."""
    return SystemExit(f"error: {message}")


def book_notebooks() -> list[Path]:
    """The notebooks of the book in their order, by their sources ``NN_name.py``."""
    return sorted(Path("notebooks").glob("[0-9][0-9]_*.py"))


def cells_of(path: Path) -> list[tuple[str, str, dict[str, Any]]]:
    """Kind, source and metadata of each cell of a notebook in either format."""
    return [
        (
            cell.cell_type,
            cell.source.rstrip(),
            {key: cell.metadata[key] for key in _METADATA if cell.metadata.get(key)},
        )
        for cell in jupytext.read(path).cells
    ]


def pair_differs(script: Path) -> bool:
    """Whether a script and its notebook do not hold the same cells, or the notebook is missing."""
    notebook = script.with_suffix(".ipynb")
    return not notebook.exists() or cells_of(script) != cells_of(notebook)


def without_solutions(notebook: NotebookNode) -> NotebookNode:
    """A copy as a student meets it: no solutions, and every check called that stands there as a comment."""
    copy = deepcopy(notebook)
    copy.cells = []
    inside = False
    for cell in deepcopy(notebook.cells):
        if cell.cell_type == "markdown" and "```{solution-start}" in cell.source:
            inside = True
        elif cell.cell_type == "markdown" and "```{solution-end}" in cell.source:
            inside = False
            cell.source = cell.source.partition("```{solution-end}\n```")[2].strip()
        if not inside:
            if cell.cell_type == "code":
                cell.source = _CHECK.sub(r"\1", cell.source)
            copy.cells.append(cell)
    return copy


def synchronize(script: Path) -> None:
    """Bring the two files of a notebook together when their cells differ; the newer one wins."""
    if not pair_differs(script):
        return
    print(f"{script} and its .ipynb differ: running jupytext --sync (the newer one wins)", flush=True)
    subprocess.run([sys.executable, "-m", "jupytext", "--quiet", "--sync", script], check=True)
    if pair_differs(script):
        raise error(f"{script} and its .ipynb still differ after jupytext --sync (see notebooks/README.md)")


def declared_parameters(notebook: Path) -> dict[str, Any]:
    """The names that the ``parameters`` cell declares, and their defaults.

    Papermill's own inspection is not used: it passes over types such as ``int | None``.
    """
    declared = {}
    for cell in jupytext.read(notebook).cells:
        if "parameters" in cell.metadata.get("tags", []):
            for line in ast.parse(cell.source).body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value:
                    declared[line.target.id] = ast.literal_eval(line.value)
    return declared


def read_profile(path: Path) -> dict[str, Any]:
    """The parameters of a profile."""
    values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    if not isinstance(values, dict):
        raise error(f"{path} must hold lines `name: value`, got {type(values).__name__}")
    return values


def undeclared_keys(profile: dict[str, Any], notebooks: list[Path]) -> list[str]:
    """One sentence for each key of a profile that no notebook declares."""
    declared = sorted({name for notebook in notebooks for name in declared_parameters(notebook)})
    sentences = []
    for key in profile:
        if key not in declared:
            near = get_close_matches(key, declared, n=2)
            hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
            sentences.append(f"no notebook declares {key!r}{hint}")
    return sentences
