"""Exercises of notebook 10: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import numpy as np
import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)

from affscore.survey.studies import load_study, under

RNG = np.random.default_rng(10)
CLOUD = RNG.standard_normal((512, 4))
ERROR = np.hypot(0.02, 0.01)
SEEDS = load_study("seeds")
SCORES = under(SEEDS).pivot_table(index="index", columns="seed", values="score")
MIXED = SEEDS.groupby("index")["score"].std().to_numpy()

RIGHT = {
    "10.1": [ERROR, torch.tensor(ERROR), np.float64(0.02236)],
    "10.2": [(CLOUD, -CLOUD), (CLOUD, RNG.permutation(CLOUD)), [torch.tensor(CLOUD), torch.tensor(-CLOUD)]],
    "10.3": [SCORES.std(axis=1).to_numpy(), SCORES.std(axis=1).tolist()],
}
WRONG = {
    "10.1": [
        (0.01, "standard error"), (np.hypot(0.02, 0.04), "one batch"), (np.hypot(0.02, 0.04) / 4, "same bias"),
        (0.03, "as squares"), (0.02, "bias alone"), (np.hypot(0.02, 0.0025), "number of batches"), (1, "Which of"),
    ],
    "10.2": [
        ((CLOUD, np.maximum(CLOUD, 0)), "Which coupling"), ((CLOUD, CLOUD), "pairing"),
        ((CLOUD, np.exp(CLOUD)), "score"),
        ((CLOUD[:100], CLOUD[:100]), "512 points"), ((CLOUD, np.ones_like(CLOUD)), "the same"),
        ((np.tile(CLOUD, 20), np.tile(CLOUD, 20)), "64 coordinates"),
    ],
    "10.3": [
        (SCORES.std(axis=1, ddof=0).to_numpy(), "Nearly"), (SCORES.std(axis=0).to_numpy(), "for each seed"),
        (SCORES.std(axis=0, ddof=0).to_numpy(), "for each seed"), (SCORES.var(axis=1).to_numpy(), "variances"),
        (SCORES.mean(axis=1).to_numpy(), "means"), (MIXED, "mixes"), ([0.1, 0.2], "each activation"),
        (SCORES.std(axis=1).to_numpy() + 1, "Group"),
    ],
}  # fmt: skip
GARBAGE = {
    "10.1": ["x", None, [1, 2], float("nan")],
    "10.2": [CLOUD, (CLOUD, CLOUD[:5]), None, "xy", (CLOUD, np.full_like(CLOUD, np.nan))],
    "10.3": [None, 3.0, np.zeros((3, 3)), [np.inf, 1.0]],
}
SECRETS = {"10.1": [0.0224], "10.2": ["permut", "revers", "minus"], "10.3": []}
