import math

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf

import affscore
from affscore import AffscoreError
from affscore.transport.published import affinity_score
from tests.affscore.transport import textbook

# Covariances and maps in float32: seven digits, of which a condition number of a few hundred takes two or three.
SINGLE = 1e-4


def relu(x):
    return np.maximum(x, 0.0)


def gaussian(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def dominated(n, d, seed):
    """A few directions carry nearly all of the variance, as deep in a network; far above the ridge."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return 100.0 * (rng.standard_normal((n, d)) * np.arange(1.0, d + 1.0) ** -3) @ basis + 3.0


@pytest.mark.parametrize("activation", [relu, np.tanh, np.square, np.negative])
@pytest.mark.parametrize(("n", "d"), [(200, 10), (40, 60)])
def test_it_agrees_with_ours_where_the_covariances_are_well_conditioned(activation, n, d):
    x = gaussian(n, d)
    expected = affscore.affinity_score(x, activation(x)).raw
    assert affinity_score(x, activation(x)) == pytest.approx(expected, abs=SINGLE)


def test_the_raw_variant_divides_by_n_minus_one():
    """The map does not see the divisor, the normaliser does."""
    n = 30
    x = gaussian(n, 4)
    expected = 1 - (1 - affscore.affinity_score(x, relu(x), "empirical").raw) * math.sqrt((n - 1) / n)
    assert affinity_score(x, relu(x), "raw") == pytest.approx(expected, abs=SINGLE)
    assert abs(expected - affscore.affinity_score(x, relu(x), "empirical").raw) > 10 * SINGLE


@pytest.mark.parametrize("size", [1e-2, 3e-3])
@pytest.mark.parametrize("variant", ["corrected", "raw"])
def test_the_ridge_is_a_millionth_whatever_the_units(size, variant):
    """Equation 5 with S + 1e-6 I, in float64: the same number, as long as the product is well conditioned."""
    x = size * gaussian(100, 5)
    y = relu(x)
    ridge = 1e-6 * np.eye(5)
    source, target = (ledoit_wolf(z)[0] if variant == "corrected" else np.cov(z.T) for z in (x, y))
    source, target = source + ridge, target + ridge
    mapped = (x - x.mean(axis=0)) @ textbook.linear_part(source, target) + y.mean(axis=0)
    expected = 1 - textbook.wasserstein(mapped, y) / math.sqrt(2 * np.trace(target))
    assert affinity_score(x, y, variant) == pytest.approx(expected, abs=10 * SINGLE)


def test_it_depends_on_the_units_and_ours_does_not():
    x = gaussian(256, 30)
    ours = [affscore.affinity_score(size * x, relu(size * x)).raw for size in (1.0, 3e-3, 3e-4)]
    theirs = [affinity_score(size * x, relu(size * x)) for size in (1.0, 3e-3, 3e-4)]
    assert ours == pytest.approx([ours[0]] * 3, abs=1e-9)
    assert theirs[0] == pytest.approx(ours[0], abs=SINGLE)
    assert theirs[1] > theirs[0] + 0.01
    assert theirs[2] > theirs[0] + 0.2


def test_an_output_of_less_variance_than_the_ridge_is_not_transported():
    """A = 0 there: what is left is the spread of Y itself, over a normaliser that the ridge has doubled or more."""
    y = 5e-4 * gaussian(100, 20)
    variance = ledoit_wolf(y)[0].trace()
    assert variance < 20e-6
    expected = 1 - math.sqrt(y.var(axis=0).sum() / (2 * (variance + 20e-6)))
    assert affinity_score(gaussian(100, 20, seed=1), y) == pytest.approx(expected, abs=SINGLE)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_fails_where_few_directions_dominate(seed):
    """What happens on the last ReLU of SqueezeNet 1.1, made small: d above n, and a spectrum that falls.

    The product of the roots has a condition number far above the 1e7 that float32 resolves; its smallest
    eigenvalues are rounding, and the map divides by their roots.
    """
    x = dominated(128, 250, seed)
    y = relu(x)
    expected = textbook.affinity(x, y)
    assert 0.6 < expected < 0.8
    assert affscore.affinity_score(x, y).raw == pytest.approx(expected, abs=1e-6)
    assert affinity_score(x, y) < 0
    assert affinity_score(x, y, "raw") < 0


@pytest.mark.parametrize(
    ("x", "y", "variant", "message"),
    [
        (gaussian(5, 2), gaussian(5, 2), "shrunk", "variant must be one of corrected, raw, got 'shrunk'"),
        (gaussian(5, 2), gaussian(5, 3), "raw", r"the same shape .*, got \(5, 2\) and \(5, 3\)"),
        (1e20 * gaussian(5, 2), gaussian(5, 2), "raw", "x is too large for the published formula in float32: divide"),
        (gaussian(5, 2), 1e50 * gaussian(5, 2), "raw", "y is too large for the published formula"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(x, y, variant, message):
    with pytest.raises(AffscoreError, match=message):
        affinity_score(x, y, variant)
