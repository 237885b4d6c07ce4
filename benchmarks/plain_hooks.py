"""For sweep.py: calls and widths of the activation modules of a network by plain forward hooks, without affscore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

NO_ACTIVATIONS = (nn.Softmax, nn.Softmax2d, nn.Softmin, nn.LogSoftmax, nn.MultiheadAttention)
"""Modules of torch.nn.modules.activation that do not act on each entry by itself."""

HOMES = ("torch.nn.modules.activation", "timm.layers.activations", "transformers.activations")
"""Modules whose classes are activations (also timm.layers.activations_me)."""


@dataclass(frozen=True)
class Seen:
    """One call of an activation module.

    Attributes:
        layer: Path of the module.
        call: Which call of this module.
        shape: Shape of its input.
        width: Number of channels of its input.
        guessed: No layer made this input, or takes the output, so the width is a guess.
        sum: The sum of its input, which tells whether it depends on the network's input.
    """

    layer: str
    call: int
    shape: tuple[int, ...]
    width: int
    guessed: bool
    sum: float


def is_activation(module: nn.Module) -> bool:
    """Whether a module is of a class of activations of torch, timm or transformers.

    >>> is_activation(nn.ReLU()), is_activation(nn.Softmax(1)), is_activation(nn.Linear(1, 1))
    (True, False, False)
    """
    kinds = [kind for kind in type(module).__mro__ if kind.__module__.removesuffix("_me") in HOMES]
    return bool(kinds) and not isinstance(module, NO_ACTIVATIONS) and kinds[0].__name__ != "LinearActivation"


def channels_of(module: nn.Module) -> int | None:
    """How many channels a layer without parts makes, None for what is no layer with weights.

    >>> channels_of(nn.Linear(3, 5)), channels_of(nn.Conv2d(3, 7, 1)), channels_of(nn.ReLU())
    (5, 7, None)
    """
    for name in ("out_channels", "out_features", "embedding_dim", "nf"):
        if isinstance(found := getattr(module, name, None), int):
            return found
    weight = getattr(module, "weight", None)
    if is_activation(module) or not isinstance(weight, Tensor) or weight.ndim == 0:
        return None
    return len(weight) if weight.ndim == 1 else weight.shape[-1]


def taken_by(module: nn.Module) -> int | None:
    """How many channels a layer takes, None where that is not known.

    >>> taken_by(nn.Linear(3, 5)), taken_by(nn.Conv2d(3, 7, 1)), taken_by(nn.LayerNorm(4))
    (3, 3, None)
    """
    return next((getattr(module, name) for name in ("in_features", "in_channels") if hasattr(module, name)), None)


@contextmanager
def hooked(network: nn.Module, seen: list[Seen]) -> Iterator[None]:
    """While hooks are on all activation modules of a network: what they see is appended."""
    calls: Counter[str] = Counter()
    made: list[tuple[int, Tensor]] = []  # channels and output of the layers that ran, latest last
    returned: list[Tensor] = []  # by each activation

    def layer_runs(module: nn.Module, args: Any) -> None:
        """The layer that takes what an activation has returned says what its channels are, where nothing else does."""
        if seen and seen[-1].guessed and args and isinstance(args[0], Tensor) and _same(args[0], returned[-1]):
            channels = taken_by(module)
            if channels in seen[-1].shape[1:]:
                seen[-1] = replace(seen[-1], width=channels, guessed=False)

    def layer_ran(module: nn.Module, args: Any, output: Any) -> None:
        channels = channels_of(module)
        if channels and isinstance(output, Tensor):
            made.append((channels, output))
            del made[:-20]

    def activation_ran(path: str, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        x = args[0] if args else next(iter(kwargs.values()))
        width, guessed = width_of(x, made)
        if isinstance(module, nn.GLU):
            width //= 2
        seen.append(Seen(path, calls[path], tuple(x.shape), width, guessed, float(x.double().sum())))
        returned.append(output)
        calls[path] += 1

    handles = []
    for path, module in network.named_modules():
        if is_activation(module):
            handles.append(module.register_forward_hook(partial(activation_ran, path), with_kwargs=True))
        elif channels_of(module):
            handles.append(module.register_forward_hook(layer_ran))
            handles.append(module.register_forward_pre_hook(layer_runs))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def width_of(x: Tensor, made: list[tuple[int, Tensor]]) -> tuple[int, bool]:
    """The number of channels of x: that of the layer that made it, or its halves, whose memory it shares.

    Else, as a guess, that of the latest layer that made as many numbers and has an axis of that size, and last
    the usual axis: 1 of maps, else the last one.

    >>> y = torch.zeros(2, 5, 7)
    >>> width_of(y, [(7, torch.zeros(2, 5, 7)), (5, y)]), width_of(torch.zeros(2, 3, 4, 4), [])
    ((5, False), (3, True))
    """
    for direct in (True, False):
        for channels, output in reversed(made):
            parts = output.numel() // max(x.numel(), 1)
            if parts in (1, 2) and channels // parts in x.shape[1:] and (_same(x, output) or not direct):
                return channels // parts, not direct
    return x.shape[1 if x.ndim >= 4 else -1], True


def _same(one: Tensor, other: Tensor) -> bool:
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def calls_of(network: nn.Module, batch: dict[str, Tensor]) -> list[Seen]:
    """Every call of an activation module, in order, while the network runs on a batch."""
    seen: list[Seen] = []
    with hooked(network, seen), torch.no_grad():
        network(**batch)
    return seen
