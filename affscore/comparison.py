"""Several networks, or several data sets, side by side: from names to signatures, distances and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from torch import nn

from affscore.analysis.similarity import distance_matrix, signature_statistics
from affscore.errors import AffscoreError
from affscore.figures.comparison import comparison
from affscore.network.result import Signature
from affscore.network.signature import signature
from affscore.survey.files import read_signature

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """Signatures that were compared.

    Attributes:
        signatures: The signatures by name.
        distances: Dynamic time warping distance of every pair.
        statistics: Number of activations, mean, standard deviation, minimum, median, maximum, ... of each.
    """

    signatures: dict[str, Signature]
    distances: pd.DataFrame
    statistics: pd.DataFrame

    def figure(self) -> Figure:
        """The signatures in one plot, and their distances (:func:`affscore.figures.comparison`)."""
        return comparison({name: result.scores for name, result in self.signatures.items()}, self.distances)

    def __repr__(self) -> str:
        shown = self.statistics.to_string(float_format="{:.3f}".format)
        return f"{shown}\n\nwarping distances\n{self.distances.to_string(float_format='{:.3f}'.format)}"


def compare(
    *models: str | Path | nn.Module | Signature,
    data: Any = "digits",
    names: Sequence[str] | None = None,
    **options: Any,
) -> Comparison:
    """Compare networks on one data set, or one network on several.

    Args:
        models: At least two in all: MODEL[@WEIGHTS], a network, a signature, or the file of one (.parquet).
        data: What :func:`affscore.signature` takes, for what is not measured yet; a list of names of data sets compares
            every model on each of them.
        names: What to call the results; by default their model, with weights and data set where these differ.
        options: Those of :func:`affscore.signature`.

    Returns:
        The comparison; its ``figure()`` draws it, and printing it shows the statistics and distances.

    Raises:
        AffscoreError: Fewer than two results, names that do not fit, or what a signature raises.

    Source: section 4, figure 5.

    >>> found = compare("mini:digitsnet", "mini:digitsnet@random", n=64, images=64, criteria=False)
    >>> list(found.signatures), bool(found.distances.iloc[0, 1] > 0)
    (['mini:digitsnet@DEFAULT', 'mini:digitsnet@random'], True)
    """
    datasets = list(data) if isinstance(data, (list, tuple)) and all(isinstance(one, str) for one in data) else [data]
    results: list[Signature] = []
    for model in models:
        if isinstance(model, Signature):
            results.append(model)
        elif isinstance(model, Path) or (isinstance(model, str) and model.endswith(".parquet")):
            results.append(read_signature(model))
        else:
            results += [signature(model, dataset, **options) for dataset in datasets]
    if len(results) < 2:
        raise AffscoreError(
            f"a comparison needs at least two results, got {len(results)}: name another model or data set"
        )
    labels = list(names) if names is not None else _labels(results)
    if len(labels) != len(results) or len(set(labels)) != len(labels):
        raise AffscoreError(f"names must be {len(results)} different ones, got {labels}")
    signatures = dict(zip(labels, results, strict=True))
    _check_alike(signatures)
    scores = {name: result.scores for name, result in signatures.items()}
    return Comparison(signatures, distance_matrix(scores), signature_statistics(scores))


def _labels(results: list[Signature]) -> list[str]:
    """The model, and as much of weights and data set as tells the results apart."""
    parts = [[str(result.metadata[key]) for key in ("model", "weights", "dataset")] for result in results]
    differ = [len({part[place] for part in parts}) > 1 for place in range(3)]
    labels = [
        model + (f"@{weights}" if differ[1] else "") + (f" on {dataset}" if differ[2] else "")
        for model, weights, dataset in parts
    ]
    return [
        f"{label} ({labels[:i].count(label) + 1})" if labels.count(label) > 1 else label
        for i, label in enumerate(labels)
    ]


def _check_alike(signatures: Mapping[str, Signature]) -> None:
    """Scores that were measured in different ways do not compare: the choice alone moves them by 0.1 to 0.3."""
    for key in ("reduction", "order", "covariance", "coupling", "n"):
        found = {name: result.metadata.get(key) for name, result in signatures.items()}
        if len(set(found.values())) > 1:
            ways = ", ".join(f"{name}: {value}" for name, value in found.items())
            raise AffscoreError(
                f"these signatures were measured with different values of {key} ({ways}); measure them alike"
            )
