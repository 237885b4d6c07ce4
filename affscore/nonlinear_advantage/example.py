"""What a network is tried on: the caller's example, or one made up from what the network says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from affscore.errors import AffscoreError, first_line
from affscore.models.preprocessing import Preprocessing
from affscore.models.sources import card_of
from affscore.models.text import TextPreprocessing
from affscore.recorder.model_state import device_of, in_training, random_states_kept

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Result = TypeVar("Result")

SIDES = {1: (64, 256, 1024, 28), 2: (64, 32, 28, 224, 96, 16, 8, 299), 3: (16, 32, 64)}
"""The sides of inputs that are tried, by the number of axes of the first convolution."""

FIRST = (nn.Linear, nn.Embedding, nn.Conv1d, nn.Conv2d, nn.Conv3d)


def arguments_of(example_input: Any, model: nn.Module) -> Arguments:
    """The arguments of a network's forward: copies of the example's tensors, where the network is.

    Args:
        example_input: A tensor, a tuple or list of positional arguments, or a dictionary of named ones.
        model: The network.

    Raises:
        AffscoreError: Something else.

    >>> arguments_of(torch.zeros(1), nn.Linear(1, 1))
    ((tensor([0.]),), {})
    """
    if any(isinstance(one, Tensor) and one.ndim and not len(one) for one in tree_leaves(example_input)):
        raise AffscoreError("example_input holds no sample; one is enough")
    if isinstance(example_input, Tensor):
        return copied(((example_input,), {}), model)
    if isinstance(example_input, Mapping):
        return copied(((), dict(example_input)), model)
    if isinstance(example_input, (tuple, list)):
        return copied((tuple(example_input), {}), model)
    raise AffscoreError(
        "example_input must be a tensor as the network takes it, a tuple of several arguments, or a dictionary of "
        f"named ones; got {type(example_input).__name__}"
    )


def copied(arguments: Arguments, model: nn.Module) -> Arguments:
    """The same arguments with copies of their tensors, where the network is: it may begin in place."""
    device = device_of(model)
    return tree_map(lambda one: one.detach().to(device, copy=True) if isinstance(one, Tensor) else one, arguments)


@contextmanager
def left_as_it_was(model: nn.Module) -> Iterator[None]:
    """Within this a network is in evaluation mode; afterwards its mode and the random generators are as before."""
    device = device_of(model)
    with in_training(model, device), random_states_kept(device), torch.no_grad():
        yield


def made_up(model: nn.Module) -> Iterator[Tensor]:
    """Inputs that the network may take: what its card says, or else what fits its first linear layer or convolution.

    Images and vectors are random numbers of a fixed seed, token ids the first ones of the vocabulary.

    >>> [tuple(example.shape) for example in made_up(nn.Linear(3, 1))]
    [(2, 3)]
    """
    generator = torch.Generator().manual_seed(0)
    dtype = next((one.dtype for one in model.parameters() if one.is_floating_point()), torch.get_default_dtype())

    def numbers(*shape: int) -> Tensor:
        return torch.randn(2, *shape, generator=generator).to(dtype)

    card = card_of(model)
    expected = card.preprocessing if card.preprocessing_known else None
    if isinstance(expected, TextPreprocessing):
        yield _ids(expected.vocabulary or 2, min(expected.window, 32))
    elif isinstance(expected, Preprocessing):
        yield numbers(expected.channels, expected.size, expected.size)
    first = next((part for part in model.modules() if isinstance(part, FIRST)), None)
    if isinstance(first, nn.Linear):
        yield numbers(first.in_features)
    elif isinstance(first, nn.Embedding):
        yield _ids(first.num_embeddings, 8)
    elif first is not None:
        axes = len(first.kernel_size)
        for side in SIDES[axes]:
            yield numbers(first.in_channels, *[side] * axes)


def _ids(vocabulary: int, length: int) -> Tensor:
    return torch.arange(2 * length).view(2, length) % vocabulary


def run_on_example(model: nn.Module, example_input: Any, run: Callable[[Arguments], Result]) -> Result:
    """What a function that runs the network returns for the example, or else for the first made-up input that fits.

    Args:
        model: The network.
        example_input: As in :func:`arguments_of`; None for one that is made up.
        run: Of the arguments; raises an AffscoreError where the network fails.

    Raises:
        AffscoreError: The network fails; without an example the message lists what was tried.
    """
    if example_input is not None:
        return run(arguments_of(example_input, model))
    tried, reason = [], ""
    for example in made_up(model):
        try:
            return run(arguments_of(example, model))
        except AffscoreError as error:
            tried.append(str(tuple(example.shape)))
            reason = first_line(error)
    what = f"with a random input of shape {' or '.join(tried)} {reason}" if tried else "nothing says what it takes"
    raise AffscoreError(
        f"the channels of {type(model).__name__} cannot be known without an example: {what}; give example_input, a "
        "tensor as the network takes it (two samples are enough)"
    )
