"""Chapter 16, nonlinear advantage: what its page takes from the room."""

from companion.chapter_16.figures import accuracy_curves as accuracy_curves
from companion.chapter_16.figures import core_network as core_network
from companion.chapter_16.measurements import EARLY as EARLY
from companion.chapter_16.measurements import LATE as LATE
from companion.chapter_16.measurements import compared as compared
from companion.chapter_16.measurements import cores as cores
from companion.chapter_16.measurements import decisions_changed as decisions_changed
from companion.chapter_16.measurements import gap as gap
from companion.chapter_16.measurements import lost_when_affine as lost_when_affine
from companion.chapter_16.measurements import survival as survival
from companion.chapter_16.measurements import survival_correlations as survival_correlations
from companion.chapter_16.measurements import trainings as trainings
