"""Where a tensor in a running network has its images, its channels (heads and their features) and its positions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from affscore.network.recorder.axes import (
    ASSUMED,
    CHANNEL,
    CHANNELS,
    IMAGE,
    POSITION,
    Axes,
    Part,
    aligned,
    has,
    length,
    made,
    reduced,
    regrouped,
    resized,
    settled,
    viewed,
    without,
)  # fmt: skip
from affscore.network.recorder.dataflow import address
from affscore.network.recorder.functions import CHANNEL_AXES, MATRICES, NORMS, RESHAPES, Function


@dataclass
class Place:
    """Where the images and the channels of a tensor are.

    Attributes:
        image_axis: The axis that counts the images.
        channel_axis: The axis of the channels; where several hold them (heads, and features), the last of these.
        positions: How many positions (pixels, tokens) of one image share a channel.
        guessed: Whether nothing that ran says where the channels are.
        axes: What the axes hold, where one axis for the images and one for the channels do not say it; else ().
        channels: How many channels there are.
    """

    image_axis: int
    channel_axis: int
    positions: int
    guessed: bool = False
    axes: Axes = ()
    channels: int = 1


class Layout:
    """Follows the images and the channels from the operations that make channels to the activation.

    A convolution puts the channels second, (N, C, H, W); a linear layer and attention put them last,
    (N, tokens, C) or (N, H, W, C). Everything else hands the axes on: a view (a permutation, say) is recognised by
    its strides, a copy in another shape by the order of its entries, an elementwise operation, a pooling or a
    concatenation keeps them. So no shape has to be guessed, and no model known by name. Channels that were split
    into heads and features are both channels, in (N, heads, tokens, features) as in (N heads, tokens, features).

    Args:
        images: How many there are, where that is known. A single one is not followed: it is everywhere.

    >>> layout, tokens = Layout(), torch.zeros(4, 7, 6)
    >>> layout.observe(F.linear, [torch.zeros(4, 7, 3)], tokens)
    >>> layout.observe(torch.unflatten, [tokens], heads := tokens.unflatten(2, (2, 3)))
    >>> layout.observe(torch.transpose, [heads], heads_first := heads.transpose(1, 2))
    >>> [[part.role for part in axis] for axis in layout.axes(heads_first)]
    [['image'], ['channel'], [''], ['channel']]
    """

    def __init__(self, images: int | None = None) -> None:
        self.images = images
        self._axes: WeakIdKeyDictionary = WeakIdKeyDictionary()

    def axes(self, tensor: Tensor) -> Axes:
        """What the axes of a tensor hold.

        Where nothing is known of it: images first, and the channels second in (N, C, H, W) and last in (N, tokens, C).
        """
        known = self._axes.get(tensor)
        if known is not None:
            return known
        first = POSITION if self.images == 1 else IMAGE
        return _assumed(tuple((Part(size, POSITION if axis else first),) for axis, size in enumerate(tensor.shape)))

    def knows(self, tensor: Tensor) -> bool:
        """Whether something that ran says where the channels of a tensor are, or its shape (N, C)."""
        return any(has(parts, CHANNEL) for parts in self.axes(tensor))

    def taken(self, tensor: Tensor, axis: int) -> None:
        """Note that a module takes its channels from this axis, if nothing before has said where they are."""
        if not self.knows(tensor):
            self._axes[tensor] = _with_channels(self.axes(tensor), axis)

    def place(self, tensor: Tensor, axis: int | None = None, role: str = CHANNEL) -> Place:
        """Where the images and the channels of a tensor are.

        Args:
            tensor: It.
            axis: Where something takes the channels from, which are elsewhere for all that ran before.
            role: Whether that is certain, CHANNEL, or ASSUMED.
        """
        axes = self.axes(tensor)
        return _place(axes if axis is None else _with_channels(axes, axis, role), tensor.shape)

    def observe(
        self,
        function: Function | None,
        inputs: Sequence[Tensor],
        output: Tensor,
        weights: Sequence[bool] = (),
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        """Note the axes of ``output = function(*inputs)``.

        Args:
            function: What was called; None for an elementwise function.
            inputs: The tensors among its arguments.
            output: A tensor that it returned or overwrote.
            weights: Which of the inputs do not depend on the network's input; none, where that is not known.
            args: All its arguments, where that is known.
            kwargs: Those of them that have a name.
        """
        data = [source for source, weight in zip(inputs, weights, strict=True) if not weight] if weights else inputs
        if not data or output.ndim == 0 or (any(output is source for source in data) and output in self._axes):
            return
        if function in CHANNEL_AXES:
            found = self._channels_made(function, data, output, list(weights) == [True, False], args)
        elif function is torch.einsum:
            found = self._einsum(args, inputs, weights)
        else:
            found = self._handed_on(function, data, output, args, kwargs or {})
        if found is not None:
            self._axes[output] = settled(found)

    def _channels_made(
        self, function: Any, data: Sequence[Tensor], output: Tensor, from_the_left: bool, args: Sequence[Any]
    ) -> Axes | None:
        axes = self.axes(data[0])
        if function in MATRICES and len(data) > 1:
            return self._product(data[-2], data[-1], output)
        if output.ndim < 2:
            return None
        axis = CHANNEL_AXES[function] % output.ndim
        if function in MATRICES and from_the_left and output.ndim > 2:
            axis = output.ndim - 2  # W z of (N, C, L)
        over_several = function is F.layer_norm and len(args) > 1 and len(args[1]) > 1
        if function in NORMS and (over_several or has(axes[axis], CHANNEL)):
            return axes
        return made(axes, output.shape, axis)

    def _product(self, left: Tensor, right: Tensor, output: Tensor) -> Axes | None:
        """A product of matrices that both depend on the images: rows of one, columns of the other."""
        if min(left.ndim, right.ndim) < 2:
            return None
        rows, columns = self.axes(left), self.axes(right)
        found = []
        for axis, size in enumerate(output.shape[:-2], start=-output.ndim):
            fit = [axes[axis] for axes in (rows, columns) if -axis <= len(axes) and length(axes[axis]) == size]
            found.append(max(fit, key=lambda parts: has(parts, CHANNEL), default=(Part(size, POSITION),)))
        axes = (*found, rows[-2], columns[-1])
        if any(has(parts, CHANNEL) for parts in axes):
            return axes
        return (*(without(parts, ASSUMED) for parts in axes[:-1]), (Part(output.shape[-1], ASSUMED),))

    def _einsum(self, args: Sequence[Any], inputs: Sequence[Tensor], weights: Sequence[bool]) -> Axes | None:
        """The channels are what the weights bring in, and else those that the tensors had."""
        equation = args[0].replace(" ", "") if args and isinstance(args[0], str) else ""
        left, _, right = equation.partition("->")
        terms = left.split(",")
        if not right or "." in left or len(terms) != len(inputs):
            return None
        held: dict[str, tuple[Part, ...]] = {}
        new: dict[str, tuple[Part, ...]] = {}
        mixed = False
        for term, operand, weight in zip(terms, inputs, weights, strict=True):
            for letter, size, parts in zip(term, operand.shape, self.axes(operand), strict=True):
                if weight:
                    new[letter] = (Part(size, CHANNEL),)
                elif letter not in held or has(parts, CHANNEL):
                    held[letter] = parts
                    mixed |= letter not in right and has(parts, *CHANNELS)
        new = {letter: parts for letter, parts in new.items() if letter not in held}
        if not mixed and not new.keys().isdisjoint(right):
            held = {letter: without(parts, *CHANNELS) for letter, parts in held.items()}
        return tuple((held | new)[letter] for letter in right)

    def _handed_on(
        self, function: Any, data: Sequence[Tensor], output: Tensor, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Axes | None:
        place = address(output)
        shared = next((source for source in data if address(source) == place), None)
        source = shared if shared is not None else data[0]
        if shared is None and len(data) > 1:  # the one that the output resembles most: others were broadcast, or parts
            source = max(data, key=lambda one: self._likeness(one, output))
        axes = self.axes(source)
        if output.shape == source.shape and (shared is None or output.stride() == source.stride()):
            return axes
        found = None
        if shared is not None:
            found = viewed(axes, source.stride(), output.shape, output.stride())
        elif getattr(function, "__name__", "") in RESHAPES:
            found = regrouped(axes, output.shape)
        if found is not None or not source.ndim:
            return found
        if output.ndim == source.ndim:
            return tuple(resized(parts, size) for parts, size in zip(axes, output.shape, strict=True))
        return reduced(function, axes, output, args, kwargs) or aligned(axes, output)

    def _likeness(self, source: Tensor, output: Tensor) -> tuple[bool, bool, bool]:
        known = any(has(parts, CHANNEL) for parts in self._axes.get(source, ()))
        return source.shape == output.shape, known, source.ndim == output.ndim


@lru_cache(2**12)
def _place(axes: Axes, shape: Sequence[int]) -> Place:
    if len(shape) < 2:
        return Place(0, 1, 1)
    if not any(has(parts, *CHANNELS) for parts in axes):
        axes = _assumed(axes)
    if all(has(parts, IMAGE, POSITION) for parts in axes):  # pixels merged with their channels are features, all
        whole = (has(parts, *CHANNELS) and not has(parts, IMAGE) for parts in axes)
        role = CHANNEL if any(has(parts, CHANNEL) for parts in axes) else ASSUMED
        axes = tuple((Part(length(p), role),) if one else p for p, one in zip(axes, whole, strict=True))
    channels = [axis for axis, parts in enumerate(axes) if has(parts, *CHANNELS)]
    images = next((axis for axis, parts in enumerate(axes) if has(parts, IMAGE)), 0)
    long = sum(size > 1 for axis, size in enumerate(shape) if axis != images)
    guessed = long > 1 and any(has(parts, ASSUMED) for parts in axes)
    slowest = axes[images][0].role == IMAGE or not has(axes[images], IMAGE)
    if len(channels) == 1 and channels[0] != images and slowest and (images == 0 or len(axes[images]) == 1):
        positions = math.prod(shape) // max(1, shape[images] * shape[channels[0]])
        return Place(images, channels[0], positions, guessed, (), shape[channels[0]])
    positions = math.prod(part.size for parts in axes for part in parts if part.role == POSITION)
    width = math.prod(part.size for parts in axes for part in parts if part.role in CHANNELS)
    return Place(images, channels[-1], positions, guessed, axes, width)


def _with_channels(axes: Axes, axis: int, role: str = CHANNEL) -> Axes:
    """With the channels on this axis, unless it holds them already, or the images, or is the first one."""
    if not -len(axes) < axis < len(axes) or has(axes[axis], CHANNEL, IMAGE):
        return axes
    found = [without(parts, *CHANNELS) for parts in axes]
    found[axis] = (Part(length(axes[axis]), role),)
    return tuple(found)


def _assumed(axes: Axes) -> Axes:
    """With channels where most networks have them; (N, C) leaves no choice."""
    if len(axes) < 2:
        return axes
    axis = 2 if len(axes) == 3 else 1
    if has(axes[axis], IMAGE):
        axis = len(axes) - 1
    channels = Part(length(axes[axis]), CHANNEL if len(axes) == 2 else ASSUMED)
    return (*axes[:axis], (channels,), *axes[axis + 1 :])
