"""Floor 4: what one learns from many scores. It knows neither networks nor files of results."""

from affscore.analysis.activation_domain import (
    ACTIVATIONS,
    MEANS,
    STDS,
    baseline_scores,
    domain_summary,
    domain_sweep,
    limit_score,
)
from affscore.analysis.estimation import (
    bias_and_spread,
    estimation_sweep,
    first_order_bias,
    heavy_tailed_sample,
    paired_limit,
    points_needed,
    power_law_correlation,
    reduction_scores,
)
from affscore.analysis.reference import printed_table, printed_tables
from affscore.analysis.similarity import STATISTICS, distance_matrix, signature_distance, signature_statistics

__all__ = [
    "ACTIVATIONS",
    "MEANS",
    "STATISTICS",
    "STDS",
    "baseline_scores",
    "bias_and_spread",
    "distance_matrix",
    "domain_summary",
    "domain_sweep",
    "estimation_sweep",
    "first_order_bias",
    "heavy_tailed_sample",
    "limit_score",
    "paired_limit",
    "points_needed",
    "power_law_correlation",
    "printed_table",
    "printed_tables",
    "reduction_scores",
    "signature_distance",
    "signature_statistics",
]
