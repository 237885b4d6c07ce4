"""The steps from two clouds to a score, as figures 1 and 2 show them, and the bounds that hold for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affscore.errors import AffscoreError
from affscore.transport import AffinityScore, affine_map, affinity_score, covariance, optimal_coupling
from affscore.transport.covariances import CovarianceName
from affscore.transport.samples import Samples, as_samples

Cloud = NDArray[np.float64]


@dataclass(frozen=True)
class ScoreSteps:
    """What a score is made of.

    Attributes:
        score: The score.
        x: The input, (n, d).
        y: The output, (n, d).
        image: T(x), (n, d), the image of the input under the affine map.
        partner: (n, d), the sample of y that the optimal coupling gives to each T(x).
        spread: Covariance of y, (d, d).
    """

    score: AffinityScore
    x: Cloud
    y: Cloud
    image: Cloud
    partner: Cloud
    spread: Cloud


def score_steps(x: Samples, y: Samples, covariance_name: CovarianceName = "ledoit-wolf") -> ScoreSteps:
    """Score two clouds, and keep what is computed on the way.

    Args:
        x: Array or tensor (n, d), or (n,) for samples on a line.
        y: The same for the output.
        covariance_name: "ledoit-wolf" or "empirical".

    Raises:
        AffscoreError: Clouds of different shapes, or samples that :func:`affscore.affinity_score` refuses.

    Source: equation 5.

    >>> steps = score_steps([0.0, 1.0, 2.0], [0.0, 2.0, 4.0])
    >>> steps.image.round(9).ravel().tolist(), float(steps.score)
    ([0.0, 2.0, 4.0], 1.0)
    """
    if np.shape(x) != np.shape(y):
        raise AffscoreError(f"x and y must have the same shape, got {np.shape(x)} and {np.shape(y)}")
    columns = [np.asarray(cloud)[:, None] if np.ndim(cloud) == 1 else cloud for cloud in (x, y)]
    source, target = (as_samples(cloud, name)[0].cpu() for cloud, name in zip(columns, "xy", strict=True))
    score = affinity_score(source, target, covariance_name)
    image = affine_map(source, target, score.covariance)(source)
    partner = target[optimal_coupling(image, target).assignment]
    spread = covariance(target, score.covariance)
    return ScoreSteps(score, *(cloud.numpy() for cloud in (source, target, image, partner, spread)))
