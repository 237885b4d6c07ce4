"""Windows of token ids from a file, as ``tokens:FILE``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.zoo.named_data import DataSource, Samples
from affscore.zoo.paths import readable_file
from affscore.zoo.text import Expected, TextPreprocessing, check_token_ids
from affscore.zoo.weight_files import read_weights

_SUFFIXES = (".npy", ".safetensors", ".pt", ".pth")


class TokenSet(Samples):
    """Windows of token ids, tensor (N, length) of type int64.

    >>> TokenSet("three", 3, torch.tensor([[1, 2], [3, 4], [5, 6]]))[1]
    tensor([3, 4])
    """

    items: ClassVar[str] = "windows"

    def prepared_for(self, preprocessing: Expected) -> Self:
        """The same windows, all of whose ids this network knows."""
        expected = expected_tokens(self.name, preprocessing)
        check_token_ids(self.samples, expected)
        return replace(self, preprocessing=replace(expected, length=self.samples.shape[1]))


def expected_tokens(name: str, preprocessing: Expected) -> TextPreprocessing:
    """What a network of token ids expects.

    Raises:
        AffscoreError: It is a network of images.
    """
    if not isinstance(preprocessing, TextPreprocessing):
        raise AffscoreError(
            f"{name!r} holds token ids, and the network expects images; give a data set of images, or say that the "
            "network expects token ids with an attribute preprocessing = affscore.zoo.TextPreprocessing(...)"
        )
    return preprocessing


def _load(path: str, seed: int) -> TokenSet:
    """Windows of token ids from a .npy, .safetensors, .pt or .pth file that holds integers (N, length).

    A file that holds several arrays must call the ids ``input_ids``.

    Raises:
        AffscoreError: No such file, another kind of file, or no integers of this shape.
    """
    file = readable_file(path, "tokens:FILE takes the path of a file")
    if file.suffix not in _SUFFIXES:
        raise AffscoreError(f"token ids are read from a .npy, .safetensors or .pt file, got {file.name!r}")
    found = read_weights(file, "token ids", "save an array of integers (N, length) as .npy, .safetensors or .pt")
    if isinstance(found, Mapping):
        if len(found) > 1 and "input_ids" not in found:
            names = ", ".join(map(str, [*found][:5]))
            raise AffscoreError(f"the file {file.name!r} holds several arrays ({names}); call the token ids input_ids")
        found = found["input_ids"] if "input_ids" in found else next(iter(found.values()), None)
    if isinstance(found, Tensor) and not (found.is_floating_point() or found.is_complex()):
        found = found.numpy()  # which does not know all of the others
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "iu" or found.ndim != 2 or found.size == 0:
        kind = f"{found.dtype} of shape {tuple(found.shape)}" if hasattr(found, "dtype") else type(found).__name__
        raise AffscoreError(
            f"the file {file.name!r} must hold integers (N, length), the ids of N windows, and holds {kind}"
        )
    return TokenSet(f"tokens:{file.name}", len(found), torch.from_numpy(found.astype(np.int64)))


SOURCES = [DataSource("tokens", "FILE", _load)]
