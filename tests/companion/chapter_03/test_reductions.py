"""The reductions against each other, against the printed values and against the limit."""

import numpy as np
import pytest

from companion.activations import ACTIVATIONS, limit_score
from companion.chapter_03.measurements import reduction_scores
from companion.printed import printed_table


class TestReductions:
    def test_figure_7_top_left(self):
        scores = reduction_scores(points=500, channels=100, positions=4)
        printed = printed_table("figure7_activation_scores")["reduced_mean"]
        for reduction in ("mean", "sum", "flatten"):
            assert (scores[reduction] - printed).abs().max() < 0.02
        np.testing.assert_allclose(scores["mean"], scores["sum"], atol=1e-9)

    def test_reduce_first_is_the_limit_of_a_narrow_input(self):
        scores = reduction_scores(["tanh", "silu"], points=300, channels=100, positions=9)
        for name in ("tanh", "silu"):
            expected = limit_score(ACTIVATIONS[name], 0.0, 1 / 3)
            assert scores.loc[name, "reduce_first"] == pytest.approx(expected, abs=0.01)

    def test_some_of_the_reductions(self):
        chosen = ["flatten", "mean"]
        some = reduction_scores(["relu"], points=60, channels=10, reductions=chosen)
        assert list(some.columns) == chosen
        assert some.equals(reduction_scores(["relu"], points=60, channels=10)[chosen])
