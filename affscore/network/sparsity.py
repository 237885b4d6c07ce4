"""How many entries of a feature map are next to zero: a criterion that reads every feature map, at memory speed."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["sparse_entries", "sparse_entries_around_relu"]

SPARSE = 1e-3
"""Entries of at most this magnitude count as zero."""

BLOCK = 2**17
"""Entries that are looked at together: a block and its buffers stay in the cache of one core."""


def sparse_entries(features: Tensor) -> int:
    """How many entries of a feature map have a magnitude of at most 1e-3.

    Source: the sparsity of tables 1 to 3 is the share of these.

    >>> sparse_entries(torch.tensor([0.0, -0.0005, 0.5]))
    2
    """
    return _count(features, _count_small)[0]


def sparse_entries_around_relu(features: Tensor) -> tuple[int, int]:
    """How many entries of a feature map, and how many of its ReLU (or ReLU6), have a magnitude of at most 1e-3.

    The second are those that are at most 1e-3 before: one pass over the memory instead of two.

    >>> sparse_entries_around_relu(torch.tensor([0.0, -0.0005, 0.5, -3.0]))
    (2, 3)
    """
    small, low = _count(features, _count_small_and_low)
    return small, low


def _count(features: Tensor, count: Callable[[NDArray[Any]], list[int]]) -> list[int]:
    """Counts of a feature map, from those of its parts, a thread each."""
    values = features.detach()
    if values.dtype not in (torch.float32, torch.float64):
        values = values.float()
    if values.device.type != "cpu":
        small = torch.count_nonzero(values.abs() <= SPARSE)
        return [int(small), *([int(torch.count_nonzero(values <= SPARSE))] if count is _count_small_and_low else [])]
    if values.ndim == 4 and values.is_contiguous(memory_format=torch.channels_last):
        values = values.permute(0, 2, 3, 1)  # the order does not matter, and this one is that of the memory
    flat = values.contiguous().view(-1).numpy()
    parts = np.array_split(flat, torch.get_num_threads())
    if len(flat) < BLOCK * len(parts):
        return count(flat)
    # NumPy lets go of the interpreter's lock
    return [sum(counts) for counts in zip(*_threads(len(parts)).map(count, parts), strict=True)]


@cache
def _threads(number: int) -> ThreadPoolExecutor:
    """Threads that stay, since a network asks for them hundreds of times in a second."""
    return ThreadPoolExecutor(number, thread_name_prefix="affscore-sparsity")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a forked process has no threads but one


def _count_small(values: NDArray[Any]) -> list[int]:
    return [_in_blocks(values, low=False)[0]]


def _count_small_and_low(values: NDArray[Any]) -> list[int]:
    return _in_blocks(values, low=True)


def _in_blocks(values: NDArray[Any], low: bool) -> list[int]:
    """Block by block in the cache, with buffers that are used again: ten times faster than one pass over new memory."""
    magnitudes, chosen = np.empty(BLOCK, values.dtype), np.empty(BLOCK, bool)
    limit, counts = values.dtype.type(SPARSE), [0, 0]
    for start in range(0, len(values), BLOCK):
        block = values[start : start + BLOCK]
        size = len(block)
        np.abs(block, out=magnitudes[:size])
        np.less_equal(magnitudes[:size], limit, out=chosen[:size])
        counts[0] += int(np.count_nonzero(chosen[:size]))
        if low:
            np.less_equal(block, limit, out=chosen[:size])
            counts[1] += int(np.count_nonzero(chosen[:size]))
    return counts
