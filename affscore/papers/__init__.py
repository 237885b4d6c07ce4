"""Floor 5: what the papers print and claim, beside what we have.

A folder a paper, a module a figure or table: what is printed in figure 15, ours, and the claims that rest on it are in
``alexnet_to_transformers/figure_15.py``. Beside them is what they share: the protocol, printed numbers, results,
estimates, comparison and verdict; the ledger puts all together.
"""

from affscore.papers.alexnet_to_transformers.figure_03 import history as history
from affscore.papers.alexnet_to_transformers.figure_04 import common_characteristic_fits as common_characteristic_fits
from affscore.papers.alexnet_to_transformers.figure_04 import (
    common_characteristics_again as common_characteristics_again,
)
from affscore.papers.alexnet_to_transformers.table_1 import table_1_again as table_1_again
from affscore.papers.alexnet_to_transformers.table_2 import printed_correlations as printed_correlations
from affscore.papers.groups import FIRST_PAPER_STATISTICS as FIRST_PAPER_STATISTICS
from affscore.papers.groups import accuracy_groups as accuracy_groups
from affscore.papers.groups import group_of_each as group_of_each
from affscore.papers.groups import study_groups as study_groups
from affscore.papers.groups import table_1_families as table_1_families
from affscore.papers.networks import network_table as network_table
from affscore.papers.networks import short_name as short_name
from affscore.papers.networks import short_names as short_names
from affscore.papers.networks import study_models as study_models
from affscore.papers.printed import printed_table as printed_table
from affscore.papers.printed import printed_tables as printed_tables
from affscore.papers.printed import printed_text as printed_text
from affscore.papers.protocol import by_printed_reduction as by_printed_reduction
from affscore.papers.protocol import measure_as_printed as measure_as_printed
