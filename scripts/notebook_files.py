"""``make book`` checks the notebooks with it: pairs, parameters, profiles; other scripts import it.

    python scripts/notebook_files.py notebooks/params/mini.yml

brings the notebooks of the book in step, and checks that each parameter of the profile is declared by one.
"""

from __future__ import annotations

import ast
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import jupytext.cli
import papermill
import yaml
from jupytext.compare import NotebookDifference, compare_notebooks


def error(message: str) -> SystemExit:
    """What to raise to stop a script with one message and a non-zero exit."""
    return SystemExit(f"error: {message}")


def book_notebooks() -> list[Path]:
    """The notebooks of the book in their order, by their sources ``NN_name.py``."""
    return sorted(Path("notebooks").glob("[0-9][0-9]_*.py"))


def pair_differs(script: Path) -> bool:
    """Whether a script and its notebook do not hold the same cells, or the notebook is missing."""
    try:
        compare_notebooks(jupytext.read(script.with_suffix(".ipynb")), jupytext.read(script), "py:percent")
    except (NotebookDifference, FileNotFoundError):
        return True
    return False


def synchronize(script: Path) -> None:
    """Bring the two files of a notebook together when their cells differ; the newer one wins."""
    if not pair_differs(script):
        return
    print(f"{script} and its .ipynb differ: running jupytext --sync (the newer one wins)", flush=True)
    jupytext.cli.jupytext(["--quiet", "--sync", str(script)])
    if pair_differs(script):
        raise error(f"{script} and its .ipynb still differ after jupytext --sync (see notebooks/README.md)")


def declared_parameters(notebook: Path) -> dict[str, Any]:
    """The names that the ``parameters`` cell declares, and their defaults."""
    declared = papermill.inspect_notebook(str(notebook)).items()
    return {name: ast.literal_eval(parameter["default"]) for name, parameter in declared}


def read_profile(path: Path) -> dict[str, Any]:
    """The parameters of a profile."""
    values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    if not isinstance(values, dict):
        raise error(f"{path} must hold lines `name: value`, got {type(values).__name__}")
    return values


def undeclared_keys(profile: dict[str, Any], notebooks: list[Path]) -> list[str]:
    """One sentence for each key of a profile that no notebook declares."""
    declared = {name for notebook in notebooks for name in declared_parameters(notebook)}
    sentences = []
    for key in profile.keys() - declared:
        near = " or ".join(map(repr, get_close_matches(key, declared, n=2)))
        sentences.append(f"no notebook declares {key!r}" + (f" (did you mean {near}?)" if near else ""))
    return sorted(sentences)


def main(params: Path) -> None:
    """Run the command."""
    for script in book_notebooks():
        synchronize(script)
    sentences = undeclared_keys(read_profile(params), [script.with_suffix(".ipynb") for script in book_notebooks()])
    if sentences:
        raise error(f"{params}: " + "; ".join(sentences))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
