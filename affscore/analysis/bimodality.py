"""Has a distribution of scores one peak or several?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from affscore.errors import AffscoreError

__all__ = ["OnePeakTest", "count_peaks", "one_peak_test", "share_above"]

_GRID = 400


@dataclass(frozen=True)
class OnePeakTest:
    """Whether one peak is enough for a sample.

    Attributes:
        bandwidth: The smallest bandwidth at which the density estimate of the sample has a single peak.
        p_value: Share of the samples from that smoothest one-peaked density which need at least as large a bandwidth.
            A small one speaks against a single peak.
    """

    bandwidth: float
    p_value: float


def count_peaks(values: ArrayLike, bandwidth: float) -> int:
    """The number of peaks of a density estimate with normal kernels.

    Args:
        values: A sample, (k,).
        bandwidth: Standard deviation of the kernels, positive.

    Returns:
        How many local maxima the estimate has; it never grows with the bandwidth.

    Source: Silverman (1981).

    >>> count_peaks([0.2, 0.3, 0.8, 0.9], 0.1), count_peaks([0.2, 0.3, 0.8, 0.9], 0.5)
    (2, 1)
    """
    sample = _sample(values)
    return int(_peaks(sample[None], np.array([bandwidth]))[0])


def one_peak_test(values: ArrayLike, resamples: int = 999, seed: int = 0) -> OnePeakTest:
    r"""Silverman's test: is one peak enough?

    A density estimate has the fewer peaks the wider its kernels. The critical bandwidth h is the smallest that leaves
    one peak; a sample from two groups far apart needs a large one. How large by chance is found by drawing from the
    estimate at h, whose variance is brought back to that of the sample:

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
    >>> one_peak_test(far).p_value < 0.05
    True
    """
    sample = _sample(values)
    if len(sample) < 4 or np.ptp(sample) == 0:
        return OnePeakTest(np.nan, np.nan)
    widest = float(np.ptp(sample))  # so wide, all kernels are concave where the sample lies, and so is their sum
    narrowest = widest * 1e-3
    bandwidth = float(
        optimize.bisect(lambda h: count_peaks(sample, h) - 1.5, narrowest, widest, xtol=1e-4 * widest)
        if count_peaks(sample, narrowest) > 1
        else narrowest
    )
    bandwidth += 1e-4 * widest  # on the side of one peak
    generator = np.random.default_rng(seed)
    drawn = generator.choice(sample, (resamples, len(sample)))
    noise = generator.standard_normal(drawn.shape)
    mean, variance = sample.mean(), sample.var(ddof=1)
    drawn = mean + (drawn - mean + bandwidth * noise) / np.sqrt(1 + bandwidth**2 / variance)
    needs_more = _peaks(drawn, np.full(resamples, bandwidth)) > 1
    return OnePeakTest(bandwidth, float((1 + needs_more.sum()) / (1 + resamples)))


def share_above(one: ArrayLike, other: ArrayLike) -> float:
    """How well two groups of scores are told apart by size: how often one of the first is above one of the second.

    Args:
        one: Scores of the first group, such as those after a residual sum.
        other: Scores of the second group.

    Returns:
        The share of the pairs in which the first is larger, ties counted half: 0.5 where the groups cannot be told
        apart, 1 where they do not overlap. It is Mann and Whitney's U divided by the number of pairs.

    Raises:
        AffscoreError: An empty group, or no numbers.

    >>> share_above([0.9, 0.8], [0.7, 0.85])
    0.75
    """
    first, second = _sample(one), _sample(other)
    larger = np.sign(first[:, None] - second)
    return float((larger + 1).mean() / 2)


def _peaks(samples: NDArray[np.float64], bandwidths: NDArray[np.float64]) -> NDArray[np.intp]:
    """Local maxima of the density estimate of each row, on a grid that spans it."""
    low, high = samples.min(axis=1), samples.max(axis=1)
    # a step beyond both ends, where the estimate surely rises and falls
    places = np.arange(-1, _GRID + 1) / (_GRID - 1)
    slope = np.empty((len(samples), len(places)))
    for row, (sample, bandwidth) in enumerate(zip(samples, bandwidths, strict=True)):
        away = (sample - (low[row] + (high[row] - low[row]) * places)[:, None]) / bandwidth
        exponents = -(away**2) / 2
        # as a multiple of the largest kernel, since far from all of them everything would round to zero
        slope[row] = (away * np.exp(exponents - exponents.max(axis=1, keepdims=True))).sum(axis=1)
    rising = slope > 0
    return (rising[:, :-1] & ~rising[:, 1:]).sum(axis=1)


def _sample(values: ArrayLike) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        raise AffscoreError(f"expected a list of finite numbers, got an array of shape {sample.shape}")
    return sample
