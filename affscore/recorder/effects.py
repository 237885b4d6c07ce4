"""What a function does to the entries of a tensor, found out by trying it on random numbers: no list of names."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from affscore.errors import AffscoreError
from affscore.recorder.calls import Event
from affscore.recorder.dataflow import below_transforms, is_wrapped
from affscore.recorder.functions import CHANNEL_AXES, NO_EFFECT, RECURRENT, Effect, Function, as_function, is_extension
from affscore.recorder.model_state import random_states_kept

SCALES = (1.0, 8.0)
"""Sizes of the random numbers: a bound as that of relu6 shows in large ones only."""

ENTRIES = 32
"""Along each axis so many entries are enough."""

TOLERANCE = 1e-4
"""A function that differs from an affine one by less, of its largest value, does not bend."""


class Effects:
    """The effect of every call in a network. Each is tried once, on two samples; with constants, once for each layer.

    >>> x = torch.zeros(2, 3)
    >>> effects = Effects()
    >>> effects.of(torch.exp, (x,), {}, x), effects.of(torch.mul, (x, 2), {}, x)
    (Effect(elementwise=True, bends=True), Effect(elementwise=True, bends=False))
    >>> effects.of(torch.cumsum, (x, 0), {}, x)
    Effect(elementwise=False, bends=False)
    """

    def __init__(self) -> None:
        self._known: dict[Any, Effect] = {}

    def tried(self, event: Event) -> None:
        """Note the effect of an event, if it is no layer, on the largest tensor that depends on the input."""
        data = [tensor for tensor in event.data if _is_plain(tensor)]
        if not data or event.function in CHANNEL_AXES or event.function in RECURRENT:
            return
        x = data[0] if len(data) == 1 else max(data, key=lambda one: (one.numel(), one.is_floating_point()))
        named = {name: value for name, value in event.kwargs.items() if name != "out"}
        constants = [one for one, origin in zip(event.tensors, event.origins, strict=True) if origin is None]
        fixed = [event.layer, *map(_value, constants)] if constants else []
        event.effect = self.of(event.function, event.args, named, x, fixed)

    def of(self, function: Function, args: Sequence[Any], kwargs: Mapping[str, Any], x: Tensor, at: Any = ()) -> Effect:
        """What a call does to x, one of its arguments.

        Args:
            function: What is called.
            args: Its arguments.
            kwargs: Its named arguments.
            x: A tensor among these, of numbers or booleans.
            at: Where constants are among them: the layer that has them, and their values where these are numbers.
        """
        given = (*args, *kwargs.values())
        # a function that mixes entries of tensors of such shapes does so in every layer
        kinds = (function, *kwargs, *(_kind(value, x) for value in given))
        if kinds in self._known:
            return self._known[kinds]
        key = (kinds, *map(_plain, given), *at)
        if key not in self._known:
            effect = _tried(function, args, kwargs, x) if True in kinds and _is_plain(x) else NO_EFFECT
            self._known[key if effect.elementwise else kinds] = effect
        return self._known.get(key, NO_EFFECT)


def _is_plain(tensor: Tensor) -> bool:
    return tensor.layout is torch.strided and not (tensor.is_nested or tensor.is_quantized)


def _kind(value: Any, x: Tensor) -> Any:
    """What an argument is to x: itself (both factors of x * x), of some shape, or something else."""
    if isinstance(value, Tensor):
        return value is x or (value.shape[value.ndim == x.ndim :] if value.shape != x.shape else Tensor)
    return value if isinstance(value, str) else type(value)


def _value(constant: Tensor) -> Any:
    return None if constant.numel() != 1 or constant.is_meta or is_wrapped(constant) else constant.item()


def _plain(value: Any) -> Any:
    """An argument as a part of a key."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    return value if isinstance(value, (int, float, str, torch.dtype, type(None), Number)) else type(value)


@torch.no_grad()
def _tried(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any], x: Tensor) -> Effect:
    given = (*args, *kwargs.values())
    tensors = [value for value in given if isinstance(value, Tensor)]
    # an index that does not fit raises an error on a CPU; on a GPU it breaks every later call
    place = x.device if is_extension(function) else torch.device("cpu")
    entries = ENTRIES if all(value.shape == x.shape or value.ndim == 0 for value in tensors) else None

    def part(value: Any) -> Any:
        """What belongs to two samples of x, and where all have one shape, some of it; numbers in place of none."""
        if not isinstance(value, Tensor):
            return tree_map_only(Tensor, lambda one: one if one is x else one.to(place), value)
        if value.ndim and value.ndim == x.ndim:
            first = [slice(2)] if len(value) == len(x) else [slice(None)]
            value = value[(*first, *[slice(entries)] * (value.ndim - 1))]
        return torch.ones(value.shape, dtype=value.dtype) if value.is_meta or is_wrapped(value) else value.to(place)

    try:
        like = part(x)
        parts = [x if value is x else part(value) for value in given]
        named = dict(zip(kwargs, parts[len(args) :], strict=True))
        again = as_function(function, parts[: len(args)], named, lambda value: value is x)

        def apply(z: Tensor) -> Any:
            output = again(z)
            return output.dequantize() if isinstance(output, Tensor) and output.is_quantized else output

        with below_transforms(x), random_states_kept(x.device), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = not mixes(apply, _random(like, 0), _random(like, 2))
            return Effect(alone, (alone or is_extension(function)) and bends(apply, like))
    except Exception:  # noqa: BLE001  # random numbers, or two samples, do not fit
        return NO_EFFECT


def mixes(apply: Callable[[Tensor], Any], x: Tensor, other: Tensor) -> bool:
    """Whether a function is not elementwise: it changes the shape, or an entry of its output depends on others.

    Args:
        apply: The function.
        x: What goes into it.
        other: Some entries of x are exchanged for those of this tensor, to see whether the output changes elsewhere.

    >>> x, other = torch.zeros(3, 4), torch.ones(3, 4)
    >>> mixes(torch.sin, x, other), mixes(lambda x: x.softmax(1), x, other)
    (False, True)
    """
    changed = torch.rand(x.shape, generator=torch.Generator().manual_seed(0)).to(x.device) < 0.5
    before, after = apply(x.clone()), apply(torch.where(changed, other, x))
    if not isinstance(before, Tensor) or before.shape != x.shape or after.shape != x.shape:
        return True
    before, after = _precise(before[~changed]), _precise(after[~changed])
    scale = float(before.abs().nan_to_num(0, 0, 0).max()) if before.numel() else 0.0
    return not torch.allclose(before, after, 1e-4, 1e-5 * scale, equal_nan=True)


def bends(apply: Callable[[Tensor], Tensor], like: Tensor) -> bool:
    """Whether an elementwise function is not affine: its value halfway between two inputs is not half of their values.

    Args:
        apply: The function.
        like: A tensor whose shape and type its input may have.

    >>> bends(torch.relu, torch.zeros(40)), bends(lambda x: 3 * x - 1, torch.zeros(40))
    (True, False)
    """
    if is_whole(like):  # of two values every function is affine, and integers are no features
        return False
    draws = range(3, 3 + 2 * max(1, ENTRIES // max(1, like.numel())), 2)  # of few entries some may have no value
    for scale, draw in itertools.product(SCALES, draws):
        first, second = scale * _random(like, draw), scale * _random(like, draw + 1)
        y = [apply(z.clone()) for z in (first, second, (first + second) / 2)]
        coarsest = max(torch.finfo(z.dtype).eps for z in (first, y[0]) if not is_whole(z))
        ends, half = (_precise(y[0]) + _precise(y[1])) / 2, _precise(y[2])
        error, size = (ends - half).abs(), torch.maximum(ends.abs(), half.abs())
        known = error.isfinite()
        if bool(known.any()) and float(error[known].max()) > max(TOLERANCE, 32 * coarsest) * float(size[known].max()):
            return True
    return False


def is_whole(tensor: Tensor) -> bool:
    """Whether a tensor holds integers or booleans."""
    return not (tensor.dtype.is_floating_point or tensor.dtype.is_complex or tensor.is_quantized)


def _precise(tensor: Tensor) -> Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _random(like: Tensor, seed: int) -> Tensor:
    """Random numbers of a type and shape; integers and booleans between those that are there, as indices must be."""
    generator = torch.Generator().manual_seed(seed)
    if not is_whole(like):
        kind = torch.complex64 if like.is_complex() else None
        return torch.randn(like.shape, dtype=kind, generator=generator).to(like.device, like.dtype)
    least, most = (0, 1) if like.dtype is torch.bool else (int(like.min()), int(like.max()))
    return torch.randint(least, max(most, least + 1) + 1, like.shape, generator=generator).to(like.device, like.dtype)


@torch.no_grad()
def check_elementwise(described: str, apply: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Change some entries of the input, and look whether the output changes elsewhere.

    Args:
        described: The activation, as the message names it.
        apply: The activation.
        x: An input.

    Raises:
        AffscoreError: The shape changes, or an entry depends on others.

    >>> check_elementwise("double", lambda x: 2 * x, torch.zeros(2, 3))
    >>> check_elementwise("a softmax", lambda x: x.softmax(-1), torch.zeros(2, 3))
    Traceback (most recent call last):
        ...
    affscore.errors.AffscoreError: a softmax was declared as an activation, and is none: ...
    """
    other = x.roll(1)  # entries that are there, as indices into a table must be
    if mixes(apply, x, 1 - x if torch.equal(other, x) else other):
        wanted = "each entry of its output must depend on the same entry of its input only, and on no random numbers"
        raise AffscoreError(f"{described} was declared as an activation, and is none: {wanted}")
