"""Signatures that nobody measured, for tests of what is said about signatures."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from affscore.errors import AffscoreError
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


@dataclass
class SyntheticMultiverse:
    """A multiverse whose scores are a function of the specification; None where that was not measured.

    Attributes:
        scores: From the values of reduction, order, covariance and coupling, in this order.
        metadata: What else :func:`synthetic` takes, as ``model``; the results are of digits unless it says otherwise.
    """

    scores: Any
    metadata: dict = field(default_factory=dict)

    def signature(self, reduction="mean", order="activate-first", covariance="ledoit-wolf", coupling="exact"):
        scores = self.scores(reduction, order, covariance, coupling)
        if scores is None:
            raise AffscoreError(f"{reduction}, {order}, {covariance}, {coupling} was not measured")
        choices = {"reduction": reduction, "order": order, "covariance": covariance, "coupling": coupling}
        about = {"weights": "DEFAULT", "dataset": "digits", "batches": 1, "criteria": None}
        measured = synthetic(scores, **{**about, **self.metadata, **choices})
        return Signature(measured.table.drop(columns=list(CRITERIA)), measured.metadata)


def with_sums(model, after=lambda *choice: 0.9, **about):
    """The multiverse of a ResNet: eight activations inside of blocks score 0.5, eight after sums what is given.

    Args:
        model: As results carry it.
        after: From a specification to a score; None where it was not measured.
        about: As of :func:`synthetic`.
    """
    varied = np.linspace(-0.02, 0.02, 8) + len(model) * 1e-4 + int(model[-2:]) * 1e-4

    def scores(*choice):
        score = after(*choice)
        return None if score is None else [*(0.5 + varied), *(score + varied)]

    return SyntheticMultiverse(scores, {"model": model, "kinds": ["first"] * 8 + ["after-sum"] * 8, **about})
