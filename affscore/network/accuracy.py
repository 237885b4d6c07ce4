"""How many samples a network classifies rightly: its output and the labels of the data are there anyway."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from affscore.network.batch import Batch


NO_LABELS = 2**31
"""Stands for the outputs beyond the largest label where there is no label."""

Predictions = tuple[Tensor, Tensor, int]
"""The outputs that are largest for some samples (-1 among NaN), their labels, and how many outputs there are."""


def predictions(output: Any, labels: Tensor | None) -> Predictions | None:
    """The classes that a network predicts for some samples; None without labels, or where the output has no classes.

    Args:
        output: What the network returned: (N, classes), or an object with such ``logits``.
        labels: Tensor (N,) of integers, or None.
    """
    scores = getattr(output, "logits", output)
    fits = isinstance(scores, Tensor) and scores.ndim == 2 and scores.shape[1] > 1 and scores.is_floating_point()
    if labels is None or not fits or len(scores) != len(labels):
        return None
    largest = scores.argmax(dim=1).masked_fill(scores.isnan().any(dim=1), -1)
    return largest, labels.long(), scores.shape[1]  # which waits for no GPU


def count_right(
    parts: Sequence[Predictions | None], data: Sequence[str] | None, network: Sequence[str] | None
) -> tuple[int | None, int, list[str]]:
    """How many samples of a batch are classified rightly.

    Args:
        parts: What :func:`predictions` found of all its samples.
        data: The names of the classes of the data, in the order of its labels; None where these are numbers only.
        network: The names of the network's outputs, in their order; None where they are not known.

    Returns:
        How many there are, None where labels and output do not match; how many outputs lie beyond the largest label,
        where classes have no names: 0 if these match; and in sentences why there is no accuracy though there are
        labels, or that some outputs are NaN.

    >>> count_right([predictions(torch.eye(3), torch.tensor([0, 1, 1]))], None, None)
    (2, 1, [])
    """
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None, NO_LABELS, []
    answers, given, (count, *_) = zip(*known, strict=True)
    found, labels = torch.cat(answers).cpu(), torch.cat(given).cpu()
    outputs = outputs_of_classes(data, network, count) or []
    least, largest = (int(end) for end in labels.aminmax())
    if least < 0 or largest >= len(outputs):
        note = f"there is no accuracy: some labels are not from 0 to {count - 1}, the numbers of the outputs"
        return None, NO_LABELS, [note] if data is None else []
    nan = "some outputs of the network are NaN: these samples count as classified wrongly"
    right = int((found == torch.tensor(outputs)[labels]).sum())
    return right, 0 if data else count - 1 - largest, [nan] if bool((found < 0).any()) else []


def outputs_of_classes(data: Sequence[str] | None, network: Sequence[str] | None, outputs: int) -> list[int] | None:
    """Which output of a network belongs to each class of the data.

    Classes are matched by name, where the network has names. Where it has none, or where the classes are the
    WordNet ids of ImageNet, as many classes as outputs are taken in their order.

    Args:
        data: The names of the classes of the data, in the order of its labels; None where these are numbers only.
        network: The names of the outputs, in their order; None where they are not known.
        outputs: How many outputs there are.

    Returns:
        An output for each class; None where the classes do not match the outputs.

    >>> outputs_of_classes(["b", "a"], ["a", "b", "c"], 3), outputs_of_classes(["a", "d"], ["a", "b", "c"], 3)
    ([1, 0], None)
    """
    if data is None:
        return list(range(outputs))
    names = list(network or ())
    if len(names) == outputs and all(names.count(name) == 1 for name in data):
        return [names.index(name) for name in data]
    in_order = len(data) == outputs and (network is None or are_wordnet_ids(data))
    return list(range(outputs)) if in_order else None


def are_wordnet_ids(classes: Sequence[str]) -> bool:
    """Whether classes are called as the folders of ImageNet are, whose order is that of the outputs.

    >>> are_wordnet_ids(["n01440764", "n01443537"])
    True
    """
    return all(re.fullmatch(r"n\d{8}", name) for name in classes)


def accuracy_of(batches: Sequence[Batch], samples: int) -> float | None:
    """The share of so many samples that were classified rightly; None where that is not known of all of them."""
    right = [batch.right for batch in batches if batch.right is not None]
    if len(right) < len(batches) or min(batch.unused for batch in batches) > 0:
        return None
    return sum(right) / samples
