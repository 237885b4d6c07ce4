"""Results of one kind, on which the papers' claims are tested. Kinds are never mixed."""

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
from companion.batches import error_over_batches
from companion.networks import network_table, study_models
from companion.statistics import Estimate, mean_of, require

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
