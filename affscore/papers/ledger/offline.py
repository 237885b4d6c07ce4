"""What can be found without images: figure 7, the characteristics in figure 4, and numbers in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import LEAST_POINTS, cell, explained_accuracy, over_seeds, signature_statistics
from affscore.papers.evidence import Evidence
from affscore.papers.figure_4 import common_characteristics_again
from affscore.papers.groups import group_of_each, study_groups
from affscore.papers.ledger.commands import survey_command
from affscore.papers.ledger.correlations import how_measured
from affscore.papers.ledger.finding import COMPUTED, LOOKED_UP, Finding
from affscore.papers.ledger.printed import PrintedNumber
from affscore.papers.ledger.sampling import error_over_batches
from affscore.papers.ledger.spreads import figure_15_networks
from affscore.papers.reference import printed_table
from affscore.zoo.architectures import architecture_of
from affscore.zoo.characteristics import characteristics

__all__ = ["Accuracy", "Activations", "Text"]

SAMPLES = "samples"
MAPS = "1000 maps of 100 x 9 numbers"

_SWEEP_OF = {
    "reduced_mean": "reductions",
    "reduced_std": "reductions",
    "empirical": "drift",
    "shrinkage": "shrinkage",
}

_OF_THE_ZOO = {"depth": "depth", "num_params": "parameters", "ops": "flops"}


class Activations:
    """Findings for figure 7: scores of activation functions on normal samples."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __call__(self, number: PrintedNumber) -> Finding:
        """What was measured beside one of its 36 numbers."""
        name, column = number.row, number.column
        sweep = self.evidence.activations[_SWEEP_OF[column]].query("activation == @name")
        if column.startswith("reduced"):
            three = sweep[["mean", "sum", "flatten"]]
            draws = three.mean(axis=1).to_numpy()
            if column == "reduced_std":
                ours = float(three.to_numpy().std(ddof=1))
                return Finding(unprinted=f"how many maps it had, and how large ones (for {MAPS} ours is {ours:.4f})")
            # what is printed is the mean of a few scores, too
            spread = cell(printed_table("figure7_activation_scores"), name, "reduced_std")
            return Finding(ours=float(draws.mean()), error=float(np.hypot(_error(draws), spread)), sampled=SAMPLES)
        if column == "empirical":
            curve = sweep[sweep["covariance"] == "empirical"].groupby("width")["score"].mean()
            return Finding(between=(float(curve.min()), float(curve.max())), unprinted="of which d on its axis this is")
        draws = sweep.groupby("repeat")["score"].mean().to_numpy()
        return Finding(ours=float(draws.mean()), error=_error(draws), sampled=SAMPLES)


def _error(draws: NDArray[np.float64]) -> float:
    """Standard error of the mean of independent draws."""
    return float(draws.std(ddof=1) / len(draws) ** 0.5)


class Accuracy:
    """Findings for figure 4: what explains accuracy."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __call__(self, number: PrintedNumber) -> Finding:
        """What there is beside one of its ten R2."""
        printed = printed_table("figure4_r2").loc[number.row]
        if number.column == "common_r2":
            counted = printed["best_common_characteristic"] == "depth"
            analogue, of = self._analogue(number.row, _OF_THE_ZOO[str(printed["best_common_characteristic"])])
            return Finding(
                ours=cell(self._again, number.row, "ours"),
                way=COMPUTED,
                how="adjusted R2 of a fit in the logarithm, with the accuracies of torchvision's default weights",
                why="the paper does not say how it counts depth; ours is the most activations on a path"
                if counted
                else "",
                analogue=analogue,
                analogue_of=of,
            )
        statistic = str(printed["best_signature_statistic"])
        names = study_groups()[number.row]
        analogue, of = self._analogue(number.row, statistic)
        command = survey_command(names)
        if not set(names) <= self.evidence.as_printed.keys():
            return Finding(analogue=analogue, analogue_of=of, command=command)
        signatures = {name: self.evidence.as_printed[name] for name in names}
        found = _fit({name: one.scores for name, one in signatures.items()}, statistic)
        peculiar = sorted({how for one in signatures.values() if (how := how_measured(one))})
        return Finding(
            ours=float(found["adjusted_r2"]),
            error=error_over_batches(lambda scores: float(_fit(scores, statistic)["adjusted_r2"]), signatures),
            undefined="" if np.isfinite(found["adjusted_r2"]) else str(found["note"]),
            how="; ".join(["adjusted R2 of a fit in the logarithm, as for the common characteristics", *peculiar]),
            why="the paper does not say which fit",
            analogue=analogue,
            analogue_of=of,
            command=command,
        )

    @cached_property
    def _again(self) -> pd.DataFrame:
        return common_characteristics_again()

    @cached_property
    def _small(self) -> pd.DataFrame:
        """The small networks of each group: accuracy and statistics on the hard task, and characteristics."""
        task, zoo = self.evidence.hard_task, self.evidence.zoo
        if task is None or zoo is None:
            return pd.DataFrame()
        table = over_seeds(task).join(zoo.set_index("name")[list(_OF_THE_ZOO.values())])
        return table.assign(group=table.index.map(group_of_each()))

    def _analogue(self, group: str, column: str) -> tuple[float | None, str]:
        if self._small.empty or column not in self._small:
            return None, ""
        found = explained_accuracy(self._small, [column], kind="logarithm").set_index("group")
        if group not in found.index or cell(found, group, "points") < LEAST_POINTS:
            return None, ""
        of = f"{cell(found, group, 'points'):.0f} networks mini: of that group on the hard task"
        return cell(found, group, "adjusted_r2"), of


def _fit(scores: Mapping[str, NDArray[np.float64]], statistic: str) -> pd.Series:
    """The fit of accuracy in the logarithm of a statistic of the scores."""
    statistics = signature_statistics({name: values[~np.isnan(values)] for name, values in scores.items()})
    table = characteristics(scores)[["accuracy"]].join(statistics).assign(group="")
    return explained_accuracy(table, [statistic], kind="logarithm").iloc[0]


class Text:
    """Findings for numbers in sentences and on axes."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __call__(self, number: PrintedNumber) -> Finding:
        """What there is beside a number of ``numbers_in_text``."""
        if number.row.endswith("_year"):
            return _year(number.row.removesuffix("_year"))
        name, _, what = number.row.partition("_")
        if what == "depth":
            return Finding(ours=_depth(name), way=COMPUTED, exact=True, how="the most activations on a path")
        if number.row == "alexnet_layers":
            return Finding(ours=_depth(name), way=COMPUTED, exact=True, why="the last of its eight layers has no ReLU")
        if name == "googlenet":
            return self._googlenet(lowest="lowest" in what)
        if number.row == "vgg16_per_googlenet":
            size = characteristics(["vgg16", "googlenet"])["parameters"]
            return Finding(
                ours=float(size["vgg16"] / size["googlenet"]),
                way=COMPUTED,
                how="torchvision's networks, GoogLeNet without its auxiliary classifiers",
                why="the sentence says almost 20",
            )
        if number.row == "networks_on_more_data":
            return Finding(ours=float(len(figure_15_networks())), way=LOOKED_UP, exact=True, how="names in figure 15")
        checkpoints = printed_table("figure16_checkpoints").index
        return Finding(
            ours=float(len(checkpoints)),
            way=LOOKED_UP,
            exact=True,
            how="names in figure 16, one of which is a wide ResNet-50",
        )

    def _googlenet(self, lowest: bool) -> Finding:
        def extreme(scores: NDArray[np.float64]) -> float:
            return float(np.nanmin(scores) if lowest else np.nanmax(scores))

        small, ours = self.evidence.mini.get("googlenet"), self.evidence.as_printed.get("googlenet")
        return Finding(
            ours=extreme(ours.scores) if ours else None,
            error=error_over_batches(lambda scores: extreme(scores["googlenet"]), {"googlenet": ours}) if ours else 0.0,
            how=how_measured(ours) if ours else "",
            analogue=extreme(small.scores) if small else None,
            analogue_of="mini:googlenet on digits" if small else "",
            command=survey_command(["googlenet"]),
        )


def _year(name: str) -> Finding:
    """The year in which the architecture was first made public."""
    architecture = architecture_of(name)
    if architecture is None:
        return Finding(undefined="no publication is known to us")
    return Finding(
        ours=float(architecture.year),
        way=LOOKED_UP,
        exact=True,
        how=f"first made public: {architecture.publication.partition(':')[0]}",
        why="ours is the year in which it was first made public",
    )


def _depth(name: str) -> float:
    return cell(characteristics([name]), name, "depth")
