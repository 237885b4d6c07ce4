"""Chapter 7, accuracy: what its page takes from the room."""

from companion.chapter_07.claims import common_characteristics_again as common_characteristics_again
from companion.chapter_07.figures import accuracy_fits as accuracy_fits
from companion.chapter_07.measurements import best_explained as best_explained
from companion.chapter_07.measurements import between_families as between_families
from companion.chapter_07.measurements import explained_accuracy as explained_accuracy
from companion.chapter_07.measurements import panel_fits as panel_fits
from companion.chapter_07.selection import best_fit_lead as best_fit_lead
from companion.chapter_07.selection import best_fit_tests as best_fit_tests
from companion.chapter_07.selection import independent_best as independent_best
