r"""Moments of a sample that merge: the score of a data set that is too large to keep."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.transport.samples import CONSTANT_TOLERANCE, CentredSample, centre, error_of, power_of_two_above

_POWERS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
"""The sums of a sample, and the power of the points in each."""


@dataclass(frozen=True)
class Moments:
    r"""Sums over n points of :math:`z_i = (x_i - o) / u`, the points as seen from an origin o, in a unit u.

    They hold all that a Ledoit-Wolf covariance needs, and the sums of two parts of a data set add up to
    those of the whole, whatever the parts. The unit is 1, but for very large or very small numbers, whose fourth powers
    float64 does not hold.

    Attributes:
        count: n.
        unit: u, a power of two, so that a change of unit rounds nothing.
        origin: o, tensor (d,), float64. Sums are accurate when it is near the mean.
        first: :math:`\sum z`, tensor (d,).
        second: :math:`\sum z z^\top`, tensor (d, d).
        third: :math:`\sum \|z\|^2 z`, tensor (d,).
        fourth: :math:`\sum \|z\|^4`.
        largest: Largest magnitude of each coordinate of x itself, or of what was added up to it, tensor (d,): the size
            of its rounding.
    """

    count: int
    unit: float
    origin: Tensor
    first: Tensor
    second: Tensor
    third: Tensor
    fourth: float
    largest: Tensor

    @classmethod
    def of(cls, x: Tensor, sample: CentredSample | None = None, size: Tensor | float = 0.0) -> Moments:
        """The moments of points (n, d), float64, seen from their mean; ``sample`` is x, centred, of that size."""
        sample = centre(x, 0.0) if sample is None else sample
        unit = _unit_for(0.0 if sample.constant else sample.scale)
        z = sample.points * (sample.scale / unit) if sample.scale != unit else sample.points
        norms = z.square().sum(dim=1)
        fourth = float(norms.square().sum())
        return cls(
            len(x), unit, sample.mean, z.sum(dim=0), z.T @ z, norms @ z, fourth, x.abs().amax(dim=0).clamp(min=size)
        )

    def in_unit(self, unit: float) -> Moments:
        """The same sums in another unit, a power of two."""
        r = self.unit / unit
        return replace(self, unit=unit, **{name: getattr(self, name) * r**power for name, power in _POWERS.items()})

    def seen_from(self, origin: Tensor) -> Moments:
        r"""The same points seen from another origin, in a unit that is at least the distance of the two.

        With :math:`z' = z + s`, s the old origin minus the new one, each sum is a polynomial in s whose
        coefficients are the old sums.
        """
        shift = self.origin - origin
        if not shift.any():
            return self
        old = self.in_unit(max(self.unit, _unit_for(float(shift.abs().max()))))
        s, n, a = shift / old.unit, old.count, old.first
        length = float(s @ s)
        trace = float(old.second.trace())
        along = float(s @ a)
        second_s = old.second @ s
        return replace(
            old,
            origin=origin,
            first=a + n * s,
            second=old.second + torch.outer(a, s) + torch.outer(s, a) + n * torch.outer(s, s),
            third=old.third + 2 * second_s + length * a + (trace + 2 * along + n * length) * s,
            fourth=old.fourth + 4 * float(s @ (old.third + second_s)) + length * (2 * trace + 4 * along + n * length),
        )

    def merged(self, other: Moments) -> Moments:
        """The moments of both parts together, seen from the origin of this one."""
        other = other.seen_from(self.origin)
        unit = max(self.unit, other.unit)
        one, two = self.in_unit(unit), other.in_unit(unit)
        sums: dict[str, Any] = {name: getattr(one, name) + getattr(two, name) for name in ("count", *_POWERS)}
        return replace(one, **sums, largest=torch.maximum(one.largest, two.largest))

    @property
    def mean(self) -> Tensor:
        """The mean of the points, tensor (d,)."""
        return self.origin + self.first / self.count * self.unit

    @property
    def constant(self) -> bool:
        """Whether no coordinate varies; of centred moments."""
        return not bool(self.second.any())

    def noise(self, rounding: float) -> Tensor:
        """The standard deviation, in this unit, up to which each coordinate counts as constant, tensor (d,).

        The rule is that of :func:`affscore.transport.samples.centre`.
        """
        return CONSTANT_TOLERANCE * rounding * self.largest / self.unit

    def error(self, eps: float) -> Tensor:
        """The standard deviation that rounding may have in each coordinate, in this unit, tensor (d,)."""
        return error_of(eps) * self.largest / self.unit

    def varying(self, rounding: float) -> Tensor:
        """Which coordinates of centred points vary by more than rounding, tensor (d,) of bool."""
        return (self.second.diagonal() / self.count).clamp(min=0.0).sqrt() > self.noise(rounding)


def _unit_for(size: float) -> float:
    """A unit for numbers up to this size and much smaller ones beside them; for zero, which fits any, the smallest."""
    if size == 0.0:
        return sys.float_info.min
    return 1.0 if 1e-8 < size < 1e8 else power_of_two_above(size)


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
        cross: Tensor (d, e), seen from the two origins, in the product of the two units.
    """

    x: Moments
    y: Moments
    cross: Tensor

    @classmethod
    def of(
        cls, x: Tensor, y: Tensor, rounding: float = 0.0, sizes: tuple[Tensor | float, Tensor | float] = (0.0, 0.0)
    ) -> PairMoments:
        """The moments of paired points x, (n, d), and y, (n, e), float64.

        Args:
            x: The inputs.
            y: The outputs.
            rounding: Unit of rounding of the arithmetic that made them: what varies by no more is left out, since no
                fourth moment of the other coordinates could be had later.
            sizes: Of what was added up to the inputs and to the outputs, as in
                :func:`affscore.transport.samples.centre`.
        """
        if len(x) != len(y):
            raise AffscoreError(f"x and y must have as many samples, got {len(x)} and {len(y)}")
        from_x, from_y = centre(x, rounding, sizes[0]), centre(y, rounding, sizes[1])
        moments_x, moments_y = Moments.of(x, from_x, sizes[0]), Moments.of(y, from_y, sizes[1])
        cross = from_x.points.T @ from_y.points
        return cls(moments_x, moments_y, cross * (from_x.scale / moments_x.unit) * (from_y.scale / moments_y.unit))

    def _cross_in_units(self, x: Moments, y: Moments) -> Tensor:
        return self.cross * (self.x.unit / x.unit) * (self.y.unit / y.unit)

    def seen_from(self, origin_x: Tensor, origin_y: Tensor) -> PairMoments:
        """The same pairs seen from other origins."""
        x, y = self.x.seen_from(origin_x), self.y.seen_from(origin_y)
        s, t = (self.x.origin - origin_x) / x.unit, (self.y.origin - origin_y) / y.unit
        # the old sum of x, in the new unit, is that of the new one without the shift
        cross = self._cross_in_units(x, y) + torch.outer(x.first, t) + torch.outer(s, y.first - y.count * t)
        return PairMoments(x, y, cross)

    def merged(self, other: PairMoments) -> PairMoments:
        """The moments of both parts together."""
        other = other.seen_from(self.x.origin, self.y.origin)
        x, y = self.x.merged(other.x), self.y.merged(other.y)
        return PairMoments(x, y, self._cross_in_units(x, y) + other._cross_in_units(x, y))

    def centred(self, rounding: float = 0.0) -> PairMoments:
        """The same pairs seen from their means, where coordinates that vary by no more than rounding are constant.

        Args:
            rounding: Unit of rounding of the arithmetic that made the samples.
        """
        pairs = self.seen_from(self.x.mean, self.y.mean)
        keep_x, keep_y = pairs.x.varying(rounding), pairs.y.varying(rounding)
        return PairMoments(
            replace(pairs.x, second=pairs.x.second * keep_x[:, None] * keep_x),
            replace(pairs.y, second=pairs.y.second * keep_y[:, None] * keep_y),
            pairs.cross * keep_x[:, None] * keep_y,
        )
