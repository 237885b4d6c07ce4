r"""Moments of a sample that merge: the score of a data set that is too large to keep."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from affscore.errors import AffscoreError

__all__ = ["Moments", "PairMoments"]


@dataclass(frozen=True)
class Moments:
    r"""Sums over n points of :math:`z_i = x_i - o`, the points as seen from an origin o.

    They hold all that a Ledoit-Wolf covariance needs, and the sums of two parts of a data set add up to
    those of the whole, whatever the parts.

    Attributes:
        count: n.
        origin: o, tensor (d,), float64. Sums are accurate when it is near the mean.
        first: :math:`\sum z`, tensor (d,).
        second: :math:`\sum z z^\top`, tensor (d, d).
        third: :math:`\sum \|z\|^2 z`, tensor (d,).
        fourth: :math:`\sum \|z\|^4`.
        largest: Largest magnitude of each coordinate of x itself, tensor (d,): the size of its rounding.
    """

    count: int
    origin: Tensor
    first: Tensor
    second: Tensor
    third: Tensor
    fourth: float
    largest: Tensor

    @classmethod
    def of(cls, x: Tensor, origin: Tensor | None = None) -> Moments:
        """The moments of points (n, d), float64, seen from an origin (their mean, if none is given)."""
        origin = x.mean(dim=0) if origin is None else origin
        z = x - origin
        norms = z.square().sum(dim=1)
        return cls(len(x), origin, z.sum(dim=0), z.T @ z, norms @ z, float(norms.square().sum()), x.abs().amax(dim=0))

    def seen_from(self, origin: Tensor) -> Moments:
        r"""The same points seen from another origin.

        With :math:`z' = z + s`, s the old origin minus the new one, each sum is a polynomial in s whose
        coefficients are the old sums.
        """
        s = self.origin - origin
        n, a = self.count, self.first
        length = float(s @ s)
        trace = float(self.second.trace())
        along = float(s @ a)
        second_s = self.second @ s
        return Moments(
            count=n,
            origin=origin,
            first=a + n * s,
            second=self.second + torch.outer(a, s) + torch.outer(s, a) + n * torch.outer(s, s),
            third=self.third + 2 * second_s + length * a + (trace + 2 * along + n * length) * s,
            fourth=self.fourth
            + 4 * float(s @ self.third)
            + 4 * float(s @ second_s)
            + 2 * length * trace
            + 4 * length * along
            + n * length**2,
            largest=self.largest,
        )

    def merged(self, other: Moments) -> Moments:
        """The moments of both parts together, seen from the origin of this one."""
        other = other.seen_from(self.origin)
        return Moments(
            self.count + other.count,
            self.origin,
            self.first + other.first,
            self.second + other.second,
            self.third + other.third,
            self.fourth + other.fourth,
            torch.maximum(self.largest, other.largest),
        )

    @property
    def mean(self) -> Tensor:
        """The mean of the points, tensor (d,)."""
        return self.origin + self.first / self.count

    def centred(self) -> Moments:
        """The same points seen from their mean."""
        return self.seen_from(self.mean)

    def varying(self, tolerance: float) -> Tensor:
        """Which coordinates of centred points vary by more than this share of their size, tensor (d,) of bool."""
        return (self.second.diagonal() / self.count).clamp(min=0.0).sqrt() > tolerance * self.largest


@dataclass(frozen=True)
class PairMoments:
    r"""The moments of paired samples X and Y, and their cross moment :math:`\sum z_i w_i^\top`.

    >>> x = torch.arange(12, dtype=torch.float64).reshape(6, 2)
    >>> whole = PairMoments.of(x, x**2)
    >>> parts = PairMoments.of(x[:2], x[:2] ** 2).merged(PairMoments.of(x[2:], x[2:] ** 2))
    >>> bool(torch.allclose(whole.centred().cross, parts.centred().cross)), parts.x.count
    (True, 6)

    Attributes:
        x: Moments of the inputs.
        y: Moments of the outputs.
        cross: Tensor (d, d), seen from the two origins.
    """

    x: Moments
    y: Moments
    cross: Tensor

    @classmethod
    def of(cls, x: Tensor, y: Tensor) -> PairMoments:
        """The moments of paired points x and y, each (n, d), float64."""
        if x.shape != y.shape:
            raise AffscoreError(f"x and y must have the same shape (n, d), got {tuple(x.shape)} and {tuple(y.shape)}")
        moments_x, moments_y = Moments.of(x), Moments.of(y)
        return cls(moments_x, moments_y, (x - moments_x.origin).T @ (y - moments_y.origin))

    def seen_from(self, origin_x: Tensor, origin_y: Tensor) -> PairMoments:
        """The same pairs seen from other origins."""
        s, t = self.x.origin - origin_x, self.y.origin - origin_y
        cross = (
            self.cross + torch.outer(self.x.first, t) + torch.outer(s, self.y.first) + self.x.count * torch.outer(s, t)
        )
        return PairMoments(self.x.seen_from(origin_x), self.y.seen_from(origin_y), cross)

    def merged(self, other: PairMoments) -> PairMoments:
        """The moments of both parts together."""
        other = other.seen_from(self.x.origin, self.y.origin)
        return PairMoments(self.x.merged(other.x), self.y.merged(other.y), self.cross + other.cross)

    def centred(self) -> PairMoments:
        """The same pairs seen from their means."""
        return self.seen_from(self.x.mean, self.y.mean)

    def without_constants(self, tolerance: float) -> PairMoments:
        """The same, centred pairs, with coordinates that vary by no more than rounding made constant.

        Args:
            tolerance: A standard deviation of at most this share of the largest magnitude is rounding.
        """
        keep_x, keep_y = self.x.varying(tolerance), self.y.varying(tolerance)
        return PairMoments(
            replace(self.x, second=self.x.second * keep_x[:, None] * keep_x),
            replace(self.y, second=self.y.second * keep_y[:, None] * keep_y),
            self.cross * keep_x[:, None] * keep_y,
        )
