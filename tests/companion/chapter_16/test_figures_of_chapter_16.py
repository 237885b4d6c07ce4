"""Figures of notebook 16."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from companion.chapter_16.figures import accuracy_curves, core_network


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def trainings():
    """Two tasks, two ways, two weights, two seeds."""
    rows = [
        {"task": task, "when": when, "omega": omega, "seed": seed, "napl": 4 - omega + seed,
         "accuracy": 0.9 - omega / 10}
        for task in ("digits", "sum") for when in ("early", "late") for omega in (1, 2) for seed in (0, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_a_line_joins_the_means_of_each_weight_and_a_point_is_a_training():
    figure = accuracy_curves(trainings(), "napl", "when", "task", "omega", "NAPL (units)")
    digits, other = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["digits", "sum"]
    assert digits.get_xlabel() == other.get_xlabel() == "NAPL (units)"
    line, points, late, _ = digits.lines
    assert line.get_xydata().ravel().tolist() == pytest.approx([2.5, 70, 3.5, 80])
    assert len(points.get_xdata()) == 4
    assert line.get_color() == points.get_color() != late.get_color()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["early", "late"]


def test_one_series_needs_no_legend():
    late = trainings().query("when == 'late'")
    assert accuracy_curves(late, "napl", "when", "task", "omega", "NAPL").legends == []


def test_the_core_lies_in_the_middle_of_each_activation():
    table = pd.DataFrame(
        {"index": [0, 1, 0, 1], "channels": [8, 16] * 2, "active": [8, 3, 6, 0], "task": "digits", "seed": [1, 1, 2, 2]}
    )
    (axes,) = core_network(table, "task").axes
    every, kept = axes.patches[:2], axes.patches[2:]
    assert [bar.get_height() for bar in every] == [8, 16]
    assert [bar.get_height() for bar in kept] == [7, 1.5]
    assert all(bar.get_y() == -bar.get_height() / 2 for bar in (*every, *kept))
    assert [text.get_text() for text in axes.texts] == ["7", "2"]
