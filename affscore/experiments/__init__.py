"""Floor 4: measurements beyond one signature, each of which returns a table."""

from __future__ import annotations

from affscore.experiments.activation_domain import MEANS as MEANS
from affscore.experiments.activation_domain import STDS as STDS
from affscore.experiments.activation_domain import baseline_scores as baseline_scores
from affscore.experiments.activation_domain import domain_summary as domain_summary
from affscore.experiments.activation_domain import domain_sweep as domain_sweep
from affscore.experiments.activations import ACTIVATIONS as ACTIVATIONS
from affscore.experiments.activations import activation_graphs as activation_graphs
from affscore.experiments.by_position import scores_by_position as scores_by_position
from affscore.experiments.character_losses import bits_a_character as bits_a_character
from affscore.experiments.character_losses import character_losses as character_losses
from affscore.experiments.estimation import bias_and_spread as bias_and_spread
from affscore.experiments.estimation import estimation_sweep as estimation_sweep
from affscore.experiments.limits import limit_score as limit_score
from affscore.experiments.limits import paired_limit as paired_limit
from affscore.experiments.limits import points_needed as points_needed
from affscore.experiments.one_linear import decisions_changed as decisions_changed
from affscore.experiments.random_inputs import heavy_tailed_sample as heavy_tailed_sample
from affscore.experiments.random_inputs import power_law_correlation as power_law_correlation
from affscore.experiments.reductions import reduction_scores as reduction_scores
from affscore.experiments.steps import ScoreSteps as ScoreSteps
from affscore.experiments.steps import score_steps as score_steps
from affscore.experiments.sweeps import sweep as sweep
from affscore.transport import first_order_bias as first_order_bias
