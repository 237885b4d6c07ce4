"""Rows that arrive in parts and are kept as one tensor, in memory that is set aside once."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from affscore.errors import AffscoreError

__all__ = ["Rows"]

LARGEST = 2**13
"""At most so many rows are set aside before it is known that they come."""


class Rows:
    """A tensor (rows, c) that grows.

    Parts that were kept one by one would lie between the feature maps of the passes that they come from, and
    the memory of these could not be used again as a whole: 512 images through a ResNet-152 then took seven
    times the memory of 16.

    Args:
        parts: Tensors (rows, c) to begin with.

    >>> rows = Rows([torch.zeros(2, 3)])
    >>> rows.extend(torch.ones(1, 3), room=10)
    >>> len(rows), rows.tensor[:, 0].tolist()
    (3, [0.0, 0.0, 1.0])
    """

    def __init__(self, parts: Iterable[Tensor] = ()) -> None:
        self._memory: Tensor | None = None
        self._filled = 0
        for part in parts:
            self.extend(part)

    def extend(self, part: Tensor, room: int = 0) -> None:
        """Add rows at the end.

        Args:
            part: Tensor (rows, c).
            room: How many rows are expected in all.

        Raises:
            AffscoreError: These rows have another length.
        """
        if self._memory is not None and part.shape[1:] != self._memory.shape[1:]:
            raise AffscoreError(
                f"an activation had {tuple(self._memory.shape[1:])} reduced values a sample, and has "
                f"{tuple(part.shape[1:])} for further ones: all samples must have the same size"
            )
        needed = self._filled + len(part)
        if self._memory is None or needed > len(self._memory):
            known = 0 if self._memory is None else 2 * len(self._memory)
            memory = part.new_empty(max(needed, known, min(room, LARGEST)), *part.shape[1:])
            if self._memory is not None:
                memory[: self._filled] = self._memory[: self._filled]
            self._memory = memory
        self._memory[self._filled : needed] = part
        self._filled = needed

    @property
    def tensor(self) -> Tensor:
        """All rows, in a view of the memory that holds them."""
        return torch.empty(0, 0) if self._memory is None else self._memory[: self._filled]

    def __len__(self) -> int:
        return self._filled
