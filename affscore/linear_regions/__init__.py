"""The linear regions of a piecewise affine network along segments and paths."""

from affscore.linear_regions.pieces import absolute_deviation, total_variation
from affscore.linear_regions.segment import Segment, along_paths, along_segment, along_segments

__all__ = [
    "Segment", "absolute_deviation", "along_paths", "along_segment", "along_segments",
    "total_variation",
]  # fmt: skip
