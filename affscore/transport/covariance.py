"""Covariance of a centred sample: empirical, or shrunk as Ledoit and Wolf do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.transport.samples import Samples, as_samples

__all__ = ["Covariance", "CovarianceName", "covariance", "ledoit_wolf_intensity"]

CovarianceName = Literal["ledoit-wolf", "empirical"]


@dataclass(frozen=True)
class Covariance:
    r"""A covariance estimate :math:`S = \frac{1-\lambda}{n} C^\top C + \varphi I`, kept as its parts.

    C holds the centred samples, :math:`\lambda` is the shrinkage intensity and the floor
    :math:`\varphi \ge 0` bounds the eigenvalues of S from below. Keeping the parts instead of the
    matrix lets the affine map choose a route that is accurate for this S.

    Attributes:
        name: "ledoit-wolf" or "empirical".
        centred: Tensor (n, k), float64: the centred samples, in the coordinates of any orthonormal
            basis of k <= d vectors whose span contains them.
        dimension: d, the number of coordinates of the space that the samples live in.
        intensity: The shrinkage intensity, in [0, 1].
        floor: The multiple of the identity that is added: intensity * tr(S)/d and the ridge.
    """

    name: CovarianceName
    centred: Tensor
    dimension: int
    intensity: float
    floor: float

    @property
    def trace(self) -> float:
        """Tr S over all d coordinates, those outside the basis included."""
        scatter = float(self.centred.square().sum()) / len(self.centred)
        return (1.0 - self.intensity) * scatter + self.dimension * self.floor

    @property
    def matrix(self) -> Tensor:
        """The matrix S, tensor (k, k)."""
        k = self.centred.shape[1]
        scatter = self.centred.T @ self.centred
        identity = torch.eye(k, dtype=scatter.dtype, device=scatter.device)
        return scatter * ((1.0 - self.intensity) / len(self.centred)) + self.floor * identity

    @property
    def condition_bound(self) -> float:
        """An upper bound of the condition number of S, known without a decomposition."""
        return self.trace / self.floor if self.floor > 0 else float("inf")

    def root(self) -> tuple[Tensor, Tensor]:
        r"""The square root :math:`S^{1/2} = V \operatorname{diag}(e) V^\top`.

        From the singular values of the samples, not from S, so that small eigenvalues keep their
        digits. Directions with eigenvalue zero are left out.

        Returns:
            V, tensor (k, r) with orthonormal columns, and e, tensor (r,) of positive numbers.
        """
        n, k = self.centred.shape
        _, singular, vectors = torch.linalg.svd(self.centred, full_matrices=self.floor > 0 and n < k)
        values = torch.zeros(len(vectors), dtype=singular.dtype, device=singular.device)
        values[: len(singular)] = singular.square() * ((1.0 - self.intensity) / n)
        values += self.floor
        resolution = max(n, k) * torch.finfo(values.dtype).eps
        keep = values > values.max() * resolution**2
        return vectors[keep].T, values[keep].sqrt()


def covariance(x: Samples, name: CovarianceName = "ledoit-wolf", ridge: float = 0.0) -> Tensor:
    r"""Covariance matrix of a sample.

    ``empirical`` is :math:`S = \frac1n \sum_i (x_i - \bar x)(x_i - \bar x)^\top`; ``ledoit-wolf`` is
    :math:`(1-\lambda) S + \lambda \frac{\operatorname{tr} S}{d} I` with the intensity of
    :func:`ledoit_wolf_intensity`. A ridge adds ``ridge * tr(S)/d`` to the diagonal: it is relative, so
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
    points, _ = as_samples(x)
    return estimate(points - points.mean(dim=0), name, ridge=ridge).matrix


def estimate(centred: Tensor, name: CovarianceName, *, dimension: int | None = None, ridge: float = 0.0) -> Covariance:
    """The covariance estimate of centred samples (see :class:`Covariance` for the arguments).

    >>> points = torch.tensor([[-1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    >>> estimate(points, "empirical").trace
    1.0
    """
    check_name(name)
    if not 0 <= ridge < float("inf"):
        raise AffscoreError(f"the ridge must be a number >= 0 (relative to tr(S)/d), got {ridge}")
    dimension = centred.shape[1] if dimension is None else dimension
    level = float(centred.square().sum()) / len(centred) / dimension
    intensity = ledoit_wolf_intensity(centred, dimension) if name == "ledoit-wolf" else 0.0
    return Covariance(name, centred, dimension, intensity, (intensity + ridge) * level)


def check_name(name: str) -> None:
    """Raise an AffscoreError unless ``name`` is a covariance that we know."""
    if name not in get_args(CovarianceName):
        known = " or ".join(f'"{known}"' for known in get_args(CovarianceName))
        raise AffscoreError(f"covariance must be {known}, got {name!r}")


def ledoit_wolf_intensity(centred: Tensor, dimension: int | None = None) -> float:
    r"""Shrinkage intensity of Ledoit and Wolf for centred samples.

    .. math:: \lambda = \frac{\min(\beta, \delta)}{\delta},\qquad
       \beta = \frac1n \Bigl(\frac1n \sum_i \|x_i\|^4 - \|S\|_F^2\Bigr),\qquad
       \delta = \|S\|_F^2 - \frac{(\operatorname{tr} S)^2}{d}.

    All three sums are those of the Gram matrix too, so the smaller of the two products is formed, and
    the samples may be given in any orthonormal basis that spans them.

    Args:
        centred: Tensor (n, k), centred.
        dimension: d, where it is not k.

    Returns:
        A number in [0, 1]; 0 for d = 1 and where S is a multiple of the identity.

    Source: Ledoit and Wolf (2004); equals :func:`sklearn.covariance.ledoit_wolf_shrinkage`.

    >>> ledoit_wolf_intensity(torch.tensor([[-1.0], [1.0]], dtype=torch.float64))
    0.0
    """
    n, k = centred.shape
    dimension = k if dimension is None else dimension
    if dimension == 1:
        return 0.0
    norms = centred.square().sum(dim=1)
    product = centred.T @ centred if k <= n else centred @ centred.T
    squared_norm = float(product.square().sum()) / n**2
    trace = float(norms.sum()) / n
    beta = (float(norms.square().sum()) / n - squared_norm) / n
    delta = squared_norm - trace**2 / dimension
    # S is a multiple of the identity up to rounding: shrinking it changes nothing
    if delta <= 4 * torch.finfo(centred.dtype).eps * squared_norm:
        return 0.0
    return min(max(beta, 0.0) / delta, 1.0)
