"""The linear regions of a network along a segment: how many, where, and how far the network is from affine there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.linear_regions.pieces import Floats, Trace, absolute_deviation, bends, total_variation
from affscore.linear_regions.prepared import prepared_copy
from affscore.linear_regions.program import Program
from affscore.linear_regions.sweep import sweep
from affscore.linear_regions.tracing import program_of, run
from affscore.linear_regions.walk import Step, walk
from affscore.network.randomness import random_states_kept
from affscore.options import check_integer

MethodName = Literal["line", "walk"]

CHUNK_BYTES = {"cpu": 2**22, "cuda": 2**28}
"""What the widest layer may hold at once, where no chunk is given."""

CHECKED = 4
"""At how many points of a segment the line method's logits are compared with a forward pass."""


@dataclass(frozen=True, eq=False)
class Segment:
    """What a network does between two inputs: a piecewise affine function of the way.

    Attributes:
        t: The points between which all units keep their states, as fractions of the segment, from 0 to 1.
        logits: The network's output there, (points, logits).
        unit_changes: Where a unit changes its state, rising, in (0, 1).
        switch_changes: Where a max pooling changes its choice: an entry that is largest before and none after.
        breakpoints: Where the slope of a logit changes.
        length: The distance of start and end, in the metric of the input.
    """

    t: Floats
    logits: Floats
    unit_changes: Floats
    switch_changes: Floats
    breakpoints: Floats
    length: float

    @property
    def count(self) -> int:
        """The number of pieces of the function: breakpoints + 1."""
        return len(self.breakpoints) + 1

    @property
    def patterns(self) -> int:
        """The number of activation patterns, one after the other: crossings + 1."""
        return len(self.unit_changes) + 1

    @property
    def crossings(self) -> int:
        """How often the activation pattern changes: what the paper calls density."""
        return len(self.unit_changes)

    @property
    def switches(self) -> int:
        """At how many points a max pooling changes its choice."""
        return len(self.switch_changes)

    @cached_property
    def absolute_deviation(self) -> Floats:
        """The area between each logit and its chord (:func:`affscore.linear_regions.absolute_deviation`)."""
        return absolute_deviation(self.t, self.logits, self.length)

    @cached_property
    def deviation_upper_bound(self) -> Floats:
        """The published upper bound of it."""
        return absolute_deviation(self.t, self.logits, self.length, mode="upper_bound")

    @cached_property
    def total_variation(self) -> Floats:
        """The way that each logit goes up and down."""
        return total_variation(self.logits)

    def __repr__(self) -> str:
        return (
            f"Segment(count={self.count}, patterns={self.patterns}, switches={self.switches}, length={self.length:.6g})"
        )


def along_segment(
    model: nn.Module, start: Any, end: Any, method: MethodName = "line", chunk: int | None = None, device: str = "auto"
) -> Segment:
    r"""Find all linear regions of a network on the segment between two inputs, exactly.

    A network of affine operations, ReLU, LeakyReLU, PReLU and max pooling is a continuous piecewise affine function; on
    the segment :math:`x(t) = x_0 + t\,(x_1 - x_0)` its bends are at finitely many :math:`t`. Three things are counted
    apart: the changes of the activation pattern (which units are above zero), the changes of the choices of max pooling,
    and the breakpoints of the function, where the slope of a logit changes. Not every change of a pattern is a
    breakpoint: the unit may be dead downstream.

    Computed in double precision on a copy in evaluation mode; the model is not touched. Tolerances: points nearer to
    each other than 1e-12 of the segment are one; features up to 1e-13 of the largest one of their layer are zero; a
    slope changes where it does by more than 1e-8 of the total variation (:mod:`affscore.linear_regions.pieces` on how
    rounding is told apart).

    Args:
        model: The network, of one tensor (samples, ...), to one tensor (samples, ...) of logits.
        start: Where the segment begins: of the shape of the model's input, without samples.
        end: Where it ends.
        method: "line" pushes the whole segment through the network, layer by layer; "walk" goes from region to region,
            each found by one forward pass with its directional derivative. Both find the same.
        chunk: Most points in the network at once (of the line method, at least 64), which bounds its memory; None for
            as many as keep the widest layer at 4 MB, on a GPU at 256 MB.
        device: As in :func:`affscore.signature`.

    Returns:
        The segment: ``.breakpoints``, ``.count``, ``.patterns``, ``.switches``, ``.length``, ``.absolute_deviation``.

    Raises:
        AffscoreError: An operation that is not piecewise affine (named, with its layer), a network that fails or is
            random, ends that are no finite numbers, of different shapes, or the same.

    Source: Gamba et al. (2022); the walk is theirs, the line method that of Sotoudeh & Thakur (2019), extended to
    shortcuts and max pooling.

    >>> kink = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    >>> _ = torch.nn.init.constant_(kink[0].weight, 4.0), torch.nn.init.constant_(kink[0].bias, -1.0)
    >>> segment = along_segment(kink, [0.0], [1.0])
    >>> segment.breakpoints, segment.count, segment.absolute_deviation  # a triangle of height 0.75
    (array([0.25]), 2, array([0.375]))
    """
    return along_segments(
        model, _tensor(start, "start")[None], _tensor(end, "end")[None], method, chunk, device, False
    )[0]


def along_segments(
    model: nn.Module,
    starts: Any,
    ends: Any,
    method: MethodName = "line",
    chunk: int | None = None,
    device: str = "auto",
    progress: bool | None = None,
) -> list[Segment]:
    """Find all linear regions of a network on several segments.

    Args:
        model: As in :func:`along_segment`.
        starts: Where the segments begin, (segments, *shape of a sample).
        ends: Where they end, of the same shape.
        method: As there.
        chunk: As there.
        device: As there.
        progress: Whether to show a bar of finished segments; None for where there is a terminal.

    Returns:
        The segments, in their order; each is what :func:`along_segment` gives for it, up to rounding.

    Raises:
        AffscoreError: As there; the message says which segment.
    """
    begins, directions = _checked(_tensor(starts, "starts"), _tensor(ends, "ends"))
    if method not in get_args(MethodName):
        raise AffscoreError(f"method must be one of {', '.join(get_args(MethodName))}, got {method!r}")
    if chunk is not None:
        chunk = check_integer("chunk", chunk, 64)
    network, place = prepared_copy(model, device)
    with torch.no_grad(), random_states_kept(place):
        begins, directions = begins.to(place), directions.to(place)
        program = program_of(network, begins[:1])
        _check_program(program, network, begins[:1], directions[:1])
        if method == "walk":
            traces = walk(program, begins, directions, progress)
            errors = [1e-15] * len(traces)
        else:
            if chunk is None:
                room = CHUNK_BYTES["cpu" if place.type == "cpu" else "cuda"] // (8 * program.widest)
                chunk = min(max(room, 64), 4096)
            traces = sweep(program, begins, directions, chunk, progress)
            errors = _errors(program, begins, directions, traces, chunk)
        lengths = directions.flatten(1).norm(dim=1).tolist()
        return [
            _segment(program, begins[i], directions[i], trace, errors[i], lengths[i], chunk or 4096)
            for i, trace in enumerate(traces)
        ]


def _segment(
    program: Program, begin: Tensor, direction: Tensor, trace: Trace, error: float, length: float, chunk: int
) -> Segment:
    def slopes_at(t: Floats) -> Floats:
        steps = [_step_at(program, begin, direction, part) for part in np.array_split(t, -(-2 * len(t) // chunk))]
        return np.concatenate([step.slopes.cpu().numpy() for step in steps])

    scale = max(float(np.abs(trace.logits).max()), 1e-300)
    bent = bends(trace, max(4 * error, 1e-15) * scale, slopes_at)
    t = trace.t
    return Segment(t, trace.logits, t[trace.units], t[trace.switches], t[bent], length)


def _step_at(program: Program, begin: Tensor, direction: Tensor, t: Sequence[float] | Floats) -> Step:
    """A pass at points of a segment."""
    at = begin.new_tensor(np.asarray(t)).view(-1, *[1] * begin.ndim)
    return Step(program, begin + at * direction, direction.expand(len(t), *direction.shape))


def _check_program(program: Program, network: nn.Module, begin: Tensor, direction: Tensor) -> None:
    """Compare what the operations compute at the ends of a segment with what the network does.

    Raises:
        AffscoreError: It is something else.
    """
    for point in (begin, begin + direction):
        expected = run(network, point)
        if expected.shape[:1] != (1,):
            shape = tuple(expected.shape)
            raise AffscoreError(f"the network maps one sample to a tensor of shape {shape}, without an axis of samples")
        if not bool(expected.isfinite().all()):
            raise AffscoreError("the output of the network is not finite")
        _compare(Step(program, point, direction).logits, expected.reshape(1, -1))


def _errors(program: Program, begins: Tensor, directions: Tensor, traces: Sequence[Trace], chunk: int) -> list[float]:
    """By how much the logits of the line method are wrong, as a fraction of the largest."""
    found = []
    for begin, direction, trace in zip(begins, directions, traces, strict=True):
        some = np.unique(np.linspace(0, len(trace.t) - 1, CHECKED).astype(int))
        expected = _step_at(program, begin, direction, trace.t[some]).logits
        found.append(_compare(torch.from_numpy(trace.logits[some]).to(expected), expected))
    return found


def _compare(found: Tensor, expected: Tensor) -> float:
    difference, scale = float((found - expected).abs().max()), float(expected.abs().max())
    if difference > 1e-6 * scale:
        raise AffscoreError(
            f"the network gives other numbers when it runs again (the logits differ by {difference:.3g}): it is random, "
            "or a part of it runs where functions of PyTorch are not seen"
        )
    return difference / scale if scale else 0.0


def _tensor(values: Any, name: str) -> Tensor:
    try:
        tensor = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise AffscoreError(f"{name} must be a tensor or an array of numbers, got {type(values).__name__}") from error
    if tensor.is_complex() or tensor.dtype == torch.bool:
        raise AffscoreError(f"{name} must hold real numbers, got {tensor.dtype}")
    return tensor.detach().to("cpu", torch.float64)


def _checked(starts: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
    """Starts and directions of segments."""
    if starts.shape != ends.shape:
        raise AffscoreError(f"start and end must have one shape, got {tuple(starts.shape)} and {tuple(ends.shape)}")
    if starts.ndim < 1 or not len(starts):
        raise AffscoreError("there is no segment: give at least one start and one end")
    for name, points in (("start", starts), ("end", ends)):
        wrong = ~points.flatten(1).isfinite().all(1) if points.ndim > 1 else ~points.isfinite()
        if bool(wrong.any()):
            raise AffscoreError(f"the {name} of segment {int(wrong.nonzero()[0])} holds NaN or infinity")
    directions = ends - starts
    same = ~directions.flatten(1).any(1) if starts.ndim > 1 else directions == 0
    if bool(same.any()):
        raise AffscoreError(f"start and end of segment {int(same.nonzero()[0])} are the same point: it has no length")
    return starts, directions
