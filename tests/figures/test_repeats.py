import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from affscore import AffscoreError
from affscore.figures import against_batch_size, repeated_signatures


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def signatures(*sizes):
    return pd.concat(pd.DataFrame({"index": [1, 0], "n": n, "score": [0.5, n / 1000]}) for n in sizes)


def curves():
    rows = [(n, data, name, factor / n) for data in ("digits", "photos") for name, factor in (("a", 1), ("b", 2))
            for n in (128, 32, 64)]  # fmt: skip
    return pd.DataFrame(rows, columns=["n", "data", "model", "bias"]).assign(error=0.001)


def test_a_line_for_each_size_in_the_order_of_the_activations():
    figure = repeated_signatures({"a": signatures(64, 32), "b": signatures(64)}, "n", label="n = ")
    first, second = figure.axes
    assert [line.get_xdata().tolist() for line in first.lines] == [[1, 2], [1, 2]]
    assert [line.get_ydata().tolist() for line in first.lines] == [[0.032, 0.5], [0.064, 0.5]]
    assert [axes.get_title() for axes in figure.axes] == ["a", "b"]
    assert first.get_ylim()[0] == 0  # the smallest score is 0.03
    assert first.get_ylim()[1] > 0.5
    # a size has its colour in every panel, and no other has it
    assert np.array_equal(second.lines[0].get_color(), first.lines[1].get_color())
    assert not np.array_equal(first.lines[0].get_color(), first.lines[1].get_color())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["n = 32", "n = 64"]


def test_there_is_a_line_at_zero_and_bars_are_errors():
    rows = curves()
    rows.loc[(rows["model"] == "b") & (rows["data"] == "photos"), "bias"] = np.nan
    figure = against_batch_size(rows, "bias", panels="data", series="model", ylabel="bias", error="error")
    left, right = figure.axes
    assert (len(left.containers), len(right.containers)) == (2, 1)
    (bars,) = left.containers[0].lines[2]
    assert [round(float(np.ptp(one[:, 1])), 6) for one in bars.get_segments()] == [0.002] * 3
    assert left.get_yscale() == "linear"
    assert any(set(line.get_ydata()) == {0} for line in left.lines)
    # the look of a network does not depend on the panel
    assert left.containers[0].lines[0].get_color() == right.containers[0].lines[0].get_color()


def test_nothing_to_draw():
    with pytest.raises(AffscoreError, match="no signature"):
        repeated_signatures({}, "n")
    with pytest.raises(AffscoreError, match="no number"):
        against_batch_size(curves().assign(bias=np.nan), "bias", panels="data", series="model", ylabel="")
