"""Few samples in many dimensions: coordinates in the space that both clouds span."""

from __future__ import annotations

import torch
from torch import Tensor

from affscore.transport.samples import second_moments

INDEPENDENT = 1e-12
"""Samples with a smaller share of their square outside the span of the others are left to Householder's method."""


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
    lower = _cholesky(samples)
    if lower is None:
        lower = torch.linalg.qr(samples.T, mode="r").R.T
    return _with_last(lower[: n - 1, : n - 1]), _with_last(lower[n - 1 :])


def joint_basis(x: Tensor, y: Tensor) -> Tensor:
    """An orthonormal basis that spans two centred clouds.

    Args:
        x: Tensor (n, d), centred.
        y: Tensor (n, d), centred.

    Returns:
        Tensor (d, k), k at most 2 n - 2.

    >>> x = torch.tensor([[1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    >>> y = torch.tensor([[3.0, 4.0, 0.0, 0.0], [-3.0, -4.0, 0.0, 0.0]], dtype=torch.float64)
    >>> joint_basis(x, y).abs().tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    """
    return torch.linalg.qr(torch.cat([x[:-1], y[:-1]]).T).Q


def _cholesky(samples: Tensor) -> Tensor | None:
    """The Cholesky factor of the inner products, if the samples are independent enough for it to mean something."""
    products = second_moments(samples.T)
    lower, failed = torch.linalg.cholesky_ex(products)
    if int(failed) or bool((lower.diagonal().square() < INDEPENDENT * products.diagonal()).any()):
        return None
    return lower


def _with_last(points: Tensor) -> Tensor:
    return torch.cat([points, -points.sum(dim=0, keepdim=True)])
