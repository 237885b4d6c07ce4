"""What chapter 15 concludes from its studies, under every choice; and rows of these, measured again."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import affscore
from affscore.analysis.paths import mean_correlation, past_the_threshold, rank_correlations, trend_over, with_scores
from affscore.linear_regions import along_paths, closed_paths
from affscore.options import Specification
from affscore.papers.linear_regions.poster import WEAK
from affscore.survey.studies import load_study, under

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
CHOICES = [
    Specification(*choice) for choice in load_study("regions")[[*Specification._fields]].drop_duplicates().values
]
study = cache(load_study)


def networks(width: str = "", choice: Specification = CHOICES[0]) -> pd.DataFrame:
    """A row for each training: means along paths, and the mean score."""
    return with_scores(under(study(f"regions{width}"), choice), study(f"regions{width}-paths"))


def ratios(measure: str, before: str, after: str) -> pd.Series:
    """How a measure changes with the way of training, for each architecture and seed."""
    table = networks().pivot_table(measure, ["network", "seed"], "way")
    assert len(table) == 6
    return table[after] / table[before]


def test_wrong_labels_deviate_several_times_as_much_with_20_to_40_percent_more_regions() -> None:
    deviation, density = (ratios(name, "vanilla", "noise-1.0") for name in ("absolute_deviation", "crossings"))
    assert deviation.groupby("network").mean().between(5, 7).all()
    means = networks().groupby(["network", "way"])["crossings"].mean().unstack("way")
    assert (means["noise-1.0"] / means["vanilla"]).between(1.15, 1.4).all()
    assert (deviation > 2 * density).all()


def test_most_of_the_growth_is_size() -> None:
    whole, bent = (ratios(name, "vanilla", "noise-1.0") for name in ("absolute_deviation", "relative_deviation"))
    assert (np.log(bent) < np.log(whole) / 2).all()
    rest = ratios("relative_deviation", "noise-0.2", "noise-1.0")
    assert rest.groupby("network").mean().between(0.97, 1.1).all()
    assert (ratios("absolute_deviation", "noise-0.2", "noise-1.0") > 1.5).all()


def test_relative_deviation_does_not_tell_wrong_labels_from_moved_images() -> None:
    ratio = ratios("relative_deviation", "augmented", "noise-1.0")
    assert ratio.groupby("network").mean().max() < 1
    assert (ratios("test_error", "augmented", "noise-1.0") > 10).all()


def test_nearly_all_labels_are_fitted_and_wrong_ones_are_worse_than_guessing() -> None:
    table = networks()
    assert table["fitted"].min() > 0.995
    assert table.query("way == 'noise-1.0'")["test_error"].min() > 0.9


def test_density_says_next_to_nothing_of_relative_deviation() -> None:
    paths = study("regions-paths")
    raw, relative = mean_correlation(paths), mean_correlation(paths, deviation="relative_deviation")
    assert raw.above(WEAK) is None
    assert mean_correlation(paths, "crossings_per_length", "deviation_per_length").value < raw.value
    assert relative.above(WEAK) is False
    assert relative.above(-WEAK)


def test_the_interval_over_images_is_as_wide_as_a_bootstraps() -> None:
    """The jackknife over images, beside drawing images with replacement."""
    paths = study("regions-paths").query("seed == 1 and way == 'vanilla'")
    draw, means = np.random.default_rng(0), []
    parts = dict(iter(paths.groupby("path")))
    for _ in range(200):
        chosen = pd.concat([parts[place] for place in draw.integers(0, 16, 16)])
        means.append(rank_correlations(chosen)["correlation"].mean())
    error = mean_correlation(pd.concat([paths, paths.assign(seed=2)])).error  # a second seed that is the first
    assert error == pytest.approx(np.std(means), rel=0.5)


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_the_score_sees_wrong_labels_under_every_choice(choice: Specification) -> None:
    for _, rows in networks("", choice).groupby("network"):
        found = trend_over(rows, "way", "absolute_deviation", "score")
        assert found.correlation < -0.7
        assert found.p_value < 0.1


def test_the_score_goes_with_size_and_density_and_not_with_relative_deviation() -> None:
    for _, rows in networks().groupby("network"):
        for name in ("absolute_deviation", "total_variation", "test_error", "crossings"):
            found = trend_over(rows, "way", name, "score")
            assert found.correlation < 0
            assert found.p_value < 0.05
        assert trend_over(rows, "way", "relative_deviation", "score").p_value > 0.05


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_the_score_falls_with_the_width_under_every_choice(choice: Specification) -> None:
    found = trend_over(past_the_threshold(networks("-width", choice)), "width", "width", "score")
    assert found.correlation < 0
    assert found.p_value < 0.05


def test_past_the_threshold_deviation_falls_by_size_alone() -> None:
    wide = past_the_threshold(networks("-width"))
    assert sorted(set(wide["width"])) == [4, 6, 8, 12, 16, 24]
    absolute, relative = (
        trend_over(wide, "width", "width", name) for name in ("absolute_deviation", "relative_deviation")
    )
    assert (absolute.correlation, absolute.p_value < 0.01) == (-1, True)
    assert relative.p_value > 0.05
    ends = wide.pivot_table("relative_deviation", "seed", "width")
    assert (ends[24] / ends[4]).mean() == pytest.approx(1, abs=0.1)


def test_test_error_and_deviation_peak_where_labels_are_fitted() -> None:
    table = networks("-width")
    means = (
        table.assign(width=table["network"].str.rpartition("_")[2].astype(int)).groupby("width").mean(numeric_only=True)
    )
    assert means["test_error"].idxmax() == 3
    assert means["absolute_deviation"].idxmax() == 4
    assert means.loc[3, "fitted"] > 0.99
    assert means["crossings"].is_monotonic_increasing
    assert means["score"].is_monotonic_decreasing


def test_the_published_bound_is_several_times_the_area() -> None:
    ratio = study("regions-paths").groupby(["network", "way"])[["deviation_upper_bound", "absolute_deviation"]].mean()
    found = ratio["deviation_upper_bound"] / ratio["absolute_deviation"]
    assert 4 < found.min() < found.max() < 7


@pytest.mark.parametrize("way", ["vanilla", "noise-1.0"])
def test_the_weights_of_the_page_are_those_of_the_study(way: str) -> None:
    model = affscore.load_model(f"{EXAMPLES}/region_networks.py:vgg8@{EXAMPLES}/weights/vgg8-{way}-1.safetensors")
    pictures, labels = affscore.zoo.digits("test")
    inputs = torch.stack([affscore.zoo.card_of(model).preprocessing(one) for one in pictures])
    rows = study("regions-paths").query("network == 'vgg8' and way == @way and seed == 1")
    with torch.no_grad():
        reached = (model.eval()(inputs).argmax(dim=1) == labels).double().mean()
    assert float(reached) == pytest.approx(rows["accuracy"].iloc[0], abs=1e-4)
    again = along_paths(model, closed_paths(inputs[:1]), progress=False).groupby("segment").mean()
    expected = rows[rows["path"] == 0].set_index("segment")
    for name in (
        "length",
        "crossings",
        "breakpoints",
        "absolute_deviation",
        "deviation_upper_bound",
        "total_variation",
    ):
        np.testing.assert_allclose(again[name], expected[name], rtol=1e-5)
