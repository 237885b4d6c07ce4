"""Means and standard errors over seeds, and what wins with each seed."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem

from companion.regression import ERROR, over_seeds


def trials():
    rng = np.random.default_rng(0)
    names = [f"{group}{k}" for group in "AB" for k in range(6)]
    rows = [(name, name[0], seed) for name in names for seed in range(5)]
    table = pd.DataFrame(rows, columns=["name", "group", "seed"])
    return table.assign(**{column: rng.uniform(size=len(table)) for column in ("accuracy", "mean", "max")})


def test_standard_errors_are_those_of_scipy():
    table = trials()
    found = over_seeds(table)
    values = table.loc[table["name"] == "B3", "accuracy"]
    assert found.loc["B3", "accuracy"] == pytest.approx(values.mean())
    assert found.loc["B3", "accuracy" + ERROR] == pytest.approx(sem(values))
    assert (found["seeds"] == 5).all()
    assert "group" not in found


def test_a_seed_without_a_number_does_not_count_in_its_error():
    table = trials()
    table.loc[(table["name"] == "B3") & (table["seed"] == 2), "accuracy"] = np.nan
    values = table.loc[table["name"] == "B3", "accuracy"].dropna()
    assert over_seeds(table).loc["B3", "accuracy" + ERROR] == pytest.approx(sem(values))


def test_one_seed_has_no_error():
    found = over_seeds(trials().query("seed == 0"))
    assert found["accuracy" + ERROR].isna().all()
