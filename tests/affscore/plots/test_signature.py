import matplotlib.pyplot as plt
import numpy as np
import pytest

from affscore.comparison import distance_matrix
from affscore.plots import compared_signatures

SCORES = {"one": [0.5, 0.6, 0.9], "two": [0.7, 0.8], "three": [0.4]}


@pytest.fixture
def figure():
    drawn = compared_signatures(SCORES, distance_matrix(SCORES))
    yield drawn
    plt.close(drawn)


def test_every_signature_is_a_line_over_the_relative_depth(figure):
    lines = figure.axes[0].lines
    assert [line.get_label() for line in lines] == list(SCORES)
    for line, scores in zip(lines, SCORES.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), scores)
    assert [line.get_xdata().tolist() for line in lines] == [[0, 0.5, 1], [0, 1], [0.5]]


def test_sixteen_signatures_still_look_different():
    scores = {str(number): [0.5, number / 20] for number in range(16)}
    drawn = compared_signatures(scores, distance_matrix(scores))
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in drawn.axes[0].lines}
    plt.close(drawn)
    assert len(looks) == 16


def test_the_matrix_prints_every_distance(figure):
    written = [text.get_text() for text in figure.axes[1].texts]
    assert written == [f"{value:.2f}" for value in distance_matrix(SCORES).to_numpy().ravel()]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(SCORES)


@pytest.mark.parametrize("name", [r"$\frac{1$", "cost$_a$", "_hidden", r"a_b^c\d", "$5", "100 % # & ~ {}"])
def test_names_are_shown_letter_by_letter(name, tmp_path):
    scores = {name: [0.5, 0.6], "b": [0.7, 0.8]}
    drawn = compared_signatures(scores, distance_matrix(scores))
    with plt.rc_context({"svg.fonttype": "none"}):
        drawn.savefig(tmp_path / "x.svg")
    plt.close(drawn)
    assert name.replace("&", "&amp;") in (tmp_path / "x.svg").read_text()
    assert len(drawn.legends[0].get_texts()) == 2
