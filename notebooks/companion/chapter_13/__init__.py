"""Chapter 13, where is the non-linearity?: what its page takes from the room."""

from companion.chapter_13.figures import criteria_over_width as criteria_over_width
from companion.chapter_13.figures import unexplained_shares as unexplained_shares
