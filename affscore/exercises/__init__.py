"""Checks for the exercises of the book: say whether an answer is right, and help where it is not."""

from affscore.exercises.registry import Verdict, check, known

__all__ = ["Verdict", "check", "known"]
