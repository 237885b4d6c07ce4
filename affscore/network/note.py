"""A note on a result: a sentence that says what a reader should know, or warns of a number that is likely wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from affscore.errors import AffscoreWarning

_OLDER = "warning: "
"""How a warning began in files of version 1."""


class Note(str):
    """A sentence on a result, which is a text, and knows whether it is a warning.

    Attributes:
        kind: "warning" where a number of the result is likely wrong, else "note".
        value: By how much scores are expected to be wrong, where the sentence is about that; else None.

    >>> few = Note("32 images are few", "warning", 0.1)
    >>> few, few.kind, few.value
    ('32 images are few', 'warning', 0.1)
    """

    kind: Literal["warning", "note"]
    value: float | None

    def __new__(cls, sentence: str, kind: Literal["warning", "note"] = "note", value: float | None = None) -> Note:
        """The note of this sentence."""
        note = super().__new__(cls, sentence)
        note.kind, note.value = kind, value
        return note

    @classmethod
    def of(cls, given: str | dict[str, Any]) -> Note:
        """A note as it is; the note of a text, or of what a file holds of it, which in version 1 is the text alone.

        >>> Note.of("n is small").kind, Note.of("warning: n is small").kind
        ('note', 'warning')
        """
        if isinstance(given, Note):
            return given
        if isinstance(given, dict):
            return cls(**given)
        return cls(given.removeprefix(_OLDER), "warning" if given.startswith(_OLDER) else "note")

    def stored(self) -> dict[str, Any]:
        """The note in the types that JSON knows.

        >>> Note("n is small", "warning").stored()
        {'sentence': 'n is small', 'kind': 'warning', 'value': None}
        """
        return {"sentence": str(self), **vars(self)}


def lines(notes: Sequence[str]) -> list[str]:
    """How a result prints its notes: each warning in full, and one line for the rest.

    >>> lines(["the last 2 images were dropped", Note("the images hold values from 0 to 255", "warning")])
    ['warning: the images hold values from 0 to 255', '1 note: .notes']
    """
    found = [f"warning: {note}" for note in notes if Note.of(note).kind == "warning"]
    rest = len(notes) - len(found)
    return [*found, f"{rest} note{'s' * (rest > 1)}: .notes"] if rest else found


def give_warnings(notes: Iterable[str], stacklevel: int = 1) -> None:
    """Give those of the notes that are warnings as :class:`affscore.AffscoreWarning`.

    Args:
        notes: Notes.
        stacklevel: 1 for the line that calls this function, 2 for the caller of that one, ...
    """
    for note in notes:
        if Note.of(note).kind == "warning":
            warnings.warn(str(note), AffscoreWarning, stacklevel=stacklevel + 1)
