"""The linear regions of a network along segments: how many, where, and how far the network is from affine there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import pandas as pd
from torch import Tensor, nn
from tqdm import tqdm

from affscore.errors import AffscoreError
from affscore.linear_regions.pieces import Floats, absolute_deviation, total_variation
from affscore.linear_regions.traced_network import TracedNetwork
from affscore.options import check_word
from affscore.transport.samples import as_tensor

MethodName = Literal["line", "walk"]

MEASURES = ("absolute_deviation", "deviation_upper_bound", "total_variation")


@dataclass(frozen=True, eq=False)
class Segment:
    """What a network does between two inputs: a piecewise affine function of the way.

    Positions are fractions of the segment, in (0, 1) and rising.

    Attributes:
        t: The points between which everything is affine, with both ends.
        logits: The network's output there, (points, logits).
        unit_changes: Where a unit changes its state, from above zero to not above zero or back.
        switch_changes: Where a max pooling changes its choice: no entry of a window is the largest before and after.
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
        """The number of pieces of the function, breakpoints + 1."""
        return len(self.breakpoints) + 1

    @property
    def patterns(self) -> int:
        """The number of activation patterns that follow each other, crossings + 1."""
        return len(self.unit_changes) + 1

    @property
    def crossings(self) -> int:
        """How often the activation pattern changes, what the paper calls density."""
        return len(self.unit_changes)

    @property
    def switches(self) -> int:
        """At how many points a max pooling changes its choice."""
        return len(self.switch_changes)

    @cached_property
    def absolute_deviation(self) -> Floats:
        """The area between each logit and its chord (:func:`affscore.linear_regions.absolute_deviation`), (logits,)."""
        return absolute_deviation(self.t, self.logits, self.length)

    @cached_property
    def deviation_upper_bound(self) -> Floats:
        """What the published code computes instead, an upper bound of the area, (logits,)."""
        return absolute_deviation(self.t, self.logits, self.length, mode="upper_bound")

    @cached_property
    def total_variation(self) -> Floats:
        """The way that each logit goes up and down, (logits,)."""
        return total_variation(self.logits)

    def __repr__(self) -> str:
        counts = f"count={self.count}, patterns={self.patterns}, switches={self.switches}"
        return f"Segment({counts}, length={self.length:.6g})"


def along_segment(
    model: nn.Module, start: Any, end: Any, method: MethodName = "line", chunk: int | None = None, device: str = "auto"
) -> Segment:
    r"""Find all linear regions of a network on the segment between two inputs, exactly.

    A network of affine operations, ReLU, LeakyReLU, PReLU and max pooling is a continuous piecewise affine function, so
    on the segment :math:`x(t) = x_0 + t\,(x_1 - x_0)` it bends at finitely many :math:`t`. Three things are counted,
    each for itself: changes of the activation pattern (which units are above zero), changes of what max poolings
    choose, and breakpoints of the function, where the slope of a logit changes. A change of the pattern is no
    breakpoint where the unit is dead downstream.

    It is computed in double precision on a copy in evaluation mode: the model and the generators of random numbers are
    as before. Tolerances: points that are nearer to each other than 1e-12 of the segment are one; features up to 1e-13
    of the largest one of their layer are zero; a slope changes where it does by more than 1e-8 of the total variation
    of the logits (:func:`affscore.linear_regions.pieces.bends`). So where units of one layer differ in scale by 1e10 or
    more, breakpoints of the smaller ones can get lost, by the walk before the line. Casts to another type of floating
    point within the network do nothing.

    On each segment the logits are compared at four points, both ends among them, with what the network itself returns
    for a batch: a difference of more than 1e-6 of the largest logit there, and more than rounding, is an error. What a
    hidden part of the network does elsewhere, or randomness below 1e-12 of the logits, is not seen.

    Args:
        model: The network, from a tensor (samples, ...) to a tensor of logits (samples, ...).
        start: Where the segment begins: an input without the axis of samples.
        end: Where it ends.
        method: "line" pushes the whole segment through the network, layer by layer; "walk" goes from region to region,
            each step one forward pass with its directional derivative. Both find the same breakpoints (their
            ``crossings`` may differ where units touch zero exactly); the line is faster.
        chunk: Most points in the network at once, at least 16, which bounds its memory; None for as many as keep the
            widest layer at 4 MB, on a GPU at 256 MB, but 16 at least. The logits at all points of a segment are kept.
        device: As in :func:`affscore.signature`.

    Returns:
        The segment: ``.breakpoints``, ``.count``, ``.patterns``, ``.switches``, ``.length``, ``.absolute_deviation``,
        and more (:class:`Segment`).

    Raises:
        AffscoreError: An operation that is not known to be piecewise affine (named, with its layer), a network that
            fails, is random or does not keep samples apart, ends that are not finite, of different shapes, or the same.

    Source: Gamba et al. (2022) for the counts and the walk; the line method is that of Sotoudeh & Thakur (2019), here
    with shortcuts and max pooling.

    >>> net = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    >>> _ = nn.init.constant_(net[0].weight, 4.0), nn.init.constant_(net[0].bias, -1.0)
    >>> segment = along_segment(net, [0.0], [1.0])  # max(4 t - 1, 0)
    >>> segment.breakpoints, segment.count, segment.absolute_deviation  # a triangle of height 0.75
    (array([0.25]), 2, array([0.375]))
    """
    begin, finish = points_of_one_shape(start=start, end=end)
    return along_segments(model, begin[None], finish[None], method, chunk, device, False)[0]


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

    As for :func:`along_segment`: model, method, chunk, device, and the errors, which say which segment.

    Args:
        starts: Where the segments begin, ``(segments, *shape of an input)``.
        ends: Where they end, of the same shape.
        progress: Whether to show a bar of finished segments; None for where there is a terminal.

    Returns:
        The segments in their order; each is what :func:`along_segment` gives for it, up to rounding.

    >>> [segment.breakpoints for segment in along_segments(nn.ReLU(), [[-1.0], [-3.0]], [[1.0], [1.0]])]
    [array([0.5]), array([0.75])]
    """
    begin, finish = points_of_one_shape(starts=starts, ends=ends)
    return list(_each_segment(model, begin, finish, method, chunk, device, progress))


def along_paths(
    model: nn.Module,
    paths: Any,
    method: MethodName = "line",
    chunk: int | None = None,
    device: str = "auto",
    progress: bool | None = None,
) -> pd.DataFrame:
    """The linear regions of a network along paths: a row for each segment and logit.

    As for :func:`along_segments`: model, method, chunk, device, progress.

    Args:
        paths: The points of each path, ``(paths, points, *shape of an input)``.

    Returns:
        A table with the columns

        * ``path``, ``segment``, ``logit``: numbers from 0;
        * ``length``: of the segment, in the metric of the input;
        * ``crossings``, ``switches``, ``breakpoints``: how often the activation pattern changes, a max pooling its
          choice, and the slope of a logit; the same for all logits of a segment;
        * ``absolute_deviation``, ``deviation_upper_bound``, ``total_variation``: of this logit.

    Raises:
        AffscoreError: As for :func:`along_segments`, the segments of all paths counted one after the other; paths of
            fewer than two points.

    >>> table = along_paths(nn.ReLU(), [[[-9.0], [9.0], [-9.0]]], progress=False)
    >>> table[["path", "segment", "logit", "crossings", "length"]].to_numpy().tolist()
    [[0.0, 0.0, 0.0, 1.0, 18.0], [0.0, 1.0, 0.0, 1.0, 18.0]]
    """
    (points,) = points_of_one_shape(paths=paths)
    if points.ndim < 3 or points.shape[1] < 2 or not len(points):
        raise AffscoreError(f"paths must be (paths, points >= 2, ...), got the shape {tuple(points.shape)}")
    starts, ends = (some.flatten(0, 1) for some in (points[:, :-1], points[:, 1:]))
    rows = []
    for number, segment in enumerate(_each_segment(model, starts, ends, method, chunk, device, progress)):
        path, place = divmod(number, points.shape[1] - 1)
        about = {"path": path, "segment": place, "logit": range(segment.logits.shape[1]), "length": segment.length}
        counts = {"crossings": segment.crossings, "switches": segment.switches, "breakpoints": segment.count - 1}
        rows.append(pd.DataFrame(about | counts | {name: getattr(segment, name) for name in MEASURES}))
    return pd.concat(rows, ignore_index=True)


def _each_segment(
    model: nn.Module, starts: Tensor, ends: Tensor, method: str, chunk: int | None, device: str, progress: bool | None
) -> Iterator[Segment]:
    """The same one after the other, for more segments than fit into memory."""
    check_word("method", method, MethodName)
    directions, lengths = directions_of(starts, ends)
    found = TracedNetwork(model, starts[0], chunk, device).look(starts, directions, method)
    bar = tqdm(found, method, len(starts), unit="segment", disable=None if progress is None else not progress)
    for length, ((t, logits, units, switches), bent) in zip(lengths, bar, strict=True):
        yield Segment(t, logits, t[units], t[switches], t[bent], length)


def points_of_one_shape(**values: Any) -> list[Tensor]:
    """Inputs of a network in double precision, on the CPU."""
    points = [as_tensor(value, name).cpu().double() for name, value in values.items()]
    if len({tensor.shape for tensor in points}) > 1:
        raise AffscoreError(f"{' and '.join(values)} must have one shape, got {[tuple(one.shape) for one in points]}")
    return points


def directions_of(starts: Tensor, ends: Tensor) -> tuple[Tensor, list[float]]:
    """From starts to ends, and how far.

    Raises:
        AffscoreError: Numbers that are not finite, or segments without a length in double precision.
    """
    if starts.ndim < 2 or not starts.numel():
        raise AffscoreError(f"there must be a segment, and an axis of features, got the shape {tuple(starts.shape)}")
    directions = ends - starts
    lengths = directions.flatten(1).norm(dim=1)
    for number in ((lengths == 0) | ~lengths.isfinite()).nonzero().flatten().tolist():
        why = "the same point" if not lengths[number] else "too far apart for a length, or hold NaN or infinity"
        raise AffscoreError(f"start and end of segment {number} are {why}")
    return directions, lengths.tolist()
