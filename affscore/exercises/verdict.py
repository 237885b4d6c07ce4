"""What a student sees after checking an answer."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Verdict"]


@dataclass(frozen=True, repr=False)
class Verdict:
    """Whether an answer is right, with a sentence for the student. ``bool(verdict)`` is True when it is.

    Attributes:
        right: Whether the answer is right.
        message: One or two sentences: what makes it right, or what to look at. Never the answer.

    >>> Verdict(False, "The distance of a cloud to itself must be zero.")
    Not yet. The distance of a cloud to itself must be zero.
    """

    right: bool
    message: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'Right!' if self.right else 'Not yet.'} {self.message}"

    def _repr_markdown_(self) -> str:
        return f"**{'Right!' if self.right else 'Not yet.'}** {self.message}"
