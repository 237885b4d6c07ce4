"""The steps from two clouds to a score, as figures 1 and 2 show them, and the bounds that hold for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affscore.errors import AffscoreError
from affscore.transport import AffinityScore, affine_map, affinity_score, covariance, optimal_coupling, wasserstein
from affscore.transport.covariance import CovarianceName
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


def transport_bounds(x: Samples, y: Samples) -> dict[str, float]:
    r"""Both sides of the Gelbrich bound and of Proposition 3.5, for centred clouds with their own covariances.

    .. math:: 0 \le W_2(X, Y) - W_2(N_X, N_Y)
       \le \frac{2 \operatorname{tr}(\Sigma_X \Sigma_Y)^{1/2}}{\sqrt{\operatorname{tr} \Sigma_X
       + \operatorname{tr} \Sigma_Y}},\qquad W_2(T X, Y) \le \sqrt{2 \operatorname{tr} \Sigma_Y}

    Args:
        x: Array or tensor (n, d); it is centred first.
        y: The same for the output.

    Returns:
        ``gap`` and ``gap_bound``, ``mismatch`` (:math:`W_2(T X, Y)`) and ``mismatch_bound``, and the ``score``, one
        minus the ratio of these two.

    Raises:
        AffscoreError: Samples that :func:`affscore.affinity_score` refuses.

    Source: Theorem 3.4 and Proposition 3.5.

    >>> cloud = np.random.default_rng(0).standard_normal((50, 2))
    >>> bounds = transport_bounds(cloud, 3 * cloud)  # an affine image: nothing is missed
    >>> round(bounds["gap"], 6) + 0, round(bounds["mismatch"], 6) + 0, round(bounds["score"], 6)
    (0.0, 0.0, 1.0)
    """
    source, target = (np.asarray(cloud, dtype=np.float64) for cloud in (x, y))
    steps = score_steps(source - source.mean(axis=0), target - target.mean(axis=0), "empirical")
    of_x = covariance(steps.x, "empirical").numpy()
    mixed = float(
        np.trace(affine_map(steps.x, steps.y, "empirical").matrix.numpy() @ of_x)
    )  # tr (Sx Sy)^(1/2) = tr A Sx
    total = float(np.trace(of_x) + np.trace(steps.spread))
    return {
        "gap": wasserstein(steps.x, steps.y) - max(total - 2 * mixed, 0.0) ** 0.5,
        "gap_bound": 2 * mixed / total**0.5,
        "mismatch": steps.score.w2,
        "mismatch_bound": float(2 * np.trace(steps.spread)) ** 0.5,
        "score": steps.score.value,
    }
