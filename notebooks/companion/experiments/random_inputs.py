"""Random inputs that are harder than independent coordinates: decaying spectra and heavy tails."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affscore.errors import AffscoreError


def power_law_correlation(width: int, exponent: float, seed: int = 0) -> NDArray[np.float64]:
    """A correlation matrix with a spectrum that decays like k**-exponent, in random directions.

    The spectrum is imposed on a covariance in a random orthonormal basis, which is then scaled to ones on
    the diagonal; that changes the spectrum a little.

    Args:
        width: d.
        exponent: >= 0; 0 gives the identity, and with 1.5 few directions hold most of the variance.
        seed: Seed of the basis.

    Returns:
        Array (d, d).

    Raises:
        AffscoreError: A negative exponent.

    >>> power_law_correlation(3, 0.0).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if exponent < 0:
        raise AffscoreError(f"the exponent must be at least 0, got {exponent}")
    if exponent == 0:
        return np.eye(width)
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((width, width)))
    matrix = (basis * np.arange(1, width + 1.0) ** -exponent) @ basis.T
    scale = np.diag(matrix) ** -0.5
    matrix = matrix * scale * scale[:, None]
    np.fill_diagonal(matrix, 1.0)
    return (matrix + matrix.T) / 2


def heavy_tailed_sample(
    points: int = 512, width: int = 2048, *, degrees: float = 1.0, large: int = 200, small: float = 1e-3, seed: int = 0
) -> Tensor:
    """Normal samples whose rows have random sizes, a few large coordinates and many tiny ones.

    Each row is multiplied by the magnitude of a Student t variable: the fewer degrees of freedom, the
    heavier the tails. With one degree a few rows hold nearly all of the variance.

    Args:
        points: n.
        width: d.
        degrees: Degrees of freedom of Student's t; infinity for rows of one size.
        large: Coordinates of scale 1.
        small: Scale of the others.
        seed: Seed of the sample.

    Returns:
        Tensor (n, d), float64.

    >>> sample = heavy_tailed_sample(4, 10, large=2)
    >>> tuple(sample.shape), bool(sample[:, 2:].abs().max() < 0.1 * sample[:, :2].abs().max())
    ((4, 10), True)
    """
    rng = np.random.default_rng(seed)
    sizes = np.abs(rng.standard_t(degrees, size=(points, 1))) if np.isfinite(degrees) else np.ones((points, 1))
    scale = np.where(np.arange(width) < large, 1.0, small)
    return torch.from_numpy(rng.standard_normal((points, width)) * scale * sizes)
