"""Signatures that nobody measured, for tests of what is said about signatures."""

import numpy as np
import pandas as pd

from affscore.network.result import Signature

CRITERIA = ("cka", "norm", "sparsity_before", "sparsity_after", "entropy_before", "entropy_after", "r2")


def synthetic(
    scores,
    model="resnet18",
    weights="IMAGENET1K_V1",
    dataset="imagenet:imagenet",
    *,
    batches=2,
    noise=0.0,
    kinds="hidden",
    layers=None,
    criteria=None,
    seed=0,
    **about,
):
    """A signature with these mean scores.

    Args:
        scores: One for each activation.
        model: As results carry it.
        weights: The same.
        dataset: The same.
        batches: How many.
        noise: How far the scores of two batches lie apart; their mean over two batches stays what it is.
        kinds: The kind of each activation, or one for all.
        layers: The names of the layers.
        criteria: Values of criteria by column, one for each activation; others are noise.
        seed: Of that noise.
        about: What else the metadata says, instead of the usual.
    """
    generator = np.random.default_rng(seed)
    count = len(scores)
    given = criteria or {}
    metadata = {
        "model": model,
        "weights": weights,
        "dataset": dataset,
        "n": 512,
        "images": 512 * batches,
        "reduction": "mean",
        "order": "activate-first",
        "covariance": "ledoit-wolf",
        "coupling": "exact",
        "seed": 0,
        "criteria": ["cka", "norm", "sparsity", "entropy", "r2"],
        "versions": {},
        "created": "2026-01-01T00:00:00+00:00",
        "fingerprint_weights": "0" * 16,
        "fingerprint_data": "0" * 16,
        **about,
    }
    rows = []
    values = {name: np.asarray(given.get(name, generator.uniform(0, 1, count)), dtype=float) for name in CRITERIA}
    for batch in range(batches):
        shift = noise * (batch - (batches - 1) / 2)
        for index, score in enumerate(scores):
            rows.append(
                {
                    **{key: metadata[key] for key in ("model", "weights", "dataset")},
                    "index": index,
                    "layer": layers[index] if layers else f"features.{index}",
                    "call": 0,
                    "activation": "relu",
                    "kind": kinds if isinstance(kinds, str) else kinds[index],
                    "depth": index + 1,
                    "width": 64,
                    "batch": batch,
                    "n": 512,
                    **{key: metadata[key] for key in ("reduction", "order", "covariance", "coupling")},
                    "score": float(score) + shift,
                    "raw": float(score) + shift,
                    "pairing_optimal": True,
                    "bound_exceeded": False,
                    "flag": "",
                    **{name: float(values[name][index]) for name in CRITERIA},
                    "seconds": 0.1,
                }
            )
    table = pd.DataFrame(rows)
    table["pairing_optimal"] = table["pairing_optimal"].astype("boolean")
    return Signature(table, metadata)
