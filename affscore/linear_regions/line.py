"""All regions of a segment at once: it goes through the network layer by layer, and gains points on the way.

What has too many points for that is swept in pieces, as many at a time as there is room for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from affscore.linear_regions.grid import Grid
from affscore.linear_regions.pieces import Trace
from affscore.linear_regions.program import Activation, Affine, MaxPool, Program, largest_of_all, takeovers

LEAST_POINTS = 8
"""Of a piece."""

EXPECTED = 64.0
"""Points of a segment, before anything is known."""

FILLED = 0.8
"""How full of points a piece is planned to be, as a fraction of the most that it may have."""

ZERO = 1e-13
"""Features up to this, as a fraction of the largest one of their layer on the segment, are rounding of zero."""


@dataclass
class _Values:
    """Features, and the number of the grid at whose points they are."""

    values: Tensor
    grid: int


class Line:
    """Pieces of segments on their way through a network.

    Between two neighbouring points every feature is affine. A bend puts a point where it is met: where a unit crosses
    zero, and where another entry of a window becomes the largest. So the next layer sees an affine function between
    neighbours again. What has been computed before, as a shortcut has, gets the new points when it is used.

    Args:
        program: The operations of the network.
        begin: Where each piece begins, as a fraction of its segment.
        end: Where it ends.
        limit: How many points there may be for each piece; where there are more in all, long pieces end earlier.
    """

    def __init__(self, program: Program, begin: Tensor, end: Tensor, limit: int) -> None:
        self.program = program
        self.grids = [Grid.of_ends(begin, end)]
        self.limit = limit

    @property
    def grid(self) -> Grid:
        """The points up to now."""
        return self.grids[-1]

    def through(self, ends: Tensor) -> Tensor:
        """Take the pieces through the network.

        Args:
            ends: Their ends, (points of the first grid, *shape of a sample).

        Returns:
            The logits at the points of the last grid, (points, logits).
        """
        output = self.program.run(_Values(ends.unsqueeze(1), 0), self._step)
        return self._refined(output, len(self.grids) - 1).flatten(1)

    def _step(self, what: Affine | Activation | MaxPool, *given: _Values) -> list[_Values]:
        if isinstance(what, Affine):
            last = max(one.grid for one in given)
            return [_Values(one, last) for one in what.outputs(*(self._refined(one, last) for one in given))]
        x = self._refined(given[0], len(self.grids) - 1)
        found = self._activation(x, what) if isinstance(what, Activation) else self._max_pool(x, what)
        return [_Values(found, len(self.grids) - 1)]

    def _refined(self, features: _Values, last: int) -> Tensor:
        """Features at the points of a later grid."""
        for grid in self.grids[features.grid + 1 : last + 1]:
            features.values = grid.carried(features.values)
        features.grid = max(features.grid, last)
        return features.values

    def _activation(self, x: Tensor, what: Activation) -> Tensor:
        """The points where a unit crosses zero are added; there it is exactly zero."""
        units = x.reshape(len(x), what.units)
        zero = self._zero(units)
        above = _above(units, zero[self.grid.segment], what)
        changes = above[1:] ^ above[:-1]
        changes[self.grid.seams] = False
        interval, unit = places_of(changes)
        left, right = units[interval, unit], units[interval + 1, unit]
        # else it is zero at one end of the interval, and does not cross inside
        crossing = torch.minimum(left, right) < -zero[self.grid.segment[interval]]
        if bool(crossing.any()):
            interval, unit, left, right = interval[crossing], unit[crossing], left[crossing], right[crossing]
            places = self._add(interval, left / (left - right))
            units = self.grid.carried(units)
            units[places[places >= 0], unit[places >= 0]] = 0
            above = above.index_select(0, self.grid.origin)
            anew = torch.cat([places[places >= 0], self.grid.added])
            above[anew] = _above(units[anew], zero[self.grid.segment[anew]], what)
        self._mark_units(above)
        return what.bent(units).view(-1, *x.shape[1:])

    def _max_pool(self, x: Tensor, what: MaxPool) -> Tensor:
        """The points where another entry of a window becomes the largest are added."""
        largest, chosen = what(x)
        zero = self._zero(largest.flatten(1))
        differ = (chosen[1:] != chosen[:-1]).flatten(1)
        differ[self.grid.seams] = False
        interval, window = differ.nonzero(as_tuple=True)
        left, right = (what.entries(x, interval + step, window) for step in (0, 1))
        changes = ~largest_of_all(left, right, zero[self.grid.segment[interval], None]).any(1)
        if bool(changes.any()):
            which, fraction = takeovers(left[changes], right[changes])
            places = self._add(interval[changes][which], fraction)
            x = self.grid.carried(x)
            largest, chosen = what(x)
            self.grid.switches[places[places >= 0]] = True
        # at points that were there before, the largest entry may change, too
        differ = (chosen[2:] != chosen[:-2]).flatten(1)
        differ[self.grid.seams - 1] = differ[self.grid.seams] = False
        point, window = differ.nonzero(as_tuple=True)
        before, there, after = (what.entries(x, point + step, window) for step in (0, 1, 2))
        level = zero[self.grid.segment[point], None]
        stays = largest_of_all(before, there, level) & largest_of_all(there, after, level)
        self.grid.switches[point[~stays.any(1)] + 1] = True
        self.grid.switches[self.grid.ends] = False  # one that was too near to an end is at the end
        return largest

    def _add(self, interval: Tensor, fraction: Tensor) -> Tensor:
        grid, places = self.grid.refined(interval, fraction, self.limit)
        self.grids.append(grid)
        return places

    def _zero(self, units: Tensor) -> Tensor:
        """Up to where the features of each segment are zero."""
        return ZERO * units[self.grid.ends].abs().amax((0, 2))

    def _mark_units(self, above: Tensor) -> None:
        """Mark the points on whose sides a unit has different states."""
        words = above.view(torch.int64)
        active = words[1:] | words[:-1]  # in the intervals, at whose ends it may be zero
        marks = torch.zeros_like(self.grid.units)
        marks[1:-1] = (active[1:] != active[:-1]).any(1)
        marks[self.grid.ends] = False
        self.grid.units.logical_or_(marks)


def _above(units: Tensor, zero: Tensor, what: Activation) -> Tensor:
    """Whether units that bend are above zero, (points, units)."""
    above = units > zero[:, None]
    return eights(above if what.linear is None else above & ~what.linear)


def eights(states: Tensor) -> Tensor:
    """Booleans (rows, columns), with columns added so that always eight fill a word: words are compared faster.

    >>> eights(torch.tensor([[True, False, True]])).view(torch.int64)
    tensor([[65537]])
    """
    missing = -states.shape[1] % 8
    return torch.nn.functional.pad(states, (0, missing)) if missing else states


FEW = 2**15
"""So few states are looked at one by one."""


def places_of(states: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and columns of the true ones among states of which few are, in a multiple of eight columns.

    >>> places_of(eights(torch.tensor([[False, False, True], [True, False, False]])))
    (tensor([0, 1]), tensor([2, 0]))
    """
    if states.numel() < FEW:
        row, column = states.nonzero(as_tuple=True)
        return row, column
    row, word = states.view(torch.int64).nonzero(as_tuple=True)
    which, inside = states.view(len(states), states.shape[1] // 8, 8)[row, word].nonzero(as_tuple=True)
    return row[which], 8 * word[which] + inside


class _Swept:
    """A segment that is being swept.

    Attributes:
        at: Up to where it is done, as a fraction.
        ahead: How far the next piece is to go.
        parts: What was found: points, logits, marks of units and of switches.
    """

    def __init__(self) -> None:
        self.at, self.ahead = 0.0, 1.0
        self.parts: list[tuple[np.ndarray, ...]] = []

    def add(self, piece: tuple[np.ndarray, ...], limit: int) -> None:
        """Take up a piece that may have so many points: what is known at each of its points."""
        t = piece[0]
        begin, end = (1 if self.parts else 0), (len(t) if t[-1] == 1 else len(t) - 1)
        self.parts.append(tuple(part[begin:end] for part in piece))
        # the next piece begins inside of the last region of this one: its end may be a breakpoint
        self.at = 1.0 if t[-1] == 1 else float(t[-2] + t[-1]) / 2
        self.ahead = FILLED * limit * float(t[-1] - t[0]) / len(t)

    @property
    def points(self) -> int:
        """How many were found."""
        return sum(len(part[0]) for part in self.parts)

    @property
    def trace(self) -> Trace:
        """What was found on all of it."""
        return Trace(*(np.concatenate(part) for part in zip(*self.parts, strict=True)))


@torch.inference_mode()
def sweep(program: Program, starts: Tensor, directions: Tensor, chunk: int) -> list[Trace]:
    """Find all regions of segments by the line method.

    Args:
        program: The operations of the network.
        starts: Where the segments begin, (segments, *shape of a sample).
        directions: End minus start.
        chunk: Most points in the network at once.

    Returns:
        What was found on each segment.
    """
    segments = [_Swept() for _ in starts]
    waiting, expected = list(range(len(starts))), EXPECTED
    while waiting:
        lanes = waiting[: max(1, min(int(chunk / (2 * expected)), chunk // LEAST_POINTS))]
        limit = chunk // len(lanes)
        pieces = _pieces(program, starts, directions, lanes, [segments[lane] for lane in lanes], limit)
        for lane, piece in zip(lanes, pieces, strict=True):
            segments[lane].add(piece, limit)
        expected = sum(segments[lane].points / segments[lane].at for lane in lanes) / len(lanes)
        waiting = [lane for lane in waiting if segments[lane].at < 1]
    return [segment.trace for segment in segments]


def _pieces(
    program: Program, starts: Tensor, directions: Tensor, lanes: list[int], segments: list[_Swept], limit: int
) -> list[tuple[np.ndarray, ...]]:
    """The next pieces of some segments."""
    begin = starts.new_tensor([segment.at for segment in segments])
    end = starts.new_tensor([min(1.0, segment.at + segment.ahead) for segment in segments])
    line = Line(program, begin, end, limit)
    which = torch.tensor(lanes, device=starts.device)[line.grid.segment]
    t = line.grid.t.view(-1, *[1] * (starts.ndim - 1))
    logits = line.through(starts[which] + t * directions[which])
    cuts = line.grid.first[1:].cpu().numpy()
    parts = (part.cpu().numpy() for part in (line.grid.t, logits, line.grid.units, line.grid.switches))
    return list(zip(*(np.split(part, cuts) for part in parts), strict=True))
