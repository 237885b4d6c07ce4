"""What the papers print and claim, beside what we have.

A folder a paper, a module a section: what is printed there, ours, and the claims that rest on it. Beside them is what
they share: printed numbers, results, estimates, claim and verdict; the ledger puts all together.
"""

from companion.papers.alexnet_to_transformers.section_4_accuracy import (
    common_characteristics_again as common_characteristics_again,
)
from companion.papers.alexnet_to_transformers.section_4_decade import history as history
from companion.papers.all_results import measure_as_printed as measure_as_printed
from companion.papers.networks import FIRST_PAPER_STATISTICS as FIRST_PAPER_STATISTICS
from companion.papers.networks import accuracy_groups as accuracy_groups
from companion.papers.networks import by_printed_reduction as by_printed_reduction
from companion.papers.networks import network_table as network_table
from companion.papers.networks import short_name as short_name
from companion.papers.networks import short_names as short_names
from companion.papers.networks import study_groups as study_groups
from companion.papers.networks import study_models as study_models
from companion.papers.networks import table_1_families as table_1_families
from companion.papers.printed import printed_correlations as printed_correlations
from companion.papers.printed import printed_table as printed_table
from companion.papers.printed import printed_tables as printed_tables
from companion.papers.printed import printed_text as printed_text
