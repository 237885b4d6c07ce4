"""Floor 4: what one learns from many scores. It knows neither networks nor files of results."""

from affscore.analysis.accuracy import FITS, LEAST_POINTS, Fit, best_explained, explained_accuracy, fit
from affscore.analysis.activation_domain import MEANS, STDS, baseline_scores, domain_summary, domain_sweep
from affscore.analysis.activations import ACTIVATIONS
from affscore.analysis.as_printed import by_printed_reduction, measure_as_printed
from affscore.analysis.benchmarks import Benchmark, growth_exponents, read_benchmark, read_benchmarks
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
from affscore.analysis.common_characteristics import common_characteristic_fits, common_characteristics_again
from affscore.analysis.consistency import simultaneous_intervals, strength_counts
from affscore.analysis.estimation import bias_and_spread, estimation_sweep
from affscore.analysis.groups import (
    FIRST_PAPER_STATISTICS,
    accuracy_groups,
    group_of_each,
    study_groups,
    table_1_families,
)
from affscore.analysis.history import Trend, along_depth, history, spread_of_few, trend, trends
from affscore.analysis.independent_statistics import independent_best, independent_lead, independent_p_value, plain_r2
from affscore.analysis.joint_redundancy import explained_by_all
from affscore.analysis.limits import limit_score, paired_limit
from affscore.analysis.networks import network_table, short_name, short_names, study_models
from affscore.analysis.printed_redundancy import printed_correlations, table_1_again
from affscore.analysis.random_inputs import heavy_tailed_sample, power_law_correlation
from affscore.analysis.reductions import reduction_scores
from affscore.analysis.redundancy import (
    CRITERIA_OF_TABLE_1,
    correlation_table,
    criterion_correlations,
    criterion_values,
    family_correlations,
    fisher_interval,
    sign_counts,
)
from affscore.analysis.reference import printed_table, printed_tables, printed_text
from affscore.analysis.repeats import best_of_each_seed, over_seeds, spread_in_errors
from affscore.analysis.sample_size import points_needed
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
from affscore.analysis.sweeps import sweep
from affscore.analysis.within_families import between_families, chance_within_families
from affscore.analysis.within_kinds import correlations_within_kinds
from affscore.transport import first_order_bias

__all__ = [
    "ACTIVATIONS",
    "CRITERIA_OF_TABLE_1",
    "FIRST_PAPER_STATISTICS",
    "FITS",
    "LEAST_POINTS",
    "MEANS",
    "STATISTICS",
    "STDS",
    "Agreement",
    "Benchmark",
    "Chance",
    "FamilyLead",
    "Fit",
    "MatrixCorrelation",
    "OnePeakTest",
    "Trend",
    "accuracy_groups",
    "along_depth",
    "baseline_scores",
    "best_by_chance",
    "best_explained",
    "best_of_each_seed",
    "between_families",
    "bias_and_spread",
    "by_printed_reduction",
    "chance_of_group",
    "chance_within_families",
    "clusters",
    "common_characteristic_fits",
    "common_characteristics_again",
    "cophenetic_correlation",
    "correlation_table",
    "correlations_within_kinds",
    "criterion_correlations",
    "criterion_values",
    "deviations",
    "distance_matrix",
    "domain_summary",
    "domain_sweep",
    "estimation_sweep",
    "explained_accuracy",
    "explained_by_all",
    "family_agreement",
    "family_correlations",
    "family_lead",
    "first_order_bias",
    "fisher_interval",
    "fit",
    "group_of_each",
    "growth_exponents",
    "heavy_tailed_sample",
    "history",
    "independent_best",
    "independent_lead",
    "independent_p_value",
    "leaf_order",
    "length_distances",
    "limit_score",
    "linkage",
    "matrix_correlation",
    "measure_as_printed",
    "network_table",
    "one_peak_test",
    "over_seeds",
    "paired_limit",
    "per_step",
    "plain_r2",
    "points_needed",
    "power_law_correlation",
    "printed_correlations",
    "printed_table",
    "printed_tables",
    "printed_text",
    "read_benchmark",
    "read_benchmarks",
    "reduction_scores",
    "relatives",
    "share_above",
    "short_name",
    "short_names",
    "sign_counts",
    "signature_distance",
    "signature_statistics",
    "simultaneous_intervals",
    "spread_in_errors",
    "spread_of_few",
    "strength_counts",
    "study_groups",
    "study_models",
    "sweep",
    "table_1_again",
    "table_1_families",
    "trend",
    "trends",
]
