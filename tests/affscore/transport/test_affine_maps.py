import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from affscore.errors import AffscoreError
from affscore.transport import affine_map, wasserstein
from affscore.transport.affine_maps import linear_part
from affscore.transport.covariances import estimate
from tests.affscore.transport import textbook
from tests.affscore.transport.clouds import cloud, clouds, generators, pairs
from tests.affscore.transport.clouds import positive_definite as positive_definite_matrices

NAMES = ("ledoit-wolf", "empirical")

# A Bures-Wasserstein distance is the root of a difference of traces: 1e-16 of a trace is 1e-8 of its root.
DIGITS_OF_A_ROOT = 1e-7


def centred(x):
    return torch.tensor(x - x.mean(axis=0))


def distance_of_normals(source, target):
    """The 2-Wasserstein (Bures-Wasserstein) distance between two normal distributions of one mean (Gelbrich 1990)."""
    fidelity = float(torch.linalg.matrix_norm(target.factor() @ source.factor().T, "nuc"))
    return max(source.trace + target.trace - 2.0 * fidelity, 0.0) ** 0.5


def with_covariance(matrix):
    """A covariance estimate that is this matrix: that of the 2 d points +- sqrt(d) (rows of its root)."""
    rows = np.sqrt(len(matrix)) * textbook.root(np.asarray(matrix, dtype=float))
    return estimate(torch.tensor(np.concatenate([rows, -rows])), "empirical")


def positive_definite(rng, d):
    factor = rng.standard_normal((d, d))
    return factor @ factor.T / d + 0.1 * np.eye(d)


# Closed forms -----------------------------------------------------------------------------------------------


def test_in_one_dimension_the_map_is_the_ratio_of_standard_deviations():
    x = np.random.default_rng(0).standard_normal((50, 1))
    y = np.random.default_rng(1).exponential(3.0, (50, 1))
    for name in NAMES:
        transport = affine_map(x, y, name)
        assert transport.matrix.item() == pytest.approx(y.std() / x.std(), rel=1e-12)
        assert transport(x).mean().item() == pytest.approx(y.mean(), rel=1e-12)


@given(generators())
def test_two_by_two_covariances_have_a_closed_form(rng):
    """For 2 x 2 matrices, tr (S_X S_Y)^(1/2) = sqrt(tr S_X S_Y + 2 sqrt(det S_X S_Y)), by Cayley and Hamilton."""
    a, b = positive_definite(rng, 2), positive_definite(rng, 2)
    cross = np.sqrt(np.trace(a @ b) + 2.0 * np.sqrt(np.linalg.det(a @ b)))
    expected = np.sqrt(max(np.trace(a) + np.trace(b) - 2.0 * cross, 0.0))
    assert distance_of_normals(with_covariance(a), with_covariance(b)) == pytest.approx(
        expected, rel=1e-6, abs=DIGITS_OF_A_ROOT
    )


@given(pairs(), st.sampled_from(NAMES))
def test_the_distance_of_the_normal_approximations_is_that_of_the_textbook(pair, name):
    x, y = pair
    s_x, s_y = (textbook.covariance(points, name) for points in pair)
    size = np.sqrt(np.trace(s_x) + np.trace(s_y))
    ours = distance_of_normals(estimate(centred(x), name), estimate(centred(y), name))
    # the textbook takes the root of a product, whose rounding is 1e-8 of the product: 1e-4 after another root
    assert ours**2 == pytest.approx(textbook.bures_wasserstein(s_x, s_y) ** 2, abs=1e-7 * size**2)


# Theorem 3.3, the Gelbrich bound and Proposition 3.5 ----------------------------------------------------------


@given(clouds(), st.data())
def test_theorem_3_3_a_positive_definite_map_is_recovered(x, data):
    """Y = X T: then W2(N_X, N_Y) = W2(X, Y), and the map is T, wherever X has samples to tell."""
    matrix = data.draw(positive_definite_matrices(x.shape[1]))
    x = x - x.mean(axis=0)
    y = x @ matrix
    transport = affine_map(x, y, "empirical")
    size = np.sqrt((y**2).sum(axis=1).mean())
    # cond(T) = 100 and cond(X) up to 1e3: 1e-16 becomes 1e-11 at worst
    np.testing.assert_allclose(transport(x).numpy(), y, atol=1e-8 * size)
    if np.linalg.matrix_rank(x) == x.shape[1]:
        np.testing.assert_allclose(transport.matrix.numpy(), matrix, atol=1e-6 * np.abs(matrix).max())
    distance = distance_of_normals(estimate(centred(x), "empirical"), estimate(centred(y), "empirical"))
    size = np.sqrt((x**2).sum(axis=1).mean() + size**2)
    assert distance == pytest.approx(wasserstein(x, y), rel=1e-9, abs=DIGITS_OF_A_ROOT * size)


# The singular limit -------------------------------------------------------------------------------------------


@given(st.integers(2, 8), st.integers(0, 12), generators(), st.sampled_from(["stretched", "relu", "unrelated"]))
def test_a_vanishing_ridge_leads_to_the_singular_map(n, wider, rng, kind):
    """Equation 4 with a ridge, d >= n: the mapped samples tend to ours, at least with the root of the ridge.

    (Below 1e-7 equation 4 itself ends: the product that it takes the root of has eigenvalues ridge^2.)
    """
    x = rng.standard_normal((n, n + wider))
    y = {
        "stretched": x * np.linspace(0.5, 2.0, x.shape[1]),
        "relu": np.maximum(x, 0),
        "unrelated": rng.standard_normal(x.shape),
    }[kind]
    assume(y.std() > 0)
    s_x, s_y = (estimate(centred(points), "empirical") for points in (x, y))
    # what is nearly lost on the way, Y hardly reached by X, is reached late: not the case to measure a rate on
    roots = [np.linalg.svd(points - points.mean(axis=0))[2][: n - 1] for points in (x, y)]
    assume(np.linalg.svd(roots[0] @ roots[1].T)[1].min() > 0.1)
    assume(np.linalg.matrix_rank(y - y.mean(axis=0), tol=0.1) == n - 1)
    limit = centred(x).numpy() @ linear_part(s_x, s_y).numpy().T
    errors = []
    for ridge in (1e-2, 1e-4, 1e-6):
        ridged = (textbook.covariance(points, "empirical", ridge) for points in (x, y))
        mapped = (x - x.mean(axis=0)) @ textbook.linear_part(*ridged).T
        errors.append(np.sqrt(((mapped - limit) ** 2).sum() / ((y - y.mean(axis=0)) ** 2).sum()))
    assert errors[2] < 1e-2
    assert errors[2] < 0.2 * errors[1] + 1e-4
    assert errors[1] < 0.5 * errors[0] + 1e-4


def test_rank_one_is_mapped_along_its_line():
    rng = np.random.default_rng(0)
    u, v, t = rng.standard_normal(5), rng.standard_normal(5), rng.standard_normal((30, 1))
    t -= t.mean()
    x, y = t * u, t**3 * v
    matrix = linear_part(estimate(torch.tensor(x), "empirical"), estimate(centred(y), "empirical")).numpy()
    slope = (t**3).std() / t.std() * np.sign(u @ v)
    np.testing.assert_allclose(x @ matrix.T, slope * t * v, atol=1e-12)
    # and nothing else is
    other = np.linalg.svd(u[None])[2][1:]
    np.testing.assert_allclose(other @ matrix.T, 0.0, atol=1e-12)


# The public function ------------------------------------------------------------------------------------------


def test_clouds_and_points_of_other_widths_are_refused():
    x = np.random.default_rng(0).standard_normal((10, 3))
    with pytest.raises(AffscoreError, match="the same width, got 3 and 2"):
        affine_map(x, x[:, :2])
    with pytest.raises(AffscoreError, match="takes samples of 3 coordinates, got 2"):
        affine_map(x, x)(x[:, :2])
    with pytest.raises(AffscoreError, match="covariance must be one of ledoit-wolf, empirical, got 'oas'"):
        affine_map(x, x, "oas")


def test_every_size_has_its_map_or_a_sentence():
    x = cloud("gaussian", 30, 4, np.random.default_rng(0))
    expected = affine_map(x, 2 * x, "empirical").matrix.numpy()
    for of_x, of_y in ((1e-150, 1e150), (1e150, 1e-150), (1e-300, 1e-300)):
        matrix = affine_map(of_x * x, of_y * 2 * x, "empirical").matrix.numpy()
        np.testing.assert_allclose(matrix * (of_x / of_y), expected, atol=1e-9)
    for of_x, of_y, size in ((1e-200, 1e200, "inf"), (1e300, 1e-300, "0")):
        with pytest.raises(AffscoreError, match=f"factor of {size} is beyond float64"):
            affine_map(of_x * x, of_y * x, "empirical")
