"""Two point clouds and the affine optimal transport between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affscore.lazy import lazy_names

if TYPE_CHECKING:
    from affscore.transport.affine_maps import AffineMap as AffineMap
    from affscore.transport.affine_maps import affine_map as affine_map
    from affscore.transport.affinity import AffinityScore as AffinityScore
    from affscore.transport.affinity import affinity_score as affinity_score
    from affscore.transport.affinity import effective_width as effective_width
    from affscore.transport.assignment import Coupling as Coupling
    from affscore.transport.assignment import optimal_coupling as optimal_coupling
    from affscore.transport.assignment import wasserstein as wasserstein
    from affscore.transport.bias import expected_bias as expected_bias
    from affscore.transport.bias import extrapolated_affinity_scores as extrapolated_affinity_scores
    from affscore.transport.bias import first_order_bias as first_order_bias
    from affscore.transport.bias import points_needed as points_needed
    from affscore.transport.covariances import Covariance as Covariance
    from affscore.transport.covariances import covariance as covariance
    from affscore.transport.covariances import estimate as estimate
    from affscore.transport.diagonal import DiagonalScore as DiagonalScore
    from affscore.transport.diagonal import DiagonalStream as DiagonalStream
    from affscore.transport.diagonal import diagonal_affinity as diagonal_affinity
    from affscore.transport.differentiable import differentiable_affinity as differentiable_affinity

__getattr__, __dir__, __all__ = lazy_names(__name__)
