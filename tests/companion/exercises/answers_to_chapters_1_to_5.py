"""Right answers to exercises of notebooks 1 to 5, wrong ones with a word of their hint, and what hints never tell."""

import numpy as np
import torch
from scipy.optimize import brentq
from torch import nn

from affscore.transport import wasserstein
from companion.activations import correlation_with_input, limit_score, points_needed
from companion.chapter_01.checks import LEAK

RIGHT, WRONG, SECRETS = {}, {}, {}


# Chapter 1

LEAKY_RELU = torch.nn.LeakyReLU(LEAK)
SCORE_OF_LEAKY_RELU = limit_score(LEAKY_RELU)
CORRELATION = correlation_with_input(LEAKY_RELU)


def by_sorting(x, y):
    return np.sqrt(np.mean((np.sort(x) - np.sort(y)) ** 2))


def _uncentred(function):
    """The correlation about zero, by simulation."""
    x = torch.randn(10**6, generator=torch.Generator().manual_seed(0))
    return float((x * function(x)).sum() / (x.norm() * function(x).norm()))


RIGHT |= {
    "1.1": [by_sorting, lambda x, y: torch.sqrt(((torch.tensor(x).sort()[0] - torch.tensor(y).sort()[0]) ** 2).mean())],
    "1.2": [SCORE_OF_LEAKY_RELU, round(SCORE_OF_LEAKY_RELU, 2), np.array([SCORE_OF_LEAKY_RELU])],
}

WRONG |= {
    "1.1": [
        (lambda x, y: np.sqrt(np.mean((x - y) ** 2)), "as they were given"),
        (lambda x, y: np.mean((np.sort(x) - np.sort(y)) ** 2), "unit"),
        (lambda x, y: np.linalg.norm(np.sort(x) - np.sort(y)), "a mean, not a sum"),
        (lambda x, y: np.mean(abs(np.sort(x) - np.sort(y))), "1-Wasserstein"),
        (lambda x, y: by_sorting(x, -y), "distance is too"),
        (lambda x, y: np.sqrt(np.mean((np.sort(x) - np.sort(y)[::-1]) ** 2)), "same direction"),
        (lambda x, y: np.sqrt(np.mean((np.sort(x) - y) ** 2)), "Only one"),
        (lambda x, y: abs(x.mean() - y.mean()), "means"),
        (lambda x, y: 0.0, "too small"),
        (lambda x, y: None, "returns nothing"),
    ],
    "1.2": [
        (CORRELATION, "correlation itself"),
        (1 - CORRELATION, "square root"),
        (1 - SCORE_OF_LEAKY_RELU, "distance"),
        (0.621, "ReLU itself"),
        (1 - np.sqrt(1 - _uncentred(LEAKY_RELU)), "not centred"),
        (1 - np.sqrt(2 * (1 - CORRELATION)), "normaliser"),
        (SCORE_OF_LEAKY_RELU + 0.02, "two decimals"),
        (-3, "between 0 and 1"),
        (0.99, "correlation of x and s(x)"),
    ],
}


SECRETS |= {
    "1.1": ["sort(", wasserstein([[3.0], [0.0], [1.0]], [[2.0], [6.0], [-4.0]])],
    "1.2": ["sort(", SCORE_OF_LEAKY_RELU],
}


# Chapters 2 and 3

HALF = brentq(lambda ratio: limit_score(torch.relu, ratio) - 0.5, -3, 1)


def silu(x):
    return x / (1 + np.exp(-x))


RIGHT |= {
    "2.1": [HALF, round(HALF, 2), np.float32(HALF)],
    "2.2": [lambda x: np.exp(5 * x), lambda x: torch.relu(torch.tensor(x) - 2.8)],
    "3.1": [points_needed(256, 0.01, torch.relu), points_needed(256, 0.01), 1928.0, 2048, 3840],
}

WRONG |= {
    "2.1": [(-HALF, "sign"), (0.31, "share"), (HALF + 0.03, "Close"), (-2, "less affine"), (3, "more affine")],
    "2.2": [
        (lambda x: np.maximum(x, 0), "never falls, but"),
        (silu, "Somewhere your function falls"),
        (lambda x: np.maximum(x - 9, 0), "constant"),
        (lambda x: x - x.mean(), "each entry"),
    ],
    "3.1": [
        (1832, "Too few"),
        (256, "n/d = 1"),
        (7.6, "each coordinate"),
        (193, "decimal point"),
        (10_000, "spread"),
        (5000, "more than twice"),
    ],
}

SECRETS |= {"2.1": [HALF], "2.2": ["exp"], "3.1": [points_needed(256, 0.01, torch.relu)]}


# Chapter 4


class Branches(nn.Module):
    """Some ReLUs of the same tensor, and some more behind one another."""

    def __init__(self, beside, behind):
        super().__init__()
        self.beside, self.behind = beside, behind
        self.linear = nn.Linear(10, 10)

    def forward(self, x):
        x = sum([torch.relu(self.linear(x)) for _ in range(self.beside)], self.linear(x))
        for _ in range(self.behind):
            x = torch.relu(self.linear(x))
        return x


RIGHT |= {"4.1": [33, 33.0, torch.tensor(33)], "4.2": [Branches(4, 2), Branches(9, 2)]}

WRONG |= {
    "4.1": [(17, "modules"), (32, "before the first"), (34, "last linear"), (33.5, "integer"), (20, "blocks")],
    "4.2": [
        (Branches, "the class"),
        (nn.Linear(10, 2), "No activation"),
        (Branches(2, 2), "at least six"),
        (Branches(0, 6), "follow one another"),
        (Branches(7, 1), "not 3"),
        (nn.Linear(3, 2), "fails on an input"),
    ],
}
SECRETS |= {"4.1": [33]}


# Chapter 5

RNG_5 = np.random.default_rng(12)
X = np.maximum(RNG_5.standard_normal(500), 0)
F = np.where(X > 0.5, -0.9 * X, 1.0)
RIGHT |= {"5.1": [(X, F), [torch.tensor(X), torch.tensor(F)]]}
WRONG |= {
    "5.1": [
        ((X, RNG_5.standard_normal(500)), "Where is the sum negative"), ((X - 1, F), "out of a ReLU"),
        ((X + 1, F), "makes zeros"), ((X, np.abs(F)), "only rises"), ((X, 0.1 * F), "at least half"),
        ((X[:20], F[:20]), "64 to 2000"), ((X, 0.5 - X), "constant"),
    ],
}  # fmt: skip
SECRETS |= {"5.1": ["positive"]}
