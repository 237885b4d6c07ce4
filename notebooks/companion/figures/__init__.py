"""How a result looks. One function draws one figure and returns it; it draws what it is given."""

from __future__ import annotations

from companion.figures.accuracy import accuracy_fits as accuracy_fits
from companion.figures.activations import activation_domain as activation_domain
from companion.figures.activations import activity as activity
from companion.figures.blocks import unexplained_shares as unexplained_shares
from companion.figures.clustering import dendrogram as dendrogram
from companion.figures.clustering import distance_heatmap as distance_heatmap
from companion.figures.distributions import score_distributions as score_distributions
from companion.figures.distributions import score_histograms as score_histograms
from companion.figures.distributions import score_ranges as score_ranges
from companion.figures.estimation import bias_against_points as bias_against_points
from companion.figures.estimation import drift as drift
from companion.figures.estimation import reductions as reductions
from companion.figures.history import timeline as timeline
from companion.figures.linear_regions import against_width as against_width
from companion.figures.linear_regions import logits_along_path as logits_along_path
from companion.figures.linear_regions import mosaic as mosaic
from companion.figures.linear_regions import two_measures as two_measures
from companion.figures.nonlinear_advantage import accuracy_curves as accuracy_curves
from companion.figures.nonlinear_advantage import core_network as core_network
from companion.figures.one_dimension import activation_panels as activation_panels
from companion.figures.other_data import data_deviations as data_deviations
from companion.figures.plane_clouds import coupling as coupling
from companion.figures.plane_clouds import scheme as scheme
from companion.figures.redundancy import criterion_dots as criterion_dots
from companion.figures.repeats import bundles_of_signatures as bundles_of_signatures
from companion.figures.repeats import repeated_signatures as repeated_signatures
from companion.figures.tables import table as table
from companion.figures.training import scores_along as scores_along
