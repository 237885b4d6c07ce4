"""Run a chapter with a network of your own, without its exercises.

    python -m companion.run 04 mine.ipynb -p model=my_network.py:factory -p dataset=folder:photos

is papermill with the parameters given by ``-p``, on the part of the chapter that is about networks. It runs in the
folder ``notebooks``, from where paths in parameters are seen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import nbformat
import papermill
import typer
import yaml
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).parents[1]


def without_exercises(notebook: NotebookNode) -> NotebookNode:
    """The notebook up to its exercises.

    >>> texts = map(nbformat.v4.new_markdown_cell, ("# Title", "Last. ## Exercises", "One"))
    >>> [cell.source for cell in without_exercises(nbformat.v4.new_notebook(cells=list(texts))).cells]
    ['# Title', 'Last.']
    """
    kept = []
    for cell in notebook.cells:
        source, heading, _ = cell.source.partition("## Exercises")
        kept.append(cell)
        if cell.cell_type == "markdown" and heading:
            cell.source = source.strip()
            break
    notebook.cells = kept
    return notebook


def main(
    chapter: Annotated[str, typer.Argument(help="Its number, as 04.")],
    output: Annotated[Path, typer.Argument(help="The notebook to write.")],
    parameter: Annotated[list[str] | None, typer.Option("--parameter", "-p", help="NAME=VALUE")] = None,
) -> None:
    """Run a chapter with other parameters, without its exercises."""
    found = sorted(NOTEBOOKS.glob(f"{chapter.zfill(2)}_*.ipynb"))
    if not found:
        raise typer.BadParameter(f"there is no chapter {chapter}; they have the numbers of the files in notebooks")
    pairs = (text.partition("=") for text in parameter or ())
    values = {name: yaml.safe_load(value) for name, _, value in pairs}
    notebook = without_exercises(nbformat.read(found[0], as_version=4))
    papermill.execute_notebook(notebook, str(output.resolve()), values, cwd=str(NOTEBOOKS))


if __name__ == "__main__":
    typer.run(main)
