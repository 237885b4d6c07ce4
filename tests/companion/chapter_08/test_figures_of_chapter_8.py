"""What the figures of notebooks 6 and 8 show: every network, in its family's look, with the numbers of its scores."""

import numpy as np
from matplotlib.colors import to_rgba

from companion.chapter_08 import score_distributions
from companion.style import family_styles

GENERATOR = np.random.default_rng(0)


SIGNATURES = {
    name: GENERATOR.uniform(0.3, 1, length)
    for name, length in {"alexnet": 7, "vgg11": 10, "resnet18": 17, "vit_b_16": 12, "swin_t": 3, "mine": 4}.items()
}


FAMILY_OF = ["Pure convnets", "Pure convnets", "ResNets", "ViTs", "Swins", "mine"]


def test_distributions_show_every_score():
    figure = score_distributions(SIGNATURES, FAMILY_OF)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(SIGNATURES)
    styles = family_styles(FAMILY_OF)
    points = [scatter for scatter in axes.collections if scatter.get_offsets().size and len(scatter.get_sizes())]
    assert len(points) == len(SIGNATURES)
    for place, (scatter, scores, family) in enumerate(zip(points, SIGNATURES.values(), FAMILY_OF, strict=True)):
        np.testing.assert_array_equal(scatter.get_offsets()[:, 1], scores)
        assert np.abs(scatter.get_offsets()[:, 0] - place).max() < 0.4
        assert tuple(scatter.get_facecolor()[0]) == to_rgba(styles[family][0])
    shapes = [shape for shape in axes.collections if shape not in points]
    assert len(shapes) == 1  # the networks with fewer than 15 scores have none
    assert axes.get_ylim()[0] > 0.2  # the smallest is 0.3


def test_equal_scores_have_no_density():
    axes = score_distributions({"flat": [0.5] * 19}, ["ViTs"]).axes[0]
    (points,) = axes.collections
    assert len(points.get_offsets()) == 19
    assert not axes.lines
