"""Philipp's non-linearity coefficient, by Jacobian-vector products."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.columns import ANYWHERE, CONSTANT
from affscore.network.criteria.declaration import BatchSamples, Criterion
from affscore.transport.samples import centred, rounding_of


@torch.inference_mode(False)  # which has no derivatives: all would be 0
def nonlinearity_coefficient(
    function: Callable[[Tensor], Tensor], x: Tensor, directions: int = 1, seed: int = 0
) -> float:
    r"""How much further a function's linearisations send the data than the function does.

    .. math:: \mathrm{NLC}(f) = \sqrt{
       \frac{\mathbb E_x \operatorname{tr}\bigl(J(x) \operatorname{Cov}(x) J(x)^\top\bigr)}
       {\operatorname{tr} \operatorname{Cov}(f(x))}}
       = \sqrt{\frac{\mathbb E_{x, x'} \|J(x) (x' - \bar x)\|^2}{\mathbb E_x \|f(x) - \overline{f(x)}\|^2}},

    J being the Jacobian of f. Of an elementwise function, an activation, J is diagonal, and one product of J
    with ones gives all of it:

    .. math:: \mathrm{NLC}(f)^2 = \frac{\sum_j \mathbb E[f'(x_j)^2] \operatorname{Var} x_j}
       {\sum_j \operatorname{Var} f(x_j)}.

    A second product, with random signs, shows whether f is elementwise. For other functions the second form of the
    definition needs one product for each sample, with the deviation of another sample from the mean, and never a
    Jacobian: so it works for a whole network. Where f has a bend, PyTorch's derivative there is taken; data meet it
    with probability zero. Coordinates that vary by no more than rounding count as constant, as they do in the score.

    Args:
        function: Maps a tensor (n, ...) to a tensor (n, ...), each sample by itself.
        x: The samples, floating point, n >= 2.
        directions: How many other samples are tried for each one, where f is not elementwise; more make the estimate
            steadier. With 0 there is none.
        seed: Fixes which.

    Returns:
        A number >= 0: 1 for an affine function, larger where f bends the data; NaN if x or f(x) is constant, where
        a derivative is infinite, and for ``directions=0`` if f is not elementwise.

    Raises:
        AffscoreError: Fewer than two samples, numbers that are not finite, or a function that cannot be applied to x or
            has no derivative in PyTorch (forwards, where it is not elementwise).

    Source: Philipp (2021); the papers name it as the nearest relative of their score and compute nothing.

    >>> x = torch.randn(100, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> round(nonlinearity_coefficient(lambda x: 2 * x + 1, x), 6)
    1.0
    >>> nonlinearity_coefficient(torch.sin, 10 * x) > 2
    True
    """
    if len(x) < 2:
        raise AffscoreError(f"the coefficient needs at least 2 samples, got {len(x)}")
    source = centred(x.reshape(len(x), -1), "x")
    generator = torch.Generator().manual_seed(seed)
    with _refused():
        values = function(x.clone()).detach()
        slopes = _slopes(function, x, generator) if values.shape == x.shape else None
    target = centred(values.reshape(len(x), -1), "the function's value", rounding_of(x.dtype))
    if source.constant or target.constant:
        return math.nan
    varies = target.points.any(dim=0)
    if slopes is not None:
        squares = slopes.double().square().mean(dim=0) * source.points.square().sum(dim=0)
        bent = float(squares[varies].sum())
    elif directions < 1:
        return math.nan
    else:
        deviations, bent = source.points.to(x.dtype).reshape(x.shape), 0.0
        for _ in range(directions):
            others = torch.randperm(len(x), generator=generator).to(x.device)
            with _refused():
                pushed = torch.func.jvp(function, (x.clone(),), (deviations[others],))[1]
            pushed = pushed.detach().reshape(len(x), -1)[:, varies]
            bent += float(pushed.double().square().sum()) / directions
    coefficient = math.sqrt(bent / float(target.points.square().sum())) * (source.scale / target.scale)
    return coefficient if math.isfinite(coefficient) else math.nan


def _slopes(function: Callable[[Tensor], Tensor], x: Tensor, generator: torch.Generator) -> Tensor | None:
    """The derivatives of an elementwise function, tensor (n, d); None for a function that is not elementwise."""
    signs = (torch.rand(x.shape, generator=generator) < 0.5).to(x) * 2 - 1
    with torch.enable_grad():
        z = x.detach().clone().requires_grad_()
        y = function(z.clone())
        if not y.requires_grad:
            return torch.zeros(len(x), x[0].numel(), device=x.device)
        # the other product with J, which more functions have: the same for a diagonal J
        slopes, signed = (
            torch.autograd.grad(y, z, along, retain_graph=True, materialize_grads=True)[0]
            for along in (torch.ones_like(x), signs)
        )
    return slopes.reshape(len(x), -1) if torch.allclose(signed, signs * slopes, atol=0.0) else None


@contextmanager
def _refused() -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # PyTorch's own, of a module that it loads here
            yield
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:  # of the user's function
        raise AffscoreError(
            "the non-linearity coefficient needs a function of x and its derivative; this one cannot be applied to x, "
            f"or has no backward or no forward derivative ({(str(error).splitlines() or [type(error).__name__])[0]})"
        ) from error


def _of_samples(samples: BatchSamples) -> float:
    """NaN where the coefficient needs more than an elementwise function with a derivative."""
    try:
        return nonlinearity_coefficient(samples.pair.function, samples.pair.x.to(samples.pair.dtype), directions=0)
    except AffscoreError:
        return math.nan


CRITERIA = (
    Criterion(
        "nlc", "non-linearity\ncoefficient",
        "Philipp's coefficient of the activation on its reduced input, 1 for an affine function; missing, with a note, "
        "where that is no elementwise function of vectors of channels or has no derivative in PyTorch",
        (0, math.inf), of_samples=_of_samples, missing=(*CONSTANT, ANYWHERE),
    ),
)  # fmt: skip
