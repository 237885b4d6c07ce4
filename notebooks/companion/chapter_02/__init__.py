"""Chapter 2, activation functions: what its page takes from the room."""

from companion.chapter_02.figures import activation_domain as activation_domain
from companion.chapter_02.figures import activity as activity
from companion.chapter_02.measurements import MEANS as MEANS
from companion.chapter_02.measurements import baseline_scores as baseline_scores
from companion.chapter_02.measurements import domain_summary as domain_summary
from companion.chapter_02.measurements import domain_sweep as domain_sweep
