"""Exercises of notebooks 6 and 8: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

from affscore.comparison import signature_distance
from companion.chapter_08 import FAMILIES

MORE_SPREAD = 0.5 * (150 / 152 - 6 / 8)


def warped(a, b, cost=np.square, end=np.sqrt, diagonal=True):
    total = np.full((len(a) + 1, len(b) + 1), np.inf)
    total[0, 0] = 0
    for i in range(len(a)):
        for j in range(len(b)):
            ways = [total[i, j + 1], total[i + 1, j]]
            if diagonal or i == j == 0:
                ways.append(total[i, j])
            total[i + 1, j + 1] = cost(a[i] - b[j]) + min(ways)
    return end(total[-1, -1])


RIGHT = {
    "6.1": [MORE_SPREAD, round(MORE_SPREAD, 3), 0.12, torch.tensor(MORE_SPREAD)],
    "8.1": [warped, signature_distance, lambda a, b: warped(b, a)],
    "8.2": [list(range(12)), range(12), np.arange(12) * 3e90, torch.arange(12)],
}

# the answer, and a word that its hint must have
WRONG = {
    "6.1": [
        (2 * MORE_SPREAD, "between 0 and 1"),
        (0.5 * 150 / 152, "one of the two"),
        (0.5 * 6 / 8, "one of the two"),
        (-MORE_SPREAD, "sign"),
        (0, "extremes"),
        (0.5 * (149 / 151 - 5 / 7), "k + 1"),
        (0.3, "Where do"),
    ],
    "8.1": [
        (lambda a, b: warped(a, b, end=float), "total price"),
        (lambda a, b: warped(a, b, cost=abs, end=float), "squared difference"),
        (lambda a, b: warped(a, b, cost=abs), "squared difference"),
        (lambda a, b: warped(a, b, diagonal=False), "same step"),
        (lambda a, b: warped(a, b) / max(len(a), len(b)) ** 0.5, "per step"),
        (lambda a, b: abs(a.mean() - b.mean()) / 10, "Too small"),
        (lambda a, b: warped(a, b) + 1, "itself"),
        (lambda a, b: 3 * warped(a, b), "by hand"),
    ],
    "8.2": [
        ([0] * 12, "more than one family"),
        (np.repeat(np.arange(4), 3), "Tear them apart"),
        ([0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7], "still together"),
        ([0, 0, *range(1, 11)], "still together"),
        (range(11), "each of 12"),
    ],
}

SECRETS = {"6.1": [MORE_SPREAD]}


def test_the_networks_of_exercise_7_3_are_those_of_its_text():
    assert list(FAMILIES) == ["VGG"] * 3 + ["ResNet"] * 3 + ["ViT"] * 3 + ["Swin"] * 3
