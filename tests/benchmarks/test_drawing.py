"""What the figures of the benchmarks show: the numbers of their files, or that these are missing."""

import numpy as np
import pytest
from drawing import score_memory, score_times, signature_ratios, speed_ups
from matplotlib.legend import Legend
from reading import read_benchmark, read_benchmarks

from affscore.figures.style import PAGE_WIDTH
from tests.benchmark_files import affinity_rows, signature_rows, write


@pytest.fixture
def affinity(tmp_path):
    return read_benchmark(write(tmp_path, "affinity", affinity_rows()))


@pytest.fixture
def signatures(tmp_path):
    return read_benchmark(write(tmp_path, "signature", signature_rows()))


def legend_entries(figure):
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]


def curves(axes):
    return [container.lines[0].get_xydata() for container in axes.containers]


@pytest.mark.parametrize(("draw", "column"), [(score_times, "{}_best"), (score_memory, "memory_mb_{}")])
def test_a_line_for_each_number_of_points_and_a_panel_for_each_route(affinity, draw, column):
    figure = draw(affinity)
    assert figure.get_figwidth() == PAGE_WIDTH
    assert [axes.get_title() for axes in figure.axes] == ["affscore", "reference"]
    assert legend_entries(figure) == ["n = 128", "n = 512"]
    for axes, route in zip(figure.axes, ("affscore", "textbook"), strict=True):
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        for drawn, (_, rows) in zip(curves(axes), affinity.table.groupby("n"), strict=True):
            expected = rows[["d", column.format(route)]].dropna().to_numpy()
            np.testing.assert_allclose(drawn, expected)
    assert len(curves(figure.axes[1])[0]) == 5  # the two widest were too slow


def test_bars_reach_to_the_largest_time(affinity):
    _, _, (bars,) = score_times(affinity).axes[0].containers[0].lines
    for segment, (_, row) in zip(bars.get_segments(), affinity.table.iterrows(), strict=False):
        np.testing.assert_allclose(segment[:, 1], [row["affscore_best"], row["affscore_largest"]])


def test_speed_ups_and_goals(affinity):
    figure = speed_ups(affinity, {256: 12, 2048: 50})
    (axes,) = figure.axes
    np.testing.assert_allclose(curves(axes)[1][:, 1], affinity.table.query("n == 512")["ratio"].dropna())
    goals = [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() == "_"]
    assert goals == [[256, 12], [2048, 50]]
    assert "goal for n = 512" in legend_entries(figure)
    assert "goal for n = 512" not in legend_entries(speed_ups(affinity))


def test_ratios_of_signatures_and_goals(signatures):
    figure = signature_ratios(signatures, {"vit_b_16": (1.1, 1.3), "alexnet": (1.0, 1.0)})
    (axes,) = figure.axes
    scores, criteria = axes.containers
    assert [bar.get_width() for bar in scores] == [1.05, 1.06]
    assert [bar.get_width() for bar in criteria] == [1.2, 1.21]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["resnet18", "vit_b_16"]
    assert [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "|"] == [1.1, 1.3]
    assert [text.get_text() for text in axes.texts] == ["1.05", "1.06", "1.20", "1.21"]
    for spreads, bars in zip(axes.collections, (scores, criteria), strict=True):
        first, older = spreads.get_segments()
        np.testing.assert_allclose(first, [[1.0, bars[0].get_y() + 0.18], [1.5, bars[0].get_y() + 0.18]])
        assert older.size == 0


@pytest.mark.parametrize(
    ("draw", "name"),
    [(score_times, "affinity"), (score_memory, "affinity"), (speed_ups, "affinity"), (signature_ratios, "gpu")],
)
def test_a_missing_file_is_said(tmp_path, draw, name):
    benchmark = read_benchmarks(tmp_path)[name]
    assert {text.get_text() for axes in draw(benchmark).axes for text in axes.texts} == {benchmark.note}


def test_what_was_not_measured_is_said(tmp_path):
    rows = [{**row, "memory_mb": {"affscore": 0.0}} for row in affinity_rows(slowest=0)]
    benchmark = read_benchmark(write(tmp_path, "affinity", rows))
    ours, theirs = score_times(benchmark).axes
    assert len(curves(ours)) == 2
    assert [text.get_text() for text in theirs.texts] == ["not measured"]
    for figure in (speed_ups(benchmark), score_memory(benchmark)):
        assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["not measured"] * len(figure.axes)
        figure.canvas.draw()
