"""Shares by kind, by hand."""

import numpy as np
import pandas as pd
import pytest

from companion.chapter_13.measurements import unexplained, unexplained_by_kind

BLOCKS = pd.DataFrame({
    "model": ["a"] * 4 + ["b"] * 2,
    "kind": ["activation", "activation", "linear", "residual", "pooling", "activation"],
    "affine_fit": [0.5, 1.0, 1.0, 0.0, np.nan, 0.9],
})  # fmt: skip


def test_the_share_is_that_of_the_definition():
    for share in (0.0, 0.1, 0.5, 1.0):
        assert unexplained(1 - (share / 2) ** 0.5) == pytest.approx(share)


@pytest.mark.parametrize(("summary", "expected"), [("mean", 0.25), ("median", 0.25), ("sum", 0.5)])
def test_blocks_of_a_kind_together(summary, expected):
    found = unexplained_by_kind(BLOCKS, ["model"], summary)
    assert found.loc["a", "activation"] == pytest.approx(expected)
    assert found.loc["a", "residual"] == pytest.approx(2.0)
    assert np.isnan(found.loc["b"].get("pooling", np.nan))
