"""The figures of chapter 1 show the numbers of the library, and every point."""

import numpy as np
import pytest
import torch
from drawn import legend_entries, points, titles
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection

from affscore import affinity_score
from affscore.transport import affine_map, covariance, optimal_coupling, wasserstein
from companion.chapter_01.figures import activation_panels, coupling, scheme
from companion.chapter_01.measurements import score_steps
from companion.style import FIT, INPUT, OUTPUT


def relu(x):
    return np.maximum(x, 0)


@pytest.fixture
def clouds():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((40, 2)) @ np.array([[1.0, 0.4], [0.0, 0.8]])
    z = relu(x) @ rng.standard_normal((2, 2)) - 0.2
    return [(x, relu(x)), (z, relu(z)), (x, np.tanh(x))]


def segments(axes):
    (lines,) = [artist for artist in axes.collections if isinstance(artist, LineCollection)]
    return np.array(lines.get_segments())


@pytest.mark.parametrize("name", ["empirical", "ledoit-wolf"])
def test_the_scheme_has_the_scores_of_the_library_and_the_steps_to_one_of_them(clouds, name):
    figure = scheme([score_steps(x, y, name) for x, y in clouds], shown=1, names=["ReLU 1", "ReLU 2", "Tanh"])
    scores = [affinity_score(x, y, name) for x, y in clouds]
    expected = zip(["ReLU 1", "ReLU 2", "Tanh"], scores, strict=True)
    assert titles(figure)[:3] == [f"{title}\n$\\rho$ = {score.value:.2f}" for title, score in expected]
    texts = "\n".join(text.get_text() for text in figure.findobj(plt.Text))
    assert f"signature = [ {',  '.join(f'{score.value:.2f}' for score in scores)} ]" in texts
    cost, size = scores[1].w2, float(2 * covariance(clouds[1][1], name).trace()) ** 0.5
    steps = figure.axes[3:]
    assert f"{cost:.2f}" in steps[2].get_xlabel()
    assert f"{size:.2f}" in steps[3].get_xlabel()
    assert f"{cost:.2f} / {size:.2f} = {scores[1].value:.2f}" in texts
    assert legend_entries(figure) == ["input $X$", "output $Y$", "affine fit $T(X)$", "optimal coupling"]


def test_every_point_pair_and_deviation_is_drawn(clouds):
    x, y = clouds[0]
    first, second, third, fourth = scheme([score_steps(*pair) for pair in clouds]).axes[3:]
    image = affine_map(x, y)(x).numpy()
    for axes, colour, cloud in [
        (first, INPUT, x), (first, OUTPUT, y), (second, FIT, image), (third, FIT, image), (third, OUTPUT, y),
        (fourth, OUTPUT, y),
    ]:  # fmt: skip
        np.testing.assert_allclose(points(axes, colour), cloud)
    squared = np.square(np.diff(segments(third), axis=1)).sum(axis=(1, 2))
    assert len(squared) == len(x)
    assert np.sqrt(squared.mean()) == pytest.approx(affinity_score(x, y).w2)
    arrows = [text for text in fourth.texts if text.arrow_patch is not None]
    lengths = [np.linalg.norm(np.subtract(arrow.xy, arrow.xyann)) for arrow in arrows]
    np.testing.assert_allclose(sorted(lengths), np.sqrt(np.linalg.eigvalsh(covariance(y).numpy())))


def test_panels_of_activations_have_scores_samples_fits_and_histograms():
    cases = [
        ("ReLU", relu, np.linspace(-2, 3, 60)),
        ("Tanh", np.tanh, np.linspace(-4, 4, 70)),
        ("$x^2$", np.square, np.linspace(-1, 1, 80)),
        ("flat", relu, np.linspace(-5, -1, 30)),
    ]
    panels = [(name, function, score_steps(x, function(x))) for name, function, x in cases]
    figure = activation_panels(panels, columns=2, domain=(-10, 10))
    expected = [float(affinity_score(x[:, None], function(x)[:, None])) for _, function, x in cases]
    assert titles(figure)[::2] == [
        f"{name}\n$\\rho$ = {score:.2f}" for (name, *_), score in zip(cases, expected, strict=True)
    ]
    function, samples, fit = figure.axes[0].lines
    x = cases[0][2]
    np.testing.assert_allclose(samples.get_xydata(), np.column_stack([x, relu(x)]))
    assert (function.get_xdata().min(), function.get_xdata().max()) == (-10, 10)
    transport = affine_map(x[:, None], relu(x)[:, None])
    np.testing.assert_allclose(fit.get_ydata(), transport(x[[0, -1], None]).numpy()[:, 0])
    for side in figure.axes[1::2]:
        assert [stairs.get_data().values.sum() for stairs in side.patches] == pytest.approx([1, 1])
    assert [axes.get_xlabel() for axes in figure.axes[::2]] == ["", "", "$x$", "$x$"]
    assert len(legend_entries(figure)) == 5


def test_a_coupling_has_both_costs_and_all_pairs():
    x = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    y = np.array([[2.0, 2.0], [0.0, 1.0], [1.0, 1.0]])
    best = optimal_coupling(torch.from_numpy(x), torch.from_numpy(y))
    figure = coupling(x, y, best)
    for axes, cost in zip(figure.axes, (best.pairing_cost, wasserstein(x, y) ** 2), strict=True):
        assert f"{cost:.2f}" in axes.get_title()
        np.testing.assert_allclose(points(axes, INPUT), x)
        np.testing.assert_allclose(points(axes, OUTPUT), y)
        assert np.square(np.diff(segments(axes), axis=1)).sum() / 3 == pytest.approx(cost)
