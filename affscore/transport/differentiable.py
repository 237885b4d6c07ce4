r"""The affinity score as a function that can be differentiated with respect to both samples."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from affscore.errors import AffscoreError
from affscore.options import CovarianceName, check_word
from affscore.transport.affine_maps import WELL_CONDITIONED
from affscore.transport.affinity import ROUNDING, ConstantInputError
from affscore.transport.assignment import optimal_coupling
from affscore.transport.covariances import shrinkage
from affscore.transport.decompositions import TINY, resolved_basis
from affscore.transport.samples import CentredSample, Samples, centred_pair

HeldCoupling = Literal["paired", "fixed"]


def differentiable_affinity(
    x: Samples,
    y: Samples,
    covariance: CovarianceName = "ledoit-wolf",
    coupling: HeldCoupling = "paired",
    clip: bool = True,
) -> Tensor:
    r"""The affinity score as a tensor whose gradients reach X and Y, to train with it.

    .. math:: \rho = \max(0, r),\qquad
       r = 1 - \sqrt{\frac{\sum_i \|T x_i - y_{\sigma(i)}\|^2}{2\, n \operatorname{tr} S_Y}}

    The optimal affine map T, the covariances, and Ledoit and Wolf's intensity in them depend on the samples, and the
    gradient is the derivative through all of these. Derivatives of matrix roots solve Sylvester equations, so that
    equal eigenvalues do no harm (page Definitions, "The gradient of the score").

    The arithmetic is float64 for inputs of any type, and each gradient is rounded once, to the type of its input: for
    float32 a relative error of at most 6e-8 in each entry. An entry beyond the largest number of that type, as of data
    below 1e-38 in float32, becomes that number. First derivatives only: ``create_graph=True`` is an error.

    Args:
        x: Tensor (n, d) of n >= 2 samples; or an array, as a constant.
        y: Likewise.
        covariance: "ledoit-wolf" or "empirical".
        coupling: "paired" takes :math:`\sigma(i) = i`: the value is ``affinity_score(x, y, coupling="paired")``.
            "fixed" takes the optimal coupling and holds it: the value is the exact score, and so is the gradient,
            where only one coupling is optimal.
        clip: Whether the score is cut at 0. False gives the raw score r, which trains below 0, too.

    Returns:
        A scalar tensor, float64, on the device of x; at most 1, and with ``clip`` in [0, 1].

        Where there is no derivative, the gradient is finite:

        * zero for a constant Y (the value is 1), for a score that was cut at 0, and where W2 is zero up to rounding
          (r = 1), where the root has an infinite slope;
        * for empirical covariances whose rank is below min(n - 1, d) (dead channels, say) that along changes which keep
          the ranks. With shrinkage there is no such case, unless the samples of X are two points, each half of them.

    Raises:
        AffscoreError: What :func:`affscore.affinity_score` refuses, an X that is constant while Y varies among it;
            another coupling; tensors without numbers (on the device meta), or within ``torch.func``.

    Source: section 3.1, equation 5, and appendix B, which proposes to optimise the score.

    >>> x = torch.tensor([[-2.0], [0.0], [2.0]], requires_grad=True)
    >>> score = differentiable_affinity(x, torch.tensor([[0.0], [0.0], [3.0]]))
    >>> round(score.item(), 6)  # 1 - sqrt(1 - corr(x, y)) = 1 - sqrt(1 - sqrt(3)/2)
    0.633975
    >>> score.backward()
    >>> x.grad.sum().item()  # it does not change under a translation
    0.0
    """
    check_word("covariance", covariance, CovarianceName)
    check_word("coupling", coupling, HeldCoupling)
    source, target = centred_pair(x, y)
    from_x, from_y = _points(x, source, covariance), _points(y, target, covariance)
    if target.constant:
        return 1.0 + 0.0 * (from_x.sum() + from_y.sum())
    if source.constant:
        raise ConstantInputError
    n, d = source.points.shape
    if d >= 2 * n:
        # the cost is the same for both clouds mirrored at their span: no first derivative leads out of it
        basis = torch.linalg.qr(torch.cat([source.points[:-1], target.points[:-1]]).T).Q
        from_x, from_y = from_x @ basis, from_y @ basis
    moved = _transported(from_x, from_y, covariance, d)
    partners = from_y
    if coupling == "fixed":
        partners = from_y[optimal_coupling(moved.detach(), from_y.detach()).assignment]
    cost, spread = (moved - partners).square().sum(), from_y.square().sum()
    noise = max(2.0 * ROUNDING**2 * spread.item(), n * target.noise.square().sum().item())
    share = cost / (2.0 * spread)
    raw = 1.0 - (share.sqrt() if cost.item() > noise else share.detach().sqrt() + 0.0 * share)
    return raw.clamp(min=0.0) if clip else raw


def _points(x: Samples, sample: CentredSample, name: CovarianceName) -> Tensor:
    r"""The centred points, with a derivative where x has one; for the empirical covariance the resolved ones.

    These are :math:`U \Sigma V^\top`, in units of their error, of points M with rounding beside it. At constant rank

    .. math:: d(U \Sigma V^\top) = U U^\top dM + (I - U U^\top)\, dM\, V V^\top.
    """
    points = _Centred.apply(x, sample) if isinstance(x, Tensor) and x.requires_grad else sample.points
    basis = resolved_basis(sample) if name == "empirical" else None
    if basis is None:
        return points
    error = sample.error.clamp(min=TINY)
    right = torch.linalg.qr((basis.T @ sample.points / error).T).Q
    inside = basis @ (basis.T @ points)
    return inside + ((points - inside) / error @ right @ right.T) * error


def _transported(x: Tensor, y: Tensor, name: CovarianceName, dimension: int) -> Tensor:
    r"""X under the linear part of the optimal map: centred points (n, k) in a basis of a space of d coordinates.

    For the empirical covariance of X, which may be singular, :math:`T X = Z O^\top F`: F is any factor of the other
    covariance, :math:`F^\top F = n S_Y` (Y itself, where it is empirical), and Z and O are the polar factors of X and
    of :math:`F H`, with :math:`H = Z^\top X = (n S_X)^{1/2}`.
    """
    factor = y
    if name == "ledoit-wolf":
        of_x, regular_x = _shrunk(x, dimension)
        of_y, regular_y = _shrunk(y, dimension)
        if regular_x:  # X L^-T (L^T S_Y L)^(1/2) L^-1, as in affine_map
            lower = torch.linalg.cholesky(of_x)
            root = _SquareRoot.apply(lower.T @ of_y @ lower)
            white = torch.linalg.solve_triangular(lower, x.T, upper=False).T
            return torch.linalg.solve_triangular(lower, white @ root, upper=False, left=False)
        factor = torch.linalg.cholesky(len(y) * of_y).T if regular_y else y
    frame = _PolarFactor.apply(x)
    return frame @ (_PolarFactor.apply(factor @ (frame.T @ x)).T @ factor)


def _shrunk(points: Tensor, dimension: int) -> tuple[Tensor, bool]:
    """The covariance of Ledoit and Wolf in these coordinates, and whether it is well conditioned."""
    scatter = points.T @ points / len(points)
    level = scatter.trace() / dimension
    # 1 at multiples of the identity, as it is next to them: the covariance is the same, its derivative is not
    intensity = shrinkage(points, scatter, dimension, 1.0)
    matrix = (1.0 - intensity) * scatter + intensity * level * torch.eye(len(scatter)).to(scatter)
    return matrix, dimension <= WELL_CONDITIONED * intensity.item()


class _Centred(torch.autograd.Function):
    """The centred points of a sample, as a function of the sample."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, sample: CentredSample) -> Tensor:
        ctx.scale, ctx.kind = sample.scale, {"dtype": x.dtype, "device": x.device}
        return sample.points.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        if torch.is_grad_enabled():  # create_graph=True: a second derivative would be silently wrong
            raise AffscoreError("the score has first derivatives only: take its gradient without create_graph=True")
        largest = torch.finfo(ctx.kind["dtype"]).max  # of subnormal numbers it may be beyond
        return ((gradient - gradient.mean(dim=0)) / ctx.scale).clamp(-largest, largest).to(**ctx.kind), None


class _SquareRoot(torch.autograd.Function):
    r"""The root R of a positive semi-definite matrix M, of which :math:`dR\,R + R\,dR = dM` is the derivative."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor) -> Tensor:
        values, vectors = torch.linalg.eigh(matrix)
        values = torch.where(values > values[-1] * _resolution(matrix), values, 0.0)
        ctx.save_for_backward(values.sqrt(), vectors)
        return (vectors * values.sqrt()) @ vectors.T

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        roots, vectors = ctx.saved_tensors
        return vectors @ _over_sums(vectors.T @ gradient @ vectors, roots) @ vectors.T


class _PolarFactor(torch.autograd.Function):
    r"""The partial isometry :math:`U V^\top` of :math:`M = U \Sigma V^\top`; its derivative is that at constant rank.

    With :math:`K = U^\top dM\, V`,

    .. math:: d(U V^\top) = U \frac{K - K^\top}{\sigma_i + \sigma_j} V^\top
       + (I - U U^\top)\, dM\, V \Sigma^{-1} V^\top + U \Sigma^{-1} U^\top dM\, (I - V V^\top).
    """

    @staticmethod
    def forward(ctx: Any, matrix: Tensor) -> Tensor:
        left, singular, right = torch.linalg.svd(matrix, full_matrices=False)
        keep = singular > singular[0] * _resolution(matrix)
        left, singular, right = left[:, keep], singular[keep], right[keep].T
        ctx.save_for_backward(left, singular, right)
        return left @ right.T

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        left, singular, right = ctx.saved_tensors
        from_left, from_right = left.T @ gradient, gradient @ right
        inner = from_left @ right
        turned = left @ _over_sums(inner - inner.T, singular) @ right.T
        beside = ((from_right - left @ inner) / singular) @ right.T
        below = (left / singular) @ (from_left - inner @ right.T)
        return turned + beside + below


def _resolution(matrix: Tensor) -> float:
    """Which share of the largest singular value is rounding."""
    return max(matrix.shape) * torch.finfo(matrix.dtype).eps


def _over_sums(matrix: Tensor, values: Tensor) -> Tensor:
    """Each entry (i, j) over the sum of the values i and j; 0 where that is 0."""
    sums = values[:, None] + values
    return torch.where(sums > 0, matrix / torch.where(sums > 0, sums, 1.0), 0.0)
