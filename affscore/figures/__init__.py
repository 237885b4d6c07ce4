"""Floor 5: how a result looks. One function draws one figure and returns it."""

from affscore.figures.accuracy import accuracy_fits
from affscore.figures.activation_domain import activation_domain, domain_limit
from affscore.figures.activation_panels import activation_panels
from affscore.figures.benchmarks import score_memory, score_times, signature_ratios, speed_ups
from affscore.figures.chance import best_under_permutation
from affscore.figures.clustering import dendrogram, distance_heatmap
from affscore.figures.comparison import comparison
from affscore.figures.coupling import coupling
from affscore.figures.distributions import score_distributions, score_histograms
from affscore.figures.estimation import bias_against_points, drift, reductions
from affscore.figures.families import family_styles
from affscore.figures.history import timeline
from affscore.figures.redundancy import criterion_dots, criterion_scatter
from affscore.figures.scheme import scheme
from affscore.figures.signature import raw_signature
from affscore.figures.style import house_style
from affscore.figures.zoo import zoo_accuracies

__all__ = [
    "accuracy_fits",
    "activation_domain",
    "activation_panels",
    "best_under_permutation",
    "bias_against_points",
    "comparison",
    "coupling",
    "criterion_dots",
    "criterion_scatter",
    "dendrogram",
    "distance_heatmap",
    "domain_limit",
    "drift",
    "family_styles",
    "house_style",
    "raw_signature",
    "reductions",
    "scheme",
    "score_distributions",
    "score_histograms",
    "score_memory",
    "score_times",
    "signature_ratios",
    "speed_ups",
    "timeline",
    "zoo_accuracies",
]
