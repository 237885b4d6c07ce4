"""The linear regions along many paths, as tables: of segments, of paths, and of a data set."""

from __future__ import annotations

from typing import Any

import pandas as pd
from torch import nn

from affscore.errors import AffscoreError
from affscore.linear_regions.inputs import points_of_one_shape
from affscore.linear_regions.segment import MethodName, Segment, each_segment

COUNTS = ["crossings", "switches", "breakpoints"]
MEASURES = ["absolute_deviation", "deviation_upper_bound", "total_variation"]
ADDED = ["length", *COUNTS, *MEASURES]
"""What is added up over the segments of a path."""

RATES = {f"{name}_per_length": name for name in COUNTS}


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
        * ``crossings_per_length``, ``switches_per_length``, ``breakpoints_per_length``;
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


def of_paths(table: pd.DataFrame) -> pd.DataFrame:
    """The sums over the segments of each path: a row for each path and logit.

    Args:
        table: Of :func:`along_paths`.

    Returns:
        Its columns but ``segment``; counts per length are those of the whole path.

    Raises:
        AffscoreError: Another table.
    """
    _check(table)
    sums = table.groupby(["path", "logit"], as_index=False)[ADDED].sum()
    return sums.assign(**{rate: sums[name] / sums["length"] for rate, name in RATES.items()})


def of_data_set(table: pd.DataFrame) -> pd.DataFrame:
    """Means and standard deviations over segments, or over paths; measures of logits are averaged over these first.

    Args:
        table: Of :func:`along_paths` or of :func:`of_paths`.

    Returns:
        A row for each measure, with the columns ``measure``, ``mean``, ``std`` (of a sample; missing for one) and
        ``count``, of how many.

    Raises:
        AffscoreError: Another table.
    """
    _check(table)
    keys = [name for name in ("path", "segment") if name in table]
    means = table.groupby(keys)[[*ADDED, *RATES]].mean()
    summary = means.agg(["mean", "std"]).T.assign(count=len(means))
    return summary.rename_axis("measure").reset_index()


def _rows(segment: Segment) -> list[dict[str, Any]]:
    counts = {"crossings": segment.crossings, "switches": segment.switches, "breakpoints": segment.count - 1}
    shared = {"length": segment.length, **counts}
    shared |= {rate: counts[name] / segment.length for rate, name in RATES.items()}
    measures = zip(*(getattr(segment, name).tolist() for name in MEASURES), strict=True)
    return [
        {"logit": logit, **shared, **dict(zip(MEASURES, values, strict=True))} for logit, values in enumerate(measures)
    ]


def _check(table: Any) -> None:
    if not isinstance(table, pd.DataFrame) or not len(table):
        raise AffscoreError(f"expected a table of along_paths with a row at least, got {type(table).__name__}")
    numbers = table.select_dtypes("number")
    missing = [name for name in ("path", "logit", *ADDED, *RATES) if name not in numbers]
    if missing:
        raise AffscoreError(f"this is no table of linear regions along paths: it lacks numbers in {', '.join(missing)}")
