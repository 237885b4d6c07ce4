"""Max pooling on a line: which entries of a window are largest, and where another one takes over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class MaxPool:
    """A max pooling over the last axes of features.

    Attributes:
        name: max_pool1d, max_pool2d or max_pool3d.
        window: Size, stride, padding, dilation, ceil_mode, as PyTorch takes them.
        positions: The size of a channel, along the axes of the pooling.
        table: For each window of a channel the positions in it, -1 for padding, (windows, entries).

    >>> MaxPool.of("max_pool1d", (2, 2, 1, 1, False), torch.zeros(1, 1, 4)).table
    tensor([[-1,  0],
            [ 1,  2],
            [ 3, -1]])
    """

    name: str
    window: tuple[Any, ...]
    positions: torch.Size
    table: Tensor

    @classmethod
    def of(cls, name: str, window: tuple[Any, ...], features: Tensor) -> MaxPool:
        """The pooling of features, (..., *positions)."""
        axes = int(name[-2])
        positions, device = features.shape[-axes:], features.device
        unknown = cls(name, window, positions, torch.zeros(1, 1, dtype=torch.long, device=device))
        table = unknown.table
        for axis, (inside, outside) in enumerate(zip(positions, unknown(features)[0].shape[-axes:], strict=True)):
            size, stride, padding, dilation = (_along(value, axis) for value in window[:4])
            places = torch.arange(outside, device=device)[:, None] * stride - padding
            places = (places + dilation * torch.arange(size, device=device))[None, :, None, :]
            before = table[:, None, :, None]
            places = (before * inside + places).masked_fill((before < 0) | (places < 0) | (places >= inside), -1)
            table = places.reshape(len(table) * outside, -1)
        return cls(name, window, positions, table)

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Largest entries, and their positions.

        Args:
            x: Features (n, ..., *positions).

        Returns:
            Two tensors (n, ..., *windows).
        """
        *window, ceil_mode = self.window
        lead = x.shape[: -len(self.positions)]
        pool = getattr(F, self.name)
        largest, chosen = pool(x.reshape(-1, 1, *self.positions), *window, ceil_mode=ceil_mode, return_indices=True)
        return largest.reshape(*lead, *largest.shape[2:]), chosen.reshape(*lead, *chosen.shape[2:])

    def entries(self, x: Tensor, point: Tensor, window: Tensor) -> Tensor:
        """The entries of some windows at some points, -inf for padding.

        Args:
            x: Features (points, ..., *positions).
            point: Which points.
            window: And which windows there, counted through all channels.

        Returns:
            Tensor (len(point), entries).
        """
        inside = self.table[window % len(self.table)]
        first = (window // len(self.table) * self.positions.numel())[:, None]
        values = x.reshape(len(x), -1)[point[:, None], first + inside.clamp_min(0)]
        return values.masked_fill(inside < 0, -torch.inf)

    def all_entries(self, x: Tensor) -> Tensor:
        """The entries of all windows, (points, windows, entries), -inf for padding."""
        values = x.reshape(len(x), -1, self.positions.numel())[..., self.table.clamp_min(0)]
        return values.masked_fill(self.table < 0, -torch.inf).flatten(1, 2)


def _along(value: Any, axis: int) -> int:
    return int(value) if isinstance(value, int) else int(value[axis if len(value) > 1 else 0])


def largest_of_all(left: Tensor, right: Tensor, zero: Tensor) -> Tensor:
    """Which entries of windows are the largest all over an interval on which all are affine.

    Args:
        left: Entries at its left end, (windows, entries), -inf for padding.
        right: At its right end.
        zero: Differences of no more than this are rounding, (windows, 1).

    Returns:
        Booleans of the same shape; none in a row where the largest entry changes inside.
    """
    return (left >= left.amax(1, keepdim=True) - zero) & (right >= right.amax(1, keepdim=True) - zero)


def takeovers(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Where inside an interval another entry of a window becomes the largest: the bends of the upper envelope.

    Args:
        left: Entries at the left end, (windows, entries), -inf for padding.
        right: At the right end.

    Returns:
        Windows, and fractions of the interval in (0, 1), one for each change.

    >>> takeovers(torch.tensor([[0.0, -1.0, -9.0]]), torch.tensor([[0.0, 1.0, 1.0]]))
    (tensor([0]), tensor([0.5000]))
    >>> takeovers(torch.tensor([[1.0, 0.0, 0.75]]), torch.tensor([[0.0, 1.0, 0.75]]))
    (tensor([0, 0]), tensor([0.2500, 0.7500]))
    """
    rate = (right - left).nan_to_num(nan=-torch.inf)
    windows = torch.arange(len(left), device=left.device)
    # the largest at the left end; of several, the one that grows most
    leader = rate.masked_fill(left < left.amax(1, keepdim=True), -torch.inf).argmax(1, keepdim=True)
    found_windows, found = [windows[:0]], [left[:0, 0]]
    while len(windows):
        closing = rate - rate.gather(1, leader)
        meets = ((left.gather(1, leader) - left) / closing).masked_fill(closing <= 0, torch.inf)
        first = meets.amin(1, keepdim=True)
        inside = first[:, 0] < 1
        windows, left, rate, first, meets = (x[inside] for x in (windows, left, rate, first, meets))
        # of those that meet it there, the one that grows most
        leader = rate.masked_fill(meets > first, -torch.inf).argmax(1, keepdim=True)
        found_windows.append(windows[first[:, 0] > 0])
        found.append(first[first > 0])
    return torch.cat(found_windows), torch.cat(found)
