"""scikit-learn's handwritten digits, split once and for all into a training and a test part, and the latter changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from affscore.models.named_data import DataSource, ImageSet
from affscore.models.preprocessing import image_tensor

TEST_IMAGES = 597

NOISE = 0.25
"""Standard deviation of what is added to the grey values of ``digits-noisy``, which lie in [0, 1]."""


@cache
def digits(part: Literal["train", "test"]) -> tuple[Tensor, Tensor]:
    """Scans of handwritten digits, 8 x 8 pixels, and which digit each is.

    The 1797 scans come with scikit-learn. 597 of them, the same in every session and with each digit in
    its share, are the test part; no network of the package has seen those.

    Args:
        part: "train" (1200 images) or "test" (597).

    Returns:
        Images, tensor (N, 1, 8, 8) with values in [0, 1], and labels, tensor (N,) of integers.

    Source: Alpaydin and Kaynak, optical recognition of handwritten digits (UCI).

    >>> images, labels = digits("test")
    >>> tuple(images.shape), sorted(set(labels.tolist())) == list(range(10))
    ((597, 1, 8, 8), True)
    """
    from sklearn.datasets import load_digits  # takes a second
    from sklearn.model_selection import train_test_split

    bunch = load_digits()
    images = torch.from_numpy(bunch.images).float()[:, None] / 16.0  # grey values are 0 ... 16
    labels = torch.from_numpy(bunch.target).long()
    train, test = train_test_split(range(len(labels)), test_size=TEST_IMAGES, stratify=bunch.target, random_state=0)
    chosen = torch.tensor(train if part == "train" else test)
    return images[chosen], labels[chosen]


def inverted(images: Tensor) -> Tensor:
    """Black for white: each grey value is subtracted from 1.

    >>> float(inverted(torch.tensor(0.25)))
    0.75
    """
    return 1 - images


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
    "digits": lambda images: images,
    "digits-inverted": inverted,
    "digits-shuffled": shuffled,
    "digits-noisy": noisy,
}
"""SPEC -> what is done to the images of the test part, all at once."""


def _held_out(name: str, argument: str, seed: int) -> ImageSet:
    images, labels = _changed(name)
    names = [str(label) for label in labels.tolist()]
    return ImageSet(name, len(images), lambda index, p: (p or image_tensor)(images[index]), labels=names)


@cache
def _changed(name: str) -> tuple[Tensor, Tensor]:
    images, labels = digits("test")
    return CHANGES[name](images), labels


SOURCES = [DataSource(name, "CLASS", partial(_held_out, name)) for name in CHANGES]
