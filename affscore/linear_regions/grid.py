"""Sorted points on several segments, and what it takes to put further ones between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

MERGED = 1e-12
"""Breakpoints of a segment that are no further apart than this, as a fraction of it, count as one."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Points on segments, those of each segment one after the other, its ends included.

    Attributes:
        t: Where on its segment each point is, as a fraction of it; rising within a segment.
        segment: On which segment.
        units: Whether a unit changes its state there.
        switches: Whether a max pooling changes its choice there.
        place: Where the points of the grid before this one stand here, and -1 for those that were cut off.
    """

    t: Tensor
    segment: Tensor
    units: Tensor
    switches: Tensor
    place: Tensor

    @classmethod
    def of_ends(cls, begin: Tensor, end: Tensor) -> Grid:
        """The grid that has the two ends of each segment only.

        >>> Grid.of_ends(torch.zeros(2), torch.ones(2)).t
        tensor([0., 1., 0., 1.])
        """
        t = torch.stack([begin, end], 1).flatten()
        segment = torch.arange(len(begin), device=t.device).repeat_interleave(2)
        units, switches = torch.zeros(2, len(t), dtype=torch.bool, device=t.device)
        return cls(t, segment, units, switches, segment[:0])

    @cached_property
    def within(self) -> Tensor:
        """Whether each point and the next are on one segment."""
        return self.segment[1:] == self.segment[:-1]

    @cached_property
    def first(self) -> Tensor:
        """The first point of each segment."""
        return torch.searchsorted(self.segment, torch.arange(int(self.segment[-1]) + 1, device=self.t.device))

    @cached_property
    def last(self) -> Tensor:
        """The last point of each segment."""
        return torch.cat([self.first[1:], self.first.new_tensor([len(self.t)])]) - 1

    def refined(self, interval: Tensor, fraction: Tensor, limit: int) -> tuple[Grid, Tensor]:
        """The grid with further points; one that is too near to another point is that point.

        Args:
            interval: Behind which point of this grid each of them is.
            fraction: And where between that and the next one, in (0, 1).
            limit: Most points of a segment, three or more: where there are more the segment ends earlier.

        Returns:
            The grid, and where the further points stand in it (-1 for cut off).

        >>> grid = Grid.of_ends(torch.zeros(1), torch.ones(1))
        >>> finer, places = grid.refined(torch.tensor([0, 0, 0]), torch.tensor([0.5, 0.2, 0.5]), 9)
        >>> finer.t, places
        (tensor([0.0000, 0.2000, 0.5000, 1.0000]), tensor([2, 1, 2]))
        """
        t = torch.lerp(self.t[interval], self.t[interval + 1], fraction)
        order = t.argsort()
        order = order[interval[order].argsort(stable=True)]
        left, t = interval[order], t[order]
        at_left, at_right = t - self.t[left] <= MERGED, self.t[left + 1] - t <= MERGED
        new = ~(at_left | at_right)
        new[1:] &= ~((left[1:] == left[:-1]) & (t[1:] - t[:-1] <= MERGED) & new[:-1])
        before = new.cumsum(0)
        added = torch.zeros_like(self.segment).index_add_(0, left + 1, new.long()).cumsum(0)
        place = torch.arange(len(self.t), device=t.device) + added
        target = torch.where(at_left, place[left], torch.where(at_right, place[left + 1], left + before))
        size = len(self.t) + int(added[-1])

        origin = torch.empty(size, dtype=torch.long, device=t.device)
        origin[place] = torch.arange(len(self.t), device=t.device)
        origin[target[new]] = left[new]
        finer_t, units, switches = self.t[origin], self.units[origin], self.switches[origin]
        finer_t[target[new]], units[target[new]], switches[target[new]] = t[new], False, False
        kept = slice(None)
        if size > limit:
            segment = self.segment[origin]
            kept = torch.arange(size, device=t.device) - place[self.first][segment] < limit
            moved = torch.where(kept, kept.cumsum(0) - 1, -1)
            place, target = moved[place], moved[target]
        finer = Grid(finer_t[kept], self.segment[origin][kept], units[kept], switches[kept], place)
        places = torch.empty_like(target)
        places[order] = target
        return finer, places


def carried(values: Tensor, grids: Sequence[Grid]) -> Tensor:
    """Numbers at the points of a grid, taken to the points of a finer one: between points they are affine.

    Args:
        values: Numbers at the points of the first grid, (points, ...).
        grids: That grid, and those that came of it, one of the other.

    Returns:
        Numbers at the points of the last grid.

    >>> grid = Grid.of_ends(torch.zeros(1), torch.ones(1))
    >>> carried(torch.tensor([4.0, 8.0]), [grid, grid.refined(torch.tensor([0]), torch.tensor([0.25]), 9)[0]])
    tensor([4., 5., 8.])
    """
    old, new = grids[0], grids[-1]
    place = torch.arange(len(old.t), device=old.t.device)
    for grid in grids[1:]:
        place = torch.where(place < 0, -1, grid.place[place])
    there = (place >= 0).nonzero()[:, 0]
    is_old = torch.zeros_like(new.units)
    is_old[place[there]] = True
    left = there[is_old.cumsum(0) - 1]
    finer = values.index_select(0, left)
    added = (~is_old).nonzero()[:, 0]
    if len(added):
        left = left[added]
        begin, end = old.t[left], old.t[left + 1]
        fraction = ((new.t[added] - begin) / (end - begin)).view(-1, *[1] * (values.ndim - 1))
        finer[added] = torch.lerp(values[left], values[left + 1], fraction.to(values.dtype))
    return finer
