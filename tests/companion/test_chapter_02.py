"""Activation functions over their domain: the sweep against the limit, and the figures against their tables."""

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import legend_entries, titles

from affscore import affinity_score
from companion.activations import activation_graphs, limit_score
from companion.chapter_02.figures import activation_domain, activity
from companion.chapter_02.measurements import domain_summary, domain_sweep


def test_a_row_is_the_score_of_the_library():
    table = domain_sweep(["tanh", "relu"], [0.0, -20.0], [1.0, 0.1], points=40, width=7, seed=3)
    assert table["activation"].tolist() == ["tanh"] * 4 + ["relu"] * 4
    assert table[["mean", "std"]].values.tolist()[:4] == [[0.0, 1.0], [0.0, 0.1], [-20.0, 1.0], [-20.0, 0.1]]
    x = torch.from_numpy(0.1 * np.random.default_rng((3, 0, 1)).standard_normal((40, 7)))
    score = affinity_score(x, torch.tanh(x))
    expected = {"score": score.value, "raw": score.raw, "limit": limit_score(torch.tanh, 0.0, 0.1), "constant": False}
    assert table.loc[1, [*expected]].to_dict() == expected
    assert table.loc[table["constant"], "score"].tolist() == [1] * 4  # of both functions at -20


def test_the_summary_of_a_domain():
    table = pd.DataFrame(
        {
            "activation": ["a"] * 4 + ["b"] * 4,
            "mean": [0, 0, 1, 1] * 2,
            "std": [1, 2] * 4,
            "score": [0.2, 0.4, 0.9, 1.0, 1.0, 1.0, 1.0, 0.94],
            "constant": [False] * 3 + [True] + [True] * 2 + [False] * 2,
        }
    )
    summary = domain_summary(table, threshold=0.95)
    assert summary.loc["a"].tolist() == pytest.approx([0.2, 0, 1, 1, 2, 0.625, 0.25])
    assert summary.loc["b"].tolist() == pytest.approx([0.94, 1, 2, 0, 1, 0.985, 0.5])


def test_the_figure_of_the_domain_has_every_score_and_graph():
    names, stds = ("relu", "cube", "silu"), (1.0, 0.5, 0.1)
    rows = [(name, mean, std) for name in names for mean in (-4.0, 0.0, 4.0) for std in stds]
    table = pd.DataFrame(rows, columns=["activation", "mean", "std"]).assign(limit=0.5, constant=False)
    table["score"] = np.random.default_rng(1).uniform(size=len(table))
    graphs = activation_graphs({"relu": torch.relu, "cube": lambda x: x**3, "silu": torch.sigmoid}, -5, 5)
    figure = activation_domain(table, graphs, columns=2)
    assert titles(figure)[::2] == ["ReLU", "cube", "SiLU"]
    for axes, name in zip(figure.axes[1::2], names, strict=True):
        lines = {line.get_label(): line for line in axes.lines}
        for std in stds:
            expected = table[(table["activation"] == name) & (table["std"] == std)][["mean", "score"]]
            np.testing.assert_allclose(lines[f"std {std:g}"].get_xydata(), expected)
    (line,) = figure.axes[2].lines
    np.testing.assert_allclose(line.get_ydata(), line.get_xdata() ** 3)
    assert (line.get_xdata().min(), line.get_xdata().max()) == (-5, 5)
    assert legend_entries(figure) == ["std 0.1", "std 0.5", "std 1"]
    assert len({axes.get_ylim() for axes in figure.axes[1::2]}) == 1


def test_activity_beside_the_score_of_normal_input():
    table = pd.DataFrame({"zeros": [0.5, 0.9], "score": [0.62, 0.4], "family": ["a", "b"]})
    figure = activity(table, pd.Series({0.4: 0.7, 0.95: 0.3}))
    (axes,) = figure.axes
    np.testing.assert_allclose(axes.collections[0].get_offsets(), [[50, 0.62], [90, 0.4]])
    np.testing.assert_allclose(axes.lines[-1].get_xydata(), [[40, 0.7], [95, 0.3]])
    assert legend_entries(figure) == ["a", "b", "normal input"]
