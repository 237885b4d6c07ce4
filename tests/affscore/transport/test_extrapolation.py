"""The extrapolated score: by hand, where it is missing, and its error against limits that are known."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from affscore import AffscoreError, affinity_score
from affscore.transport import extrapolated_affinity_scores
from affscore.transport.samples import centred
from companion.activations import ACTIVATIONS, limit_score, paired_limit
from companion.chapter_03.measurements import power_law_correlation
from tests.affscore.transport.clouds import pairs

NAMES = ("ledoit-wolf", "empirical")

DISTRIBUTIONS = {
    "independent": np.eye,
    "power law": lambda width: np.diag(1.0 / np.arange(1, width + 1)),
    "power law, rotated": lambda width: power_law_correlation(width, 1.0),
}
"""Covariance matrices of normal inputs by their width."""


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


def root_mean_square(errors):
    return float(np.sqrt(np.mean(np.square(errors))))


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


def test_the_paired_score_is_extrapolated_beside_the_exact_one():
    x = gaussian(100, 2)
    score = affinity_score(x, gelu(x))
    exact, paired = extrapolated_affinity_scores(x, gelu(x), score)
    assert not score.pairing_optimal
    assert exact != paired
    alone = affinity_score(x, gelu(x), coupling="paired")
    assert extrapolated_affinity_scores(x, gelu(x), alone) == pytest.approx((paired, paired))


@pytest.mark.parametrize("name", NAMES)
def test_both_are_equal_where_the_pairs_are_optimal(name):
    x = gaussian(60, 30)
    exact, paired = extrapolated(x, np.maximum(x, 0), name)
    assert exact == paired


@given(pairs(), st.sampled_from(NAMES))
def test_it_is_a_score_or_missing(pair, name):
    for value in extrapolated(*pair, name):
        assert 0 <= value <= 1 or (math.isnan(value) and len(pair[0]) < 8)


def test_an_affine_map_scores_one():
    x = gaussian(40, 8)
    assert extrapolated(x, 3 * x - 1, "empirical") == pytest.approx((1, 1), abs=1e-6)


def test_units_origins_types_and_centring_do_not_matter():
    x = gaussian(40, 8)
    y = np.maximum(x, 0)
    expected = extrapolated(x, y)
    assert extrapolated(1e90 * x + 1e91, 1e-90 * y) == pytest.approx(expected)
    assert extrapolated(torch.tensor(x), y.tolist()) == expected
    assert extrapolated(centred(x, "x"), centred(y, "y")) == expected


def test_it_is_the_same_on_every_device(device):
    x = gaussian(40, 8)
    found = extrapolated(torch.tensor(x, device=device), torch.tensor(gelu(x), device=device), group=2)
    assert found == pytest.approx(extrapolated(x, gelu(x), group=2), abs=1e-10)


# Where there is nothing to extrapolate ---------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "group"), [(2, 1), (3, 1), (6, 2), (27, 9)])
def test_fewer_than_four_images_have_none(n, group):
    x = gaussian(n, 3)
    assert all(math.isnan(value) for value in extrapolated(x, np.maximum(x, 0), group=group))
    more = gaussian(n + group, 3)
    missing = math.isnan(extrapolated(more, np.maximum(more, 0), group=group)[0])
    assert missing == (n + group < 4 * group)


def test_a_constant_output_is_affine():
    x = gaussian(20, 3)
    assert extrapolated(x, np.ones_like(x)) == (1, 1)
    assert extrapolated(np.ones_like(x), np.ones_like(x)) == (1, 1)


def test_a_half_whose_output_is_constant_scores_one():
    x = gaussian(20, 3)
    y = np.maximum(x, 0)
    y[::2] = 0.5
    whole, half = affinity_score(x, y), affinity_score(x[1::2], y[1::2])
    assert extrapolated(x, y)[0] == pytest.approx(2 * whole.raw - (1 + half.raw) / 2)


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


def test_the_unit_of_rounding_can_be_given():
    x = gaussian(20, 3)
    y = 1.0 + 1e-4 * np.maximum(x, 0)
    y[1::2] = np.maximum(x[1::2], 0)
    score = affinity_score(x, y, rounding=2.0**-10)
    expected = 2 * score.raw - (1 + affinity_score(x[1::2], y[1::2]).raw) / 2
    assert extrapolated_affinity_scores(x, y, score, rounding=2.0**-10)[0] == pytest.approx(expected)
    assert extrapolated_affinity_scores(x, y, score)[0] > expected + 0.01


def test_what_does_not_fit_together_is_refused_with_a_sentence():
    x = gaussian(12, 3)
    score = affinity_score(x, np.maximum(x, 0))
    for samples in (x[:10], x[:, :2]):
        with pytest.raises(
            AffscoreError, match=r"the score is that of 12 samples with 3 coordinates, but x and y have"
        ):
            extrapolated_affinity_scores(samples, samples, score)
    for group in (0, -1, 5):
        with pytest.raises(AffscoreError, match="group must be a positive number that divides the 12 samples, got"):
            extrapolated_affinity_scores(x, x, score, group=group)
    with pytest.raises(AffscoreError, match="same shape"):
        extrapolated_affinity_scores(x, x[:, :2], score)
    with pytest.raises(AffscoreError, match="y must be finite"):
        extrapolated_affinity_scores(x, x * np.nan, score)


# Against known limits --------------------------------------------------------------------------------------------


def extrapolation_errors(
    activation, ratios, covariances=NAMES, distributions=tuple(DISTRIBUTIONS), width=64, repeats=8
):
    """Root mean square errors of exact scores, as measured and extrapolated, for each n."""
    rows, function = [], ACTIVATIONS[activation]
    for distribution in distributions:
        matrix = DISTRIBUTIONS[distribution](width)
        limit, root = paired_limit(function, matrix), np.linalg.cholesky(matrix).T
        for n, repeat in itertools.product([int(width * ratio) for ratio in ratios], range(repeats)):
            x = torch.from_numpy(np.random.default_rng([0, repeat, n, width]).standard_normal((n, width)) @ root)
            y = function(x)
            for covariance in covariances:
                score = affinity_score(x, y, covariance)
                after, _ = extrapolated_affinity_scores(x, y, score)
                rows.append((distribution, covariance, n, (score.value - limit) ** 2, (after - limit) ** 2))
    table = pd.DataFrame(rows, columns=["distribution", "covariance", "n", "as_measured", "extrapolated"])
    return table.groupby(["distribution", "covariance", "n"], sort=False).mean().pow(0.5).reset_index()


@pytest.fixture(scope="module")
def relu_errors():
    """As measured and extrapolated, by distribution, covariance and n/d."""
    table = extrapolation_errors("relu", (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8), repeats=16)
    table["ratio"] = table["n"] / 64
    columns = ["as_measured", "extrapolated"]
    return table.set_index(["distribution", "covariance", "ratio"])[columns].sort_index()


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["independent", "power law", "power law, rotated"])
def test_the_empirical_bias_shrinks_at_every_number_of_samples(relu_errors, distribution):
    errors = relu_errors.loc[distribution, "empirical"]
    gain = errors["extrapolated"] / errors["as_measured"]
    assert (gain.loc[:0.5] < 0.95).all()  # 0.5 to 0.9
    assert (gain.loc[1:4] < 0.6).all()  # 0.1 to 0.4
    assert gain.loc[8] < 1


@pytest.mark.parametrize("distribution", ["power law", "power law, rotated"])
def test_the_bias_of_shrinkage_shrinks_for_decaying_spectra(relu_errors, distribution):
    errors = relu_errors.loc[distribution, "ledoit-wolf"]
    assert (errors["extrapolated"] < 0.8 * errors["as_measured"]).all()  # 0.2 to 0.6


def test_what_is_added_where_shrinkage_leaves_no_bias(relu_errors):
    errors = relu_errors.loc["independent", "ledoit-wolf"]
    added = errors["extrapolated"] - errors["as_measured"]
    assert added.loc[0.125] < -0.05  # from 0.19 to 0.07: here there is some
    assert (added.loc[1:] < 0.02).all()  # from 0.009 to 0.013 at n = d; the same from n = 4 d on
    most = extrapolation_errors("relu", [0.5], ["ledoit-wolf"], ["independent"], repeats=100)
    assert 0 < (most["extrapolated"] - most["as_measured"]).item() < 0.03  # from 0.024 to 0.034 over 500 samples


@pytest.mark.parametrize("covariance", NAMES)
def test_a_map_that_is_not_the_same_on_every_coordinate(covariance):
    """Tanh of coordinates of variance 1/k is nearly linear on most of them; shrinkage makes the score too low."""
    table = extrapolation_errors("tanh", [1 / 8, 1, 4], [covariance], ["power law"])
    added = (table["extrapolated"] - table["as_measured"]).set_axis(table["n"])
    bound = 0.06 if covariance == "ledoit-wolf" else 0.01
    assert added[8] < bound  # from 0.029 to 0.055 with shrinkage, from 0.05 to 0.04 without
    assert (added[[64, 256]] < 0.01).all()


@pytest.mark.parametrize(("n", "better"), [(8, False), (64, True), (256, True)])
def test_a_linear_map_of_which_shrinkage_hides_the_variances(n, better):
    factors = np.exp(gaussian(1, 64, seed=9))
    measured, corrected = [], []
    for seed in range(4):
        x = gaussian(n, 64, seed)
        measured.append(1 - affinity_score(x, factors * x).value)
        corrected.append(1 - extrapolated(x, factors * x)[0])
    added = root_mean_square(corrected) - root_mean_square(measured)
    assert added < -0.02 if better else 0.05 < added < 0.2  # -0.07 and -0.04, and 0.12 for n = d/8


@pytest.mark.parametrize("covariance", NAMES)
@pytest.mark.parametrize("name", ["gelu", "sigmoid"])
def test_other_activations(name, covariance):
    table = extrapolation_errors(name, [1, 2, 4], [covariance], ["power law, rotated"])
    assert (table["extrapolated"] < 0.8 * table["as_measured"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("covariance", NAMES)
def test_wide_layers(covariance):
    options = {"width": 256, "distributions": ["power law", "power law, rotated"], "repeats": 3}
    table = extrapolation_errors("relu", [1 / 2, 1, 2], [covariance], **options)
    assert (table["extrapolated"] < 0.8 * table["as_measured"]).all()


def test_halves_of_whole_images_find_a_bias_that_split_images_hide():
    """Nine positions of an image that are nearly equal count as one: the bias is that of the number of images."""
    d, images, k = 24, 32, 9
    limit = limit_score(torch.relu)
    errors = {"measured": [], "images": [], "positions": []}
    for seed in range(8):
        shared, own = gaussian(images, d, seed), gaussian(images * k, d, 100 + seed)
        x = math.sqrt(0.95) * np.repeat(shared, k, axis=0) + math.sqrt(0.05) * own
        y = np.maximum(x, 0)
        score = affinity_score(x, y, "empirical")
        errors["measured"].append(score.paired - limit)
        errors["images"].append(extrapolated_affinity_scores(x, y, score, group=k)[1] - limit)
        errors["positions"].append(extrapolated_affinity_scores(x, y, score)[1] - limit)
    found = {name: root_mean_square(values) for name, values in errors.items()}
    assert found["images"] < 0.6 * found["measured"]
    assert found["positions"] > 0.7 * found["measured"]
