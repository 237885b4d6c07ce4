"""What every exercise must do with the answers in a test module's tables RIGHT, WRONG and GARBAGE.

A module imports these tests; ``conftest.py`` gives them the rows of its tables. SECRETS are what no
hint of an exercise may tell: numbers and words.
"""

import re

from affscore.exercises import check


def test_a_right_answer_passes(right_row):
    number, answer = right_row
    verdict = check(number, answer)
    assert verdict, verdict
    assert verdict.message


def test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer(wrong_row, secrets):
    number, (answer, hint) = wrong_row
    verdict = check(number, answer)
    assert not verdict
    assert hint in verdict.message
    numbers = [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", verdict.message)]
    for secret in secrets.get(number, ()):
        if isinstance(secret, str):
            assert secret not in verdict.message
        else:
            assert all(abs(value - secret) > 0.01 for value in numbers)


def test_garbage_gets_a_verdict(garbage_row):
    number, answer = garbage_row
    verdict = check(number, answer)
    assert not verdict
    assert len(verdict.message) > 20
