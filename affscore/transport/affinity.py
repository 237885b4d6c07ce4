"""The affinity score: how close to affine the map between two samples is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.options import CouplingName, CovarianceName, check_word
from affscore.transport.affine_maps import transport
from affscore.transport.assignment import DecidedBy, optimal_coupling
from affscore.transport.covariances import estimate
from affscore.transport.decompositions import joint_span, resolved
from affscore.transport.samples import Cloud, centred_pair

ROUNDING = 1e-12
"""A raw score this little below zero is zero, and not a bound that was exceeded."""

UNREACHED = 1e-8
"""Where the variance of T X differs from that of Y by a larger share, the map does not reach all of Y."""


class ConstantInputError(AffscoreError):
    """X is constant while Y varies."""

    def __init__(self) -> None:
        super().__init__("x is constant while y varies, so that no map takes x to y; check that they belong together")


@dataclass(frozen=True)
class AffinityScore:
    """An affinity score and what is worth knowing about it. ``float(score)`` is its value.

    Attributes:
        value: rho = max(raw, 0), in [0, 1]; 1 is affine.
        raw: 1 - w2 / sqrt(2 tr S_Y), at most 1; below 0 only where shrinkage, or a coupling that is not
            optimal, breaks the bound.
        w2: W2(T X, Y), the exact 2-Wasserstein distance, in the units of Y.
        pairing_optimal: Whether the coupling of T x_i with y_i was optimal; None where only that one
            was tried (``coupling="paired"``).
        paired: The score under that coupling, ``max(1 - sqrt(mean |T x_i - y_i|^2 / (2 tr S_Y)), 0)``, in [0, 1];
            never above the value.
        bound_exceeded: Whether raw is below 0, so that the value was cut.
        covariance: The covariance estimate that was used.
        constant_output: Whether Y does not vary (a constant is affine: the value is 1).
        degenerate_input: Whether some of the variance of Y lies in directions in which X does not vary by more
            than rounding, and the covariance is not shrunk: no map reaches them, which lowers the value.
        intensity: Shrinkage intensities of the covariances of X and of Y, each in [0, 1].
        samples: How many, n.
        width: How many coordinates, d.
        effective_width: :func:`affscore.transport.effective_width` of X or Y, the larger; NaN for a constant Y.
        sample_costs: Tensor (n, 2), where the samples were at hand: for each i the squared distance of
            T x_i to its partner, and of the partner to the mean of Y, both in the same unit. The raw score
            is 1 - sqrt(sum of the first / (2 * sum of the second)), up to a ridge.
        decided_by: How the optimal coupling was found: "float32" or "float64", the arithmetic in which the
            coupling i -> i could be proved optimal, or "assignment"; None where it was not looked for. The
            score itself is always computed in float64.
    """

    value: float
    raw: float
    w2: float
    pairing_optimal: bool | None
    bound_exceeded: bool
    covariance: CovarianceName
    constant_output: bool
    intensity: tuple[float, float]
    samples: int
    width: int
    degenerate_input: bool = False
    effective_width: float = math.nan
    paired: float = math.nan
    sample_costs: Tensor | None = field(default=None, repr=False, compare=False)
    decided_by: DecidedBy | None = field(default=None, compare=False)

    def __float__(self) -> float:
        return self.value


def affinity_score(
    x: Cloud,
    y: Cloud,
    covariance: CovarianceName = "ledoit-wolf",
    *,
    ridge: float = 0.0,
    rounding: float | None = None,
    coupling: CouplingName = "exact",
) -> AffinityScore:
    r"""How close to affine the transformation is that takes the sample X to the sample Y.

    .. math:: \rho(X, Y) = \max\Bigl(0,\; 1 - \frac{W_2(T X, Y)}{\sqrt{2 \operatorname{tr} S_Y}}\Bigr),

    where T is the optimal affine map between the Gaussian approximations of X and Y
    (:func:`affscore.transport.affine_map`) and W2 the exact 2-Wasserstein distance between the two
    clouds, an assignment problem. The score compares two distributions: it does not see which x_i
    belongs to which y_i.

    Args:
        x: Array or tensor (n, d), n >= 2: the inputs of an activation, say.
        y: Array or tensor (n, d): its outputs.
        covariance: "ledoit-wolf" (the papers' choice: scores stay comparable where d > n) or
            "empirical" (raw is then in [0, 1], and 1 exactly for positive semi-definite affine maps; directions in
            which a cloud varies by no more than the rounding of its type, as 48 units of 20 channels do in 28, do not
            count, see :func:`affscore.transport.decompositions.resolved`).
        ridge: Ridge on both covariances, relative to tr(S)/d.
        rounding: Unit of rounding of the arithmetic that made x and y, where their type does not tell
            (float16 activations that were averaged in float32, say).
        coupling: "exact", or "paired" for the coupling i -> i alone: a lower bound of the exact score,
            for sample sizes whose assignment problem takes too long.

    Returns:
        The score; ``float(score)`` is a number in [0, 1].

    Raises:
        AffscoreError: NaN or infinity, shapes that differ or are not (n, d), n < 2, an unknown
            covariance, or an X that is constant while Y varies.

    Source: section 3.1, equation 5; its range by Proposition 3.5 (proved on the page Theory).

    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal((512, 300))
    >>> round(float(affinity_score(x, 2 * x + 1)), 6)
    1.0
    >>> score = affinity_score(x, np.maximum(x, 0))  # 1 - sqrt(1 - corr(x, relu(x))) = 0.621
    >>> round(score.value, 2), score.pairing_optimal, score.bound_exceeded
    (0.62, True, False)
    >>> mirrored = affinity_score(x, -x)  # the same cloud: T is the identity, and takes each x_i far from its -x_i
    >>> mirrored.value > mirrored.paired, mirrored.paired
    (True, 0.0)
    """
    check_word("covariance", covariance, CovarianceName)
    check_word("coupling", coupling, CouplingName)
    if rounding is not None and not 0 <= rounding < 1:
        raise AffscoreError(f"rounding must be a number in [0, 1), got {rounding}")
    source, target = centred_pair(x, y, rounding)
    n, d = source.points.shape
    if target.constant:
        return AffinityScore(1.0, 1.0, 0.0, True, False, covariance, True, (0.0, 0.0), n, d, paired=1.0)
    if source.constant:
        raise ConstantInputError
    if covariance == "empirical" and not ridge:  # else every direction counts
        source, target = resolved(source), resolved(target)
    basis_x, basis_y = joint_span(source.points, target.points)
    known = [source.second, target.second] if basis_x is source.points else [None, None]
    covariance_x = estimate(basis_x, covariance, dimension=d, ridge=ridge, second=known[0])
    covariance_y = estimate(basis_y, covariance, dimension=d, ridge=ridge, second=known[1])
    transported = transport(basis_x, covariance_x, covariance_y)
    pairing_optimal, decided_by, partners, pairing_cost = None, None, basis_y, 0.0
    if coupling == "exact":
        optimal = optimal_coupling(transported, basis_y)
        pairing_optimal, decided_by = optimal.pairing_optimal, optimal.decided_by
        if not pairing_optimal:
            partners, pairing_cost = basis_y[optimal.assignment], optimal.pairing_cost
    moved = float(transported.square().sum()) / n
    costs = torch.stack([(transported - partners).square().sum(dim=1), partners.square().sum(dim=1)], dim=1)
    cost = float(costs[:, 0].mean())
    # the pairing is not cheaper, however the two sums are rounded
    raw, paired = (1.0 - one**0.5 / (2.0 * covariance_y.trace) ** 0.5 for one in (cost, max(cost, pairing_cost)))
    return AffinityScore(
        value=max(raw, 0.0),
        raw=raw,
        w2=cost**0.5 * target.scale,
        pairing_optimal=pairing_optimal,
        bound_exceeded=raw < -ROUNDING,
        covariance=covariance,
        constant_output=False,
        intensity=(covariance_x.intensity, covariance_y.intensity),
        samples=n,
        width=d,
        degenerate_input=covariance_x.floor == 0.0 and abs(moved / covariance_y.trace - 1.0) > UNREACHED,
        effective_width=max(effective_width(one.scatter, n, d) for one in (covariance_x, covariance_y)),
        paired=max(paired, 0.0),
        sample_costs=costs,
        decided_by=decided_by,
    )


DIRECTIONS = 4.0
"""How many times the participation ratio counts: a fit to trained networks, and no bound (chapter 3)."""


def effective_width(scatter: Tensor, samples: int, width: int) -> float:
    r"""The width that the bias of few samples goes with: directions that hardly vary do not count.

    .. math:: \min\Bigl(d,\; 4\, \frac{(\operatorname{tr} C)^2}{\|C\|_F^2 - (\operatorname{tr} C)^2/n}\Bigr)

    The fraction is the participation ratio of the eigenvalues: d for independent coordinates of equal variance, k for
    k such directions in d coordinates. What n samples add to the norm of C is subtracted.

    Args:
        scatter: C, the empirical covariance, tensor (k, k), in a basis that spans the samples.
        samples: How many, n.
        width: How many coordinates, d.

    Returns:
        A number in [1, d].

    >>> import torch
    >>> round(effective_width(torch.diag(torch.tensor([1.0, 1.0, 0.0, 0.0])), 10**9, 10), 3)  # two of ten directions
    8.0
    """
    trace = float(scatter.trace())
    rest = float(scatter.square().sum()) - trace**2 / samples
    return float(width) if DIRECTIONS * trace**2 >= width * rest else max(DIRECTIONS * trace**2 / rest, 1.0)
