"""What every exercise must do with the answers in a test module's tables RIGHT, WRONG and GARBAGE.

A module imports these tests; ``conftest.py`` gives them the rows of its tables.
"""

import pytest

from affscore.exercises import check


def pairs(table):
    """A parameter for each answer of each exercise."""
    return [
        pytest.param(number, answer, id=f"{number}-{k}") for number in table for k, answer in enumerate(table[number])
    ]


def test_a_right_answer_passes(right_row):
    number, answer = right_row
    verdict = check(number, answer)
    assert verdict, verdict
    assert verdict.message


def test_a_wrong_answer_fails_with_its_hint(wrong_row):
    number, (answer, hint) = wrong_row
    verdict = check(number, answer)
    assert not verdict
    assert hint in verdict.message


def test_garbage_gets_a_verdict(garbage_row):
    number, answer = garbage_row
    verdict = check(number, answer)
    assert not verdict
    assert len(verdict.message) > 20
