"""The registry finds exercises, says which there are, and never lets a wrong answer raise."""

import sys

import numpy as np
import pytest

from affscore import AffscoreError
from companion import exercises
from companion.exercises import Feedback, check
from tests.companion.exercises.hostile_answers import ANSWERS


@pytest.mark.parametrize("number", ["1.9", "99.1", "", "one", "1", "1.1.1", None, 1.25])
def test_an_unknown_number_names_the_known_ones(number):
    with pytest.raises(AffscoreError, match=r"no exercise .*; known are 1\.1, 1\.2, 1\.3"):
        check(number, 1)


def test_a_number_may_be_a_number():
    assert check(1.1, None).message == check("1.1", None).message


def test_known_is_in_order():
    numbers = exercises.known()
    assert numbers == sorted(numbers, key=lambda number: tuple(map(int, number.split("."))))


def test_an_error_of_the_library_becomes_a_verdict(monkeypatch):
    def checker(answer):
        raise AffscoreError("x must be finite")

    monkeypatch.setitem(exercises._CHECKERS, "1.1", checker)
    verdict = check("1.1", 0)
    assert not verdict
    assert "x must be finite" in verdict.message


@pytest.mark.parametrize("right", [True, False])
def test_what_a_student_sees(right):
    verdict = Feedback(right, "Look at the units.")
    assert bool(verdict) is right
    assert "Look at the units." in repr(verdict)
    assert verdict._repr_markdown_().startswith("**Right!**" if right else "**Not yet.**")


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWERS)
def test_hostile_answers_get_a_verdict(name):
    assert [number for number in exercises.known() if check(number, ANSWERS[name])] == []


def test_an_interruption_ends_a_check():
    def interrupted(*arguments):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("1.1", interrupted)


def test_what_is_too_large_is_said():
    assert "of ordinary size, got 1e+200" in check("1.2", 1e200).message
    points = [[float(k), float(-k)] for k in range(2001)]
    assert "at most 2000 points, got 2001" in check("1.3", (points, points)).message
    assert "Your function raised SystemExit: 3" in check("1.1", lambda *arguments: sys.exit(3)).message
    assert "of ordinary size, got one of hundreds of digits" in check("1.2", 10**400).message


def test_what_is_masked_is_no_number():
    clusters = np.ma.masked_array(np.arange(12), np.arange(12) > 8)
    for answer in (clusters, [*clusters], np.ma.masked):
        assert check("8.2", answer).message.startswith("Expected a list of clusters, of numbers, got ")
    assert "Expected a number, got MaskedConstant" in check("1.2", np.ma.masked).message
    assert check("8.2", np.ma.masked_array(np.arange(12)))
