"""What students hand in, brought to the type that an exercise expects, or refused in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affscore.errors import AffscoreError, first_line

MOST_SAMPLES = 2000
"""A cloud may have so many points: the optimal coupling needs the distances of all pairs."""

LARGEST = 1e100
"""Squares and products of larger numbers may be infinite, and those of numbers below its inverse zero."""


class NotAnAnswerError(AffscoreError):
    """What was handed in is not an answer to this exercise at all; the message says what is expected."""


def present(answer: Any, what: str) -> Any:
    """The answer, whatever it is, if there is one.

    >>> present(..., "a network")
    Traceback (most recent call last):
    companion.answers.NotAnAnswerError: There is no answer yet: expected a network.
    """
    if answer is None or answer is Ellipsis:
        raise NotAnAnswerError(f"There is no answer yet: expected {what}.")
    return answer


def as_number(answer: object) -> float:
    """A finite number: an int, a float, a score, or an array or tensor of one element.

    >>> as_number(np.array([0.5]))
    0.5
    >>> as_number("0.5")
    Traceback (most recent call last):
    companion.answers.NotAnAnswerError: Expected a number, got str.
    """
    present(answer, "a number")
    try:
        value = answer.item() if hasattr(answer, "item") else answer
        none = answer is np.ma.masked or isinstance(value, bool | str | bytes)
        number = None if none else float(value)  # type: ignore[arg-type]
    except OverflowError as reason:
        raise NotAnAnswerError("Expected a number of ordinary size, got one of hundreds of digits.") from reason
    except Exception as reason:  # whatever an object raises when it is looked at
        raise NotAnAnswerError(f"Expected a single number, got {_describe(answer)}.") from reason
    if number is None:
        raise NotAnAnswerError(f"Expected a number, got {type(answer).__name__}.")
    if not math.isfinite(number):
        raise NotAnAnswerError("Expected a finite number, got NaN or infinity: something was divided by zero?")
    _ordinary(abs(number), "a number")
    return number


def as_numbers(answer: object, what: str) -> tuple[float, ...]:
    """A pair of finite numbers.

    >>> as_numbers([1, 2], "a pair (low, high)")
    (1.0, 2.0)
    """
    return tuple(map(as_number, as_tuple(answer, what)))


def as_array(answer: object, what: str = "an array", ndim: int | None = None) -> NDArray[np.float64]:
    """A finite array of numbers, with ``ndim`` dimensions where that is given.

    >>> as_array([[1, 2], [3, 4]], ndim=2).shape
    (2, 2)
    >>> as_array([1.0, float("nan")])
    Traceback (most recent call last):
    companion.answers.NotAnAnswerError: Expected an array of finite numbers,
    got 1 NaN or infinite of 2.
    """
    present(answer, what)
    try:
        array = _numbers_in(answer)
    except Exception as reason:  # whatever an object raises when it is looked at
        raise NotAnAnswerError(f"Expected {what} of numbers, got {_describe(answer)}.") from reason
    if ndim is not None and array.ndim != ndim:
        raise NotAnAnswerError(f"Expected {what} with {ndim} dimensions, got the shape {array.shape}.")
    if bad := int((~np.isfinite(array)).sum()):
        raise NotAnAnswerError(f"Expected {what} of finite numbers, got {bad} NaN or infinite of {array.size}.")
    _ordinary(np.abs(array).max(initial=0.0), what)
    return array


def as_arrays(answer: object, what: str, *names: str) -> tuple[NDArray[np.float64], ...]:
    """Arrays of one dimension and of the same length, one for each name.

    >>> as_arrays(([1, 2], [3]), "a pair (x, y)", "x", "y")
    Traceback (most recent call last):
    companion.answers.NotAnAnswerError: Expected arrays of the same length, got 2 and 1.
    """
    parts = zip(names, as_tuple(answer, what, len(names)), strict=True)
    arrays = [as_array(part, f"{name}, an array,", ndim=1) for name, part in parts]
    *lengths, last = [str(len(array)) for array in arrays]
    if {*lengths} != {last}:
        raise NotAnAnswerError(f"Expected arrays of the same length, got {', '.join(lengths)} and {last}.")
    return tuple(arrays)


def as_clouds(answer: object) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A pair of arrays of the same shape (n, d), with at most 2000 points.

    >>> x, y = as_clouds(([[0], [1]], [[2], [3]]))
    >>> y.tolist()
    [[2.0], [3.0]]
    """
    first, second = as_tuple(answer, "a pair (x, y) of arrays of shape (n, d)")
    x, y = as_array(first, "x, an array (n, d),", ndim=2), as_array(second, "y, an array (n, d),", ndim=2)
    if x.shape != y.shape:
        raise NotAnAnswerError(f"Expected x and y of the same shape (n, d), got {x.shape} and {y.shape}.")
    if len(x) > MOST_SAMPLES:
        raise NotAnAnswerError(f"Expected at most {MOST_SAMPLES} points, got {len(x)}: the score compares all pairs.")
    return x, y


def as_tuple(answer: Any, what: str = "a pair (x, y)", size: int = 2) -> tuple[Any, ...]:
    """A tuple, list or array of ``size`` things.

    >>> as_tuple([1, 2])
    (1, 2)
    """
    present(answer, what)
    holds_things = isinstance(answer, tuple | list) or (isinstance(answer, np.ndarray) and answer.ndim)
    if not holds_things or len(answer) != size:
        raise NotAnAnswerError(f"Expected {what}, got {_describe(answer)}.")
    return tuple(answer[k] for k in range(size))


def as_function(answer: object, what: str = "a function") -> Callable[..., Any]:
    """Something that can be called; hand in the function, not what it returns.

    >>> as_function(3.0, "a function w2(x, y)")
    Traceback (most recent call last):
    companion.answers.NotAnAnswerError: Expected a function w2(x, y) itself,
    not what it returns: got float.
    """
    present(answer, what)
    if not callable(answer):
        raise NotAnAnswerError(f"Expected {what} itself, not what it returns: got {_describe(answer)}.")
    return answer


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a student's function with copies of the arrays; what it raises becomes a message.

    >>> call(lambda x: x.flat[10], np.zeros(3))
    Traceback (most recent call last):
    companion.answers.NotAnAnswerError: Your function raised IndexError:
    index 10 is out of bounds for ...size 3
    """
    copies = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    try:
        return function(*copies)
    except (Exception, SystemExit) as reason:  # whatever a student's function raises is theirs to see
        raise NotAnAnswerError(f"Your function raised {raised(reason)}") from reason


def numbers_of(function: Callable[..., Any], cases: Sequence[tuple[Any, ...]]) -> list[float]:
    """What a student's function returns for each case, a number each.

    >>> numbers_of(lambda x, y: None, [(1, 2)])
    Traceback (most recent call last):
    companion.answers.NotAnAnswerError: Your function returns nothing: does it end with return ...?
    """
    found = []
    for case in cases:
        value = call(function, *case)
        if value is None:
            raise NotAnAnswerError("Your function returns nothing: does it end with return ...?")
        try:
            found.append(as_number(value))
        except NotAnAnswerError as reason:
            raise NotAnAnswerError(f"About what your function returns: {reason}") from reason
    return found


def close(given: Any, value: Any, tolerance: float = 1e-6) -> bool:
    """Whether a number or an array has the shape of another, and no entry is further away than the tolerance.

    >>> close([1, 2], [1, 2.1], 0.2), close([1, 2], 1, 2)
    (True, False)
    """
    return np.shape(given) == np.shape(value) and np.allclose(given, value, rtol=0, atol=tolerance)


def matching(
    given: Any, table: Iterable[tuple[Any, Any]], tolerance: float = 1e-6, cases: Sequence[tuple[Any, ...]] = ()
) -> Iterator[tuple[bool, Any]]:
    """Which rows of a table apply to this answer: whether, and what each says.

    Args:
        given: The answer; that of a function is the list of what it returns for the cases.
        table: A row for the right answer and for each typical mistake, with what there is to say of it. Instead of an
            answer, a function of a case, or whether the row applies.
        tolerance: By how much it may differ.
        cases: The arguments on which functions are compared.

    >>> list(matching(2.0, [(1, "That is the radius."), (2, "That is the diameter."), (True, "Measure it.")]))
    [(False, 'That is the radius.'), (True, 'That is the diameter.'), (True, 'Measure it.')]
    >>> list(matching([1, 2], [(abs, "That is the size.")], cases=[(-1,), (2,)]))
    [(True, 'That is the size.')]
    """
    for answer, hint in table:
        if callable(answer):
            answer = [answer(*case) for case in cases]
        yield bool(answer) if isinstance(answer, bool | np.bool_) else close(given, answer, tolerance), hint


def raised(error: BaseException) -> str:
    """An exception in one line.

    >>> raised(ValueError("no score"))
    'ValueError: no score'
    """
    kind, line = type(error).__name__, first_line(error)
    return kind if line == kind else f"{kind}: {line[:500]}"


def _ordinary(size: float, what: str) -> None:
    if size and not 1 / LARGEST <= size <= LARGEST:
        raise NotAnAnswerError(f"Expected {what} of ordinary size, got {size:.0e}.")


def _numbers_in(answer: Any) -> NDArray[np.float64]:
    """The numbers of an array, a tensor or lists; a masked entry is none, and anything else is a TypeError."""
    if not isinstance(answer, list | tuple | range) and not hasattr(answer, "__array__"):  # NumPy would read to its end
        raise TypeError(type(answer))
    array = np.ma.asarray(answer.detach().cpu() if callable(getattr(answer, "detach", None)) else answer)
    if np.ma.is_masked(array) or array.dtype.kind not in "iuf":
        raise TypeError(array.dtype)
    return np.asarray(array, dtype=np.float64)


def _describe(answer: object) -> str:
    shape = getattr(answer, "shape", None)
    if shape is not None:
        return f"{type(answer).__name__} of shape {tuple(shape)}"
    if isinstance(answer, tuple | list):
        return f"{type(answer).__name__} of length {len(answer)}"
    return type(answer).__name__
