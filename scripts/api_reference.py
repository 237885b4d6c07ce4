"""The pages of the API: every public name of a package from its docstring, and the names in docstrings as links.

``{public-names} affscore.transport`` documents what ``affscore/transport/__init__.py`` imports (``__all__``, where
there is one). A name of several packages stands where :data:`PACKAGES` has it first; the others point there.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

PACKAGES = [
    "affscore", *(f"affscore.{name}" for name in ("transport", "network", "options", "zoo", "survey", "analysis",
    "experiments", "figures", "linear_regions", "nonlinear_advantage", "callbacks", "exercises", "parameters",
    "published")),
]  # fmt: skip
"""The packages and modules whose names are public, in the order in which a name is looked for."""


@cache
def public_names(package: str) -> dict[str, tuple[str, str]]:
    """The public names of a package: the module that each is from, and its name there; of a module, its own names.

    >>> public_names("affscore.exercises")["check"]
    ('affscore.exercises.registry', 'check')
    """
    module = importlib.import_module(package)
    file = Path(str(module.__file__))
    if file.name != "__init__.py":
        own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", None) == package]
        return {name: (package, name) for name in own if not name.startswith("_")}
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("affscore."):
            for alias in node.names:
                thing = getattr(importlib.import_module(str(node.module)), alias.name)
                home = getattr(thing, "__module__", None) if callable(thing) else None  # some import from a package
                found[alias.asname or alias.name] = (
                    home or str(node.module),
                    str(getattr(thing, "__name__", alias.name)),
                )
    listed = getattr(module, "__all__", found.keys() - {"lazy_names"})
    return {name: found.get(name, (package, name)) for name in sorted(listed, key=str.lower)}


@cache
def documented() -> dict[tuple[str, str], str]:
    """Under which full name each name of a module is documented."""
    places: dict[tuple[str, str], str] = {}
    for package in PACKAGES:
        for name, origin in public_names(package).items():
            places.setdefault(origin, f"{package}.{name}")
    return places


class PublicNames(SphinxDirective):
    """All public names of a package, from their docstrings; those that stand elsewhere in one line."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The documentation, as autodoc makes it."""
        package = self.arguments[0]
        for file in (__file__, importlib.import_module(package).__file__):
            self.env.note_dependency(str(file))
        lines, others = [], []
        for name, origin in public_names(package).items():
            full, place = f"{package}.{name}", documented()[origin]
            if place != full:
                others.append(place)
                continue
            thing = getattr(importlib.import_module(package), name)
            if inspect.isclass(thing):
                lines += [f".. autoclass:: {full}", "   :members:", ""]
            elif callable(thing):
                lines += [f".. autofunction:: {full}", ""]
            else:
                lines += _constant(full, *origin)
        if others:
            lines += ["Also here: " + ", ".join(f":py:obj:`{place}`" for place in others) + ".", ""]
        node = nodes.Element()
        content = ["```{eval-rst}", *lines, "```"]  # this page is Markdown, and docstrings are not
        self.state.nested_parse(StringList(content, source=package), self.content_offset, node)
        return node.children


def _constant(full: str, home: str, name: str) -> list[str]:
    """A constant with the text behind it; its value, where that is short."""
    value = repr(getattr(importlib.import_module(home), name))
    about = ModuleAnalyzer.for_module(home).find_attr_docs().get(("", name), [""])
    head = [f".. py:data:: {full}", *([f"   :value: {value}"] if len(value) <= 60 else []), ""]
    return head + [f"   {line}" if line else "" for line in about] + [""]


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.reference | nodes.TextElement | None:
    """A name in a docstring: a link where it is documented, plain text where it exists; a warning elsewhere."""
    if node.get("refdomain") != "py":
        return None
    target, inside = str(node["reftarget"]), node.get("py:class")
    package = node.get("py:module") or "affscore"
    homes = sorted({home for home, _ in public_names(package).values()}) if package in PACKAGES else [package]
    tries = [target, *(f"{home}.{target}" for home in homes), f"affscore.errors.{target}"]
    if inside:
        tries += [f"{home}.{inside}.{target}" for home in [*homes, package]]
    for candidate in tries:
        found = find(candidate)
        if found is None:
            continue
        module, path = found
        if not path:  # a module
            return content
        first, *rest = path
        thing: Any = getattr(importlib.import_module(module), first, None)
        origin = (thing.__module__, thing.__name__) if hasattr(thing, "__name__") else (module, first)
        full = ".".join([documented().get(origin, ""), *rest])
        known = env.get_domain("py").data["objects"].get(full)
        if known is None:
            return content
        return make_refnode(app.builder, node.get("refdoc", env.docname), known.docname, known.node_id, content, full)
    return None


@cache
def find(dotted: str) -> tuple[str, tuple[str, ...]] | None:
    """The module and the path within it of something that exists, by its full name."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:cut]))
        except (ImportError, ValueError):
            continue
        for name in parts[cut:]:
            fields = getattr(thing, "__annotations__", {})
            if not hasattr(thing, name) and name not in fields:
                return None
            thing = getattr(thing, name, None)
        path = tuple(parts[cut:])
        return ".".join(parts[:cut]), path
    return None


def spare_colons(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Napoleon takes what stands before a colon in the first line of a property for a type: let that be nothing."""
    if what in ("property", "attribute") and lines:
        lines[0] = f": {lines[0]}"


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.add_directive("public-names", PublicNames)
    app.add_css_file("api.css")
    app.connect("missing-reference", resolve)
    app.connect("autodoc-process-docstring", spare_colons, priority=400)  # napoleon has 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
