"""Chapter 16, nonlinear advantage: what its page takes from the room."""

from companion.chapter_16.figures import accuracy_by_share as accuracy_by_share
from companion.chapter_16.figures import accuracy_curves as accuracy_curves
from companion.chapter_16.figures import by_kind as by_kind
from companion.chapter_16.figures import core_network as core_network
from companion.chapter_16.measurements import cores as cores
from companion.chapter_16.measurements import decisions_changed as decisions_changed
from companion.chapter_16.measurements import gap as gap
from companion.chapter_16.measurements import survival as survival
from companion.chapter_16.measurements import survival_correlations as survival_correlations
from companion.chapter_16.measurements import trainings as trainings
