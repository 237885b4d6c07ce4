"""Notes on a result, in sentences: what a reader should know, and warnings where a number is likely wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from affscore.errors import AffscoreWarning

__all__ = ["as_warning", "give_warnings", "lines", "merged_warnings", "note_on", "split_note"]

_WARNING = "warning: "
"""How a warning begins: it stays one in the files of results and of finished batches, which keep plain text."""


def as_warning(sentence: str) -> str:
    """The note of this sentence, for what makes a number likely wrong.

    >>> lines(["the last 2 images were dropped", as_warning("the images hold values from 0 to 255")])
    ['warning: the images hold values from 0 to 255', 'note: the last 2 images were dropped']
    """
    return _WARNING + sentence


def split_note(note: str) -> tuple[str, str]:
    """Whether a note is a "warning" or a "note", and its sentence."""
    return ("warning" if note.startswith(_WARNING) else "note"), note.removeprefix(_WARNING)


def note_on(name: str, note: str) -> str:
    """The note, which begins with the name of the result that it is about.

    >>> note_on("resnet18", as_warning("n is small"))
    'warning: resnet18: n is small'
    """
    word, sentence = split_note(note)
    return as_warning(f"{name}: {sentence}") if word == "warning" else f"{name}: {sentence}"


def lines(notes: Iterable[str]) -> list[str]:
    """A line for each note, the warnings first."""
    return sorted((": ".join(split_note(note)) for note in notes), key=lambda line: not line.startswith(_WARNING))


def merged_warnings(notes: Iterable[str]) -> list[str]:
    """One warning that says all that the warnings among the notes say; none where there is none.

    >>> merged_warnings([as_warning("a: few images"), "dropped", as_warning("b: few images")])
    ['warning: a: few images; b: few images']
    """
    sentences = [sentence for word, sentence in map(split_note, notes) if word == "warning"]
    return [as_warning("; ".join(sentences))] if sentences else []


def give_warnings(notes: Iterable[str], stacklevel: int = 1) -> None:
    """Give those of the notes that are warnings as :class:`affscore.AffscoreWarning`.

    Args:
        notes: Notes; of each kind at most one.
        stacklevel: 1 for the line that calls this function, 2 for the caller of that one, ...
    """
    for word, sentence in map(split_note, notes):
        if word == "warning":
            warnings.warn(sentence, AffscoreWarning, stacklevel=stacklevel + 1)
