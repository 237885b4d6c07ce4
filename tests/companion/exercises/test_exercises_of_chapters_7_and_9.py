"""Exercises of notebooks 7 and 9: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import itertools

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)
from scipy.stats import pearsonr, permutation_test

from companion.exercises import check

RNG = np.random.default_rng(8)
COURSE = np.linspace(0.2, 0.4, 10)
LARGE = np.tile([3.0, -3.0], 10)
SMALL = np.linspace(-0.5, 0.5, 20)
DIFFERENCE = 0.5 + 0.3 * SMALL


def r2(x, y):
    return np.corrcoef(x, y)[0, 1] ** 2


def by_counting(x, accuracy):
    observed = r2(x, accuracy)
    return np.mean([r2(x, order) >= observed - 1e-9 for order in map(list, itertools.permutations(accuracy))])


def by_scipy(x, accuracy):
    found = permutation_test(
        (accuracy,), lambda y: r2(x, y), permutation_type="pairings", n_resamples=np.inf, alternative="greater"
    )
    return found.pvalue


def by_random_orders(x, accuracy):
    rng = np.random.default_rng(3)
    return np.mean([r2(x, rng.permutation(accuracy)) >= r2(x, accuracy) - 1e-9 for _ in range(2000)])


def one_sided(x, accuracy):
    orders = map(list, itertools.permutations(accuracy))
    return np.mean([np.corrcoef(x, y)[0, 1] >= np.corrcoef(x, accuracy)[0, 1] - 1e-9 for y in orders])


def strictly(x, accuracy):
    return np.mean([r2(x, list(y)) > r2(x, accuracy) + 1e-9 for y in itertools.permutations(accuracy)])


RIGHT = {
    "7.1": [by_counting, by_scipy, by_random_orders],
    "9.1": [
        ((COURSE, COURSE), (COURSE + 0.5, COURSE - 3)),
        [(torch.tensor(COURSE), torch.tensor(COURSE)), (COURSE + 0.5, 2 * COURSE - 9)],
    ],
    "9.2": [(DIFFERENCE, LARGE + SMALL, LARGE), np.array([DIFFERENCE, LARGE, LARGE - SMALL])],
}

# the answer, and a word that its hint must have
WRONG = {
    "7.1": [
        (lambda x, y: 1 - by_counting(x, y), "how often chance explains less"),
        (strictly, "as much, or more"),
        (one_sided, "falling line"),
        (lambda x, y: by_counting(x, y) * 120, "share"),
        (lambda x, y: r2(x, y), "R2 itself"),
        (lambda x, y: 0.4, "Too large"),
        (lambda x, y: pearsonr(x, y).pvalue, "Too small"),
    ],
    "9.1": [
        (((COURSE, COURSE), (COURSE, COURSE)), "not low enough"),
        (((COURSE, COURSE), (COURSE + 0.5, COURSE + 3)), "not low enough"),
        (((COURSE, COURSE), (COURSE + 0.5, -COURSE - 3)), "too low"),
        (((COURSE, COURSE), (COURSE + 0.8, COURSE - 3)), "between 0 and 1"),
        (((COURSE[:3], COURSE[:3]), (COURSE, COURSE)), "at least 4"),
        (((COURSE, COURSE * 0), (COURSE, COURSE)), "vary"),
    ],
    "9.2": [
        ((DIFFERENCE, SMALL, LARGE), "too large"),
        ((DIFFERENCE, LARGE, RNG.permutation(LARGE)), "not enough"),
        ((DIFFERENCE * 3, LARGE + SMALL, LARGE), "between 0 and 1"),
        ((DIFFERENCE[:5], LARGE[:5], LARGE[:5]), "at least 8"),
        ((DIFFERENCE, LARGE, LARGE * 0), "constant"),
        (("none", LARGE, SMALL), "Expected scores"),
    ],
}

GARBAGE = {"9.1": [((COURSE, COURSE), (COURSE, COURSE), (COURSE, COURSE))]}


SECRETS = {}


def test_a_function_that_shuffles_its_arguments_in_place_is_harmless():
    def in_place(x, accuracy):
        share = by_counting(x, accuracy)
        accuracy.sort()
        x[:] = 0
        return share

    assert check("7.1", in_place)
    assert check("7.1", by_counting)
