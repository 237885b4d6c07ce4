"""The exercises of notebook 17, *Training for non-linearity*."""

from __future__ import annotations

import torch

from affscore.transport import differentiable_affinity
from companion.exercises.answers import as_number
from companion.exercises.registry import Hints, exercise, right


@exercise("17.1", as_number)
def gradient_by_hand(answered: float) -> Hints:
    """18.1: the derivative of the paired score of x = (-1, 0, 1) and y = (0, 0, 1) with respect to the last y."""
    y = torch.tensor([[0.0], [0.0], [1.0]], requires_grad=True)
    score = differentiable_affinity(torch.tensor([[-1.0], [0.0], [1.0]]), y)
    (gradient,) = torch.autograd.grad(score, y)
    wanted = float(gradient[2])
    yield answered > wanted + 1e-6, "The variance of y depends on this entry, too."
    yield abs(answered - wanted) > 1e-6, "Multiply all of y by a number: what becomes of the correlation?"
    yield True, right("Moving this entry only stretches y, and a score does not depend on the unit of y.")
