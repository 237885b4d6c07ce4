"""Curves of accuracy against path length, and what is left where it begins to cost, on studies that are known."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LinearRegression
from torch import nn

from companion.chapter_16.measurements import (
    EARLY,
    LATE,
    beside_plain,
    by_difficulty,
    compared,
    cores,
    curve,
    decisions_changed,
    gap,
    lost_when_affine,
    read_off,
    survival,
    survival_correlations,
    times_as_large,
    trainings,
    where_it_falls,
)
from companion.statistics import MissingResultsError
from tests.synthetic_slopes import EASY, LEFT, collapse, scores_of, trainings_of

HARD = trainings_of("sum", collapse(4), collapse(2), middle=collapse(3))


def test_a_curve_goes_from_affine_to_untouched_and_takes_means():
    table = trainings(trainings_of("sum", lambda left: left, noise=0))
    points = curve(table, "residual14", "sum", LATE, 1)
    assert points["napl"].tolist() == pytest.approx(list(10 * LEFT))
    assert points["accuracy"].tolist() == pytest.approx(list(LEFT))
    assert np.isnan(read_off(points.iloc[-2:], np.array([8.9, 10.1]))).all()  # it ends where the points end
    assert curve(table, "residual14", "sum", LATE, 1, "share")["napl"].tolist() == pytest.approx(list(10 * LEFT))


def test_the_gap_is_that_of_the_curves():
    found = gap(trainings(HARD), "residual14", "sum")
    at = np.linspace(0, 0.5, 2001)
    assert found.value == pytest.approx((collapse(4)(at) - collapse(2)(at)).mean(), abs=0.01)
    assert found.freedom == 4
    assert gap(trainings(HARD), "residual14", "sum", EARLY, LATE).value == pytest.approx(-found.value)
    assert 0 < gap(trainings(HARD), "residual14", "sum", 0.5, EARLY).value < found.value


def test_the_gap_is_over_lengths_that_all_curves_reach():
    table = trainings(trainings_of("sum", collapse(1, 0.8), collapse(1, 0.6), noise=0))
    short = table[(table["start"] != EARLY) | (table["napl"] >= 3) | (table["seed"] != 2)]
    everywhere, part = (gap(one, "residual14", "sum").value for one in (table, short))
    assert everywhere == pytest.approx(-0.2 * 0.75)  # at lengths 0 to 5 of 10
    assert part == pytest.approx(-0.2 * 0.6)  # 3 to 5
    with pytest.raises(MissingResultsError):
        gap(table[table["napl"] > 6], "residual14", "sum")
    shorter = table.assign(napl=np.where(table["start"] == EARLY, table["napl"] / 2, table["napl"]))
    assert gap(shorter, "residual14", "sum", x="share").value == pytest.approx(-0.2 * 0.75)  # of channels, not lengths


def test_hard_is_what_an_affine_network_cannot_do():
    table = pd.concat([trainings(HARD), trainings(trainings_of("digits", EASY))])
    assert lost_when_affine(table, "residual14", "sum").value == pytest.approx(0.8, abs=0.005)
    few = trainings(trainings_of("sum", collapse(4), network="residual8", seeds=2))
    assert compared(pd.concat([few, table])) == [("residual14", "sum"), ("residual14", "digits")]
    assert [pair.task for pair in by_difficulty(table, hard=True)] == ["sum"]
    assert [pair.task for pair in by_difficulty(table, hard=False)] == ["digits"]
    with pytest.raises(MissingResultsError):
        by_difficulty(table[table["task"] == "sum"], hard=False)


def test_where_it_falls():
    table = trainings(trainings_of("sum", lambda left: 0.9 if left > 0.35 else 0.8, noise=0))
    found = where_it_falls(table, "residual14", "sum", 1)
    # half of the way down from 0.4, where it is 0.9, to 0.3, where it is 0.8
    assert found == pytest.approx({"napl": 3.5, "width": 0.35 * 16, "share": 0.35})
    dip = trainings(trainings_of("sum", lambda left: 0.8 if 0.55 < left < 0.65 else 0.9, noise=0))
    assert where_it_falls(dip, "residual14", "sum", 1)["share"] == pytest.approx(0.65)
    line = trainings(trainings_of("sum", lambda left: left, noise=0))
    below = [where_it_falls(line, "residual14", "sum", 1, accuracy)["napl"] for accuracy in (0.5, 1.5, -1.0)]
    assert below == pytest.approx([5, np.nan, 0], nan_ok=True)
    assert cores(line, 0.5)["share"].tolist() == pytest.approx([0.5] * 5)


def test_sizes_of_cores():
    table = trainings(pd.concat([trainings_of("sum", collapse(4), network=one) for one in ("residual8", "residual14")]))
    found = cores(table)
    assert len(found) == 10
    twice = times_as_large(found, "napl", "residual14", "residual8", "sum")
    assert twice.value == pytest.approx(np.log(2), abs=0.1)


def test_plain_networks_stand_beside_the_curve_at_their_depth():
    study = trainings_of("sum", lambda left: 0.5 + 0.4 * left, noise=0, plain={1: 0.2, 5: 0.8, 20: 0.9})
    one, five = beside_plain(trainings(study))
    assert (one.depth, five.depth) == (1, 5)
    assert (one.partial.value, five.partial.value) == pytest.approx((0.54, 0.7))
    assert (five.partial - five.plain).value == pytest.approx(-0.1)


def test_survival_beside_scores():
    scores = scores_of(HARD, {0: 0.5, 1: 0.6, 2: 0.7, 3: 0.8})
    found = survival(HARD, scores)
    assert len(found) == 5 * 4
    first = found[found["index"] == 0]["survival"].iloc[0]
    assert first == pytest.approx(np.mean([round(10 * min(1, 2 * left)) / 10 for left in LEFT]))
    assert survival_correlations(found)[["score", "index"]].to_numpy() == pytest.approx(-np.ones((5, 2)))
    assert found.query("after_sum")["index"].unique().tolist() == [0, 2]


def test_a_partial_correlation_is_blind_to_the_place_and_to_additions():
    draw = np.random.default_rng(0)
    table = pd.DataFrame({"network": "a", "task": "b", "seed": 1, "index": range(13)})
    table["after_sum"] = table["index"] % 2 == 0
    table["score"] = draw.permutation(13) / 13
    table["survival"] = draw.permutation(13) / 13
    ranks = table[["survival", "score", "index"]].rank()
    # by regression on the two, with another solver
    held = LinearRegression().fit(kept := table[["index", "after_sum"]].astype(float), ranks)
    rest = ranks - held.predict(kept)
    (found,) = survival_correlations(table)["partial"]
    assert found == pytest.approx(rest["survival"].corr(rest["score"]))
    for same in (table["index"] * 1.0, table["after_sum"] * 1.0):
        assert np.isnan(survival_correlations(table.assign(score=same))["partial"]).all()


def test_one_activation_that_becomes_linear_is_missed_where_it_bends_the_data():
    """Logits 0 and max(x, 0) + max(x + 10, 0) - 9: on [-5, 5] the second unit is always on, the first decides."""
    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 2))
    weights = ([[1.0]], [0.0], [[1.0]], [10.0], [[0.0], [1.0]], [0.0, -9.0])
    for part, numbers in zip(net.parameters(), weights, strict=True):
        part.data = torch.tensor(numbers)
    found = decisions_changed(net.train(), torch.tensor([[-5.0], [-2.0], [-0.5], [1.0], [5.0]]))
    assert found["layer"].tolist() == ["1", "3"]
    # max(x, 0) + 10 - 9 is above 0 everywhere; without the first ReLU x + 1 is not at -5 and -2
    assert found["changed"].tolist() == [0.4, 0.0]
    assert net.training
    assert isinstance(net[1], nn.ReLU)
    assert [part.tolist() for part in net.parameters()] == list(weights)
