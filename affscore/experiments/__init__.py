"""Floor 4: measurements beyond one signature, each of which returns a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.experiments.activation_domain import *
    from affscore.experiments.activations import *
    from affscore.experiments.estimation import *
    from affscore.experiments.limits import *
    from affscore.experiments.random_inputs import *
    from affscore.experiments.reductions import *
    from affscore.experiments.steps import *
    from affscore.experiments.sweeps import *
    from affscore.transport import first_order_bias as first_order_bias

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "activation_domain": "MEANS STDS baseline_scores domain_summary domain_sweep",
        "activations": "ACTIVATIONS activation_graphs",
        "estimation": "bias_and_spread estimation_sweep",
        "limits": "limit_score paired_limit points_needed",
        "random_inputs": "heavy_tailed_sample power_law_correlation",
        "reductions": "reduction_scores",
        "steps": "ScoreSteps score_steps",
        "sweeps": "sweep",
        "affscore.transport": "first_order_bias",
    },
)
