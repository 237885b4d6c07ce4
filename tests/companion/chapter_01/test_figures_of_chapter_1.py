"""What the figures of notebook 1 show: the numbers of the library, every point, and names for what is drawn."""

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb

from affscore import affinity_score
from affscore.plots import house_style
from affscore.plots.style import MARKERS, PAGE_WIDTH, PALETTE
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


def steps_of(clouds, covariance_name="ledoit-wolf"):
    return [score_steps(x, y, covariance_name) for x, y in clouds]


def points(axes, colour):
    """The offsets of the scatter plots of one colour."""
    drawn = [
        artist.get_offsets()
        for artist in axes.collections
        if isinstance(artist, PathCollection) and np.allclose(artist.get_edgecolor()[0][:3], to_rgb(colour))
    ]
    return np.concatenate(drawn) if drawn else np.empty((0, 2))


def texts(figure):
    return [text.get_text() for text in figure.findobj(plt.Text) if text.get_text()]


def legend_entries(figure):
    return [text.get_text() for legend in figure.findobj(mpl.legend.Legend) for text in legend.get_texts()]


class TestScheme:
    def test_scores_are_those_of_the_library(self, clouds):
        figure = scheme(steps_of(clouds, "empirical"), names=["ReLU 1", "ReLU 2", "Tanh"])
        scores = [float(affinity_score(x, y, "empirical")) for x, y in clouds]
        titles = [axes.get_title() for axes in figure.axes]
        assert titles[:3] == [
            f"{name}\n$\\rho$ = {score:.2f}" for name, score in zip(["ReLU 1", "ReLU 2", "Tanh"], scores, strict=True)
        ]
        listed = ",  ".join(f"{score:.2f}" for score in scores)
        assert any(f"signature = [ {listed} ]" in text for text in texts(figure))

    @pytest.mark.parametrize("name", ["empirical", "ledoit-wolf"])
    def test_steps_have_the_cost_and_the_size(self, clouds, name):
        figure = scheme(steps_of(clouds, name), shown=1)
        x, y = clouds[1]
        score = affinity_score(x, y, name)
        size = float(2 * covariance(y, name).trace()) ** 0.5
        steps = figure.axes[3:]
        assert [axes.get_title()[:2] for axes in steps] == ["1.", "2.", "3.", "4."]
        assert f"{score.w2:.2f}" in steps[2].get_xlabel()
        assert f"{size:.2f}" in steps[3].get_xlabel()
        assert any(f"{score.w2:.2f} / {size:.2f} = {score.value:.2f}" in text for text in texts(figure))

    def test_every_point_is_drawn(self, clouds):
        x, y = clouds[0]
        first, second, third, fourth = scheme(steps_of(clouds)).axes[3:]
        image = affine_map(x, y)(x).numpy()
        np.testing.assert_allclose(points(first, INPUT), x)
        np.testing.assert_allclose(points(first, OUTPUT), y)
        np.testing.assert_allclose(points(second, FIT), image)
        np.testing.assert_allclose(points(third, FIT), image)
        np.testing.assert_allclose(points(third, OUTPUT), y)
        np.testing.assert_allclose(points(fourth, OUTPUT), y)

    def test_the_lines_of_step_3_are_the_optimal_coupling(self, clouds):
        x, y = clouds[0]
        axes = scheme(steps_of(clouds)).axes[5]
        (lines,) = [artist for artist in axes.collections if isinstance(artist, LineCollection)]
        segments = np.array(lines.get_segments())
        squared = np.square(segments[:, 1] - segments[:, 0]).sum(axis=1)
        assert len(segments) == len(x)
        assert np.sqrt(squared.mean()) == pytest.approx(affinity_score(x, y).w2)

    def test_arrows_are_standard_deviations(self, clouds):
        _, y = clouds[0]
        arrows = [text for text in scheme(steps_of(clouds)).axes[6].texts if text.arrow_patch is not None]
        lengths = [np.linalg.norm(np.subtract(arrow.xy, arrow.xyann)) for arrow in arrows]
        spread = covariance(y).numpy()
        np.testing.assert_allclose(sorted(lengths), np.sqrt(np.linalg.eigvalsh(spread)))

    def test_legend(self, clouds):
        assert legend_entries(scheme(steps_of(clouds))) == [
            "input $X$",
            "output $Y$",
            "affine fit $T(X)$",
            "optimal coupling",
        ]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"activations": []}, "at least one activation"),
            ({"names": ["one"]}, "one name for each"),
            ({"shown": 3}, "from 0 to 2"),
            ({"shown": -1}, "from 0 to 2"),
            ({"activations": [score_steps(np.eye(3), np.eye(3))]}, r"\(n, 2\)"),
        ],
    )
    def test_bad_input(self, clouds, change, message):
        assert not plt.get_fignums(), "a figure was left behind"


def panels_of(cases):
    return [(name, function, score_steps(x, function(x))) for name, function, x in cases]


class TestActivationPanels:
    cases = (
        ("ReLU", relu, np.linspace(-2, 3, 60)),
        ("Tanh", np.tanh, np.linspace(-4, 4, 70)),
        ("$x^2$", np.square, np.linspace(-1, 1, 80)),
        ("flat", relu, np.linspace(-5, -1, 30)),
    )

    def test_titles_have_the_scores_of_the_library(self):
        figure = activation_panels(panels_of(self.cases))
        titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
        assert titles == [
            f"{name}\n$\\rho$ = {float(affinity_score(x[:, None], function(x)[:, None])):.2f}"
            for name, function, x in self.cases
        ]

    def test_samples_fit_and_function_are_drawn(self):
        figure = activation_panels(panels_of(self.cases[:1]), domain=(-10, 10))
        function, samples, fit = figure.axes[0].lines
        _, relu_, x = self.cases[0]
        np.testing.assert_allclose(np.sort(samples.get_xdata()), np.sort(x))
        np.testing.assert_allclose(samples.get_ydata(), relu_(np.sort(x)))
        assert (function.get_xdata().min(), function.get_xdata().max()) == (-10, 10)
        ends = np.array([[x.min()], [x.max()]])
        transport = affine_map(x[:, None], relu_(x)[:, None])
        np.testing.assert_allclose(fit.get_ydata(), transport(ends).numpy()[:, 0])

    def test_histograms_hold_all_samples(self):
        figure = activation_panels(panels_of(self.cases[:2]))
        for side in figure.axes[1::2]:
            for stairs in side.patches:
                assert stairs.get_data().values.sum() == pytest.approx(1)

    def test_labels_and_legend(self):
        figure = activation_panels(panels_of(self.cases), columns=2)
        assert [axes.get_xlabel() for axes in figure.axes[::2]] == ["", "", "$x$", "$x$"]
        assert [bool(axes.get_ylabel()) for axes in figure.axes[::2]] == [True, False, True, False]
        assert len(legend_entries(figure)) == 5

    @pytest.mark.parametrize(
        ("cases", "message"),
        [
            ([], "at least one case"),
            ([("plane", relu, score_steps(np.ones((3, 2)), np.ones((3, 2))))], "'plane' must be on a line"),
        ],
    )
    def test_bad_input(self, cases, message):
        assert not plt.get_fignums(), "a figure was left behind"


class TestCoupling:
    x = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    y = np.array([[2.0, 2.0], [0.0, 1.0], [1.0, 1.0]])
    best = optimal_coupling(torch.from_numpy(x), torch.from_numpy(y))

    def test_titles_have_both_costs(self):
        best = self.best
        titles = [axes.get_title() for axes in coupling(self.x, self.y, best).axes]
        assert f"{best.pairing_cost:.2f}" in titles[0]
        assert f"{wasserstein(self.x, self.y) ** 2:.2f}" in titles[1]

    def test_points_and_lines(self):
        for axes in coupling(self.x, self.y, self.best).axes:
            np.testing.assert_allclose(points(axes, INPUT), self.x)
            np.testing.assert_allclose(points(axes, OUTPUT), self.y)
            (lines,) = [artist for artist in axes.collections if isinstance(artist, LineCollection)]
            assert len(lines.get_segments()) == 3


class TestStyle:
    def test_settings_end_with_the_block(self):
        before = dict(mpl.rcParams)
        with house_style():
            assert mpl.rcParams["figure.figsize"][0] == PAGE_WIDTH
            assert mpl.rcParams["figure.dpi"] == 2 * 96
        assert dict(mpl.rcParams) == before

    def test_text_is_legible_at_page_width(self):
        with house_style():
            assert min(mpl.rcParams[key] for key in ("font.size", "xtick.labelsize", "legend.fontsize")) >= 8

    def test_series_differ_by_more_than_colour(self):
        with house_style():
            cycle = list(mpl.rcParams["axes.prop_cycle"])
        assert len({str(entry["linestyle"]) for entry in cycle}) == len({entry["color"] for entry in cycle}) == 7
        assert len(set(MARKERS)) == 7
        assert {INPUT, OUTPUT, FIT} <= set(PALETTE.values())
