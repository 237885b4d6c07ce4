"""The rule for the number of points (:mod:`affscore.transport.sample_size`) for an activation."""

from __future__ import annotations

from affscore import transport
from affscore.experiments.activations import Activation
from affscore.experiments.limits import correlation_with_input

__all__ = ["points_needed"]


def points_needed(width: int, tolerance: float = 0.01, activation: Activation | None = None) -> int:
    """As :func:`affscore.transport.points_needed`, for an activation of standard normal inputs.

    Args:
        width: d.
        tolerance: The bias that one is willing to accept, > 0.
        activation: The activation; None for the worst case of all correlations.

    Returns:
        n.

    Raises:
        AffscoreError: A width or a tolerance that is not positive.

    >>> import torch
    >>> points_needed(100), points_needed(100, activation=torch.relu)
    (821, 754)
    """
    correlation = None if activation is None else max(correlation_with_input(activation) or 0.0, 0.0)
    return transport.points_needed(width, tolerance, correlation)
