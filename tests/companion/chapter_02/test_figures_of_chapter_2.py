"""What the figures of notebooks 2 and 3 show: the numbers of their tables, named, and nothing left behind."""

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib import pyplot as plt
from matplotlib.legend import Legend

from affscore.plots.style import PAGE_WIDTH
from companion.activations import activation_graphs
from companion.chapter_02.figures import activation_domain, activity


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
        graphs = activation_graphs({"relu": torch.relu, "silu": torch.sigmoid, "cube": lambda x: x**3})
        assert activation_domain(renamed, graphs).axes[2].get_title() == "cube"

    def test_empty(self, domain):
        assert not plt.get_fignums()


class TestActivity:
    def test_points_and_curve(self):
        table = pd.DataFrame({"zeros": [0.5, 0.9], "score": [0.62, 0.4], "group": ["a", "b"]})
        figure = activity(table, pd.Series({0.4: 0.7, 0.95: 0.3}))
        (axes,) = figure.axes
        np.testing.assert_allclose(axes.collections[0].get_offsets(), [[50, 0.62], [90, 0.4]])
        np.testing.assert_allclose(axes.lines[-1].get_xydata(), [[40, 0.7], [95, 0.3]])
        assert legend_entries(figure) == ["a", "b", "normal input"]
