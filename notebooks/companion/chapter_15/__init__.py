"""Chapter 15, linear regions: what its page takes from the room."""

from companion.chapter_15.figures import against_width as against_width
from companion.chapter_15.figures import logits_along_path as logits_along_path
from companion.chapter_15.figures import mosaic as mosaic
from companion.chapter_15.figures import times_as_large as times_as_large
from companion.chapter_15.measurements import mean_correlation as mean_correlation
from companion.chapter_15.measurements import trend_over as trend_over
