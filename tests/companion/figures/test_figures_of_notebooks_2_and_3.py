"""What the figures of notebooks 2 and 3 show: the numbers of their tables, named, and nothing left behind."""

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib import pyplot as plt
from matplotlib.legend import Legend

from affscore import AffscoreError
from affscore.plots.style import PAGE_WIDTH
from companion.experiments import activation_graphs
from companion.figures import activation_domain, activity, bias_against_points, drift, reductions


@pytest.fixture
def domain():
    rng = np.random.default_rng(1)
    rows = [
        (name, mean, std) for name in ("relu", "tanh", "silu") for mean in (-4.0, 0.0, 4.0) for std in (1.0, 0.5, 0.1)
    ]
    table = pd.DataFrame(rows, columns=["activation", "mean", "std"])
    table["score"], table["limit"] = rng.uniform(size=(2, len(table)))
    table["constant"] = False
    return table


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


GRAPHS = activation_graphs(["relu", "tanh", "silu"], -5, 5)


class TestActivationDomain:
    def test_every_score_and_the_baseline(self, domain):
        figure = activation_domain(domain, GRAPHS, {"relu": 0.31, "tanh": 0.41, "silu": 0.51})
        assert [axes.get_title() for axes in figure.axes[::2]] == ["ReLU", "Tanh", "SiLU"]
        for axes, name, baseline in zip(figure.axes[1::2], ("relu", "tanh", "silu"), (0.31, 0.41, 0.51), strict=True):
            of_std = domain[domain["activation"] == name].pivot_table(index="mean", columns="std", values="score")
            lines = {line.get_label(): line for line in axes.lines}
            for std, scores in of_std.items():
                np.testing.assert_allclose(lines[f"std {std:g}"].get_xdata(), [-4, 0, 4])
                np.testing.assert_allclose(lines[f"std {std:g}"].get_ydata(), scores)
            assert set(lines["baseline"].get_ydata()) == {baseline}

    def test_the_graph_is_the_function(self, domain):
        (line,) = activation_domain(domain, GRAPHS).axes[2].lines
        np.testing.assert_allclose(line.get_ydata(), np.tanh(line.get_xdata()))
        assert (line.get_xdata().min(), line.get_xdata().max()) == (-5, 5)

    def test_layout(self, domain):
        figure = activation_domain(domain, GRAPHS, pd.Series({"relu": 0.3, "tanh": 0.4, "silu": 0.5}), columns=2)
        assert figure.get_figwidth() == PAGE_WIDTH
        assert legend_entries(figure) == ["std 0.1", "std 0.5", "std 1", "baseline"]
        assert [axes.get_xlabel() for axes in figure.axes[1::2]] == ["", "mean of the input", "mean of the input"]
        assert len({axes.get_ylim() for axes in figure.axes[1::2]}) == 1

    def test_own_functions(self, domain):
        renamed = domain.replace({"activation": {"tanh": "cube"}})
        with pytest.raises(AffscoreError, match="no graph of 'cube'"):
            activation_domain(renamed, GRAPHS)
        graphs = activation_graphs({"relu": torch.relu, "silu": torch.sigmoid, "cube": lambda x: x**3})
        assert activation_domain(renamed, graphs).axes[2].get_title() == "cube"

    def test_empty(self, domain):
        with pytest.raises(AffscoreError, match="empty table"):
            activation_domain(domain[:0], GRAPHS)
        assert not plt.get_fignums()


class TestActivity:
    def test_points_and_curve(self):
        table = pd.DataFrame({"zeros": [0.5, 0.9], "score": [0.62, 0.4], "group": ["a", "b"]})
        figure = activity(table, pd.Series({0.4: 0.7, 0.95: 0.3}))
        (axes,) = figure.axes
        np.testing.assert_allclose(axes.collections[0].get_offsets(), [[50, 0.62], [90, 0.4]])
        np.testing.assert_allclose(axes.lines[-1].get_xydata(), [[40, 0.7], [95, 0.3]])
        assert legend_entries(figure) == ["a", "b", "normal input"]

    def test_empty(self):
        with pytest.raises(AffscoreError, match="empty table"):
            activity(pd.DataFrame(columns=["zeros", "score", "group"]), pd.Series(dtype=float))


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

    @pytest.mark.parametrize(("labels", "message"), [({"flat": "x"}, "no column 'flat'"), ({}, "empty table")])
    def test_bad_input(self, labels, message):
        with pytest.raises(AffscoreError, match=message):
            reductions(self.table, labels)


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

    def test_one_kind_of_sample(self, sweep):
        for mixed in (sweep[:0], pd.concat([sweep, sweep.assign(points=9)])):
            with pytest.raises(AffscoreError, match="one number of points"):
                drift(mixed)


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

    def test_one_activation(self, biases):
        for mixed in (biases[:0], pd.concat([biases, biases.assign(activation="tanh")])):
            with pytest.raises(AffscoreError, match="one activation"):
                bias_against_points(mixed)
