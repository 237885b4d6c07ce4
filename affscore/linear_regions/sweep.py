"""The line method on whole segments: as many pieces at a time as there is room for."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from affscore.linear_regions.line import Line
from affscore.linear_regions.pieces import Trace
from affscore.linear_regions.program import Program

LEAST_POINTS = 8
"""Of a piece."""

FILLED = 0.8
"""How full of points a piece is planned to be, as a fraction of the most that it may have."""


class _Segment:
    """A segment that is being swept.

    Attributes:
        at: Up to where it is done, as a fraction.
        ahead: How far the next piece goes.
        parts: What was found: points, logits, marks of units and of switches.
    """

    def __init__(self) -> None:
        self.at, self.ahead = 0.0, 1.0
        self.parts: list[tuple[np.ndarray, ...]] = []

    def add(self, piece: tuple[np.ndarray, ...], limit: int) -> None:
        """Take up a piece: its points, the first and the last included, and what is known there."""
        t = piece[0]
        begin = 1 if self.parts else 0  # where the last piece ended nothing bends
        end = len(t) if t[-1] == 1 else len(t) - 1
        self.parts.append(tuple(part[begin:end] for part in piece))
        density = len(t) / (t[-1] - t[0])
        # the next piece begins inside of the last region of this one: where it ends may be a breakpoint
        self.at = 1.0 if t[-1] == 1 else float(t[-2] + t[-1]) / 2
        self.ahead = FILLED * limit / density

    @property
    def trace(self) -> Trace:
        return Trace(*(np.concatenate(part) for part in zip(*self.parts, strict=True)))


@torch.no_grad()
def sweep(
    program: Program, starts: Tensor, directions: Tensor, chunk: int, progress: bool | None = None
) -> list[Trace]:
    """Find all regions of segments by the line method.

    Args:
        program: The operations of the network.
        starts: Where the segments begin, (segments, *shape of a sample).
        directions: End minus start.
        chunk: Most points in the network at once.
        progress: Whether to show a bar of finished segments; None for where there is a terminal.

    Returns:
        What was found on each segment.
    """
    segments = [_Segment() for _ in range(len(starts))]
    waiting, expected = list(range(len(starts))), chunk / 8
    hidden = None if progress is None else not progress
    with tqdm(total=len(segments), desc="line", unit="segment", disable=hidden) as bar:
        while waiting:
            lanes = waiting[: max(1, min(int(chunk / (2 * expected)), chunk // LEAST_POINTS))]
            limit = max(chunk // len(lanes), LEAST_POINTS)
            pieces = _pieces(program, starts, directions, [(lane, segments[lane]) for lane in lanes], limit)
            for lane, piece in zip(lanes, pieces, strict=True):
                segments[lane].add(piece, limit)
            done = [lane for lane in lanes if segments[lane].at == 1]
            covered = np.mean([segments[lane].at for lane in lanes])
            expected = np.mean([sum(len(part[0]) for part in segments[lane].parts) for lane in lanes]) / covered
            waiting = [lane for lane in waiting if lane not in done]
            bar.update(len(done))
    return [segment.trace for segment in segments]


def _pieces(
    program: Program, starts: Tensor, directions: Tensor, lanes: list[tuple[int, _Segment]], limit: int
) -> list[tuple[np.ndarray, ...]]:
    """The next pieces of some segments."""
    numbers = torch.tensor([number for number, _ in lanes], device=starts.device)
    begin = starts.new_tensor([segment.at for _, segment in lanes])
    end = starts.new_tensor([min(1.0, segment.at + segment.ahead) for _, segment in lanes])
    run = Line(program, begin, end, limit)
    which = numbers[run.grid.segment]
    t = run.grid.t.view(-1, *[1] * (starts.ndim - 1))
    logits = run.through(starts[which] + t * directions[which])
    grid = run.grid
    cuts = grid.first[1:].cpu().numpy()
    parts = (part.cpu().numpy() for part in (grid.t, logits, grid.units, grid.switches))
    return list(zip(*(np.split(part, cuts) for part in parts), strict=True))
