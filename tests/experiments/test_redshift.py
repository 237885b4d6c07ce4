"""Verdicts on made-up networks, for which score and frequency are known to go together or not."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from affscore import AffscoreError
from affscore.experiments import RandomMLP, networks_of, redshift_changes, redshift_correlations, redshift_networks
from affscore.experiments.redshift import CHANGES, DEPTHS, SCALES, SIZES

SEEDS = 12


def measured(score, frequency):
    """A row for each network; both functions get the network and a number that belongs to its seed and kind."""
    rng = np.random.default_rng(0)
    rows = []
    for mlp in redshift_networks(SEEDS):
        noise = rng.standard_normal()
        rows.append({**mlp._asdict(), "mean": score(mlp, noise), "frequency": frequency(mlp, noise)})
    return pd.DataFrame(rows).sample(frac=1, random_state=0)


def verdicts(table):
    return table.set_index(["group", "over"])["verdict"].to_dict()


def test_every_kind_has_all_seeds_once():
    networks = redshift_networks(3, seed=5)
    assert len(set(networks)) == len(networks)
    assert {mlp.seed for mlp in networks} == {5, 6, 7}
    kinds = {mlp._replace(seed=0) for mlp in networks}
    assert kinds == {cell for groups in (SIZES, DEPTHS) for group in groups.values() for cell in group}
    assert {cell for pair in CHANGES.values() for cell in pair} <= kinds
    assert all(np.log2(scale).is_integer() for scale in SCALES)
    with pytest.raises(AffscoreError, match="at least 2 seeds"):
        redshift_networks(1)


def test_one_number_drives_both_or_nothing_does():
    rng = np.random.default_rng(1)
    together = measured(lambda mlp, noise: -noise, lambda mlp, noise: np.exp(noise))
    assert set(redshift_correlations(together)["verdict"]) == {"follows"}
    apart = measured(lambda mlp, noise: noise, lambda mlp, noise: np.exp(rng.standard_normal()))
    assert set(redshift_correlations(apart)["verdict"]) == {"undecided"}
    against = measured(lambda mlp, noise: noise, lambda mlp, noise: np.exp(noise))
    assert set(redshift_correlations(against)["verdict"]) == {"contradicts"}


def test_what_the_size_does_is_not_what_networks_of_one_size_do():
    """Simpson's paradox: within a size the score rises with the frequency, over sizes it falls."""
    table = measured(lambda mlp, noise: noise - 10 * mlp.scale, lambda mlp, noise: np.exp(noise / 10 + mlp.scale))
    found = verdicts(redshift_correlations(table))
    assert {verdict for (_, over), verdict in found.items() if over == "all sizes"} == {"follows"}
    assert {verdict for (_, over), verdict in found.items() if over == "one size"} == {"contradicts"}


def test_changes_seed_by_seed():
    """The noise of a seed is shared, so that differences are exact though the networks scatter widely."""

    def shared(mlp):
        return np.random.default_rng(mlp.seed).standard_normal()

    table = measured(
        lambda mlp, noise: shared(mlp) + 0.01 * mlp.depth + 1e-6 * noise,
        lambda mlp, noise: np.exp(shared(mlp)) * mlp.depth * (1 + 1e-6 * noise),
    )
    found = redshift_changes(table)
    assert list(found.index) == list(CHANGES)
    for name in ("ReLU", "Tanh × 2"):
        row = found.loc[f"{name}: 12 hidden layers instead of 3"]
        assert row["verdict"] == "contradicts"
        assert row["score"] == pytest.approx(0.09, abs=1e-4)
        assert row["frequency"] == pytest.approx(4.0, rel=1e-4)
        assert row["score_low"] < row["score"] < row["score_high"]
        assert row["frequency_low"] < row["frequency"] < row["frequency_high"]
    same_depth = found.loc["Tanh: weights × 8 instead of × 2"]
    assert same_depth["verdict"] == "undecided"


def test_intervals_of_changes_hold_for_all_rows_and_both_numbers_together():
    table = measured(lambda mlp, noise: noise, lambda mlp, noise: np.exp(noise))
    for change, row in redshift_changes(table).iterrows():
        before, after = (networks_of(table, cell)["mean"].to_numpy() for cell in CHANGES[change])
        half = stats.sem(after - before) * stats.t.ppf(1 - 0.025 / (2 * len(CHANGES)), SEEDS - 1)
        assert row["score_high"] - row["score"] == pytest.approx(half)


def test_networks_that_are_missing():
    table = measured(lambda mlp, noise: noise, lambda mlp, noise: 1 + noise**2)
    rows = networks_of(table, RandomMLP(seed=99))
    assert rows["seed"].tolist() == list(range(SEEDS))
    assert set(rows["activation"]) == {"relu"}
    with pytest.raises(AffscoreError, match=r"at least two seeds of RandomMLP.*got 0"):
        networks_of(table, RandomMLP("gelu"))
    for ask in (redshift_correlations, redshift_changes):
        with pytest.raises(AffscoreError, match="got 1"):
            ask(table[table["seed"] == 0])
