"""From region to region: the next boundary from one forward pass with its directional derivative."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from affscore.linear_regions.grid import MERGED
from affscore.linear_regions.line import ZERO, eights
from affscore.linear_regions.pieces import Trace
from affscore.linear_regions.pooling import MaxPool
from affscore.linear_regions.program import Activation, Affine, Program


class Step:
    """Points and directions on their way through a network, in one pass.

    Beside its value at a point, a feature has the value one direction further of the affine function that it is in the
    region ahead of the point; the difference of the two is the derivative along the direction. A unit that is zero at
    the point has the state into which its derivative takes it, and so has a window with several largest entries.

    Args:
        program: The operations of the network.
        points: Where to look, (n, *shape of a sample).
        directions: And in which direction, of the same shape.
        before: An earlier pass for the same directions, which knows how small is zero.

    Attributes:
        logits: The output at the points, (n, logits).
        slopes: Its derivative along the direction, in the region ahead.
        distance: The smallest positive multiple of the direction that leads to the boundary of the region, where a unit
            changes its state or a max pooling its choice; 1 if it is larger.
        units: The states of all units, (n, units), eight in a word.
        choices: For each max pooling the entries that are largest in the region, (n, windows, entries).
        zeros: Up to where the features of each activation and max pooling are zero, (n, 1).
    """

    def __init__(self, program: Program, points: Tensor, directions: Tensor, before: Step | None = None) -> None:
        self._given = None if before is None else iter(before.zeros)
        self._parts: list[tuple[Tensor, ...]] = []
        self.zeros: list[Tensor] = []
        self.choices: list[Tensor] = []
        self.distance = torch.ones(len(points), dtype=points.dtype, device=points.device)
        features = {0: torch.cat([points, points + directions]).unsqueeze(1)}
        for (what, inputs, outputs), unused in program.steps:
            if isinstance(what, Affine):
                found = what.compute(*[features[number] for number in inputs])
            elif isinstance(what, Activation):
                found = self._activation(features[inputs[0]], what)
            else:
                found = self._max_pool(features[inputs[0]], what)
            features.update(zip(outputs, (found,) if isinstance(found, Tensor) else found, strict=True))
            for number in unused:
                del features[number]
        self.logits, ahead = features[program.output].flatten(1).chunk(2)
        self.slopes = ahead - self.logits
        self.units = self._all_units()

    def _activation(self, x: Tensor, what: Activation) -> Tensor:
        """The states of units decide what becomes of both values."""
        both = x.reshape(2, len(x) // 2, -1)
        here, ahead = both.unbind()
        zero = self._zero(both)
        above, below = here > zero, here < -zero
        active = above | ((ahead > zero) > below)  # where it is zero, the way it goes decides
        moves = above | below
        if what.linear is not None:  # units without states
            active |= what.linear
            moves &= ~what.linear
            here = here.masked_fill(what.linear, 1)
        self._parts.append((here, ahead, moves, active))
        bent = both * active
        if not what.flat:
            bent += what.slope * both * ~active
        return bent.view(x.shape)

    def _all_units(self) -> Tensor:
        """The states of all units, after a look at where the first of them changes."""
        if not self._parts:
            return torch.zeros(len(self.logits), 0, dtype=torch.bool, device=self.logits.device)
        here, ahead, moves, active = (torch.cat(parts, 1) for parts in zip(*self._parts, strict=True))
        self._parts.clear()
        # zero is met after 1 / (1 - ahead / here); products are faster than choices
        ratio = ahead.mul_(moves).div_(here.add_(~moves)).amin(1)
        self.distance = torch.minimum(self.distance, 1 / (1 - ratio.clamp_max_(0)))
        return eights(active)

    def _max_pool(self, x: Tensor, what: MaxPool) -> Tensor:
        """The choices of windows decide what becomes of both values, and where the first of them changes."""
        entries = what.all_entries(x)
        here, ahead = entries.chunk(2)
        rate = (ahead - here).nan_to_num(nan=-torch.inf)
        largest, fastest = here.amax(2, keepdim=True), rate.amax(2, keepdim=True)
        zero = self._zero(largest.flatten(1)).unsqueeze(2)
        behind = largest - here
        level = behind.isfinite() & ((behind <= zero) | (behind <= MERGED * (fastest - rate)))
        among = rate.masked_fill(~level, -torch.inf)
        leader = among.argmax(2, keepdim=True)
        leads = among.gather(2, leader)
        closing = rate - leads
        arrives = ((here.gather(2, leader) - here) / closing).masked_fill(level | (closing <= zero), 1)
        self.distance = torch.minimum(self.distance, arrives.flatten(1).amin(1))
        self.choices.append(level & (rate >= leads - zero))
        shape = what(x[:1])[0].shape[1:]
        return entries.gather(2, leader.repeat(2, 1, 1)).reshape(-1, *shape)

    def changes_since(self, before: Step | None) -> tuple[Tensor, Tensor]:
        """Where a unit, and where a max pooling, is in another state than on an earlier pass."""
        units = switches = torch.zeros_like(self.distance, dtype=torch.bool)
        if before is not None:
            units = (before.units.view(torch.int64) != self.units.view(torch.int64)).any(1)
            for was, now in zip(before.choices, self.choices, strict=True):
                switches = switches | ~(was & now).any(2).all(1)
        return units, switches

    def keep(self, which: Tensor) -> None:
        """Forget all points but some."""
        self.units = self.units[which]
        self.choices = [part[which] for part in self.choices]
        self.zeros = [part[which] for part in self.zeros]

    def _zero(self, values: Tensor) -> Tensor:
        """Up to where the features of each point are zero, (n, 1), of features (..., n, features)."""
        axes = [axis for axis in range(values.ndim) if axis != values.ndim - 2]
        zero = ZERO * values.abs().amax(axes).unsqueeze(1) if self._given is None else next(self._given)
        self.zeros.append(zero)
        return zero


@torch.no_grad()
def walk(program: Program, starts: Tensor, directions: Tensor, progress: bool | None = None) -> list[Trace]:
    """Walk along segments from one boundary to the next, along all segments at once.

    Args:
        program: The operations of the network.
        starts: Where the segments begin, (segments, *shape of a sample).
        directions: End minus start.
        progress: Whether to show a bar of finished segments; None for where there is a terminal.

    Returns:
        What was found on each segment.
    """
    segments = torch.arange(len(starts), device=starts.device)
    t = starts.new_zeros(len(starts))
    found: list[tuple[Tensor, ...]] = []
    step: Step | None = None
    hidden = None if progress is None else not progress
    with tqdm(total=len(starts), desc="walk", unit="segment", disable=hidden) as bar:
        while len(segments):
            points = starts + t.view(-1, *[1] * (starts.ndim - 1)) * directions
            before, step = step, Step(program, points, directions, step)
            found.append((segments, t, step.logits, *step.changes_since(before), step.slopes))
            # further by a little at least, or rounding could keep it where it is
            t_next = t + step.distance.clamp_min(MERGED / 10)
            on = t_next < 1 - MERGED
            if not bool(on.all()):
                end, none = step.logits + step.slopes * (1 - t)[:, None], torch.zeros_like(on)
                ends = (segments, torch.ones_like(t), end, none, none, step.slopes)
                found.append(tuple(part[~on] for part in ends))
                bar.update(int((~on).sum()))
                segments, t_next, starts, directions = (part[on] for part in (segments, t_next, starts, directions))
                step.keep(on)
            t = t_next
    segment, *parts = (torch.cat(part).cpu().numpy() for part in zip(*found, strict=True))
    order = np.argsort(segment, kind="stable")
    cuts = np.cumsum(np.bincount(segment))[:-1]
    return [_trace(*pieces) for pieces in zip(*(np.split(part[order], cuts) for part in parts), strict=True)]


def _trace(t: np.ndarray, logits: np.ndarray, units: np.ndarray, switches: np.ndarray, slopes: np.ndarray) -> Trace:
    """The points of a walk, those that are too near to the one before them taken together with it."""
    first = np.flatnonzero(np.append(True, np.diff(t) > MERGED))
    last = np.append(first[1:], len(t)) - 1
    units, switches = (np.logical_or.reduceat(marks, first) for marks in (units, switches))
    return Trace(t[first], logits[first], units, switches, slopes[last][:-1])
