"""What claims are tested on: one body of facts for each kind of evidence, so that none is taken for another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import criterion_correlations, distance_matrix, over_seeds
from affscore.experiments.activation_domain import domain_summary
from affscore.network.result import Signature
from affscore.papers.claims.estimate import Estimate, mean_of
from affscore.papers.evidence import Evidence
from affscore.papers.figure_3 import history
from affscore.papers.ledger.sampling import error_over_batches
from affscore.papers.networks import network_table, study_models
from affscore.papers.reference import printed_table, printed_tables
from affscore.papers.tables_1_and_2 import printed_correlations

__all__ = ["Facts", "facts_of"]


@dataclass(frozen=True)
class Facts:
    """Facts of one kind.

    Attributes:
        about: What they are about, as a page says it.
        scope: Under which choices they were measured, and how often.
        analogue: Whether these are other networks, weights, data or inputs than the papers'.
        signatures: Signatures by the papers' names of the networks.
        reduce_first: The same networks and data, measured in the other order.
        untrained: Signatures of the same networks on the same data before training.
        elsewhere: Signatures of the same networks on other data sets, by data set.
        checkpoints: Signatures of one architecture that was trained in several ways.
        correlations: Of score and criteria: ``model``, ``criterion``, ``activations`` and ``correlation``.
        trainings: Accuracies and statistics, a row for each network and training.
        zoo: Parameters, operations and depth of the networks in ``trainings``.
        activations: Scores of activation functions on random inputs (:data:`affscore.experiments.sweeps.SWEEPS`).
        printed: The papers' own printed tables by name (:func:`affscore.papers.printed_table`).
    """

    about: str
    scope: str = ""
    analogue: bool = False
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    reduce_first: Mapping[str, Signature] = field(default_factory=dict)
    untrained: Mapping[str, Signature] = field(default_factory=dict)
    elsewhere: Mapping[str, Mapping[str, Signature]] = field(default_factory=dict)
    checkpoints: Mapping[str, Signature] = field(default_factory=dict)
    correlations: pd.DataFrame | None = None
    trainings: pd.DataFrame | None = None
    zoo: pd.DataFrame | None = None
    activations: Mapping[str, pd.DataFrame] = field(default_factory=dict)
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
        there = set(self.signatures) if self.trainings is None else set(self.trainings["name"])
        return network_table([name for name in study_models("") if name in there])

    @cached_property
    def families(self) -> dict[str, list[str]]:
        """The names of the study's networks that are there, by family."""
        return {str(family): list(names) for family, names in self.study.groupby("family", sort=False).groups.items()}

    @cached_property
    def statistics(self) -> pd.DataFrame:
        """The study's networks with the statistics of their signatures: means over trainings where there are several.

        The columns of :attr:`study`, of :func:`affscore.analysis.signature_statistics` and ``spread``; of signatures
        also ``skewness``.
        """
        if self.trainings is None:
            return history({name: self.scores(name) for name in self.study.index}) if len(self.study) else self.study
        return self.study.join(over_seeds(self._trainings))

    @cached_property
    def _trainings(self) -> pd.DataFrame:
        assert self.trainings is not None  # the callers have looked
        return self.trainings.assign(spread=self.trainings["max"] - self.trainings["min"])

    def by_family(self, statistic: str) -> dict[str, Estimate]:
        """The mean of a statistic over the networks of each family, with the error of so many networks."""
        return {family: mean_of(self.statistics.loc[names, statistic]) for family, names in self.families.items()}

    def estimate(self, name: str, statistic: str) -> Estimate | None:
        """A statistic of one network with its error over trainings, or over batches where it was trained once.

        Args:
            name: The network.
            statistic: "mean", "min", "max" or "spread".

        Returns:
            The estimate; None where the network is not there, or was measured once.
        """
        if self.trainings is not None:
            values = self._trainings.loc[self._trainings["name"] == name, statistic]
            return mean_of(values) if len(values) > 1 else None
        one = self.signatures.get(name)
        batches = 0 if one is None else one.table["batch"].nunique()
        if one is None or batches < 2:
            return None
        of = _STATISTIC[statistic]
        error = error_over_batches(lambda scores: of(scores[name]), {name: one})
        return Estimate(of(one.scores), error, batches - 1)

    @cached_property
    def distances(self) -> pd.DataFrame:
        """Dynamic time warping distances between the study's networks that are there."""
        return distance_matrix({name: self.scores(name) for name in self.study.index})

    @cached_property
    def criteria(self) -> pd.DataFrame | None:
        """Correlations of score and criteria: as given, or of the signatures there are; None where there are none."""
        found = self.correlations
        if found is None and self.signatures and len(self.study):
            found = criterion_correlations({name: self.signatures[name].summary for name in self.study.index})
        return None if found is None or found["correlation"].isna().all() else found

    @cached_property
    def domain(self) -> pd.DataFrame | None:
        """What :func:`affscore.experiments.domain_summary` says of each draw of a sweep over the inputs of figure 6."""
        if "domain" not in self.activations:
            return None
        draws = self.activations["domain"].groupby("draw")
        return pd.concat({draw: domain_summary(rows) for draw, rows in draws})


_STATISTIC = {
    "mean": lambda scores: float(np.nanmean(scores)),
    "min": lambda scores: float(np.nanmin(scores)),
    "max": lambda scores: float(np.nanmax(scores)),
    "spread": lambda scores: float(np.nanmax(scores) - np.nanmin(scores)),
}


_ONE_BATCH = "one training of each network, one batch of 512, activate first, averaged over positions"
_MANY_BATCHES = "one training of each network, 19 batches of 512, activate first (and reduce first, where it says so)"


def facts_of(evidence: Evidence) -> list[Facts]:
    """The bodies of facts that the evidence has, the papers' own networks first.

    Args:
        evidence: What there is.
    """
    sweeps = evidence.activations
    tanh = sweeps["domain"][sweeps["domain"]["activation"] == "tanh"]
    stretched = tanh.assign(activation="sigmoid", mean=2 * tanh["mean"], std=2 * tanh["std"])
    return [
        Facts(
            "the papers' networks on ImageNet",
            "torchvision's default weights, batches of 512, activate first, the reduction of the published code",
            signatures=evidence.as_printed,
            elsewhere=evidence.as_printed_elsewhere,
            checkpoints=evidence.checkpoints,
        ),
        Facts(
            "activation functions on the inputs of figures 6 and 7",
            "independent normal coordinates, means -20 to 20 and deviations up to 2 in figure 6; 3 samples of each",
            activations={name: sweeps[name] for name in ("domain", "reductions", "drift")},
        ),
        Facts(
            "the printed numbers",
            "as the papers print them, rounded",
            correlations=printed_correlations(),
            printed={name: printed_table(name) for name in printed_tables()},
        ),
        Facts(
            "activation functions on other inputs",
            "deviations up to 8 around 0; Sigmoid on inputs twice as far and wide as in figure 6; correlated "
            "coordinates (a spectrum that falls as k^-1.5); 3 samples of each",
            analogue=True,
            activations={
                "domain": pd.concat([tanh, stretched]),
                "wide": sweeps["wide"],
                "correlated": sweeps["correlated"],
            },
        ),
        Facts(
            "the small networks on digits",
            _ONE_BATCH,
            analogue=True,
            signatures=evidence.mini,
            untrained=evidence.mini_untrained,
            elsewhere={name: evidence.mini_on(name) for name in ("cifar10", "cifar100", "random")},
        ),
        Facts(
            "the small networks on a few distorted digits",
            "5 trainings of each network that differ in their seed, one batch of 512, activate first, averaged over "
            "positions",
            analogue=True,
            trainings=evidence.hard_task,
            zoo=evidence.zoo,
        ),
        Facts(
            "networks trained on CIFAR-10, on its test images",
            _MANY_BATCHES,
            analogue=True,
            signatures=evidence.cifar,
            reduce_first=evidence.cifar_reduce_first,
        ),
        Facts(
            "networks with other weights or reductions, on photographs",
            "one set of weights for each network, one batch of 512, activate first",
            analogue=True,
            signatures=evidence.other_weights,
        ),
    ]
