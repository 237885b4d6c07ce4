"""Floor 4: what many scores say. Arrays and tables in, tables out; it knows no networks, no papers and no files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.analysis.accuracy import *
    from affscore.analysis.bimodality import *
    from affscore.analysis.clustering import *
    from affscore.analysis.consistency import *
    from affscore.analysis.correlations import *
    from affscore.analysis.distances import *
    from affscore.analysis.families import *
    from affscore.analysis.independence import *
    from affscore.analysis.permutation import *
    from affscore.analysis.regression import *
    from affscore.analysis.selection import *
    from affscore.analysis.statistics import *
    from affscore.analysis.tables import cell as cell
    from affscore.analysis.time_trends import *

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "accuracy": "ERROR best_explained best_of_each_seed between_families explained_accuracy over_seeds panel_fits "
        "spread_in_errors",
        "bimodality": "MixtureTest UnimodalityTest common_language_effect_size count_modes mixture_test "
        "unimodality_test",
        "clustering": "clusters cophenetic_correlation leaf_order linkage",
        "consistency": "family_correlations sign_counts simultaneous_intervals strength_counts",
        "correlations": "CRITERIA_OF_TABLE_1 correlations_by_kind criterion_correlations "
        "criterion_values fisher_interval",
        "distances": "MantelTest deviations distance_matrix length_distances mantel_test per_step signature_distance",
        "families": "Agreement FamilyLead family_agreement family_lead nearest_neighbour_accuracy",
        "independence": "independent_best independent_lead independent_p_value",
        "permutation": "PERMUTATIONS PermutationTest permutation_test",
        "regression": "FITS Fit LEAST_POINTS explained_by_all fit plain_r2",
        "selection": "BestFitTest best_fit_lead best_fit_test best_fit_tests",
        "statistics": "STATISTICS along_depth rarefied_range signature_statistics",
        "tables": "cell",
        "time_trends": "Trend trend trends",
    },
)
