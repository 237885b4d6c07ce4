"""Which exercise is checked by which function.

To add an exercise
------------------
The exercises of notebook K live in ``affscore/exercises/notebook_K.py``. Write there a function that takes
the student's answer and returns a :class:`Verdict`, and give it the number of the exercise::

    from affscore.exercises.answers import as_number
    from affscore.exercises.registry import exercise
    from affscore.exercises.verdict import Verdict

    @exercise("4.1")
    def number_of_activations(answer: object) -> Verdict:
        count = as_number(answer)                # answers.py refuses what is no answer at all
        expected = len(signature(...).scores)    # computed by the library, now
        if count == expected:
            return Verdict(True, "Each of the ... is called once.")
        if count == expected - 1:
            return Verdict(False, "One is missing: is there an activation in the head, too?")
        return Verdict(False, "Count the calls, not the modules.")

There is nothing else to register: ``check("4.1", answer)`` imports ``notebook_4`` when it is first needed.

Four rules. The expected answer is computed by the library when it is checked, not written down. A message
never contains it. Typical mistakes are recognised, and the message says what to look at. And nothing that a
student hands in raises or needs memory without bound: an answer of the wrong type (or None) becomes a Verdict
by the helpers of ``answers.py``, any exception on the way by ``check``; a function that the student wrote is called
through ``answers.call``. ``tests/exercises/`` has a table of right and wrong answers: add rows.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, TypeAlias

import affscore.exercises
from affscore.errors import AffscoreError
from affscore.exercises.answers import NotAnAnswerError, raised
from affscore.exercises.verdict import Verdict

__all__ = ["check", "exercise", "known"]

Checker: TypeAlias = Callable[[Any], Verdict]

_CHECKERS: dict[str, Checker] = {}


def exercise(number: str) -> Callable[[Checker], Checker]:
    """Register the decorated function as the check of exercise ``number`` ("notebook.exercise")."""

    def register(checker: Checker) -> Checker:
        _CHECKERS[number] = checker
        return checker

    return register


def known() -> list[str]:
    """The numbers of all exercises that can be checked, in order.

    >>> known()[:3]
    ['1.1', '1.2', '1.3']
    """
    for module in pkgutil.iter_modules(affscore.exercises.__path__):
        if module.name.startswith("notebook_"):
            importlib.import_module(f"affscore.exercises.{module.name}")
    return sorted(_CHECKERS, key=lambda number: [int(part) for part in number.split(".")])


def check(number: str, answer: object) -> Verdict:
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
        return checker(answer)
    except NotAnAnswerError as reason:
        return Verdict(False, str(reason))
    except AffscoreError as reason:
        return Verdict(False, f"The library cannot work with this answer: {reason}.")
    except KeyboardInterrupt:
        raise
    except BaseException as reason:  # noqa: BLE001  # whatever an object does when it is looked at, sys.exit() too
        return Verdict(False, f"This answer cannot be checked: {raised(reason)}.")


def _find(number: str) -> Checker:
    """The checker of an exercise; imports the module of its notebook alone where that is enough."""
    number = str(number)
    notebook = number.partition(".")[0]
    if number not in _CHECKERS and notebook.isdecimal():
        names = {module.name for module in pkgutil.iter_modules(affscore.exercises.__path__)}
        if f"notebook_{notebook}" in names:
            importlib.import_module(f"affscore.exercises.notebook_{notebook}")
    if number not in _CHECKERS:
        raise AffscoreError(f"there is no exercise {number!r}; known are {', '.join(known())}")
    return _CHECKERS[number]
