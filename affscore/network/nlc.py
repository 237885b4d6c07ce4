"""Philipp's non-linearity coefficient, by Jacobian-vector products."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from affscore.errors import guarding
from affscore.transport.samples import centred, rounding_of


@torch.inference_mode(False)  # which has no derivatives: all would be 0
def nonlinearity_coefficient(function: Callable[[Tensor], Tensor], x: Tensor) -> float:
    r"""How much further the linearisations of an elementwise function send the data than the function does.

    .. math:: \mathrm{NLC}(f) = \sqrt{
       \frac{\mathbb E_x \operatorname{tr}\bigl(J(x) \operatorname{Cov}(x) J(x)^\top\bigr)}
       {\operatorname{tr} \operatorname{Cov}(f(x))}}
       = \sqrt{\frac{\sum_j \mathbb E[f'(x_j)^2] \operatorname{Var} x_j}{\sum_j \operatorname{Var} f(x_j)}},

    J being the Jacobian of f, which is diagonal: one product of it with ones gives all of it. A second product, with
    random signs, shows whether f is elementwise. Where f has a bend, PyTorch's derivative there is taken; data meet it
    with probability zero. Coordinates that vary by no more than rounding count as constant, as they do in the score.

    Args:
        function: Maps a tensor (n, ...) to a tensor (n, ...), each sample by itself.
        x: The samples, floating point, n >= 2.

    Returns:
        A number >= 0: 1 for an affine function, larger where f bends the data; NaN if x or f(x) is constant, where
        a derivative is infinite, and if f is not elementwise.

    Raises:
        AffscoreError: Fewer than two samples, numbers that are not finite, or a function that cannot be applied to x or
            has no derivative in PyTorch.

    Source: Philipp (2021); the papers name it as the nearest relative of their score and compute nothing.

    >>> x = torch.randn(100, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> round(nonlinearity_coefficient(lambda x: 2 * x + 1, x), 6)
    1.0
    >>> nonlinearity_coefficient(torch.sin, 10 * x) > 2
    True
    """
    source = centred(x.reshape(len(x), -1), "x")
    with guarding("this is no function of x, or has no derivative"):
        values = function(x.clone()).detach()
        slopes = _slopes(function, x) if values.shape == x.shape else None
    target = centred(values.reshape(len(x), -1), "the function's value", rounding_of(x.dtype))
    if source.constant or target.constant or slopes is None:
        return math.nan
    squares = slopes.double().square().mean(dim=0) * source.points.square().sum(dim=0)
    bent = float(squares[target.points.any(dim=0)].sum())
    coefficient = math.sqrt(bent / float(target.points.square().sum())) * (source.scale / target.scale)
    return coefficient if math.isfinite(coefficient) else math.nan


def _slopes(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor | None:
    """The derivatives of an elementwise function, tensor (n, d); None for a function that is not elementwise."""
    signs = (torch.rand(x.shape, generator=torch.Generator().manual_seed(0)) < 0.5).to(x) * 2 - 1
    with torch.enable_grad():
        z = x.detach().clone().requires_grad_()
        y = function(z.clone())
        if not y.requires_grad:
            return torch.zeros(len(x), x[0].numel(), device=x.device)
        # the other product with J, which more functions have: the same for a diagonal J
        grad = partial(torch.autograd.grad, y, z, retain_graph=True, materialize_grads=True)
        slopes, signed = grad(torch.ones_like(x))[0], grad(signs)[0]
    return slopes.reshape(len(x), -1) if torch.allclose(signed, signs * slopes, atol=0.0) else None
