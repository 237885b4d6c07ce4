"""The registry finds exercises, says which there are, and never lets a wrong answer raise."""

import pytest

from affscore import AffscoreError
from affscore.exercises import Verdict, check, registry


@pytest.mark.parametrize("number", ["1.9", "99.1", "", "one", "1", "1.1.1", None, 1.25])
def test_an_unknown_number_names_the_known_ones(number):
    with pytest.raises(AffscoreError, match=r"no exercise .*; known are 1\.1, 1\.2, 1\.3"):
        check(number, 1)


def test_a_number_may_be_a_number():
    assert check(1.1, None).message == check("1.1", None).message


def test_known_is_in_order():
    numbers = registry.known()
    assert numbers == sorted(numbers, key=lambda number: tuple(map(int, number.split("."))))


def test_an_error_of_the_library_becomes_a_verdict(monkeypatch):
    def checker(answer):
        raise AffscoreError("x must be finite")

    monkeypatch.setitem(registry._CHECKERS, "1.1", checker)
    verdict = check("1.1", 0)
    assert not verdict
    assert "x must be finite" in verdict.message


@pytest.mark.parametrize("right", [True, False])
def test_what_a_student_sees(right):
    verdict = Verdict(right, "Look at the units.")
    assert bool(verdict) is right
    assert "Look at the units." in repr(verdict)
    assert verdict._repr_markdown_().startswith("**Right!**" if right else "**Not yet.**")
