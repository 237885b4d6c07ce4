"""Networks side by side: the distances of their signatures, and their statistics."""

from affscore.comparison.distances import STATISTICS as STATISTICS
from affscore.comparison.distances import distance_matrix as distance_matrix
from affscore.comparison.distances import signature_distance as signature_distance
from affscore.comparison.distances import signature_statistics as signature_statistics
