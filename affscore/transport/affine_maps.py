r"""The optimal affine map between two clouds, and the distance of their Gaussian approximations."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from scipy.linalg import lapack
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.options import CovarianceName
from affscore.transport.covariances import Covariance, estimate
from affscore.transport.decompositions import quarter_root, regular_factor, resolved
from affscore.transport.samples import Samples, as_samples, centred

WELL_CONDITIONED = 1e10
"""Up to this condition number a Cholesky factor loses at most six of float64's sixteen digits."""

UNEVEN = 1e-4
"""A coordinate this much smaller than another loses half of its digits in a decomposition of their covariance."""

HELD = 1e-305
"""A variance below this share of the largest has not all of its digits, and counts as none."""


@dataclass(frozen=True)
class AffineMap:
    """The map T(x) = A x + b.

    Attributes:
        matrix: A, tensor (d, d), float64.
        offset: b, tensor (d,), float64.
    """

    matrix: Tensor
    offset: Tensor

    def __call__(self, x: Samples) -> Tensor:
        """Map samples (n, d), row by row; returns a tensor (n, d), float64."""
        points, _ = as_samples(x)
        if points.shape[1] != len(self.offset):
            raise AffscoreError(f"this map takes samples of {len(self.offset)} coordinates, got {points.shape[1]}")
        return points @ self.matrix.T + self.offset


def affine_map(x: Samples, y: Samples, covariance: CovarianceName = "ledoit-wolf") -> AffineMap:
    r"""The optimal transport map between the Gaussian approximations of two samples.

    .. math:: T(x) = A (x - \mu_X) + \mu_Y,\qquad
       A = S_Y^{1/2} \bigl(S_Y^{1/2} S_X S_Y^{1/2}\bigr)^{-1/2} S_Y^{1/2}.

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (m, d).
        covariance: "ledoit-wolf" or "empirical".

    Returns:
        The map; for singular covariances the limit of a vanishing ridge (see :func:`linear_part`).

    Raises:
        AffscoreError: Bad samples, different numbers of coordinates, or an unknown covariance.

    Source: Theorem 3.3, equation 4 (proved on the page Theory).

    >>> x = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> transport = affine_map(x, 3 * x + 1, "empirical")
    >>> transport.matrix.round(decimals=6).tolist(), transport.offset.round(decimals=6).tolist()
    ([[3.0, 0.0], [0.0, 3.0]], [1.0, 1.0])
    """
    from_x = centred(x, "x")
    from_y = centred(y, "y", device=from_x.points.device)
    if len(from_x.mean) != len(from_y.mean):
        raise AffscoreError(f"x and y must have the same width, got {len(from_x.mean)} and {len(from_y.mean)}")
    if covariance == "empirical":
        from_x, from_y = resolved(from_x), resolved(from_y)
    matrix = linear_part(estimate(from_x.points, covariance), estimate(from_y.points, covariance))
    ratio = from_y.scale / from_x.scale
    matrix *= ratio
    if ratio == 0.0 or not bool(torch.isfinite(matrix).all()):
        raise AffscoreError(f"a map by a factor of {ratio:.1g} is beyond float64; bring x and y to like sizes")
    return AffineMap(matrix, from_y.mean - matrix @ from_x.mean)


def linear_part(source: Covariance, target: Covariance) -> Tensor:
    r"""The matrix A of the optimal map from N(0, S_X) to N(0, S_Y).

    Where S_X is well conditioned, with any factor :math:`S_X = L L^\top`,

    .. math:: A = L^{-\top} \bigl(L^\top S_Y L\bigr)^{1/2} L^{-1},

    which is the A of equation 4 (it is symmetric, positive semi-definite, and A S_X A = S_Y) at the
    price of a Cholesky factor and one symmetric eigendecomposition. Elsewhere, and for singular
    covariances, the limit of a vanishing ridge

    .. math:: A = S_Y^{1/2} P S_X^{+1/2},\qquad
       P = U V^\top\ \text{from}\ S_Y^{1/2} S_X^{1/2} = U \Sigma V^\top,

    from the singular values of the samples; of coordinates of very different size, as long as none depends on
    others, from their correlations (:func:`_of_uneven_coordinates`). What S_X does not reach is not transported.
    Pseudo-inverses in the closed forms are no substitute. Equation 4 with one agrees on the samples, with half of
    the digits, since it takes the root of a product; and
    :math:`S_X^{+1/2} (S_X^{1/2} S_Y S_X^{1/2})^{1/2} S_X^{+1/2}`, the same matrix where S_X is regular,
    loses what Y has outside the span of X (about a third of tr S_Y at n = 200, d = 512). Any factor F of
    :math:`S_Y = F^\top F` does in place of its root.

    Args:
        source: S_X, in a basis of k vectors.
        target: S_Y, in the same basis.

    Returns:
        Tensor (k, k), float64; a map of row vectors is ``x @ A.T``.

    Source: Theorem 3.3, equation 4 (page Theory, where the singular limit is proved, too); for the factored form
    Bhatia, Jain and Lim (2019).

    >>> x = torch.tensor([[-1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    >>> linear_part(estimate(x, "empirical"), estimate(5 * x, "empirical")).round(decimals=6).tolist()
    [[5.0, 0.0], [0.0, 0.0]]
    """
    if source.condition_bound <= WELL_CONDITIONED:
        half = _half(source, target)
        return half @ half.T
    whole = len(source.scatter) == source.dimension  # what is small in another basis may be rounding
    if whole and (matrix := _of_uneven_coordinates(source.matrix, target.matrix)) is not None:
        return matrix
    vectors_x, root_x = source.root()
    factor = target.factor()
    product = factor @ vectors_x * root_x
    left, singular, right = torch.linalg.svd(product, full_matrices=False)
    # where these are rounding, directions of S_X and S_Y have nothing to do with each other; a constant cloud has none
    keep = singular > singular[:1] * max(product.shape) * torch.finfo(product.dtype).eps
    return factor.T @ (left[:, keep] @ right[keep]) @ (vectors_x / root_x).T


def transport(points: Tensor, source: Covariance, target: Covariance) -> Tensor:
    r"""Centred points under the linear part of the optimal map: the rows of :math:`P A^\top`.

    The same as ``points @ linear_part(source, target).T``, but where S_X is well conditioned A itself is
    never formed.

    Args:
        points: P, tensor (n, s), centred.
        source: S_X, in a basis of s vectors.
        target: S_Y, in the same basis, which may have more vectors after these, k in all.

    Returns:
        Tensor (n, k), float64.

    >>> x = torch.tensor([[-1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    >>> transport(x, estimate(x, "ledoit-wolf"), estimate(5 * x, "ledoit-wolf")).round(decimals=6).tolist()
    [[-5.0, 0.0], [5.0, 0.0]]
    """
    n, s = points.shape
    k = len(target.scatter)
    if source.condition_bound > WELL_CONDITIONED:
        return points @ linear_part(source.in_larger_basis(k), target).T[:s]
    half = _half(source, target)
    # the cheaper order of the same products
    return (points @ half[:s]) @ half.T if n < k else points @ (half[:s] @ half.T)


def _half(source: Covariance, target: Covariance) -> Tensor:
    r"""A matrix W with :math:`A = W W^\top`, for a well conditioned S_X: :math:`W = L^{-\top} (L^\top S_Y L)^{1/4}`.

    In the k coordinates of S_Y; where S_X has fewer, s, the factor L is that of S_X and the root of its floor.
    """
    s, level = len(source.scatter), source.floor**0.5
    factor, half = torch.linalg.cholesky(source.matrix), target.matrix
    half[s:] *= level
    half[:, s:] *= level
    half[:, :s] = half[:, :s] @ factor
    half[:s] = factor.T @ half[:s]
    half = quarter_root(half)
    half[:s] = torch.linalg.solve_triangular(factor.T, half[:s], upper=True)
    half[s:] /= level
    return half


def _of_uneven_coordinates(source: Tensor, target: Tensor) -> Tensor | None:
    r"""The matrix A where coordinates of X have very different sizes, whatever these are; None elsewhere.

    With D the standard deviations, L Cholesky factors of the correlations, and the coordinates in the order of
    falling :math:`D_X D_Y`,

    .. math:: A = D_Y L_Y\, U V^\top L_X^{-1} D_X^{-1},\qquad U \Sigma V^\top = L_Y^\top D_Y D_X L_X,

    a matrix whose small entries have all of their digits. Jacobi's method keeps them: it finds every singular vector
    however small its singular value is, which the usual methods lose below 1e-16 of the largest.

    Returns:
        None where all sizes are alike, and where a coordinate depends on others.

    Source: Demmel et al. (1999); Drmač and Veselić (2008) for LAPACK's gejsv.
    """
    sizes_x, sizes_y = (torch.where(m.diagonal() > HELD, m.diagonal(), 0.0).sqrt() for m in (source, target))
    if bool((sizes_x[sizes_x > 0] >= UNEVEN * sizes_x.max()).all()):
        return None
    order = (sizes_x * sizes_y).argsort(descending=True)
    factors = []
    for matrix, sizes in ((source, sizes_x), (target, sizes_y)):
        unit = torch.where(sizes > 0, sizes, 1.0)
        correlation = (matrix / unit[:, None] / unit)[order][:, order]
        correlation.diagonal().fill_(1.0)
        factors.append(regular_factor(correlation))
    (factor_x, regular_x), (factor_y, regular_y) = factors
    if not (regular_x and regular_y):
        return None
    product = factor_y.T @ ((sizes_x * sizes_y)[order, None] * factor_x)
    _, left, right, *_, failed = lapack.dgejsv(product.cpu().numpy(), joba=0)
    if failed:
        return None
    polar = torch.from_numpy(left @ right.T).to(source.device)
    half = torch.linalg.solve_triangular(factor_x, factor_y @ polar, upper=False, left=False)
    back = order.argsort()
    return sizes_y[:, None] * half[back][:, back] * torch.where(sizes_x > 0, 1.0 / sizes_x, 0.0)
