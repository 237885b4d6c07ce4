"""Square roots, factors and bases of symmetric matrices and clouds: what varies by more than rounding."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import scipy.linalg
import torch
from torch import Tensor

from affscore.transport.samples import CentredSample, second_moments

TINY = sys.float_info.min
"""In place of no error: of coordinates that are zero."""

INDEPENDENT = 1e-12
"""Samples with a smaller share of their square outside the span of the others are left to Householder's method."""

ITERATIONS = 60
"""Each step multiplies the smallest relative eigenvalue by 2.25: sixty are more than float64 can ask for."""


def eigenvectors(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix (k, k): :func:`torch.linalg.eigh`.

    Divide and conquer may not converge where many eigenvalues are next to zero; QR iteration, which is slower, does.
    """
    try:
        return torch.linalg.eigh(matrix)
    except torch.linalg.LinAlgError:
        values, vectors = scipy.linalg.eigh(matrix.numpy(force=True), driver="ev")
        return torch.from_numpy(values).to(matrix), torch.from_numpy(vectors).to(matrix)


def quarter_root(matrix: Tensor) -> Tensor:
    r"""A matrix Q with :math:`Q Q^\top = M^{1/2}`.

    On a GPU, where decompositions leave most of the chip idle, the root of the root by products of matrices
    (:func:`newton_schulz`). On the CPU, and where these do not converge, by an eigendecomposition.

    Args:
        matrix: M, tensor (k, k), symmetric, positive semi-definite up to rounding.

    >>> quarter = quarter_root(torch.diag(torch.tensor([16.0, 81.0], dtype=torch.float64)))
    >>> (quarter @ quarter.T).round(decimals=9).tolist()
    [[4.0, 0.0], [0.0, 9.0]]
    """
    if matrix.is_cuda:
        root, converged = newton_schulz(matrix)
        quarter, again = newton_schulz(root)
        if converged and again:
            return quarter
    values, vectors = eigenvectors(matrix)
    return vectors.mul_(values.clamp_(min=0.0).pow_(0.25))


def newton_schulz(matrix: Tensor, tolerance: float = 1e-6) -> tuple[Tensor, bool]:
    r"""The square root by the coupled Newton-Schulz iteration, which needs products only.

    With :math:`Y_0 = M / \|M\|_F` and :math:`Z_0 = I`,

    .. math:: T_k = \tfrac12 (3 I - Z_k Y_k),\qquad Y_{k+1} = Y_k T_k,\qquad Z_{k+1} = T_k Z_k,

    :math:`Y_k \to (M / \|M\|_F)^{1/2}`, at first linearly, then quadratically. The products of a batch run
    together. The residual :math:`\|I - Z_k Y_k\|_F` decides about convergence: it bounds the error of each
    eigenvalue of the root relative to that eigenvalue. The change of :math:`Y_k` does not, since it hardly sees
    the small ones.

    Args:
        matrix: Tensor (..., k, k), symmetric, positive definite.
        tolerance: The step after a residual of at most this is the last one; its error is the square.

    Returns:
        The root, tensor (..., k, k), and whether the iteration converged for every matrix of the batch.

    Source: Higham, Functions of Matrices (2008), section 6.7.

    >>> root, converged = newton_schulz(torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64))
    >>> bool(torch.allclose(root @ root, torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64))), converged
    (True, True)
    """
    scale = torch.linalg.matrix_norm(matrix, keepdim=True)
    identity = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    y, z = matrix / scale, identity.expand_as(matrix)
    converged = False
    for _ in range(ITERATIONS):
        product = z @ y
        residual = torch.linalg.matrix_norm(identity - product)
        step = 1.5 * identity - 0.5 * product
        y, z = y @ step, step @ z
        # NaN, where the matrix was not positive definite or zero, compares as not converged
        converged = bool((residual <= tolerance).all())
        if converged or not bool(torch.isfinite(residual).all()):
            break
    return 0.5 * (y + y.mT) * scale.sqrt(), converged


def regular_factor(matrix: Tensor) -> tuple[Tensor, bool]:
    r"""The Cholesky factor L of a symmetric matrix, and whether it is regular enough for L to keep half of the digits.

    Args:
        matrix: Tensor (k, k).

    >>> regular_factor(torch.ones(2, 2, dtype=torch.float64))[1]
    False
    """
    factor, info = torch.linalg.cholesky_ex(matrix)
    pivots = factor.diagonal()
    return factor, not bool(info) and bool(pivots.min() > 1e-4 * pivots.max())


def resolved(sample: CentredSample) -> CentredSample:
    r"""The cloud without the directions in which it varies by no more than the rounding of what computed it.

    In units of :attr:`CentredSample.error` rounding adds a matrix (n, d) of about independent errors of a standard
    deviation of at most 1, whose singular values stay below about :math:`\sqrt n + \sqrt d` (Bai and Yin, 1993). What
    the cloud has along its singular vectors with smaller values is indistinguishable from rounding, and is left out.

    >>> from affscore.transport.samples import centred
    >>> two = torch.randn(64, 2, generator=torch.Generator().manual_seed(0))
    >>> x = two @ torch.tensor([[1.0, 2.0, 3.0], [0.3, 0.5, 0.2]])
    >>> [int(torch.linalg.matrix_rank(cloud.points)) for cloud in (centred(x), resolved(centred(x)))]
    [3, 2]
    """
    basis = resolved_basis(sample)
    return sample if basis is None else replace(sample, points=basis @ (basis.T @ sample.points))


def resolved_basis(sample: CentredSample) -> Tensor | None:
    """An orthonormal basis, tensor (n, k), of the columns of a cloud without that; None where nothing is left out.

    Nothing is where nothing else would be left: whether a whole cloud is constant is decided in :func:`centred`.
    """
    n, d = sample.points.shape  # whose root sums up to the largest singular value of errors of size one, about
    basis = varying_basis(sample.points / sample.error.clamp(min=TINY), math.sqrt(n) + math.sqrt(d))
    return basis if basis is not None and basis.shape[1] else None


def varying_basis(points: Tensor, least: float) -> Tensor | None:
    """An orthonormal basis of what centred points (n, d) have along singular vectors of values above the least one.

    By the eigenvectors of the smaller product of the points with themselves
    where it has so many digits that squares tell rounding from signal.

    Returns:
        Tensor (n, k), 0 <= k < n; None for all that the points span, where no direction is left out.
    """
    n, d = points.shape
    gram = second_moments(points if d < n else points.T)
    # for d >= n the constant vector has no part in it, since the points are centred
    factor, regular = regular_factor(gram if d < n else gram + gram.diagonal().mean() / n)
    # the trace of the inverse bounds the smallest singular value from below, which pivots do not
    if regular and float(torch.cholesky_inverse(factor).trace()) * least**2 < 1.0:
        return None
    eps = torch.finfo(points.dtype).eps
    values, vectors = eigenvectors(gram)
    if float(values[-1]) * eps < 0.01 * least**2:
        kept = vectors[:, values > least**2]
        return kept if d >= n else torch.linalg.qr(points @ kept).Q
    left, singular, _ = torch.linalg.svd(points, full_matrices=False)
    return left[:, singular > max(least, float(singular[0]) * max(n, d) * eps)]


def joint_span(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    r"""Two centred clouds in an orthonormal basis of their joint span, where that is the smaller space.

    Outside the span both covariances are multiples of the identity and no sample has a component, so
    the optimal map, and with it the score, is the same: a width of 6144 costs as much as a width of 2 n.

    The first vectors of the basis span the cloud X alone, so that X is given by fewer coordinates than Y;
    its others are zero. With the samples as the rows of a matrix B, the last of each cloud left out (it is minus
    the sum of the others), the coordinates are the rows of L in the Cholesky factorisation

    .. math:: B B^\top = L L^\top,

    whose inner products are those of the samples up to rounding. Where samples depend on each other, as those
    of an affine pair do, the products say too little, and L comes from a QR factorisation of
    :math:`B^\top`.

    Args:
        x: Tensor (n, d), centred.
        y: Tensor (n, d), centred.

    Returns:
        Coordinates of X, tensor (n, s), and of Y, tensor (n, k), with s <= k; the samples themselves for
        d < 2 n.

    >>> x = torch.tensor([[1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    >>> y = torch.tensor([[3.0, 4.0, 0.0, 0.0], [-3.0, -4.0, 0.0, 0.0]], dtype=torch.float64)
    >>> [points.tolist() for points in joint_span(x, y)]
    [[[1.0], [-1.0]], [[3.0, 4.0], [-3.0, -4.0]]]
    """
    n, d = x.shape
    if d < 2 * n:
        return x, y
    samples = torch.cat([x[:-1], y[:-1]])
    products = second_moments(samples.T)
    lower, failed = torch.linalg.cholesky_ex(products)
    if int(failed) or bool((lower.diagonal().square() < INDEPENDENT * products.diagonal()).any()):
        lower = torch.linalg.qr(samples.T, mode="r").R.T
    return _with_last(lower[: n - 1, : n - 1]), _with_last(lower[n - 1 :])


def _with_last(points: Tensor) -> Tensor:
    return torch.cat([points, -points.sum(dim=0, keepdim=True)])
