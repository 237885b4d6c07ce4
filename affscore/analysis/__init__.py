"""Floor 4: what one learns from many scores. It knows neither networks nor files of results."""

from affscore.analysis.activation_domain import MEANS, STDS, baseline_scores, domain_summary, domain_sweep
from affscore.analysis.activations import ACTIVATIONS
from affscore.analysis.benchmarks import Benchmark, growth_exponents, read_benchmark, read_benchmarks
from affscore.analysis.estimation import bias_and_spread, estimation_sweep
from affscore.analysis.limits import limit_score, paired_limit
from affscore.analysis.random_inputs import heavy_tailed_sample, power_law_correlation
from affscore.analysis.reductions import reduction_scores
from affscore.analysis.reference import printed_table, printed_tables
from affscore.analysis.sample_size import first_order_bias, points_needed
from affscore.analysis.similarity import STATISTICS, distance_matrix, signature_distance, signature_statistics

__all__ = [
    "ACTIVATIONS",
    "MEANS",
    "STATISTICS",
    "STDS",
    "Benchmark",
    "baseline_scores",
    "bias_and_spread",
    "distance_matrix",
    "domain_summary",
    "domain_sweep",
    "estimation_sweep",
    "first_order_bias",
    "growth_exponents",
    "heavy_tailed_sample",
    "limit_score",
    "paired_limit",
    "points_needed",
    "power_law_correlation",
    "printed_table",
    "printed_tables",
    "read_benchmark",
    "read_benchmarks",
    "reduction_scores",
    "signature_distance",
    "signature_statistics",
]
