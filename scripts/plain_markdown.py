"""MyST Markdown as plain Markdown, as JupyterLab and Colab show it: for notebooks that students get, and for slides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pybtex.database
from exercise_cells import FENCE, body_of
from nbformat import NotebookNode
from pybtex.richtext import Text

REFERENCES = Path("book/references.bib")
ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?P<text>[^`]+)`")
EQUATION = re.compile(r"^\$\$ \((?P<label>[\w-]+)\)$", re.MULTILINE)
TITLES = {"note": "Note", "tip": "Tip", "warning": "Warning", "important": "Important", "caution": "Caution"}


@dataclass
class Plain:
    """What the references of a notebook stand for.

    Attributes:
        titles: Title of each page, by its stem.
        sources: Author and year, by key.
        figures: "Fig. 5.1", by name.
        equations: "5.1", by label.
        pages: Stems of the pages that lie beside the notebook, to which links lead.
    """

    titles: dict[str, str] = field(default_factory=dict)
    sources: dict[str, tuple[str, str]] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)
    equations: dict[str, str] = field(default_factory=dict)
    pages: frozenset[str] = frozenset()

    def text(self, myst: str) -> str:
        """A text without directives and roles."""
        lines, done = myst.splitlines(), list[str]()
        while lines:
            line = lines.pop(0)
            if match := FENCE.match(line):
                body = body_of(lines, match["fence"])
                done += self.box(match["name"], match["title"].strip(), body)
            elif not re.fullmatch(r"\([\w-]+\)=", line):  # a target
                done.append(line)
        text = EQUATION.sub(self.tagged, "\n".join(done))
        return ROLE.sub(lambda match: self.role(match["role"], " ".join(match["text"].split())), text)

    def box(self, name: str, title: str, body: list[str]) -> list[str]:
        """A directive as a quotation with a title in bold."""
        while body and (not body[0].strip() or re.match(r":[\w-]+:", body[0])):
            body.pop(0)
        if name.startswith("prf:"):
            title = f"{name[4:].capitalize()} {title}".strip()
        inner = self.text("\n".join(body)).splitlines()
        title = title or TITLES.get(name, "")
        return [f"> {line}".rstrip() for line in [*([f"**{title}**", ""] if title else []), *inner]]

    def tagged(self, match: re.Match[str]) -> str:
        """The end of an equation, with its number."""
        return f"\\tag{{{self.equations.get(match['label'], match['label'])}}}\n$$"

    def role(self, role: str, text: str) -> str:
        """What a role shows."""
        shown, _, target = text.partition("<")
        target = target.rstrip("> ") or text
        shown = shown.strip() if "<" in text else ""
        if role.startswith("cite"):
            return self.cited([key.strip() for key in text.split(",")], role == "cite:t")
        if role == "doc":
            stem = target.rpartition("/")[2]
            title = shown or self.titles.get(stem, stem)
            return f"[{title}]({stem}.ipynb)" if stem in self.pages else f"*{title}*"
        if role == "numref":
            return self.figures.get(target, "the figure")
        if role == "eq":
            return f"({self.equations.get(target, target)})"
        return shown or target

    def cited(self, keys: Iterable[str], in_the_sentence: bool) -> str:
        """Works that are cited."""
        works = [self.sources.get(key, (key, "")) for key in keys]
        if in_the_sentence:
            return ", ".join(f"{author} ({year})" if year else author for author, year in works)
        return "(" + "; ".join(f"{author}, {year}" if year else author for author, year in works) + ")"


def plain(notebooks: dict[Path, NotebookNode], others: Iterable[Path] = ()) -> Plain:
    """What references stand for, in notebooks that lie beside each other.

    Args:
        notebooks: They, by their paths.
        others: Further pages with a title, in Markdown.
    """
    found = Plain(sources=works(REFERENCES), pages=frozenset(path.stem for path in notebooks))
    for path, notebook in notebooks.items():
        figures = equations = 0
        chapter = path.stem[:2].lstrip("0")
        for cell in notebook.cells:
            figure = cell.metadata.get("mystnb", {}).get("figure", {})
            if "name" in figure:
                figures += 1
                found.figures[figure["name"]] = f"Fig. {chapter}.{figures}"
            for match in EQUATION.finditer(cell.source) if cell.cell_type == "markdown" else ():
                equations += 1
                found.equations[match["label"]] = f"{chapter}.{equations}"
        found.titles[path.stem] = title_of(cell.source for cell in notebook.cells)
    found.titles |= {path.stem: title_of([path.read_text(encoding="utf-8")]) for path in others}
    return found


def title_of(texts: Iterable[str]) -> str:
    """The first heading."""
    headings = (re.search(r"^# (.+)$", text, re.MULTILINE) for text in texts)
    return next((match[1].strip() for match in headings if match), "")


def works(bibliography: Path) -> dict[str, tuple[str, str]]:
    """Author and year of each entry of a bibliography."""
    if not bibliography.exists():
        return {}
    found = {}
    for key, entry in pybtex.database.parse_file(str(bibliography)).entries.items():
        people = entry.persons.get("author", [])
        names = [str(Text.from_latex(" ".join([*person.prelast_names, *person.last_names]))) for person in people]
        author = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        found[key] = (author or key, entry.fields.get("year", ""))
    return found


def read(paths: Iterable[Path]) -> dict[Path, NotebookNode]:
    """Notebooks by their paths."""
    return {path: nbformat.read(path, as_version=4) for path in paths}
