"""Exercises of notebook 14: right answers pass, plausible wrong ones fail with a hint, not the answer."""

import torch
from answer_tables import (  # noqa: F401  # tests of every exercise
    test_a_right_answer_passes,
    test_a_wrong_answer_fails_with_a_hint_that_does_not_tell_the_answer,
    test_garbage_gets_a_verdict,
)


def of_text(features, mask):
    real = mask.bool()[:, :, None]
    return torch.where(real, features, 0).sum(dim=1) / real.sum(dim=1)


def one_by_one(features, mask):
    return torch.stack([row[kept == 1].mean(dim=0) for row, kept in zip(features, mask, strict=True)])


def by_a_product(features, mask):
    return (features * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1)[:, None]


RIGHT = {"14.1": [of_text, one_by_one]}
WRONG = {
    "14.1": [
        (lambda features, mask: features.mean(dim=1), "Padding counts still"),
        (lambda features, mask: (features * mask[:, :, None]).mean(dim=1), "how many tokens"),
        (by_a_product, "NaN"),
        (lambda features, mask: features.sum(dim=1) / mask.sum(dim=1)[:, None], "whose mask is 1"),
        (lambda features, mask: of_text(features, mask).numpy(), "Expected a tensor"),
        (lambda features, mask: features, "Expected the shape"),
    ],
}  # fmt: skip
GARBAGE = {"14.1": [0.5, lambda features: features, lambda features, mask: None, lambda features, mask: features["x"]]}
SECRETS = {"14.1": ["torch.where", "dim=1"]}
