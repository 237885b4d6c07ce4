"""What the figures of notebook 14 show: each activation in each seed, and their mean."""

from itertools import product

import numpy as np
import pandas as pd
from drawn import legend_entries, titles

from companion.chapter_14 import scores_along

TABLE = pd.DataFrame(product((0, 50, 100), (0, 1), (1, 2, 3)), columns=["step", "index", "seed"])
TABLE["score"] = 0.9 - 0.001 * TABLE["step"] - 0.05 * TABLE["index"] + 0.01 * (TABLE["seed"] - 2)


def test_a_thin_line_is_a_seed_and_the_thick_one_the_mean_over_activations_and_seeds():
    lower = TABLE[TABLE["index"] == 1].assign(score=lambda rows: rows["score"] - 0.1)
    figure = scores_along({"plain": TABLE, "$gated": lower}, "step", "steps")
    first, second = figure.axes
    assert (len(first.lines), len(second.lines)) == (7, 4)
    np.testing.assert_allclose(first.lines[3].get_xydata(), [[0, 0.84], [50, 0.79], [100, 0.74]])
    np.testing.assert_allclose(first.lines[-1].get_xydata(), [[0, 0.875], [50, 0.825], [100, 0.775]])
    np.testing.assert_allclose(second.lines[-1].get_ydata(), [0.75, 0.7, 0.65])
    assert np.array_equal(second.lines[0].get_color(), first.lines[3].get_color())  # of the activation that is there
    assert first.lines[-1].get_linewidth() > 2 * first.lines[0].get_linewidth()
    assert legend_entries(figure) == ["activation 1", "activation 2", "mean"]
    assert titles(figure) == ["plain", r"\$gated"]
    low, high = first.get_ylim()
    assert low < lower["score"].min()
    assert high > TABLE["score"].max()
