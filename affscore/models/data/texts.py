"""Windows of token ids: of a text, as ``text:FILE`` or ``text:FILE@TOKENIZER``, or from a file, as ``tokens:FILE``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from affscore.errors import AffscoreError, guarded
from affscore.models.named_data import DataSource, NamedData, Samples
from affscore.models.naming import split_path
from affscore.models.paths import readable_file
from affscore.models.text import Expected, TextPreprocessing, check_token_ids, tokenizer_file
from affscore.models.weight_files import read_weights
from affscore.transport.samples import check_plain

_SUFFIXES = (".npy", ".safetensors", ".pt", ".pth")


class TokenSet(Samples):
    """Windows of token ids, tensor (N, length) of type int64.

    >>> TokenSet("three", 3, torch.tensor([[1, 2], [3, 4], [5, 6]]))[1]
    tensor([3, 4])
    """

    items: ClassVar[str] = "windows"

    def prepared_for(self, preprocessing: Expected) -> Self:
        """The same windows, all of whose ids this network knows."""
        expected = _expected_tokens(self.name, preprocessing)
        check_token_ids(self.samples, expected)
        return replace(self, preprocessing=replace(expected, length=self.samples.shape[1]))


@dataclass(eq=False, repr=False)
class TextFile(NamedData):
    """A text, which becomes windows of token ids once the network and its tokenizer are known.

    Attributes:
        text: The text.
        tokenizer: A tokenizer for it; None for the network's own.
    """

    items: ClassVar[str] = "windows"

    text: str
    tokenizer: Any = None

    def __len__(self) -> int:
        raise AffscoreError(
            f"how many windows {self.name!r} has depends on the network; "
            "say what it expects: load_data(SPEC, TextPreprocessing(tokenizer, length))"
        )

    def __getitem__(self, index: int) -> Tensor:
        return self.prepared_for(TextPreprocessing())[index]

    def prepared_for(self, preprocessing: Expected) -> TokenSet:
        """The windows of the text; a remainder that fills none is dropped, and noted."""
        expected = _expected_tokens(self.name, preprocessing)
        if self.tokenizer is not None:
            expected = replace(expected, tokenizer=self.tokenizer)
        ids, length = expected(self.text), expected.window
        rest = len(ids) % length
        windows = ids[: len(ids) - rest].reshape(-1, length)
        if not len(windows):
            raise AffscoreError(
                f"the text {self.name!r} has {len(ids)} tokens, fewer than one window of {length}; "
                "give a longer text, or a smaller length"
            )
        tokens = "1 token" if rest == 1 else f"{rest} tokens"
        dropped = [f"dropped {tokens} at the end of {self.name}, too few for a window of {length}"] if rest else []
        return TokenSet(self.name, len(windows), windows, notes=[*self.notes, *dropped]).prepared_for(expected)

    def content(self, images: int, seed: int) -> Iterator[bytes | memoryview] | None:
        """Its file, and that of its tokenizer; else the text, which has no items before a network is known."""
        return super().content(images, seed) if self.hashed else iter([self.text.encode()])


def _expected_tokens(name: str, preprocessing: Expected) -> TextPreprocessing:
    """What a network of token ids expects.

    Raises:
        AffscoreError: It is a network of images.
    """
    if not isinstance(preprocessing, TextPreprocessing):
        raise AffscoreError(
            f"{name!r} holds token ids, and the network expects images; give a data set of images, or say that the "
            "network expects token ids with an attribute preprocessing = affscore.models.TextPreprocessing(...)"
        )
    return preprocessing


def _load_text(argument: str, seed: int) -> TextFile:
    """A text from ``FILE`` or ``FILE@TOKENIZER``, in UTF-8.

    Raises:
        AffscoreError: No such file, no text in UTF-8, or nothing in it.
    """
    path, tokenizer = split_path(argument)
    file = readable_file(path, "text:FILE takes the path of a file")
    what = f"the file {file.name!r} is not a text in UTF-8"
    text = guarded(lambda: file.read_text(encoding="utf-8-sig"), what, "save it as UTF-8")
    if not text.strip():
        raise AffscoreError(f"the file {file.name!r} holds no text")
    files = [file, tokenizer_file(tokenizer)] if tokenizer else [file]
    return TextFile(f"text:{file.name}", None, text, tokenizer or None, hashed=files)


def _load_tokens(path: str, seed: int) -> TokenSet:
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
    check_plain(found, f"the array in {file.name!r}")
    if isinstance(found, Tensor) and not (found.is_floating_point() or found.is_complex()):
        found = found.numpy()  # which does not know all of the others
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "iu" or found.ndim != 2 or found.size == 0:
        kind = f"{found.dtype} of shape {tuple(found.shape)}" if hasattr(found, "dtype") else type(found).__name__
        raise AffscoreError(
            f"the file {file.name!r} must hold integers (N, length), the ids of N windows, and holds {kind}"
        )
    return TokenSet(f"tokens:{file.name}", len(found), torch.from_numpy(found.astype(np.int64)))


SOURCES = [DataSource("text", "FILE", _load_text), DataSource("tokens", "FILE", _load_tokens)]
