"""From a text to the windows of token ids that a language model expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from affscore.errors import AffscoreError, guarded
from affscore.models.naming import needs, readable_file, user_path
from affscore.models.preprocessing import Preprocessing
from affscore.options import check_integer
from affscore.transport.samples import check_plain

DEFAULT_LENGTH = 128


@dataclass(frozen=True)
class TextPreprocessing:
    """Tokenize, and cut into windows that do not overlap: what a network of token ids expects.

    Attributes:
        tokenizer: From text to ids: a tokenizer.json or the folder that holds one, a tokenizer of the
            packages tokenizers or transformers, or a function from a string to integers; None where
            it is not known, and only token ids can be used. No special tokens are added.
        length: Tokens in a window; None for 128, or for ``maximum`` where that is smaller.
        vocabulary: How many ids the network knows: 0 ... vocabulary - 1.
        maximum: The longest window that the network takes.

    >>> TextPreprocessing(maximum=64).window, TextPreprocessing().window
    (64, 128)
    >>> TextPreprocessing(lambda text: [ord(letter) for letter in text])("abc").tolist()
    [97, 98, 99]
    """

    tokenizer: Any = None
    length: int | None = None
    vocabulary: int | None = None
    maximum: int | None = None

    def __post_init__(self) -> None:
        for name in ("length", "vocabulary", "maximum"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), 1)

    @property
    def window(self) -> int:
        """Tokens in a window."""
        return self.length if self.length is not None else min(DEFAULT_LENGTH, self.maximum or DEFAULT_LENGTH)

    def __call__(self, text: str) -> Tensor:
        """The ids of a whole text, tensor (tokens,) of type int64.

        Raises:
            AffscoreError: No tokenizer, or one that fails or gives something else than integers.
        """
        found = guarded(lambda: np.asarray(_ids(self.tokenizer, text)), "the tokenizer fails")
        if found.size and (found.dtype.kind not in "iu" or found.ndim != 1):
            given = f"{found.dtype} of shape {found.shape}"
            raise AffscoreError(f"the tokenizer must turn a text into a list of integers, got {given}")
        return torch.from_numpy(found.astype(np.int64).reshape(-1))

    def as_dict(self) -> dict[str, Any]:
        """The attributes, in the types that JSON knows; a tokenizer by its name, without a path."""
        tokenizer = None if self.tokenizer is None else _name_of(self.tokenizer)
        return {"tokenizer": tokenizer, "length": self.window, "vocabulary": self.vocabulary, "maximum": self.maximum}


Expected = Preprocessing | TextPreprocessing
"""What a network expects: images or token ids."""


def check_token_ids(ids: Tensor, expected: TextPreprocessing) -> None:
    """Whether a network can look these token ids up, before a GPU fails on one without saying which.

    Args:
        ids: Tensor (N, length).
        expected: What the network expects.

    Raises:
        AffscoreError: Not integers, another shape, windows that are too long, ids outside the vocabulary.

    >>> check_token_ids(torch.tensor([[0, 4]]), TextPreprocessing(vocabulary=5))
    """
    check_plain(ids)
    whole = not (ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool)
    if not whole or ids.ndim != 2 or ids.shape[1] == 0:
        raise AffscoreError(
            f"the network expects token ids, integers of shape (N, length), got {ids.dtype} of shape "
            f"{tuple(ids.shape)}; text:FILE, tokens:FILE and random give them, too"
        )
    if expected.maximum is not None and ids.shape[1] > expected.maximum:
        raise AffscoreError(
            f"the network takes at most {expected.maximum} tokens, these windows have {ids.shape[1]}; cut them shorter"
        )
    ids = ids.long()  # PyTorch knows few operations of unsigned numbers
    low, high = (int(ids.min()), int(ids.max())) if ids.numel() else (0, 0)
    if low < 0 or (expected.vocabulary is not None and high >= expected.vocabulary):
        end = "" if expected.vocabulary is None else f" to {expected.vocabulary - 1}"
        raise AffscoreError(
            f"token ids must lie in the vocabulary of the network, from 0{end}; these go from {low} to {high}: "
            "is it the tokenizer of this network, and are there no marks of padding?"
        )


def _ids(tokenizer: Any, text: str) -> Any:
    """The ids of a text, whichever way the tokenizer is given, without special tokens, and all of them."""
    if tokenizer is None:
        raise AffscoreError(
            "a text needs the tokenizer of the network, and none is known; write text:FILE@TOKENIZER, TOKENIZER being "
            "a tokenizer.json or the folder that holds it, or give token ids as tokens:FILE"
        )
    if isinstance(tokenizer, (str, Path)):
        tokenizer = _read_tokenizer(str(tokenizer))
    bases = {f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(tokenizer).__mro__}
    if "transformers.PreTrainedTokenizerBase" in bases:
        return tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
    if "tokenizers.Tokenizer" in bases:
        tokenizer = type(tokenizer).from_str(tokenizer.to_str())  # the caller's keeps its truncation and padding
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer.encode(text, add_special_tokens=False).ids
    ids = tokenizer(text) if callable(tokenizer) else tokenizer.encode(text)
    return ids["input_ids"] if isinstance(ids, Mapping) else ids


def tokenizer_file(path: str) -> Path:
    """The tokenizer.json that a path means: itself, or the one in the folder.

    Raises:
        AffscoreError: There is none.
    """
    file = user_path(path)
    advice = "give a tokenizer.json, or the folder where tokenizer.save_pretrained(...) left one"
    return readable_file(file / "tokenizer.json" if file.is_dir() else file, advice)


def _read_tokenizer(path: str) -> Any:
    file = tokenizer_file(path)
    tokenizers = needs("tokenizers", "reading a tokenizer", "transformers")
    what = f"the file {file.name!r} is not a tokenizer.json that can be read"
    return guarded(lambda: tokenizers.Tokenizer.from_str(file.read_text(encoding="utf-8")), what)


def _name_of(tokenizer: Any) -> str:
    stated = getattr(tokenizer, "name_or_path", None) or getattr(tokenizer, "__name__", None)
    stated = str(tokenizer) if isinstance(tokenizer, (str, Path)) else stated
    return Path(stated).name if isinstance(stated, str) and stated else type(tokenizer).__name__
