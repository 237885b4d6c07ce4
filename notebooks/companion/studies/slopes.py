"""Trainings that pull slopes to 1: one network on one task from one seed, and what becomes of its activations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from affscore import linearize, load_model, multiverse, signature
from affscore.network.parquet import read_description, write_parquet
from affscore.nonlinear_advantage import active_channels, effective_width, slopes, to_prelu, without_slopes
from affscore.recorder.model_state import choose_device
from companion.mini_zoo.training import layout, one_thread
from companion.slope_training import train
from companion.studies import study_of
from companion.studies.tasks import TASKS, Samples, Task

FIRST = 512
"""So many test samples are for the scores."""

KEPT = (0.5, 0.25, 0.1)
"""Shares of the channels that stay non-linear when criteria are compared."""

FURTHER = 5
"""Epochs of training after channels were made linear by a criterion."""


@dataclass(frozen=True)
class Slopes:
    """One network, trained with several weights of the penalty, from the same epoch on.

    Attributes:
        model: MODEL, without weights.
        task: One of :data:`companion.studies.tasks.TASKS`.
        seed: Of the random weights and the order of the samples.
        start: The part of ordinary training after which slopes are penalised: 0 for early, 1 for late, None for never.
        omegas: The weights of the penalty.
        scored: Whether affinity scores are measured before and after.
        criteria: Whether the criteria of :func:`affscore.linearize` are compared, too: on the network that was trained
            for as long without penalty, and by slope on those with.
    """

    model: str
    task: str
    seed: int
    start: float | None
    omegas: tuple[float, ...] = (0.0,)
    scored: bool = False
    criteria: bool = False

    @property
    def network(self) -> str:
        """The network's own name."""
        return self.model.rpartition(":")[2]

    @property
    def name(self) -> str:
        """How its file is called."""
        when = "never" if self.start is None else f"{self.start:g}"
        return "-".join([self.network, self.task, when, str(self.seed), *(["criteria"] if self.criteria else [])])

    @property
    def first(self) -> int:
        """The first epoch with a penalty."""
        half = TASKS[self.task].half
        return 2 * half if self.start is None else round(self.start * half)

    def build(self, images: Tensor) -> nn.Module:
        """The network before it is trained, with slopes, for such images."""
        return to_prelu(load_model(self.model, self.seed), images[:2])

    def describe(self) -> dict[str, Any]:
        """What its result depends on, in the types that JSON knows."""
        task = TASKS[self.task]
        more = {name: value if not callable(value) else value.__name__ for name, value in task.more.items()}
        recipe = {"half": task.half, "rate": task.rate, "slope_rate": task.slope_rate, **more}
        about = {name: getattr(self, name) for name in ("network", "task", "seed", "start", "scored", "criteria")}
        if self.criteria:
            about |= {"kept": list(KEPT), "further": FURTHER}
        return {**about, "omegas": list(self.omegas), "recipe": recipe, "layout": _layout(self.model)}

    def run(self, work: Path) -> pd.DataFrame:
        """Train, unless that was done.

        Args:
            work: Where the folder ``slopes`` is.

        Returns:
            A row for each weight of the penalty and each activation; of criteria one for each share and criterion.
        """
        file, job = work / "slopes" / f"{self.name}.parquet", self.describe()
        if read_description(file).get("job") == job:
            return pd.read_parquet(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        with one_thread():
            table = self._compared() if self.criteria else self._trained(file.parent)
        self._write(table, file)
        return pd.read_parquet(file)

    def scores(self, folder: Path) -> Path:
        """The file of the affinity scores at the start of the penalty, under every specification."""
        return folder / f"{self.name}-scores.parquet"

    def _write(self, table: pd.DataFrame, file: Path) -> None:
        about = {name: getattr(self, name) for name in ("network", "task", "seed")}
        write_parquet(table.assign(**about), {"job": self.describe()}, [], file)

    def _trained(self, folder: Path) -> pd.DataFrame:
        """What became of it with each weight; before the penalty all are the same."""
        task, samples = TASKS[self.task], TASKS[self.task].samples()
        test = tuple(some[:FIRST] for some in samples[2:])
        ordinary_first, channels = 0 < self.first < 2 * task.half, None
        if self.scored and ordinary_first:
            model = self.build(samples[0])
            _fit(model, task, samples, self.first, self.first, 0.0, self.seed)
            scores = study_of([multiverse(without_slopes(model), test, n=FIRST, progress=False)])
            self._write(scores, self.scores(folder))
            channels = linearize(model, test, keep=1.0, by="affinity", progress=False).kept
        rows = []
        for omega in self.omegas:
            model = self.build(samples[0])
            record = _fit(model, task, samples, 2 * task.half, self.first, omega, self.seed)
            found = active_channels(model)
            if ordinary_first:
                found["accuracy_before"] = record["accuracy"].iloc[self.first - 1]
            found["start"], found["omega"] = np.nan if self.start is None else self.start, omega
            for name in ("accuracy", "active", "napl", "loss"):
                found["share" if name == "active" else name] = record[name].iloc[-1]
            found["width"] = effective_width(model)
            if channels is not None:
                after = signature(model, test, n=FIRST, criteria=False, progress=False)
                found["score_after"] = after.table["score"].to_numpy()
                found["channel_auc"] = _areas(model, channels)
            rows.append(found.reset_index(names="index"))
        return pd.concat(rows, ignore_index=True)

    def _compared(self) -> pd.DataFrame:
        """Channels made linear by each criterion, and the network trained a little further."""
        task, samples = TASKS[self.task], TASKS[self.task].samples()
        rows = []
        for omega in self.omegas:
            model = self.build(samples[0])
            first = 2 * task.half if omega == 0 else self.first
            _fit(model, task, samples, 2 * task.half, first, omega, self.seed)
            for by in ("affinity", "random") if omega == 0 else ("slope",):
                for keep in KEPT:
                    found = linearize(model, samples[2:], keep, by, seed=self.seed, progress=False)
                    further = train(
                        found.model, *samples[:2], FURTHER, 0.0, FURTHER, test=samples[2:], seed=self.seed,
                        rate=lambda epoch: task.rate * (1 - epoch / FURTHER) / 4, progress=False, **task.more,
                    )  # fmt: skip
                    rows.append(
                        {
                            "by": by, "omega": omega, "keep": keep, "kept": found.kept["kept"].mean(),
                            "accuracy_before": found.accuracy_before, "accuracy_after": found.accuracy_after,
                            "accuracy": further["accuracy"].iloc[-1],
                        }
                    )  # fmt: skip
        return pd.DataFrame(rows)


@cache
def _layout(model: str) -> str:
    return layout(load_model(model, 0))


def _fit(
    model: nn.Module, task: Task, samples: Samples, epochs: int, first: int, omega: float, seed: int
) -> pd.DataFrame:
    """Train by the recipe of a task."""
    images, labels, *test = samples
    rates: list[Callable[[int], float]] = [
        lambda epoch, top=top: task.annealed(top, epoch)  # type: ignore[misc]
        for top in (task.rate, task.slope_rate)
    ]
    model.to(choose_device(task.device, model))
    return train(
        model, images, labels, epochs, omega, first, test=(test[0], test[1]), rate=rates[0], slope_rate=rates[1],
        seed=seed, progress=False, **task.more,
    )  # fmt: skip


def _areas(model: nn.Module, channels: pd.DataFrame) -> list[float]:
    """Of each activation, how likely a kept channel had a lower score than one that became linear.

    1/2 is chance; missing where all were kept, or none.
    """
    found = []
    for (layer, call), unit in slopes(model).items():
        scores = channels[(channels["layer"] == layer) & (channels["call"] == call)]["value"].to_numpy()
        kept, known = (unit.slope != 1).cpu().numpy(), ~np.isnan(scores)
        mixed = 0 < kept[known].sum() < known.sum()
        found.append(float(roc_auc_score(kept[known], -scores[known])) if mixed else np.nan)
    return found
