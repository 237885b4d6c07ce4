"""The sweeps that come with the package are what the code computes."""

import numpy as np
import pandas as pd
import pytest

from affscore.errors import AffscoreError
from companion.activations import ACTIVATIONS
from companion.chapter_02.measurements import MEANS, STDS, domain_sweep
from companion.chapter_03.measurements import QUARTER, RATIOS, STEEP, estimation_sweep, reduction_scores
from companion.sweeps import DRAWS, POINTS, sweep, sweeps

CLOSE = {"rtol": 0, "atol": 1e-6}


def alike(stored, again):
    """The rows of a table as computed again, beside those that are stored."""
    keys = [name for name in again.columns if name in ("activation", "mean", "std", "width", "covariance", "repeat")]
    both = again.merge(stored, on=keys, suffixes=("", "_stored"))
    assert len(both) == len(again)
    for column in ("score", "raw", "limit"):
        np.testing.assert_allclose(both[column], both[f"{column}_stored"], **CLOSE)


def test_every_sweep_is_complete_and_a_copy():
    sizes = {
        "domain": DRAWS * len(ACTIVATIONS) * len(MEANS) * len(STDS),
        "wide": DRAWS * 3 * 4,
        "reductions": DRAWS * len(ACTIVATIONS),
        "drift": DRAWS * len(ACTIVATIONS) * len(RATIOS) * 2,
        "correlated": DRAWS * len(ACTIVATIONS) * len(RATIOS),
        "shrinkage": DRAWS * len(ACTIVATIONS) * 2,
    }
    assert {name: len(sweep(name)) for name in sweeps()} == sizes
    for name in sweeps():
        table = sweep(name)
        assert not table.duplicated(
            [c for c in table if c in ("activation", "mean", "std", "width", "covariance", "repeat", "draw")]
        ).any()
        assert table.notna().all(axis=None)
    changed = sweep("reductions")
    changed["mean"] = 0.0
    assert (sweep("reductions")["mean"] > 0).all()  # each is a copy
    with pytest.raises(AffscoreError, match="there is no sweep 'figure7'"):
        sweep("figure7")


@pytest.mark.slow
def test_rows_are_those_of_the_code():
    draw = DRAWS - 1
    # the seed of a cloud counts the place of its mean and deviation: the first ones are asked for
    again = domain_sweep(["relu", "sigmoid"], MEANS[:1], STDS[:2], points=POINTS, width=300, seed=draw)
    alike(sweep("domain").query(f"draw == {draw}"), again)
    alike(sweep("wide").query(f"draw == {draw}"), domain_sweep(["relu", "tanh"], [0.0], [1.0, 2.0], seed=draw))
    alike(sweep("drift").query("repeat < 2"), estimation_sweep(["relu"], [125, 250], [QUARTER], repeats=2))
    correlated = estimation_sweep(["tanh"], [125], [QUARTER], ["ledoit-wolf"], exponents=[STEEP], repeats=DRAWS)
    alike(sweep("correlated"), correlated)
    reductions = reduction_scores(["relu", "silu"], points=POINTS, reductions=["mean", "reduce_first"], seed=1)
    stored = sweep("reductions").query("draw == 1").set_index("activation").loc[reductions.index, reductions.columns]
    pd.testing.assert_frame_equal(reductions, stored, check_names=False, **CLOSE)
    alike(sweep("shrinkage"), estimation_sweep(["gelu"], [100], [POINTS], ["ledoit-wolf"], repeats=DRAWS))
