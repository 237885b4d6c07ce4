"""The page of the columns says what a real result has: the same names, in the same order, of the same types."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pandas.api import types
from stage_book import columns_page

import affscore
from affscore.network.columns import misfits
from affscore.network.criteria import CRITERIA, SCHEMA
from affscore.network.record import COLUMNS

PAGE = columns_page((Path(__file__).resolve().parents[2] / "book" / "columns.md").read_text())
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \|", re.MULTILINE)
JSON = {str: "text", int: "integer", float: "number", list: "list", dict: "object", type(None): "text"}


def described(heading: str) -> list[tuple[str, str]]:
    """Names and types in the table of a section."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return ROW.findall(section)


@pytest.fixture(scope="module")
def result() -> affscore.Signature:
    return affscore.signature("mini:digitsnet", "digits", n=64, images=128, criteria=list(CRITERIA), progress=False)


@pytest.mark.slow
def test_the_table(result: affscore.Signature) -> None:
    assert [name for name, _ in described("The table")] == list(result.table.columns)
    assert not list(misfits(result.table, SCHEMA))
    for field in SCHEMA:
        if words := field.words:
            assert set(result.table[field.name]) <= set(words), field.name


def test_the_criteria() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (`.*`) \| (yes)? \|$", PAGE, re.MULTILINE)
    assert [row[0] for row in rows] == list(CRITERIA)
    assert rows[2][1:] == ("`sparsity_before`, `sparsity_after`", "yes")


def test_the_summary(result: affscore.Signature) -> None:
    summary = result.summary
    assert summary.index.name == "index"
    more = dict(described("The summary"))
    assert list(more) == [name for name in summary if name in more]
    assert set(summary) - set(more) <= {field.name for field in SCHEMA}
    numbers = [field.name for field in SCHEMA if field.kind == "number" and field.name != "seconds"]
    for name in [*numbers, *(name for name, kind in more.items() if kind == "number")]:
        assert types.is_float_dtype(summary[name]), name


def test_the_metadata(result: affscore.Signature) -> None:
    assert described("The metadata") == [(key, JSON[type(value)]) for key, value in result.metadata.items()]
    named = re.findall(r"`(\w+)`", next(line for line in PAGE.splitlines() if "`preprocessing`" in line))
    assert named[1:-1] == list(result.metadata["preprocessing"])


def test_a_training() -> None:
    tracker = affscore.track(affscore.load_model("mini:digitsnet"), "digits", n=64, criteria="all")
    record = tracker.record
    new = {name: kind for name, kind in described("A training") if name in ("step", "accuracy")}
    about = {field.name: field.kind for field in COLUMNS}
    assert new == {name: about[name] for name in set(about) - {field.name for field in SCHEMA}}
    assert list(record.table) == [field.name for field in COLUMNS]
    assert not list(misfits(record.table, COLUMNS))
    metadata = [name for name, _ in described("The metadata") if name != "accuracy"]
    more = [(key, JSON[type(record.metadata[key])]) for key in ("probe", "every", "start", "steps")]
    assert described("A training")[2:] == more
    assert list(record.metadata) == [*metadata, *(key for key, _ in more)]


def test_the_interval_of_the_page_is_the_default() -> None:
    (options,) = re.findall(r"mean_interval\((.*?)\)", PAGE)
    given = [float(value) for value in re.findall(r"\w+=([\d.]+)", options)]
    method = affscore.Signature.mean_interval
    assert given == [*(method.__defaults__ or ()), *(method.__kwdefaults__ or {}).values()]
