"""Linear regions by looking: dense samples of a segment, and bisection where two neighbours differ.

It shares nothing with the library. A mode writes down what activations and max poolings are fed while the network
itself runs in double precision.
"""

import copy
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

WIDTH = 1e-10
"""Changes nearer to each other than this, as a fraction of the segment, are taken for one."""

ROUNDING = 1e-15
"""Features up to this, as a fraction of the largest of their layer, are zero."""

BENT = 1e-7
"""Slopes that differ by no more than this, as a fraction of the mean absolute slope, are the same."""


class Found(NamedTuple):
    """Where something changes, as fractions of the segment, and the area between each logit and its chord."""

    units: np.ndarray
    switches: np.ndarray
    breakpoints: np.ndarray
    areas: np.ndarray


class Inputs(TorchFunctionMode):
    """What activations and max poolings are fed."""

    def __init__(self):
        super().__init__()
        self.units, self.pools = [], []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "").strip("_")
        if name in ("relu", "leaky_relu", "prelu") or (name == "clamp" and (kwargs or {}).get("min") == 0):
            slope = args[1] if name == "prelu" else torch.zeros(1)
            bends = (slope.reshape(-1, *[1] * (args[0].ndim - 2)) != 1).expand(args[0].shape[1:])
            above = args[0] > ROUNDING * args[0].abs().max()
            self.units.append((above & bends).flatten(1))
        elif name in ("max_pool1d", "max_pool2d"):
            names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
            given = {**dict(zip(names, args[1:], strict=False)), **(kwargs or {})}
            padding = given.get("padding", 0)
            self.pools.append(largest(args[0], int(name[-2]), given["kernel_size"], given.get("stride"), padding))
        return func(*args, **(kwargs or {}))


def largest(x: Tensor, axes: int, size: int, stride: int | None, padding: int) -> Tensor:
    """Which entries of each window are the largest, (n, windows, entries)."""
    windows = F.pad(x, [padding] * 2 * axes, value=-torch.inf)
    for axis in range(2, 2 + axes):
        windows = windows.unfold(axis, size, stride or size)
    windows = windows.flatten(2 + axes).flatten(1, 1 + axes)
    return windows >= windows.amax(2, keepdim=True) - ROUNDING * x.abs().max()


class Line:
    """A network on a segment."""

    def __init__(self, model, start: Tensor, end: Tensor):
        self.model = copy.deepcopy(model).double().eval()
        self.start, self.way = start.double(), (end - start).double()

    @torch.no_grad()
    def __call__(self, t):
        """Logits, states of units, and largest entries, at points of the segment."""
        t = torch.as_tensor(t, dtype=torch.float64)
        with Inputs() as seen:
            logits = self.model(self.start + t.view(-1, *[1] * self.way.ndim) * self.way)
        units = torch.cat([*seen.units, torch.zeros(len(t), 0, dtype=torch.bool)], 1)
        pools = [choice.flatten(0, 0) for choice in seen.pools]
        return logits.flatten(1).numpy(), units, pools


def changes(line: Line, differ, samples: int) -> np.ndarray:
    """Where two neighbours differ, by bisection; inside of the segment, and from no point at which units are zero."""
    left = np.concatenate([[10 * WIDTH], (np.arange(1, samples) - 1 / np.pi) / samples, [1 - 10 * WIDTH]])
    left, right = left[:-1], left[1:]
    found = []
    for _ in range(60):
        apart = differ(left, right)
        left, right = left[apart], right[apart]
        narrow = right - left < WIDTH
        found += list((left[narrow] + right[narrow]) / 2)
        left, right = left[~narrow], right[~narrow]
        if not len(left):
            break
        middle = (left + right) / 2
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    found = np.sort(found)
    return found[np.append(True, np.diff(found) > 2 * WIDTH)] if len(found) else found


def look(model, start: Tensor, end: Tensor, samples: int = 2001) -> Found:
    """Find everything on a segment by brute force."""
    line = Line(model, start, end)

    def units_differ(left, right):
        return (line(left)[1] != line(right)[1]).any(1).numpy()

    def pools_differ(left, right):
        none = torch.zeros(len(left), dtype=torch.bool)
        for one, other in zip(line(left)[2], line(right)[2], strict=True):
            none = none | ~(one & other).any(2).all(1)
        return none.numpy()

    units = changes(line, units_differ, samples)
    switches = changes(line, pools_differ, samples)
    both = np.sort(np.concatenate([units, switches]))
    candidates = both[np.append(True, np.diff(both) > 4 * WIDTH)] if len(both) else both
    t = np.concatenate([[0.0], candidates, [1.0]])
    # slopes inside of the pieces, away from their ends
    inner = np.concatenate([t[:-1] + 0.25 * np.diff(t), t[:-1] + 0.75 * np.diff(t)])
    one, other = np.split(line(inner)[0], 2)
    slopes = (other - one) / (0.5 * np.diff(t))[:, None]
    variation = np.abs(slopes * np.diff(t)[:, None]).sum(0).max()
    bent = np.abs(np.diff(slopes, axis=0)).max(1) > BENT * variation + 1e-12
    dense = np.sort(np.concatenate([np.linspace(0, 1, 20001), candidates]))
    logits = line(dense)[0]
    gap = np.abs(logits - logits[0] - dense[:, None] * (logits[-1] - logits[0]))
    areas = float(line.way.norm()) * (np.diff(dense)[:, None] * (gap[1:] + gap[:-1]) / 2).sum(0)
    return Found(units, switches, candidates[bent], areas)
