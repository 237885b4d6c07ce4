"""Means and standard errors over seeds, and what wins with each seed."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem

from affscore.analysis import ERROR, best_of_each_seed, over_seeds, spread_in_errors
from affscore.errors import AffscoreError


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


def test_each_seed_has_its_own_winner():
    table = trials()
    winner = table["seed"].map({0: "mean", 1: "max", 2: "mean", 3: "max", 4: "mean"})
    for name in ("mean", "max"):
        chosen = winner == name
        table.loc[chosen, name] = table.loc[chosen, "accuracy"]
    found = best_of_each_seed(table, ["mean", "max"])
    assert len(found) == 10
    assert found.set_index(["group", "seed"])["characteristic"].loc["A"].tolist() == [
        "mean",
        "max",
        "mean",
        "max",
        "mean",
    ]
    assert found["r2"].tolist() == pytest.approx([1.0] * 10)
    backwards = best_of_each_seed(table.iloc[::-1], ["mean", "max"])
    assert backwards["seed"].tolist() == sorted(found["seed"])


def test_each_seed_is_fitted_as_asked():
    x = [1.0, 2.0, 4.0, 8.0, 16.0]
    table = pd.DataFrame({"group": "A", "seed": 0, "accuracy": np.log(x), "mean": x})
    assert best_of_each_seed(table, ["mean"])["r2"].item() < 0.9
    assert best_of_each_seed(table, ["mean"], kind="logarithm")["r2"].item() == pytest.approx(1.0)


def test_the_spread_is_in_errors_of_one_network():
    found = over_seeds(trials())
    found["group"] = found.index.str[0]
    row = spread_in_errors(found).loc["A"]
    members = found[found["group"] == "A"]
    assert row["networks"] == 6
    error = np.sqrt((members["accuracy" + ERROR] ** 2).mean())
    assert row["spread"] == pytest.approx((members["accuracy"].max() - members["accuracy"].min()) / error)


def test_what_is_no_table_of_trials_is_refused():
    with pytest.raises(AffscoreError, match="no column 'seed'"):
        over_seeds(trials().drop(columns="seed"))
    with pytest.raises(AffscoreError, match="two rows of the same seed"):
        over_seeds(pd.concat([trials(), trials()]))
    with pytest.raises(AffscoreError, match="no rows"):
        best_of_each_seed(trials().iloc[:0], ["mean"])
