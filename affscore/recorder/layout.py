"""Where a tensor in a running network has its images, its channels (heads and their features) and its positions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from affscore.recorder.axes import (
    ASSUMED,
    CHANNEL,
    CHANNELS,
    CLAIMED,
    IMAGE,
    KNOWN,
    POSITION,
    WEAK,
    Axes,
    Part,
    Place,
    contiguous,
    form,
    has,
    length,
    made,
    multiplied,
    often,
    product_name,
    reduced,
    resized,
    traced,
    unsure,
    viewed,
    without,
)  # fmt: skip
from affscore.recorder.calls import Event
from affscore.recorder.dataflow import address
from affscore.recorder.functions import (
    CHANNEL_AXES,
    MATRICES,
    MOVES,
    NORMS,
    RECURRENT,
    RESHAPES,
    kind_of,
    writes_in_place,
)  # fmt: skip

LAYERS = {**dict.fromkeys(RECURRENT, -1), **{of: at for of, at in CHANNEL_AXES.items() if of not in MATRICES}}


class Layout:
    """Follows the images and the channels from the operations that make channels to the activation.

    A convolution puts the channels second, (N, C, H, W); a linear layer and attention put them last,
    (N, tokens, C) or (N, H, W, C). Everything else hands the axes on: a view (a permutation, say) is recognised by
    its strides, a copy in another shape by the order of its entries, an elementwise operation, a pooling or a
    concatenation keeps them. So no shape has to be guessed, and no model known by name. Channels that were split
    into heads and features are both channels, in (N, heads, tokens, features) as in (N heads, tokens, features).

    Args:
        images: How many there are, where that is known. A single one is not followed: it is everywhere.

    >>> import torch
    >>> from affscore.recorder.dataflow import Origin
    >>> layout, tokens = Layout(), torch.zeros(4, 7, 6)
    >>> def of(function, x): return Event(function, (x,), {}, [x], [Origin(0)])
    >>> layout.observe(of(F.linear, torch.zeros(4, 7, 3)), tokens)
    >>> layout.observe(of(torch.unflatten, tokens), heads := tokens.unflatten(2, (2, 3)))
    >>> layout.observe(of(torch.transpose, heads), heads_first := heads.transpose(1, 2))
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
        shape, known = self._axes.get(tensor, (None, ()))
        if shape == tensor.shape:  # else it was turned in place
            return known
        first = POSITION if self.images == 1 else IMAGE
        return _assumed(tuple((Part(size, POSITION if axis else first),) for axis, size in enumerate(tensor.shape)))

    def knows(self, tensor: Tensor) -> bool:
        """Whether something that ran says where the channels of a tensor are, or its shape (N, C)."""
        return tensor.ndim == 2 or any(has(parts, *KNOWN) for parts in self.axes(tensor))

    def taken(self, tensor: Tensor, axis: int) -> None:
        """Note that a module takes its channels from this axis, if nothing before has said where they are."""
        if not self.knows(tensor):
            self._axes[tensor] = tensor.shape, _with_channels(self.axes(tensor), axis)

    def place(self, tensor: Tensor, axis: int | None = None, role: str = CHANNEL) -> Place:
        """Where the images and the channels of a tensor are.

        Args:
            tensor: It.
            axis: Where something takes the channels from, which are elsewhere for all that ran before.
            role: Whether that is certain, CHANNEL, or ASSUMED.
        """
        axes = self.axes(tensor)
        return _place(axes if axis is None else _with_channels(axes, axis, role), tensor.shape)

    def observe(self, event: Event, output: Tensor) -> None:
        """Note the axes of a tensor that a function returned or overwrote."""
        data = [source for source in event.data if source.is_floating_point() or source.is_complex()] or event.data
        if not data or output.ndim == 0 or (any(output is source for source in data) and output in self._axes):
            return
        function, found = event.function, None
        if product_name(function) or (len(data) > 1 and function not in LAYERS):
            found = self._multiplied(event, data, output)
        if found is None and function in LAYERS:
            axes, over = self.axes(data[0]), event.args[1:2] if function is F.layer_norm else ()
            several = any(len(shape) > 1 for shape in over)
            found = axes if several else made(axes, output.shape, LAYERS[function] % output.ndim, function in NORMS)
        elif found is None:
            found = self._handed_on(event, data, output)
        if found is not None:
            self._axes[output] = output.shape, found

    def _multiplied(self, event: Event, data: Sequence[Tensor], output: Tensor) -> Axes | None:
        """Where a product leaves the channels, or an elementwise function of tensors that were broadcast."""
        function, product = event.function, form(event.function, event.tensors, event.args, event.kwargs)
        if product is None:
            if kind_of(function) in MOVES or not all(_broadcast(one, output) for one in data):
                return None
            # the first of two that contradict each other is right; one of fewer axes that is not known says nothing
            operands = [one for one in data[::-1] if one.ndim == output.ndim or one in self._axes] or data[::-1]
            product = operands, [tuple(range(one.ndim, 0, -1)) for one in operands], tuple(range(output.ndim, 0, -1))
        pairs = [(one, at, any(one is source for source in data)) for one, at in zip(*product[:2], strict=True)]
        known = tuple((self.axes(one), at) for one, at, depends in pairs if depends)
        constants = tuple(at for _, at, depends in pairs if not depends and function not in LAYERS)
        found = multiplied(known, constants, product[2], output.shape) if known else ()
        return found if found and (function not in LAYERS or any(has(parts, *KNOWN) for parts in found)) else None

    def _handed_on(self, event: Event, data: Sequence[Tensor], output: Tensor) -> Axes | None:
        function, place = event.function, address(output)
        shared = next((source for source in data if address(source) == place), None)
        # the one that the output resembles most: the others are parts
        likeness = lambda one: (one.shape == output.shape, self.knows(one), one.ndim == output.ndim)  # noqa: E731
        source = max(data, key=likeness) if shared is None else shared
        axes, name, found = self.axes(source), kind_of(function).removesuffix("_copy"), None
        moves, alike = name in MOVES, output.ndim == source.ndim
        if output.shape == source.shape and (not moves if shared is None else output.stride() == source.stride()):
            return axes
        if shared is not None:
            found = viewed(axes, source.stride(), output.shape, output.stride())
        elif name in RESHAPES:  # a copy has its entries where a view of a contiguous tensor has them
            found = viewed(axes, contiguous(source.shape), output.shape, contiguous(output.shape))
        if found is not None or not source.ndim:
            return found
        changed = {axis for axis, size in enumerate(source.shape) if alike and size != output.shape[axis]}
        followed = {axis for axis, parts in enumerate(axes) if has(parts, IMAGE, *KNOWN)}
        alone = all(axis not in changed and output.shape.count(source.shape[axis]) == 1 for axis in followed)
        plain = alike and (len(changed) == 1 or alone)
        if moves and not plain and output.numel() and "out" not in event.kwargs and not writes_in_place(function):
            found = traced(function, axes, source, output, event.args, event.kwargs)
        if found is None and alike:
            found = tuple(resized(parts, size) for parts, size in zip(axes, output.shape, strict=True))
            lost = any(has(axes[axis], *KNOWN) for axis in changed)
            return found if moves or len(changed) == len(event.tensors) == 1 or not lost else unsure(found)
        return found or reduced(axes, output, event.args, event.kwargs)


def _broadcast(tensor: Tensor, output: Tensor) -> bool:
    """Whether a tensor can have been broadcast to the shape of another."""
    pairs = zip(reversed(tensor.shape), reversed(output.shape), strict=False)
    return tensor.ndim <= output.ndim and all(size in (1, whole) for size, whole in pairs)


@often
def _place(axes: Axes, shape: Sequence[int]) -> Place:
    if len(shape) < 2:
        return Place(0, 1, 1)
    doubt = any(has(parts, CLAIMED) for parts in axes)
    axes = tuple(without(without(parts, CLAIMED), WEAK, to=CHANNEL) for parts in axes)
    if not any(has(parts, *CHANNELS) for parts in axes):
        axes = _assumed(axes)
    if all(has(parts, IMAGE, POSITION) for parts in axes):  # pixels merged with their channels are features, all
        whole = (has(parts, *CHANNELS) and not has(parts, IMAGE) for parts in axes)
        role = CHANNEL if any(has(parts, CHANNEL) for parts in axes) else ASSUMED
        axes = tuple((Part(length(p), role),) if one else p for p, one in zip(axes, whole, strict=True))
    channels = [axis for axis, parts in enumerate(axes) if has(parts, *CHANNELS)]
    images = next((axis for axis, parts in enumerate(axes) if has(parts, IMAGE)), 0)
    long = sum(size > 1 for axis, size in enumerate(shape) if axis != images)
    guessed = long > 1 and (doubt or any(has(parts, ASSUMED) for parts in axes))
    slowest = axes[images][0].role == IMAGE or not has(axes[images], IMAGE)
    if len(channels) == 1 and channels[0] != images and slowest and (images == 0 or len(axes[images]) == 1):
        positions = math.prod(shape) // max(1, shape[images] * shape[channels[0]])
        return Place(images, channels[0], positions, guessed, (), shape[channels[0]])
    positions = math.prod(part.size for parts in axes for part in parts if part.role == POSITION)
    width = math.prod(part.size for parts in axes for part in parts if part.role in CHANNELS)
    return Place(images, channels[-1], positions, guessed, axes, width)


def _with_channels(axes: Axes, axis: int, role: str = CHANNEL) -> Axes:
    """With the channels on this axis, unless it holds them already, or the images, or is the first one."""
    if not -len(axes) < axis < len(axes) or has(axes[axis], *KNOWN, IMAGE):
        return axes
    found = [without(parts, *CHANNELS) for parts in axes]
    found[axis] = (Part(length(axes[axis]), role),)
    return tuple(found)


def _assumed(axes: Axes) -> Axes:
    """With channels where most networks have them."""
    if len(axes) < 2:
        return axes
    axis = 2 if len(axes) == 3 else 1
    if has(axes[axis], IMAGE):
        axis = len(axes) - 1
    return (*axes[:axis], (Part(length(axes[axis]), ASSUMED),), *axes[axis + 1 :])
