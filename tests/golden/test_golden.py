"""Results are what they were: a change that is meant is written with ``python -m tests.golden``, and declared."""

import numpy as np
import pandas as pd
import pytest

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
    assert len(now) == len(before)
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
