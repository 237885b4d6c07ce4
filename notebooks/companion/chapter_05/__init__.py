"""Chapter 5, residual connections: what its page takes from the room."""

from companion.chapter_05.figures import score_histograms as score_histograms
from companion.chapter_05.measurements import unimodality_test as unimodality_test
