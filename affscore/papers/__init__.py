"""Floor 5: what the papers print and claim, beside what we have.

A folder a paper, a module a figure or table: what is printed in figure 15, ours, and the claims that rest on it are in
``alexnet_to_transformers/figure_15.py``. Beside them is what they share: the protocol, printed numbers, results,
estimates, comparison and verdict; the ledger puts all together.
"""

from affscore.papers.alexnet_to_transformers.figure_03 import history
from affscore.papers.alexnet_to_transformers.figure_04 import common_characteristic_fits, common_characteristics_again
from affscore.papers.alexnet_to_transformers.table_1 import table_1_again
from affscore.papers.alexnet_to_transformers.table_2 import printed_correlations
from affscore.papers.groups import (
    FIRST_PAPER_STATISTICS,
    accuracy_groups,
    group_of_each,
    study_groups,
    table_1_families,
)
from affscore.papers.networks import network_table, short_name, short_names, study_models
from affscore.papers.printed import printed_table, printed_tables, printed_text
from affscore.papers.protocol import by_printed_reduction, measure_as_printed

__all__ = [
    "FIRST_PAPER_STATISTICS",
    "accuracy_groups",
    "by_printed_reduction",
    "common_characteristic_fits",
    "common_characteristics_again",
    "group_of_each",
    "history",
    "measure_as_printed",
    "network_table",
    "printed_correlations",
    "printed_table",
    "printed_tables",
    "printed_text",
    "short_name",
    "short_names",
    "study_groups",
    "study_models",
    "table_1_again",
    "table_1_families",
]
