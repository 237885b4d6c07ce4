"""The one error that the library raises for its users, and the one warning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")


class AffscoreError(ValueError):
    """What was asked for cannot be done, and the message says why in one sentence.

    Everything that a caller can cause and repair (a shape that does not match, a value that is not finite,
    the name of a model that does not exist) is raised as this class, so that one ``except`` is enough and
    commands can print the sentence without a traceback. It is a ``ValueError``, for callers who do not want
    to know about this package.
    """


class AffscoreWarning(UserWarning):
    """A number of the result is likely wrong, and the message says which choice would mend it.

    Each kind of warning is given once a call, and stands among the notes of the result, too. What a reader should
    know, but makes no number wrong, is a note only.
    """


def first_line(error: BaseException) -> str:
    r"""What an error says, in one line.

    >>> first_line(ValueError("no such weight\nsee above")), first_line(KeyError())
    ('no such weight', 'KeyError')
    """
    try:
        lines = str(error).splitlines()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # an error of others may fail to say what it is
        lines = []
    return next(filter(None, map(str.strip, lines)), type(error).__name__)


def form_of(value: Any) -> str:
    """What a message says of a tensor or an array, or of something else that a user gave.

    >>> import numpy as np
    >>> form_of(np.zeros((2, 3))), form_of(None)
    ('float64 of shape (2, 3)', 'NoneType')
    """
    return f"{value.dtype} of shape {tuple(value.shape)}" if hasattr(value, "dtype") else type(value).__name__


def guarded(call: Callable[[], Result], what: str, advice: str = "") -> Result:
    """The value of a function of others; whatever it raises becomes one sentence.

    That includes what is no ``Exception``: ``sys.exit`` in a network would end a survey without a word, and so
    would the panics of packages that are written in Rust. An interrupt by the user goes through.

    Args:
        call: The function.
        what: What fails, as the sentence begins.
        advice: What to do about it, as the sentence ends.

    Raises:
        AffscoreError: It fails.

    >>> import sys
    >>> guarded(lambda: sys.exit(0), "the network fails")
    Traceback (most recent call last):
    affscore.errors.AffscoreError: the network fails: SystemExit: 0
    """
    with guarding(what, advice):
        return call()


@contextmanager
def guarding(what: str, advice: str = "", only: type[BaseException] = BaseException) -> Iterator[None]:
    """Within this whatever is raised, or only errors of one kind, becomes one sentence, as by :func:`guarded`.

    >>> with guarding("the list cannot be read", "sort it first"):
    ...     [].index(1)
    Traceback (most recent call last):
    affscore.errors.AffscoreError: the list cannot be read (ValueError: 1 is not in list); sort it first
    """
    try:
        yield
    except (AffscoreError, KeyboardInterrupt):
        raise
    except only as error:
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise AffscoreError(f"{what} ({reason}); {advice}" if advice else f"{what}: {reason}") from error
