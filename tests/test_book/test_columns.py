"""The page of the columns says what a real result has: the same names, in the same order, of the same types."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.api import types

import affscore
from affscore.network.scoring import CRITERIA

PAGE = (Path(__file__).resolve().parents[2] / "book" / "columns.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \|", re.MULTILINE)
JSON = {str: "text", int: "integer", float: "number", list: "list", dict: "object", type(None): "text"}


def described(heading: str) -> list[tuple[str, str]]:
    """Names and types in the table of a section."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return ROW.findall(section)


def kind_of(column: pd.Series[Any]) -> str:
    kinds = {
        "flag": types.is_bool_dtype,
        "integer": types.is_integer_dtype,
        "number": types.is_float_dtype,
        "text": types.is_string_dtype,
    }
    return next(kind for kind, is_one in kinds.items() if is_one(column))


def columns_of(table: pd.DataFrame) -> list[tuple[str, str]]:
    return [(name, kind_of(table[name])) for name in table.columns]


@pytest.fixture(scope="module")
def result() -> affscore.Signature:
    return affscore.signature("mini:digitsnet", "digits", n=64, images=128, criteria=list(CRITERIA), progress=False)


def test_the_table(result: affscore.Signature) -> None:
    assert described("The table") == columns_of(result.table)


def test_the_summary(result: affscore.Signature) -> None:
    assert described("The summary") == columns_of(result.summary)
    assert result.summary.index.name == "index"


def test_the_metadata(result: affscore.Signature) -> None:
    assert described("The metadata") == [(key, JSON[type(value)]) for key, value in result.metadata.items()]
    named = re.findall(r"`(\w+)`", next(line for line in PAGE.splitlines() if "`preprocessing`" in line))
    assert named[1:-1] == list(result.metadata["preprocessing"])


def test_the_words_that_columns_hold(result: affscore.Signature) -> None:
    said = dict(re.findall(r"^\| `(\w+)` \| \w+ \| (.*) \|$", PAGE.partition("## The summary")[0], re.MULTILINE))
    for name in ("kind", "reduction", "order", "covariance", "coupling"):
        assert set(result.table[name]) <= set(re.findall(r"`([\w-]+)`", said[name])), name


def test_the_criteria_that_can_be_named() -> None:
    (listed,) = re.findall(r"a list those that it names\n\((.*?)\)", PAGE)
    assert re.findall(r"`(\w+)`", listed) == list(CRITERIA)


def test_a_whole_data_set() -> None:
    whole = affscore.signature("mini:digitsnet", "digits", n=64, images=128, whole=True, progress=False)
    names = [name for name, _ in described("The table")]
    assert [name for name in names if name not in ("cka_debiased", "nlc")] == list(whole.table.columns)
    assert whole.table[["batch", "n", "coupling"]].drop_duplicates().to_numpy().tolist() == [[0, 128, "paired"]]
    assert whole.table["pairing_optimal"].isna().all()
    assert whole.summary["score_std"].isna().all()


def test_an_interval(result: affscore.Signature) -> None:
    (options,) = re.findall(r"mean_interval\((.*?)\)", PAGE)
    given = {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", options)}
    defaults = affscore.Signature.mean_interval.__kwdefaults__ or {}
    values = affscore.Signature.mean_interval.__defaults__ or ()
    assert list(given.values()) == [*values, *defaults.values()]
    low, high = result.mean_interval()
    assert low < result.scores.mean() < high
