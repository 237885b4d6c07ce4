"""The digits, changed: data that look other and mean the same, for a network by name (``digits-inverted``, ...)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from affscore.models.data import DataSource, NamedData, register_data

NOISE = 0.25
"""Standard deviation of what is added to the grey values of ``digits-noisy``, which lie in [0, 1]."""


def shuffled(images: Tensor) -> Tensor:
    """The pixels in another order, which is the same for all images.

    >>> images = torch.arange(8.0).reshape(2, 1, 2, 2)
    >>> bool((shuffled(images)[1] == shuffled(images)[0] + 4).all())
    True
    """
    pixels = images.flatten(start_dim=-2)
    order = np.random.default_rng(0).permutation(pixels.shape[-1])
    return pixels[..., torch.from_numpy(order)].reshape(images.shape)


def noisy(images: Tensor) -> Tensor:
    """Normal noise of deviation :data:`NOISE` added to every pixel, the same each time, and the sum cut to [0, 1]."""
    noise = np.random.default_rng(0).standard_normal(images.shape, dtype=np.float32)
    return (images + NOISE * torch.from_numpy(noise)).clamp(0, 1)


CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    "digits-inverted": lambda images: 1 - images,
    "digits-shuffled": shuffled,
    "digits-noisy": noisy,
}
"""SPEC -> what is done to the images of the test part, all at once."""


def _load(name: str, _: str, seed: int) -> NamedData:
    from affscore.models.data.images import digits, image_set  # here, since networks alone need no images

    images, labels = digits("test")
    return image_set(name, CHANGES[name](images), labels)


for _name in CHANGES:
    register_data(DataSource(_name, "CLASS", partial(_load, _name)))
