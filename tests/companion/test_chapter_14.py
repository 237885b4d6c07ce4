"""What the figures of notebook 14 show: each activation once, means and bands over seeds."""

import numpy as np
import pandas as pd
import pytest
from drawn import legend_entries, titles

from companion.chapter_14 import scores_along

TABLE = pd.DataFrame(
    [
        (step, index, seed, 0.9 - 0.001 * step - 0.05 * index + 0.01 * (seed - 2))
        for step in (0, 50, 100)
        for index in (0, 1)
        for seed in (1, 2, 3)
    ],
    columns=["step", "index", "seed", "score"],
)


def test_a_line_is_the_mean_over_seeds_and_the_band_reaches_from_least_to_most():
    lower = TABLE[TABLE["index"] == 1].assign(score=lambda rows: rows["score"] - 0.1)
    figure = scores_along({"plain": TABLE, "$gated": lower}, "step", "steps")
    first, second = figure.axes
    np.testing.assert_allclose(first.lines[1].get_xydata(), [[0, 0.85], [50, 0.8], [100, 0.75]])
    np.testing.assert_allclose(second.lines[0].get_ydata(), [0.75, 0.7, 0.65])
    assert np.array_equal(second.lines[0].get_color(), first.lines[1].get_color())  # of the activation that is there
    band = first.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == pytest.approx((0.79, 0.91))
    assert legend_entries(figure) == ["activation 1", "activation 2"]
    assert titles(figure) == ["plain", r"\$gated"]
    low, high = first.get_ylim()
    assert low < lower["score"].min()
    assert high > TABLE["score"].max()
