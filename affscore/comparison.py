"""Several networks, or several data sets, side by side: from names to signatures, distances and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from torch import nn

from affscore.analysis.similarity import distance_matrix, signature_statistics
from affscore.errors import AffscoreError
from affscore.figures.comparison import comparison
from affscore.network.result import Signature
from affscore.network.signature import signature
from affscore.survey.aside import written_aside
from affscore.survey.files import check_destination, read_signature
from affscore.survey.keep import kept_signature
from affscore.survey.shipped import PREFIX, shipped_signature

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """Signatures that were compared.

    Attributes:
        signatures: The signatures by name.
        distances: Dynamic time warping distance of every pair.
        statistics: Number of activations, mean, standard deviation, minimum, median, maximum, ... of each.
        notes: What the reader should be told, in sentences: differences in how the results were measured.
    """

    signatures: dict[str, Signature]
    distances: pd.DataFrame
    statistics: pd.DataFrame
    notes: tuple[str, ...] = ()

    def figure(self) -> Figure:
        """The signatures in one plot, and their distances (:func:`affscore.figures.comparison`)."""
        return comparison({name: result.scores for name, result in self.signatures.items()}, self.distances)

    def save(self, path: str | Path) -> Path:
        """Write the figure (.png, .svg or .pdf), or statistics and distances as a table (.csv).

        Raises:
            AffscoreError: Another ending, or a place that cannot be written.
        """
        path = check_destination(path, (".png", ".svg", ".pdf", ".csv"))
        try:
            with written_aside(path) as temporary:
                if path.suffix == ".csv":
                    self.table.to_csv(temporary, index_label="name")
                else:
                    figure = self.figure()
                    figure.savefig(temporary, format=path.suffix[1:], dpi=200)
                    plt.close(figure)
        except OSError as error:
            raise AffscoreError(f"{path.name!r} could not be written: {error.strerror or error}") from error
        return path

    @property
    def table(self) -> pd.DataFrame:
        """Statistics and distances in one table, a row for each signature."""
        return self.statistics.join(self.distances.add_prefix("distance to "))

    def __repr__(self) -> str:
        shown = self.statistics.to_string(float_format="{:.3f}".format)
        distances = self.distances.to_string(float_format="{:.3f}".format)
        return "\n".join([f"{shown}\n\nwarping distances\n{distances}", *(f"note: {note}" for note in self.notes)])


def compare(
    *models: str | Path | nn.Module | Signature,
    data: Any = "digits",
    names: Sequence[str] | None = None,
    store: str | Path | None = None,
    **options: Any,
) -> Comparison:
    """Compare networks on one data set, or one network on several.

    Args:
        models: At least two in all: MODEL[@WEIGHTS], a network, a signature, the file of one (.parquet), or
            shipped:MODEL for a result that comes with the package.
        data: What :func:`affscore.signature` takes, for what is not measured yet; a list of names of data sets compares
            every model on each of them.
        names: What to call the results; by default their model, with weights and data set where these differ.
        store: The folder of a store: results that are there are not measured again, and new ones are kept there.
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
        finished = _finished(model, options)
        if finished is not None:
            results.append(finished)
        elif store is not None:
            results += [kept_signature(model, dataset, store, **options) for dataset in datasets]  # type: ignore[arg-type]
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
    notes = _check_alike(signatures)
    scores = {name: result.scores for name, result in signatures.items()}
    return Comparison(signatures, distance_matrix(scores), signature_statistics(scores), notes)


def _finished(model: str | Path | nn.Module | Signature, options: Mapping[str, Any]) -> Signature | None:
    """The result that a model stands for, or None where one has to be measured."""
    if isinstance(model, Signature):
        return model
    if isinstance(model, Path) or (isinstance(model, str) and model.endswith(".parquet")):
        return read_signature(model)
    if isinstance(model, str) and model.startswith(PREFIX):
        return shipped_signature(model, options.get("reduction", "mean"), options.get("order", "activate-first"))
    return None


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


def _check_alike(signatures: Mapping[str, Signature]) -> tuple[str, ...]:
    """Refuse what does not compare (reduction and order alone move scores by 0.1 to 0.3); say what else differs."""
    notes = []
    for key in ("reduction", "order", "covariance", "coupling", "n", "dataset"):
        found = {name: result.metadata.get(key) for name, result in signatures.items()}
        if len(set(found.values())) < 2:
            continue
        ways = ", ".join(f"{name}: {value}" for name, value in found.items())
        if key == "n":
            notes.append(f"the batches differ in their number of images ({ways}), which alone may move scores a little")
        elif key == "dataset":
            notes.append(f"the data sets differ ({ways}): a score belongs to a network and its data")
        else:
            raise AffscoreError(
                f"these signatures were measured with different values of {key} ({ways}); measure them alike"
            )
    return tuple(notes)
