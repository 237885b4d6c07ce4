"""What the figures of notebooks 2 and 3 show: the numbers of their tables, named, and nothing left behind."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.legend import Legend

from companion.chapter_03.figures import bias_against_points, drift, reductions


@pytest.fixture
def sweep():
    rows = [
        (name, 0.0, width, 50, covariance, 0.5 + width / 1000)
        for name in ("relu", "tanh")
        for width in (25, 50, 100)
        for covariance in ("empirical", "ledoit-wolf")
    ]
    return pd.DataFrame(rows, columns=["activation", "exponent", "width", "points", "covariance", "score"])


@pytest.fixture
def biases():
    rows = [
        ("relu", exponent, 64, covariance, ratio, 0.1 / ratio, 0.01 / ratio)
        for exponent in (0.0, 1.5)
        for covariance in ("empirical", "ledoit-wolf")
        for ratio in (0.25, 1.0, 4.0)
    ]
    columns = ["activation", "exponent", "width", "covariance", "ratio", "bias", "spread"]
    return pd.DataFrame(rows, columns=columns)


def legend_entries(figure):
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]


class TestReductions:
    table = pd.DataFrame({"mean": [0.6, 0.8], "sum": [0.61, 0.81], "other": [0.1, 0.2]}, index=["relu", "tanh"])

    def test_markers_and_names(self):
        figure = reductions(self.table, {"mean": "average", "sum": "sum"})
        (axes,) = figure.axes
        np.testing.assert_allclose(axes.collections[0].get_offsets(), [[0.6, 0], [0.8, 1]])
        np.testing.assert_allclose(axes.collections[1].get_offsets(), [[0.61, 0], [0.81, 1]])
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["ReLU", "Tanh"]
        assert legend_entries(figure) == ["average", "sum"]
        assert axes.yaxis_inverted()


class TestDrift:
    def test_curves_and_printed_values(self, sweep):
        printed = pd.DataFrame({"empirical": [0.7, 0.9]}, index=["relu", "tanh"])
        first, second = drift(sweep, printed).axes
        assert [first.get_title(), second.get_title()] == ["empirical covariance", "Ledoit-Wolf shrinkage"]
        curves = [line for line in first.lines if len(line.get_xdata()) > 1]
        for curve in curves:
            np.testing.assert_allclose(curve.get_xdata(), [0.5, 1, 2])
            np.testing.assert_allclose(curve.get_ydata(), [0.525, 0.55, 0.6])
        assert sorted(line.get_ydata()[0] for line in first.lines if len(line.get_xdata()) == 1) == [0.7, 0.9]
        assert all(len(line.get_xdata()) > 1 for line in second.lines)

    def test_nine_series_differ(self, sweep):
        nine = pd.concat(sweep[sweep["activation"] == "relu"].assign(activation=str(k)) for k in range(9))
        lines = drift(nine).axes[0].lines
        looks = {(line.get_color(), line.get_marker(), line.get_markerfacecolor()) for line in lines}
        assert len(looks) == 9

    def test_repeats_are_averaged(self, sweep):
        twice = pd.concat([sweep, sweep.assign(score=sweep["score"] + 0.1)])
        np.testing.assert_allclose(drift(twice).axes[0].lines[0].get_ydata(), [0.575, 0.6, 0.65])


class TestBias:
    def test_curves_bars_and_theory(self, biases):
        figure = bias_against_points(biases, pd.Series({0.25: 0.2, 4.0: 0.01}), tolerance=0.02)
        assert [axes.get_title() for axes in figure.axes] == ["independent coordinates", "spectrum $k^{-1.5}$"]
        for axes in figure.axes:
            assert len(axes.containers) == 2
            for container in axes.containers:
                line, _, (bars,) = container.lines
                np.testing.assert_allclose(line.get_xydata(), [[0.25, 0.4], [1, 0.1], [4, 0.025]])
                lengths = [float(np.ptp(segment[:, 1].astype(float))) for segment in bars.get_segments()]
                np.testing.assert_allclose(lengths, [0.08, 0.02, 0.005])
            theory = next(line for line in axes.lines if "first order" in str(line.get_label()))
            np.testing.assert_allclose(theory.get_xydata(), [[0.25, 0.2], [4, 0.01]])
            assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1/4", "1", "4"]

    def test_lines_can_be_left_out(self, biases):
        figure = bias_against_points(biases, tolerance=None)
        assert legend_entries(figure) == ["empirical covariance", "Ledoit-Wolf shrinkage"]
