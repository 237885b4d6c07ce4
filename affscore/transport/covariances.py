"""Covariance of a centred sample: empirical, or shrunk as Ledoit and Wolf do."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from numbers import Real

import torch
from torch import Tensor
from torch.nn.functional import pad

from affscore.errors import AffscoreError
from affscore.options import CovarianceName, check_word
from affscore.transport.samples import Samples, as_samples, centre, second_moments


@dataclass(frozen=True)
class Covariance:
    r"""A covariance estimate :math:`S = (1-\lambda)\, C + \varphi I`, kept as its parts.

    C is the empirical covariance (1/n), :math:`\lambda` the shrinkage intensity, and the floor
    :math:`\varphi \ge 0` bounds the eigenvalues of S from below. Keeping the parts lets the affine map
    choose a route that is accurate for this S.

    Attributes:
        scatter: C, tensor (k, k), float64, in the coordinates of any orthonormal basis of k <= d vectors
            whose span contains the centred samples. Outside of it S is the floor times the identity.
        dimension: d, the number of coordinates of the space that the samples live in.
        intensity: The shrinkage intensity, in [0, 1].
        floor: The multiple of the identity that is added: intensity * tr(S)/d and the ridge.
        centred: The centred samples, tensor (n, k).
    """

    scatter: Tensor
    dimension: int
    intensity: float
    floor: float
    centred: Tensor

    @property
    def trace(self) -> float:
        """The trace of S over all d coordinates, those outside the basis included."""
        return (1.0 - self.intensity) * float(self.scatter.trace()) + self.dimension * self.floor

    @property
    def matrix(self) -> Tensor:
        """The matrix S, tensor (k, k)."""
        matrix = self.scatter * (1.0 - self.intensity)
        matrix.diagonal().add_(self.floor)
        return matrix

    @property
    def condition_bound(self) -> float:
        """An upper bound of the condition number of S, known without a decomposition."""
        return self.trace / self.floor if self.floor > 0 else float("inf")

    def in_larger_basis(self, size: int) -> Covariance:
        """The same in a basis that has more vectors after the present ones."""
        more = size - len(self.scatter)
        return replace(self, scatter=pad(self.scatter, (0, more, 0, more)), centred=pad(self.centred, (0, more)))

    def factor(self) -> Tensor:
        r"""A matrix F, tensor (r, k), with :math:`F^\top F = S`: without a floor the samples, or their QR factor."""
        if self.floor > 0:
            vectors, root = self.root()
            return (vectors * root).T
        points = self.centred / len(self.centred) ** 0.5
        return points if len(points) <= points.shape[1] else torch.linalg.qr(points, mode="r").R

    def root(self) -> tuple[Tensor, Tensor]:
        r"""The square root :math:`S^{1/2} = V \operatorname{diag}(e) V^\top`.

        From the singular values of the samples, and not from S, so that small eigenvalues keep their digits. Directions
        with eigenvalue zero are left out.

        Returns:
            V, tensor (k, r) with orthonormal columns, and e, tensor (r,) of positive numbers.
        """
        n, k = self.centred.shape
        _, singular, vectors = torch.linalg.svd(self.centred, full_matrices=self.floor > 0 and n < k)
        values = pad(singular.square() / n, (0, len(vectors) - len(singular)))
        values = values * (1.0 - self.intensity) + self.floor
        keep = values > values.max() * (max(n, k) * torch.finfo(values.dtype).eps) ** 2
        return vectors[keep].T, values[keep].sqrt()


def covariance(x: Samples, name: CovarianceName = "ledoit-wolf", ridge: float = 0.0) -> Tensor:
    r"""Covariance matrix of a sample.

    ``empirical`` is :math:`S = \frac1n \sum_i (x_i - \bar x)(x_i - \bar x)^\top`; ``ledoit-wolf`` is
    :math:`(1-\lambda) S + \lambda \frac{\operatorname{tr} S}{d} I` with the intensity of
    :func:`shrinkage`. A ridge adds ``ridge * tr(S)/d`` to the diagonal: it is relative, so
    that the affinity score does not depend on the units.

    Args:
        x: Array or tensor (n, d), n >= 2.
        name: "ledoit-wolf" or "empirical".
        ridge: Relative ridge, >= 0.

    Returns:
        Tensor (d, d), float64, on the device of x.

    Raises:
        AffscoreError: Bad samples, an unknown name or a negative ridge.

    Source: Ledoit and Wolf (2004), in scikit-learn's convention (1/n).

    >>> covariance([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]], "empirical").tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    sample = centre(as_samples(x)[0], 0.0)
    matrix = estimate(sample.points, name, ridge=ridge).matrix * sample.scale * sample.scale
    largest = float(matrix.diagonal().max())
    if not sample.constant and not sys.float_info.min <= largest < float("inf"):
        size = "small" if largest < 1.0 else "large"
        raise AffscoreError(f"the covariance is too {size} for float64; divide the samples by their size first")
    return matrix


def estimate(
    centred: Tensor, name: CovarianceName, dimension: int | None = None, ridge: float = 0, second: Tensor | None = None
) -> Covariance:
    """The covariance estimate of centred samples (see :class:`Covariance` for the arguments).

    ``second`` is the product of the samples with themselves, tensor (k, k), where it is known already.

    >>> points = torch.tensor([[-1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    >>> estimate(points, "empirical").trace
    1.0
    """
    check_word("covariance", name, CovarianceName)
    if not isinstance(ridge, Real) or not 0 <= ridge < float("inf"):
        raise AffscoreError(f"the ridge must be a number >= 0 (relative to tr(S)/d), got {ridge!r}")
    dimension = dimension or centred.shape[1]
    scatter = (second_moments(centred) if second is None else second) / len(centred)
    level = float(scatter.trace()) / dimension
    intensity = float(shrinkage(centred, scatter, dimension, 0.0)) if name == "ledoit-wolf" else 0.0
    return Covariance(scatter, dimension, intensity, (intensity + ridge) * level, centred)


def shrinkage(centred: Tensor, scatter: Tensor, dimension: int, of_multiples: float) -> Tensor:
    r"""Shrinkage intensity of Ledoit and Wolf, in [0, 1], with a derivative.

    .. math:: \lambda = \frac{\min(\beta, \delta)}{\delta},\qquad
       \beta = \frac1n \Bigl(\frac1n \sum_i \|x_i\|^4 - \|C\|_F^2\Bigr),\qquad
       \delta = \|C\|_F^2 - \frac{(\operatorname{tr} C)^2}{d}

    Args:
        centred: Tensor (n, k), centred, of about unit size, in any orthonormal basis that spans the samples.
        scatter: C, their empirical covariance, tensor (k, k).
        dimension: d, the number of coordinates.
        of_multiples: What it is of a multiple of the identity, which any intensity leaves as it is.

    Source: Ledoit and Wolf (2004); equals :func:`sklearn.covariance.ledoit_wolf_shrinkage`.
    """
    n, rounding = len(centred), 16 * torch.finfo(scatter.dtype).eps
    fourth = centred.double().square().sum(dim=1).square().mean()
    square = scatter.double().square().sum()
    beta = (fourth - square) / n
    delta = square - scatter.trace().double().square() / dimension
    # all samples have the same square x x^T, and 1e-17 would invent variance in directions where there is none
    if bool(beta * n <= rounding * fourth):
        return torch.zeros_like(beta)
    if dimension == 1 or bool(delta <= rounding * square):
        return torch.full_like(beta, of_multiples)
    return (beta / delta).clamp(max=1.0)
