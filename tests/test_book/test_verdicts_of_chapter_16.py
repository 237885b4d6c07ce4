"""What chapter 16 concludes from its studies, under every choice; and rows of these, measured again."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import affscore
from affscore.linear_regions import along_paths, closed_paths
from affscore.options import Specification
from affscore.papers.estimate import Estimate, mean_of
from affscore.papers.linear_regions import poster
from affscore.survey.studies import load_study, under

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
CHOICES = [
    Specification(*choice) for choice in load_study("regions")[[*Specification._fields]].drop_duplicates().values
]
study = cache(load_study)


def networks(width: str = "", choice: Specification = CHOICES[0]) -> pd.DataFrame:
    """A row for each training: means along paths, and the mean score."""
    return poster.scores_and_deviations(under(study(f"regions{width}"), choice), study(f"regions{width}-paths"))


def correlation(density: str, deviation: str) -> Estimate:
    """The mean rank correlation over segments, and its interval over architectures and seeds."""
    found = poster.rank_correlations(study("regions-paths"), density, deviation)
    return mean_of(found.groupby(["network", "seed"])["correlation"].mean())


def ratios(measure: str, before: str, after: str) -> pd.Series:
    """How a measure changes with the way of training, for each architecture and seed."""
    table = networks().pivot_table(measure, ["network", "seed"], "way")
    assert len(table) == 6
    return table[after] / table[before]


def test_wrong_labels_bend_more_with_hardly_more_regions() -> None:
    deviation, density = (ratios(name, "vanilla", "noise-1.0") for name in ("absolute_deviation", "crossings"))
    assert deviation.min() > 4
    assert density.max() < 1.65
    assert mean_of(np.log(deviation) - np.log(density)).above()


def test_beyond_the_first_wrong_labels_the_deviation_grows_by_size() -> None:
    first, rest, all_of_it = (
        ratios("relative_deviation", *ways)
        for ways in (("vanilla", "noise-0.2"), ("noise-0.2", "noise-1.0"), ("vanilla", "noise-1.0"))
    )
    assert mean_of(first).above(1.2)
    assert mean_of(rest).below(1.1)
    assert (ratios("absolute_deviation", "noise-0.2", "noise-1.0") > 1.5).all()
    assert (all_of_it < 2).all()


def test_density_says_little_once_length_and_size_are_out_of_the_way() -> None:
    assert correlation("crossings", "absolute_deviation").above(poster.WEAK)
    per_length = correlation("crossings_per_length", "deviation_per_length")
    assert per_length.value < poster.WEAK
    assert correlation("crossings", "relative_deviation").below(poster.WEAK)


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_the_score_sees_wrong_labels_under_every_choice(choice: Specification) -> None:
    groups = [rows for _, rows in networks("", choice).groupby(["network", "seed"])]
    found = mean_of([rows["score"].corr(rows["absolute_deviation"], method="spearman") for rows in groups])
    assert found.below(-0.5)


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_wrong_labels_bend_late_activations_under_every_choice(choice: Specification) -> None:
    table = under(study("regions"), choice).pivot_table("score", ["network", "seed", "way"], "index")
    change = table.xs("noise-1.0", level="way") - table.xs("vanilla", level="way")
    late = change[[5, 6]].mean(axis=1)
    assert mean_of(late).below(-0.08)
    assert mean_of(change[0] - late).above(0.05)


def test_the_first_activation_stays_as_it_is() -> None:
    table = under(study("regions")).pivot_table("score", ["network", "seed", "way"], "index")[0]
    low, high = mean_of(table.xs("noise-1.0", level="way") - table.xs("vanilla", level="way")).interval()
    assert -0.04 < low < 0 < high < 0.04


def test_the_score_falls_with_the_width_under_every_choice_but_one() -> None:
    verdicts = {}
    for choice in CHOICES:
        wide = poster.past_the_threshold(networks("-width", choice))
        found = mean_of([rows["width"].corr(rows["score"], method="spearman") for _, rows in wide.groupby("seed")])
        verdicts[choice] = found.below()
    assert len(verdicts) == 12
    open_ones = [choice for choice, verdict in verdicts.items() if verdict is not True]
    assert open_ones == [Specification(coupling="paired")]
    assert verdicts[open_ones[0]] is None


def test_past_the_threshold_deviation_falls_by_size_alone() -> None:
    wide = poster.past_the_threshold(networks("-width"))
    assert sorted(set(wide["width"])) == [4, 6, 8, 12, 16, 24]
    ends = wide.pivot_table(["absolute_deviation", "relative_deviation", "crossings"], "seed", "width")
    change = {name: mean_of(ends[name][24] / ends[name][4]) for name in ends.columns.levels[0]}
    assert change["absolute_deviation"].below(0.85)
    assert change["crossings"].above(4)
    assert change["relative_deviation"].above(0.85)
    assert change["relative_deviation"].below(1.15)


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
