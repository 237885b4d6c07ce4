"""``make book`` assembles the source tree of the site with it: prose, executed notebooks, and a status page.

Paths in the tree are those of the repository. Only files whose content changed are written, so that Sphinx
reads only these again, and files that are gone from the repository are deleted.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path

import api_pages
import nbformat
import syllabus
import yaml
from explorer_data import explorer_data
from front_page import INTRODUCTION, front_page
from nbformat import NotebookNode
from notebook_files import book_notebooks, declared_parameters

from affscore.network.columns import EXTRAPOLATED, Column
from affscore.network.criteria import CRITERIA, SCHEMA
from affscore.options import OF_THE_PAPERS

COLUMNS = Path("book/columns.md")
NUMBERS = re.compile(
    r"(?P<verbatim><(?P<tag>style|script|code|pre)\b.*?</(?P=tag)>|</?[a-zA-Z!][^>]*>|`[^`]*`|\$[^$]*\$)"
    r"|(?P<sign>(?<![\w/.-])-(?=\d)|(?<=\d)[ \xa0]?%(?!\w))",
    re.DOTALL,
)
"""The hyphen before a number and the percent sign behind one, unless they stand in what must stay as it is."""

SIGNS = {"-": "\N{MINUS SIGN}", "%": "\N{NO-BREAK SPACE}%"}


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--params", type=Path, required=True, help="the parameter file of the profile")
    parser.add_argument("--executed", type=Path, required=True, help="where the executed notebooks lie")
    parser.add_argument("--stage", type=Path, required=True, help="the tree to write")
    arguments = parser.parse_args()

    names = [script.with_suffix(".ipynb") for script in book_notebooks()]
    executed = {name: nbformat.read(arguments.executed / name, as_version=4) for name in names}
    files = {path: path.read_bytes() for path in Path("book").rglob("*") if path.is_file()}
    files[Path("_config.yml")] = configuration(Path("_config.yml"))
    files[Path("book/status.md")] = status_page(arguments.params, executed).encode()
    files[syllabus.PAGE] = syllabus.filled(files[syllabus.PAGE].decode()).encode()
    documented = api_pages.in_full([files[page].decode() for page in api_pages.PAGES])
    for page in api_pages.PAGES:
        files[page] = api_pages.filled(files[page].decode(), documented).encode()
    files[COLUMNS] = columns_page(files[COLUMNS].decode()).encode()
    files[Path("book/_static/explorer/data.js")] = explorer_data()
    for notebook in executed.values():
        set_numbers(notebook)
    files |= front_page(files[INTRODUCTION].decode(), executed)
    for name, notebook in executed.items():
        show_parameters_once(name, notebook)
        files[name] = nbformat.writes(notebook).encode()
    address = yaml.safe_load(files[Path("_config.yml")])["repository"]
    for path in files:
        if path.suffix == ".md":
            files[path] = with_repository(files[path].decode(), **address).encode()
    write_tree(arguments.stage, files)
    (arguments.stage / INTRODUCTION).touch()  # Sphinx copies style sheets only when it reads some page


def configuration(path: Path) -> bytes:
    """The configuration of the site; where it names a repository, with its buttons and Colab's."""
    text = path.read_text(encoding="utf-8")
    settings = yaml.safe_load(text)
    if settings["repository"]["url"]:
        settings["html"] |= {"use_repository_button": True, "use_issues_button": True}
        settings["launch_buttons"]["colab_url"] = "https://colab.research.google.com"
        text = yaml.safe_dump(settings, sort_keys=False)
    return text.encode()


def with_repository(page: str, url: str, branch: str) -> str:
    r"""A page with the address of the repository; without the lines that name it, while there is none.

    >>> with_repository("a\npip install git+REPOSITORY\nb REPOSITORY/blob/BRANCH/c", "https://x.org", "main")
    'a\npip install git+https://x.org\nb https://x.org/blob/main/c'
    >>> with_repository("a\npip install git+REPOSITORY\nb", "", "main")
    'a\nb'
    """
    lines = page.split("\n")
    return "\n".join(
        line.replace("REPOSITORY/blob/BRANCH", f"{url}/blob/{branch}").replace("REPOSITORY", url)
        for line in lines
        if url or "REPOSITORY" not in line
    )


def show_parameters_once(name: Path, notebook: NotebookNode) -> None:
    """Hide papermill's cell of parameters; where it changes defaults, the folded cell that declares them says so."""
    defaults = declared_parameters(name)
    ran = notebook.metadata["affscore"]
    changed = {key: value for key, value in ran["parameters"].items() if value != defaults[key]}
    lines = [f"{key} = {value!r}" for key, value in changed.items()]
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            if changed:
                cell.source = "\n".join([cell.source, "", "# in this run", *lines])
            cell.metadata["mystnb"] = dict.fromkeys(
                ("code_prompt_show", "code_prompt_hide"), "The parameters of this page"
            )
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.metadata["tags"].append("remove-cell")


def set_numbers(notebook: NotebookNode) -> None:
    """Set the numbers in the sentences and tables that cells show (:func:`with_set_numbers`)."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for kind in ("text/markdown", "text/html"):
                shown = output.get("data", {}).get(kind, "")
                if shown:
                    output["data"][kind] = with_set_numbers(shown)


def with_set_numbers(shown: str) -> str:
    r"""Markdown or HTML with minus signs, and with a space that does not break between a number and its percent sign.

    Code, mathematics, styles and tags stay as they are.

    >>> with_set_numbers('-0.5 [-1, 3-4], `x[-1]`, 1e-5, <td class="a -1">-2%</td>')
    '\u22120.5 [\u22121, 3-4], `x[-1]`, 1e-5, <td class="a -1">\u22122\xa0%</td>'
    """
    return NUMBERS.sub(lambda found: found["verbatim"] or SIGNS[found["sign"].strip()], shown)


def columns_page(page: str) -> str:
    """The page of the columns with its tables: all columns as their schema has them, and the criteria."""
    head, criteria = ("column", "type", "what it says"), []
    page = page.replace("<!-- columns -->", table(head, map(described, SCHEMA)))
    page = page.replace("<!-- extrapolated -->", table(head, map(described, EXTRAPOLATED)))
    for name, criterion in CRITERIA.items():
        names = ", ".join(f"`{field.name}`" for field in criterion.columns)
        criteria.append((f"`{name}`", names, "yes" if name in OF_THE_PAPERS else ""))
    columns = ("criterion", "columns", "by default")
    return page.replace("<!-- criteria -->", table(columns, criteria))


def described(column: Column) -> tuple[str, str, str]:
    """The row of a column: its name, its type, and the first part of what it says."""
    return f"`{column.name}`", column.kind, re.split(r"[;:,] ", column.description)[0]


def status_page(params: Path, executed: dict[Path, NotebookNode]) -> str:
    """What ran, when, for how long and with which versions."""
    runs, versions = [], dict[str, dict[str, None]]()
    for name, notebook in executed.items():
        ran = notebook.metadata["affscore"]
        page = f"{{doc}}`../{name.with_suffix('')}`"
        started = ran["started"].replace("T", " ").removesuffix("+00:00")
        runs.append((page, started, f"{ran['seconds']:.1f}"))
        for package, number in ({"platform": ran["platform"]} | ran["versions"]).items():
            versions.setdefault(package, {})[number] = None  # notebooks that ran at other times may have had others
    total = sum(notebook.metadata["affscore"]["seconds"] for notebook in executed.values())
    return f"""# What ran

Every notebook of this book was executed as it is, from a fresh kernel, with the profile `{params.stem}`:
{len(runs)} notebooks in {total:.0f} seconds.

{table(("page", "started (UTC)", "seconds"), runs)}

## With which versions

{table(("package", "version"), [(package, ", ".join(numbers)) for package, numbers in versions.items()])}

All versions are pinned in `requirements.lock`, also those of what made the pages.
"""


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


def write_tree(stage: Path, files: dict[Path, bytes]) -> None:
    """Make the tree hold exactly these files, and touch only those that differ. ``_build`` is Sphinx's."""
    for path in [path for path in stage.rglob("*") if path.is_file()]:
        relative = path.relative_to(stage)
        if relative not in files and relative.parts[0] != "_build":
            path.unlink()
    for relative, content in files.items():
        path = stage / relative
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


if __name__ == "__main__":
    main()
