"""Chapter 5, residual connections: what its page takes from the room."""

from companion.chapter_05.figures import score_histograms as score_histograms
from companion.chapter_05.measurements import FIRST as FIRST
from companion.chapter_05.measurements import SECOND as SECOND
from companion.chapter_05.measurements import groups_of_scores as groups_of_scores
