r"""The affinity score as the authors' published code computes it: for comparison only."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.options import check_word
from affscore.transport.assignment import optimal_coupling
from affscore.transport.covariances import estimate
from affscore.transport.samples import Samples, as_pair

Variant = Literal["corrected", "raw"]

RIDGE = 1e-6
"""Added to both diagonals, whatever the units of the activations are."""

PSEUDO_INVERSE_CUTOFF = 1e-15
"""Relative cutoff of the pseudo-inverse, below the rounding of float32, so that nothing is cut."""


def affinity_score(x: Samples, y: Samples, variant: Variant = "corrected") -> float:
    r"""The published formula: float32 covariances, an absolute ridge, no clipping.

    .. math:: 1 - \frac{W_2(T X, Y)}{\sqrt{2 \operatorname{tr} S_Y}},\qquad
       A = S_Y^{1/2} \Bigl(\bigl(S_Y^{1/2} S_X S_Y^{1/2}\bigr)^{1/2}\Bigr)^{+} S_Y^{1/2},\qquad
       T(x) = A (x - \mu_X) + \mu_Y,

    where S is the sample's covariance plus :math:`10^{-6} I`. This is not
    :func:`affscore.affinity_score`, and three things set the two apart:

    * The ridge does not know the units: activations of variance about 1e-6 are scored by the ridge, so
      that 2 X, 2 Y do not score as X, Y. A Y whose mean variance is below 1e-6 is not transported (A = 0).
    * The product :math:`S_Y^{1/2} S_X S_Y^{1/2}` is rounded to float32. Where its condition number, about
      that of S_X times that of S_Y, is above 1e7, its smallest eigenvalues are rounding, and A divides by
      their roots. Those that come out negative are replaced by numbers between 1e-7 and 1e-6.
    * What then leaves [0, 1] is not cut: where a few directions carry nearly all of the variance and d is above n, it
      gives less than -0.5 where 0.7 is right (``tests/affscore/transport/test_published.py`` has such data).

    Where S_X and S_Y are well conditioned and far above the ridge, both give the same number up to float32.

    Args:
        x: Array or tensor (n, d), n >= 2: the inputs of an activation.
        y: Array or tensor (n, d): its outputs.
        variant: "corrected" (Ledoit and Wolf's covariance) or "raw" (the unbiased one, 1/(n-1)).

    Returns:
        A number at most 1, with no lower bound. Where rounding dominates it, it differs from one machine
        to the next.

    Raises:
        AffscoreError: NaN or infinity, shapes that differ or are not (n, d), n < 2, an unknown variant, or
            values whose squares do not fit into float32.

    Source: the code published with the paper, as far as its numbers go; W2 is solved exactly in float64.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal((512, 20))
    >>> round(affinity_score(x, np.maximum(x, 0)), 2)
    0.62
    >>> round(affinity_score(3e-4 * x, np.maximum(3e-4 * x, 0)), 2)  # other units, another score
    0.88
    """
    check_word("variant", variant, Variant)
    rounded = (points.to(torch.float32) for points in as_pair(x, y)[:2])
    centred_x, centred_y = (points - points.mean(dim=0) for points in rounded)
    covariance_x = _covariance(centred_x, variant, "x")
    covariance_y = _covariance(centred_y, variant, "y")
    transported = centred_x @ _linear_part(covariance_x, covariance_y).T
    cost = optimal_coupling(transported.double(), centred_y.double()).cost
    return 1.0 - (cost / (2.0 * float(covariance_y.trace()))) ** 0.5


def _covariance(centred: Tensor, variant: Variant, name: str) -> Tensor:
    n = len(centred)
    found = estimate(centred, "empirical" if variant == "raw" else "ledoit-wolf")
    if not bool(torch.isfinite(found.scatter).all()):
        raise AffscoreError(f"{name} is too large for the published formula in float32: divide x and y by one number")
    matrix = found.matrix * (n / (n - 1) if variant == "raw" else 1.0)
    matrix.diagonal().add_(RIDGE)
    return matrix


def _linear_part(source: Tensor, target: Tensor) -> Tensor:
    if float(target.trace()) <= 2.0 * RIDGE * len(target):
        return torch.zeros_like(target)
    root = _root(target)
    return root @ torch.linalg.pinv(_root(root @ source @ root), rtol=PSEUDO_INVERSE_CUTOFF) @ root


def _root(matrix: Tensor) -> Tensor:
    """Square root by eigenvalues in float64, rounded to float32; see above for negative eigenvalues."""
    values, vectors = torch.linalg.eigh(matrix.double())
    negative = values <= 0
    values[negative] = torch.linspace(1e-7, 1e-6, int(negative.sum())).to(values)
    return ((vectors * values.sqrt()) @ vectors.T).to(torch.float32)
