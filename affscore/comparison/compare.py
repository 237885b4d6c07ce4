"""Several networks, or several data sets, side by side: from names to signatures, distances and a figure."""

from __future__ import annotations

import textwrap
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch import nn

from affscore.comparison import distance_matrix, signature_statistics
from affscore.errors import AffscoreError, AffscoreWarning
from affscore.models.naming import check_destination
from affscore.network.notes import Note, give_warnings, lines
from affscore.network.parquet import write_table
from affscore.network.result import Signature, load_signature
from affscore.network.signature import named_options, signature
from affscore.options import Specification
from affscore.survey.survey import load_or_measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_WRAPPED: Any = {"subsequent_indent": "    ", "break_long_words": False, "break_on_hyphens": False}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Signatures that were compared.

    Attributes:
        signatures: The signatures by name.
        distances: Dynamic time warping distance of every pair.
        statistics: Number of activations, mean, standard deviation, minimum, median, maximum, ... of each.
        notes: Notes for the reader, in sentences: how the measurements differ, and the notes of each.
    """

    signatures: dict[str, Signature]
    distances: pd.DataFrame
    statistics: pd.DataFrame
    notes: tuple[Note, ...] = ()

    def figure(self) -> Figure:
        """The signatures and their distances (:func:`affscore.plots.compared_signatures`); a single one alone."""
        from affscore.plots import compared_signatures  # matplotlib is slow to load

        if len(self.signatures) == 1:
            ((name, result),) = self.signatures.items()
            return result.plot(title=name)
        return compared_signatures(_scores(self.signatures), self.distances)

    def save(self, path: str | Path) -> Path:
        """Write the figure (.png, .svg or .pdf), or statistics and distances as a table (.csv).

        Raises:
            AffscoreError: Another ending, or a place that cannot be written.
        """
        path = check_destination(path, (".png", ".svg", ".pdf", ".csv"))
        return write_table(self.table.rename_axis("name").reset_index(), path, self.figure)

    def differences(self, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
        """Is A more non-linear than B? The difference of their mean scores, with an interval over images.

        Images are drawn again, the same for both networks where both saw the same (a paired bootstrap,
        :meth:`affscore.Signature.resampled_means`). The interval is widened by what the bias of a finite n may add to
        the difference: the difference of the biases (``Signature.worst_bias``). It says how far other images of the
        same kind would move the difference, and nothing of other trainings of the same architectures.

        Args:
            level: Share of the resamples inside an interval, in (0, 1).
            resamples: Number of resamples.
            seed: Fixes them.

        Returns:
            A row for each pair: ``a``, ``b``, ``difference`` (mean score of a minus that of b, in [-1, 1]), ``low``,
            ``high``, ``paired`` (whether both saw the same images) and ``more non-linear``: the one with the lower mean
            score, or "undecided" where the interval contains 0.

        Raises:
            AffscoreError: A result that was read from a file: it holds no costs of images.

        >>> found = compare("mini:digitsnet", "mini:digitsnet@random", n=128, images=128, criteria=False)
        >>> row = found.differences().loc[0]
        >>> row["more non-linear"], bool(row["low"] < row["difference"] < row["high"] < 0)
        ('mini:digitsnet@DEFAULT', True)
        """
        if not 0 < level < 1:
            raise AffscoreError(f"level must be in (0, 1), got {level}")
        tail, rows = (1 - level) / 2, []
        for (a, one), (b, other) in combinations(self.signatures.items(), 2):
            paired = _same_images(one, other)
            own_seed = seed if paired else seed + 1
            drawn = one.resampled_means(resamples, seed) - other.resampled_means(resamples, own_seed)
            low, high = np.quantile(drawn, [tail, 1 - tail])
            bias = one.worst_bias - other.worst_bias
            low, high = low - max(bias, 0.0), high - min(bias, 0.0)
            lower = "undecided" if low <= 0 <= high else a if high < 0 else b
            difference = float(np.nanmean(one.scores) - np.nanmean(other.scores))
            rows.append((a, b, difference, float(low), float(high), paired, lower))
        return pd.DataFrame(rows, columns=["a", "b", "difference", "low", "high", "paired", "more non-linear"])

    @property
    def table(self) -> pd.DataFrame:
        """Statistics and distances in one table, a row for each signature."""
        return self.statistics.join(self.distances.add_prefix("distance to "))

    def __repr__(self) -> str:
        parts = [self.statistics.to_string(float_format="{:.3f}".format)]
        if len(self.signatures) > 1:
            parts.append(f"\nDTW distances\n{self.distances.to_string(float_format='{:.3f}'.format)}")
            if all(one.sample_costs for one in self.signatures.values()):
                parts.append("\ndifferences of the mean score, with 95 % intervals over images")
                for a, b, difference, low, high, _, lower in self.differences().itertuples(index=False):
                    which = "undecided" if lower == "undecided" else f"{lower} is more non-linear"
                    text = f"{a} - {b}: {difference:.3f} ({low:.3f} to {high:.3f}), {which}"
                    parts.append(textwrap.fill(text, 80, **_WRAPPED))
        return "\n".join([*parts, *lines(self.notes)])


def compare(
    *models: str | Path | nn.Module | Signature | Sequence[Any],
    data: Any = "digits",
    names: Sequence[str] | None = None,
    store: str | Path | None = None,
    **options: Any,
) -> Comparison:
    """Compare networks on one data set, or one network on several.

    Args:
        models: One or more, or a list of them: MODEL[@WEIGHTS], a network, a signature, or the file of one (.parquet).
            One result alone is described and drawn.
        data: What :func:`affscore.signature` takes, for what is not measured yet; a list of names of data sets compares
            every model on each of them.
        names: What to call the results; by default their model, with weights and data set where these differ.
        store: The folder of a store: results that are there are not measured again, and new ones are kept there.
        options: Those of :func:`affscore.signature`.

    Returns:
        The comparison; its ``figure()`` draws it, and printing it shows a row of statistics for each result, the matrix
        of the distances, and for each pair the difference of the mean scores with its interval.

    Warns:
        AffscoreWarning: A number is likely wrong, as of a signature; it begins with the name of the result.

    Raises:
        AffscoreError: No result, names that do not fit, or what a signature raises.

    Source: section 4, figure 5.

    >>> found = compare("mini:digitsnet", "mini:digitsnet@random", n=64, images=64, criteria=False)
    >>> list(found.signatures), bool(found.distances.iloc[0, 1] > 0)
    (['mini:digitsnet@DEFAULT', 'mini:digitsnet@random'], True)
    """
    listed: Sequence[Any] = models[0] if len(models) == 1 and isinstance(models[0], (list, tuple)) else models
    datasets = list(data) if isinstance(data, (list, tuple)) and all(isinstance(one, str) for one in data) else [data]
    planned = vars(named_options(options))
    wanted: list[tuple[Any, Any]] = [
        (one, dataset) for one in map(_read, listed) for dataset in ([None] if isinstance(one, Signature) else datasets)
    ]
    if not wanted:
        raise AffscoreError("a comparison needs results: name models")
    if names is not None and not (len(names) == len(set(names)) == len(wanted)):
        raise AffscoreError(f"names must be {len(wanted)} different ones, got {list(names)}")
    # before hours are spent on measuring
    _check_alike([one.metadata if isinstance(one, Signature) else planned for one, _ in wanted])
    with warnings.catch_warnings(action="ignore", category=AffscoreWarning):  # given below, with the names
        results = [_result(model, dataset, store, options) for model, dataset in wanted]
    signatures = dict(zip(names or _labels(results), results, strict=True))
    notes = _notes(signatures)
    give_warnings(notes, stacklevel=2)
    scores = _scores(signatures)
    return Comparison(signatures, distance_matrix(scores), signature_statistics(scores), notes)


def _read(model: Any) -> Any:
    """The result in a file; else the model, or the result, as it is."""
    if isinstance(model, Path) or (isinstance(model, str) and model.endswith(".parquet")):
        return load_signature(model)
    return model


def _result(model: Any, dataset: Any, store: str | Path | None, options: dict[str, Any]) -> Signature:
    """A result that is there, or the one of a network, measured or out of a store."""
    if isinstance(model, Signature):
        return model
    if store is None:
        return signature(model, dataset, **options)
    return load_or_measure([model], dataset, store, **options)[model]


def _scores(signatures: Mapping[str, Signature]) -> dict[str, NDArray[np.float64]]:
    """Their scores, without those that are missing."""
    return {name: result.scores[~np.isnan(result.scores)] for name, result in signatures.items()}


def _same_images(one: Signature, other: Signature) -> bool:
    """Whether two networks saw the same images in the same order, each in its own preparation of them."""
    prepared = any(result.metadata.get("preprocessing") for result in (one, other))
    same = prepared or one.metadata["fingerprint_data"] == other.metadata["fingerprint_data"]
    return same and all(one.metadata[key] == other.metadata[key] for key in ("dataset", "seed", "images", "n"))


def _labels(results: list[Signature]) -> list[str]:
    """The model, and as much of weights and data set as tells the results apart."""
    keys = ("model", "weights", "dataset")
    about = pd.DataFrame([{key: str(result.metadata[key]) for key in keys} for result in results])
    labels = about["model"]
    for key, before in (("weights", "@"), ("dataset", " on ")):
        labels = labels + before + about[key] if len(set(about[key])) > 1 else labels
    numbered = labels + " (" + (labels.groupby(labels).cumcount() + 1).astype(str) + ")"
    return list(numbered.where(labels.duplicated(keep=False), labels))


def _check_alike(results: Sequence[Mapping[str, Any]]) -> None:
    """Refuse what does not compare: reduction and order alone move scores by 0.1 to 0.3; and blocks."""
    unsaid = {"bias": "none", "units": "activations"}  # by older versions
    for key in (*Specification._fields, "units"):
        found = sorted({str(metadata.get(key, unsaid.get(key))) for metadata in results})
        if len(found) > 1:
            raise AffscoreError(f"the results have different values of {key} ({', '.join(found)}); measure them alike")


def _notes(signatures: Mapping[str, Signature]) -> tuple[Note, ...]:
    """What differs between the signatures and may move their scores, and what each of them has to say."""
    batches = {name: int(result.table["n"].max()) for name, result in signatures.items()}
    datasets = {name: str(result.metadata.get("dataset")) for name, result in signatures.items()}
    contents = defaultdict[str, set[str]](set)
    for about in (result.metadata for result in signatures.values()):
        if str(content := about.get("fingerprint_data")).startswith("crc32:"):  # older results have another one
            # of the images of one name, each network has its own preprocessing
            further = ("images", "seed") if about.get("preprocessing") else ()
            contents[repr([about.get(key) for key in ("dataset", "preprocessing", *further)])].add(str(content))
    notes = []
    if len(set(batches.values())) > 1:
        notes.append(f"the batches differ in their number of samples ({_listed(batches)}): scores may move a little")
    if len(set(datasets.values())) > 1:
        notes.append(f"the data sets differ ({_listed(datasets)}): a score belongs to a network and its data")
    if any(len(several) > 1 for several in contents.values()):
        notes.append("data sets of the same name hold other numbers (fingerprint_data): a score belongs to its data")
    for name, result in signatures.items():
        if len(flags := result.summary["flag"][np.isnan(result.scores)]):
            what = f"{len(flags)} of {len(result)} {result.metadata.get('units', 'activations')}"
            notes.append(f"{name}: {what} have no score ({', '.join(sorted(set(flags)))}), and are left out")
    own = ((name, Note.of(note)) for name, result in signatures.items() for note in result.notes)
    return (*map(Note, notes), *(Note(f"{name}: {note}", note.kind, note.value) for name, note in own))


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in values.items())
