"""scikit-learn's handwritten digits, split once and for all into a training and a test part."""

from __future__ import annotations

from functools import cache
from typing import Literal

import torch
from torch import Tensor

from affscore.zoo.named_data import DataSource, ImageSet
from affscore.zoo.preprocessing import image_tensor

TEST_IMAGES = 597


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


def _held_out(argument: str, seed: int) -> ImageSet:
    images, labels = digits("test")
    names = [str(label) for label in labels.tolist()]
    return ImageSet("digits", len(images), lambda index, p: (p or image_tensor)(images[index]), labels=names)


SOURCES = [DataSource("digits", "CLASS", _held_out)]
