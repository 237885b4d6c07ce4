"""One training of a study: which network, in which way, from which seed; and the two files that it leaves."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import torch
from safetensors.torch import save
from torch import Tensor, nn

from affscore import Tracker, load_model, track
from affscore.models import card_of
from affscore.models.weight_files import load_state_dict
from affscore.network.parquet import atomic_write
from companion.mini_zoo.training import Recipe, accuracy, half, layout, one_thread, prepared, recipe_of
from companion.studies.ways import ALL_WAYS, NOISES, SETTINGS, wrong_labels

Split: TypeAlias = Literal["train", "test"]

PROBE = 512
"""How many held-out images are looked at while a network trains."""


@dataclass(frozen=True)
class Training:
    """A network that is trained once.

    Attributes:
        model: MODEL, without weights.
        way: One of :data:`companion.studies.ways.ALL_WAYS`.
        seed: Of the random weights, the order and the changes of the images.
        every: How many steps lie between two measurements while it trains (:func:`affscore.track`); 0 for none. They
            leave no trace in the weights, so that nothing else depends on it.
        dataset: On which images, by the SPEC of the test part.
    """

    model: str
    way: str
    seed: int
    every: int = 0
    dataset: str = "digits"

    @property
    def network(self) -> str:
        """The network's own name.

        >>> Training("mini:vgg16", "supervised", 1).network
        'vgg16'
        """
        return self.model.rpartition(":")[2]

    @property
    def name(self) -> str:
        """How its files are called.

        >>> Training("mini:vgg16", "supervised", 1).name
        'vgg16-supervised-1'
        """
        return f"{self.network}-{self.way}-{self.seed}"

    @property
    def recipe(self) -> Recipe:
        """That of the mini zoo for the network; a rotation has four images for one, and fewer epochs."""
        own = recipe_of(self.network)
        return replace(own, seed=self.seed, epochs=own.epochs // 2 if self.way == "rotation" else own.epochs)

    def build(self) -> nn.Module:
        """The network before it is trained."""
        decides_itself = self.model.endswith((".py", f".py:{self.network}"))
        return load_model(self.model if decides_itself else f"{self.model}@random", self.seed)

    def describe(self) -> dict[str, Any]:
        """What its result depends on, in the types that JSON knows."""
        recipe = asdict(self.recipe)
        own = {**SETTINGS.get(self.way, {}), **({"every": self.every, "probe": PROBE} if self.every else {})}
        return {"network": self.network, "way": self.way, "recipe": recipe, "layout": layout(self.build()), **own}

    def images(self, model: nn.Module, part: Split) -> tuple[Tensor, Tensor]:
        """The images of the "train" or the "test" part as the network expects them, and what they show."""
        return prepared(card_of(model), part)

    def given(self, labels: Tensor) -> Tensor:
        """The labels that the training images are given, wrong ones with them."""
        return wrong_labels(labels, NOISES.get(self.way, 0.0), self.seed)

    def fit(self, model: nn.Module, images: Tensor, labels: Tensor, after: Callable[[], Any] = int) -> nn.Module:
        """The network trained on these images, in evaluation mode; after every step something is called."""
        more = {"after": after} if self.every else {}  # not every way can be measured meanwhile
        return ALL_WAYS[self.way](model, images, labels, self.recipe, **more)

    def measured(self, model: nn.Module, images: Tensor, labels: Tensor) -> dict[str, float]:
        """What else the record says of the trained network, on held-out images."""
        return {}

    def weights(self, folder: Path) -> Path:
        """The file of its weights."""
        return folder / f"{self.name}.safetensors"

    def course(self, folder: Path) -> Path:
        """The file of what was measured while it trained."""
        return folder / f"{self.name}.parquet"

    def is_done(self, folder: Path) -> bool:
        """Whether its files are there, made as it would be made now."""
        record = self.weights(folder).with_suffix(".json")
        files = [record, self.weights(folder), *([self.course(folder)] if self.every else [])]
        if not all(file.is_file() for file in files):
            return False
        return json.loads(record.read_text(encoding="utf-8"))["job"] == self.describe()

    def further(self, folder: Path) -> dict[str, Any]:
        """What the table of a study says of it beside its scores, by column."""
        return {}

    def losses(self, folder: Path) -> dict[int, float]:
        """The loss by step, where a way of training measures it."""
        return {}

    def run(self, folder: Path) -> dict[str, Any]:
        """Train, and write the weights, of 16 bits, and the record.

        Args:
            folder: Where.

        Returns:
            The record: ``accuracy`` on held-out images, and ``fitted``, the share of the training images that get the
            label they were given, wrong ones with it; of the weights as they were written.
        """
        start, job = time.perf_counter(), self.describe()
        with one_thread(), torch.random.fork_rng():
            torch.manual_seed(self.seed)  # a way may put another last layer into the network
            model = self.build()
            (images, labels), test = self.images(model, "train"), self.images(model, "test")
            probe = (test[0][:PROBE], test[1][:PROBE])
            tracker = track(model, probe, self.every, data_name=self.dataset) if self.every else None
            model = self.fit(model, images, labels, tracker.step if tracker else int)
        weights = half(model, self.name)
        load_state_dict(model, weights, self.name)
        reached, fitted = accuracy(model, *test), accuracy(model, images, self.given(labels))
        with one_thread():
            measured = self.measured(model, *test)
        seconds = time.perf_counter() - start
        record = {
            "name": self.name, "accuracy": round(reached, 4), "fitted": round(fitted, 4), "seconds": round(seconds, 1),
            "measured": measured, "job": job,
        }  # fmt: skip
        self.write(folder, weights, record, tracker)
        return record

    def write(self, folder: Path, weights: dict[str, Tensor], record: dict[str, Any], tracker: Tracker | None) -> None:
        """Write what a training leaves; the record comes last, so that where it is, all is."""
        folder.mkdir(parents=True, exist_ok=True)
        if tracker is not None:
            tracker.measure()
            tracker.save(self.course(folder))
        with atomic_write(self.weights(folder)) as part:
            part.write_bytes(save(weights))
        with atomic_write(self.weights(folder).with_suffix(".json")) as part:
            part.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
