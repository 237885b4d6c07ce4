"""The registry of exercises: right answers pass, wrong ones fail with a hint that does not tell, and nothing raises."""

import re
import sys
from inspect import getclosurevars

import answers_to_chapters_1_to_5 as first
import answers_to_chapters_6_to_11 as second
import answers_to_chapters_12_to_17 as third
import numpy as np
import pytest
import torch

from affscore import AffscoreError
from companion import exercises
from companion.exercises import Feedback, check, known
from tests.companion.exercises.hostile_answers import ANSWERS

RIGHT, WRONG = first.RIGHT | second.RIGHT | third.RIGHT, first.WRONG | second.WRONG | third.WRONG
SECRETS = first.SECRETS | second.SECRETS | third.SECRETS

GARBAGE = [
    None, ..., "", "0.5", b"1", True, 1j, float("nan"), float("inf"), (float("nan"), 1), object(), int, [], {},
    ([], []), (1, 2, 3), ((1, 2), (3, 4)), ([[1, 2], [3]], [[1, 2], [3]]), (None, None), ("x", "y"), ("x", "y", "z"),
    [*"aaabbbccc"], np.array([]), np.array(["a"]), np.zeros((2, 3, 4)), torch.zeros(3, dtype=torch.complex64),
    (np.full(12, np.nan), np.full(12, 0.5)), (np.zeros(9), np.zeros(9)), (np.zeros((200, 2)), np.ones((100, 2))),
    (np.full((200, 2), np.inf), np.zeros((200, 2))),
    lambda: 1, lambda x: None, lambda x: "far", lambda x: x[:3], lambda x: float("nan"), lambda x: 1 / 0,
    lambda x, y: None, lambda x, y: "far", lambda x, y: x, lambda x, y: float("nan"), lambda x, y: 1 / 0,
]  # fmt: skip
"""No answer to any exercise: all are for the first exercise of each type of answer, the first one for the others."""


def rows_of(table):
    """A parameter for each answer of each exercise."""
    return [
        pytest.param(number, answer, id=f"{number}-{k}") for number in table for k, answer in enumerate(table[number])
    ]


def garbage():
    seen = set()
    for number in known():
        reader = getclosurevars(exercises._CHECKERS[number]).nonlocals["expected"]
        kind = (reader.__name__, *reader.__code__.co_names)  # the same function reads the answers of the others
        yield number, GARBAGE[:1] if kind in seen else GARBAGE
        seen.add(kind)


@pytest.mark.parametrize(("number", "answer"), rows_of(RIGHT))
def test_a_right_answer_passes(number, answer):
    verdict = check(number, answer)
    assert verdict, verdict
    assert verdict.message


@pytest.mark.parametrize(("number", "row"), rows_of(WRONG))
def test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer(number, row):
    answer, hint = row
    verdict = check(number, answer)
    assert not verdict
    assert hint in verdict.message
    numbers = [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", verdict.message)]
    for secret in SECRETS.get(number, ()):
        if isinstance(secret, str):
            assert secret not in verdict.message
        else:
            assert all(abs(value - secret) > 0.01 for value in numbers)


@pytest.mark.parametrize(("number", "answer"), rows_of(dict(garbage())))
def test_garbage_gets_a_verdict(number, answer):
    verdict = check(number, answer)
    assert not verdict
    assert len(verdict.message) > 20


def test_every_exercise_with_a_check_has_answers_here():
    assert set(RIGHT) == set(WRONG) == set(known())
    assert known() == sorted(known(), key=lambda number: tuple(map(int, number.split("."))))


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWERS)
def test_hostile_answers_get_a_verdict(name):
    assert [number for number in known() if check(number, ANSWERS[name])] == []


@pytest.mark.parametrize("number", ["1.9", None])
def test_an_unknown_number_names_the_known_ones(number):
    with pytest.raises(AffscoreError, match=r"no exercise .*; known are 1\.1, 1\.2, 2\.1"):
        check(number, 1)
    assert check(1.1, None).message == check("1.1", None).message  # a number may be a number


def test_an_error_of_the_library_becomes_a_verdict_and_an_interruption_ends_a_check(monkeypatch):
    def raising(error):
        def checker(answer):
            raise error

        monkeypatch.setitem(exercises._CHECKERS, "1.1", checker)
        return check("1.1", 0)

    for error in (AffscoreError("x must be finite"), LookupError("x must be finite")):
        verdict = raising(error)
        assert not verdict
        assert "x must be finite" in verdict.message
    with pytest.raises(KeyboardInterrupt):
        raising(KeyboardInterrupt())


def test_what_a_student_sees():
    verdict = Feedback(False, "Look at the units.")
    assert repr(verdict) == "Not yet. Look at the units."
    assert verdict._repr_markdown_().startswith("**Not yet.**")


def test_what_is_too_large_or_masked_is_said():
    assert "of ordinary size, got 1e+200" in check("1.2", 1e200).message
    assert "Your function raised SystemExit: 3" in check("1.1", lambda *arguments: sys.exit(3)).message
    assert "of ordinary size, got one of hundreds of digits" in check("1.2", 10**400).message
    assert "Expected a number, got MaskedConstant" in check("1.2", np.ma.masked).message


@pytest.mark.parametrize(("number", "answer"), [("1.1", first.by_sorting), ("7.1", second.by_counting)])
def test_a_function_that_writes_into_its_arguments_is_harmless(number, answer):
    def in_place(x, y):
        found = answer(x, y)
        x[:] = 0
        y.sort()
        return found

    assert check(number, in_place)


def test_what_is_right_depends_on_how():
    """A saw has little area since it stays near its chord; bends that hardly bend have little area, too."""
    assert "differ as much as they can" in check("15.2", RIGHT["15.2"][0]).message
    assert "hardly change the slope" in check("15.2", RIGHT["15.2"][2]).message
