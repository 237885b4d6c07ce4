"""The linear regions of a piecewise affine network along segments and paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.linear_regions.pieces import absolute_deviation as absolute_deviation
    from affscore.linear_regions.pieces import total_variation as total_variation
    from affscore.linear_regions.segment import Segment as Segment
    from affscore.linear_regions.segment import along_paths as along_paths
    from affscore.linear_regions.segment import along_segment as along_segment
    from affscore.linear_regions.segment import along_segments as along_segments

__getattr__, __dir__, __all__ = lazy_names(__name__)
