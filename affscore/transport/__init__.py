"""Two point clouds and the affine optimal transport between them."""

from affscore.transport.affine_map import AffineMap, affine_map, gaussian_wasserstein
from affscore.transport.affinity import AffinityScore, affinity_score, effective_width
from affscore.transport.assignment import Coupling, optimal_coupling, wasserstein
from affscore.transport.bias import expected_bias, extrapolated_affinity_scores, first_order_bias, points_needed
from affscore.transport.covariance import Covariance, covariance, estimate, ledoit_wolf_intensity
from affscore.transport.differentiable import differentiable_affinity

__all__ = [
    "AffineMap", "AffinityScore", "Coupling", "Covariance", "affine_map",
    "affinity_score", "covariance", "differentiable_affinity", "effective_width", "estimate", "expected_bias",
    "extrapolated_affinity_scores", "first_order_bias", "gaussian_wasserstein", "ledoit_wolf_intensity",
    "optimal_coupling", "points_needed", "wasserstein",
]  # fmt: skip
