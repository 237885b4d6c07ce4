"""Right answers to exercises of notebooks 6 to 11, wrong ones with a word of their hint, and what hints never tell."""

import itertools

import numpy as np
import torch
from scipy.stats import pearsonr

from affscore.comparison import signature_distance
from companion.chapter_11 import _score

RIGHT, WRONG, SECRETS = {}, {}, {}


# Chapters 6 and 8

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


RIGHT |= {
    "6.1": [MORE_SPREAD, round(MORE_SPREAD, 3), 0.12, torch.tensor(MORE_SPREAD)],
    "8.1": [warped, signature_distance, lambda a, b: warped(b, a)],
}

WRONG |= {
    "6.1": [
        (2 * MORE_SPREAD, "between 0 and 1"),
        (0.5 * 150 / 152, "one of the two"),
        (-MORE_SPREAD, "sign"),
        (0, "extremes"),
        (0.5 * (149 / 151 - 5 / 7), "k + 1"),
        (0.3, "Where do"),
    ],
    "8.1": [
        (lambda a, b: warped(a, b, end=float), "total price"),
        (lambda a, b: warped(a, b, cost=abs), "squared difference"),
        (lambda a, b: warped(a, b, diagonal=False), "same step"),
        (lambda a, b: warped(a, b) / max(len(a), len(b)) ** 0.5, "per step"),
        (lambda a, b: abs(a.mean() - b.mean()) / 10, "Too small"),
        (lambda a, b: warped(a, b) + 1, "itself"),
        (lambda a, b: 3 * warped(a, b), "by hand"),
    ],
}

SECRETS |= {"6.1": [MORE_SPREAD]}


# Chapters 7 and 9

COURSE = np.linspace(0.2, 0.4, 10)


def r2(x, y):
    return np.corrcoef(x, y)[0, 1] ** 2


def by_counting(x, accuracy):
    observed = r2(x, accuracy)
    return np.mean([r2(x, order) >= observed - 1e-9 for order in map(list, itertools.permutations(accuracy))])


def by_random_orders(x, accuracy):
    rng = np.random.default_rng(3)
    return np.mean([r2(x, rng.permutation(accuracy)) >= r2(x, accuracy) - 1e-9 for _ in range(2000)])


def one_sided(x, accuracy):
    orders = map(list, itertools.permutations(accuracy))
    return np.mean([np.corrcoef(x, y)[0, 1] >= np.corrcoef(x, accuracy)[0, 1] - 1e-9 for y in orders])


def strictly(x, accuracy):
    return np.mean([r2(x, list(y)) > r2(x, accuracy) + 1e-9 for y in itertools.permutations(accuracy)])


RIGHT |= {
    "7.1": [by_counting, by_random_orders],
    "9.1": [
        ((COURSE, COURSE), (COURSE + 0.5, COURSE - 3)),
        [(torch.tensor(COURSE), torch.tensor(COURSE)), (COURSE + 0.5, 2 * COURSE - 9)],
    ],
}

WRONG |= {
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
        (((COURSE, COURSE), (COURSE + 0.5, COURSE + 3)), "not low enough"),
        (((COURSE, COURSE), (COURSE + 0.5, -COURSE - 3)), "too low"),
        (((COURSE, COURSE), (COURSE + 0.8, COURSE - 3)), "between 0 and 1"),
        (((COURSE[:3], COURSE[:3]), (COURSE, COURSE)), "at least 4"),
        (((COURSE, COURSE * 0), (COURSE, COURSE)), "vary"),
    ],
}


# Chapter 10

RNG_10 = np.random.default_rng(9)
CLOUD = RNG_10.standard_normal((256, 2))

RIGHT |= {"10.1": [(CLOUD, CLOUD[::-1].copy()), (CLOUD, -CLOUD), [torch.tensor(CLOUD), torch.tensor(-CLOUD)]]}
WRONG |= {
    "10.1": [
        ((CLOUD, CLOUD), "too close"), ((CLOUD, np.exp(2 * CLOUD)), "not affine enough"),
        ((CLOUD[:10], CLOUD[:10]), "64 to 1024"), ((CLOUD, np.ones_like(CLOUD)), "constant"),
    ],
}  # fmt: skip
SECRETS |= {"10.1": ["permut", "revers", "minus"]}


# Chapter 11

BIAS = next(bias / 25 for bias in range(75) if _score(bias / 25) >= 0.95)

RIGHT |= {"11.1": [BIAS, BIAS + 0.03, torch.tensor(BIAS)]}
WRONG |= {"11.1": [(BIAS - 0.2, "below zero still"), (BIAS + 1, "is enough"), (-1, "negative"), (1e6, "is enough")]}
SECRETS |= {"11.1": [BIAS]}
