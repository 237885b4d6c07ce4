"""How many modes the scores of a network have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from affscore.errors import AffscoreError

_GRID = 400


class UnimodalityTest(NamedTuple):
    """Whether one mode is enough for a sample.

    Attributes:
        bandwidth: The smallest bandwidth at which the density estimate of the sample has a single mode.
        p_value: Share of the samples from that smoothest unimodal density which need at least as large a bandwidth.
            A small one speaks against a single mode.
    """

    bandwidth: float
    p_value: float


def count_modes(values: ArrayLike, bandwidth: float) -> int:
    """The number of modes of a density estimate with Gaussian kernels.

    Args:
        values: A sample, (k,).
        bandwidth: Standard deviation of the kernels, positive.

    Returns:
        How many local maxima the estimate has; it never grows with the bandwidth.

    Source: Silverman (1981).

    >>> count_modes([0.2, 0.3, 0.8, 0.9], 0.1), count_modes([0.2, 0.3, 0.8, 0.9], 0.5)
    (2, 1)
    """
    return int(_modes(_sample(values)[None], np.array([bandwidth]))[0])


def unimodality_test(values: ArrayLike, resamples: int = 999, seed: int = 0) -> UnimodalityTest:
    r"""Silverman's test of unimodality: is one mode enough?

    A density estimate has the fewer modes the wider its kernels. The critical bandwidth h is the smallest that leaves
    one mode; a sample from two groups far apart needs a large one. How large without two groups is found by drawing
    from the estimate at h, whose variance is brought back to that of the sample:

    .. math:: x^* = \bar x + (x_i - \bar x + h\,\varepsilon) / \sqrt{1 + h^2 / s^2}

    Args:
        values: A sample, (k,).
        resamples: How many samples to draw.
        seed: Of the draws.

    Returns:
        Critical bandwidth and p-value; NaN for fewer than four values or equal ones. The test is known to be
        conservative: its p-values are rather too large.

    Raises:
        AffscoreError: No numbers, or missing ones.

    Source: Silverman (1981). The paper calls distributions bimodal and gives no test.

    >>> far = [0.50, 0.52, 0.53, 0.55, 0.56, 0.58, 0.90, 0.92, 0.93, 0.95, 0.96, 0.98]
    >>> unimodality_test(far).p_value < 0.05
    True
    """
    sample = _sample(values)
    if len(sample) < 4 or np.ptp(sample) == 0:
        return UnimodalityTest(np.nan, np.nan)
    widest = float(np.ptp(sample))  # so wide, all kernels are concave where the sample lies, and so is their sum
    narrowest, step = widest * 1e-3, widest * 1e-4
    bandwidth = narrowest
    if count_modes(sample, narrowest) > 1:
        bandwidth = float(optimize.bisect(lambda h: count_modes(sample, h) - 1.5, narrowest, widest, xtol=step))
    bandwidth += step  # on the side of one mode
    generator = np.random.default_rng(seed)
    drawn = generator.choice(sample, (resamples, len(sample)))
    noise = generator.standard_normal(drawn.shape)
    mean, variance = sample.mean(), sample.var(ddof=1)
    drawn = mean + (drawn - mean + bandwidth * noise) / np.sqrt(1 + bandwidth**2 / variance)
    needs_more = _modes(drawn, np.full(resamples, bandwidth)) > 1
    return UnimodalityTest(bandwidth, float((1 + needs_more.sum()) / (1 + resamples)))


def _modes(samples: NDArray[np.float64], bandwidths: NDArray[np.float64]) -> NDArray[np.intp]:
    """Local maxima of the density estimate of each row, on a grid that spans it."""
    low, width = samples.min(axis=1), np.ptp(samples, axis=1)
    # a step beyond both ends, where the estimate surely rises and falls
    places = np.arange(-1, _GRID + 1) / (_GRID - 1)
    slope = np.empty((len(samples), len(places)))
    # kernels narrower than a tenth of a grid step would underflow to zero between two grid points
    for row, bandwidth in enumerate(np.maximum(bandwidths, width / (10 * _GRID))):
        away = (samples[row] - (low[row] + width[row] * places)[:, None]) / bandwidth
        exponents = away * away
        exponents *= -0.5
        slope[row] = np.einsum("ij,ij->i", away, np.exp(exponents, out=exponents))
    rising = slope > 0
    return (rising[:, :-1] & ~rising[:, 1:]).sum(axis=1)


def _sample(values: ArrayLike) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        raise AffscoreError(f"expected a list of finite numbers, got an array of shape {sample.shape}")
    return sample
