"""How often the interval of a diagonal stream holds the true score: ``python -m companion.chapter_09.coverage``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from affscore.transport import DiagonalStream

LAWS = {
    "normal": norm(),
    "Student, 5 degrees": t(5),
    "Student, 3 degrees": t(3),
    "fires 1 in 44": norm(-2),
    "fires 1 in 740": norm(-3),
}
"""The distributions of the inputs of a ReLU, the same for all channels."""


def true_score(law: Any) -> float:
    r"""The diagonal score of a ReLU of infinitely many inputs, :math:`1 - \sqrt{1 - c}`, by integration.

    >>> round(true_score(norm()), 3)
    0.621
    """
    first, second = law.expect(lambda x: x, lb=0.0), law.expect(np.square, lb=0.0)
    correlation = (second - law.mean() * first) / law.std() / (second - first**2) ** 0.5
    return 1.0 - float(1.0 - correlation) ** 0.5


def coverage(law: Any, n: int, d: int = 16, repeats: int = 1000) -> float:
    """The share of streams of n samples with d channels, of as many as ``repeats``, whose interval holds the truth."""
    truth, generator, hits = true_score(law), np.random.default_rng(0), 0
    for _ in range(repeats):
        x, stream = law.rvs(size=(n, d), random_state=generator), DiagonalStream()
        stream.update(x, np.maximum(x, 0.0))
        low, high = stream.interval
        hits += low <= truth <= high
    return hits / repeats


if __name__ == "__main__":
    print(pd.DataFrame({n: {name: coverage(law, n) for name, law in LAWS.items()} for n in (128, 512, 2048)}))
