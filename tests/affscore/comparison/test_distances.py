import numpy as np
import pytest
from dtaidistance import dtw
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import describe

from affscore.comparison import distance_matrix, signature_distance, signature_statistics
from affscore.errors import AffscoreError

scores = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(scores, scores)
def test_the_distance_is_that_of_dtaidistance(a, b):
    assert signature_distance(a, b) == pytest.approx(dtw.distance(a, b), abs=1e-12)


@given(st.lists(scores, min_size=2, max_size=4))
def test_the_matrix_holds_the_distances_of_all_pairs(several):
    named = {f"network {i}": values for i, values in enumerate(several)}
    matrix = distance_matrix(named)
    for one, values in named.items():
        for other, more in named.items():
            assert matrix.loc[one, other] == signature_distance(values, more)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=9))
def test_statistics_are_those_of_scipy(values):
    row = signature_statistics({"a": values}).loc["a"]
    expected = describe(values, ddof=0)
    assert row["activations"] == expected.nobs
    assert (row["min"], row["max"]) == expected.minmax
    assert row["mean"] == pytest.approx(expected.mean)
    assert row["std"] ** 2 == pytest.approx(expected.variance, abs=1e-12)
    assert row["max/median"] == pytest.approx(max(values) / np.median(values))
    assert row["max/mean"] == pytest.approx(max(values) / np.mean(values))


def test_a_ratio_to_zero_is_missing():
    assert signature_statistics({"a": [0.0, 0.0]})["max/mean"].isna().all()
    assert signature_statistics({"a": [0.0, 0.0, 1.0]})["max/median"].isna().all()


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([], "one score for each activation"),
        ([[0.5]], "one score for each activation"),
        ([0.5, np.nan], "no score for 1 of 2"),
        ([0.5, 1.5], r"scores in \[0, 1\]"),
        ([0.5, -0.1], r"scores in \[0, 1\]"),
    ],
)
def test_what_is_no_signature_is_refused_by_its_name(values, complaint):
    for function in (distance_matrix, signature_statistics):
        with pytest.raises(AffscoreError, match=f"^resnet18 .*{complaint}"):
            function({"resnet18": values, "b": [0.5]})
