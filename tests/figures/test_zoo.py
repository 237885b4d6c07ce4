import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from affscore.errors import AffscoreError
from affscore.figures.zoo import zoo_accuracies

MODELS = pd.DataFrame(
    {
        "name": ["alone", "one", "vit", "another"],
        "accuracy": [99.0, 96.0, 97.0, 98.0],
        "accuracy_standard_error": [0.4, 0.8, 0.7, 0.6],
        "group": [None, "Residual", "ViTs", "Residual"],
    }
)
HARD = pd.DataFrame(
    [(name, seed, 10.0 * place + seed**2) for place, name in enumerate(MODELS["name"]) for seed in range(5)],
    columns=["name", "seed", "accuracy"],
)


@pytest.fixture
def figure():
    drawn = zoo_accuracies(MODELS, HARD)
    yield drawn
    plt.close(drawn)


def test_networks_of_one_group_are_together_in_the_order_of_the_table(figure):
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["one", "another", "vit", "alone"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Residual", "ViTs", "no group"]


def test_accuracies_have_bars_of_one_standard_error(figure):
    residual = figure.axes[0].containers[0]
    np.testing.assert_array_equal(residual.lines[0].get_xdata(), [96.0, 98.0])
    (bars,) = residual.lines[2]
    np.testing.assert_allclose([bar[:, 0] for bar in bars.get_segments()], [[95.2, 96.8], [97.4, 98.6]])


def test_each_seed_is_a_dot_and_each_mean_a_marker(figure):
    right = figure.axes[1]
    dots = np.concatenate([dots.get_offsets() for dots in right.collections])
    assert len(dots) == len(HARD)
    means = {y: x for line in right.lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    assert means == {0: 16.0, 1: 36.0, 2: 26.0, 3: 6.0}


def test_groups_can_be_told_apart_without_colour(figure):
    assert len({line.get_marker() for line in figure.axes[1].lines}) == 3


def test_a_network_without_a_result_is_refused():
    with pytest.raises(AffscoreError, match="got none for vit"):
        zoo_accuracies(MODELS, HARD[HARD["name"] != "vit"])
