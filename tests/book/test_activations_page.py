"""The page of what counts as an activation has the library's own table, and its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import nn

import affscore
from affscore.recorder.calls import ORDINALS
from affscore.recorder.formulas import _TOLERANCES
from affscore.recorder.functions import ACTIVATIONS, LIBRARY_CLASSES, activation_name
from tests.affscore.recorder.seen import seen_in

PAGE = (Path(__file__).resolve().parents[2] / "book" / "activations.md").read_text()
PYTHON = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
OPTIONS = {"Threshold": (0.1, 20.0), "Softmax": (1,), "Softmin": (1,), "LogSoftmax": (1,)}


def functions() -> dict[str, set[str]]:
    """Every function that counts, by the activation's name; those that work in place have the same name."""
    homes = {"F": torch.nn.functional, "torch": torch, "Tensor": torch.Tensor, "torch.special": torch.special}
    found: dict[str, set[str]] = {}
    for prefix, home in homes.items():
        for spelling in dir(home):
            function = getattr(home, spelling)
            if not spelling.startswith("_") and callable(function) and function in ACTIVATIONS:
                found.setdefault(ACTIVATIONS[function], set()).add(f"`{prefix}.{spelling.removesuffix('_')}`")
    return found


def modules() -> dict[str, set[str]]:
    """Every module of torch.nn that is one activation, by what the recorder calls it."""
    found: dict[str, set[str]] = {}
    for name in sorted({*torch.nn.modules.activation.__all__} - {"MultiheadAttention"}):
        act = getattr(nn, name)(*OPTIONS.get(name, ()))
        _, recorder = seen_in(nn.Sequential(act), torch.randn(2, 4, 6, 6))
        for call in recorder.calls:
            found.setdefault(call.activation, set()).add(f"`nn.{name}`")
    return found


def table() -> str:
    """The table as the page must have it."""
    classes: dict[str, set[str]] = {}
    for library, entries in LIBRARY_CLASSES.items():
        for class_name, name in entries.items():
            classes.setdefault(name, set()).add(f"{library} `{class_name}`")
    columns = [functions(), modules(), classes, {name: {"yes"} for name in (*_TOLERANCES, "leaky_relu")}]
    names = list(dict.fromkeys([*ACTIVATIONS.values(), *(name for column in columns for name in column)]))
    rows = [[f"`{name}`", *(", ".join(sorted(column.get(name, ()))) for column in columns)] for name in names]
    heading = ["activation", "functions", "modules of PyTorch", "modules of other libraries", "written out"]
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def test_the_table_is_that_of_the_library() -> None:
    assert table() in PAGE, f"the table of book/activations.md must be\n{table()}"


def test_the_kinds() -> None:
    rows = re.findall(r"^\| `([\w-]+)`(?:, `([\w-]+)`, ...)? \| (?!`)", PAGE.partition("## Kinds")[2], re.MULTILINE)
    assert {name for row in rows for name in row if name} == {
        "hidden", "after-sum", "squeeze", "gate", "gated-unit", *ORDINALS[:2],
    }  # fmt: skip


def test_clamps_that_count() -> None:
    for text, name in re.findall(r"`(x\.clamp\([^)]*\))` is `(\w+)`", PAGE):
        arguments = eval(f"dict({text.removeprefix('x.clamp(')}")  # the page's own words
        assert activation_name(torch.Tensor.clamp, (torch.zeros(1),), arguments) == name


def test_the_examples_run() -> None:
    blocks = PYTHON.findall(PAGE)
    assert len(blocks) == 2
    for code in blocks:
        namespace: dict[str, object] = {}
        exec(compile(code, "activations.md", "exec", dont_inherit=True), namespace)
        result = namespace["result"]
        assert isinstance(result, affscore.Signature)
        assert "snake" in set(result.table["activation"])
