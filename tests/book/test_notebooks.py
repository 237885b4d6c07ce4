"""The committed notebooks keep the conventions of notebooks/README.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from notebook_files import pair_differs, read_profile, undeclared_keys
from setup_cell import setup_cell

from tests.book.built_site import PAGES, TOC

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((REPOSITORY / "notebooks").glob("[0-9][0-9]_*.py"))
SETUP = setup_cell(REPOSITORY / "_config.yml")
PROFILES = sorted((REPOSITORY / "notebooks" / "params").glob("*.yml"))
DECLARATION = re.compile(r"\w+: [\w\[\], |]+ = .+  # .+")

each_notebook = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)


def code_cells(script: Path) -> list[Any]:
    notebook = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@each_notebook
def test_the_two_files_of_a_notebook_hold_the_same_cells_and_no_outputs(script: Path) -> None:
    assert not pair_differs(script), f"{script.name} and its .ipynb differ: make sync"
    for cell in code_cells(script):
        assert not cell.outputs
        assert cell.execution_count is None


@each_notebook
def test_parameters_are_typed_commented_and_checked(script: Path) -> None:
    first, parameters, check, *_ = code_cells(script)
    assert (first.source, first.metadata["tags"]) == (SETUP.source, SETUP.metadata["tags"]), "run scripts/setup_cell.py"
    assert "parameters" in parameters.metadata.get("tags", []), "the second code cell is tagged `parameters`"
    for line in parameters.source.splitlines():
        assert DECLARATION.fullmatch(line), f"not `name: type = default  # comment`: {line}"
    assert "check_parameters(globals())" in check.source, "the cell after `parameters` checks them"
    assert "remove-cell" in check.metadata.get("tags", [])
    namespace: dict[str, Any] = {}
    exec(compile(f"{parameters.source}\n{check.source}", script.name, "exec", dont_inherit=True), namespace)


def test_figures_have_a_description_and_a_name_of_their_own() -> None:
    options = [cell.metadata.get("mystnb", {}) for script in SCRIPTS for cell in code_cells(script)]
    figures = [(one["figure"], one.get("image", {})) for one in options if "figure" in one]
    assert all(figure.get("caption") and image.get("alt") for figure, image in figures)
    names = [figure.get("name", "") for figure, _ in figures]
    assert all(name.startswith("fig-") for name in names)
    assert len(names) == len(set(names)) > 0


def test_each_parameter_of_a_profile_is_declared() -> None:
    assert {"mini", "paper"} <= {profile.stem for profile in PROFILES}
    notebooks = [script.with_suffix(".ipynb") for script in SCRIPTS]
    assert {profile.stem: undeclared_keys(read_profile(profile), notebooks) for profile in PROFILES} == {
        profile.stem: [] for profile in PROFILES
    }


def test_the_pages_of_the_table_of_contents_exist() -> None:
    generated = {"book/status"}  # when the site is built
    for page in set(PAGES) - generated:
        assert any((REPOSITORY / page).with_suffix(suffix).exists() for suffix in (".md", ".ipynb")), page
    assert generated < set(PAGES)
    for script in SCRIPTS:
        assert f"notebooks/{script.stem}" in PAGES


def test_sphinx_numbers_each_chapter_as_its_file() -> None:
    """A part of the table of contents that is ``numbered: true`` has chapters alone, in their order; 00 is in none."""
    numbered = [chapter["file"] for part in TOC["parts"] if part.get("numbered") for chapter in part["chapters"]]
    assert numbered == [f"notebooks/{script.stem}" for script in SCRIPTS if not script.stem.startswith("00")]
    assert [int(page[10:12]) for page in numbered] == list(range(1, len(numbered) + 1))


def test_what_is_cited_is_in_the_bibliography_and_the_other_way_round() -> None:
    text = "\n".join(path.read_text() for path in [*SCRIPTS, *(REPOSITORY / "book").glob("*.md")])
    cited = {key.strip() for keys in re.findall(r"\{cite[:a-z]*\}`([^`]+)`", text) for key in keys.split(",")}
    entries = re.findall(r"^@\w+\{([^,]+),", (REPOSITORY / "book" / "references.bib").read_text(), re.MULTILINE)
    assert sorted(entries) == sorted(cited)
