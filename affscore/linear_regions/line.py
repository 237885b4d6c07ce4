"""All regions of a segment in one go: the segment goes through the network layer by layer, and gains points on the way."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from affscore.linear_regions.grid import Grid, carried
from affscore.linear_regions.pooling import MaxPool, largest_of_all, takeovers
from affscore.linear_regions.prepared import Network
from affscore.linear_regions.rows import Rows, Run

ZERO = 1e-13
"""Features of no more than this, as a fraction of the largest one of their layer on the segment, are rounding of zero."""


class Line(Run):
    """Pieces of segments on their way through a network.

    Between two neighbouring points every feature is affine. A bend puts a point where it is met: where a unit crosses
    zero, and where another entry of a window becomes the largest. So the next layer sees an affine function between
    neighbours again. What has been computed before, as a shortcut has, gets the new points when it is used.

    Args:
        network: The network.
        begin: Where each piece begins, as a fraction of its segment.
        end: Where it ends.
        limit: Most points of a piece; one that needs more ends earlier.
    """

    def __init__(self, network: Network, begin: Tensor, end: Tensor, limit: int) -> None:
        super().__init__(network)
        self.grids = [Grid.of_ends(begin, end)]
        self.limit = limit

    @property
    def grid(self) -> Grid:
        """The points up to now."""
        return self.grids[-1]

    def aligned(self, tensors: Sequence[Rows], newest: bool = False) -> int:
        """Bring tensors to the points of the latest among them, or of all."""
        grid = len(self.grids) - 1 if newest else max(tensor.grid for tensor in tensors)
        for tensor in tensors:
            if tensor.grid < grid:
                tensor.rows = carried(tensor.rows, self.grids[tensor.grid : grid + 1])
                tensor.grid = grid
        return grid

    def activation(self, x: Rows, slope: float | Tensor) -> Rows:
        """The points where a unit crosses zero are added; there it is exactly zero."""
        self.aligned([x], newest=True)
        units = x.rows.flatten(1)
        bends: Tensor | None = None
        if isinstance(slope, Tensor):
            slope = slope.expand(x.shape).flatten()
            bends = slope != 1  # a unit of slope 1 has no states
        zero = self._zero(units)
        above = _above(units, zero[self.grid.segment], bends)
        interval, unit = places_of(_differ(above[:-1], above[1:], self.grid.within))
        left, right = units[interval, unit], units[interval + 1, unit]
        # else it is zero at one end of the interval, and does not cross inside
        crossing = torch.minimum(left, right) < -zero[self.grid.segment[interval]]
        interval, unit, left, right = interval[crossing], unit[crossing], left[crossing], right[crossing]
        if len(interval):
            places = self._refine(interval, left / (left - right))
            units = carried(units, self.grids[-2:])
            units[places[places >= 0], unit[places >= 0]] = 0
            above = _above(units, zero[self.grid.segment], bends)
        active = above[:-1] | above[1:]
        within = self.grid.within
        self.grid.units[1:-1] |= words(_differ(active[:-1], active[1:], within[:-1] & within[1:])).any(1)
        flat = isinstance(slope, float) and slope == 0
        bent = units.clamp_min(0) if flat else torch.where(units > 0, units, slope * units)
        return Rows.of(bent.reshape(-1, *x.shape), self, len(self.grids) - 1)

    def max_pool(self, x: Rows, pool: MaxPool) -> Rows:
        """The points where another entry of a window becomes the largest are added."""
        self.aligned([x], newest=True)
        largest, chosen = pool(x.rows)
        zero = self._zero(largest.flatten(1))
        windows = pool.windows(x.shape, largest.shape, x.device)
        interval, window = places_of(_differ(chosen[:-1].flatten(1), chosen[1:].flatten(1), self.grid.within))
        left, right = (windows.entries(x.rows, interval + step, window) for step in (0, 1))
        changes = ~largest_of_all(left, right, zero[self.grid.segment[interval]][:, None]).any(1)
        if bool(changes.any()):
            which, fraction = takeovers(left[changes], right[changes])
            places = self._refine(interval[changes][which], fraction)
            x = Rows.of(carried(x.rows, self.grids[-2:]), self, len(self.grids) - 1)
            largest, chosen = pool(x.rows)
            self.grid.switches[places[places >= 0]] = True
        # at points that were there before, the largest entry may change, too
        within = self.grid.within[:-1] & self.grid.within[1:]
        point, window = places_of(_differ(chosen[:-2].flatten(1), chosen[2:].flatten(1), within))
        before, there, after = (windows.entries(x.rows, point + step, window) for step in (0, 1, 2))
        level = zero[self.grid.segment[point]][:, None]
        stays = largest_of_all(before, there, level) & largest_of_all(there, after, level)
        self.grid.switches[point[~stays.any(1)] + 1] = True
        return Rows.of(largest, self, len(self.grids) - 1)

    def _refine(self, interval: Tensor, fraction: Tensor) -> Tensor:
        grid, places = self.grid.refined(interval, fraction, self.limit)
        self.grids.append(grid)
        return places

    def _zero(self, units: Tensor) -> Tensor:
        """Up to where the features of each segment are zero."""
        first, last = units[self.grid.first], units[self.grid.last]
        return ZERO * torch.maximum(first.abs().amax(1), last.abs().amax(1))


def _above(units: Tensor, zero: Tensor, bends: Tensor | None) -> Tensor:
    above = units > zero[:, None]
    return above if bends is None else above & bends


def _differ(one: Tensor, other: Tensor, where: Tensor) -> Tensor:
    """In which columns two tables differ, in some of the rows."""
    return (one != other) & where[:, None]


def words(states: Tensor) -> Tensor:
    """Booleans (rows, columns), eight in a number if they can be: fewer to look at."""
    return states.view(torch.int64) if states.shape[1] % 8 == 0 else states


def places_of(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and columns of the true entries of a mask that has few.

    >>> places_of(torch.tensor([[False] * 15 + [True], [True] + [False] * 15]))
    (tensor([0, 1]), tensor([15,  0]))
    """
    row, column = words(mask).nonzero(as_tuple=True)
    if mask.shape[1] % 8:
        return row, column
    which, inside = mask.view(len(mask), mask.shape[1] // 8, 8)[row, column].nonzero(as_tuple=True)
    return row[which], 8 * column[which] + inside
