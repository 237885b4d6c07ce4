"""Chapter 1, the affinity score: what its page takes from the room."""

from companion.chapter_01.figures import activation_panels as activation_panels
from companion.chapter_01.figures import steps_of_a_score as steps_of_a_score
