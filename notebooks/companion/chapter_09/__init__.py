"""Chapter 9, is the score redundant?: what its page takes from the room."""

from companion.chapter_09.figures import criterion_dots as criterion_dots
from companion.chapter_09.measurements import family_correlations as family_correlations
from companion.chapter_09.measurements import sign_counts as sign_counts
from companion.chapter_09.measurements import strength_counts as strength_counts
