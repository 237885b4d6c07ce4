"""Philipp's non-linearity coefficient, by Jacobian-vector products."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from affscore.errors import AffscoreError

__all__ = ["nonlinearity_coefficient"]


def nonlinearity_coefficient(
    function: Callable[[Tensor], Tensor], x: Tensor, directions: int = 1, seed: int = 0
) -> float:
    r"""How much further a function's linearisations send the data than the function does.

    .. math:: \mathrm{NLC}(f) = \sqrt{
       \frac{\mathbb E_x \operatorname{tr}\bigl(J(x) \operatorname{Cov}(x) J(x)^\top\bigr)}
       {\operatorname{tr} \operatorname{Cov}(f(x))}}
       = \sqrt{\frac{\mathbb E_{x, x'} \|J(x) (x' - \bar x)\|^2}{\mathbb E_x \|f(x) - \overline{f(x)}\|^2}},

    J being the Jacobian of f. The second form needs one Jacobian-vector product for each sample, along the
    deviation of another sample from the mean, and never a Jacobian: so it works for a whole network, and
    for one activation. Where f has a bend, PyTorch's derivative there is taken; data meet it with
    probability zero.

    Args:
        function: Maps a tensor (n, ...) to a tensor (n, ...), each sample by itself.
        x: The samples, floating point, n >= 2.
        directions: How many other samples are tried for each one; more make the estimate steadier.
        seed: Fixes which.

    Returns:
        A number >= 0: 1 for an affine function, larger where f bends the data; NaN if f is constant on them.

    Raises:
        AffscoreError: Fewer than two samples, or a function that PyTorch cannot differentiate forwards.

    Source: Philipp (2021); the papers name it as the nearest relative of their score and compute nothing.

    >>> x = torch.randn(100, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> round(nonlinearity_coefficient(lambda x: 2 * x + 1, x), 6)
    1.0
    >>> nonlinearity_coefficient(torch.sin, 10 * x) > 2
    True
    """
    if len(x) < 2:
        raise AffscoreError(f"the coefficient needs at least 2 samples, got {len(x)}")
    deviations = x - x.mean(dim=0)
    generator = torch.Generator().manual_seed(seed)
    bent, values = 0.0, x
    for _ in range(directions):
        others = torch.randperm(len(x), generator=generator).to(x.device)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # PyTorch's own, of a module that it loads here
                values, pushed = torch.func.jvp(function, (x.clone(),), (deviations[others],))  # type: ignore[misc]
        except (RuntimeError, NotImplementedError) as error:  # as PyTorch raises where it has no derivative
            raise AffscoreError(
                f"this function has no forward derivative in PyTorch ({str(error).splitlines()[0]})"
            ) from error
        bent += float(pushed.detach().double().square().sum()) / directions
    values = values.detach().double()
    spread = float((values - values.mean(dim=0)).square().sum())
    return math.sqrt(bent / spread) if spread > 0 else math.nan
