"""From region to region: the next boundary from one forward pass with its directional derivative."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from affscore.linear_regions.grid import MERGED, points_on
from affscore.linear_regions.line import ZERO
from affscore.linear_regions.pieces import Trace
from affscore.linear_regions.program import Activation, MaxPool, Program


class DualPass:
    """Points and directions on their way through a network, in one pass.

    Beside its value at a point, a feature has the value one direction further of the affine function that it is in the
    region ahead of the point; the difference of the two is the derivative along the direction. A unit that is zero at
    the point has the state into which its derivative takes it, and so has a window with several largest entries.

    Args:
        program: The operations of the network.
        points: Where to look, (n, *shape of a sample).
        directions: And in which direction, of the same shape.

    Attributes:
        logits: The output at the points, (n, logits).
        slopes: Its derivative along the direction, in the region ahead.
        states: Which units are above zero in the region ahead, (n, units + 1).
        choices: For each max pooling the entries that are largest there, (n, windows, entries).
        to_next: The smallest multiple of the direction, up to 1, after which one of these changes.
    """

    def __init__(self, program: Program, points: Tensor, directions: Tensor) -> None:
        none = points.new_zeros(len(points), 1)  # a unit, where a network has none
        self._units = [(none, none, none == 0, none > 0)]
        self._switches = [none + 1]
        self.choices: list[Tensor] = []
        both = torch.cat([points, points + directions]).unsqueeze(1)
        output = program.run({0: both}, {Activation: self._activation, MaxPool: self._max_pool})
        self.logits, ahead = output.flatten(1).chunk(2)
        self.slopes = ahead - self.logits
        here, ahead, same, self.states = (torch.cat(part, 1) for part in zip(*self._units, strict=True))
        changes = (here / (here - ahead)).masked_fill_(same, 1)
        self.to_next = torch.stack([part.amin(1) for part in (changes, *self._switches)]).amin(0)

    def _activation(self, x: Tensor, what: Activation) -> Tensor:
        """The states of units decide what becomes of both values."""
        both = x.reshape(2, len(x) // 2, -1)
        here, ahead = both.unbind()
        if what.linear is not None:  # a unit that does not bend has one state
            here, ahead = here.masked_fill(what.linear, 0), ahead.masked_fill(what.linear, 0)
        size = here.abs()
        zero = ZERO * size.amax(1, keepdim=True)
        rises = ahead > zero
        states = torch.where(size > zero, here > 0, rises)  # where it is zero, the way it goes decides
        self._units.append((here, ahead, rises == states, states))
        return torch.where(states, both, what.slope * both).view(x.shape)

    def _max_pool(self, x: Tensor, what: MaxPool) -> Tensor:
        """The choices of windows decide what becomes of both values."""
        entries = what.all_entries(x)
        here, ahead = entries.chunk(2)
        rate, largest = ahead - here, here.amax(2, keepdim=True)
        zero = ZERO * largest.abs().amax(1, keepdim=True)
        level = largest - here <= zero
        leader = rate.masked_fill(~level, -torch.inf).argmax(2, keepdim=True)
        leads = rate.gather(2, leader)
        closing = rate - leads
        arrives = (here.gather(2, leader) - here) / closing
        self._switches.append(arrives.masked_fill(level | (closing <= zero), 1).flatten(1))
        self.choices.append(level & (rate >= leads - zero))
        return entries.gather(2, leader.repeat(2, 1, 1)).reshape(-1, *what(x[:1])[0].shape[1:])


@torch.inference_mode()
def walk(program: Program, starts: Tensor, directions: Tensor) -> list[Trace]:
    """Walk along segments from one boundary to the next, along all segments at once.

    Args:
        program: The operations of the network.
        starts: Where the segments begin, (segments, *shape of a sample).
        directions: End minus start.

    Returns:
        What was found on each segment.
    """
    segments = torch.arange(len(starts), device=starts.device)
    t = starts.new_zeros(len(starts))
    states, choices = None, list[Tensor]()
    found: list[tuple[Tensor, ...]] = []
    while len(segments):
        step = DualPass(program, points_on(starts, directions, t), directions)
        none = torch.zeros_like(segments, dtype=torch.bool)
        changed, switched = none if states is None else (states != step.states).any(1), none.clone()
        for was, now in zip(choices, step.choices, strict=bool(choices)):
            switched |= ~(was & now).any(2).all(1)
        found.append((segments, t, step.logits, changed, switched))
        # further by a little at least, or rounding could keep it where it is
        t_next = t + step.to_next.clamp_min(MERGED / 10)
        states, choices, on = step.states, step.choices, t_next < 1 - MERGED
        if not bool(on.all()):
            end = step.logits + step.slopes * (1 - t)[:, None]
            found.append(tuple(part[~on] for part in (segments, torch.ones_like(t), end, none, none)))
            segments, t_next, starts, directions = (part[on] for part in (segments, t_next, starts, directions))
            states, choices = states[on], [part[on] for part in choices]
        t = t_next
    segment, *parts = (torch.cat(part).cpu().numpy() for part in zip(*found, strict=True))
    order = np.argsort(segment, kind="stable")
    cuts = np.cumsum(np.bincount(segment))[:-1]
    return [_trace(*pieces) for pieces in zip(*(np.split(part[order], cuts) for part in parts), strict=True)]


def _trace(t: np.ndarray, logits: np.ndarray, units: np.ndarray, switches: np.ndarray) -> Trace:
    """The points of a walk, those that are too near to the one before them taken together with it."""
    first = np.flatnonzero(np.append(True, np.diff(t) > MERGED))
    units, switches = (np.logical_or.reduceat(marks, first) for marks in (units, switches))
    units[[0, -1]] = switches[[0, -1]] = False  # what happens as near to an end as that happens at the end
    return Trace(t[first], logits[first], units, switches)
