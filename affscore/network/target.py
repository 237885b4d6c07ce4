"""The scores that a penalty pulls those of a network to: a number, numbers, or those of a signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.result import Signature
from affscore.transport.covariance import CovarianceName
from affscore.transport.differentiable import HeldCoupling

_AS_IT_IS = "target.scores takes its numbers as they are"


def resampled(scores: ArrayLike, length: int) -> NDArray[np.float64]:
    """The signature of a network brought to the length of another one, by straight lines between its scores.

    Args:
        scores: In the order of the activations, (L,), L >= 1.
        length: Of the result, at least 1. The first and the last score stay, where it has more than one.

    Returns:
        Array (length,).

    Raises:
        AffscoreError: No scores, or no length.

    >>> resampled([0.5, 0.9], 3).tolist()
    [0.5, 0.7, 0.9]
    """
    known = np.asarray(scores, dtype=float)
    if known.ndim != 1 or not len(known) or length < 1:
        raise AffscoreError(f"expected a row of scores and a length, got shape {known.shape} and {length!r}")
    return np.interp(np.linspace(0, 1, length), np.linspace(0, 1, len(known)), known)


class Target:
    """A target of :class:`affscore.AffinityPenalty`.

    Args:
        target: As there.
        covariance: As there.
        coupling: As there.

    Attributes:
        numbers: Tensor () or (L,), float64, without gradients.

    Raises:
        AffscoreError: No such numbers in [0, 1]; a signature that was measured in another way, of blocks, or in which a
            score is missing.

    >>> Target([0.75, 0.5], "ledoit-wolf", "paired").of_activations([1], 2)
    tensor([0.5000], dtype=torch.float64)
    """

    def __init__(self, target: Any, covariance: CovarianceName, coupling: HeldCoupling) -> None:
        self._signature, self._written = isinstance(target, Signature), "target"
        numbers = target
        if isinstance(target, Signature):
            self._written = "target.scores" if coupling == "fixed" else 'target.summary["paired"]'
            numbers = _scores_of(target, covariance, coupling)
        self.numbers = _checked(numbers)

    def of_activations(self, chosen: Sequence[int], count: int) -> Tensor:
        """A number for the mean, or one for each of the chosen activations, in their order.

        As many numbers as are chosen are theirs, in their order. As many as there are activations in the network are
        those of the network's order; of a signature this comes first.

        Args:
            chosen: Places of the chosen activations.
            count: How many activations the network has.

        Raises:
            AffscoreError: Another number of numbers.
        """
        numbers = self.numbers
        if numbers.ndim == 0 or (len(numbers) == len(chosen) and not (self._signature and len(chosen) == count)):
            return numbers
        if len(numbers) == count:
            return numbers[list(chosen)]
        raise AffscoreError(
            f"the target has {len(numbers)} scores for {len(chosen)} activations; give as many, or bring it to that "
            f"length: affscore.network.resampled({self._written}, {len(chosen)})"
        )


def _checked(target: Any) -> Tensor:
    listed = target if isinstance(target, (list, tuple)) else [target]
    try:
        numbers = target.detach().cpu() if isinstance(target, Tensor) else torch.from_numpy(np.array(target))
        fits = numbers.ndim < 2 and numbers.numel() > 0 and bool(((numbers >= 0) & (numbers <= 1)).all())
    except (TypeError, ValueError, RuntimeError):  # not of numbers, or of tensors, or complex
        fits = False
    if not fits or numbers.dtype is torch.bool or any(isinstance(one, (bool, np.bool_)) for one in listed):
        raise AffscoreError(
            f"target must be a Signature, a number in [0, 1], or one for each activation, got {target!r}"
        )
    return numbers.double()


def _scores_of(signature: Signature, covariance: CovarianceName, coupling: HeldCoupling) -> Any:
    """Those of its scores that a penalty computes, if it has them."""
    metadata, summary = signature.metadata, signature.summary
    own = {"units": "activations", "reduction": "mean", "order": "activate-first", "covariance": covariance}
    own |= {"bias": "none", "coupling": "exact"} if coupling == "fixed" else {"bias": "none"}
    for name, value in own.items():
        if (other := metadata.get(name, value)) != value:
            raise AffscoreError(
                f"the target is a signature with {name}={other!r}, and the penalty's scores are of {name}={value!r}: "
                f"measure it in the same way ({_AS_IT_IS})"
            )
    column = "score" if coupling == "fixed" or metadata.get("coupling") == "paired" else "paired"
    if column not in summary:
        raise AffscoreError(f"the target is a signature of an old version without paired scores: measure it anew "
                            f"({_AS_IT_IS})")  # fmt: skip
    scores = summary[column]
    if (lacking := summary[scores.isna()]).size:
        names = ", ".join(f"{row.activation} of layer {row.layer!r} ({row.flag})" for row in lacking.itertuples())
        raise AffscoreError(
            f"the target is a signature without a score of {names}: choose others by layers=[...], and give a list of "
            "their scores"
        )
    return scores.to_numpy(dtype=float)
