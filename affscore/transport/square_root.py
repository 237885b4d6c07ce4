"""Square roots of symmetric positive semi-definite matrices: by eigenvectors, or by products alone."""

from __future__ import annotations

import scipy.linalg
import torch
from torch import Tensor

ITERATIONS = 60
"""Each step multiplies the smallest relative eigenvalue by 2.25: sixty are more than float64 can ask for."""


def eigenvectors(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix (k, k): :func:`torch.linalg.eigh`.

    Divide and conquer may not converge where many eigenvalues are next to zero; QR iteration, which is slower, does.
    """
    try:
        values, vectors = torch.linalg.eigh(matrix)
    except torch.linalg.LinAlgError:
        found = scipy.linalg.eigh(matrix.numpy(force=True), driver="ev")
        values, vectors = (torch.from_numpy(one).to(matrix) for one in found)
    return values, vectors


def square_root(matrix: Tensor) -> Tensor:
    r"""The symmetric positive semi-definite square root :math:`M^{1/2}`.

    On the CPU by an eigendecomposition. On a GPU, where decompositions leave most of the chip idle, by
    products of matrices (:func:`newton_schulz`), and by an eigendecomposition where these do not
    converge.

    Args:
        matrix: Tensor (..., k, k), symmetric, positive semi-definite up to rounding.

    Returns:
        Tensor (..., k, k).

    >>> square_root(torch.diag(torch.tensor([4.0, 9.0], dtype=torch.float64))).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    if matrix.is_cuda:
        root, converged = newton_schulz(matrix)
        if converged:
            return root
    values, vectors = torch.linalg.eigh(matrix)
    return (vectors * values.clamp(min=0.0).sqrt().unsqueeze(-2)) @ vectors.mT


def quarter_root(matrix: Tensor) -> Tensor:
    r"""A matrix Q with :math:`Q Q^\top = M^{1/2}`: on a GPU the root of the root, on the CPU one rotated to be cheap.

    >>> quarter = quarter_root(torch.diag(torch.tensor([16.0, 81.0], dtype=torch.float64)))
    >>> (quarter @ quarter.T).round(decimals=9).tolist()
    [[4.0, 0.0], [0.0, 9.0]]
    """
    if matrix.is_cuda:
        return square_root(square_root(matrix))
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
    norm = torch.linalg.matrix_norm(matrix, keepdim=True)
    scale = torch.where(norm > 0, norm, 1.0)
    identity = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    y, z = matrix / scale, identity.expand_as(matrix)
    converged = False
    for _ in range(ITERATIONS):
        product = z @ y
        residual = torch.linalg.matrix_norm(identity - product)
        step = 1.5 * identity - 0.5 * product
        y, z = y @ step, step @ z
        # NaN, where the matrix was not positive definite, compares as not converged
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
