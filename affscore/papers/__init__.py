"""Floor 5: what the papers print and claim, beside what we have.

A folder a paper, a module a figure or table: what is printed in figure 15, ours, and the claims that rest on it are in
``alexnet_to_transformers/figure_15.py``. Beside them is what they share: the protocol, printed numbers, results,
estimates, comparison and verdict; the ledger puts all together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.papers.alexnet_to_transformers.figure_03 import history as history
    from affscore.papers.alexnet_to_transformers.figure_04 import (
        common_characteristic_fits as common_characteristic_fits,
    )
    from affscore.papers.alexnet_to_transformers.figure_04 import (
        common_characteristics_again as common_characteristics_again,
    )
    from affscore.papers.alexnet_to_transformers.table_1 import table_1_again as table_1_again
    from affscore.papers.alexnet_to_transformers.table_2 import printed_correlations as printed_correlations
    from affscore.papers.groups import *
    from affscore.papers.networks import *
    from affscore.papers.printed import *
    from affscore.papers.protocol import *

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "alexnet_to_transformers.figure_03": "history",
        "alexnet_to_transformers.figure_04": "common_characteristic_fits common_characteristics_again",
        "alexnet_to_transformers.table_1": "table_1_again",
        "alexnet_to_transformers.table_2": "printed_correlations",
        "groups": "FIRST_PAPER_STATISTICS accuracy_groups group_of_each study_groups table_1_families",
        "networks": "network_table short_name short_names study_models",
        "printed": "printed_table printed_tables printed_text",
        "protocol": "by_printed_reduction measure_as_printed",
    },
)
