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


def named(heading: str, after: str = "") -> list[str]:
    """The names in the text of a section."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return re.findall(r"`(\w+)`", section.partition(after)[2] if after else section)


def test_the_summary(result: affscore.Signature) -> None:
    summary = result.summary
    assert summary.index.name == "index"
    more = named("The summary")
    assert set(more) <= set(summary)
    assert set(summary) - set(more) <= {field.name for field in SCHEMA}
    numbers = [field.name for field in SCHEMA if field.kind == "number" and field.name != "seconds"]
    for name in [*numbers, *more[:-1]]:
        assert types.is_float_dtype(summary[name]), name


def test_the_metadata(result: affscore.Signature) -> None:
    assert [name for name in named("The metadata") if name in result.metadata] == list(result.metadata)


def test_a_training() -> None:
    tracker = affscore.track(affscore.load_model("mini:digitsnet"), "digits", n=64, criteria="all")
    record = tracker.record
    about = {field.name: field.kind for field in COLUMNS}
    assert dict(described("A training")) == {
        name: about[name] for name in set(about) - {field.name for field in SCHEMA}
    }
    assert list(record.table) == [field.name for field in COLUMNS]
    assert not list(misfits(record.table, COLUMNS))
    more = named("A training", after="four more entries")
    assert list(record.metadata)[-4:] == more
    assert set(record.metadata) - set(more) <= set(named("The metadata"))
