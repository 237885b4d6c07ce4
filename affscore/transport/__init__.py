"""Floor 1: two point clouds and the affine optimal transport between them."""

from affscore.transport.affine_map import AffineMap, affine_map, gaussian_wasserstein
from affscore.transport.affinity import AffinityScore, affinity_score
from affscore.transport.assignment import Coupling, optimal_coupling, wasserstein
from affscore.transport.covariance import Covariance, covariance, ledoit_wolf_intensity

__all__ = [
    "AffineMap",
    "AffinityScore",
    "Coupling",
    "Covariance",
    "affine_map",
    "affinity_score",
    "covariance",
    "gaussian_wasserstein",
    "ledoit_wolf_intensity",
    "optimal_coupling",
    "wasserstein",
]
