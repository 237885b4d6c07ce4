"""The linear regions along many paths, as a table."""

from __future__ import annotations

from typing import Any

import pandas as pd
from torch import nn

from affscore.errors import AffscoreError
from affscore.linear_regions.inputs import points_of_one_shape
from affscore.linear_regions.segment import MethodName, Segment, each_segment

MEASURES = ["absolute_deviation", "deviation_upper_bound", "total_variation"]


def along_paths(
    model: nn.Module,
    paths: Any,
    method: MethodName = "line",
    chunk: int | None = None,
    device: str = "auto",
    progress: bool | None = None,
) -> pd.DataFrame:
    """The linear regions of a network along paths: a row for each segment and logit.

    Args:
        model: As in :func:`affscore.linear_regions.along_segment`.
        paths: The points of each path, ``(paths, points, *shape of an input)``: of
            :func:`affscore.linear_regions.closed_paths`, for example.
        method: As there.
        chunk: As there.
        device: As there.
        progress: Whether to show a bar of finished segments; None for where there is a terminal.

    Returns:
        A table with the columns

        * ``path``, ``segment``, ``logit``: numbers from 0;
        * ``length``: of the segment, in the metric of the input;
        * ``crossings``, ``switches``, ``breakpoints``: how often the activation pattern changes, a max pooling its
          choice, and the slope of a logit; the same for all logits of a segment;
        * ``absolute_deviation``, ``deviation_upper_bound``, ``total_variation``: of this logit.

    Raises:
        AffscoreError: As there, with the path and the segment in it; paths of fewer than two points.

    >>> import torch
    >>> table = along_paths(nn.ReLU(), torch.tensor([[[-9.0], [9.0], [-9.0]]]), progress=False)
    >>> table[["path", "segment", "logit", "crossings", "length"]].to_numpy().tolist()
    [[0.0, 0.0, 0.0, 1.0, 18.0], [0.0, 1.0, 0.0, 1.0, 18.0]]
    """
    (paths,) = points_of_one_shape(paths=paths)
    if paths.ndim < 3 or paths.shape[1] < 2 or not len(paths):
        shape = tuple(paths.shape)
        raise AffscoreError(f"paths must be points (paths, points, ...) with 2 points at least, got the shape {shape}")
    per_path = paths.shape[1] - 1

    def name(number: int) -> str:
        return f"segment {number % per_path} of path {number // per_path}"

    starts, ends = (points.flatten(0, 1) for points in (paths[:, :-1], paths[:, 1:]))
    rows: list[dict[str, Any]] = []
    for number, segment in enumerate(each_segment(model, starts, ends, method, chunk, device, progress, name)):
        path, place = divmod(number, per_path)
        rows += [{"path": path, "segment": place, **row} for row in _rows(segment)]
    return pd.DataFrame(rows)


def _rows(segment: Segment) -> list[dict[str, Any]]:
    counts = {"crossings": segment.crossings, "switches": segment.switches, "breakpoints": segment.count - 1}
    measures = zip(*(getattr(segment, name).tolist() for name in MEASURES), strict=True)
    return [
        {"logit": logit, "length": segment.length, **counts, **dict(zip(MEASURES, values, strict=True))}
        for logit, values in enumerate(measures)
    ]
