"""Results are what they were: a change that is meant is written with ``python -m tests.golden``, and declared."""

import re

import numpy as np
import pandas as pd
import pytest

from tests.book.built_site import missing
from tests.golden import measured

pytestmark = pytest.mark.slow

# a score's coupling may change where two are as good up to rounding; a network's sums are rounded by the processor
TOLERANCE = {"atol": 2e-4, "rtol": 2e-3}


def assert_as_before(name, table):
    before = pd.read_csv(measured.FOLDER / f"{name}.csv", keep_default_na=name in ("shipped", "signatures"))
    table.to_csv(path := measured.FOLDER / f".{name}.csv", index=False)  # as a reader of the file sees it
    now = pd.read_csv(path, keep_default_na=name in ("shipped", "signatures"))
    path.unlink()
    assert list(now.columns) == list(before.columns)
    assert len(now) == len(before), f"{name}: if that is meant, run python -m tests.golden"
    for column in before:
        if before[column].dtype.kind == "f":
            np.testing.assert_allclose(now[column], before[column], **TOLERANCE, err_msg=f"{name}: {column}")
        else:
            differ = now[column].fillna("").to_numpy() != before[column].fillna("").to_numpy()
            assert not differ.any(), f"{name}, {column}:\n{before[differ]}\n{now[differ]}"


def test_ledger_and_claims():
    for name, table in zip(("ledger", "claims"), measured.ledger(), strict=True):
        assert_as_before(name, table)


def test_shipped_results():
    assert_as_before("shipped", measured.shipped())


def test_signatures():
    assert_as_before("signatures", measured.signatures())


DECIDES = re.compile(r"\d+(?:\.(\d+))?(?:e-?\d+)?|\b(?:not?|none|never|nowhere|cannot|undecided)\b", re.IGNORECASE)


def test_findings_of_the_chapters():
    """What the chapters found in shipped studies: the same numbers, up to rounding, and the same denials."""
    found = measured.findings()
    if not len(found):
        missing("the chapters did not run: run `make book` first")
    before = pd.read_csv(measured.FOLDER / "findings.csv")
    assert found["chapter"].tolist() == before["chapter"].tolist()
    for now, then in zip(found["finding"], before["finding"], strict=True):
        for one, other in zip(DECIDES.finditer(now), DECIDES.finditer(then), strict=True):
            if other[0].isalpha():
                assert one[0].lower() == other[0].lower(), then
                continue
            rounding = {"abs": 1.01 * 10.0 ** -len(other[1])} if other[1] else {"rel": 0.015}  # 94 % may become 95 %
            assert float(one[0]) == pytest.approx(float(other[0]), **rounding), then
