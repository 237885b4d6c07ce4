"""Floor 5: how a result looks. One function draws one figure and returns it."""

from affscore.figures.activation_domain import activation_domain, domain_limit
from affscore.figures.activation_panels import activation_panels
from affscore.figures.benchmarks import score_memory, score_times, signature_ratios, speed_ups
from affscore.figures.comparison import comparison
from affscore.figures.coupling import coupling
from affscore.figures.estimation import bias_against_points, drift, reductions
from affscore.figures.scheme import scheme
from affscore.figures.signature import raw_signature
from affscore.figures.style import house_style

__all__ = [
    "activation_domain",
    "activation_panels",
    "bias_against_points",
    "comparison",
    "coupling",
    "domain_limit",
    "drift",
    "house_style",
    "raw_signature",
    "reductions",
    "scheme",
    "score_memory",
    "score_times",
    "signature_ratios",
    "speed_ups",
]
