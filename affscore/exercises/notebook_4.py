"""The exercises of notebook 4, *The signature of a network*."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torchvision
from numpy.typing import NDArray
from torch import Tensor, nn

from affscore.exercises.answers import NotAnAnswerError, as_array, as_function, as_number, call, raised
from affscore.exercises.registry import exercise
from affscore.exercises.verdict import Verdict
from affscore.network.model_state import prepared, unwrapped
from affscore.network.recorder import recording
from affscore.network.recorder.calls import ActivationCall
from affscore.network.reduction import reduce

__all__ = ["length_of_a_signature", "parallel_branches", "pool_channels_last"]

Values = NDArray[np.float64]

WIDTH = 10
"""Length of the vectors that the network of exercise 4.2 is fed."""


@exercise("4.1")
def length_of_a_signature(answer: object) -> Verdict:
    """4.1: how many scores the signature of torchvision's ResNet-34 has, a whole number."""
    number = as_number(answer)
    network = torchvision.models.resnet34(weights=None)
    calls = _calls(network, torch.zeros(1, 3, 64, 64))
    modules = sum(isinstance(module, nn.ReLU) for module in network.modules())
    if number == len(calls):
        return Verdict(True, "One in the stem and two in each of the sixteen blocks, whose one module is called twice.")
    if number == modules:
        return Verdict(False, "These are the modules. How often is the ReLU of a block called?")
    if number == len(calls) - 1:
        return Verdict(False, "Very close: is there an activation before the first block?")
    if number == len(calls) + 1:
        return Verdict(False, "Very close: does an activation follow the last linear layer?")
    if number != int(number):
        return Verdict(False, "Expected a whole number: one for each call of an activation.")
    return Verdict(False, "Count the blocks of each stage and the calls in a block; the shortcuts have none.")


@exercise("4.2")
def parallel_branches(answer: object) -> Verdict:
    """4.2: a module for inputs (N, 10) with at least six activation calls and a largest depth of three."""
    if answer is None or answer is Ellipsis:
        raise NotAnAnswerError("There is no answer yet: expected a network, a torch.nn.Module.")
    if isinstance(answer, type) and issubclass(answer, nn.Module):
        raise NotAnAnswerError("Expected a network, got the class: call it once, Network().")
    network = unwrapped(answer)  # type: ignore[arg-type]  # raises a message for what is no module
    try:
        calls = _calls(network, torch.zeros(4, WIDTH))
    except (Exception, SystemExit) as reason:  # whatever a student's network raises is theirs to see
        raise NotAnAnswerError(f"Your network fails on an input of shape (4, {WIDTH}): {raised(reason)}") from reason
    depth = max((c.depth for c in calls), default=0)
    if len(calls) >= 6 and depth == 3:
        return Verdict(True, f"{len(calls)} activations, none deeper than {depth}: some of them run side by side.")
    if not calls:
        return Verdict(False, "No activation was called. A module that is only defined does not count.")
    if len(calls) < 6:
        return Verdict(False, f"Only {len(calls)} activation calls depend on the input; at least six are asked for.")
    if depth == len(calls):
        return Verdict(
            False, f"All {len(calls)} activations follow one another. Which of them could start from the same tensor?"
        )
    return Verdict(False, f"{len(calls)} activations are enough, but the longest path through them has {depth}, not 3.")


@exercise("4.3")
def pool_channels_last(answer: object) -> Verdict:
    """4.3: a function that averages feature maps (N, H, W, C), channels last, to (N, C)."""
    function = as_function(answer, "a function pool(features)")
    features = np.random.default_rng(4).standard_normal((3, 4, 5, 6))
    expected = reduce(torch.from_numpy(features), len(features), 3, "mean").numpy()
    got = as_array(call(function, features), "what your function returns, an array")
    if got.shape == expected.shape and np.allclose(got, expected):
        return Verdict(True, "The average runs over the positions of an image, and every channel keeps its number.")
    for mistake, hint in _POOLING_MISTAKES:
        wrong = mistake(features)
        if got.shape == wrong.shape and np.allclose(got, wrong):
            return Verdict(False, hint)
    if got.shape == expected.shape:
        return Verdict(
            False, "The shape is right and the values are not: is every position of an image in its average, once?"
        )
    return Verdict(False, f"From shape (N, H, W, C) to (N, C): yours gives {got.shape} for {features.shape}.")


_POOLING_MISTAKES: tuple[tuple[Callable[[Values], Values], str], ...] = (
    (
        lambda f: f.mean(axis=(2, 3)),
        "That averages over width and channels: right if the channels came second, and what the published code does.",
    ),
    (lambda f: f.mean(axis=3), "That averages over the channels, which are the coordinates to keep."),
    (lambda f: f.mean(axis=(1, 2, 3)), "That leaves one number for an image. The channels must stay apart."),
    (lambda f: f.sum(axis=(1, 2)), "These are sums; divide by the number of positions."),
    (lambda f: f.mean(axis=(0, 1, 2)), "That averages over the images, too: the samples must stay apart."),
    (lambda f: f.mean(axis=1), "Only one of the two spatial axes is averaged."),
    (lambda f: f.mean(axis=2), "Only one of the two spatial axes is averaged."),
)


def _calls(network: nn.Module, inputs: Tensor) -> list[ActivationCall]:
    """The activation calls of one forward pass in evaluation mode."""
    with prepared(network, inputs.device) as model, torch.no_grad(), recording(model, _Silent()) as recorder:
        recorder.start(inputs)
        model(inputs)
    return recorder.calls


class _Silent:
    """A listener that only lets the recorder count."""

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        """Nothing to do."""

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """Nothing to do."""

    def forget(self, call: ActivationCall) -> None:
        """Nothing to do."""
