"""The source of a function that was written in a notebook, with all that it needs, so that it runs elsewhere."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import math
import symtable
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from affscore.errors import AffscoreError

NAME = "answer"
"""The name that the code leaves its value under."""

MOST_ENTRIES = 1000
"""A list or an array that a function uses may have so many."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_SEARCHED = ("builtins", "math", "numpy", "scipy.special", "torch", "torch.nn.functional")


class NotKeptError(AffscoreError):
    """Something cannot be written down as code."""


def source_of(function: Any) -> str:
    """Code that defines a function or a class: its source, imports, and the values and functions that it uses.

    What it uses is looked up now: in its closure, and in the notebook.

    Raises:
        NotKeptError: Its source is not known, or it uses what cannot be written down, such as an open file.

    >>> print(source_of(math.sqrt))
    from math import sqrt as answer
    """
    found = _Code()
    found.define(NAME, function)
    return "\n\n".join(found.pieces)


class _Code:
    """Pieces of code, in an order in which they run."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.names: dict[str, Any] = {}

    def define(self, name: str, value: Any) -> None:
        if name in self.names:
            if self.names[name] is not value:
                raise NotKeptError(f"two different things are called {name}")
            return
        self.names[name] = value
        piece = self.piece(name, value)
        if piece:
            self.pieces.append(piece)

    def piece(self, name: str, value: Any) -> str:
        """The code that gives a name its value, once all that it needs is defined."""
        if isinstance(value, ModuleType):
            return f"import {_installed(value.__name__, name)} as {name}"
        if place := _place(value):
            return f"from {place[0]} import {place[1]} as {name}"
        if isinstance(value, functools.partial):
            self.define("functools", functools)
            parts = [value.func, *value.args, *value.keywords.values()]
            names = [f"_{name}_{k}" for k in range(len(parts))]
            for one, part in zip(names, parts, strict=True):
                self.define(one, part)
            given = [*names[: 1 + len(value.args)]]
            given += [f"{key}={one}" for key, one in zip(value.keywords, names[len(given) :], strict=True)]
            return f"{name} = functools.partial({', '.join(given)})"
        if isinstance(inspect.unwrap(value) if callable(value) else value, FunctionType | type):
            return self.definition(name, inspect.unwrap(value))
        return f"{name} = {self.literal(name, value)}"

    def definition(self, name: str, value: FunctionType | type) -> str:
        source, own = _source(value)
        if own and own not in self.names:
            self.names[own] = self.names[name]  # it may call itself
        around = _around(value)
        for used in _global_names(source):
            if used in around and used != own:
                self.define(used, around[used])
        if own == name:
            return source
        return f"{source}\n\n\n{name} = {own}" if own else f"{name} = {source}"

    def literal(self, name: str, value: Any) -> str:
        """A plain value as code."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if isinstance(value, _PLAIN) and len(repr(value)) <= 10 * MOST_ENTRIES:
            return repr(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size <= MOST_ENTRIES:
            self.define("numpy", np)
            return f"numpy.array({self.literal(name, value.tolist())}, dtype={value.dtype.str!r})"
        if isinstance(value, list | tuple | set | dict) and 0 < len(value) <= MOST_ENTRIES:
            if isinstance(value, dict):
                pairs = [f"{self.literal(name, key)}: {self.literal(name, one)}" for key, one in value.items()]
                return f"{{{', '.join(pairs)}}}"
            inner = ", ".join(self.literal(name, one) for one in value)
            comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
            return {list: f"[{inner}]", tuple: f"({inner}{comma})"}.get(type(value), f"{{{inner}}}")
        if type(value) in (list, tuple, set, dict) and not value:
            return repr(value)
        kind = "a method of an object" if isinstance(value, MethodType) else f"of type {type(value).__name__}"
        what = "it is" if name == NAME else f"it uses {name}, which is"
        raise NotKeptError(f"{what} {kind}, and that cannot be written down (a function or an array of numbers can)")


def _place(value: Any) -> tuple[str, str] | None:
    """Module and name under which something can be imported where the same packages are."""
    name = getattr(value, "__name__", "")
    if not callable(value) or not isinstance(name, str) or not name.isidentifier():
        return None
    for module in (getattr(value, "__module__", None), *_SEARCHED):
        known = sys.modules.get(module) if isinstance(module, str) and module != "__main__" else None
        if known is not None and getattr(known, name, None) is value and _is_installed(known.__name__):
            return known.__name__, name
    return None


@cache
def _packages() -> frozenset[str]:
    return frozenset({*sys.stdlib_module_names, *packages_distributions(), "affscore"})


def _is_installed(module: str) -> bool:
    return module.partition(".")[0] in _packages()


def _installed(module: str, name: str) -> str:
    if not _is_installed(module):
        raise NotKeptError(f"it uses {name}, a module of yours: put what it needs into the notebook")
    return module


def _source(value: FunctionType | type) -> tuple[str, str]:
    """The source of a function or class, and the name that it gives itself ("" for a lambda)."""
    functions = _functions(value)
    unknown = NotKeptError(f"the source of {value.__name__} is not known: write it in a cell, a class with a method")
    if not functions:
        raise unknown
    lines = linecache.getlines(functions[0].__code__.co_filename)  # of a cell, too: IPython puts it there
    text = "".join(lines)
    try:
        nodes = [node for node in ast.walk(ast.parse(text)) if _is_source(node, value, functions[0].__code__)]
    except SyntaxError:
        raise unknown from None
    if not nodes:
        raise unknown
    node: Any = nodes[-1]
    if isinstance(node, ast.Lambda):
        return f"({ast.get_source_segment(text, node)})", ""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return textwrap.dedent("".join(lines[first - 1 : node.end_lineno])).rstrip(), node.name


def _functions(value: FunctionType | type) -> list[FunctionType]:
    """A function itself, or those of a class."""
    if isinstance(value, FunctionType):
        return [value]
    return [one for one in vars(value).values() if isinstance(one, FunctionType)]


def _is_source(node: ast.AST, value: FunctionType | type, code: CodeType) -> bool:
    """Whether a node of a source is that of a function or class, whose (first) function has this code."""
    if isinstance(value, type):
        here = isinstance(node, ast.ClassDef) and node.name == value.__name__
        return here and node.lineno <= code.co_firstlineno <= (node.end_lineno or 0)  # type: ignore[attr-defined]
    if isinstance(node, ast.Lambda):
        inside = [place for place in code.co_positions() if None not in place and place[3]]
        lambdas = [one for one in ast.walk(node) if isinstance(one, ast.Lambda)]
        around = [one for one in lambdas if all(_holds(one, place) for place in inside)]
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno and around == [node]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        return node.name == code.co_name and first == code.co_firstlineno
    return False


def _holds(node: ast.Lambda, place: tuple[Any, Any, Any, Any]) -> bool:
    """Whether an instruction stands in a lambda: line, last line, column, last column."""
    line, last, column, end = place
    starts = (node.lineno, node.col_offset) <= (line, column)
    return starts and (last, end) <= (node.end_lineno or 0, node.end_col_offset or 0)


def _around(value: FunctionType | type) -> dict[str, Any]:
    """The names around a function or class: of its notebook or module, and of its closure."""
    module = sys.modules.get(value.__module__)
    names = dict(vars(module)) if module else {}
    for function in _functions(value):
        names |= function.__globals__
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
    return names


def _global_names(source: str) -> set[str]:
    """The names that code takes from around it."""

    def used(table: symtable.SymbolTable) -> Iterator[str]:
        for symbol in table.get_symbols():
            if symbol.is_global() or (table.get_type() == "module" and symbol.is_referenced()):
                yield symbol.get_name()
        for child in table.get_children():
            yield from used(child)

    return {name for name in used(symtable.symtable(source, "<answer>", "exec")) if not hasattr(builtins, name)}
