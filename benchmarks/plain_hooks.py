"""Calls and widths of the activation modules of a network by plain forward hooks, without affscore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
        guessed: No layer with as many channels was found, so the width is that of the usual axis.
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


@contextmanager
def hooked(network: nn.Module, seen: list[Seen]) -> Iterator[None]:
    """While hooks are on all activation modules of a network: what they see is appended."""
    calls: Counter[str] = Counter()
    made: list[tuple[int, int]] = []  # channels and size of what the layers made, latest last

    def layer_ran(module: nn.Module, args: Any, output: Any) -> None:
        channels = channels_of(module)
        if channels and isinstance(output, Tensor):
            made.append((channels, output.numel()))

    def activation_ran(path: str, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        x = args[0] if args else next(iter(kwargs.values()))
        width, guessed = width_of(x, made)
        if isinstance(module, nn.GLU):
            width //= 2
        seen.append(Seen(path, calls[path], tuple(x.shape), width, guessed, float(x.double().sum())))
        calls[path] += 1

    handles = []
    for path, module in network.named_modules():
        if is_activation(module):
            handles.append(module.register_forward_hook(partial(activation_ran, path), with_kwargs=True))
        elif channels_of(module):
            handles.append(module.register_forward_hook(layer_ran))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def width_of(x: Tensor, made: list[tuple[int, int]]) -> tuple[int, bool]:
    """The number of channels of x: that of the latest layer that made as many numbers and has an axis of that size.

    Or twice as many numbers, of which x is one half. Else the usual axis is guessed: 1 of maps, else the last one.

    >>> width_of(torch.zeros(2, 5, 7), [(7, 70), (5, 70)]), width_of(torch.zeros(2, 3, 4, 4), [])
    ((5, False), (3, True))
    """
    for parts in (1, 2):
        for channels, size in reversed(made[-20:]):
            if size == parts * x.numel() and channels % parts == 0 and channels // parts in x.shape[1:]:
                return channels // parts, False
    return x.shape[1 if x.ndim >= 4 else -1], True


def calls_of(network: nn.Module, batch: dict[str, Tensor]) -> list[Seen]:
    """Every call of an activation module, in order, while the network runs on a batch."""
    seen: list[Seen] = []
    with hooked(network, seen), torch.no_grad():
        network(**batch)
    return seen
