"""Two point clouds as the rest of the floor wants them: float64, finite, centred, of unit size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.masked import MaskedTensor

from affscore.errors import AffscoreError, guarded

Samples: TypeAlias = ArrayLike | Tensor
"""What the public functions take: anything of shape (n, d) that NumPy or PyTorch understands."""

CONSTANT_TOLERANCE = 8.0
"""A coordinate whose standard deviation is below this many units of rounding is constant."""

ERROR_OF_SUMS = 4.0
"""By how many units sums may err, as a standard deviation; layers of trained networks do by up to 0.6."""

ERROR_OF_A_LAYER = (5 / 12) ** 0.5
"""By how many units a layer in half precision mostly errs at most, as a standard deviation: one rounding, by up to
half a unit, has the variance 1/12; a GPU may also round the product before the bias, and it may be twice the sum."""

SAFE = (1e-60, 1e60)
"""Numbers between these have squares, and sums of fourth powers, that float64 holds."""

_KINDS: dict[str, tuple[Callable[[Tensor], bool], str]] = {
    "torch.func": (torch._C._functorch.is_functorch_wrapped_tensor, "score one pair at a time, and use backward()"),
    "meta": (lambda x: x.is_meta, "it has a shape and no numbers: make it on the CPU"),
    "masked": (lambda x: isinstance(x, MaskedTensor), "the mask would be lost: drop its rows, the same of all arrays"),
    "nested": (lambda x: x.is_nested, "pad it (.to_padded_tensor), or cut all samples to one length"),
    "quantised": (lambda x: x.is_quantized, "use .dequantize()"),
    "sparse": (lambda x: x.layout != torch.strided, "make it dense first (.to_dense())"),
}


@dataclass(frozen=True)
class CentredSample:
    """A cloud of n points split into its mean, its size and n centred points of size about one.

    ``x = mean + scale * points``, row by row.

    Attributes:
        points: Tensor (n, d), float64, mean zero, largest magnitude in [0.5, 1), or all zero for a
            constant cloud.
        mean: Tensor (d,), float64.
        scale: A power of two, so that dividing by it rounds nothing; 1 for a constant cloud.
        noise: The standard deviation, in the unit of the points, up to which each coordinate counts as constant,
            tensor (d,).
        error: The standard deviation, in the same unit, that rounding may have in each coordinate (:func:`error_of`),
            tensor (d,).
    """

    points: Tensor
    mean: Tensor
    scale: float
    noise: Tensor
    error: Tensor

    @property
    def constant(self) -> bool:
        """Whether no coordinate varies by more than rounding."""
        return not bool(self.points.any())

    @cached_property
    def second(self) -> Tensor:
        r"""The product :math:`Z^\top Z` of the points, tensor (d, d): score and criteria share it."""
        return second_moments(self.points)

    def part(self, rows: Tensor) -> CentredSample:
        """Some of the points, centred on their own mean.

        A coordinate that is constant up to rounding in the whole cloud is so in every part.

        Args:
            rows: Which points, tensor (m,) of int64, m >= 1.

        >>> sample = centred([[0.0], [5.0], [8.0], [5.0]])
        >>> part = sample.part(torch.tensor([0, 2]))
        >>> (part.mean + part.scale * part.points).tolist(), sample.part(torch.tensor([1, 3])).constant
        ([[0.0], [8.0]], True)
        """
        part = _centre(self.points[rows], self.noise, self.error)
        scale = 1.0 if part.constant else self.scale * part.scale
        return replace(part, mean=self.mean + self.scale * part.mean, scale=scale)


Cloud: TypeAlias = Samples | CentredSample
"""Samples, or what :func:`centred` has made of them."""


def second_moments(points: Tensor) -> Tensor:
    r"""The product :math:`Z^\top Z` of points (n, d), tensor (d, d): by blocks, a quarter is known by symmetry."""
    d = points.shape[1]
    h = d // 2
    first, second = points[:, :h], points[:, h:]
    product = points.new_empty(d, d)
    torch.mm(second.T, points, out=product[h:])
    torch.mm(first.T, first, out=product[:h, :h])
    product[:h, h:] = product[h:, :h].T
    return product


def as_samples(x: Samples, name: str = "x", least: int = 2) -> tuple[Tensor, float]:
    """Check a cloud of points and bring it to float64.

    Args:
        x: Array or tensor (n, d) of finite numbers, n >= 2, d >= 1.
        name: What to call it in an error.
        least: How many samples there must be.

    Returns:
        The tensor (n, d) in float64, on the device where x was, and the unit of rounding of the type
        that x came in (:func:`rounding_of`).

    Raises:
        AffscoreError: The input is not numeric, not two-dimensional, has fewer than two samples, or
            holds NaN or infinity.

    >>> points, rounding = as_samples([[1, 2], [3, 4], [5, 6]])
    >>> tuple(points.shape), points.dtype, rounding == 2.0**-52
    ((3, 2), torch.float64, True)
    """
    tensor = as_tensor(x, name)
    if tensor.ndim != 2 or len(tensor) < least or tensor.shape[1] < 1:
        wanted = f"(n samples, d coordinates) with n >= {least} and d >= 1"
        advice = "; reduce or flatten it first" if tensor.ndim != 2 else ""
        raise AffscoreError(f"{name} must have shape {wanted}, got {tuple(tensor.shape)}{advice}")
    rounding = rounding_of(tensor.dtype)
    tensor = tensor.to(torch.float64)
    # a sum is one fast pass, and finite only if every number is (or, rarely, where large numbers overflow)
    if not bool(torch.isfinite(tensor.sum())) and (bad := int((~torch.isfinite(tensor)).sum())):
        got = f"{bad} NaN or infinite of {tensor.numel()} values"
        raise AffscoreError(f"{name} must be finite, got {got}; remove those samples or find the layer that makes them")
    return tensor, rounding


def as_pair(x: Samples, y: Samples, least: int = 2) -> tuple[Tensor, Tensor, float]:
    """Two clouds of one shape (n, d), checked (:func:`as_samples`), on the device of the first; the larger rounding."""
    (points_x, of_x), (points_y, of_y) = as_samples(x, "x", least), as_samples(y, "y", least)
    check_same_shape(points_x, points_y)
    return points_x, points_y.to(points_x.device), max(of_x, of_y)


def check_same_shape(x: Tensor, y: Tensor) -> None:
    """Raise an AffscoreError unless two clouds have the same shape."""
    if x.shape != y.shape:
        raise AffscoreError(f"x and y must have the same shape (n, d), got {tuple(x.shape)} and {tuple(y.shape)}")


def rounding_of(dtype: torch.dtype) -> float:
    """The unit of rounding by which numbers of a type are judged to be constant: at most that of float32.

    Numbers in half precision are either equal or at least one of their own units apart, which is already
    one part in 128 for bfloat16: eight of those would be a signal, and not rounding.

    >>> rounding_of(torch.float64) == 2.0**-52, rounding_of(torch.bfloat16) == 2.0**-23
    (True, True)
    """
    return min(eps_of(dtype), 2.0**-23)


def eps_of(dtype: torch.dtype) -> float:
    """The unit of rounding of a type, that of float64 for integers."""
    return torch.finfo(dtype).eps if dtype.is_floating_point else 2.0**-52


def error_of(eps: float) -> float:
    """The standard deviation of rounding in arithmetic of this unit, at most, relative to the size of the terms.

    In float32 and float64 every step of a sum is rounded; in half precision the sum is in float32, then rounded.
    What is exact is rounded by our own arithmetic, in float64.

    >>> error_of(2.0**-23) / 2.0**-23, round(error_of(2.0**-7) / 2.0**-7, 2)
    (4.0, 0.65)
    """
    return max(ERROR_OF_SUMS * min(max(eps, 2.0**-52), 2.0**-23), ERROR_OF_A_LAYER * eps)


def centred(
    x: Cloud, name: str = "x", rounding: float | None = None, device: torch.device | None = None
) -> CentredSample:
    """A cloud of points, checked and centred: here it is decided which coordinates are constant.

    Args:
        x: Array or tensor (n, d), or what this function returned for one, which is returned as it is.
        name: What to call it in an error.
        rounding: Unit of rounding of the arithmetic that made x, where its type does not tell.
        device: Where the points shall be, if not where x is.

    Raises:
        AffscoreError: What :func:`as_samples` refuses.

    >>> sample = centred([[1.0, 5.0], [3.0, 5.0]])
    >>> sample.points.tolist(), sample.scale, centred(sample) is sample
    ([[-0.5, 0.0], [0.5, 0.0]], 2.0, True)
    """
    if isinstance(x, CentredSample):
        return x
    tensor = as_tensor(x, name)
    points, own = as_samples(tensor, name)
    units = (own, 0.0, eps_of(tensor.dtype)) if rounding is None else (rounding,)
    return centre(points.to(device or points.device), *units)


def centred_pair(x: Cloud, y: Cloud, rounding: float | None = None) -> tuple[CentredSample, CentredSample]:
    """Two clouds of the same shape (n, d), checked and centred (:func:`centred`), on the device of the first."""
    source = centred(x, "x", rounding)
    target = centred(y, "y", rounding, source.points.device)
    check_same_shape(source.points, target.points)
    return source, target


def centre(x: Tensor, rounding: float = 2.0**-52, size: Tensor | float = 0.0, eps: float = 0.0) -> CentredSample:
    """Subtract the mean and divide by the size, so that no square over- or underflows.

    A coordinate whose standard deviation is below 8 units of rounding of its largest magnitude counts
    as constant and becomes exactly zero: what varies there is rounding (tanh at mean 20, say).

    Args:
        x: Tensor (n, d), float64, finite.
        rounding: The unit of rounding of the type that the numbers were computed in.
        size: The magnitude of what was added up to a coordinate, tensor (d,): where terms cancel, their rounding stays.
        eps: The unit that entries are rounded to, where that is another one: of half precision.

    Returns:
        The centred sample.

    >>> sample = centre(torch.tensor([[1e20, 5.0], [3e20, 5.0]], dtype=torch.float64))
    >>> (sample.points * sample.scale).tolist(), sample.mean.tolist()
    ([[-1e+20, 0.0], [1e+20, 0.0]], [2e+20, 5.0])
    """
    magnitude = x.abs().amax(dim=0)
    unit = power_of_two_above(float(magnitude.max()))
    if not SAFE[0] < unit < SAFE[1]:  # else sums and squares of what follows could over- or underflow
        inner = centre(x / unit, rounding, size / unit, eps)
        return replace(inner, mean=inner.mean * unit, scale=inner.scale * unit if not inner.constant else 1.0)
    magnitude = magnitude.clamp(min=size)
    return _centre(x, CONSTANT_TOLERANCE * rounding * magnitude, error_of(eps or rounding) * magnitude)


def _centre(x: Tensor, noise: Tensor, error: Tensor) -> CentredSample:
    """Centre points of a safe size; coordinates whose standard deviation is at most their noise (d,) are constant."""
    mean = x.mean(dim=0)
    points = x - mean
    scale = _to_unit_size(points)
    # a product with ones reads memory in order, which a norm along the first axis does not
    deviations = (points.new_ones(len(points)) @ points.square() / len(points)).sqrt()
    varies = deviations > noise / scale
    if not bool(varies.all()):
        points *= varies
        scale *= _to_unit_size(points)
    return CentredSample(points, mean, scale if bool(varies.any()) else 1.0, noise / scale, error / scale)


def _to_unit_size(points: Tensor) -> float:
    """Divide the points by a power of two, in place, so that the largest magnitude is about one; returns that power."""
    scale = power_of_two_above(float(points.abs().max()))
    points.div_(scale)  # a power of two, whose inverse may overflow
    return scale


def power_of_two_above(number: float) -> float:
    """The power of two p with number / p in [0.5, 1); 1 for zero."""
    return 2.0 ** min(math.frexp(number)[1], 1023)


def as_tensor(x: Any, name: str) -> Tensor:
    """Numbers as a tensor of their own type, without a gradient.

    Raises:
        AffscoreError: They are not plain real numbers.

    >>> as_tensor([1, 2], "x")
    tensor([1, 2])
    """
    check_plain(x, name)

    def of_array() -> Tensor:
        array = np.asarray(x)
        # PyTorch has neither foreign byte orders nor long double nor negative strides, and warns of read-only memory
        dtype = np.float64 if array.dtype.char == "g" else array.dtype.newbyteorder("=")
        return torch.from_numpy(array.astype(dtype, order="C"))

    what = f"{name} must be an array or tensor of real numbers, got a {type(x).__name__} that does not make one"
    tensor = x.detach() if isinstance(x, Tensor) else guarded(of_array, what)
    if tensor.is_complex() or tensor.dtype == torch.bool:
        raise AffscoreError(f"{name} must hold real numbers, got {tensor.dtype}; convert it, as by .float() or .abs()")
    return tensor


def kind_of(part: Any) -> str:
    """How a tensor or array keeps its numbers, where that is not one by one in memory: meta (nowhere), masked, ...

    >>> kind_of(torch.eye(2)), kind_of(torch.eye(2).to_sparse()), kind_of(torch.eye(2, device="meta"))
    ('', 'sparse', 'meta')
    """
    if isinstance(part, np.ma.MaskedArray):
        return "masked" * bool(np.ma.getmaskarray(part).ravel().view(bool).any())
    return next((kind for kind, (is_one, _) in _KINDS.items() if is_one(part)), "") if isinstance(part, Tensor) else ""


def check_plain(data: Any, name: str = "the data") -> None:
    """Refuse tensors without plain numbers, and arrays in which some are masked.

    Args:
        data: A tensor or an array, or several in a list; anything else passes.
        name: What to call it.

    Raises:
        AffscoreError: It is sparse, nested, quantised, masked, or without numbers.

    >>> check_plain(torch.zeros(2))
    """
    for part in data if isinstance(data, (list, tuple)) else (data,):
        if kind := kind_of(part):
            what = "tensor" if isinstance(part, Tensor) else "array"
            raise AffscoreError(f"{name} must be plain numbers in memory, got a {kind} {what}; {_KINDS[kind][1]}")
