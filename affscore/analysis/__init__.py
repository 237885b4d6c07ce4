"""Floor 4: what many scores say. Arrays and tables in, tables out; it knows no networks, no papers and no files."""

from affscore.analysis.accuracy import FITS, LEAST_POINTS, Fit, best_explained, explained_accuracy, fit
from affscore.analysis.bimodality import OnePeakTest, one_peak_test, share_above
from affscore.analysis.chance import Chance, best_by_chance, chance_of_group
from affscore.analysis.clustering import (
    Agreement,
    clusters,
    cophenetic_correlation,
    family_agreement,
    leaf_order,
    linkage,
    relatives,
)
from affscore.analysis.consistency import simultaneous_intervals, strength_counts
from affscore.analysis.independent_statistics import independent_best, independent_lead, independent_p_value, plain_r2
from affscore.analysis.joint_redundancy import explained_by_all
from affscore.analysis.redundancy import (
    CRITERIA_OF_TABLE_1,
    correlation_table,
    criterion_correlations,
    criterion_values,
    family_correlations,
    fisher_interval,
    sign_counts,
)
from affscore.analysis.repeats import best_of_each_seed, over_seeds, spread_in_errors
from affscore.analysis.signature_length import (
    FamilyLead,
    MatrixCorrelation,
    family_lead,
    length_distances,
    matrix_correlation,
    per_step,
)
from affscore.analysis.similarity import (
    STATISTICS,
    deviations,
    distance_matrix,
    signature_distance,
    signature_statistics,
)
from affscore.analysis.trends import Trend, along_depth, spread_of_few, trend, trends
from affscore.analysis.within_families import between_families, chance_within_families
from affscore.analysis.within_kinds import correlations_within_kinds

__all__ = [
    "CRITERIA_OF_TABLE_1",
    "FITS",
    "LEAST_POINTS",
    "STATISTICS",
    "Agreement",
    "Chance",
    "FamilyLead",
    "Fit",
    "MatrixCorrelation",
    "OnePeakTest",
    "Trend",
    "along_depth",
    "best_by_chance",
    "best_explained",
    "best_of_each_seed",
    "between_families",
    "chance_of_group",
    "chance_within_families",
    "clusters",
    "cophenetic_correlation",
    "correlation_table",
    "correlations_within_kinds",
    "criterion_correlations",
    "criterion_values",
    "deviations",
    "distance_matrix",
    "explained_accuracy",
    "explained_by_all",
    "family_agreement",
    "family_correlations",
    "family_lead",
    "fisher_interval",
    "fit",
    "independent_best",
    "independent_lead",
    "independent_p_value",
    "leaf_order",
    "length_distances",
    "linkage",
    "matrix_correlation",
    "one_peak_test",
    "over_seeds",
    "per_step",
    "plain_r2",
    "relatives",
    "share_above",
    "sign_counts",
    "signature_distance",
    "signature_statistics",
    "simultaneous_intervals",
    "spread_in_errors",
    "spread_of_few",
    "strength_counts",
    "trend",
    "trends",
]
