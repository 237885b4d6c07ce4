"""From the diagonal score to the affinity score, step by step; as a command, for the activations of networks.

``python -m companion.chapter_09.decomposition FILE IMAGES MODEL@WEIGHTS DATASET ...`` adds rows of networks to a file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.errors import AffscoreError
from affscore.network.batch import recorded, run_batch, subject_of
from affscore.options import MOST_COUPLED, Execution, Options
from affscore.transport import affinity_score, diagonal_affinity
from companion.shipped import RESULTS

FILE = RESULTS.parent / "diagonal.parquet"

FEW = 128
"""The first samples of a cloud, which are decomposed by themselves, too."""


def decomposition(x: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, float]:
    """The diagonal score of two clouds (n, d), the affinity score, and what lies between them.

    Returns:
        ``diagonal``; ``shrunk``: the same with the variances that Ledoit and Wolf estimate; ``paired``: with their
        whole map; ``score``: with the optimal pairing, missing for more than 2,048 samples, of which none is looked
        for. None is cut at 0 but ``paired`` and ``score``. ``changed``: the share of the covariance of Y that a
        diagonal map misses, and ``rank``, the participation ratio of its variances.

    >>> x = np.random.default_rng(0).standard_normal((400, 3))
    >>> found = decomposition(x, 2 * x)
    >>> round(found["diagonal"], 6), round(found["changed"], 6)
    (1.0, 0.0)
    """
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    exact = len(x) <= MOST_COUPLED
    score = affinity_score(x, y, coupling="exact" if exact else "paired")
    of_x, of_y = x.var(axis=0), y.var(axis=0)
    estimates = [
        (1 - share) * one + share * one.mean() for share, one in zip(score.intensity, (of_x, of_y), strict=True)
    ]
    slope = np.sqrt(estimates[1] / np.where(estimates[0] > 0, estimates[0], np.inf))
    shrunk = 1 - np.sqrt(np.square(slope * x - y).sum(axis=1).mean() / (2 * of_y.sum()))
    plain = np.sqrt(of_y / np.where(of_x > 0, of_x, np.inf))
    covariance = y.T @ y
    missed = covariance - (plain * x).T @ (plain * x)
    return {
        "diagonal": 1 - float(diagonal_affinity(x, y).contributions.sum()) ** 0.5,
        "shrunk": float(shrunk),
        "paired": score.paired,
        "score": score.value if exact else np.nan,
        "changed": float(np.linalg.norm(missed) / np.linalg.norm(covariance)),
        "rank": float(covariance.trace() ** 2 / np.square(covariance).sum()),
        "dead": float((of_y <= 1e-12 * of_y.max()).mean()),
    }


def rows_of_network(model: str, data: str, images: int = 512) -> pd.DataFrame:
    """The decomposition of each activation whose input and output vary, for three ways to reduce a feature map."""
    options = Options(images=images, n=images, criteria=(), multiverse=("mean", "sample"))
    subject = subject_of(model, data, options, Execution("cpu", 32, False))
    with recorded(subject) as recorder:
        number, chunks = next(iter(subject.stream.batches(images, False)))
        batch = run_batch(subject, recorder, number, chunks)
    if batch is None:
        raise AffscoreError(f"{data} has no samples")
    rows = []
    for pairs, several in zip(batch.passes, options.passes, strict=True):
        for pair in pairs:
            default = several[0].reduction == "mean" and several[0].order == "activate-first"
            for n in (images, FEW) if default and FEW < images <= MOST_COUPLED else (images,):
                x, y = pair.x[:n].double().numpy(), pair.y[:n].double().numpy()
                if pair.refused or min(x.var(), y.var()) <= 1e-30 or not x.var(axis=0).any() or not y.var(axis=0).any():
                    continue
                about = {"reduction": several[0].reduction, "order": several[0].order, "n": len(x), "width": x.shape[1]}
                call = {"index": pair.call.index, "layer": pair.call.layer, "kind": pair.call.kind}
                rows.append({**about, **call, "activation": pair.call.activation, **decomposition(x, y)})
    name = Path(model.partition("@")[0]).name
    return pd.DataFrame(rows).assign(model=name, dataset=Path(data).name)


if __name__ == "__main__":
    where, images, *names = sys.argv[1:]
    for model, data in zip(names[::2], names[1::2], strict=True):
        table = rows_of_network(model, data, int(images))
        if Path(where).exists():
            table = pd.concat([pd.read_parquet(where), table], ignore_index=True)
        table.to_parquet(where)
        print(model, len(table), flush=True)
