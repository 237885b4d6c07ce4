"""Random clouds for property tests: not only Gaussian ones."""

import numpy as np
from hypothesis import strategies as st

REGULAR = ("gaussian", "heavy tails", "two clusters", "skewed", "uneven")
"""Clouds whose covariance has the full rank min(n - 1, d), with a margin."""

DEGENERATE = ("lattice", "rank one", "twin columns", "constant column", "twin points")
"""Clouds with ties, with exact dependences, or both."""

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0.0),
    "tanh": np.tanh,
    "square": np.square,
    "hardtanh": lambda x: np.clip(x, -1.0, 1.0),
    "negation": np.negative,
    "reversal": lambda x: x[::-1] + 0.5 * np.sin(3 * x),
}


def cloud(kind, n, d, rng):
    """One cloud (n, d), centred about the origin, of size about one."""
    x = rng.standard_normal((n, d))
    if kind == "heavy tails":
        x /= np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)
    elif kind == "two clusters":
        x += 3.0 * np.where(np.arange(n) % 2 == 0, 1.0, -1.0)[:, None]
    elif kind == "skewed":
        x = rng.exponential(size=(n, d)) - 1.0
    elif kind == "uneven":
        x *= np.logspace(0, -2, d)
    elif kind == "lattice":
        x = rng.integers(-2, 3, size=(n, d)).astype(float)
    elif kind == "rank one":
        x = rng.integers(-9, 10, size=(n, 1)) * rng.choice([-0.5, 1.0, 2.0], size=(1, d))
    elif kind == "twin columns":
        x[:, d // 2] = x[:, 0]
    elif kind == "constant column":
        x[:, 0] = 0.25
    elif kind == "twin points":
        x[n // 2 :] = x[: n - n // 2]
    return x


def varied(x):
    """The cloud, unless all its points coincide (a draw of few lattice points can): then moved apart."""
    if np.ptp(x, axis=0).max() > 0:
        return x
    x = x.copy()
    x[0] += 1.0
    return x


@st.composite
def clouds(draw, kinds=REGULAR + DEGENERATE, max_n=24, max_d=24):
    """A cloud (n, d) that varies; n is below d about as often as above it."""
    kind = draw(st.sampled_from(kinds))
    n, d = draw(st.integers(2, max_n)), draw(st.integers(1, max_d))
    return varied(cloud(kind, n, d, draw(generators())))


@st.composite
def pairs(draw, kinds=REGULAR, max_n=24, max_d=24):
    """Two clouds (n, d) that vary: an activation and its input, or two clouds that know nothing of each other."""
    x = draw(clouds(kinds, max_n, max_d))
    name = draw(st.sampled_from([*ACTIVATIONS, "unrelated"]))
    if name == "unrelated":
        return x, varied(cloud(draw(st.sampled_from(kinds)), *x.shape, draw(generators())))
    return x, varied(ACTIVATIONS[name](x))


@st.composite
def positive_definite(draw, d, condition=100.0):
    """A symmetric positive definite matrix (d, d), of this condition number for d > 1."""
    basis = draw(orthogonal(d))
    return (basis * np.geomspace(1.0, condition, d)) @ basis.T / np.sqrt(condition)


@st.composite
def orthogonal(draw, d):
    """An orthogonal matrix (d, d), reflections included."""
    return np.linalg.qr(draw(generators()).standard_normal((d, d)))[0]


def generators():
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def scales():
    """Units of measurement, from 1e-6 to 1e6."""
    return st.floats(-6.0, 6.0).map(lambda exponent: 10.0**exponent)
