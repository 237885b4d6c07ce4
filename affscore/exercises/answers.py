"""What students hand in, brought to the type that an exercise expects, or refused in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affscore.errors import AffscoreError

__all__ = ["NotAnAnswerError", "as_array", "as_function", "as_number", "as_pair", "call"]


class NotAnAnswerError(AffscoreError):
    """What was handed in is not an answer to this exercise at all; the message says what is expected."""


def as_number(answer: object) -> float:
    """A finite number: an int, a float, a score, or an array or tensor of one element.

    >>> as_number(np.array([0.5]))
    0.5
    >>> as_number("0.5")
    Traceback (most recent call last):
    affscore.exercises.answers.NotAnAnswerError: Expected a number, got str.
    """
    _not_none(answer, "a number")
    if isinstance(answer, bool | np.bool_ | str | bytes) or getattr(answer, "size", 1) == 0:
        raise NotAnAnswerError(f"Expected a number, got {type(answer).__name__}.")
    try:
        item = getattr(answer, "item", None)
        number = float(item() if callable(item) else answer)  # type: ignore[arg-type]
    except (TypeError, ValueError, RuntimeError) as reason:
        raise NotAnAnswerError(f"Expected a single number, got {_describe(answer)}.") from reason
    if not math.isfinite(number):
        raise NotAnAnswerError("Expected a finite number, got NaN or infinity: something was divided by zero?")
    return number


def as_array(answer: object, what: str = "an array", ndim: int | None = None) -> NDArray[np.float64]:
    """A finite array of numbers, with ``ndim`` dimensions where that is given.

    >>> as_array([[1, 2], [3, 4]], ndim=2).shape
    (2, 2)
    >>> as_array([1.0, float("nan")])
    Traceback (most recent call last):
    affscore.exercises.answers.NotAnAnswerError: Expected an array of finite numbers,
    got 1 NaN or infinite of 2.
    """
    _not_none(answer, what)
    detach = getattr(answer, "detach", None)
    try:
        array = np.asarray(detach().cpu() if callable(detach) else answer)
        if array.dtype.kind not in "iuf":
            raise TypeError(array.dtype)
        array = array.astype(np.float64)
    except (TypeError, ValueError, RuntimeError) as reason:
        raise NotAnAnswerError(f"Expected {what} of numbers, got {_describe(answer)}.") from reason
    if ndim is not None and array.ndim != ndim:
        raise NotAnAnswerError(f"Expected {what} with {ndim} dimensions, got the shape {array.shape}.")
    if bad := int((~np.isfinite(array)).sum()):
        raise NotAnAnswerError(f"Expected {what} of finite numbers, got {bad} NaN or infinite of {array.size}.")
    return array


def as_pair(answer: object, what: str = "a pair (x, y)") -> tuple[Any, Any]:
    """A tuple, list or array of two things.

    >>> as_pair([1, 2])
    (1, 2)
    """
    _not_none(answer, what)
    if not (isinstance(answer, tuple | list) or (isinstance(answer, np.ndarray) and answer.ndim)) or len(answer) != 2:
        raise NotAnAnswerError(f"Expected {what}, got {_describe(answer)}.")
    return answer[0], answer[1]


def as_function(answer: object, what: str = "a function") -> Callable[..., Any]:
    """Something that can be called; hand in the function, not what it returns.

    >>> as_function(3.0, "a function w2(x, y)")
    Traceback (most recent call last):
    affscore.exercises.answers.NotAnAnswerError: Expected a function w2(x, y) itself,
    not what it returns: got float.
    """
    _not_none(answer, what)
    if not callable(answer):
        raise NotAnAnswerError(f"Expected {what} itself, not what it returns: got {_describe(answer)}.")
    return answer


def call(function: Callable[..., Any], *arguments: NDArray[np.float64]) -> Any:
    """Call a student's function with copies of the arguments; what it raises becomes a message.

    >>> call(lambda x: x.flat[10], np.zeros(3))
    Traceback (most recent call last):
    affscore.exercises.answers.NotAnAnswerError: Your function raised IndexError:
    index 10 is out of bounds for size 3
    """
    try:
        return function(*(argument.copy() for argument in arguments))
    except Exception as reason:  # whatever a student's function raises is theirs to see
        raise NotAnAnswerError(f"Your function raised {type(reason).__name__}: {reason}") from reason


def _not_none(answer: object, what: str) -> None:
    if answer is None or answer is Ellipsis:
        raise NotAnAnswerError(f"There is no answer yet: expected {what}.")


def _describe(answer: object) -> str:
    shape = getattr(answer, "shape", None)
    if shape is not None:
        return f"{type(answer).__name__} of shape {tuple(shape)}"
    if isinstance(answer, tuple | list):
        return f"{type(answer).__name__} of length {len(answer)}"
    return type(answer).__name__
