from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from torch import nn

from affscore.comparison import STATISTICS
from affscore.survey.job import key_of
from affscore.survey.store import Store
from companion.mini_zoo import MINI_NETWORKS, WEIGHTS, hard_task, list_models
from companion.mini_zoo.distorted_digits import SEEDS, describe, run
from companion.mini_zoo.members import is_made, multiply_adds, zoo_table
from companion.mini_zoo.training import hard_recipe_of, recipe_of

MODELS = list_models()


@pytest.mark.slow
def test_the_table_is_what_is_found_by_looking_again():
    """The depths of all of them: test_mini_networks.py."""
    some = MODELS.drop_duplicates("family", keep="last")
    again = zoo_table(some["name"]).set_index(some.index)
    pd.testing.assert_frame_equal(again, some, check_dtype=False)


def test_multiply_adds_are_counted_in_convolutions():
    convolutions = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 1), nn.Flatten())
    model = nn.Sequential(convolutions, nn.Linear(2 * 16 * 16, 10))
    expected = 16 * 16 * 4 * 9 + 16 * 16 * 2 * 4 + 512 * 10
    assert multiply_adds(model, MINI_NETWORKS["alexnet"]) == expected


def test_all_networks_are_made_with_the_present_recipes():
    assert [
        name for name in MINI_NETWORKS if not is_made(name, recipe_of(name), MINI_NETWORKS[name].weights.parent)
    ] == []


def test_each_network_has_five_seeds_of_the_hard_task_as_it_is_described():
    table = hard_task()
    assert list(table.columns) == ["name", "seed", "accuracy", *STATISTICS]
    assert list(table[["name", "seed"]].itertuples(index=False, name=None)) == [
        (name, seed) for name in MINI_NETWORKS for seed in SEEDS
    ]
    assert table.notna().all(axis=None)
    assert table["accuracy"].between(0, 100).all()
    np.testing.assert_allclose(table["max"] / table["mean"], table["max/mean"], rtol=1e-4)
    about = Store(WEIGHTS.parent / "hard_task").descriptions().values()
    assert {one["name"]: one["job"] for one in about} == {name: describe(name) for name in MINI_NETWORKS}
    assert all(one["key"] == key_of(one["job"]) for one in about)


@pytest.mark.slow
def test_a_run_of_the_hard_task_is_fixed_by_its_seed_and_counts_in_percent():
    recipe = replace(hard_recipe_of("vit_b_32"), epochs=2)
    row, again, other = (run("vit_b_32", seed, recipe) for seed in (0, 0, 1))
    assert row == again
    assert list(row) == ["name", "seed", "accuracy", *STATISTICS]
    assert (other["seed"], other["mean"] != row["mean"]) == (1, True)
    assert 5 < row["accuracy"] < 100
    assert 5.97 * row["accuracy"] == pytest.approx(round(5.97 * row["accuracy"]), abs=1e-3)
