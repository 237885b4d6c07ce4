"""Names that a figure could take for a formula, or for nothing."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from companion.clustering import linkage
from companion.figures import dendrogram, distance_heatmap

NAMES = [r"$\frac{1$", "cost$_a$", "_hidden", r"a_b^c\d", "$5", "100 % # & ~ {}"]
DISTANCES = pd.DataFrame(np.abs(np.subtract.outer(range(6), range(6))) / 6, NAMES, NAMES)


@pytest.mark.parametrize(
    "draw", [lambda: distance_heatmap(DISTANCES), lambda: dendrogram(linkage(DISTANCES), NAMES, NAMES)]
)
def test_names_in_figures_are_shown_letter_by_letter(draw, tmp_path):
    figure = draw()
    with plt.rc_context({"svg.fonttype": "none"}):
        figure.savefig(tmp_path / "x.svg")
    plt.close(figure)
    shown = (tmp_path / "x.svg").read_text()
    assert all(name.replace("&", "&amp;") in shown for name in NAMES)
