"""The table of segments along paths."""

import numpy as np
import pandas as pd
import pytest
import torch

from affscore import AffscoreError
from affscore.linear_regions import along_paths, along_segments
from affscore.network.parquet import read_parquet, write_parquet
from companion.planes import closed_paths
from tests.affscore.linear_regions.architectures import network


@pytest.fixture(scope="module")
def paths():
    return closed_paths(torch.rand(3, 2, 8, 8, generator=torch.Generator().manual_seed(0)))[:, ::2]


@pytest.fixture(scope="module")
def model():
    return network("mixed")[0]


@pytest.fixture(scope="module")
def table(model, paths):
    return along_paths(model, paths, progress=False)


def test_a_row_for_each_segment_and_logit(model, paths, table):
    assert len(table) == 3 * 4 * 3
    assert not table.duplicated(["path", "segment", "logit"]).any()
    starts, ends = paths[:, :-1].flatten(0, 1), paths[:, 1:].flatten(0, 1)
    segments = along_segments(model, starts, ends, progress=False)
    for (path, place), rows in table.groupby(["path", "segment"]):
        found = segments[4 * path + place]
        assert set(rows["crossings"]) == {found.crossings}
        assert set(rows["switches"]) == {found.switches}
        assert set(rows["breakpoints"]) == {found.count - 1}
        np.testing.assert_allclose(rows["length"], found.length)
        for name in ("absolute_deviation", "deviation_upper_bound", "total_variation"):
            np.testing.assert_allclose(rows[name], getattr(found, name))
    assert table["crossings"].sum() > 100
    assert table["switches"].sum() > 50


def test_the_walk_makes_the_same_table(model, paths, table):
    pd.testing.assert_frame_equal(along_paths(model, paths[:1], "walk", progress=False), table[table["path"] == 0])


def test_a_file_holds_a_table(table, tmp_path):
    write_parquet(table, {"model": "mixed"}, [], tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(read_parquet(tmp_path / "table.parquet")[0], table)
    assert all(dtype.kind in "if" for dtype in table.dtypes)


def test_what_is_no_path(model):
    with pytest.raises(AffscoreError, match="with 2 points at least, got the shape"):
        along_paths(model, torch.zeros(3, 1, 2, 8, 8))
    with pytest.raises(AffscoreError, match="start and end of segment 1 of path 0 are the same"):
        along_paths(model, torch.stack([torch.zeros(2, 8, 8), torch.ones(2, 8, 8), torch.ones(2, 8, 8)])[None])
    for wrong in (None, 1j * torch.zeros(1, 2, 3)):
        with pytest.raises(AffscoreError, match="paths must"):
            along_paths(model, wrong)


def test_arrays_and_lists_are_paths(model, paths, table):
    for same in (paths[:1].numpy(), paths[:1].tolist()):
        pd.testing.assert_frame_equal(along_paths(model, same, progress=False), table[table["path"] == 0])
