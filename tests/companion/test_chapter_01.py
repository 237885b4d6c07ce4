"""The figures of chapter 1 show every point that they are given."""

import numpy as np
from drawn import legend_entries, points
from matplotlib.collections import LineCollection

from companion.chapter_01.figures import steps_of_a_score
from companion.style import FIT, INPUT, OUTPUT


def relu(x):
    return np.maximum(x, 0)


def test_every_point_pair_and_deviation_is_drawn():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((40, 2)) @ np.array([[1.0, 0.4], [0.0, 0.8]])
    y, image = relu(x), x / 2
    partner = rng.permutation(y)
    figure = steps_of_a_score(x, y, image, partner, 0.25, 1.5)
    first, second, third, fourth = figure.axes
    for axes, colour, cloud in [
        (first, INPUT, x), (first, OUTPUT, y), (second, FIT, image), (third, FIT, image), (third, OUTPUT, y),
        (fourth, OUTPUT, y),
    ]:  # fmt: skip
        np.testing.assert_allclose(points(axes, colour), cloud)
    (lines,) = [artist for artist in third.collections if isinstance(artist, LineCollection)]
    np.testing.assert_allclose(lines.get_segments(), np.stack([image, partner], axis=1))
    arrows = [text for text in fourth.texts if text.arrow_patch is not None]
    lengths = [np.linalg.norm(np.subtract(arrow.xy, arrow.xyann)) for arrow in arrows]
    np.testing.assert_allclose(sorted(lengths), np.sqrt(np.linalg.eigvalsh(np.cov(y.T, bias=True))))
    assert third.get_title().endswith("0.25")
    assert fourth.get_title().endswith("1.50")
    assert legend_entries(figure) == ["input $X$", "output $Y$", "affine image $T(X)$"]
