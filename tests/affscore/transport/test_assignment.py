from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore.errors import AffscoreError
from affscore.transport import optimal_coupling, wasserstein
from tests.affscore.transport.clouds import cloud, clouds, generators, scales

# W2 is a root: an error of 1e-16 of the mean squared size in the costs is one of 1e-8 of the size in a distance
# that is zero. Distances of the size of the clouds themselves are right to 1e-12.


def coupling_of(x, y):
    return optimal_coupling(torch.tensor(x, dtype=torch.float64), torch.tensor(y, dtype=torch.float64))


def brute_force(x, y):
    """The cost of every permutation, that of the pairing i -> i first."""
    return [((x - y[list(order)]) ** 2).sum(axis=1).mean() for order in permutations(range(len(x)))]


@given(clouds(max_n=60, max_d=1), generators(), scales())
def test_on_the_line_the_optimal_coupling_sorts(x, rng, scale):
    y = cloud("heavy tails", *x.shape, rng)
    expected = np.sqrt(((np.sort(x, axis=0) - np.sort(y, axis=0)) ** 2).mean())
    assert wasserstein(scale * x, scale * y) == pytest.approx(scale * expected, rel=1e-9)


@given(st.integers(1, 6), st.integers(1, 3), generators())
def test_brute_force_over_all_permutations_agrees(n, d, rng):
    """On a lattice, where all costs are integers: ties are ties, and the certificate has no excuse."""
    x, y = rng.integers(-3, 4, size=(2, n, d)).astype(float)
    costs = brute_force(x, y)
    coupling = coupling_of(x, y)
    assert coupling.cost == pytest.approx(min(costs), abs=1e-12)
    assert coupling.pairing_cost == pytest.approx(costs[0], abs=1e-12)
    assert coupling.pairing_optimal == (costs[0] < min(costs) + 1e-9)
    assert sorted(coupling.assignment.tolist()) == list(range(n))
    assert ((x - y[coupling.assignment]) ** 2).sum() / n == pytest.approx(coupling.cost, abs=1e-12)


@pytest.fixture
def without_solver(monkeypatch):
    def solver(costs):
        raise AssertionError("the certificate should have been enough")

    monkeypatch.setitem(optimal_coupling.__globals__, "linear_sum_assignment", solver)


@pytest.mark.usefixtures("without_solver")
@pytest.mark.parametrize("swapped", [False, True], ids=["columns only", "rows only"])
def test_rows_or_columns_alone_certify_the_pairing(swapped):
    # x_2 is nearest to y_3, but each point of y is nearest to its own partner
    x, y = np.array([[-9.0], [3.0], [6.0]]), np.array([[-5.0], [-2.0], [7.0]])
    costs = (x - y.T) ** 2
    assert costs.argmin(axis=1).tolist() == [0, 2, 2]
    assert costs.argmin(axis=0).tolist() == [0, 1, 2]
    assert (coupling_of(y, x) if swapped else coupling_of(x, y)).pairing_optimal


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e8])
def test_far_from_the_origin_nothing_is_lost(offset):
    """Costs as differences of squared norms would have no digits left at 1e8."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 1))
    y = x + 0.05 * rng.standard_normal((50, 1))
    near = wasserstein(x, y)
    assert not coupling_of(x, y).pairing_optimal
    assert not coupling_of(x + offset, y + offset).pairing_optimal
    # the points themselves are rounded to 1e-16 of the offset
    assert wasserstein(x + offset, y + offset) == pytest.approx(near, abs=1e-15 * offset + 1e-12)


def test_clouds_of_different_shapes_are_refused():
    with pytest.raises(AffscoreError, match=r"the same shape \(n, d\), got \(2, 1\) and \(3, 1\)"):
        wasserstein([[0.0], [1.0]], [[0.0], [1.0], [2.0]])
    with pytest.raises(AffscoreError, match="y must be finite"):
        wasserstein([[0.0], [1.0]], [[0.0], [np.nan]])


# What decided -----------------------------------------------------------------------------------------------------


def near_ties(margin, n=40, d=30, seed=0):
    """Clouds whose pairing is optimal, and in which a swap of the first two would cost as little as ``margin`` more."""
    rng = np.random.default_rng(seed)
    y = rng.standard_normal((n, d))
    y[1] = y[0]
    y[0, 0] += 0.5
    x = y.copy()
    x[[0, 1], 0] = y[[0, 1], 0].mean() + np.array([margin, -margin])
    return x, y


@pytest.mark.parametrize(("margin", "decided_by"), [(1e-1, "float32"), (1e-8, "float64"), (-1e-8, "assignment")])
def test_float32_decides_only_where_its_error_is_smaller_than_the_margin(margin, decided_by):
    coupling = coupling_of(*near_ties(margin))
    assert coupling.decided_by == decided_by
    assert coupling.pairing_optimal == (margin > 0)
    assert coupling.assignment[:2].tolist() == ([0, 1] if margin > 0 else [1, 0])


def test_float32_is_not_asked_where_its_products_may_be_less(monkeypatch):
    x, y = near_ties(0.1)
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "medium")
    coupling = coupling_of(x, y)
    assert (coupling.decided_by, coupling.pairing_optimal) == ("float64", True)


def test_float32_is_not_asked_under_autocast_or_where_it_overflows():
    x, y = near_ties(0.1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert coupling_of(x, y).decided_by == "float64"
    huge = coupling_of(1e10 * x, 1e20 * y[::-1].copy())
    assert huge.decided_by != "float32"


def test_float32_never_decides_by_the_luck_of_its_rounding():
    """Thirty pairs of clouds whose coupling i -> i is not optimal, by a margin far below its rounding."""
    found = [coupling_of(*near_ties(-1e-8, seed=seed)) for seed in range(30)]
    assert {(one.decided_by, one.pairing_optimal) for one in found} == {("assignment", False)}
