"""Windows of token ids, from a file of ids or from a text and a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.zoo.named_data import NamedData
from affscore.zoo.paths import no_file, user_path
from affscore.zoo.text import Expected, TextPreprocessing, check_token_ids, tokenizer_file
from affscore.zoo.weight_files import read_weights

__all__ = ["TextFile", "TokenSet", "text_file", "token_file"]

_SUFFIXES = (".npy", ".safetensors", ".pt", ".pth")


class TokenSet(NamedData):
    """Windows of token ids, tensor (N, length) of type int64.

    Args:
        name: The name that results carry.
        windows: The ids.
        preprocessing: What the network expects.
        notes: What the reader of a result should be told.

    >>> TokenSet("three", torch.tensor([[1, 2], [3, 4], [5, 6]]))[1]
    tensor([3, 4])
    """

    items: ClassVar[str] = "windows"

    def __init__(
        self,
        name: str,
        windows: Tensor,
        preprocessing: TextPreprocessing | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(name, len(windows), preprocessing, None, notes)
        self.windows = windows

    def __getitem__(self, index: int) -> Tensor:
        return self.windows[index]

    def prepared_for(self, preprocessing: Expected) -> TokenSet:
        """The same windows, all of whose ids this network knows."""
        expected = _for_tokens(self.name, preprocessing)
        check_token_ids(self.windows, expected)
        return TokenSet(self.name, self.windows, replace(expected, length=self.windows.shape[1]), self.notes)


class TextFile(NamedData):
    """A text, which becomes windows of token ids once the network and its tokenizer are known.

    Args:
        name: The name that results carry.
        text: The text.
        tokenizer: A tokenizer for it; None for the network's own.
        files: The files that it is from, and its tokenizer.
    """

    items: ClassVar[str] = "windows"

    def __init__(self, name: str, text: str, tokenizer: Any = None, files: Sequence[Path] | None = None) -> None:
        super().__init__(name, None)
        self.files = files
        self.text = text
        self.tokenizer = tokenizer

    def __len__(self) -> int:
        raise AffscoreError(
            f"how many windows {self.name!r} has depends on the network; "
            "say what it expects: load_data(SPEC, TextPreprocessing(tokenizer, length))"
        )

    def __getitem__(self, index: int) -> Tensor:
        return self.prepared_for(TextPreprocessing())[index]

    def prepared_for(self, preprocessing: Expected) -> TokenSet:
        """The windows of the text; a remainder that fills none is dropped, and noted."""
        expected = _for_tokens(self.name, preprocessing)
        if self.tokenizer is not None:
            expected = replace(expected, tokenizer=self.tokenizer)
        ids, length = expected(self.text), expected.window
        windows = ids[: len(ids) // length * length].reshape(-1, length)
        if not len(windows):
            raise AffscoreError(
                f"the text {self.name!r} has {len(ids)} tokens, fewer than one window of {length}; "
                "give a longer text, or a smaller length"
            )
        rest = len(ids) % length
        tokens = "1 token" if rest == 1 else f"{rest} tokens"
        note = f"dropped {tokens} at the end of {self.name}, too few for a window of {length}"
        return TokenSet(self.name, windows, notes=[note] if rest else []).prepared_for(expected)


def text_file(argument: str) -> TextFile:
    """A text from ``FILE`` or ``FILE@TOKENIZER``, in UTF-8.

    Raises:
        AffscoreError: No such file, no text in UTF-8, or nothing in it.
    """
    cuts = [index for index, letter in enumerate(argument) if letter == "@"]
    # a path may hold an @: the file is the longest part that is one
    ends = [end for end in [*cuts, len(argument)] if user_path(argument[:end]).is_file()]
    end = ends[-1] if ends else next(iter(cuts), len(argument))
    path, tokenizer = argument[:end], argument[end + 1 :]
    file = _file("text", path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise AffscoreError(
            f"the file {file.name!r} is not a text in UTF-8 (byte {error.start}: {error.reason}); save it as UTF-8"
        ) from error
    if not text.strip():
        raise AffscoreError(f"the file {file.name!r} holds no text")
    files = [file, tokenizer_file(tokenizer)] if tokenizer else [file]
    return TextFile(f"text:{file.name}", text, tokenizer or None, files)


def token_file(path: str) -> TokenSet:
    """Windows of token ids from a .npy, .safetensors, .pt or .pth file that holds whole numbers (N, length).

    A file that holds several arrays must call the ids ``input_ids``.

    Raises:
        AffscoreError: No such file, another kind of file, or no whole numbers of this shape.
    """
    file = _file("tokens", path)
    found = _contents(file)
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
            f"the file {file.name!r} must hold whole numbers (N, length), the ids of N windows, and holds {kind}"
        )
    return TokenSet(f"tokens:{file.name}", torch.from_numpy(np.asarray(found).astype(np.int64)))


def _contents(file: Path) -> Any:
    if file.suffix not in _SUFFIXES:
        raise AffscoreError(f"token ids are read from a .npy, .safetensors or .pt file, got {file.name!r}")
    advice = "save an array of integers (N, length) as .npy, .safetensors or .pt"
    if file.suffix != ".npy":
        return read_weights(file, "token ids", advice)
    try:
        # mapped into memory: a false size in the file fills none of it
        return np.load(file, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # what a foreign file makes the reader raise has no end
        raise AffscoreError(
            f"the file {file.name!r} does not hold token ids that can be read safely ({type(error).__name__}); {advice}"
        ) from error


def _file(kind: str, path: str) -> Path:
    """A file that is there and may be read."""
    if not path:
        raise AffscoreError(f"{kind}: needs a file, as in {kind}:path/to/file")
    file = user_path(path)
    if not file.is_file():
        raise no_file(path, f"{kind}:FILE takes the path of a file")
    try:
        file.open("rb").close()
    except OSError as error:
        raise AffscoreError(f"the file {file.name!r} cannot be read ({error.strerror})") from error
    return file


def _for_tokens(name: str, preprocessing: Expected) -> TextPreprocessing:
    if not isinstance(preprocessing, TextPreprocessing):
        raise AffscoreError(
            f"{name!r} holds token ids, and the network expects images; give a data set of images, or say that the "
            "network expects token ids with an attribute preprocessing = affscore.zoo.TextPreprocessing(...)"
        )
    return preprocessing
