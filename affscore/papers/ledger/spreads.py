"""Figures 10 to 13, figure 15 and table 3: how much scores move with batches, data and training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import cell, criterion_values, deviations
from affscore.network.result import Signature
from affscore.papers.evidence import ON_MORE_DATA, Evidence
from affscore.papers.ledger.commands import IMAGENET, survey_command
from affscore.papers.ledger.correlations import how_measured, mean_or_deviation
from affscore.papers.ledger.finding import Finding
from affscore.papers.ledger.printed import PrintedNumber
from affscore.papers.ledger.sampling import error_over_batches, jackknife_error, means_without_a_batch
from affscore.papers.reference import printed_table
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
        here, there = {name: here[name] for name in names}, {name: there[name] for name in names}
        found = deviations(_scores(here), _scores(there))
        lost = sorted(set(names) - set(found.dropna().index))
        return Finding(
            ours=mean_or_deviation(found, number.column),
            error=self._error(number, here, there),
            undefined=f"no distance for {', '.join(lost)}: an activation has no score" if lost else "",
            how="Euclidean distances, as the caption says",
            why="the caption says Euclidean distance, the text dynamic time warping",
            analogue=analogue,
            analogue_of=of,
            command=command,
        )

    def _error(self, number: PrintedNumber, here: Mapping[str, Signature], there: Mapping[str, Signature]) -> float:
        """The images of both data sets were drawn, independently of each other."""
        fixed_here, fixed_there = _scores(here), _scores(there)
        of_here = error_over_batches(
            lambda scores: mean_or_deviation(deviations(scores, fixed_there), number.column), here
        )
        of_there = error_over_batches(
            lambda scores: mean_or_deviation(deviations(fixed_here, scores), number.column), there
        )
        return float(np.hypot(of_here, of_there))

    def _analogue(self, dataset: str, what: str) -> tuple[float | None, str]:
        found = deviations(_scores(self.evidence.mini), _scores(self.evidence.mini_on(dataset)))
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
            error=self._error(names, _COLUMNS[number.row], number.column),
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

    def _error(self, names: Sequence[str], criterion: str, what: str) -> float:
        """All checkpoints saw the same images, so a batch is left out of all at once."""
        checkpoints = {name: self.evidence.checkpoints[name] for name in names}
        without = pd.DataFrame(
            {
                name: means_without_a_batch(one, criterion_values(one.table)[criterion]).mean()
                for name, one in checkpoints.items()
            }
        )
        if without.notna().sum().min() < 2:
            return np.inf
        every = without.fillna(self._means[criterion])  # of a checkpoint with fewer batches none is left out then
        return jackknife_error(np.array([mean_or_deviation(row, what) for _, row in every.iterrows()]))

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
    return jackknife_error(np.array(without))


def _scores(signatures: Mapping[str, Signature]) -> dict[str, NDArray[np.float64]]:
    return {name: one.scores for name, one in signatures.items()}
