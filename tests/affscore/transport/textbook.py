"""The definitions, computed the slow and obvious way: what the library is compared with.

NumPy in float64, no shortcuts: covariances from scikit-learn, square roots by eigenvalues, equations 4 and 5
as they are printed, and the assignment problem always solved. Regular covariances only, as equation 4 is printed.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.covariance import empirical_covariance, ledoit_wolf


def covariance(x, name, ridge=0.0):
    matrix = ledoit_wolf(x)[0] if name == "ledoit-wolf" else empirical_covariance(x)
    # scikit-learn turns a single column into a scalar covariance of shape (1, 1) or ()
    matrix = np.reshape(matrix, (x.shape[1], x.shape[1]))
    raw = empirical_covariance(x)
    return matrix + ridge * np.trace(raw) / len(raw) * np.eye(len(raw))


def root(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def linear_part(source, target):
    """Equation 4."""
    root_target = root(target)
    return root_target @ np.linalg.inv(root(root_target @ source @ root_target)) @ root_target


def wasserstein(x, y):
    """Equation 3 for samples of equal size."""
    costs = cdist(x, y, "sqeuclidean")
    return np.sqrt(costs[linear_sum_assignment(costs)].mean())


def bures_wasserstein(source, target):
    """The distance of N(0, source) and N(0, target)."""
    root_target = root(target)
    cross = np.trace(root(root_target @ source @ root_target))
    return np.sqrt(max(np.trace(source) + np.trace(target) - 2.0 * cross, 0.0))


def affinity(x, y, name="ledoit-wolf", ridge=0.0):
    """Equation 5, not clipped."""
    source, target = covariance(x, name, ridge), covariance(y, name, ridge)
    transported = (x - x.mean(axis=0)) @ linear_part(source, target).T + y.mean(axis=0)
    return 1.0 - wasserstein(transported, y) / np.sqrt(2.0 * np.trace(target))
