"""All regions of a segment at once: it goes through the network layer by layer, and gains points on the way.

What has too many points for that is swept in pieces, as many at a time as there is room for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from affscore.linear_regions.grid import Grid, points_on
from affscore.linear_regions.pieces import Trace
from affscore.linear_regions.program import Activation, MaxPool, Program, largest_of_all, takeovers

LEAST_POINTS = 8
"""Of a piece."""

EXPECTED, FILLED = 64.0, 0.8
"""Points of a segment, before anything is known, and how full of points a piece is planned to be, as a fraction."""

ZERO = 1e-13
"""Features up to this, as a fraction of the largest one of their layer on the segment, are rounding of zero."""


class Line:
    """Pieces of segments on their way through a network.

    Between two neighbouring points every feature is affine. A bend puts a point where it is met: where a unit crosses
    zero, and where another entry of a window becomes the largest. So the next layer sees an affine function between
    neighbours again. What has been computed before and is used later, as a shortcut is, gets the new points, too.

    Args:
        program: The operations of the network.
        starts: Where the segment of each piece begins, (pieces, *shape of a sample).
        directions: Its end minus its start.
        grid: Where the pieces begin and end.
        limit: How many points there may be for each piece; where there are more in all, long pieces end earlier.
    """

    def __init__(self, program: Program, starts: Tensor, directions: Tensor, grid: Grid, limit: int) -> None:
        self.program, self.grid, self.limit = program, grid, limit
        ends = points_on(starts[grid.segment], directions[grid.segment], grid.t)
        self._known: dict[int, Tensor] = {0: ends.unsqueeze(1)}

    def through(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Take the pieces through the network, once.

        Returns:
            For each piece its points, the logits there (points, logits), and the marks of units and switches.
        """
        logits = self.program.run(self._known, {Activation: self._activation, MaxPool: self._max_pool}).flatten(1)
        found = (self.grid.t, logits, self.grid.units, self.grid.switches)
        cuts = self.grid.ends[0, 1:].cpu().numpy()
        return zip(*(np.split(part.cpu().numpy(), cuts) for part in found), strict=True)

    def _activation(self, x: Tensor, what: Activation) -> Tensor:
        """The points where a unit crosses zero are added; there it is exactly zero."""
        units = x.reshape(len(x), -1)
        zero = self._zero(units)
        above = _above(units, zero[self.grid.segment], what)
        changes = above[1:] ^ above[:-1]
        changes[self.grid.seams] = False
        interval, unit = changes.nonzero(as_tuple=True)
        left, right = units[interval, unit], units[interval + 1, unit]
        # else it is zero at one end of the interval, and does not cross inside
        crossing = torch.minimum(left, right) < -zero[self.grid.segment[interval]]
        if bool(crossing.any()):
            interval, unit, left, right = (part[crossing] for part in (interval, unit, left, right))
            places = self._add(interval, left / (left - right))
            units = self.grid.carried(units)
            units[places[places >= 0], unit[places >= 0]] = 0
            above = _above(units, zero[self.grid.segment], what)
        active = above[1:] | above[:-1]  # in the intervals, at whose ends it may be zero
        self.grid.units[1:-1] |= (active[1:] ^ active[:-1]).any(1)
        self.grid.units[self.grid.ends] = False
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
        """Add points to the grid, and to all features that are still to be used; returns where they stand."""
        self.grid, places = self.grid.refined(interval, fraction, self.limit)
        self._known.update({number: self.grid.carried(values) for number, values in self._known.items()})
        return places

    def _zero(self, units: Tensor) -> Tensor:
        """Up to where the features of each segment are zero."""
        return ZERO * units[self.grid.ends].abs().amax((0, 2))


def _above(units: Tensor, zero: Tensor, what: Activation) -> Tensor:
    """Whether units that bend are above zero, (points, units)."""
    above = units > zero[:, None]
    return above if what.linear is None else above & ~what.linear


@torch.inference_mode()
def sweep(program: Program, starts: Tensor, directions: Tensor, chunk: int) -> list[Trace]:
    """Find all regions of segments by the line method, piece by piece, several segments at once.

    Args:
        program: The operations of the network.
        starts: Where the segments begin, (segments, *shape of a sample).
        directions: End minus start.
        chunk: Most points in the network at once.

    Returns:
        What was found on each segment.
    """
    at, ahead = np.zeros(len(starts)), np.ones(len(starts))  # up to where each is done, and how far its next piece goes
    parts: list[list[tuple[np.ndarray, ...]]] = [[] for _ in starts]
    expected = EXPECTED
    while (lanes := np.flatnonzero(at < 1)).size:
        lanes = lanes[: max(1, min(int(chunk / (2 * expected)), chunk // LEAST_POINTS))]
        limit = chunk // len(lanes)
        grid = Grid.of_ends(starts.new_tensor(at[lanes]), starts.new_tensor(np.minimum(1, at + ahead)[lanes]))
        line = Line(program, starts[lanes], directions[lanes], grid, limit)
        for lane, piece in zip(lanes, line.through(), strict=True):
            t = piece[0]
            done = t[-1] == 1
            parts[lane].append(tuple(part[bool(parts[lane]) : len(t) - (not done)] for part in piece))
            # the next piece begins inside of the last region of this one: its end may be a breakpoint
            at[lane] = 1 if done else (t[-2] + t[-1]) / 2
            ahead[lane] = FILLED * limit * (t[-1] - t[0]) / len(t)
        expected = np.mean([sum(len(part[0]) for part in parts[lane]) / at[lane] for lane in lanes])
    return [Trace(*map(np.concatenate, zip(*found, strict=True))) for found in parts]
