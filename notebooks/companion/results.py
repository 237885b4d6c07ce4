"""Results of one kind, on which the papers' claims are tested, and numbers of them with their error over batches.

Kinds are never mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.comparison import distance_matrix
from affscore.network.result import Signature
from companion.networks import network_table, study_models
from companion.printed import OurNumber
from companion.regression import criterion_values
from companion.statistics import Estimate, jackknife_error, mean_of, require

Array: TypeAlias = NDArray[np.float64]


MATERIAL = FUNCTIONS, PRINTED, NETWORKS, ANALOGUES = (
    "functions on synthetic inputs", "printed numbers read again", "the papers' networks", "other networks"
)  # fmt: skip
"""What claims are tested on, counted apart; the last are other networks, weights, data or recipes than the papers'."""


LEAST_FAMILIES = 4
"""With fewer families nothing is said of families."""


@dataclass(frozen=True)
class Results:
    """Results of one kind.

    Attributes:
        about: What they are about, as a page says it.
        material: One of :data:`MATERIAL`.
        prefix: What the library has before the papers' names of the networks, as ``mini:``.
        signatures: Signatures by the papers' names of the networks, one of each design.
        elsewhere: Signatures of the same networks on other data sets, by data set.
        checkpoints: Signatures of one architecture that was trained in several ways.
        tables: What else there is, by name: studies (:mod:`companion.studies`) under one specification, sweeps of
            activation functions (:func:`companion.sweeps.sweep`), the papers' printed tables;
            ``trainings``, accuracies and statistics, a row for each network and training, with ``zoo``, the parameters,
            operations and depth of these networks; and ``correlations`` of score and criteria.
    """

    about: str
    material: str = NETWORKS
    prefix: str = ""
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    elsewhere: Mapping[str, Mapping[str, Signature]] = field(default_factory=dict)
    checkpoints: Mapping[str, Signature] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    def table(self, name: str) -> pd.DataFrame:
        """A table by its name.

        Raises:
            MissingResultsError: It is not there.
        """
        require(name in self.tables)
        return self.tables[name]

    @cached_property
    def summaries(self) -> dict[str, pd.DataFrame]:
        """The rows of :attr:`affscore.Signature.summary` of each network that have a score."""
        return {name: one.summary.dropna(subset="score") for name, one in self.signatures.items()}

    def scores(self, name: str) -> Array:
        """The scores of a network in the order of its activations, without those that are missing."""
        require(name in self.signatures)
        return self.summaries[name]["score"].to_numpy(dtype=float)

    def inside_and_outside(self, start: str, column: str, part: str) -> dict[str, tuple[Array, Array]]:
        """The scores of networks in two groups, inside of some part and elsewhere; networks without one are left out.

        Args:
            start: Of the names of the networks; those with the fewest activations come first.
            column: Of the summary of a signature, as ``kind`` or ``layer``.
            part: What that column has in it for the first group.
        """
        groups = {}
        for name in self.beginning(start):
            inside = self.summaries[name][column].astype(str).str.contains(part, regex=False).to_numpy()
            groups[name] = (self.scores(name)[inside], self.scores(name)[~inside])
        return {name: both for name, both in groups.items() if all(map(len, both))}

    def beginning(self, start: str) -> list[str]:
        """The networks whose names begin so, those with the fewest activations first."""
        names = [name for name in self.signatures if name.startswith(start)]
        return sorted(names, key=lambda name: len(self.signatures[name]))

    @cached_property
    def study(self) -> pd.DataFrame:
        """Family, group and year of those networks that are the study's, by name, oldest first."""
        there = set(self.tables["trainings"]["name"] if "trainings" in self.tables else self.signatures)
        return network_table([name for name in study_models("") if name in there])

    @property
    def study_scores(self) -> dict[str, Array]:
        """The scores of these networks by name."""
        return {str(name): self.scores(str(name)) for name in self.study.index}

    @cached_property
    def families(self) -> dict[str, list[str]]:
        """The names of the study's networks that are there, by family."""
        return {str(family): list(names) for family, names in self.study.groupby("family", sort=False).groups.items()}

    def estimate(self, name: str, statistic: str) -> Estimate:
        """A statistic of one network with its error over trainings, or over batches where it was trained once.

        Args:
            name: The network.
            statistic: "mean", "min", "max" or "spread".

        Raises:
            MissingResultsError: The network is not there, or was measured once.
        """
        if "trainings" in self.tables:
            own = self.tables["trainings"].query("name == @name")
            require(len(own) > 1)
            return mean_of(own["max"] - own["min"] if statistic == "spread" else own[statistic])
        require(name in self.signatures)
        batches = self.signatures[name].table["batch"].nunique()
        require(batches > 1)
        one, of = {name: self.signatures[name]}, _OF[statistic]
        error = error_over_batches(lambda values: float(of(values[name][0])), one)
        return Estimate(float(of(one[name].scores)), error, batches - 1, n=batches)

    @property
    def repeats(self) -> str:
        """What these errors are over."""
        return "trainings" if "trainings" in self.tables else "batches"

    @cached_property
    def distances(self) -> pd.DataFrame:
        """Dynamic time warping distances between the study's networks that are there."""
        return distance_matrix(self.study_scores)


_OF: dict[str, Callable[[Array], float]] = {"mean": np.nanmean, "min": np.nanmin, "max": np.nanmax}


_OF["spread"] = lambda scores: np.nanmax(scores) - np.nanmin(scores)


Statistic: TypeAlias = Callable[[Mapping[str, Array]], float]
"""A number, from the scores of each network and the values of a criterion beside them, (2, activations)."""


def values_of(signature: Signature, criterion: str = "score") -> Array:
    """The scores of a signature, and a criterion: the mean over its batches for each activation, (2, activations)."""
    values = criterion_values(signature.table, [criterion]).set_axis(["score", "value"], axis=1)
    return values.groupby(signature.table["index"]).mean().to_numpy().T


def without_each_batch(signature: Signature, criterion: str = "score") -> dict[int, Array]:
    """The same without each batch in turn, by its number; missing where no value is left.

    Args:
        signature: A signature of several batches.
        criterion: The score, or another of :func:`companion.regression.criterion_values`.
    """
    means = []
    for values in criterion_values(signature.table, [criterion]).to_numpy().T:
        table = signature.table[["index", "batch"]].assign(value=values)
        by_batch = table.pivot(index="index", columns="batch", values="value")  # noqa: PD010  # keeps what is missing
        sums, counts = by_batch.fillna(0.0), by_batch.notna().astype(int)
        means.append(sums.rsub(sums.sum(axis=1), axis=0) / counts.rsub(counts.sum(axis=1), axis=0))  # 0 / 0 is missing
    return {int(str(batch)): np.array([one[batch] for one in means]) for batch in means[0]}


def error_over_batches(statistic: Statistic, signatures: Mapping[str, Signature], criterion: str = "score") -> float:
    """Standard error of a number that follows from several networks, measured on the same images.

    A batch is left out of all networks at once, since it has the same images for all; one that has fewer batches keeps
    all of its own beyond them.

    Args:
        statistic: The number; what it is given may have missing values.
        signatures: The networks.
        criterion: As of :func:`without_each_batch`.

    Returns:
        The jackknife's error; infinite where a network has a single batch.
    """
    without = {name: without_each_batch(one, criterion) for name, one in signatures.items()}
    if any(len(batches) < 2 for batches in without.values()):
        return np.inf
    full = {name: values_of(one, criterion) for name, one in signatures.items()}
    every = sorted(set().union(*without.values()))
    some = ({name: batches.get(batch, full[name]) for name, batches in without.items()} for batch in every)
    return jackknife_error(np.array([statistic(values) for values in some]))


NO_VALUE = "it has no value: a score is missing, or does not vary"


def number_of(
    signatures: Mapping[str, Signature], names: list[str], statistic: Statistic, criterion: str = "score", **words: str
) -> OurNumber | None:
    """A number of several networks with its error over batches.

    Args:
        signatures: Of networks by name.
        names: Which; None is returned where one is missing, or has not this criterion.
        statistic: The number.
        criterion: As of :func:`without_each_batch`.
        words: ``how`` and ``why`` of :class:`~companion.printed.OurNumber`.
    """
    found = analogue_of(signatures, names, statistic, "", criterion)
    if found is None:
        return None
    value, how = found[0], "; ".join(filter(None, [words.pop("how", ""), few_images(signatures, names)]))
    error = error_over_batches(statistic, {name: signatures[name] for name in names}, criterion)
    undefined = "" if np.isfinite(value) else NO_VALUE
    return OurNumber(value, error, undefined=undefined, how=how, why=words.get("why", ""))


def analogue_of(
    signatures: Mapping[str, Signature], names: list[str], statistic: Statistic, about: str, criterion: str = "score"
) -> tuple[float, str] | None:
    """The same without its error, and what it is of.

    Args:
        about: What it is of; words in braces are looked up in the metadata of the first of the networks.

    As for :func:`number_of`: signatures, names, statistic, criterion.
    """
    if not set(names) <= signatures.keys():
        return None
    values = {name: values_of(signatures[name], criterion) for name in names}
    missing = any(np.isnan(one[1]).all() for one in values.values())
    return None if missing else (statistic(values), about.format(**signatures[names[0]].metadata))


def few_images(signatures: Mapping[str, Signature], names: list[str]) -> str:
    """That networks were not measured on all images of the validation set, in words; nothing where they were."""
    counts = sorted({int(signatures[name].metadata.get("images", 0)) for name in names})
    return "; ".join(f"on {count} of the 50,000 images" for count in counts if count < 49_000)
