"""Correlations of criteria by family and by sign, intervals that hold for all networks, and the dots that show them."""

import numpy as np
import pandas as pd
import pytest
from drawn import titles, words
from scipy.stats import ttest_1samp

from companion.chapter_09.figures import criterion_dots
from companion.chapter_09.measurements import family_correlations, sign_counts, simultaneous_intervals, strength_counts
from companion.regression import criterion_correlations, fisher_interval


def table(activations=100, **columns):
    return pd.DataFrame([
        {"model": f"n{place}", "criterion": name, "activations": activations, "correlation": r}
        for name, values in columns.items()
        for place, r in enumerate(values)
    ])  # fmt: skip


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_of_a_family_is_students(level):
    values = [0.1, 0.4, 0.35, 0.5]
    row = family_correlations(table(cka=values), dict.fromkeys(["n0", "n1", "n2", "n3"], "F"), level).iloc[0]
    interval = ttest_1samp(values, 0).confidence_interval(level)
    assert row[["low", "high"]].tolist() == pytest.approx([interval.low, interval.high])
    assert row["std"] == pytest.approx(np.std(values))
    wide = family_correlations(table(cka=[0.9, -0.8]), {"n0": "F", "n1": "F"}).iloc[0]
    assert wide[["low", "high"]].tolist() == [-1, 1]  # where correlations end


def test_a_family_of_one_has_a_mean_and_no_interval():
    found = family_correlations(table(cka=[0.5, np.nan, np.nan]), {"n0": "A", "n1": "B"}).set_index("family")
    assert found.loc["A", "mean"] == 0.5
    assert found.loc["A", ["std", "low", "high"]].isna().all()
    assert found.loc["B", ["networks", "mean"]].isna().tolist() == [False, True]
    assert found.loc["Average", "networks"] == 1


def test_signs_are_counted_by_their_intervals():
    rng = np.random.default_rng(3)
    scores = rng.uniform(size=30)
    ways = {"for": scores, "against": -scores, "neither": rng.uniform(size=30)}
    tables = {name: pd.DataFrame({"score": scores, "cka": way}) for name, way in ways.items()}
    row = sign_counts(criterion_correlations(tables, ["cka"])).loc["cka"]
    assert row[["networks", "positive", "negative", "undecided"]].tolist() == [3, 1, 1, 1]
    assert (row["smallest"], row["largest"]) == pytest.approx((-1, 1))


def test_the_level_is_shared_by_the_networks_of_a_criterion():
    found = simultaneous_intervals(table(cka=[0.3, np.nan, 0.5], norm=[0.3]))
    assert len(found) == 3  # what has no correlation has no interval
    ends = found.set_index(["criterion", "model"])[["low", "high"]]
    assert tuple(ends.loc[("cka", "n0")]) == pytest.approx(fisher_interval(0.3, 100, 0.975))
    assert tuple(ends.loc[("norm", "n0")]) == pytest.approx(fisher_interval(0.3, 100, 0.95))


def test_a_criterion_that_is_strong_everywhere_is_not_refuted_by_its_weakest_network():
    """With 0.8 in each of 36 networks the smallest correlation is mostly below 0.5; its interval is not."""
    generator = np.random.default_rng(1)
    z = np.arctanh(0.8) + generator.normal(size=(20, 36)) / (10 - 3) ** 0.5
    below = [np.tanh(row).min() < 0.5 for row in z]
    refuted = [strength_counts(table(activations=10, cka=np.tanh(row))).loc["cka", "weak"] > 0 for row in z]
    assert np.mean(below) > 0.5
    assert np.mean(refuted) < 0.15


def test_a_criterion_that_runs_against_the_score_is_counted_in_its_direction():
    counts = strength_counts(table(norm=[-0.9, -0.9, -0.1], cka=[0.9, 0.9, 0.9]))
    assert counts.loc["norm", ["networks", "strong", "weak", "undecided"]].tolist() == [3, 2, 1, 0]
    assert counts.loc["cka", ["strong", "weak"]].tolist() == [3, 0]


def test_all_correlations_are_dots_with_intervals_and_a_network_keeps_its_line():
    rng, names = np.random.default_rng(0), ("score", "cka", "norm", "r2")
    tables = {name: pd.DataFrame(rng.uniform(size=(9, 4)), columns=names) for name in ("a", "b", "c")}
    tables["c"]["r2"] = 1.0
    rows = criterion_correlations(tables, names[1:])
    rows = rows[(rows["model"] != "b") | (rows["criterion"] != "norm")]
    figure = criterion_dots(rows, {"a": "F", "b": "F", "c": "ViTs"}, pd.DataFrame({"cka": {"a": 0.3, "z": 0.1}}))
    assert titles(figure) == ["linear CKA", "norm", "$R^2$"]
    assert words(figure.axes[0].get_yticklabels()) == ["a", "b", "c"]
    for axes, criterion in zip(figure.axes, names[1:], strict=True):
        known = rows[rows["criterion"] == criterion].dropna(subset="correlation").set_index("model")
        dots = np.concatenate([line.get_xydata() for line in axes.lines if line.get_label() in ("F", "ViTs")])
        assert {"abc"[int(place)]: r for r, place in dots if not np.isnan(r)} == known["correlation"].to_dict()
        parts = [np.asarray(part) for lines in axes.collections for part in lines.get_segments()]
        ends = np.concatenate([part[:, 0] for part in parts if part.ndim == 2])  # a missing one has no dimension
        assert np.sort(ends) == pytest.approx(np.sort(known[["low", "high"]].to_numpy().ravel()))
    ticks = next(line for line in figure.axes[0].lines if line.get_label() == "printed (ImageNet)")
    assert ticks.get_xdata()[0] == 0.3
    assert np.isnan(ticks.get_xdata()[1:]).all()
