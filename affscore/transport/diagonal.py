r"""The diagonal score: the affinity score where no channel needs another one, without a matrix or a transport."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from scipy.special import stdtrit
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.transport.affinity import ConstantInputError
from affscore.transport.samples import CONSTANT_TOLERANCE, SAFE, Cloud, Samples, as_pair, centred_pair

LEVEL = 0.95
"""Of the interval of a :class:`DiagonalStream`."""

ROUNDING = 1e-13
"""A correlation this near to 1 is 1."""

GROUPS = 20
"""Into so many groups the samples of a stream are dealt, one after the other; the jackknife leaves out one of them."""


@dataclass(frozen=True)
class DiagonalScore:
    """A diagonal score. ``float(score)`` is its value.

    Attributes:
        value: In [0, 1]; 1 where each channel of Y is a non-decreasing affine image of its own channel of X.
        contributions: What each channel takes away, tensor (d,), >= 0. Their sum is ``(1 - value)**2``, or more
            than 1 where the value was cut at 0.
    """

    value: float
    contributions: Tensor

    def __float__(self) -> float:
        return self.value


def diagonal_affinity(x: Cloud, y: Cloud) -> DiagonalScore:
    r"""The affinity score with an affine map of each channel by itself, under the given pairing.

    .. math:: \rho_D = \max\Bigl(0,\; 1 - \sqrt{\sum_k q_k}\Bigr), \qquad
       q_k = \frac{v_k (1 - c_k)}{\sum_l v_l},

    where :math:`v_k` is the variance of channel k of Y, and :math:`c_k` its correlation with channel k of X. It is
    :func:`affscore.affinity_score` with the empirical covariance where the pairing is optimal and the activation leaves
    the correlations between channels as they are (page Theory). It sees who is paired with whom.

    Args:
        x: Array or tensor (n, d), n >= 2.
        y: Array or tensor (n, d).

    Returns:
        The score and the contributions :math:`q_k`. A constant channel of Y has :math:`q_k = 0`; one that varies
        although its input is constant counts with :math:`c_k = 1/2`, which is what a map to its mean costs. 1 if Y is
        constant.

    Raises:
        AffscoreError: NaN or infinity, shapes that differ or are not (n, d), n < 2, or an X that is constant while Y
            varies.

    Source: ours.

    >>> x = torch.randn(4000, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> score = diagonal_affinity(x, x.relu())  # 1 - sqrt(1 - corr(x, relu(x))) = 0.621
    >>> round(float(score), 2), bool(abs(score.contributions.sum() - (1 - score.value) ** 2) < 1e-12)
    (0.62, True)
    """
    x, y = (sample.points for sample in centred_pair(x, y))
    return _score(x.square().mean(dim=0), y.square().mean(dim=0), (x * y).mean(dim=0))


def _score(of_x: Tensor, of_y: Tensor, covariance: Tensor) -> DiagonalScore:
    """The score of the variances (d,) of X and of Y and the covariances (d,) of their channels."""
    if bool(of_y.any()) and not bool(of_x.any()):
        raise ConstantInputError
    contributions = _contributions(of_x, of_y, covariance)
    return DiagonalScore(max(_raw(contributions), 0.0), contributions)


def _contributions(of_x: Tensor, of_y: Tensor, covariance: Tensor) -> Tensor:
    size = of_x.sqrt() * of_y.sqrt()
    correlation = torch.where(size > 0, (covariance / size).clamp(-1.0, 1.0), 0.5)
    missing = torch.where(correlation < 1.0 - ROUNDING, 1.0 - correlation, 0.0)
    return of_y * missing / (float(of_y.sum()) or 1.0)


def _raw(contributions: Tensor) -> float:
    return 1.0 - float(contributions.sum()) ** 0.5


class DiagonalStream:
    """The diagonal score of any number of samples, which come batch by batch: O(n d) operations, O(d) numbers kept.

    Batches may have any sizes, and do not change the result but for rounding. All is summed about the mean of the first
    one: where that lies a million deviations from the rest, the interval loses its digits.
    A listener of :func:`affscore.recorder.recording` gets the input and output of each activation of a network.

    Attributes:
        samples: How many have come.

    >>> x = torch.randn(3000, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    >>> stream = DiagonalStream()
    >>> for part in x.split(64):
    ...     stream.update(part, part.relu())
    >>> low, high = stream.interval  # the true score is 0.621
    >>> abs(stream.value - diagonal_affinity(x, x.relu()).value) < 1e-9, low < 0.621 < high
    (True, True)
    """

    def __init__(self) -> None:
        self.samples = 0
        self._rounding = 0.0
        self._shift = self._largest = self._sums = torch.zeros(0)

    def update(self, x: Samples, y: Samples) -> None:
        """Add paired samples.

        Args:
            x: Array or tensor (n, d), n >= 1.
            y: Likewise.

        Raises:
            AffscoreError: NaN or infinity, shapes that differ or are not (n, d), another d than before, or numbers
                beyond 1e60.
        """
        of_x, of_y, rounding = as_pair(x, y, least=1)
        points = torch.cat([of_x, of_y], dim=1)
        n, width = points.shape
        largest = torch.maximum(points.amax(dim=0), -points.amin(dim=0))
        if float(largest.max()) > SAFE[1]:
            raise AffscoreError(f"x and y must be below {SAFE[1]:.0e}, got {float(largest.max()):.1e}")
        if self.samples and width != len(self._largest):
            raise AffscoreError(f"x and y must have {len(self._largest) // 2} coordinates, as before, got {width // 2}")
        if not self.samples:
            self._shift, self._largest = points.mean(dim=0), largest
            self._sums = points.new_zeros(GROUPS, 1 + 2 * width + width // 2)
        self._largest = torch.maximum(largest, self._largest)
        self._rounding = max(self._rounding, rounding)
        points -= self._shift
        of_x, of_y = points.chunk(2, dim=1)
        group = torch.arange(self.samples, self.samples + n, device=points.device) % GROUPS
        terms = torch.cat([points.new_ones(n, 1), points, points.square(), of_x * of_y], dim=1)
        self._sums.index_add_(0, group, terms)
        self.samples += n

    @property
    def score(self) -> DiagonalScore:
        """The score of all samples so far; AffscoreError for fewer than two, or where X is constant and Y not."""
        if self.samples < 2:
            raise AffscoreError(f"a score needs at least 2 samples, got {self.samples}")
        return _score(*self._moments(range(GROUPS)))

    @property
    def value(self) -> float:
        """The diagonal score, in [0, 1]."""
        return self.score.value

    @property
    def contributions(self) -> Tensor:
        """What each channel takes away from 1, tensor (d,): see :class:`DiagonalScore`."""
        return self.score.contributions

    @property
    def interval(self) -> tuple[float, float]:
        r"""An interval of 95 % for the score of infinitely many samples, by the jackknife over 20 groups.

        .. math:: 20 \rho_D - 19 \bar\rho \pm t_{19} \sqrt{\tfrac{19}{20} \sum_g (\rho_{-g} - \bar\rho)^2},

        with the score :math:`\rho_{-g}` without group g, and their mean :math:`\bar\rho`. It takes samples for
        independent. Of a ReLU on 512 samples of 16 channels it held the true score in 95 % of 1,000 streams for normal
        inputs, and in 89 % for Student's t with 3 degrees of freedom. It is too short where few samples have most of
        the variance: 87 % where channels fire once in 740 samples, and 44 % with 128 of these. With fewer than 40
        samples it is (0, 1).

        Source: Quenouille (1956) and Tukey (1958), for groups.
        """
        value = _raw(self.contributions)
        if self.samples < 2 * GROUPS:
            return 0.0, 1.0
        others = ([other for other in range(GROUPS) if other != group] for group in range(GROUPS))
        without = torch.tensor([_raw(_contributions(*self._moments(some))) for some in others], dtype=torch.float64)
        middle = GROUPS * value - (GROUPS - 1) * float(without.mean())  # without the bias of few samples
        error = float((GROUPS - 1) * without.var(correction=0)) ** 0.5
        half = float(stdtrit(GROUPS - 1, (1 + LEVEL) / 2)) * error
        return min(max(middle - half, 0.0), 1.0), min(max(middle + half, 0.0), 1.0)

    def _moments(self, groups: range | list[int]) -> tuple[Tensor, Tensor, Tensor]:
        """The variances of X and of Y and the covariances of their channels, (d,) each, over some groups."""
        # about the mean of the first batch, so that little cancels
        sums, width = self._sums[groups].sum(dim=0), len(self._largest)
        mean, squares, products = (sums[1:] / sums[0]).split([width, width, width // 2])
        variances = (squares - mean.square()).clamp(min=0.0)
        # what varies by no more than rounding is constant, as in the score
        varies = variances.sqrt() > CONSTANT_TOLERANCE * self._rounding * self._largest
        of_x, of_y = (variances * varies).chunk(2)
        mean_x, mean_y = mean.chunk(2)
        return of_x, of_y, products - mean_x * mean_y
