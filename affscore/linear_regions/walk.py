"""From region to region: the next boundary from one forward pass with its directional derivative."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from affscore.linear_regions.grid import MERGED
from affscore.linear_regions.line import ZERO, places_of
from affscore.linear_regions.pieces import Trace
from affscore.linear_regions.program import Activation, Affine, MaxPool, Program


class Units(NamedTuple):
    """What is known of all units at points, of one activation after the other, and then up to a multiple of eight.

    Attributes:
        states: Whether they are above zero, (n, units).
        zeros: Up to where they are zero, of the same shape.
    """

    states: Tensor
    zeros: Tensor


class DualPass:
    """Points and directions on their way through a network, in one pass.

    Beside its value at a point, a feature has the value one direction further of the affine function that it is in the
    region ahead of the point; the difference of the two is the derivative along the direction. A unit that is zero at
    the point has the state into which its derivative takes it, and so has a window with several largest entries.

    Args:
        program: The operations of the network.
        points: Where to look, (n, *shape of a sample).
        directions: And in which direction, of the same shape.
        units: The states of units in the region ahead, if they are known.

    Attributes:
        logits: The output at the points, (n, logits).
        slopes: Its derivative along the direction, in the region ahead.
        here: The features of all activations, (n, units).
        ahead: And one direction further.
        changing: The units that have another state there, (n, units), eight in a word.
        units: The states of units.
        choices: For each max pooling the entries that are largest in the region, (n, windows, entries).
        to_switch: The smallest multiple of the direction, up to 1, after which a max pooling changes its choice.
    """

    def __init__(self, program: Program, points: Tensor, directions: Tensor, units: Units | None = None) -> None:
        sizes = [*program.units, program.missing]
        known = None if units is None else zip(*(part.split(sizes, 1) for part in units), strict=True)
        self._known: Iterator[tuple[Tensor, ...]] | None = known
        self._parts: list[tuple[Tensor, ...]] = []
        self.choices: list[Tensor] = []
        self.to_switch = torch.ones(len(points), dtype=points.dtype, device=points.device)
        output = program.run(torch.cat([points, points + directions]).unsqueeze(1), self._step)
        self.logits, ahead = output.flatten(1).chunk(2)
        self.slopes = ahead - self.logits
        missing = self.logits.new_zeros(len(points), program.missing)
        self._parts.append((missing, missing, missing > 0, *(() if units else (missing > 0, missing))))
        self.here, self.ahead, self.changing, *found = (torch.cat(part, 1) for part in zip(*self._parts, strict=True))
        self.units = units or Units(*found)

    def _step(self, what: Affine | Activation | MaxPool, *given: Tensor) -> Sequence[Tensor]:
        if isinstance(what, Affine):
            return what.outputs(*given)
        (x,) = given
        return [self._activation(x, what) if isinstance(what, Activation) else self._max_pool(x, what)]

    def _activation(self, x: Tensor, what: Activation) -> Tensor:
        """The states of units decide what becomes of both values."""
        both = x.reshape(2, len(x) // 2, -1)
        here, ahead = both.unbind()
        if self._known is None:
            zero = (ZERO * here.abs().amax(1, keepdim=True)).expand_as(here)
            states = (here > zero) | ((ahead > zero) & (here >= -zero))  # where it is zero, the way it goes decides
            if what.linear is not None:
                states |= what.linear  # of a unit that does not bend both states are one
            found: tuple[Tensor, ...] = (states, zero)
        else:
            states, zero = next(self._known)
            found = ()
        changing = (ahead > zero) ^ states
        if what.linear is not None:  # units without states
            changing &= ~what.linear
        self._parts.append((here, ahead, changing, *found))
        bent = both * states
        if not what.flat:
            bent += what.slope * both * ~states
        return bent.view(x.shape)

    def _max_pool(self, x: Tensor, what: MaxPool) -> Tensor:
        """The choices of windows decide what becomes of both values, and where the first of them changes."""
        entries = what.all_entries(x)
        here, ahead = entries.chunk(2)
        rate = (ahead - here).nan_to_num(nan=-torch.inf)
        largest = here.amax(2, keepdim=True)
        zero = ZERO * largest.abs().amax(1, keepdim=True)
        behind = largest - here
        level = behind <= zero
        among = rate.masked_fill(~level, -torch.inf)
        leader = among.argmax(2, keepdim=True)
        leads = among.gather(2, leader)
        closing = rate - leads
        arrives = ((here.gather(2, leader) - here) / closing).masked_fill(level | (closing <= zero), 1)
        self.to_switch = torch.minimum(self.to_switch, arrives.flatten(1).amin(1))
        self.choices.append(level & (rate >= leads - zero))
        shape = what(x[:1])[0].shape[1:]
        return entries.gather(2, leader.repeat(2, 1, 1)).reshape(-1, *shape)


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
    units: Units | None = None
    states, choices = None, list[Tensor]()
    found: list[tuple[Tensor, ...]] = []
    while len(segments):
        points = starts + t.view(-1, *[1] * (starts.ndim - 1)) * directions
        step, row, unit, after = _settled(program, points, directions, units)
        units = step.units
        changed = _differ(units.states, units.states if states is None else states)
        switched = torch.zeros_like(changed)
        for was, now in zip(choices, step.choices, strict=bool(choices)):
            switched |= ~(was & now).any(2).all(1)
        found.append((segments, t, step.logits, changed, switched, step.slopes))

        states, choices = units.states.clone(), step.choices
        distance = step.to_switch.scatter_reduce(0, row, after, "amin")
        first = after <= distance[row]
        _change(units, row[first], unit[first])
        # further by a little at least, or rounding could keep it where it is
        t_next = t + distance.clamp_min(MERGED / 10)
        on = t_next < 1 - MERGED
        if not bool(on.all()):
            end, none = step.logits + step.slopes * (1 - t)[:, None], torch.zeros_like(on)
            ends = (segments, torch.ones_like(t), end, none, none, step.slopes)
            found.append(tuple(part[~on] for part in ends))
            segments, t_next, starts, directions = (part[on] for part in (segments, t_next, starts, directions))
            units, states = Units(units.states[on], units.zeros[on]), states[on]
            choices = [choice[on] for choice in choices]
        t = t_next
    segment, *parts = (torch.cat(part).cpu().numpy() for part in zip(*found, strict=True))
    order = np.argsort(segment, kind="stable")
    cuts = np.cumsum(np.bincount(segment))[:-1]
    return [_trace(*pieces) for pieces in zip(*(np.split(part[order], cuts) for part in parts), strict=True)]


def _settled(
    program: Program, points: Tensor, directions: Tensor, units: Units | None
) -> tuple[DualPass, Tensor, Tensor, Tensor]:
    """A pass in which all units have the states of the region ahead.

    Returns:
        The pass; the points and the units that change their state within one direction; and after how much of it.
    """
    while True:
        step = DualPass(program, points, directions, units)
        units = step.units
        row, unit = places_of(step.changing)
        place = row * step.here.shape[1] + unit
        here, ahead, active, zero = (part.take(place) for part in (step.here, step.ahead, *units))
        late = torch.where(active, here <= zero, here >= -zero)
        if not bool(late.any()):
            return step, row, unit, here / (here - ahead)
        _change(units, row[late], unit[late])  # it meets zero here, as others did that it depends on


def _change(units: Units, row: Tensor, unit: Tensor) -> None:
    """Give some units the other state."""
    flat = units.states.view(-1)
    place = row * units.states.shape[1] + unit
    flat[place] = ~flat.take(place)


def _differ(one: Tensor, other: Tensor) -> Tensor:
    """In which rows two tables of states differ."""
    return (one.view(torch.int64) != other.view(torch.int64)).any(1)


def _trace(t: np.ndarray, logits: np.ndarray, units: np.ndarray, switches: np.ndarray, slopes: np.ndarray) -> Trace:
    """The points of a walk, those that are too near to the one before them taken together with it."""
    first = np.flatnonzero(np.append(True, np.diff(t) > MERGED))
    last = np.append(first[1:], len(t)) - 1
    units, switches = (np.logical_or.reduceat(marks, first) for marks in (units, switches))
    units[[0, -1]] = switches[[0, -1]] = False  # what happens as near to an end as that happens at the end
    return Trace(t[first], logits[first], units, switches, slopes[last][:-1])
