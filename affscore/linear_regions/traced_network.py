"""A network as a piecewise affine function: a copy in double precision, its operations, and how exact they are."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affscore.errors import AffscoreError, form_of, guarded
from affscore.linear_regions.grid import points_on
from affscore.linear_regions.line import sweep
from affscore.linear_regions.pieces import Floats, Trace, bends
from affscore.linear_regions.tracing import program_of
from affscore.linear_regions.walk import DualPass, walk
from affscore.models.card import check_has_weights
from affscore.options import check_integer
from affscore.recorder.calls import Functions
from affscore.recorder.functions import CASTS, kind_of
from affscore.recorder.model_state import choose_device, random_states_kept, to_evaluation, unwrapped

ROOM, ROOM_ON_A_GPU = 2**22, 2**28
"""Bytes that the widest layer may take, where no chunk is given."""

LEAST = 16
"""Points in the network at once."""

AT_ONCE, LOGITS = 64, 2**12
"""Most segments that are looked at together, and most logits of these at one point each: all points are in memory."""

SAME = 1e-6
"""By how much logits may be wrong, as a fraction of the largest one of the segment."""

ROUNDING = 1000
"""And beside that, as a multiple of what rounding of the input does to them."""

AGAIN = 1e-12
"""By how much logits may differ when the network runs again, as a fraction of the largest."""


class TracedNetwork:
    """A network whose operations are known, ready to be looked at along segments.

    What is found is compared with what the network itself returns: a part of it may run where its operations are not
    seen, or their numbers may be lost to rounding.

    Args:
        model: The network.
        start: Where a first segment begins, (*shape of a sample).
        chunk: Most points in the network at once; None for what keeps the widest layer in :data:`ROOM`.
        device: Where the copy of the network goes.

    Attributes:
        logits: How many the network has.

    Raises:
        AffscoreError: The network cannot be copied, fails, is not piecewise affine as far as is known, is random, or
            returns something else than logits of samples.
    """

    def __init__(self, model: nn.Module, start: Tensor, chunk: int | None, device: str) -> None:
        self.network, self.device = double_copy(model, device)
        start = start[None].to(self.device)
        with random_states_kept(self.device), torch.inference_mode():
            self.program, traced = program_of(self.network, start, run)
            room = (ROOM if self.device.type == "cpu" else ROOM_ON_A_GPU) // (8 * self.program.widest)
            self.chunk = min(max(room, LEAST), 4096) if chunk is None else check_integer("chunk", chunk, LEAST)
            logits = self._returned(start)
            difference = float(np.abs(logits - traced.reshape(logits.shape).cpu().numpy()).max())
            if difference > AGAIN * np.abs(logits).max():
                raise AffscoreError(f"the network is random: it gives other numbers when run again ({difference:.3g})")
        self.logits = logits.shape[1]

    def look(self, starts: Tensor, directions: Tensor, method: str) -> Iterator[tuple[Trace, NDArray[np.bool_]]]:
        """What there is on segments, and at which of its points a logit bends, one segment after the other.

        Args:
            starts: Where they begin, (segments, *shape of a sample).
            directions: From there to their ends.
            method: "line" or "walk".

        Raises:
            AffscoreError: Logits that are not finite, or not those of the network.
        """
        together = min(AT_ONCE, self.chunk // 2, max(1, LOGITS // self.logits))
        for first in range(0, len(starts), together):
            part = slice(first, first + together)
            with random_states_kept(self.device), torch.inference_mode():
                found = self._look(starts[part].to(self.device), directions[part].to(self.device), method, first)
            yield from found

    def _look(self, starts: Tensor, directions: Tensor, method: str, first: int) -> list[tuple[Trace, Any]]:
        given = self.program, starts, directions
        traces = walk(*given) if method == "walk" else sweep(*given, self.chunk)
        largest = np.array([np.abs(trace.logits).max() for trace in traces])
        for number in np.flatnonzero(~np.isfinite(largest)).tolist():
            raise AffscoreError(f"logits are NaN or infinite on segment {first + number}")
        t, logits = (np.concatenate(parts) for parts in zip(*map(_four_points, traces), strict=True))
        which = np.arange(len(traces)).repeat(4)
        points = points_on(starts[which], directions[which], starts.new_tensor(t))
        errors = self.compare(points, logits, largest[which], lambda point: f"on segment {first + which[point]}")
        ends = zip(traces, errors.reshape(-1, 4).max(1), starts, directions, strict=True)
        return [(trace, bends(trace, error, partial(self._slopes, *segment))) for trace, error, *segment in ends]

    def compare(self, points: Tensor, found: Floats, largest: Floats, name: Callable[[int], str]) -> Floats:
        """By how much logits differ from those that the network itself returns, (points,).

        Args:
            points: Where, (points, *shape of a sample).
            found: The logits there, (points, logits).
            largest: The largest logit around each point, (points,).
            name: What a point is called, by its number.

        Raises:
            AffscoreError: They differ by more than rounding.
        """
        expected = self._returned(points)
        for point in np.flatnonzero(~np.isfinite(expected).all(1)).tolist():
            raise AffscoreError(f"the output of the network holds NaN or infinity {name(point)}")
        errors = np.abs(found - expected).max(1)
        for point in np.flatnonzero(~(errors <= SAME * largest)).tolist():
            # by how much logits differ between points that are the same but for rounding
            numbers = torch.arange(8 * points[0].numel(), dtype=points.dtype, device=points.device)
            shaken = points[point] + 1e-15 * points.abs().max() * numbers.sin().view(8, *points.shape[1:])
            rounding = np.ptp(self._returned(shaken), axis=0).max()
            if not errors[point] <= SAME * largest[point] + ROUNDING * rounding:
                why = "a part of it is not seen, samples act on each other, or scales of a layer differ by 1e10 or more"
                by = f"its operations give {name(point)} (they differ by {errors[point]:.3g})"
                raise AffscoreError(f"the network itself returns other logits than {by}: {why}")
        return errors

    def _returned(self, points: Tensor) -> Floats:
        """The logits that the network itself returns, (points, logits)."""
        found = []
        for part in points.split(self.chunk):
            output = run(self.network, part)
            if not isinstance(output, Tensor) or output.shape[:1] != (len(part),) or not output.numel():
                need = "it must keep the axis of samples, the first, and return at least one number for each"
                raise AffscoreError(f"the network maps a batch of {len(part)} to {form_of(output)}; {need}")
            found.append(output.reshape(len(part), -1))
        return torch.cat(found).double().cpu().numpy()

    def _slopes(self, start: Tensor, direction: Tensor, t: Floats) -> Floats:
        """Derivatives of the logits along one segment, at points of it."""
        parts = points_on(start[None], direction, start.new_tensor(t)).split(self.chunk // 2)
        slopes = [DualPass(self.program, part, direction.expand_as(part)).slopes for part in parts]
        return torch.cat(slopes).cpu().numpy()


def _four_points(trace: Trace) -> tuple[Floats, Floats]:
    """Both ends of a segment and two points between, and the logits there."""
    left = np.linspace(0, len(trace.t) - 2, 4).round().astype(int)[1:-1]
    # not in the middle of a piece, for the sake of networks with symmetries
    t, logits = (np.concatenate([x[[0, -1]], 0.6 * x[left] + 0.4 * x[left + 1]]) for x in (trace.t, trace.logits))
    return t, logits


def double_copy(model: nn.Module, device: str = "auto") -> tuple[nn.Module, torch.device]:
    """A copy of a network in double precision and evaluation mode, and where it is.

    Args:
        model: The network; wrappers (DataParallel, compiled) are taken off.
        device: Where the copy goes, as in :func:`affscore.signature`.

    Raises:
        AffscoreError: It is no network, it is TorchScript, or a weight is complex, or has no numbers yet (of a lazy
            layer, or on the device "meta").

    >>> model = nn.Sequential(nn.Dropout(), nn.Linear(2, 2))
    >>> network, _ = double_copy(model, "cpu")
    >>> network.training, next(network.parameters()).dtype, model.training
    (False, torch.float64, True)
    """
    inner = unwrapped(model)
    home = choose_device(device, inner)
    check_has_weights(inner, type(inner).__name__)
    if any(weights.is_complex() for weights in (*inner.parameters(), *inner.buffers())):
        raise AffscoreError("weights of the network are complex; regions need real numbers")
    network = copy.deepcopy(inner).to(home, torch.float64)
    to_evaluation(network)
    return network, home


def run(module: nn.Module, samples: Tensor) -> Any:
    """What a network returns for samples; in double precision throughout, and compiled parts run uncompiled.

    Raises:
        AffscoreError: It fails.
    """
    # without this module nothing is compiled, and importing it takes seconds
    eager = torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()
    with torch.autocast(samples.device.type, enabled=False), Functions(_in_double), eager:
        fails = f"the network fails on a sample of shape {tuple(samples.shape[1:])}, in a batch of {len(samples)}"
        return guarded(lambda: module(samples), fails)


def _in_double(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Casts to a type of floating point, as x.half(), leave double precision as it is."""
    found = function(*args, **kwargs)
    if kind_of(function) in CASTS and isinstance(found, Tensor) and found.is_floating_point():
        return args[0].to(found.device, torch.float64)
    return found
