"""What claims are tested on: one body of facts for each kind of evidence, so that none is taken for another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis.activation_numbers import ActivationNumbers
from affscore.analysis.evidence import Evidence
from affscore.analysis.networks import network_table, study_models
from affscore.analysis.redundancy import correlation_table
from affscore.analysis.reference import printed_table, printed_tables
from affscore.analysis.similarity import distance_matrix
from affscore.network.result import Signature

__all__ = ["Facts", "facts_of"]


@dataclass(frozen=True)
class Facts:
    """Facts of one kind.

    Attributes:
        about: What they are about, as a page says it.
        analogue: Whether these are other networks, weights or data than the papers'.
        signatures: Signatures by the papers' names of the networks.
        untrained: Signatures of the same networks on the same data before training.
        elsewhere: Signatures of the same networks on other data sets, by data set.
        correlations: Of score and criteria: a row for each network, a column for each criterion.
        hard_task: Accuracies and statistics, a row for each network and training.
        zoo: Parameters, operations and depth of the networks in ``hard_task``.
        activations: Scores of activation functions on random inputs.
        printed: The papers' own printed tables by name (:func:`affscore.analysis.printed_table`).
    """

    about: str
    analogue: bool = False
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    untrained: Mapping[str, Signature] = field(default_factory=dict)
    elsewhere: Mapping[str, Mapping[str, Signature]] = field(default_factory=dict)
    correlations: pd.DataFrame | None = None
    hard_task: pd.DataFrame | None = None
    zoo: pd.DataFrame | None = None
    activations: ActivationNumbers | None = None
    printed: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    def scores(self, name: str) -> NDArray[np.float64]:
        """The scores of a network in the order of its activations, without those that are missing."""
        values = self.signatures[name].scores
        return values[~np.isnan(values)]

    def scores_where(
        self, name: str, kind: str = "", layer: str = ""
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The scores of a network in two groups: activations of this kind whose layer has this in its name, and others.

        Args:
            name: The network.
            kind: The kind of the first group; empty for any.
            layer: A part of the names of its layers; empty for any.
        """
        summary = self.signatures[name].summary.dropna(subset="score")
        chosen = summary["layer"].astype(str).str.contains(layer, regex=False)
        if kind:
            chosen &= summary["kind"] == kind
        scores = summary["score"].to_numpy(dtype=float)
        return scores[chosen.to_numpy()], scores[~chosen.to_numpy()]

    def beginning(self, start: str) -> list[str]:
        """The networks whose names begin so, those with the fewest activations first."""
        return sorted(
            (name for name in self.signatures if name.startswith(start)), key=lambda n: len(self.signatures[n])
        )

    @cached_property
    def study(self) -> pd.DataFrame:
        """Family, group and year of those networks that are the study's, by name, oldest first."""
        return network_table([name for name in study_models("") if name in self.signatures])

    @cached_property
    def families(self) -> dict[str, list[str]]:
        """The names of the study's networks that are there, by family."""
        return {str(family): list(names) for family, names in self.study.groupby("family", sort=False).groups.items()}

    @cached_property
    def distances(self) -> pd.DataFrame:
        """Dynamic time warping distances between the study's networks that are there."""
        return distance_matrix({name: self.scores(name) for name in self.study.index})

    @cached_property
    def criteria(self) -> pd.DataFrame | None:
        """Correlations of score and criteria: as given, or of the signatures that there are."""
        if self.correlations is not None or self.study.empty:
            return self.correlations
        return correlation_table({name: self.signatures[name].summary for name in self.study.index})


_FUNCTIONS = "activation functions on normal samples; over the inputs of figure 6, on 100 points in 50 dimensions"
"""Chapter 2 takes 1000 points in 300 dimensions, as the paper does; scores there are lower at the bend."""


def facts_of(evidence: Evidence) -> list[Facts]:
    """The bodies of facts that the evidence has, the papers' own networks first.

    Args:
        evidence: What there is.
    """
    return [
        Facts(
            "the papers' networks on ImageNet",
            signatures=evidence.as_printed,
            elsewhere=evidence.as_printed_elsewhere,
        ),
        Facts(_FUNCTIONS, activations=evidence.activations),
        Facts(
            "the printed numbers",
            correlations=printed_table("table2_correlations"),
            printed={name: printed_table(name) for name in printed_tables()},
        ),
        Facts(
            "the small networks on digits",
            analogue=True,
            signatures=evidence.mini,
            untrained=evidence.mini_untrained,
            elsewhere={name: evidence.mini_on(name) for name in ("cifar10", "cifar100", "random")},
            hard_task=evidence.hard_task,
            zoo=evidence.zoo,
        ),
        Facts("networks trained on CIFAR-10, on its test images", analogue=True, signatures=evidence.cifar),
        Facts(
            "networks with other weights or reductions, on photographs",
            analogue=True,
            signatures=evidence.other_weights,
        ),
    ]
