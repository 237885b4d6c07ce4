"""Floor 2: the linear regions of a piecewise affine network along segments and paths."""

from affscore.linear_regions.pieces import absolute_deviation, total_variation
from affscore.linear_regions.segment import Segment, along_segment, along_segments

__all__ = ["Segment", "absolute_deviation", "along_segment", "along_segments", "total_variation"]
