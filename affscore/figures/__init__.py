"""Floor 4: how a result looks. One function draws one figure and returns it; it draws what it is given."""

from __future__ import annotations

from affscore.figures.accuracy import accuracy_fits as accuracy_fits
from affscore.figures.activations import activation_domain as activation_domain
from affscore.figures.activations import activity as activity
from affscore.figures.blocks import unexplained_shares as unexplained_shares
from affscore.figures.clustering import comparison as comparison
from affscore.figures.clustering import dendrogram as dendrogram
from affscore.figures.clustering import distance_heatmap as distance_heatmap
from affscore.figures.distributions import score_distributions as score_distributions
from affscore.figures.distributions import score_histograms as score_histograms
from affscore.figures.distributions import score_ranges as score_ranges
from affscore.figures.estimation import bias_against_points as bias_against_points
from affscore.figures.estimation import drift as drift
from affscore.figures.estimation import reductions as reductions
from affscore.figures.history import timeline as timeline
from affscore.figures.linear_regions import against_width as against_width
from affscore.figures.linear_regions import logits_along_path as logits_along_path
from affscore.figures.linear_regions import mosaic as mosaic
from affscore.figures.linear_regions import two_measures as two_measures
from affscore.figures.multiverse import specification_curve as specification_curve
from affscore.figures.nonlinear_advantage import accuracy_curves as accuracy_curves
from affscore.figures.nonlinear_advantage import core_network as core_network
from affscore.figures.one_dimension import activation_panels as activation_panels
from affscore.figures.other_data import data_deviations as data_deviations
from affscore.figures.plane_clouds import coupling as coupling
from affscore.figures.plane_clouds import scheme as scheme
from affscore.figures.redundancy import criterion_dots as criterion_dots
from affscore.figures.repeats import bundles_of_signatures as bundles_of_signatures
from affscore.figures.repeats import repeated_signatures as repeated_signatures
from affscore.figures.signature import raw_signature as raw_signature
from affscore.figures.style import family_styles as family_styles
from affscore.figures.style import house_style as house_style
from affscore.figures.tables import table as table
from affscore.figures.training import scores_along as scores_along
from affscore.figures.training import scores_over_steps as scores_over_steps
