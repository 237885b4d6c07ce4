"""Each exercise of notebook 1: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import pytest
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

from affscore.transport import affinity_score, wasserstein
from companion.activations import correlation_with_input, limit_score
from companion.chapter_01.checks import LEAK
from companion.exercises import check

RNG = np.random.default_rng(5)
CLOUD = RNG.standard_normal((400, 2))
SYMMETRIC = np.concatenate([CLOUD, -CLOUD])
LEAKY_RELU = torch.nn.LeakyReLU(LEAK)
SCORE_OF_LEAKY_RELU = limit_score(LEAKY_RELU)
CORRELATION = correlation_with_input(LEAKY_RELU)


def by_sorting(x, y):
    return np.sqrt(np.mean((np.sort(x) - np.sort(y)) ** 2))


def _uncentred(function):
    """The correlation about zero, by simulation."""
    x = torch.randn(10**6, generator=torch.Generator().manual_seed(0))
    return float((x * function(x)).sum() / (x.norm() * function(x).norm()))


RIGHT = {
    "1.1": [
        by_sorting,
        lambda x, y: torch.sqrt(((torch.tensor(x).sort()[0] - torch.tensor(y).sort()[0]) ** 2).mean()),
        lambda x, y: wasserstein(x[:, None], y[:, None]),
        lambda x, y: np.linalg.norm(np.sort(x) - np.sort(y)) / len(x) ** 0.5,
    ],
    "1.2": [SCORE_OF_LEAKY_RELU, round(SCORE_OF_LEAKY_RELU, 2), np.array([SCORE_OF_LEAKY_RELU])],
    "1.3": [
        (CLOUD, RNG.permutation(CLOUD)),
        [torch.tensor(CLOUD), torch.tensor(3 * RNG.permutation(CLOUD) + 1)],
        (CLOUD[:, :1].tolist(), RNG.permutation(CLOUD[:, :1]).tolist()),
    ],
}

# the answer, and a word that its hint must have
WRONG = {
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
    "1.3": [
        ((CLOUD, CLOUD), "should be"),
        ((SYMMETRIC, -SYMMETRIC), "should be"),
        ((CLOUD, RNG.standard_normal(CLOUD.shape) ** 2), "as a set"),
        ((CLOUD, CLOUD**3), "must be at least"),
        ((CLOUD, np.ones_like(CLOUD)), "constant"),
        ((CLOUD[:20], CLOUD[:20][::-1]), "100"),
        ((CLOUD, np.concatenate([CLOUD[:200], CLOUD[200:][::-1]])), "at most 10 %"),
    ],
}

GARBAGE = {"1.3": [(np.zeros((200, 2)), CLOUD[:200])]}


SECRETS = {
    "1.1": ["sort(", wasserstein([[3.0], [0.0], [1.0]], [[2.0], [6.0], [-4.0]])],
    "1.2": ["sort(", SCORE_OF_LEAKY_RELU],
    "1.3": ["permut", "shuffl"],
}


def test_a_function_that_writes_into_its_arguments_is_harmless():
    def sorts_in_place(x, y):
        x.sort()
        y.sort()
        return np.sqrt(np.mean((x - y) ** 2))

    assert check("1.1", sorts_in_place)
    assert check("1.1", by_sorting)


def test_the_predicted_score_is_the_one_that_the_library_measures():
    x = np.random.default_rng(0).standard_normal((512, 2048))
    assert float(affinity_score(x, LEAKY_RELU(torch.from_numpy(x)))) == pytest.approx(SCORE_OF_LEAKY_RELU, abs=0.005)
