"""The line method on whole segments: as many pieces at a time as there is room for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from affscore.linear_regions.line import Line
from affscore.linear_regions.pieces import Trace
from affscore.linear_regions.program import Program

LEAST_POINTS = 8
"""Of a piece."""

EXPECTED = 64.0
"""Points of a segment, before anything is known."""

FILLED = 0.8
"""How full of points a piece is planned to be, as a fraction of the most that it may have."""


class _Segment:
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
def sweep(
    program: Program, starts: Tensor, directions: Tensor, chunk: int, done: Callable[[int], object] = int
) -> list[Trace]:
    """Find all regions of segments by the line method.

    Args:
        program: The operations of the network.
        starts: Where the segments begin, (segments, *shape of a sample).
        directions: End minus start.
        chunk: Most points in the network at once.
        done: Is told how many segments are finished, again and again.

    Returns:
        What was found on each segment.
    """
    segments = [_Segment() for _ in starts]
    waiting, expected = list(range(len(starts))), EXPECTED
    while waiting:
        lanes = waiting[: max(1, min(int(chunk / (2 * expected)), chunk // LEAST_POINTS))]
        limit = chunk // len(lanes)
        pieces = _pieces(program, starts, directions, lanes, [segments[lane] for lane in lanes], limit)
        for lane, piece in zip(lanes, pieces, strict=True):
            segments[lane].add(piece, limit)
        expected = sum(segments[lane].points / segments[lane].at for lane in lanes) / len(lanes)
        waiting = [lane for lane in waiting if segments[lane].at < 1]
        done(sum(segments[lane].at == 1 for lane in lanes))
    return [segment.trace for segment in segments]


def _pieces(
    program: Program, starts: Tensor, directions: Tensor, lanes: list[int], segments: list[_Segment], limit: int
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
