"""Figures 10 to 13, figure 15 and table 3: how much scores move with batches, data and training."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pandas as pd

from affscore.analysis.cells import cell
from affscore.analysis.evidence import ON_MORE_DATA, Evidence
from affscore.analysis.ledger.commands import IMAGENET, survey_command
from affscore.analysis.ledger.correlations import how_measured, mean_or_deviation
from affscore.analysis.ledger.finding import Finding
from affscore.analysis.ledger.printed import PrintedNumber
from affscore.analysis.redundancy import criterion_values
from affscore.analysis.reference import printed_table
from affscore.network.result import Signature
from affscore.zoo.characteristics import characteristics

__all__ = ["Batches", "Checkpoints", "Deviations", "figure_15_networks", "mean_spread"]


def mean_spread(signature: Signature) -> float:
    """The standard deviation of the scores over batches, averaged over activations, as in the titles of figure 10."""
    return float(signature.summary["score_std"].mean())


def figure_15_networks() -> list[str]:
    """The networks that figure 15 names.

    >>> len(figure_15_networks())
    33
    """
    study = printed_table("study_networks")
    return [str(name) for name in study.index[study["in_figure15"] == 1]]


class Batches:
    """Findings for the titles of figures 10 to 13."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __call__(self, number: PrintedNumber) -> Finding:
        """What there is beside one of the printed standard deviations."""
        name = "convnext_tiny" if number.row == "convnext" else number.row  # 18 activations are drawn
        analogue, of = self._analogue(name)
        command = survey_command([name])
        signature = self.evidence.as_printed.get(name)
        if signature is None:
            return Finding(analogue=analogue, analogue_of=of, command=command)
        return Finding(
            ours=mean_spread(signature),
            error=_error_of_spread(signature),
            sampled="batches",
            how=how_measured(signature),
            analogue=analogue,
            analogue_of=of,
            command=command,
        )

    def _analogue(self, name: str) -> tuple[float | None, str]:
        """Of a ResNet the one of CIFAR-10 with the nearest number of activations; the small ones have one batch."""
        residual = {other: one for other, one in self.evidence.cifar.items() if other.startswith("resnet")}
        if not name.startswith("resnet") or not residual:
            return None, ""
        count = cell(characteristics([name]), name, "activations")
        nearest = min(residual, key=lambda other: abs(len(residual[other]) - count))
        batches = residual[nearest].table["batch"].nunique()
        return mean_spread(residual[nearest]), f"{nearest} trained on CIFAR-10, on {batches} batches of its test images"


class Deviations:
    """Findings for figure 15: how far signatures on other data are from those on ImageNet."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __call__(self, number: PrintedNumber) -> Finding:
        """What there is beside a mean or standard deviation of figure 15."""
        names = figure_15_networks()
        command = survey_command(names, (IMAGENET, number.row))
        analogue, of = self._analogue(number.row, number.column)
        here = self.evidence.as_printed
        there = self.evidence.as_printed_elsewhere[number.row] if number.row in ON_MORE_DATA else {}
        if not set(names) <= here.keys() & there.keys():
            return Finding(analogue=analogue, analogue_of=of, command=command)
        found = _deviations({name: here[name] for name in names}, there)
        return Finding(
            ours=mean_or_deviation(found, number.column),
            how="Euclidean distances, as the caption says",
            why="the caption says Euclidean distance, the text dynamic time warping",
            analogue=analogue,
            analogue_of=of,
            command=command,
        )

    def _analogue(self, dataset: str, what: str) -> tuple[float | None, str]:
        found = _deviations(self.evidence.mini, self.evidence.mini_on(dataset))
        if len(found) < 2:
            return None, ""
        return mean_or_deviation(found, what), f"{len(found)} networks mini: between digits and {dataset}"


class Checkpoints:
    """Findings for table 3: the criteria over differently trained ResNet-50s."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __call__(self, number: PrintedNumber) -> Finding:
        """What there is beside a mean or standard deviation of table 3."""
        names = [str(name) for name in printed_table("figure16_checkpoints").index]
        specs = ["resnet50", "wide_resnet50_2"]
        specs += [f"resnet50@checkpoints/{name}.pth" for name in names if name not in specs]
        analogue, of = self._analogue(number)
        found = self._means
        if not set(names) <= set(found.index):
            return Finding(analogue=analogue, analogue_of=of, command=survey_command(specs))
        return Finding(
            ours=mean_or_deviation(found.loc[names, _COLUMNS[number.row]], number.column),
            how="over checkpoints, of the mean over activations",
            why="the paper does not say whether its standard deviation is over checkpoints, activations or batches",
            analogue=analogue,
            analogue_of=of,
            command=survey_command(specs),
        )

    @cached_property
    def _means(self) -> pd.DataFrame:
        rows = {name: criterion_values(one.summary).mean() for name, one in self.evidence.checkpoints.items()}
        return pd.DataFrame.from_dict(rows, orient="index")

    def _analogue(self, number: PrintedNumber) -> tuple[float | None, str]:
        task = self.evidence.hard_task
        if number.row != "affinity_score" or task is None:
            return None, ""
        trained = task.loc[task["name"] == "resnet50", "mean"]
        if len(trained) < 2:
            return None, ""
        return mean_or_deviation(
            trained, number.column
        ), f"mini:resnet50 trained from {len(trained)} seeds on a few distorted digits"


_COLUMNS = {
    "affinity_score": "score",
    "linear_cka": "cka",
    "norm": "norm",
    "sparsity": "sparsity",
    "entropy": "entropy",
}


def _error_of_spread(signature: Signature) -> float:
    """Standard error of the mean spread: the jackknife over batches, which knows that activations move together."""
    scores = signature.table.pivot_table(index="index", columns="batch", values="score")
    batches = scores.shape[1]
    if batches < 3:  # none can be left out: that of one standard deviation of normal numbers, and so at most
        return mean_spread(signature) / (2 * (batches - 1)) ** 0.5
    without = [float(scores.drop(columns=batch).std(axis=1).mean()) for batch in scores.columns]
    return float(np.std(without) * (batches - 1) ** 0.5)


def _deviations(here: Mapping[str, Signature], there: Mapping[str, Signature]) -> pd.Series:
    """Euclidean distance of the two signatures of each network that has both."""
    both = [name for name in here if name in there and len(here[name]) == len(there[name])]
    return pd.Series(
        {name: float(np.linalg.norm(here[name].scores - there[name].scores)) for name in both}, dtype=float
    )
