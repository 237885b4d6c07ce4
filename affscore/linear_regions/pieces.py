"""A piecewise affine function on a segment: where its slope changes, and how far it is from its chord."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affscore.errors import AffscoreError, guarded
from affscore.options import check_word

Floats = NDArray[np.float64]
DeviationMode = Literal["exact", "upper_bound"]

BEND = 1e-8
"""The slope changes where it does so by more than this, as a fraction of the mean absolute slope of the segment."""


class Trace(NamedTuple):
    """What a method finds on a segment: points between which everything is affine.

    Attributes:
        t: The points, as fractions of the segment; from 0 to 1.
        logits: The network's output there, (points, logits).
        units: Whether a unit changes its state there.
        switches: Whether a max pooling changes its choice there.
    """

    t: Floats
    logits: Floats
    units: NDArray[np.bool_]
    switches: NDArray[np.bool_]


def bends(trace: Trace, error: float, slopes_at: Callable[[Floats], Floats]) -> NDArray[np.bool_]:
    r"""At which points the slope of a logit changes.

    The slope changes at a point where the slopes :math:`s` on both sides differ by more than

    .. math:: 10^{-8} \max_k \mathrm{TV}(f_k) + 4 (\nu_- + \nu_+)

    for some logit :math:`k`, :math:`\mathrm{TV}` being the total variation over the segment and :math:`\nu` the error
    of a slope: :math:`2 \eta / \Delta t` for a difference of two values with error :math:`\eta`. Between points that
    are very near to each other the second term is the larger one; slopes that do not differ by more are computed
    again, as derivatives, whose error is :math:`\eta`.

    Args:
        trace: The points of a segment.
        error: By how much logits were found to be wrong; :math:`\eta` is four times that, and rounding at least.
        slopes_at: Computes derivatives of the logits at points inside of the intervals, (n,) to (n, logits).

    Returns:
        A boolean for each point, false at both ends.
    """
    step = np.diff(trace.t)
    error = max(4 * error, 1e-15 * float(np.abs(trace.logits).max()))
    slopes, noise = np.diff(trace.logits, axis=0) / step[:, None], 2 * error / step
    least = BEND * float(np.abs(np.diff(trace.logits, axis=0)).sum(0).max())

    def bent() -> NDArray[np.bool_]:
        return np.abs(np.diff(slopes, axis=0)).max(1) > least + 4 * (noise[1:] + noise[:-1])

    doubtful = ~bent() & (4 * (noise[1:] + noise[:-1]) > least)
    if doubtful.any():
        again = np.append(doubtful, False) | np.append(False, doubtful)
        slopes[again] = slopes_at(trace.t[:-1][again] + step[again] / 2)
        noise[again] = error
    return np.concatenate([[False], bent(), [False]])


def absolute_deviation(t: ArrayLike, values: ArrayLike, length: float = 1.0, mode: DeviationMode = "exact") -> Floats:
    r"""How far a piecewise affine function on a segment is from its chord: the area between them.

    With :math:`h_k(t) = f_k(0) + t\,(f_k(1) - f_k(0))` and the segment's length :math:`\ell`,

    .. math:: D_k = \ell \int_0^1 |f_k(t) - h_k(t)|\,dt
       = \ell \sum_j \Delta t_j \begin{cases}
       \tfrac12 (|e_j| + |e_{j+1}|) & e_j e_{j+1} \ge 0 \\
       \dfrac{e_j^2 + e_{j+1}^2}{2\,(|e_j| + |e_{j+1}|)} & \text{otherwise}
       \end{cases}, \qquad e_j = f_k(t_j) - h_k(t_j).

    The code that was published with the measure adds up another number, which is no smaller. With
    :math:`d_j = f_k(0) - g_j(0)`, :math:`g_j` being the affine function of piece :math:`j` and :math:`v_j` its slope,

    .. math:: \ell \sum_j (t_{j+1} - t_j) |d_j| + \tfrac12 (t_{j+1}^2 - t_j^2)\,|v_j - (f_k(1) - f_k(0))|.

    Args:
        t: The points between which the function is affine, rising from 0 to 1, (points,).
        values: Its values there, (points, logits).
        length: The length of the segment, in the metric of the input.
        mode: "exact" for the area, "upper_bound" for the second number, of all pieces (the published code leaves the
            last one out).

    Returns:
        A number >= 0 for each logit, in units of the logit times units of the input; 0 for an affine function.

    Raises:
        AffscoreError: Points that do not rise from 0 to 1, another number of values, or numbers that are not finite.

    Source: Gamba et al. (2022), "absolute deviation"; the closed form and the bound are ours.

    >>> absolute_deviation([0, 0.5, 1], [[0.0], [1.0], [0.0]], length=2.0)  # a triangle
    array([1.])
    >>> absolute_deviation([0, 0.5, 1], [[0.0], [1.0], [0.0]], length=2.0, mode="upper_bound")
    array([4.])
    """
    t, f = _finite(t), _finite(values)
    if t.ndim != 1 or len(t) < 2 or t[0] != 0 or t[-1] != 1 or (np.diff(t) <= 0).any():
        raise AffscoreError("the points t of a segment must rise from 0 to 1")
    if f.ndim != 2 or len(f) != len(t):
        raise AffscoreError(f"values must have the shape ({len(t)}, logits), got {f.shape}")
    check_word("mode", mode, DeviationMode)
    step, chord = np.diff(t)[:, None], f[-1] - f[0]
    if mode == "upper_bound":
        slopes = np.diff(f, axis=0) / step
        offset = f[0] - (f[:-1] - slopes * t[:-1, None])
        parts = step * np.abs(offset) + np.diff(t**2)[:, None] / 2 * np.abs(slopes - chord)
        return length * parts.sum(0)
    e = f - f[0] - t[:, None] * chord
    e[[0, -1]] = 0
    left, right = e[:-1], e[1:]
    size = np.abs(left) + np.abs(right)
    some = np.where(size > 0, size, 1)
    crossing = size * ((left / some) ** 2 + (right / some) ** 2)
    return length * (step * np.where(np.sign(left) * np.sign(right) >= 0, size, crossing)).sum(0) / 2


def total_variation(values: ArrayLike) -> Floats:
    """The way that each logit goes up and down: the sum of ``|f(t_j+1) - f(t_j)|``, (points, logits) to (logits,).

    >>> total_variation([[0.0], [1.0], [-1.0]])
    array([3.])
    """
    return np.abs(np.diff(_finite(values), axis=0)).sum(0)


def _finite(values: ArrayLike) -> Floats:
    return guarded(partial(np.asarray_chkfinite, values, dtype=float), "points and values must be finite numbers")
