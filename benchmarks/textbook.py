"""For bench_affinity.py and check_real_networks.py: the score with SciPy, scikit-learn and POT, correct and slow."""

from __future__ import annotations

import numpy as np
import ot
from numpy.typing import NDArray
from scipy.linalg import sqrtm
from sklearn.covariance import ledoit_wolf


def affinity_score(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Equation 5 with Ledoit-Wolf covariances, term by term, in float64; arrays (n, d)."""
    mean_x, mean_y = x.mean(axis=0), y.mean(axis=0)
    covariance_x, covariance_y = ledoit_wolf(x)[0], ledoit_wolf(y)[0]
    root = np.real(sqrtm(covariance_y))
    inner = np.real(sqrtm(root @ covariance_x @ root))
    matrix = root @ np.linalg.inv(inner) @ root
    transported = (x - mean_x) @ matrix.T + mean_y
    weights = np.full(len(x), 1 / len(x))
    squared = ot.emd2(weights, weights, ot.dist(transported, y), numItermax=10_000_000)
    return float(1 - np.sqrt(max(squared, 0.0) / (2 * np.trace(covariance_y))))
