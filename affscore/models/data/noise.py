"""Noise, as ``random``."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.models.named_data import DataSource, NamedData
from affscore.models.preprocessing import Preprocessing
from affscore.models.text import Expected, TextPreprocessing


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


SOURCES = [DataSource("random", "", lambda _, seed: Noise(seed))]
