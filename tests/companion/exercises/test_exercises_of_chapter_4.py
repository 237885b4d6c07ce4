"""The exercises of notebook 4: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)
from torch import nn


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


RIGHT = {"4.1": [33, 33.0, torch.tensor(33)], "4.2": [Branches(4, 2), Branches(9, 2)]}

# the answer, and a word that its hint must have
WRONG = {
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
SECRETS = {"4.1": [33]}
