"""Chapter 12, other data, other training: what its page takes from the room."""

from companion.chapter_12.figures import beside_usual as beside_usual
from companion.chapter_12.figures import deviation_panels as deviation_panels
from companion.chapter_12.measurements import class_effects as class_effects
