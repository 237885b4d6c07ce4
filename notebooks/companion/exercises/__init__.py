"""Checks for the exercises of the book: say whether an answer is right, and help where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from companion.exercises.registry import Verdict as Verdict
    from companion.exercises.registry import check as check
    from companion.exercises.registry import known as known

__getattr__, __dir__, __all__ = lazy_names(__name__)
