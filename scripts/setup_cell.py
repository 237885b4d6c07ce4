"""By hand, after a change of it: the first cell of every notebook, which finds the book's code.

    python scripts/setup_cell.py

writes it into the notebooks of the book, where it is not, or is not that of the address in _config.yml.
"""

from __future__ import annotations

from pathlib import Path

import jupytext
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from notebook_files import book_notebooks, synchronize

CONFIGURATION = Path("_config.yml")
TAGS = ["remove-cell", "setup"]
EXPLAIN = """\
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )
"""
INSTALL = """\
# Where this runs: with the book's code, or it is installed here first.
import importlib.util
import subprocess
import sys

_source = "{address}"
if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    print("the book's code is not here yet: installing it from", _source)
    for _part in (_source, _source + "#subdirectory=notebooks"):
        subprocess.run(
            [sys.executable, "-m", "pip", "install", _part], check=True
        )
    importlib.invalidate_caches()
"""


def setup_cell(configuration: Path = CONFIGURATION) -> NotebookNode:
    """The cell, for the repository that the configuration of the site names."""
    repository = yaml.safe_load(configuration.read_text(encoding="utf-8"))["repository"]
    source = EXPLAIN
    if repository["url"]:
        source = INSTALL.format(address=f"git+{repository['url'].removesuffix('.git')}@{repository['branch']}")
    return new_code_cell(source.strip(), metadata={"tags": list(TAGS)})


def insert(script: Path, cell: NotebookNode) -> None:
    """Make it the first code cell of a notebook, both files."""
    synchronize(script)
    notebook = jupytext.read(script)
    first = next(k for k, one in enumerate(notebook.cells) if one.cell_type == "code")
    if "setup" in notebook.cells[first].metadata.get("tags", []):
        if notebook.cells[first].source == cell.source:
            return
        notebook.cells[first].source = cell.source
    else:
        notebook.cells.insert(first, cell)
    jupytext.write(notebook, script, fmt="py:percent")
    synchronize(script)


def main() -> None:
    """Run the command."""
    for script in book_notebooks():
        insert(script, setup_cell())


if __name__ == "__main__":
    main()
