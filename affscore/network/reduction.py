"""From a feature map to one vector of channels for every image, or to several."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.scoring import naming
from affscore.options import ReductionName, check_word
from affscore.recorder.axes import Place, channels_last
from affscore.recorder.calls import ActivationCall, Listener

SAME_FOR_ALL = "the network must run the same activations for every sample"
"""What a ScatteredError says where it runs others."""


class ScatteredError(AffscoreError):
    """The samples do not stand along one axis; ``why`` says of what."""

    def __init__(self, message: str, why: str = "it runs other activations for other samples") -> None:
        super().__init__(message)
        self.why = why


Draw = Callable[[Any], Tensor]
"""Given the number of positions, those of each image that are drawn."""


def unsaid(count: Any) -> Tensor:
    """Stands for the positions that a reduction draws, where nobody says them: an AffscoreError."""
    raise AffscoreError("the reductions sample and positions need positions=, which chooses among so many")


def reduce(
    features: Tensor,
    images: int,
    channel_axis: int,
    reduction: ReductionName,
    positions: Draw = unsaid,
    text: Tensor | None = None,
) -> Tensor:
    """Reduce the feature map of a batch of images to one vector an image, or to several.

    ========= =============================================================== ===========
    name      vector of an image                                              length
    ========= =============================================================== ===========
    mean      average over all positions (space or tokens), per channel       c
    sum       sum over all positions, per channel                             c
    flatten   everything                                                      c * p
    sample    the channels at one position                                    c
    positions the channels at some positions: a vector for each               c
    published average over all axes behind the second, whatever they hold     second axis
    ========= =============================================================== ===========

    All but ``published`` agree on what a channel is wherever the channels lie. ``published`` is what the
    papers' code does: it averages a ViT's (N, tokens, C) over the channels, and Swin's and ConvNeXt's
    (N, H, W, C) over width and channels.

    Args:
        features: Tensor (N, ...); N may be a multiple of the number of images (attention windows), whose
            parts are then positions of their image.
        images: Number of images in the batch.
        channel_axis: Axis of the channels in ``features``.
        reduction: One of the names above.
        positions: For ``sample`` and ``positions``: given the number p of positions, those of each image, a tensor
            (images, k) of integers in [0, p). With ``text`` it is given an array of those of each image.
        text: Which tokens are of the text and none of padding, tensor (images, p) of booleans; None for all. A feature
            map without positions (what a pooler sees) is as it is.

    Returns:
        Tensor (images, length), or (images * k, length), those of an image one after the other; in float32 at
        least; never a view of the features.

    Raises:
        AffscoreError: An unknown name, N that is no multiple of the number of images, complex numbers, or no
            ``positions`` where they are needed. With ``text``: the positions are not the tokens, or a reduction that
            mixes positions and channels.

    Source: definition 3.1 and "Dimensionality reduction" in appendix E.

    >>> features = torch.arange(12.0).reshape(1, 3, 2, 2)  # one image, three channels, 2 x 2 pixels
    >>> reduce(features, 1, 1, "mean").tolist()
    [[1.5, 5.5, 9.5]]
    >>> reduce(features, 1, 1, "mean", text=torch.tensor([[True, True, False, False]])).tolist()
    [[0.5, 4.5, 8.5]]
    >>> reduce(features, 1, 1, "sample", lambda p: torch.tensor([[3]])).tolist()
    [[3.0, 7.0, 11.0]]
    >>> reduce(features, 1, 1, "positions", lambda p: torch.tensor([[3, 0]])).tolist()
    [[3.0, 7.0, 11.0], [0.0, 4.0, 8.0]]
    """
    check_word("reduction", reduction, ReductionName)
    _check_counted(features, images)
    if features.is_complex():
        raise AffscoreError("complex numbers have no score; declare a module around it: activations=[...]")
    if features.dtype in (torch.float16, torch.bfloat16):
        features = features.float()
    if len(features) != images:
        features = features.reshape(images, -1, *features.shape[1:])
        channel_axis += 1
    if features.ndim <= 2 or (reduction == "flatten" and text is None):
        return features.reshape(images, -1).clone()
    if text is not None:
        features = features.movedim(channel_axis, -1).flatten(1, -2)
        channel_axis, text = 2, marked(features, text)
        if reduction in ("flatten", "published"):
            raise AffscoreError(f"reduction={reduction!r} would take in padding; use mean, sum, sample or positions")
    if reduction == "published":
        return features.flatten(2).mean(dim=2)
    if reduction in ("sample", "positions"):
        tokens = features.movedim(channel_axis, -1).flatten(1, -2)
        where = positions(tokens.shape[1] if text is None else text.sum(dim=1).cpu().numpy()).to(tokens.device)
        if text is not None:  # among the tokens of the text, which come first in this order
            where = text.int().argsort(dim=1, descending=True, stable=True).gather(1, where)
        return tokens[torch.arange(images, device=tokens.device)[:, None], where].flatten(0, 1)
    if text is not None:
        features = torch.where(text[:, :, None], features, 0)  # padding may hold NaN: no product with zeros
    others = [axis for axis in range(1, features.ndim) if axis != channel_axis]
    # not by a product with ones, whose larger rounding would let a channel that follows from others vary by itself
    total = features.sum(dim=others)
    count = math.prod(features.shape[axis] for axis in others) if text is None else text.sum(dim=1, keepdim=True)
    return total / count if reduction == "mean" else total


def marked(tokens: Tensor, text: Tensor) -> Tensor:
    """Which of the tokens (N, positions, c) are of the text, on their device.

    Raises:
        AffscoreError: The positions are not the tokens that are marked.
    """
    if tokens.shape[:2] != text.shape:
        both = f"{tokens.shape[1]} positions a sample, and the mask has {text.shape[1]}"
        raise AffscoreError(f"it has {both}; mask=None reads no mask")
    return text.to(tokens.device)


def _check_counted(features: Tensor, images: int, call: ActivationCall | None = None) -> None:
    """Raise a ScatteredError unless the first axis counts so many images, or parts of them."""
    if not features.ndim or not len(features) or len(features) % images:
        shape, where = tuple(features.shape), "" if call is None else f"{call}: "
        message = f"{where}the first axis of a feature map must count the {images} samples, or parts of them"
        why = f"they cannot be followed to {call}, which sees shape {shape}"
        raise ScatteredError(f"{message}, got shape {shape} (a sample x alone is x[None])", why)


class Reducing(Listener):
    """A listener that reduces inputs and outputs of activations.

    Attributes:
        images: How many images go through the network; to be set before the first activation.
        text: Which tokens are of the text and none of padding, as for :func:`reduce`; None for all.
    """

    images: int = 0
    text: Tensor | None = None

    def reduced(
        self, call: ActivationCall, x: Tensor, reduction: ReductionName, output: Place | None, draw: Draw = unsaid
    ) -> tuple[Tensor, Tensor]:
        """The input or the output of an activation, reduced wherever its channels lie (see :func:`reduce`).

        Args:
            call: The activation.
            x: Its input or output.
            reduction: How to reduce them; the network itself has all of its numbers.
            output: Where the channels of the output of a block lie, where that is elsewhere.
            draw: The positions of each image, for ``sample`` and ``positions``.

        Returns:
            The reduced features; and the size of the terms that the reduction adds up, per channel, tensor (c,) in
            float64, or the number 0 where nothing is added up: after an instance norm they cancel up to rounding. It is
            the reduced magnitude of the first image, which costs next to nothing.

        Raises:
            ScatteredError: No axis counts the images.
            AffscoreError: As :func:`reduce`; the message names the activation.
        """
        if call.kind == "network":
            reduction = "flatten"
        first, channel_axis = images_first(output or call, x, published=reduction == "published")
        _check_counted(first, self.images, call)
        with naming(call):
            found = reduce(first, self.images, channel_axis, reduction, draw, self.text)
        if reduction not in ("mean", "sum", "published"):
            return found, found.new_zeros(())
        magnitude, text = first[: len(first) // self.images].detach().abs(), self.text
        one = reduce(magnitude, 1, channel_axis, reduction, text=None if text is None else text[:1])
        return found, one[0].double()


def images_first(place: Place, features: Tensor, published: bool = False) -> tuple[Tensor, int]:
    """A feature map whose first axis counts the images, and its channel axis.

    Args:
        place: Where its images and channels lie.
        features: It.
        published: Whether axes that were merged of several stay as they are.

    Returns:
        Tensor (N, ...), and the place of its axis of channels.
    """
    if place.axes and not published:
        features = channels_last(features, place.axes)
        return features, features.ndim - 1
    axis = place.channel_axis
    return features.movedim(place.image_axis, 0), axis + (axis < place.image_axis)


def chosen_positions(uniform: NDArray[np.float64], count: int | NDArray[np.int64]) -> Tensor:
    """Positions that are drawn at random without replacement.

    Args:
        uniform: Array (images, k), uniform in [0, 1).
        count: How many positions there are, or an array (images,) of how many each image has.

    Returns:
        Tensor (images, min(k, count)) of integers in [0, count); those of an image are different. Of several counts the
        smallest says how many.

    >>> chosen_positions(np.array([[0.0, 0.5, 0.99], [0.99, 0.99, 0.99]]), 3).tolist()
    [[0, 2, 1], [2, 1, 0]]
    """
    chosen = np.empty((len(uniform), 0), dtype=np.int64)
    for place in range(min(uniform.shape[1], int(np.min(count)))):
        position = (uniform[:, place] * (count - place)).astype(np.int64)  # among those that are left
        for taken in np.sort(chosen, axis=1).T:
            position += position >= taken
        chosen = np.column_stack([chosen, position])
    return torch.from_numpy(chosen)
