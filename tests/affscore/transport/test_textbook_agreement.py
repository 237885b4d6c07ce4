"""One thousand random well-posed cases: the score is that of the definition, computed slowly in float64."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from threadpoolctl import threadpool_limits

from affscore import affinity_score
from tests.affscore.transport import textbook

CASES = 1000
BOUND = 1e-4
"""How far a score may be from the textbook's."""

ACTIVATIONS = (F.relu, F.gelu, F.silu, F.hardswish, F.relu6, torch.tanh, torch.sigmoid, torch.exp, torch.sin, torch.neg)
REGIMES = ("d < n", "d about n", "n < d < 2n", "d > 2n")


def sizes(regime, rng):
    """n and d: from a handful of points to a few hundred, of all regimes."""
    n = int(np.exp(rng.uniform(np.log(6), np.log(120))))
    low, high = {"d < n": (0.05, 0.8), "d about n": (0.9, 1.1), "n < d < 2n": (1.15, 1.95), "d > 2n": (2.05, 4)}[regime]
    return n, max(round(n * rng.uniform(low, high)), 1)


def case(number):
    """A pair of clouds, the covariance, and what kind of case it is."""
    rng = np.random.default_rng([1, number])
    regime = REGIMES[number % len(REGIMES)]
    n, d = sizes(regime, rng)
    exponent = rng.choice([0.0, 0.5, 1.0, 2.0])  # spectra from flat to steep
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    x = rng.standard_normal((n, d)) * (1.0 + np.arange(d)) ** (-exponent / 2) @ basis
    if rng.random() < 0.3:
        x *= np.sqrt(5 / rng.chisquare(5, size=(n, 1)))  # tails
    x = x / x.std() * 10 ** rng.uniform(-0.5, 0.5) + rng.uniform(-1, 1)
    function = ACTIVATIONS[rng.integers(len(ACTIVATIONS))]
    y = function(torch.from_numpy(x)).numpy()
    # units and origins are no part of the score; the empirical covariance is regular only where n is well above d
    x, y = (10 ** rng.uniform(-6, 6) * (cloud + rng.uniform(-3, 3)) for cloud in (x, y))
    name = "empirical" if n >= 2 * d + 2 and rng.random() < 0.5 else "ledoit-wolf"
    return x, y, name, f"case {number}: {function.__name__}, n = {n}, d = {d}, spectrum k^-{exponent:g}, {name}"


def well_posed(x, y, name):
    """Whether equation 4 as it is printed has six digits or more in float64: it divides by roots of covariances."""
    spectra = [np.linalg.eigvalsh(textbook.covariance(cloud, name)) for cloud in (x, y)]
    return all(values[0] > 1e-10 * values[-1] for values in spectra)


@pytest.fixture
def one_thread():
    """On matrices as small as these two threads take longer than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_a_thousand_cases():
    differences, kinds, seen = {}, set(), set()
    number = 0
    while len(differences) < CASES:
        x, y, name, words = case(number)
        if well_posed(x, y, name):
            score = affinity_score(x, y, name)
            differences[words] = abs(score.raw - textbook.affinity(x, y, name))
            kinds.add((name, score.pairing_optimal))
            seen.add(REGIMES[number % len(REGIMES)])
        number += 1
    assert number < 1.2 * CASES, f"only {CASES} of {number} cases were well-posed"
    assert seen == set(REGIMES)
    assert len(kinds) == 4  # both covariances, with and without the pairing as the optimal coupling
    worst = max(differences, key=differences.get)
    assert differences[worst] < BOUND, f"largest of {CASES} differences: {differences[worst]:.1e} ({worst})"
    print(f"largest of {CASES} differences: {differences[worst]:.1e} ({worst}); {number} cases")
