"""Floor 4: how a result looks. One function draws one figure and returns it; it draws what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.figures.accuracy import *
    from affscore.figures.activations import *
    from affscore.figures.clustering import *
    from affscore.figures.distributions import *
    from affscore.figures.estimation import *
    from affscore.figures.history import *
    from affscore.figures.one_dimension import *
    from affscore.figures.plane_clouds import *
    from affscore.figures.redundancy import *
    from affscore.figures.signature import *
    from affscore.figures.style import family_styles as family_styles
    from affscore.figures.style import house_style as house_style
    from affscore.figures.zoo import *

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "accuracy": "accuracy_fits best_under_permutation",
        "activations": "activation_domain domain_limit",
        "clustering": "comparison dendrogram distance_heatmap",
        "distributions": "score_distributions score_histograms",
        "estimation": "bias_against_points drift reductions",
        "history": "timeline",
        "one_dimension": "activation_panels",
        "plane_clouds": "coupling scheme",
        "redundancy": "criterion_dots criterion_scatter",
        "signature": "raw_signature",
        "style": "family_styles house_style",
        "zoo": "zoo_accuracies",
    },
)
