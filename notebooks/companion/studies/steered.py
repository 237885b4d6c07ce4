"""Trainings that pull the affinity scores of a network to a target, and what else they change of the network."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn
from torchmetrics.functional.classification import multiclass_calibration_error

from affscore import AffinityPenalty, linearize, signature
from affscore.network import resampled
from affscore.transport.differentiable import HeldCoupling
from companion.mini_zoo.distorted_digits import distorted, few_images, hard_test_images, shifted
from companion.mini_zoo.training import Recipe, accuracy, naming_loss, optimise, recipe_of
from companion.shipped import shipped_signature
from companion.studies.trainings import Split, Training

TARGETS: dict[str, float | str | None] = {
    "free": None, "low": 0.6, "high": 0.95, "paired": 0.6, "as-vit": "mini:vit_b_16", "as-resnet": "mini:resnet18",
}  # fmt: skip
"""What the mean score is pulled to; or the network to whose signature, brought to the length, the scores are.

All but "paired" pull the exact score, whose coupling is held during a step; "paired" pulls its lower bound.
"""

WEIGHT = 20.0
"""Of the penalty."""

RECIPES: dict[str, dict[str, Any]] = {
    "digits": {"epochs": 40, "batch_size": 128},
    "hard": {"epochs": 150, "batch_size": 100},
}
"""By task. The batches are larger than those of the mini zoo: a step has a score of as many points."""

NOISES = (0.5, 1.0)
"""Standard deviations of the noise on test images, in those of the pixels of the data."""

KEPT = (0.75, 0.5)
"""Shares of the channels that stay non-linear when others become linear at once."""

DRAWS = 5
"""Random choices of these channels."""


@dataclass(frozen=True)
class Steered(Training):
    """A network that is trained once with a penalty on its scores.

    Attributes:
        way: The task and the target, as "digits-low": one of :data:`RECIPES` and one of :data:`TARGETS`.
    """

    @property
    def task(self) -> str:
        """What it learns."""
        return self.way.partition("-")[0]

    @property
    def target(self) -> float | str | None:
        """Where the scores are pulled to."""
        return TARGETS[self.way.partition("-")[2]]

    @property
    def recipe(self) -> Recipe:
        """The same for all targets."""
        return replace(recipe_of(self.network), seed=self.seed, **RECIPES[self.task])

    def describe(self) -> dict[str, Any]:
        """What its result depends on, in the types that JSON knows."""
        about = {"target": self.target, "weight": WEIGHT, "noises": list(NOISES), "kept": list(KEPT), "draws": DRAWS}
        return {**super().describe(), **about}

    def images(self, model: nn.Module, part: Split) -> tuple[Tensor, Tensor]:
        """The images of a part; of the hard task few to learn from, and distorted ones to test with."""
        return self._of_task(self.task, *super().images(model, part), part)

    def fit(self, model: nn.Module, images: Tensor, labels: Tensor, after: Callable[[], Any] = int) -> nn.Module:
        """The network trained on these images, in evaluation mode."""
        change = shifted if self.task == "digits" else distorted
        naming = naming_loss(model, images, labels, change)
        if self.target is None:
            return optimise(model, len(images), naming, self.recipe, after)
        coupling: HeldCoupling = "paired" if self.way.endswith("paired") else "fixed"
        with AffinityPenalty(model, self._wanted(model, images), WEIGHT, coupling=coupling) as penalty:
            return optimise(
                model, len(images), lambda chosen, draw: naming(chosen, draw) + penalty(), self.recipe, after
            )

    def measured(self, model: nn.Module, images: Tensor, labels: Tensor) -> dict[str, float]:
        """Of the network on test images: loss, calibration, accuracy under noise and with channels made linear.

        And ``transfer``: the accuracy of a logistic regression on its last features, fitted and tested on the other
        task.
        """
        with torch.inference_mode():
            logits = model(images)
        found = {
            "cross_entropy": float(F.cross_entropy(logits, labels)),
            "calibration_error": float(multiclass_calibration_error(logits.softmax(dim=1), labels, logits.shape[1])),
        }
        other = next(task for task in RECIPES if task != self.task)
        body = copy.deepcopy(model)
        body.head = nn.Identity()
        with torch.inference_mode():
            parts: list[Any] = []
            for part in get_args(Split):
                some, names = self._of_task(other, *super().images(model, part), part)
                parts += [body(some).numpy(), names.numpy()]
        probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(*parts[:2])
        found["transfer"] = float(probe.score(*parts[2:]))
        draw = torch.Generator().manual_seed(0)
        for noise in NOISES:
            noisy = images + noise * torch.randn(images.shape, generator=draw)
            found[f"accuracy_noise_{noise:g}"] = accuracy(model, noisy, labels)
        for keep in KEPT:
            after = [
                linearize(model, (images, labels), keep, "random", seed=seed, progress=False).accuracy_after
                for seed in range(DRAWS)
            ]
            found[f"accuracy_kept_{keep:g}"] = float(np.mean(after))
        return {name: round(value, 4) for name, value in found.items()}

    def further(self, folder: Path) -> dict[str, Any]:
        """What the table says of it beside its scores."""
        record = json.loads(self.weights(folder).with_suffix(".json").read_text(encoding="utf-8"))
        about = ["accuracy", "fitted", *record["measured"]]
        return {"task": self.task, "target": self.way.partition("-")[2]} | {
            {"accuracy": "test_accuracy"}.get(name, name): (record | record["measured"])[name] for name in about
        }

    def _of_task(self, task: str, images: Tensor, labels: Tensor, part: Split) -> tuple[Tensor, Tensor]:
        if task == "digits":
            return images, labels
        if part == "test":
            return hard_test_images(images), labels
        return few_images(images, labels, self.seed)

    def _wanted(self, model: nn.Module, images: Tensor) -> float | np.ndarray:
        """The target of the penalty for this network."""
        if not isinstance(self.target, str):
            assert self.target is not None
            return self.target
        own = len(signature(model, images[:64], n=64, criteria=False, progress=False).scores)
        return resampled(shipped_signature(self.target).scores, own)
