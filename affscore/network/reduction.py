"""From a feature map to one vector of channels for every image."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from affscore.errors import AffscoreError

ReductionName = Literal["mean", "sum", "flatten", "sample", "published"]
OrderName = Literal["activate-first", "reduce-first"]


def check_word(what: str, value: str, words: Any) -> None:
    """Raise an AffscoreError unless this is one of the words of a Literal."""
    if value not in get_args(words):
        raise AffscoreError(f"{what} must be one of {', '.join(get_args(words))}, got {value!r}")


def reduce(
    features: Tensor,
    images: int,
    channel_axis: int,
    reduction: ReductionName,
    positions: Callable[[int], Tensor] | None = None,
) -> Tensor:
    """Reduce the feature map of a batch of images to one vector an image.

    ======== =============================================================== ===========
    name     vector of an image                                              length
    ======== =============================================================== ===========
    mean     average over all positions (space or tokens), per channel       c
    sum      sum over all positions, per channel                             c
    flatten  everything                                                      c * p
    sample   the channels at one position                                    c
    published average over all axes behind the second, whatever they hold    second axis
    ======== =============================================================== ===========

    The first four agree on what a channel is wherever the channels lie. ``published`` is what the
    papers' code does: it averages a ViT's (N, tokens, C) over the channels, and Swin's and ConvNeXt's
    (N, H, W, C) over width and channels.

    Args:
        features: Tensor (N, ...); N may be a multiple of the number of images (attention windows), whose
            parts are then positions of their image.
        images: Number of images in the batch.
        channel_axis: Axis of the channels in ``features``.
        reduction: One of the names above.
        positions: For ``sample``: given the number p of positions, the position of each image, a tensor
            (images,) of integers in [0, p).

    Returns:
        Tensor (images, length), in float32 at least; never a view of the features.

    Raises:
        AffscoreError: An unknown name, or N that is no multiple of the number of images.

    Source: definition 3.1 and "Dimensionality reduction" in appendix E.

    >>> features = torch.arange(12.0).reshape(1, 3, 2, 2)  # one image, three channels, 2 x 2 pixels
    >>> reduce(features, 1, 1, "mean").tolist()
    [[1.5, 5.5, 9.5]]
    >>> reduce(features, 1, 1, "sample", lambda p: torch.tensor([3])).tolist()
    [[3.0, 7.0, 11.0]]
    """
    check_word("reduction", reduction, ReductionName)
    if features.ndim == 0 or len(features) == 0 or len(features) % images:
        raise AffscoreError(
            f"the first axis of a feature map must count the {images} samples, or parts of them, "
            f"got shape {tuple(features.shape)}"
        )
    if features.dtype in (torch.float16, torch.bfloat16):
        features = features.float()
    if len(features) != images:
        features = features.reshape(images, -1, *features.shape[1:])
        channel_axis += 1
    if features.ndim <= 2 or reduction == "flatten":
        return features.reshape(images, -1).clone()
    if reduction == "published":
        return features.flatten(2).mean(dim=2)
    if reduction == "sample":
        assert positions is not None
        tokens = features.movedim(channel_axis, -1).flatten(1, -2)
        where = positions(tokens.shape[1]).to(features.device)
        return tokens[torch.arange(images, device=features.device), where]
    others = [axis for axis in range(1, features.ndim) if axis != channel_axis]
    # not by a product with ones, whose larger rounding would let a channel that follows from others vary by itself
    total = features.sum(dim=others)
    return total / math.prod(features.shape[axis] for axis in others) if reduction == "mean" else total
