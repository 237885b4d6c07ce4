"""Notes on a result, in sentences: what a reader should know, and warnings where a number is likely wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import pandas as pd
from torch import Tensor

from affscore.errors import AffscoreWarning
from affscore.models.preprocessing import Expected, Preprocessing
from affscore.network.scoring import Pair
from affscore.options import MOST_COUPLED, Options

_OLDER = "warning: "
"""How a warning began in files of version 1."""

FEWEST = 8
"""Fewer samples say next to nothing of a distribution, whatever the estimate of the bias is: two are always mapped."""

LARGEST_NORMALISED = 64.0
"""Images that were scaled and normalised hold no number as large as this."""


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


def on_values(tensors: Iterable[Tensor], expected: Expected, known: bool = True) -> Iterator[str]:
    """Whether images hold values from 0 to 255, as they are stored, though the network does not expect such values.

    Values from 0 to 1 are noted where it is known that the network expects others, some of them below 0.

    >>> import torch
    >>> from affscore.models.preprocessing import IMAGENET
    >>> len(list(on_values([torch.linspace(0, 255, 48).view(1, 3, 4, 4)], IMAGENET)))
    1
    """
    if not isinstance(expected, Preprocessing):
        return
    brightest = max((1 - mean) / std for mean, std in zip(expected.mean, expected.std, strict=True))
    pictures = (t for t in tensors if t.ndim == 4 and t.shape[1] in (1, 3) and t.is_floating_point())
    ranges = [(float(t.min()), float(t.max())) for t in pictures]
    if known and max(expected.mean) > 0 and any(least >= 0 and largest <= 1 for least, largest in ranges):
        means, stds = (", ".join(f"{value:.3g}" for value in values) for values in (expected.mean, expected.std))
        yield f"all values of images are from 0 to 1; the network expects (x - mean) / std, mean {means}, std {stds}"
    elif any(least >= 0 and brightest < LARGEST_NORMALISED < largest <= 255 for least, largest in ranges):
        yield Note("the images hold values from 0 to 255: divide them by 255, normalise as in training", "warning")


def on_rows(table: pd.DataFrame, units: str = "activations") -> Iterator[str]:
    """What the scores themselves show: activations, or blocks, that do nothing, or lack a number."""
    of = f"of {table['index'].nunique()} {units} have"
    constant = table["flag"].str.startswith("constant")
    if dead := table.loc[table["flag"] == "constant output", "index"].nunique():
        yield f"{dead} {of} a constant output in a batch, which is affine: their score of 1 says that they do nothing"
    if "affine_fit" in table and (lacking := table.loc[table["affine_fit"].isna() & ~constant, "index"].nunique()):
        yield f"{lacking} {of} no affine_fit: n is at most one above the rank of their inputs; use a larger n"
    if "nlc" in table and (lacking := table.loc[table["nlc"].isna() & ~constant, "index"].nunique()):
        yield f"{lacking} {of} no non-linearity coefficient: they are not elementwise, or have no finite derivative"


def on_refusals(passes: Iterable[list[Pair]]) -> Iterator[str]:
    """Which activations have no score under an order, since they cannot be applied to reduced vectors."""
    refused = {str(pair.call): pair.refused for pairs in passes for pair in pairs if pair.refused}
    if refused:
        have = "1 activation has" if len(refused) == 1 else f"{len(refused)} activations have"
        yield f"{have} no score under reduce-first: {next(iter(refused.values()))}"


def on_positions(options: Options) -> Iterator[str]:
    """What several points of one sample mean for the numbers."""
    if (each := options.points_a_sample) > 1:
        yield f"each sample gives up to {each} points, which depend on each other: intervals draw samples, not points"
        if options.only_paired:
            points = f"n x positions is {options.n * each}, more than {MOST_COUPLED}"
            yield f"the coupling is the pairing, since {points}: scores are lower bounds of the exact ones"


def too_few(used: int, items: str) -> str:
    """What to say of so few samples."""
    return f"{used} {items} in a batch are too few for any score (two score 1): give at least {FEWEST}, better hundreds"
