"""What chapter 17 concludes from its studies, and one of its trainings made again."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from affscore.options import Specification
from affscore.papers.estimate import Estimate, mean_of
from affscore.papers.nonlinear_advantage.abstract import all_trainings
from affscore.papers.nonlinear_advantage.cores import beside_plain, cores, survival, survival_correlations
from affscore.papers.nonlinear_advantage.curves import EARLY, LATE, compared, curve, gap, lost_when_affine, read_off
from affscore.papers.results import Results
from affscore.survey.studies import load_studies, load_study, under

pytestmark = pytest.mark.slow

CHOICES = [
    Specification(*choice)
    for choice in load_study("advantage-scores")[[*Specification._fields]].drop_duplicates().values
]
EASY = ("digits", "few", "noise")


@cache
def table() -> pd.DataFrame:
    return all_trainings(Results("shipped", studies=load_studies()))


def late_ahead(task: str, one: float = LATE) -> Estimate:
    return gap(table(), "residual14", task, one, EARLY)


def test_every_task_was_learned_early_and_late_from_five_seeds() -> None:
    assert {pair.task for pair in compared(table())} == {"digits", "sum", "few", "noise", "numbers"}
    main = table().query("network == 'residual14'")
    for (task, start), some in main[main["start"].isin([EARLY, LATE])].groupby(["task", "start"]):
        assert some["seed"].nunique() == (10 if task == "sum" else 5), start


def test_late_is_better_where_an_affine_network_fails() -> None:
    assert lost_when_affine(table(), "residual14", "sum").above(0.5)
    assert late_ahead("sum").above()
    assert 0.1 < late_ahead("sum").value < 0.2


def test_the_advantage_is_at_short_lengths() -> None:
    at = np.array([1.0, 2.0, 5.0, 7.0])
    pairs = [[curve(table(), "residual14", "sum", start, seed) for start in (LATE, EARLY)] for seed in range(1, 11)]
    ahead = np.array([read_off(late, at) - read_off(early, at) for late, early in pairs])
    one, two, five, seven = (mean_of(some) for some in ahead.T)
    assert one.above(0.1)
    assert two.above(0.1)
    assert five.above() is None
    assert seven.below()


@pytest.mark.parametrize("task", EASY)
def test_an_affine_network_is_nearly_as_good_or_better_on_the_other_tasks(task: str) -> None:
    assert lost_when_affine(table(), "residual14", task).below(0.02)


def test_without_wrong_labels_late_and_early_are_the_same_there() -> None:
    for task in ("digits", "few"):
        assert abs(late_ahead(task).value) < 0.01
        assert late_ahead(task).above() is None


def test_most_of_the_difference_is_made_in_the_first_fifth() -> None:
    assert late_ahead("sum", 0.2).value > late_ahead("sum").value / 2
    assert abs(late_ahead("digits", 0.5).value) < 0.01


def test_a_core_of_few_units_does_the_sum_of_two_digits() -> None:
    left = cores(table()).query("network == 'residual14'")
    assert mean_of(left.query("task == 'sum'")["napl"]).above(1)
    assert mean_of(left.query("task == 'sum'")["share"]).below(0.5)
    assert left[left["task"].isin(EASY)]["share"].max() < 0.05


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(choice[:4]))
def test_among_neighbours_low_scores_keep_more_channels(choice: Specification) -> None:
    found = survival_correlations(survival(load_study("advantage"), under(load_study("advantage-scores"), choice)))
    by_task = found.groupby("task")
    assert (by_task["index"].mean() < -0.6).all()
    assert (by_task["partial"].mean() < 0).all()


def test_translation_does_without_relu() -> None:
    affine = table().query("task == 'numbers' and napl < 0.05")
    untouched = table().query("task == 'numbers' and start.isna()", engine="python")
    assert len(affine) > 10
    assert affine["accuracy"].mean() > untouched["accuracy"].mean() - 0.03


def test_plain_networks_of_the_same_depth_are_worse_where_it_is_hard() -> None:
    ahead = {(one.task, one.depth): one.partial - one.plain for one in beside_plain(table())}
    assert all(ahead["sum", depth].above(0.05) for depth in (1, 3, 5, 7))
    assert all(ahead["digits", depth].below(0) for depth in (3, 5))
    assert all(-0.02 < ahead["digits", depth].value < 0 for depth in (3, 5, 7))


def test_affinity_chooses_no_better_than_chance_and_slopes_do() -> None:
    means = load_study("advantage-criteria").pivot_table("accuracy", ["task", "seed"], "by")
    for task in ("digits", "sum"):
        assert mean_of(means.loc[task]["affinity"] - means.loc[task]["random"]).above() is None
    assert mean_of(means.loc["sum"]["slope"] - means.loc["sum"]["random"]).above(0.05)
