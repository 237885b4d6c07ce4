"""Correlations within kinds of activations, against NumPy's over each part."""

import numpy as np
import pandas as pd
import pytest

from affscore.analysis import correlations_by_kind
from affscore.errors import AffscoreError


def network(seed, kinds):
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "kind": kinds,
            "score": generator.uniform(0.3, 0.9, len(kinds)),
            "cka": generator.uniform(0, 1, len(kinds)),
            "norm": 1.0,
        }
    )


def test_each_part_is_that_of_its_activations():
    one = network(0, ["first"] * 6 + ["after-sum"] * 5)
    one.loc[0, "score"] = np.nan  # an activation without a score is in no part
    table = correlations_by_kind({"a": one, "plain": network(1, ["hidden"] * 8)}, criteria=["cka", "norm"])
    assert list(table.index) == [("a", "all"), ("a", "after-sum"), ("a", "others")]
    assert table["activations"].tolist() == [10, 5, 5]
    for part, rows in (("all", one.iloc[1:]), ("after-sum", one.iloc[6:]), ("others", one.iloc[1:6])):
        expected = np.corrcoef(rows["score"], rows["cka"])[0, 1]
        assert table.loc[("a", part), "cka"] == pytest.approx(expected)
    assert table["norm"].isna().all()  # the same everywhere


def test_another_kind():
    table = correlations_by_kind({"a": network(2, ["gate"] * 4 + ["hidden"] * 5)}, "gate", ["cka"])
    assert table["activations"].tolist() == [9, 4, 5]


@pytest.mark.parametrize(
    ("summaries", "complaint"),
    [
        ({"a": network(3, ["hidden"] * 5)}, "activations of the kind 'after-sum'"),
        ({}, "activations of the kind 'after-sum'"),
        ({"a": network(3, ["hidden"] * 5).drop(columns="kind")}, "no column 'kind'"),
    ],
)
def test_networks_without_that_kind(summaries, complaint):
    with pytest.raises(AffscoreError, match=complaint):
        correlations_by_kind(summaries)
