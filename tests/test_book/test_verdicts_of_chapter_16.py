"""What chapter 16 concludes from its studies, and one of its trainings made again."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import affscore
from affscore.analysis import Estimate, mean_of
from affscore.analysis.cores import cores, survival, survival_correlations
from affscore.analysis.paths import with_scores
from affscore.analysis.slopes import EARLY, LATE, compared, curve, gap, lost_when_affine, read_off
from affscore.experiments import decisions_changed
from affscore.options import Specification
from affscore.papers.nonlinear_advantage.abstract import all_trainings
from affscore.papers.results import Results
from affscore.survey.studies import load_studies, load_study, under

pytestmark = pytest.mark.slow

CHOICES = [
    Specification(*choice)
    for choice in load_study("advantage-scores")[[*Specification._fields]].drop_duplicates().values
]
EASY, OTHERS = ("digits", "few", "noise"), ("few", "noise", "larger")


@cache
def table() -> pd.DataFrame:
    return all_trainings(Results("shipped", tables=load_studies()))


def late_ahead(task: str, one: float = LATE, x: str = "napl") -> Estimate:
    return gap(table(), "residual14", task, one, EARLY, x)


def ahead_at(task: str, lengths: list[float]) -> list[Estimate]:
    """How much late is ahead of early at these path lengths, over seeds that get there."""
    curves = [[curve(table(), "residual14", task, start, seed) for start in (LATE, EARLY)] for seed in range(1, 6)]
    ahead = np.array([read_off(late, np.array(lengths)) - read_off(early, np.array(lengths)) for late, early in curves])
    return [mean_of(some[np.isfinite(some)]) for some in ahead.T]


def test_every_task_was_learned_early_and_late_from_five_seeds() -> None:
    assert {pair.task for pair in compared(table())} == {"digits", "sum", *OTHERS, "numbers"}
    main = table().query("network == 'residual14'")
    for (task, start), some in main[main["start"].isin([EARLY, LATE])].groupby(["task", "start"]):
        assert some["seed"].nunique() == 5, (task, start)


def test_on_the_sum_late_is_far_ahead_at_short_lengths_and_a_little_behind_at_long_ones() -> None:
    assert lost_when_affine(table(), "residual14", "sum").above(0.5)
    assert late_ahead("sum").above()
    half, one, four, six = ahead_at("sum", [0.5, 1, 4, 6])
    assert half.above(0.2)
    assert one.above()
    assert four.above() is False
    assert six.above() is False


def test_at_equal_shares_of_channels_the_sum_is_undecided() -> None:
    assert late_ahead("sum", x="share").above() is None


def test_on_the_larger_digit_late_is_nowhere_ahead_though_an_affine_network_fails() -> None:
    assert lost_when_affine(table(), "residual14", "larger").above(0.15)
    assert late_ahead("larger").above(0.01) is False
    assert not any(one.above() for one in ahead_at("larger", [0.5, 1, 2, 3, 4, 6, 8]))


@pytest.mark.parametrize("task", EASY)
def test_an_affine_network_is_about_as_good_or_better_on_the_other_tasks(task: str) -> None:
    assert lost_when_affine(table(), "residual14", task).above(0.02) is False


def test_on_digits_late_and_early_are_the_same() -> None:
    for task in ("digits", "few"):
        assert abs(late_ahead(task).value) < 0.01
        assert late_ahead(task).above() is None


def test_with_wrong_labels_late_is_ahead_too() -> None:
    assert late_ahead("noise").above(0.03)
    assert all(one.above() for one in ahead_at("noise", [1.5, 3, 5]))


def test_nearly_all_channels_can_become_linear_after_training() -> None:
    left = cores(table()).query("network in ('residual14', 'number_translator')")
    for task, some in left.groupby("task"):
        assert mean_of(1 - some["share"], (0, 1)).above(0.85), task
    assert left[left["task"].isin(EASY)]["share"].max() < 0.05


def test_a_core_of_a_unit_or_so_does_both_tasks_with_two_digits() -> None:
    left = cores(table()).query("network == 'residual14'")
    for task in ("sum", "larger"):
        length = mean_of(left[left["task"] == task]["napl"])
        assert length.above()
        assert length.above(2) is False


def test_early_activations_keep_their_channels() -> None:
    found = survival_correlations(survival(load_study("advantage"), under(load_study("advantage-scores"))))
    assert (found.groupby("task")["index"].mean() < -0.6).all()


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(choice[:4]))
def test_with_the_place_held_fixed_scores_say_nothing_that_holds_on_every_task(choice: Specification) -> None:
    found = survival_correlations(survival(load_study("advantage"), under(load_study("advantage-scores"), choice)))
    decided = {mean_of(some["partial"].dropna()).above(0.0, 5) for _, some in found.groupby("task")}
    assert decided not in ({True}, {False})


def test_affinity_chooses_no_better_than_chance_and_slopes_do() -> None:
    means = load_study("advantage-criteria").pivot_table("accuracy", ["task", "seed"], "by")
    for task in ("digits", "sum"):
        assert mean_of(means.loc[task]["affinity"] - means.loc[task]["random"]).above() is None
    assert mean_of(means.loc["sum"]["slope"] - means.loc["sum"]["random"]).above(0.05)


EXAMPLES = Path(__file__).parents[2] / "examples"


def changed_alone(name: str) -> np.ndarray:
    """The share of decisions that change when each activation alone becomes linear, on 200 digits as on the page."""
    network = affscore.load_model(name)
    prepare = affscore.zoo.card_of(network).preprocessing
    return decisions_changed(network, torch.stack([prepare(scan) for scan in affscore.zoo.digits("test")[0][:200]]))[
        "changed"
    ].to_numpy()


def test_all_three_measures_find_the_network_with_wrong_labels_the_more_non_linear_one() -> None:
    regions = with_scores(under(load_study("regions")), load_study("regions-paths"))
    own = regions.query("network == 'vgg8' and seed == 1").set_index("way").loc[["vanilla", "noise-1.0"]]
    right, wrong = (
        changed_alone(f"{EXAMPLES}/region_networks.py:vgg8@{EXAMPLES}/weights/vgg8-{way}-1.safetensors")
        for way in own.index
    )
    assert own["score"].is_monotonic_decreasing
    for measure in ("crossings", "absolute_deviation", "relative_deviation"):
        assert own[measure].is_monotonic_increasing
    assert wrong.mean() > 3 * right.mean()
