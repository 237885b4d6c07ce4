"""What needs no file: scikit-learn's handwritten digits, as ``digits`` and changed, and noise, as ``random``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.models.data import DataSource, ImageSet, NamedData
from affscore.models.preprocessing import Preprocessing, image_tensor
from affscore.models.text import Expected, TextPreprocessing

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
    "digits-inverted": lambda images: 1 - images,
    "digits-shuffled": shuffled,
    "digits-noisy": noisy,
}
"""SPEC -> what is done to the images of the test part, all at once."""


def _held_out(name: str, argument: str, seed: int) -> ImageSet:
    plain, labels = digits("test")
    images, names = CHANGES[name](plain), [str(label) for label in labels.tolist()]
    return ImageSet(name, len(images), lambda index, p: (p or image_tensor)(images[index]), labels=names)


class Noise(NamedData):
    """Standard normal images, or uniform token ids, as many as one asks for.

    Args:
        seed: Fixes them, each by its index.
        preprocessing: What the network expects; it says the size.

    >>> Noise(0)[5].shape
    torch.Size([3, 224, 224])
    """

    def __init__(self, seed: int, preprocessing: Expected | None = None) -> None:
        if isinstance(preprocessing, TextPreprocessing) and preprocessing.vocabulary is None:
            raise AffscoreError(
                "random token ids need the size of the vocabulary; say it with TextPreprocessing(vocabulary=...), "
                "or give tokens:FILE"
            )
        super().__init__("random", None, preprocessing=preprocessing)
        self.seed = seed

    def __getitem__(self, index: int) -> Tensor:
        generator = np.random.default_rng([self.seed, index])
        p = self.preprocessing or Preprocessing()
        if isinstance(p, TextPreprocessing):
            assert p.vocabulary is not None
            return torch.from_numpy(generator.integers(0, p.vocabulary, p.window))
        return torch.from_numpy(generator.standard_normal((p.channels, p.size, p.size), dtype=np.float32))

    def prepared_for(self, preprocessing: Expected) -> Noise:
        """Noise of the size that this network expects."""
        return Noise(self.seed, preprocessing)

    def content(self, images: int, seed: int) -> None:
        """None: the seed makes it."""


SOURCES = [
    *(DataSource(name, "CLASS", partial(_held_out, name)) for name in CHANGES),
    DataSource("random", "", lambda _, seed: Noise(seed)),
]
