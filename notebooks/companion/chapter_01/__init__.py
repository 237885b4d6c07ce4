"""Chapter 1, the affinity score: what its page takes from the room."""

from companion.chapter_01.figures import activation_panels as activation_panels
from companion.chapter_01.figures import coupling as coupling
from companion.chapter_01.figures import scheme as scheme
from companion.chapter_01.measurements import score_steps as score_steps
