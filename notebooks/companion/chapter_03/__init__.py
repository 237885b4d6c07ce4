"""Chapter 3, estimating the score well: what its page takes from the room."""

from companion.chapter_03.figures import bias_against_points as bias_against_points
from companion.chapter_03.figures import drift as drift
from companion.chapter_03.figures import reductions as reductions
from companion.chapter_03.measurements import bias_and_spread as bias_and_spread
from companion.chapter_03.measurements import effects_of_size as effects_of_size
from companion.chapter_03.measurements import estimation_sweep as estimation_sweep
from companion.chapter_03.measurements import heavy_tailed_sample as heavy_tailed_sample
from companion.chapter_03.measurements import reduction_scores as reduction_scores
