"""Floor 5: what the papers print, beside our numbers: their protocol, figures and tables, the ledger, the claims."""

from affscore.papers.figure_3 import history
from affscore.papers.figure_4 import common_characteristic_fits, common_characteristics_again
from affscore.papers.groups import (
    FIRST_PAPER_STATISTICS,
    accuracy_groups,
    group_of_each,
    study_groups,
    table_1_families,
)
from affscore.papers.networks import network_table, short_name, short_names, study_models
from affscore.papers.protocol import by_printed_reduction, measure_as_printed
from affscore.papers.reference import printed_table, printed_tables, printed_text
from affscore.papers.tables_1_and_2 import printed_correlations, table_1_again

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
