"""The exercises of notebook 18, *Training for non-linearity*."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from affscore.errors import AffscoreError
from affscore.exercises.answers import as_arrays, as_number
from affscore.exercises.registry import Hints, exercise, right
from affscore.transport import differentiable_affinity

Values = NDArray[np.float64]


@exercise("18.1", as_number)
def gradient_by_hand(answered: float) -> Hints:
    """18.1: the derivative of the paired score of x = (-1, 0, 1) and y = (0, 0, 1) with respect to the last y."""
    y = torch.tensor([[0.0], [0.0], [1.0]], requires_grad=True)
    score = differentiable_affinity(torch.tensor([[-1.0], [0.0], [1.0]]), y)
    (gradient,) = torch.autograd.grad(score, y)
    wanted = float(gradient[2])
    yield answered > wanted + 1e-6, "The variance of y depends on this entry, too."
    yield abs(answered - wanted) > 1e-6, "Multiply all of y by a number: what becomes of the correlation?"
    yield True, right("Moving this entry only stretches y, and a score does not depend on the unit of y.")


@exercise("18.2", lambda answer: as_arrays(answer, "a pair (x, y)", "x", "y"))
def score_without_gradient(x: Values, y: Values) -> Hints:
    """18.2: samples whose score is cut at zero, so that it has no gradient, while the raw one has."""
    yield not 10 <= len(x) <= 200, f"Expected 10 to 200 points, got {len(x)}."
    inputs = torch.tensor(x[:, None], requires_grad=True)
    outputs = torch.tensor(y[:, None])
    try:
        cut = differentiable_affinity(inputs, outputs)
        raw = differentiable_affinity(inputs, outputs, clip=False)
    except AffscoreError as error:
        yield True, f"These have no score: {error}."
        return
    yield float(outputs.std()) == 0.0, "y is constant: its score is 1, and so is the raw one."
    yield cut.item() > 0, f"The score of these is {cut.item():.2f}: the pairing is too good a coupling."
    slopes = [torch.autograd.grad(one, inputs)[0].abs().max().item() for one in (cut, raw)]
    yield slopes[1] < 1e-9, "The raw score has no gradient here either: is y a multiple of x?"
    yield (True, right(f"Cut, nothing has a gradient; the raw score of {raw.item():.2f} has up to {slopes[1]:.1g}."))
