"""Floor 4: measurements beyond one signature, each of which returns a table."""

from affscore.experiments.activation_domain import MEANS, STDS, baseline_scores, domain_summary, domain_sweep
from affscore.experiments.activations import ACTIVATIONS
from affscore.experiments.benchmarks import Benchmark, growth_exponents, read_benchmark, read_benchmarks
from affscore.experiments.estimation import bias_and_spread, estimation_sweep
from affscore.experiments.limits import limit_score, paired_limit
from affscore.experiments.random_inputs import heavy_tailed_sample, power_law_correlation
from affscore.experiments.reductions import reduction_scores
from affscore.experiments.sample_size import points_needed
from affscore.experiments.sweeps import sweep
from affscore.transport import first_order_bias

__all__ = [
    "ACTIVATIONS",
    "MEANS",
    "STDS",
    "Benchmark",
    "baseline_scores",
    "bias_and_spread",
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
    "read_benchmark",
    "read_benchmarks",
    "reduction_scores",
    "sweep",
]
