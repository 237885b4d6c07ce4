"""Chapter 3, estimating the score well: what its page takes from the room."""

from companion.chapter_03.figures import bias_against_points as bias_against_points
from companion.chapter_03.figures import drift as drift
from companion.chapter_03.measurements import estimation_sweep as estimation_sweep
