"""From region to region: the next boundary from one forward pass with its directional derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from affscore.linear_regions.grid import MERGED
from affscore.linear_regions.line import ZERO
from affscore.linear_regions.pieces import Trace
from affscore.linear_regions.pooling import MaxPool
from affscore.linear_regions.prepared import Network
from affscore.linear_regions.rows import Rows, Run


class Step(Run):
    """Points and directions on their way through a network, in one pass.

    Beside its value at a point, a feature has the value one direction further of the affine function that it is in the
    region ahead of the point; the difference of the two is the derivative along the direction. A unit that is zero at
    the point has the state into which its derivative takes it, and so has a window with several largest entries.

    Args:
        network: The network.
        points: Where to look, (n, *shape of a sample).
        directions: And in which direction, of the same shape.

    Attributes:
        logits: The output at the points, (n, logits).
        slopes: Its derivative along the direction, in the region ahead.
        distance: The smallest positive multiple of the direction, up to 1, that leads to the boundary of the region:
            where a unit changes its state, or a max pooling its choice. Infinite for none.
        units: The states of all units, (n, units).
        choices: For each max pooling the entries that are largest in the region, (n, windows, entries).
    """

    def __init__(
        self, network: Network, points: Tensor, directions: Tensor, zeros: Sequence[Tensor] | None = None
    ) -> None:
        super().__init__(network)
        self._given = None if zeros is None else iter(zeros)
        self.zeros: list[Tensor] = []
        self.units: list[Tensor] = []
        self.choices: list[Tensor] = []
        self.distance = points.new_full((len(points),), torch.inf)
        self.logits, ahead = self.through(torch.cat([points, points + directions])).chunk(2)
        self.slopes = ahead - self.logits

    def activation(self, x: Rows, slope: float | Tensor) -> Rows:
        """The states of units, and the distance to where the first of them changes."""
        both = x.rows.flatten(1).unflatten(0, (2, -1))
        here, ahead = both
        zero = self._zero(both)
        above, below = here > zero, here < -zero
        active = above | ((ahead > zero) & ~below)  # where it is zero, the way it goes decides
        moves = above | below
        if isinstance(slope, Tensor):
            slope = slope.expand(x.rows.shape[1:]).flatten()
            active |= slope == 1  # a unit of slope 1 has no states
            moves &= slope != 1
        self.units.append(active)
        # zero is met after 1 / (1 - ahead / here); products are faster than choices
        ratio = (ahead * moves).div_(here + ~moves).amin(1)
        self.distance = torch.minimum(self.distance, torch.where(ratio < 0, 1 / (1 - ratio), torch.inf))
        bent = both * active
        if not isinstance(slope, float) or slope != 0:
            bent += slope * both * ~active
        return Rows.of(bent.view(x.rows.shape), self)

    def changes_since(self, before: Step | None) -> tuple[Tensor, Tensor]:
        """Where a unit, and where a max pooling, is in another state than on an earlier pass."""
        units = switches = torch.zeros_like(self.distance, dtype=torch.bool)
        if before is not None:
            for was, now in zip(before.units, self.units, strict=True):
                units = units | (was != now).any(1)
            for was, now in zip(before.choices, self.choices, strict=True):
                switches = switches | ~(was & now).any(2).all(1)
        return units, switches

    def keep(self, which: Tensor) -> None:
        """Forget all points but some."""
        self.units, self.choices, self.zeros = (
            [part[which] for part in parts] for parts in (self.units, self.choices, self.zeros)
        )

    def _zero(self, both: Tensor) -> Tensor:
        """Up to where the features of each segment are zero, (n, 1): as on the first pass."""
        zero = ZERO * both.abs().amax((0, 2)).unsqueeze(1) if self._given is None else next(self._given)
        self.zeros.append(zero)
        return zero

    def max_pool(self, x: Rows, pool: MaxPool) -> Rows:
        """Choices, and the distance to the nearest change of one."""
        shape = pool(x.rows[:1])[0].shape[1:]
        entries = pool.windows(x.rows.shape, shape, x.rows.device).all_entries(x.rows)
        here, ahead = entries.chunk(2)
        rate = (ahead - here).nan_to_num(nan=-torch.inf)
        largest, fastest = here.amax(2, keepdim=True), rate.amax(2, keepdim=True)
        zero = ZERO * largest.abs().amax(1, keepdim=True)
        behind = largest - here
        level = behind.isfinite() & ((behind <= zero) | (behind <= MERGED * (fastest - rate)))
        among = rate.masked_fill(~level, -torch.inf)
        leader = among.argmax(2, keepdim=True)
        leads = among.gather(2, leader)
        closing = rate - leads
        arrives = ((here.gather(2, leader) - here) / closing).masked_fill(level | (closing <= zero), torch.inf)
        self.distance = torch.minimum(self.distance, arrives.flatten(1).amin(1))
        self.choices.append(level & (rate >= leads - zero))
        return Rows.of(entries.gather(2, leader.repeat(2, 1, 1)).reshape(-1, *shape), self)


class _Found(NamedTuple):
    """The points of one step of a walk."""

    segment: Tensor
    t: Tensor
    logits: Tensor
    slopes: Tensor
    units: Tensor
    switches: Tensor


@torch.no_grad()
def walk(network: Network, starts: Tensor, directions: Tensor, progress: bool | None = None) -> list[Trace]:
    """Walk along segments from one boundary to the next, along all segments at once.

    Args:
        network: The network.
        starts: Where the segments begin, (segments, *shape of a sample).
        directions: End minus start.
        progress: Whether to show a bar of finished segments; None for where there is a terminal.

    Returns:
        What was found on each segment.
    """
    going = torch.arange(len(starts), device=starts.device)
    t = starts.new_zeros(len(starts))
    axes = [1] * (starts.ndim - 1)
    found: list[_Found] = []
    step: Step | None = None
    with tqdm(
        total=len(starts), desc="walk", unit="segment", disable=None if progress is None else not progress
    ) as bar:
        while len(going):
            before, step = (
                step,
                Step(
                    network,
                    starts[going] + t.view(-1, *axes) * directions[going],
                    directions[going],
                    step and step.zeros,
                ),
            )
            changed, switched = step.changes_since(before)
            found.append(_Found(going, t, step.logits, step.slopes, changed, switched))
            t_next = t + step.distance.clamp_min(MERGED / 10)
            on = t_next < 1 - MERGED
            if not bool(on.all()):
                end = step.logits + step.slopes * (1 - t)[:, None]
                none = torch.zeros_like(changed)
                ends = (going, torch.ones_like(t), end, step.slopes, none, none)
                found.append(_Found(*(part[~on] for part in ends)))
                bar.update(int((~on).sum()))
                going, t_next = going[on], t_next[on]
                step.keep(on)
            t = t_next
    segment, *parts = (torch.cat(part).cpu().numpy() for part in zip(*found, strict=True))
    order = np.argsort(segment, kind="stable")
    cuts = np.cumsum(np.bincount(segment))[:-1]
    return [
        Trace(t, logits, units, switches, slopes[:-1])
        for t, logits, slopes, units, switches in zip(*(np.split(part[order], cuts) for part in parts), strict=True)
    ]
