"""Chapter 12, other data, other training: what its page takes from the room."""

from companion.chapter_12.claims import means_of_criteria as means_of_criteria
from companion.chapter_12.claims import method_of as method_of
from companion.chapter_12.figures import deviation_panels as deviation_panels
from companion.chapter_12.measurements import class_effects as class_effects
from companion.chapter_12.measurements import data_deviations as data_deviations
from companion.chapter_12.measurements import spread_over_methods as spread_over_methods
