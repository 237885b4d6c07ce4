"""Measurements beyond one signature, each of which returns a table."""

from __future__ import annotations

from affscore.transport import first_order_bias as first_order_bias
from companion.experiments.activation_domain import MEANS as MEANS
from companion.experiments.activation_domain import STDS as STDS
from companion.experiments.activation_domain import baseline_scores as baseline_scores
from companion.experiments.activation_domain import domain_summary as domain_summary
from companion.experiments.activation_domain import domain_sweep as domain_sweep
from companion.experiments.activations import ACTIVATIONS as ACTIVATIONS
from companion.experiments.activations import activation_graphs as activation_graphs
from companion.experiments.by_position import scores_by_position as scores_by_position
from companion.experiments.character_losses import bits_a_character as bits_a_character
from companion.experiments.character_losses import character_losses as character_losses
from companion.experiments.estimation import bias_and_spread as bias_and_spread
from companion.experiments.estimation import estimation_sweep as estimation_sweep
from companion.experiments.limits import limit_score as limit_score
from companion.experiments.limits import paired_limit as paired_limit
from companion.experiments.limits import points_needed as points_needed
from companion.experiments.one_linear import decisions_changed as decisions_changed
from companion.experiments.random_inputs import heavy_tailed_sample as heavy_tailed_sample
from companion.experiments.random_inputs import power_law_correlation as power_law_correlation
from companion.experiments.reductions import reduction_scores as reduction_scores
from companion.experiments.steps import ScoreSteps as ScoreSteps
from companion.experiments.steps import score_steps as score_steps
from companion.experiments.sweeps import sweep as sweep
