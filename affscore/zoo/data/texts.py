"""A text, as ``text:FILE`` or ``text:FILE@TOKENIZER``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from torch import Tensor

from affscore.errors import AffscoreError, guarded
from affscore.zoo.data.tokens import TokenSet, expected_tokens
from affscore.zoo.named_data import DataSource, NamedData
from affscore.zoo.naming import split_path
from affscore.zoo.paths import readable_file
from affscore.zoo.text import Expected, TextPreprocessing, tokenizer_file


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
        expected = expected_tokens(self.name, preprocessing)
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
        note = f"dropped {tokens} at the end of {self.name}, too few for a window of {length}"
        return TokenSet(self.name, len(windows), windows, notes=[note] if rest else []).prepared_for(expected)


def _load(argument: str, seed: int) -> TextFile:
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


SOURCES = [DataSource("text", "FILE", _load)]
