"""Sorted points on several segments, and what it takes to put further ones between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

MERGED = 1e-12
"""Breakpoints of a segment that are no further apart than this, as a fraction of it, count as one."""


def points_on(starts: Tensor, directions: Tensor, t: Tensor) -> Tensor:
    """A point on each of several segments, (n, *shape of a point).

    >>> points_on(torch.zeros(2, 1), torch.ones(2, 1), torch.tensor([0.25, 0.5]))
    tensor([[0.2500],
            [0.5000]])
    """
    return starts + t.view(-1, *[1] * (starts.ndim - 1)) * directions


@dataclass(frozen=True, eq=False)
class Grid:
    """Points on segments, those of each segment one after the other, its ends included.

    Attributes:
        t: Where on its segment each point is, as a fraction of it; rising within a segment.
        segment: On which segment.
        units: Whether a unit changes its state there.
        switches: Whether a max pooling changes its choice there.
        origin: Which point of the grid before it each point is, or is behind.
        added: The points that were not there before.
        fraction: Where between their origin and the next point these are.
    """

    t: Tensor
    segment: Tensor
    units: Tensor
    switches: Tensor
    origin: Tensor
    added: Tensor
    fraction: Tensor

    @classmethod
    def of_ends(cls, begin: Tensor, end: Tensor) -> Grid:
        """The grid that has the two ends of each segment only.

        >>> Grid.of_ends(torch.zeros(2), torch.ones(2)).t
        tensor([0., 1., 0., 1.])
        """
        t = torch.stack([begin, end], 1).flatten()
        segment = torch.arange(len(begin), device=t.device).repeat_interleave(2)
        units, switches = torch.zeros(2, len(t), dtype=torch.bool, device=t.device)
        return cls(t, segment, units, switches, segment[:0], segment[:0], t[:0])

    @cached_property
    def ends(self) -> Tensor:
        """First and last point of each segment, (2, segments)."""
        numbers = torch.arange(int(self.segment[-1]) + 1, device=self.t.device)
        return torch.stack([torch.searchsorted(self.segment, numbers + side) - side for side in (0, 1)])

    @property
    def seams(self) -> Tensor:
        """The last point of each segment but the last: between it and the next there is no interval."""
        return self.ends[1, :-1]

    def refined(self, interval: Tensor, fraction: Tensor, limit: int) -> tuple[Grid, Tensor]:
        """The grid with further points; one that is too near to another point is that point.

        Args:
            interval: Behind which point of this grid each of them is; there may be none.
            fraction: And where between that and the next one, in (0, 1).
            limit: How many points there may be for each segment, at least 3. Where there are more in all, segments
                that have more end earlier.

        Returns:
            The grid, and where the further points stand in it (-1 for cut off).

        >>> grid = Grid.of_ends(torch.zeros(1), torch.ones(1))
        >>> finer, places = grid.refined(torch.tensor([0, 0, 0]), torch.tensor([0.5, 0.2, 0.5]), 9)
        >>> finer.t, places
        (tensor([0.0000, 0.2000, 0.5000, 1.0000]), tensor([2, 1, 2]))
        >>> finer.carried(torch.tensor([10.0, 20.0]))
        tensor([10., 12., 15., 20.])
        """
        order = fraction.argsort()
        order = order[interval[order].argsort(stable=True)]
        left, fraction = interval[order], fraction[order]
        t = torch.lerp(self.t[left], self.t[left + 1], fraction)
        at_left, at_right = t - self.t[left] <= MERGED, self.t[left + 1] - t <= MERGED
        new = ~(at_left | at_right)
        new[1:] &= ~((left[1:] == left[:-1]) & (t[1:] - t[:-1] <= MERGED) & new[:-1])
        counts = 1 + torch.bincount(left[new], minlength=len(self.t))
        origin = torch.arange(len(self.t), device=t.device).repeat_interleave(counts)
        place = counts.cumsum(0) - counts
        target = torch.where(at_left, place[left], torch.where(at_right, place[left + 1], left + new.cumsum(0)))

        added, t, fraction = target[new], t[new], fraction[new]
        if len(origin) > limit * self.ends.shape[1]:
            rank = torch.arange(len(origin), device=t.device) - place[self.ends[0]][self.segment[origin]]
            kept = rank < limit
            number = torch.where(kept, kept.cumsum(0) - 1, -1)
            origin, target = origin[kept], number[target]
            added, t, fraction = number[added][kept[added]], t[kept[added]], fraction[kept[added]]
        finer_t, units, switches = self.t[origin], self.units[origin], self.switches[origin]
        finer_t[added], units[added], switches[added] = t, False, False
        places = torch.empty_like(target)
        places[order] = target
        return Grid(finer_t, self.segment[origin], units, switches, origin, added, fraction), places

    def carried(self, values: Tensor) -> Tensor:
        """Numbers at the points of the grid before, (points, ...), taken to these: between points they are affine."""
        finer = values.index_select(0, self.origin)
        left = self.origin[self.added]
        fraction = self.fraction.to(values.dtype).view(-1, *[1] * (values.ndim - 1))
        finer[self.added] = torch.lerp(values[left], values[left + 1], fraction)
        return finer
