"""Which axis of a tensor in a running network holds the channels, and which one counts the images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

__all__ = ["ChannelLayout", "ImageLayout", "einsum_axes"]

_CHANNELS_SECOND: frozenset[Callable[..., Any]] = frozenset(
    {
        F.conv1d, F.conv2d, F.conv3d, F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d,
        F.batch_norm, F.group_norm, F.instance_norm,
    }
)  # fmt: skip
_CHANNELS_LAST: frozenset[Callable[..., Any]] = frozenset(
    {
        F.linear, F.bilinear, F.layer_norm, F.rms_norm, F.embedding, F.multi_head_attention_forward,
        F.scaled_dot_product_attention, torch.matmul, torch.bmm, torch.mm, torch.addmm, torch.baddbmm,
        Tensor.matmul, Tensor.bmm, Tensor.mm, Tensor.addmm, Tensor.baddbmm, Tensor.__matmul__,
    }
)  # fmt: skip
_PRODUCTS: frozenset[Callable[..., Any]] = frozenset({torch.matmul, Tensor.matmul, Tensor.__matmul__})


class ChannelLayout:
    """Follows the channel axis from the operation that makes it to the activation.

    A convolution and a batch norm put the channels second, (N, C, H, W); a linear layer, a layer norm
    and attention put them last, (N, tokens, C) or (N, H, W, C). Everything else hands the axis on:
    a view (a permutation, say) is recognised by its stride, an elementwise operation, a pooling or a
    concatenation keeps it. So no shape has to be guessed, and no model known by name.
    """

    def __init__(self) -> None:
        self._axes: WeakIdKeyDictionary = WeakIdKeyDictionary()

    def axis(self, tensor: Tensor) -> int:
        """The channel axis of a tensor (N, ...) with at least two axes, counted from 0.

        Where nothing is known of the tensor: the second axis of (N, C, H, W) and (N, C), the last of
        (N, tokens, C).

        >>> ChannelLayout().axis(torch.zeros(2, 3, 8, 8)), ChannelLayout().axis(torch.zeros(2, 5, 3))
        (1, 2)
        """
        known = self._axes.get(tensor)
        if known is not None:
            return known
        return 2 if tensor.ndim == 3 else 1

    def place(self, tensor: Tensor, axis: int) -> None:
        """Say where the channels of a tensor are."""
        self._axes[tensor] = axis

    def observe(
        self,
        function: Callable[..., Any] | None,
        inputs: Sequence[Tensor],
        output: Tensor,
        weights: Sequence[bool] = (),
    ) -> None:
        """Note the channel axis of ``output = function(*inputs)``.

        Args:
            function: What was called; None for an elementwise function.
            inputs: The tensors among its arguments.
            output: A tensor that it returned or overwrote.
            weights: Which of the inputs do not depend on the network's input, where that is known.
        """
        if output.ndim < 2:
            return
        if function in _PRODUCTS and list(weights) == [True, False] and output.ndim > 2:
            self._axes[output] = output.ndim - 2  # a matrix from the left: W z of (N, C, L)
        elif function in _CHANNELS_SECOND:
            self._axes[output] = 1
        elif function in _CHANNELS_LAST:
            self._axes[output] = output.ndim - 1
        else:
            for source in inputs:
                axis = self._axes.get(source)
                if axis is not None and (moved := _moved(source, axis, output)) is not None:
                    self._axes[output] = moved
                    return


class ImageLayout:
    """Follows the axis that counts the images, which is the first unless the network moves it.

    (Recurrent networks and PyTorch's transformer layers may put the tokens first.) Only tensors whose
    first axis does not count the images are remembered.

    Args:
        images: How many there are, where that is known. A single one is not followed: it is everywhere.
    """

    MERGED = -1
    """The images were merged with another axis that runs more slowly, and cannot be told apart by reshaping."""

    def __init__(self, images: int | None = None) -> None:
        self.images = images
        self._axes: WeakIdKeyDictionary = WeakIdKeyDictionary()

    def axis(self, tensor: Tensor) -> int:
        """The axis that counts the images, or ``MERGED``.

        >>> layout, images = ImageLayout(), torch.zeros(4, 7, 3)
        >>> layout.observe([images], tokens_first := images.transpose(0, 1))
        >>> layout.axis(images), layout.axis(tokens_first)
        (0, 1)
        """
        return self._axes.get(tensor, 0)

    def place(self, tensor: Tensor, axis: int) -> None:
        """Say which axis of a tensor counts the images."""
        if self.images != 1:
            self._axes[tensor] = axis

    def observe(self, inputs: Sequence[Tensor], output: Tensor) -> None:
        """Note the image axis of an output that was computed from these inputs."""
        # what has the output's shape was not broadcast; a mask or a table of positions was
        whole = [source for source in inputs if source.shape == output.shape]
        for source in whole or inputs:
            axis = self.axis(source)
            if axis == 0 and not _shares_numbers(source, output):
                continue  # a parameter, perhaps; and first stays first
            moved = self._follow(source, axis, output)
            if moved != 0:
                self.place(output, moved)
                return

    def _follow(self, source: Tensor, axis: int, output: Tensor) -> int:
        if output is source or axis == self.MERGED:
            return axis
        images = source.shape[axis]
        if _shares_numbers(source, output):
            same = _same_axes(source, axis, output)
            if len(same) == 1:
                return same[0]
        elif output.ndim == source.ndim:
            return axis
        if axis == 0 or (output.ndim and output.shape[0] == images):
            return 0
        return self.MERGED


def einsum_axes(
    equation: str, operands: Sequence[Tensor], weights: Sequence[bool], layout: ChannelLayout, images: ImageLayout
) -> tuple[int | None, int | None]:
    """The axes of the channels and of the images after ``torch.einsum`` of one tensor with weights.

    The channels are what the weights bring in, and else those that the tensor had.

    Args:
        equation: As ``torch.einsum`` takes it; with an arrow and without dots, or nothing is known.
        operands: The tensors.
        weights: Which of them do not depend on the network's input.
        layout: Knows the channels of the operands.
        images: Knows the images of the operands.

    >>> x, weight = torch.zeros(2, 3, 8, 8), torch.zeros(5, 3)
    >>> einsum_axes("nchw, dc -> hwnd", [x, weight], [False, True], ChannelLayout(), ImageLayout())
    (3, 2)
    """
    left, _, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not right or "." in equation or len(terms) != len(operands) or list(weights).count(False) != 1:
        return None, None
    place = list(weights).index(False)
    data, letters = operands[place], terms[place]
    new = [letter for letter in right if letter not in letters]
    channel = new[0] if len(new) == 1 else None if new or data.ndim < 2 else letters[layout.axis(data)]
    image = letters[images.axis(data)] if images.axis(data) >= 0 else None
    found = [right.find(letter) if letter is not None else -1 for letter in (channel, image)]
    return found[0] if found[0] >= 0 else None, found[1] if found[1] >= 0 else None


def _moved(source: Tensor, axis: int, output: Tensor) -> int | None:
    """Where the channel axis of the source is found in the output, or None if it is not there."""
    channels = source.shape[axis]
    if _shares_numbers(source, output):
        same = [a for a in _same_axes(source, axis, output) if a > 0]
        if len(same) == 1:
            return same[0]
    if output.ndim == source.ndim:
        return axis
    # axes were merged, split or averaged away: channels stay next to the batch or stay last
    if axis == source.ndim - 1 and output.shape[-1] == channels:
        return output.ndim - 1
    if axis == 1 and output.shape[1] == channels:
        return 1
    return None


def _shares_numbers(source: Tensor, output: Tensor) -> bool:
    return source.untyped_storage()._cdata == output.untyped_storage()._cdata


def _same_axes(source: Tensor, axis: int, output: Tensor) -> list[int]:
    """The axes of a view that have the length and the stride of an axis of what it views."""
    length, stride = source.shape[axis], source.stride(axis)
    return [a for a in range(output.ndim) if output.shape[a] == length and output.stride(a) == stride]
