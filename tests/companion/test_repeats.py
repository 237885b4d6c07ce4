import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from companion.figures import repeated_signatures


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def signatures(*sizes):
    return pd.concat(pd.DataFrame({"index": [1, 0], "n": n, "score": [0.5, n / 1000]}) for n in sizes)


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
