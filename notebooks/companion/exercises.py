"""Which exercise is checked by which function, and what a student sees.

To add an exercise
------------------
The exercises of chapter 4 live in its room, ``notebooks/companion/chapter_04.py``. Write there a generator that takes
the student's answer and yields pairs of a condition and what to say where it holds, and give it the number of the
exercise. The first that holds is the verdict: *Not yet* with a hint, or *Right!* where it is ``right("...")``::

    from companion.answers import as_number, matching
    from companion.exercises import Hints, exercise, right

    @exercise("4.1", as_number)  # which refuses what is no answer at all
    def number_of_activations(count: float) -> Hints:
        yield count < 1, "A network without an activation is affine."
        expected = len(signature(...).scores)  # computed by the library, now
        answers = (
            (expected, right("Each of the ... is called once.")),
            (expected - 1, "One is missing: is there an activation in the head, too?"),
        )
        yield from matching(count, answers)
        yield True, "Count the calls, not the modules."

There is nothing else to register: ``check("4.1", answer)`` imports the room when it is first needed.

Four rules. The expected answer is computed by the library when it is checked, not written down. A message
never contains it. Typical mistakes are recognised, and the message says what to look at. And nothing that a
student hands in raises: an answer of the wrong type (or None) becomes feedback by the helpers of ``answers.py``,
any exception on the way by ``check``; a function that the student wrote is called through ``answers.call``.
``tests/companion/exercises/`` has a table of right and wrong answers: add rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from affscore.errors import AffscoreError
from companion.answers import NotAnAnswerError, raised
from companion.chapters import of_chapters


@dataclass(frozen=True, repr=False)
class Feedback:
    """Whether an answer is right, with a sentence for the student. ``bool(verdict)`` is True when it is.

    Attributes:
        right: Whether the answer is right.
        message: One or two sentences: what makes it right, or what to look at. Never the answer.

    >>> Feedback(False, "The distance of a cloud to itself must be zero.")
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


Hints: TypeAlias = Iterator[tuple[Any, str | Feedback]]
"""Conditions, each with a hint or ``right(...)``; the student sees that of the first condition which holds."""

_CHECKERS: dict[str, Callable[[Any], Hints]] = {}


def right(message: str) -> Feedback:
    """The verdict on a right answer."""
    return Feedback(True, message)


def exercise(number: str, expected: Callable[..., Any], *more: Any) -> Callable[[Callable[..., Hints]], None]:
    """Register the decorated function as the check of exercise ``number`` ("notebook.exercise").

    Args:
        number: The number of the exercise.
        expected: What brings an answer to the type that the check takes, or refuses it: a function of ``answers.py``.
        more: Further arguments of that function. If it returns a tuple, its parts are the arguments of the check.
    """

    def register(checker: Callable[..., Hints]) -> None:
        def check_any(answer: object) -> Hints:
            found = expected(answer, *more)
            return checker(*found) if isinstance(found, tuple) else checker(found)

        check_any.__module__ = checker.__module__
        if (known := _CHECKERS.get(number, check_any)).__module__ != checker.__module__:  # a copied room
            raise ValueError(f"exercise {number} of {checker.__module__} is one of {known.__module__} already")
        _CHECKERS[number] = check_any

    return register


def known() -> list[str]:
    """The numbers of all exercises that can be checked, in order.

    >>> known()[:3]
    ['1.1', '1.2', '2.1']
    """
    _load()
    return sorted(_CHECKERS, key=lambda number: [int(part) for part in number.split(".")])


def check(number: str, answer: object) -> Feedback:
    """Check an answer to an exercise of the book.

    Args:
        number: The number of the exercise, "1.2" for the second one of notebook 1.
        answer: What the exercise asks for: a number, an array, a pair of arrays, a function, ...

    Returns:
        The verdict: true when the answer is right; as the last line of a cell it shows what to look at.

    Raises:
        AffscoreError: There is no exercise of that number. (No answer raises, whatever it is; only an
            interruption from the keyboard ends a check.)

    >>> check("1.2", None)
    Not yet. There is no answer yet: expected a number.
    """
    checker = _find(number)
    try:
        first = next(said for holds, said in checker(answer) if holds)
        return first if isinstance(first, Feedback) else Feedback(False, first)
    except NotAnAnswerError as reason:
        return Feedback(False, str(reason))
    except AffscoreError as reason:
        return Feedback(False, f"The library cannot work with this answer: {reason}.")
    except KeyboardInterrupt:
        raise
    except BaseException as reason:  # noqa: BLE001  # whatever an object does when it is looked at, sys.exit() too
        return Feedback(False, f"This answer cannot be checked: {raised(reason)}.")


def _find(number: str) -> Callable[[Any], Hints]:
    """The checker of an exercise; imports the room of its chapter alone where that is enough."""
    number = str(number)
    if number not in _CHECKERS:
        _load(number.partition(".")[0].zfill(2))
    if number not in _CHECKERS:
        raise AffscoreError(f"there is no exercise {number!r}; known are {', '.join(known())}")
    return _CHECKERS[number]


def _load(chapter: str = "") -> None:
    """Import the checks of the chapters, which registers them."""
    for _ in of_chapters("checks", chapter):
        pass
