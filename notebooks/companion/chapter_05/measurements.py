"""How many modes the scores of a network have, and which activations are in which."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats
from sklearn.mixture import GaussianMixture

from affscore.errors import AffscoreError
from affscore.options import Specification, check_integer

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


class MixtureTest(NamedTuple):
    """Whether one Gaussian is enough for a sample, or two are better.

    Attributes:
        likelihood_ratio: Twice the logarithm of the ratio of the likelihoods of two Gaussians and of one; >= 0.
        p_value: Share of the samples from one Gaussian with at least as large a ratio.
            A small one speaks against one Gaussian.
    """

    likelihood_ratio: float
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


def mixture_test(values: ArrayLike, resamples: int = 99, seed: int = 0) -> MixtureTest:
    r"""One Gaussian against a mixture of two, by the likelihood ratio and a parametric bootstrap.

    .. math:: \Lambda = 2 \bigl(\ell_2(x) - \ell_1(x)\bigr)

    with the largest log-likelihoods of both. How large it is without two groups is found by drawing from the one
    Gaussian. It asks another question than :func:`unimodality_test`: two Gaussians near each other have one mode, and
    a single group that is skewed or has heavy tails is no Gaussian, so that it is refuted, too.

    Args:
        values: A sample, (k,).
        resamples: How many samples to draw.
        seed: Of the draws.

    Returns:
        Likelihood ratio and p-value; NaN for fewer than four values or equal ones. A component's variance is at least
        a hundredth of that of the sample, so that no component shrinks to a point.

    Raises:
        AffscoreError: No numbers, or missing ones.

    Source: McLachlan (1987). The paper calls distributions bimodal and gives no test.

    >>> far = [0.50, 0.52, 0.53, 0.55, 0.56, 0.58, 0.90, 0.92, 0.93, 0.95, 0.96, 0.98]
    >>> mixture_test(far, resamples=19).p_value
    0.05
    """
    sample = _sample(values)
    if len(sample) < 4 or np.ptp(sample) == 0:
        return MixtureTest(np.nan, np.nan)
    observed, under_one = _likelihood_ratio(sample), _ratios_under_one(len(sample), resamples, seed)
    return MixtureTest(observed, (1 + sum(ratio >= observed for ratio in under_one)) / (1 + resamples))


def common_language_effect_size(one: ArrayLike, other: ArrayLike) -> float:
    """How well two groups of scores are separated: how often one of the first is above one of the second.

    Args:
        one: Scores of the first group, such as those after a residual sum.
        other: Scores of the second group.

    Returns:
        The share of the pairs in which the first is larger, ties counted half: 0.5 where the groups are not
        separated at all, 1 where they do not overlap. It is the area under the ROC curve (AUC), Mann and
        Whitney's U divided by the number of pairs.

    Raises:
        AffscoreError: An empty group, or no numbers.

    >>> common_language_effect_size([0.9, 0.8], [0.7, 0.85])
    0.75
    """
    first, second = _sample(one), _sample(other)
    return float(stats.mannwhitneyu(first, second).statistic / (len(first) * len(second)))


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


@cache
def _ratios_under_one(size: int, resamples: int, seed: int) -> tuple[float, ...]:
    """Likelihood ratios of samples from one Gaussian; they are the same for its every mean and variance."""
    drawn = np.random.default_rng(seed).standard_normal((resamples, size))
    return tuple(_likelihood_ratio(each) for each in drawn)


def _likelihood_ratio(sample: NDArray[np.float64]) -> float:
    """Of two Gaussians against one, whose parameters are the mean and the variance of the sample."""
    standard = _standardised(sample)
    one = -(np.log(2 * np.pi) + 1) / 2  # the mean log-likelihood of a standardised sample
    return max(2 * len(standard) * float(_two_gaussians().fit(standard).score(standard) - one), 0.0)


def _standardised(sample: NDArray[np.float64]) -> NDArray[np.float64]:
    return ((sample - sample.mean()) / sample.std())[:, None]


def _two_gaussians() -> GaussianMixture:
    from sklearn.mixture import GaussianMixture  # slow to load

    return GaussianMixture(2, covariance_type="spherical", reg_covar=0.01, init_params="k-means++", random_state=0)


def _sample(values: ArrayLike) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        raise AffscoreError(f"expected a list of finite numbers, got an array of shape {sample.shape}")
    return sample


FIRST, SECOND = ("first",), ("second", "after-sum")
"""Kinds of the two activations of a block."""


def groups_of_scores(study: pd.DataFrame, resamples: int = 99) -> pd.DataFrame:
    """Are the scores of each network of one group, and are the groups the two activations of its blocks?

    Args:
        study: Networks with blocks of two activations (:mod:`companion.studies`).
        resamples: Of Silverman's test, 19 at least: with fewer no p-value is below 5 %.

    Returns:
        A row for each network and specification: ``network``, ``weights``, ``shortcuts`` (whether it has them),
        ``activations``, the five words of the specification; ``one Gaussian`` and ``one mode``, the p-values
        of :func:`mixture_test` and :func:`unimodality_test`; and ``separation``,
        how often the score of the second activation of a block, or of that after the sum, exceeds one of a first
        (:func:`common_language_effect_size`).

    Raises:
        AffscoreError: Too few resamples, or a network without blocks of two activations.

    >>> from companion.studies import load_study, under
    >>> rows = under(load_study("shortcuts")).query("network == 'residual34' and seed == 1")
    >>> (found,) = groups_of_scores(rows).itertuples()
    >>> found.activations, found.separation > 0.9
    (33, True)
    """
    check_integer("resamples", resamples, 19)
    rows, words = [], list(Specification._fields)
    for (model, weights, *choice), table in study.groupby(["model", "weights", *words], sort=False):
        first, second = (table.loc[table["kind"].isin(kinds), "score"].dropna() for kinds in (FIRST, SECOND))
        if first.empty or second.empty:
            raise AffscoreError(f"expected a network with blocks of two activations, got {model}, which has none")
        scores = table["score"].dropna()
        rows.append({
            "network": str(model).rpartition(":")[2],
            "weights": weights,
            "shortcuts": bool((table["kind"] == "after-sum").any()),
            "activations": len(scores),
            **dict(zip(words, choice, strict=True)),
            "one Gaussian": mixture_test(scores).p_value,
            "one mode": unimodality_test(scores, resamples).p_value,
            "separation": common_language_effect_size(second, first),
        })  # fmt: skip
    return pd.DataFrame(rows)
