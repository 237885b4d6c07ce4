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


NUMBER = re.compile(r"-?\d+(?:\.(\d+))?(?:e-?\d+)?")


def test_numbers_of_the_chapters():
    """What the chapters say in numbers, of results that the package ships: as before, up to rounding."""
    now = measured.numbers()
    if not len(now):
        missing("the chapters did not run: run `make book` first")
    both = now.merge(
        pd.read_csv(measured.FOLDER / "numbers.csv", dtype=str, keep_default_na=False),
        on=["chapter", "name"],
        how="outer",
    )
    for _, name, one, other in both.itertuples(index=False):
        for new, old in zip(NUMBER.finditer(one), NUMBER.finditer(other), strict=True):
            rounding = {"abs": 1.01 * 10.0 ** -len(old[1])} if old[1] else {"rel": 0.015}  # 94 % may become 95 %
            assert float(new[0]) == pytest.approx(float(old[0]), **rounding), name
