"""The extrapolated score: by hand, and where it is missing."""

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from affscore import AffscoreError, affinity_score
from affscore.transport import extrapolated_affinity_scores
from companion.activations import ACTIVATIONS
from tests.affscore.transport.clouds import pairs

NAMES = ("ledoit-wolf", "empirical")


def gaussian(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def gelu(x):
    return ACTIVATIONS["gelu"](torch.as_tensor(x)).numpy()


def extrapolated(x, y, name="ledoit-wolf", **options):
    return extrapolated_affinity_scores(x, y, affinity_score(x, y, name), **options)


def by_hand(x, y, first, second, name, ridge=0.0):
    """The formula, from scores of the samples themselves."""
    whole, *halves = (affinity_score(x[rows], y[rows], name, ridge=ridge) for rows in (slice(None), first, second))
    return tuple(
        np.clip(2 * getattr(whole, which) - sum(getattr(half, which) for half in halves) / 2, 0, 1)
        for which in ("raw", "paired")
    )


# The definition ------------------------------------------------------------------------------------------------


@given(pairs(), st.sampled_from(NAMES), st.sampled_from([0.0, 1e-2]))
def test_it_is_the_formula_applied_to_every_other_sample(pair, name, ridge):
    x, y = pair
    assume(len(x) >= 4)
    last = len(x) // 2 * 2
    found = extrapolated_affinity_scores(x, y, affinity_score(x, y, name, ridge=ridge), ridge=ridge)
    # raw is the root of what rounding perturbs: 1e-9 of the cost is 3e-5 of a score next to 1
    assert found == pytest.approx(by_hand(x, y, slice(0, last, 2), slice(1, last, 2), name, ridge), abs=1e-4)


@pytest.mark.parametrize("images", [12, 13])
@pytest.mark.parametrize("name", NAMES)
def test_the_positions_of_an_image_stay_together(images, name):
    x = gaussian(3 * images, 5)
    of_image = np.arange(3 * images) // 3
    found = extrapolated(x, gelu(x), name, group=3)
    halves = [np.flatnonzero((of_image % 2 == half) & (of_image < 12)) for half in (0, 1)]
    assert found == pytest.approx(by_hand(x, gelu(x), *halves, name))
    assert found != pytest.approx(extrapolated(x, gelu(x), name))


# Where there is nothing to extrapolate ---------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "group"), [(2, 1), (3, 1), (6, 2), (27, 9)])
def test_fewer_than_four_images_have_none(n, group):
    x = gaussian(n, 3)
    assert all(math.isnan(value) for value in extrapolated(x, np.maximum(x, 0), group=group))
    more = gaussian(n + group, 3)
    missing = math.isnan(extrapolated(more, np.maximum(more, 0), group=group)[0])
    assert missing == (n + group < 4 * group)


@pytest.mark.parametrize("start", [0, 1])
def test_a_half_whose_input_alone_is_constant_has_no_score(start):
    x = gaussian(20, 3)
    x[start::2] = 0.0
    y = gaussian(20, 3, seed=1)
    assert all(math.isnan(value) for value in extrapolated(x, y))


def test_what_is_rounding_in_the_whole_is_rounding_in_the_halves():
    x = 20 + gaussian(64, 4)
    x[1, 0] = -1.0  # the one sample that does not saturate: the other half varies by rounding
    y = np.tanh(x)
    assert y[::2].std() > 0
    whole, half = affinity_score(x, y), affinity_score(x[1::2], y[1::2])
    assert extrapolated(x, y)[0] == pytest.approx(max(2 * whole.raw - (1 + half.raw) / 2, 0))
    assert extrapolated(20 + gaussian(64, 4), np.tanh(20 + gaussian(64, 4))) == (1, 1)


def test_what_does_not_fit_together_is_refused_with_a_sentence():
    x = gaussian(12, 3)
    score = affinity_score(x, np.maximum(x, 0))
    for samples in (x[:10], x[:, :2]):
        with pytest.raises(AffscoreError, match=r"the score is of clouds \(12, 3\), but x and y have shape \(1"):
            extrapolated_affinity_scores(samples, samples, score)
