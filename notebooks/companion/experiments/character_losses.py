"""How well the next character is predicted: by a network, and by how often characters and pairs of them occur."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.recorder.model_state import prepared


@torch.no_grad()
def bits_a_character(network: nn.Module, windows: Tensor, following: Tensor, batch_size: int = 64) -> float:
    r"""The loss of a language model: the mean of :math:`-\log_2 p` of the characters that follow.

    Args:
        network: Gives logits (N, length, characters) for windows, in evaluation mode; it stays as it is.
        windows: Tensor (N, length) of integers.
        following: The character that follows each of them, likewise.
        batch_size: Windows that go through the network at once.

    Returns:
        Bits, at least 0.

    Raises:
        AffscoreError: No windows, or other shapes.

    >>> even = nn.Embedding.from_pretrained(torch.zeros(8, 8))
    >>> round(bits_a_character(even, torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)), 5)
    3.0
    """
    if not windows.numel() or windows.shape != following.shape:
        raise AffscoreError(
            f"expected windows and the characters that follow, both (N, length), got shapes {tuple(windows.shape)} and "
            f"{tuple(following.shape)}"
        )
    loss = 0.0
    with prepared(network, windows.device):
        for some, wanted in zip(windows.split(batch_size), following.split(batch_size), strict=True):
            logits = network(some).flatten(0, 1)
            loss += float(nn.functional.cross_entropy(logits, wanted.flatten(), reduction="sum"))
    return loss / following.numel() / math.log(2)


def character_losses(text: str, held_out: str) -> tuple[float, float]:
    r"""Bits a character of two simple predictions of a text, which a language model should beat.

    With counts :math:`c` of the first text, plus one for each of the :math:`k` characters of both,

    .. math:: -\frac{1}{N} \sum_i \log_2 \frac{c(x_i) + 1}{\sum_x (c(x) + 1)}
        \quad\text{and}\quad -\frac{1}{N} \sum_i \log_2 \frac{c(x_{i-1} x_i) + 1}{\sum_x (c(x_{i-1} x) + 1)}.

    Args:
        text: What is counted.
        held_out: What is predicted, from its second character on.

    Returns:
        The losses by single characters and by pairs, in bits; at most a little above log2 k, and 0 where all is known.

    Raises:
        AffscoreError: A text of fewer than two characters.

    >>> single, pairs = character_losses("ab" * 5000, "ab" * 50)
    >>> round(single, 2), round(pairs, 2)
    (1.0, 0.0)
    """
    if min(len(text), len(held_out)) < 2:
        raise AffscoreError(f"two characters at least are needed, got texts of {len(text)} and {len(held_out)}")
    codes = [np.frombuffer(one.encode("utf-32-le"), dtype=np.uint32) for one in (text, held_out)]
    _, numbers = np.unique(np.concatenate(codes), return_inverse=True)
    known, asked = numbers[: len(text)], numbers[len(text) :]
    size = int(numbers.max()) + 1
    single = np.bincount(known, minlength=size) + 1.0
    pairs = np.zeros((size, size))
    np.add.at(pairs, (known[:-1], known[1:]), 1.0)
    pairs += 1
    alone = -np.log2(single / single.sum())
    behind = -np.log2(pairs / pairs.sum(axis=1, keepdims=True))
    return float(alone[asked[1:]].mean()), float(behind[asked[:-1], asked[1:]].mean())
