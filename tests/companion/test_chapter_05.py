"""Modes of scores, against density estimates, simulation and SciPy; and the histograms of figure 5."""

import numpy as np
import pytest
from drawn import legend_entries, titles
from scipy.signal import argrelmax
from scipy.stats import gaussian_kde

from affscore.errors import AffscoreError
from companion.chapter_05.figures import score_histograms
from companion.chapter_05.measurements import count_modes, unimodality_test


@pytest.mark.parametrize("bandwidth", [0.02, 0.1])
def test_modes_are_those_of_a_density_estimate(bandwidth):
    sample = np.random.default_rng(0).random(15)
    density = gaussian_kde(sample, bw_method=bandwidth / sample.std(ddof=1))(np.linspace(-1, 2, 6001))
    assert count_modes(sample, bandwidth) == len(argrelmax(density)[0])


def test_the_critical_bandwidth_is_where_the_second_peak_vanishes():
    sample = np.random.default_rng(0).random(20)
    critical = unimodality_test(sample, resamples=9).bandwidth
    assert [count_modes(sample, critical * factor) for factor in (1, 0.99)] == [1, 2]
    # a mixture of two equal normal distributions has two peaks if and only if they are more than two widths apart
    assert unimodality_test([0, 0, 1, 1], resamples=9).bandwidth == pytest.approx(0.5, abs=1e-3)


def test_one_peak_is_refuted_for_two_groups_far_apart_and_rarely_for_one():
    generator = np.random.default_rng(1)
    one = [unimodality_test(generator.normal(size=25), resamples=99, seed=k).p_value for k in range(20)]
    assert np.mean(np.array(one) <= 0.05) <= 0.1
    two = [np.append(generator.normal(0, 1, 15), generator.normal(7, 1, 15)) for _ in range(6)]
    assert np.mean([unimodality_test(sample, 99).p_value <= 0.05 for sample in two]) >= 0.9
    groups = [*np.linspace(0, 0.01, 20), *np.linspace(0.99, 1, 20)]
    assert unimodality_test(groups, resamples=19).p_value == 1 / 20  # the sample itself counts among those drawn


def test_too_little_for_a_test_is_missing_and_what_is_no_sample_is_refused():
    assert np.isnan([unimodality_test(values).p_value for values in ([0.1, 0.2, 0.3], [0.4] * 9)]).all()
    with pytest.raises(AffscoreError, match="finite numbers"):
        unimodality_test([0.1, np.nan])


def test_histograms_count_every_score_once_in_the_look_of_its_kind():
    panels = {
        "plain": {"first": [0.5, 0.52, 0.7], "second": [0.7, 0.7]},
        "residual": {"first": [0.5, 0.5], "after-sum": [0.95, 0.99, 1.0, 1 + 1e-12]},  # by rounding
    }
    figure = score_histograms(panels)
    assert titles(figure) == list(panels)
    kinds = legend_entries(figure)
    assert kinds == ["first inside a block", "second inside a block", "after a sum"]
    of = dict(zip(("first", "second", "after-sum"), kinds, strict=True))
    for axes, panel in zip(figure.axes, panels.values(), strict=True):
        assert {bars.get_label(): sum(bar.get_height() for bar in bars) for bars in axes.containers} == {
            of[kind]: len(scores) for kind, scores in panel.items()
        }
    plain = figure.axes[0].containers
    stacked = [[(bar.get_y(), bar.get_height()) for bar in bars if bar.get_height()] for bars in plain]
    assert stacked == [[(0, 2), (0, 1)], [(1, 2)]]  # 0.5 and 0.52 in one bin; those of two kinds on top of each other
