"""Exact optimal coupling of two clouds of equally many points of equal weight."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from affscore.transport.samples import Samples, as_pair, power_of_two_above

DecidedBy = Literal["float32", "float64", "assignment"]


@dataclass(frozen=True)
class Coupling:
    """An optimal coupling of n points with n points.

    Attributes:
        assignment: Tensor (n,), int64: point i goes to point ``assignment[i]``.
        cost: Mean squared distance under the assignment, which is W2 squared.
        pairing_cost: Mean squared distance of the coupling i -> i.
        pairing_optimal: Whether i -> i is optimal too (up to rounding).
        decided_by: "float32" or "float64" where a pass over the cost matrix in that arithmetic was proof
            enough that i -> i is optimal; else "assignment".
    """

    assignment: Tensor
    cost: float
    pairing_cost: float
    pairing_optimal: bool
    decided_by: DecidedBy


def wasserstein(x: Samples, y: Samples) -> float:
    r"""Exact 2-Wasserstein distance between two samples of n points, each of weight 1/n.

    .. math:: W_2^2(X, Y) = \min_{\pi} \frac1n \sum_{i=1}^n \|x_i - y_{\pi(i)}\|^2

    over all permutations: for equal weights a permutation is an optimal coupling (Birkhoff). This is
    not the distance of the pairs (x_i, y_i), which can be larger.

    Args:
        x: Array or tensor (n, d).
        y: Array or tensor (n, d).

    Returns:
        The distance, >= 0, in the units of x and y.

    Raises:
        AffscoreError: Bad samples or different shapes.

    Source: equation 3 of the paper.

    >>> wasserstein([[0.0], [1.0]], [[3.0], [2.0]])
    2.0
    """
    points_x, points_y, _ = as_pair(x, y)
    # a power of two: squares must not over- or underflow, and nothing is rounded
    scale = power_of_two_above(float(torch.maximum(points_x.abs().amax(), points_y.abs().amax())))
    return optimal_coupling(points_x / scale, points_y / scale).cost ** 0.5 * scale


def optimal_coupling(x: Tensor, y: Tensor) -> Coupling:
    """Optimal coupling of the rows of x with the rows of y for the squared Euclidean cost.

    The coupling i -> i is tried first: if every row of the cost matrix, or every column, has its
    minimum on the diagonal, then no permutation is cheaper (the row minima, or the column minima, are
    dual potentials). In float32 first, where its rounding is bounded and the margins are larger; then
    in float64. Otherwise the assignment problem is solved.

    Both are done on centred clouds: moving a cloud changes the cost of every permutation by the same
    number, and far from the origin the costs would be differences of large numbers.

    Args:
        x: Tensor (n, d), float64.
        y: Tensor (n, d), float64.

    Returns:
        The coupling, with the cost of the pairing i -> i beside it.

    >>> x = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    >>> coupling = optimal_coupling(x, -x)
    >>> coupling.assignment.tolist(), coupling.cost, coupling.pairing_cost, coupling.pairing_optimal
    ([1, 0], 1.0, 2.0, False)
    """
    pairing = torch.arange(len(x), device=x.device)
    pairing_cost = _mean_squared_distance(x, y)
    centred_x, centred_y = x - x.mean(dim=0), y - y.mean(dim=0)
    norms_x, norms_y = (torch.linalg.vector_norm(points, dim=1).square() for points in (centred_x, centred_y))
    if _certain_in_float32(centred_x, centred_y, norms_x, norms_y):
        return Coupling(pairing, pairing_cost, pairing_cost, True, "float32")
    # costs less |x_i|^2, which is the same for the whole row and changes no assignment
    costs = torch.addmm(norms_y, centred_x, centred_y.T, alpha=-2.0)
    # they come from products: this share of the two norms is rounding
    unit = 64 * torch.finfo(costs.dtype).eps
    rounding = unit * float(norms_x.mean() + norms_y.mean())
    diagonal = costs.diagonal()
    certain = costs + unit * norms_y
    rows = diagonal <= certain.amin(dim=1) + unit * norms_x
    if rows.all() or (diagonal + norms_x <= (certain + (1 + unit) * norms_x[:, None]).amin(dim=0)).all():
        return Coupling(pairing, pairing_cost, pairing_cost, True, "float64")
    assignment = torch.from_numpy(linear_sum_assignment(costs.cpu().numpy())[1]).to(x.device)
    cost = _mean_squared_distance(x, y[assignment])
    if pairing_cost <= cost + rounding:
        return Coupling(pairing, pairing_cost, pairing_cost, True, "assignment")
    return Coupling(assignment, cost, pairing_cost, False, "assignment")


def _certain_in_float32(x: Tensor, y: Tensor, norms_x: Tensor, norms_y: Tensor) -> bool:
    r"""Whether float32 is enough to see that every row of the cost matrix has its minimum on the diagonal.

    A product of d terms in float32 is off by at most (d + 2) units of rounding of
    :math:`\|x_i\| \|y_j\|`, in whatever order it is summed. Rows whose margin is larger are certain.
    """
    if x.is_cuda or not _float32_is_float32():
        return False
    d = x.shape[1]
    costs = torch.addmm(norms_y.float(), x.float(), y.float().T, alpha=-2.0)
    if not bool(torch.isfinite(costs).all()):
        return False
    costs.diagonal().fill_(torch.inf)
    diagonal = norms_y - 2.0 * torch.linalg.vecdot(x, y)
    # |y|^2 + 2 |x| |y| <= (|x| + |y|)^2, and a few roundings beside those of the product
    largest = (norms_x.sqrt() + norms_y.max().sqrt()).square()
    error = (d + 16) * torch.finfo(torch.float32).eps / 2.0 * largest + d * torch.finfo(torch.float32).tiny
    return bool((diagonal + error <= costs.amin(dim=1)).all())


def _float32_is_float32() -> bool:
    """Whether products in float32 have 24 bits: a user may have allowed eight, as GPUs do."""
    with suppress(RuntimeError):  # of switches that this function of PyTorch does not read
        return torch.get_float32_matmul_precision() == "highest" and not torch.is_autocast_enabled("cpu")
    return False


def _mean_squared_distance(x: Tensor, y: Tensor) -> float:
    return float((x - y).square().sum()) / len(x)
