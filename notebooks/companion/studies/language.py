"""Trainings of small language models on the docstrings of Python's standard library."""

from __future__ import annotations

import json
import platform
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore import track
from affscore.models import card_of
from affscore.models.preprocessing import TextPreprocessing
from affscore.models.weight_files import load_state_dict
from companion.docstrings import docstrings, fingerprint_of_docstrings
from companion.language import bits_a_character, character_losses
from companion.mini_zoo.training import Recipe, half, layout, one_thread, optimise
from companion.studies.trainings import PROBE, Split, Training

ON_THE_WAY = 256
"""So many held-out windows give the loss while a network trains."""


@dataclass(frozen=True)
class LanguageRecipe(Recipe):
    """AdamW with one cycle of the learning rate, on windows that begin anywhere in the text.

    Attributes:
        steps: How many windows there are, over ``batch_size``.
    """

    epochs: int = 1
    rate: float = 3e-3
    batch_size: int = 32
    weight_decay: float = 0.1
    steps: int = 500


@dataclass(frozen=True)
class LanguageTraining(Training):
    """A network that learns to name the next character; ``way`` is "language", or "untrained" for no step.

    Which docstrings there are depends on the version of Python: the record says which these were.
    """

    dataset: str = "docstrings"

    @property
    def recipe(self) -> LanguageRecipe:
        """The same for all networks."""
        return LanguageRecipe(seed=self.seed, steps=0 if self.way == "untrained" else LanguageRecipe.steps)

    def describe(self) -> dict[str, Any]:
        """What its result depends on, but for the text, in the types that JSON knows."""
        about = {"network": self.network, "way": self.way, "recipe": asdict(self.recipe)}
        return {**about, "layout": layout(self.build()), "every": self.every, "probe": PROBE}

    def ids(self, model: nn.Module, part: Split) -> Tensor:
        """The characters of a part, tensor (characters,)."""
        expected = card_of(model).preprocessing
        assert isinstance(expected, TextPreprocessing)
        return expected(docstrings(part))

    def images(self, model: nn.Module, part: Split) -> tuple[Tensor, Tensor]:
        """The windows of a part, one after the other, and the character behind each of theirs."""
        expected, ids = card_of(model).preprocessing, self.ids(model, part)
        assert isinstance(expected, TextPreprocessing)
        count = (len(ids) - 1) // expected.window
        return tuple(ids[first:][: count * expected.window].view(count, -1) for first in (0, 1))  # type: ignore[return-value]

    def further(self, folder: Path) -> dict[str, Any]:
        """What the table says of it beside its scores: bits a character, those of simple predictions, and the text."""
        record = json.loads(self.weights(folder).with_suffix(".json").read_text(encoding="utf-8"))
        simple = dict(zip(("by_character", "by_pair"), baselines(), strict=True))
        return {name: record[name] for name in ("bits", "python", "text")} | simple

    def losses(self, folder: Path) -> dict[int, float]:
        """Bits a character of held-out windows by step, as often as the network was measured."""
        record = json.loads(self.weights(folder).with_suffix(".json").read_text(encoding="utf-8"))
        return {int(step): bits for step, bits in record["losses"].items()}

    def run(self, folder: Path) -> dict[str, Any]:
        """Train, and write the weights, of 16 bits, and the record.

        Args:
            folder: Where.

        Returns:
            The record; ``bits`` is the mean loss of held-out characters.
        """
        start, job, losses = time.perf_counter(), self.describe(), dict[int, float]()
        with one_thread(), torch.random.fork_rng():
            model = self.build()
            ids, (windows, behind) = self.ids(model, "train"), self.images(model, "test")
            tracker = track(model, windows[:PROBE], self.every, data_name=self.dataset) if self.every else None

            def look() -> None:
                losses[tracker.steps if tracker else 0] = bits_a_character(
                    model, windows[:ON_THE_WAY], behind[:ON_THE_WAY]
                )

            def after() -> None:
                if tracker is not None and tracker.step():
                    look()

            look()
            length, recipe = windows.shape[1], self.recipe

            def loss_of(chosen: Tensor, generator: torch.Generator) -> Tensor:
                first = torch.randint(len(ids) - length, (len(chosen), 1), generator=generator)
                some = ids[first + torch.arange(length + 1)]
                return F.cross_entropy(model(some[:, :-1]).flatten(0, 1), some[:, 1:].flatten())

            if recipe.steps:
                model = optimise(model, recipe.steps * recipe.batch_size, loss_of, recipe, after)
        weights = half(model, self.name)
        load_state_dict(model, weights, self.name)
        with one_thread():
            reached = bits_a_character(model, windows, behind)
        record = {
            "name": self.name, "bits": round(reached, 4),
            "losses": {step: round(one, 4) for step, one in losses.items()},
            "python": platform.python_version(), "text": fingerprint_of_docstrings(),
            "seconds": round(time.perf_counter() - start, 1), "job": job,
        }  # fmt: skip
        self.write(folder, weights, record, tracker)
        return record


@cache
def baselines() -> tuple[float, float]:
    """Bits a held-out character by counts alone (:func:`companion.language.character_losses`)."""
    return character_losses(docstrings("train"), docstrings("test"))
