"""All regions of a segment in one go: the segment goes through the network layer by layer, and gains points on the way."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from affscore.linear_regions.grid import Grid
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
            for finer in self.grids[tensor.grid + 1 : grid + 1]:
                tensor.rows = finer.carried(tensor.rows)
            tensor.grid = grid
        return grid

    def activation(self, x: Rows, slope: float | Tensor) -> Rows:
        """The points where a unit crosses zero are added; there it is exactly zero."""
        self.aligned([x], newest=True)
        units = x.rows.flatten(1)
        if isinstance(slope, Tensor):
            slope = slope.expand(x.rows.shape[1:]).flatten()
        zero = self._zero(units)
        above = _above(units, zero[self.grid.segment], slope)
        interval, unit = self._changes(above)
        left, right = units[interval, unit], units[interval + 1, unit]
        # else it is zero at one end of the interval, and does not cross inside
        crossing = torch.minimum(left, right) < -zero[self.grid.segment[interval]]
        if bool(crossing.any()):
            interval, unit, left, right = interval[crossing], unit[crossing], left[crossing], right[crossing]
            places = self._refine(interval, left / (left - right))
            units = self.grid.carried(units)
            units[places[places >= 0], unit[places >= 0]] = 0
            above = above.index_select(0, self.grid.origin)
            anew = torch.cat([places[places >= 0], self.grid.added])
            above[anew] = _above(units[anew], zero[self.grid.segment[anew]], slope)
        self._mark_units(above)
        flat = isinstance(slope, float) and slope == 0
        bent = units.clamp_min(0) if flat else torch.where(units > 0, units, slope * units)
        return Rows.of(bent.view(-1, *x.rows.shape[1:]), self, len(self.grids) - 1)

    def max_pool(self, x: Rows, pool: MaxPool) -> Rows:
        """The points where another entry of a window becomes the largest are added."""
        self.aligned([x], newest=True)
        rows = x.rows
        largest, chosen = pool(rows)
        zero = self._zero(largest.flatten(1))
        windows = pool.windows(rows.shape, largest.shape, rows.device)
        differ = (chosen[1:] != chosen[:-1]).flatten(1)
        differ[self.grid.seams] = False
        interval, window = differ.nonzero(as_tuple=True)
        left, right = (windows.entries(rows, interval + step, window) for step in (0, 1))
        changes = ~largest_of_all(left, right, zero[self.grid.segment[interval], None]).any(1)
        if bool(changes.any()):
            which, fraction = takeovers(left[changes], right[changes])
            places = self._refine(interval[changes][which], fraction)
            rows = self.grid.carried(rows)
            largest, chosen = pool(rows)
            self.grid.switches[places[places >= 0]] = True
        # at points that were there before, the largest entry may change, too
        differ = (chosen[2:] != chosen[:-2]).flatten(1)
        differ[self.grid.seams - 1] = differ[self.grid.seams] = False
        point, window = differ.nonzero(as_tuple=True)
        before, there, after = (windows.entries(rows, point + step, window) for step in (0, 1, 2))
        level = zero[self.grid.segment[point], None]
        stays = largest_of_all(before, there, level) & largest_of_all(there, after, level)
        self.grid.switches[point[~stays.any(1)] + 1] = True
        return Rows.of(largest, self, len(self.grids) - 1)

    def _refine(self, interval: Tensor, fraction: Tensor) -> Tensor:
        grid, places = self.grid.refined(interval, fraction, self.limit)
        self.grids.append(grid)
        return places

    def _zero(self, units: Tensor) -> Tensor:
        """Up to where the features of each segment are zero."""
        return ZERO * units[self.grid.ends].abs().amax((0, 2))

    def _changes(self, above: Tensor) -> tuple[Tensor, Tensor]:
        """Behind which points which units are above zero at one end of the interval only."""
        words = above.view(torch.int64)
        changes = words[1:] ^ words[:-1]
        changes[self.grid.seams] = 0
        row, word = changes.nonzero(as_tuple=True)
        which, byte = changes[row, word, None].view(torch.bool).nonzero(as_tuple=True)
        return row[which], 8 * word[which] + byte

    def _mark_units(self, above: Tensor) -> None:
        """Mark the points on whose sides a unit has different states."""
        words = above.view(torch.int64)
        active = words[1:] | words[:-1]  # in the intervals, at whose ends it may be zero
        marks = torch.zeros_like(self.grid.units)
        marks[1:-1] = (active[1:] != active[:-1]).any(1)
        marks[self.grid.ends] = False
        self.grid.units.logical_or_(marks)


def _above(units: Tensor, zero: Tensor, slope: float | Tensor) -> Tensor:
    """Whether units that bend are above zero, (points, units), in a multiple of eight columns: eight fill a word."""
    above = torch.zeros(len(units), -(-units.shape[1] // 8) * 8, dtype=torch.bool, device=units.device)
    torch.gt(units, zero[:, None], out=above[:, : units.shape[1]])
    if isinstance(slope, Tensor):
        above[:, : units.shape[1]] &= slope != 1
    return above
