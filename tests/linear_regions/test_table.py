"""Tables of segments, paths and data sets."""

import numpy as np
import pandas as pd
import pytest
import torch

from affscore import AffscoreError
from affscore.linear_regions import along_paths, along_segments, closed_paths, of_data_set, of_paths
from affscore.network.parquet import read_parquet, write_parquet
from tests.linear_regions.architectures import network


@pytest.fixture(scope="module")
def paths():
    return closed_paths(torch.rand(3, 2, 8, 8, generator=torch.Generator().manual_seed(0)), anchors=4)


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
        np.testing.assert_allclose(rows["crossings_per_length"], found.crossings / found.length)
        for name in ("absolute_deviation", "deviation_upper_bound", "total_variation"):
            np.testing.assert_allclose(rows[name], getattr(found, name))
    assert table["crossings"].sum() > 100
    assert table["switches"].sum() > 50


def test_paths_are_sums_of_segments(table):
    found = of_paths(table)
    assert len(found) == 3 * 3
    for _, row in found.iterrows():
        part = table[(table["path"] == row["path"]) & (table["logit"] == row["logit"])]
        for name in ("length", "crossings", "breakpoints", "absolute_deviation", "total_variation"):
            assert row[name] == pytest.approx(part[name].sum())
        assert row["switches_per_length"] == pytest.approx(part["switches"].sum() / part["length"].sum())


def test_a_data_set_is_described_by_means(table):
    over_segments = of_data_set(table).set_index("measure")
    each = table.groupby(["path", "segment"])["absolute_deviation"].mean()
    assert over_segments.loc["absolute_deviation", "mean"] == pytest.approx(each.mean())
    assert over_segments.loc["absolute_deviation", "std"] == pytest.approx(each.std())
    assert set(over_segments["count"]) == {12}
    over_paths = of_data_set(of_paths(table)).set_index("measure")
    assert set(over_paths["count"]) == {3}
    assert over_paths.loc["crossings", "mean"] == pytest.approx(4 * over_segments.loc["crossings", "mean"])
    assert np.isnan(of_data_set(of_paths(table[table["path"] == 0])).set_index("measure").loc["length", "std"])


def test_the_walk_makes_the_same_table(model, paths, table):
    pd.testing.assert_frame_equal(along_paths(model, paths[:1], "walk", progress=False), table[table["path"] == 0])


def test_a_file_holds_a_table(table, tmp_path):
    write_parquet(table, {"model": "mixed"}, [], tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(read_parquet(tmp_path / "table.parquet")[0], table)
    assert all(dtype.kind in "if" for dtype in table.dtypes)


def test_what_is_no_path_and_no_table(model, table):
    with pytest.raises(AffscoreError, match="with 2 points at least, got the shape"):
        along_paths(model, torch.zeros(3, 1, 2, 8, 8))
    with pytest.raises(AffscoreError, match="start and end of segment 1 of path 0 are the same"):
        along_paths(model, torch.stack([torch.zeros(2, 8, 8), torch.ones(2, 8, 8), torch.ones(2, 8, 8)])[None])
    with pytest.raises(AffscoreError, match="lacks numbers in crossings"):
        of_paths(table.drop(columns="crossings"))
    with pytest.raises(AffscoreError, match="lacks numbers in length"):
        of_data_set(table.assign(length="a"))
    for wrong in (3, None, [], table[:0]):
        with pytest.raises(AffscoreError, match="expected a table of along_paths"):
            of_paths(wrong)
    for wrong in (None, 1j * torch.zeros(1, 2, 3), torch.zeros(1, 2, 3) > 0):
        with pytest.raises(AffscoreError, match="paths must"):
            along_paths(model, wrong)


def test_arrays_and_lists_are_paths(model, paths, table):
    for same in (paths[:1].numpy(), paths[:1].tolist()):
        pd.testing.assert_frame_equal(along_paths(model, same, progress=False), table[table["path"] == 0])
