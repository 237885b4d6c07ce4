"""What every exercise must do with the answers in a test module's tables RIGHT and WRONG, and with garbage.

A module imports these tests; ``conftest.py`` gives them the rows of its tables. SECRETS are what no
hint of an exercise may tell: numbers and words.
"""

import re

import numpy as np
import torch

from companion.exercises import check

GARBAGE = [
    None, ..., "", "0.5", b"1", True, 1j, float("nan"), float("inf"), (float("nan"), 1), object(), int, [], {},
    ([], []), (1, 2, 3), ((1, 2), (3, 4)), ([[1, 2], [3]], [[1, 2], [3]]), (None, None), ("x", "y"), ("x", "y", "z"),
    [*"aaabbbccc"], np.array([]), np.array(["a"]), np.zeros((2, 3, 4)), torch.zeros(3, dtype=torch.complex64),
    np.full((200, 2), np.nan), (np.full(12, np.nan), np.full(12, 0.5)), (np.zeros(9), np.ones(8)),
    (np.zeros(9), np.zeros(9)), (np.zeros((200, 2)), np.ones((100, 2))), (np.zeros((200, 2)), np.zeros((200, 2))),
    (np.full((200, 2), np.inf), np.zeros((200, 2))),
    lambda: 1, lambda x: None, lambda x: "far", lambda x: x[:3], lambda x: float("nan"), lambda x: 1 / 0,
    lambda x, y: None, lambda x, y: "far", lambda x, y: x, lambda x, y: float("nan"), lambda x, y: 1 / 0,
]  # fmt: skip
"""No answer to any exercise: all are for the first exercise of each type of answer, the first one for the others.

A module's own GARBAGE has more by exercise.
"""


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
