"""Results of one kind, on which the papers' claims are tested. Kinds are never mixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import criterion_correlations, distance_matrix
from affscore.network.result import Signature
from affscore.papers.estimate import Estimate, mean_of, require
from affscore.papers.jackknife import error_over_batches
from affscore.papers.networks import network_table, study_models

Array: TypeAlias = NDArray[np.float64]

CHOICES = "activate first, averaged over positions"
"""The choices under which signatures are measured, where nothing else is said."""


@dataclass(frozen=True)
class Results:
    """Results of one kind.

    Attributes:
        about: What they are about, as a page says it.
        scope: Under which choices they were measured; how often is read off them (:mod:`affscore.papers.evidence`).
        analogue: Whether these are other networks, weights, data or inputs than the papers'.
        signatures: Signatures by the papers' names of the networks.
        untrained: Signatures of the same networks on the same data before training.
        elsewhere: Signatures of the same networks on other data sets, by data set.
        checkpoints: Signatures of one architecture that was trained in several ways.
        correlations: Of score and criteria: ``model``, ``criterion``, ``activations`` and ``correlation``.
        trainings: Accuracies and statistics, a row for each network and training.
        zoo: Parameters, operations and depth of the networks in ``trainings``.
        sweeps: Scores of activation functions on random inputs (:data:`affscore.experiments.sweeps.SWEEPS`).
        studies: Studies (:mod:`affscore.survey.studies`) by name, their rows of one specification.
        printed: The papers' own printed tables by name (:func:`affscore.papers.printed_table`).
    """

    about: str
    scope: str = ""
    analogue: bool = False
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    untrained: Mapping[str, Signature] = field(default_factory=dict)
    elsewhere: Mapping[str, Mapping[str, Signature]] = field(default_factory=dict)
    checkpoints: Mapping[str, Signature] = field(default_factory=dict)
    correlations: pd.DataFrame | None = None
    trainings: pd.DataFrame | None = None
    zoo: pd.DataFrame | None = None
    sweeps: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    studies: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    printed: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    @cached_property
    def summaries(self) -> dict[str, pd.DataFrame]:
        """The rows of :attr:`affscore.Signature.summary` of each network."""
        return {name: one.summary for name, one in self.signatures.items()}

    def scores(self, name: str) -> Array:
        """The scores of a network in the order of its activations, without those that are missing."""
        require(name in self.signatures)
        scores = self.signatures[name].scores
        return scores[~np.isnan(scores)]

    def inside_and_outside(self, start: str, column: str, part: str) -> list[tuple[Array, Array]]:
        """The scores of networks in two groups, inside of some part and elsewhere; networks without one are left out.

        Args:
            start: Of the names of the networks; those with the fewest activations come first.
            column: Of the summary of a signature, as ``kind`` or ``layer``.
            part: What that column has in it for the first group.
        """
        groups = []
        for name in self.beginning(start):
            summary = self.summaries[name].dropna(subset="score")
            inside = summary[column].astype(str).str.contains(part, regex=False).to_numpy()
            scores = summary["score"].to_numpy(dtype=float)
            groups.append((scores[inside], scores[~inside]))
        return [both for both in groups if all(map(len, both))]

    def sweep(self, *names: str) -> pd.DataFrame:
        """The first of these sweeps that is there.

        Raises:
            MissingResultsError: None is.
        """
        there = [self.sweeps[name] for name in names if name in self.sweeps]
        require(there)
        return there[0]

    def beginning(self, start: str) -> list[str]:
        """The networks whose names begin so, those with the fewest activations first."""
        names = [name for name in self.signatures if name.startswith(start)]
        return sorted(names, key=lambda name: len(self.signatures[name]))

    @cached_property
    def study(self) -> pd.DataFrame:
        """Family, group and year of those networks that are the study's, by name, oldest first."""
        there = set(self.signatures) if self.trainings is None else set(self.trainings["name"])
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
        if self.trainings is not None:
            own = self.trainings[self.trainings["name"] == name]
            require(len(own) > 1)
            return mean_of(own["max"] - own["min"] if statistic == "spread" else own[statistic])
        require(name in self.signatures)
        one, of = self.signatures[name], _STATISTIC[statistic]
        batches = one.table["batch"].nunique()
        require(batches > 1)
        error = error_over_batches(lambda scores: float(of(scores[name])), {name: one})
        return Estimate(float(of(one.scores)), error, batches - 1)

    @cached_property
    def distances(self) -> pd.DataFrame:
        """Dynamic time warping distances between the study's networks that are there."""
        return distance_matrix(self.study_scores)

    @cached_property
    def criteria(self) -> pd.DataFrame:
        """Correlations of score and criteria: as given, or of the signatures there are."""
        return criterion_correlations(self.summaries) if self.correlations is None else self.correlations

    @cached_property
    def correlation_errors(self) -> pd.DataFrame:
        """Standard errors of these correlations, from how batches differ in them: a row for each criterion.

        Unbounded where only one batch has the correlation.
        """
        errors = {}
        for name, one in self.signatures.items():
            batches = {str(number): rows for number, rows in one.table.groupby("batch")}
            found = criterion_correlations(batches).groupby("criterion")["correlation"]
            errors[name] = (found.std() / found.count() ** 0.5).fillna(np.inf)
        return pd.DataFrame(errors)


_STATISTIC: dict[str, Callable[[Array], float]] = {"mean": np.nanmean, "min": np.nanmin, "max": np.nanmax}
_STATISTIC["spread"] = lambda scores: np.nanmax(scores) - np.nanmin(scores)
