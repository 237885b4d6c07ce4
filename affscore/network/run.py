"""A network that is being recorded: images go in, the pairs of a batch come out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self

import numpy as np
import torch
from torch import nn

from affscore.network.accuracy import Hits
from affscore.network.collect import Collector, Pair
from affscore.network.forward import audit, forward
from affscore.network.inputs import Inputs
from affscore.network.model_state import prepared
from affscore.network.options import Options
from affscore.network.recorder import recording
from affscore.network.recorder.calls import ActivationCall
from affscore.network.scorers import Batch
from affscore.zoo.card import ONE_AT_A_TIME
from affscore.zoo.state_dicts import fingerprint

__all__ = ["Run"]


class Run:
    """A network in evaluation mode on its device, under a recorder, while the context lasts.

    Args:
        network: The network; afterwards it is as before.
        name: What messages call it.
        device: Where it runs.
        options: What is measured.
        finished: Batches that an earlier run has measured.
        activations: What else counts as one activation.
        room: How many images a batch will have.
        hits: Counts the images that are classified rightly.
    """

    def __init__(
        self,
        network: nn.Module,
        name: str,
        device: torch.device,
        options: Options,
        finished: Sequence[Batch] = (),
        activations: Collection[Any] | Mapping[str, Any] = (),
        room: int = 0,
        hits: Hits | None = None,
    ) -> None:
        self.network = network
        self.name = name
        self.device = device
        self.options = options
        self.collector = Collector(
            options.reduction,
            options.order,
            sparsity="sparsity" in options.criteria,
            seed=options.seed,
            room=room,
            first=len(finished) * options.n,
            known=[(row["layer"], row["call"]) for row in finished[-1].rows] if finished else (),
        )
        self.activations = activations
        self.hits = hits or Hits(None, None)
        self._fingerprint = finished[-1].network if finished else None
        self._number = 0
        self._notes: list[str] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with self._stack as stack:
            stack.enter_context(ONE_AT_A_TIME)
            # no_grad and not inference_mode: what the network moves or caches must still be fit for training
            stack.enter_context(torch.no_grad())
            stack.enter_context(torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []))
            torch.manual_seed(self.options.seed)
            stack.enter_context(prepared(self.network, self.device))
            self._recorder = stack.enter_context(recording(self.network, self.collector, self.activations))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def declared(self) -> list[str]:
        """The names of what was declared as an activation."""
        return self._recorder.chosen.names

    @property
    def silent(self) -> list[str]:
        """Those of them that never ran."""
        return [name for name in self.declared if name not in self._recorder.ran]

    def start(self, number: int) -> None:
        """A batch begins. Whatever draws random numbers starts anew, whether or not earlier batches were measured."""
        self._number = number
        self._notes = []
        self.hits.start()
        state = np.random.SeedSequence([self.options.seed, number]).generate_state(1, np.uint64)
        torch.manual_seed(int(state[0]))

    def forward(self, images: Inputs) -> None:
        """Send images of the batch through the network."""
        images = images.each(lambda tensor: tensor.to(self.device))
        first = not self.collector.pairs
        output = forward(self.network, self._recorder, self.collector, images, self.name)
        self.hits.add(output, images.labels)
        if first and self._number == 0:
            self._notes += audit(self.network, self._recorder, self.collector, images, self.name)

    def take(self, images: str) -> tuple[Batch, list[Pair]]:
        """The batch that is complete, without rows as yet, and its pairs.

        Args:
            images: Fingerprint of all images so far.
        """
        pairs = self.collector.take()
        if self._recorder.independent_of_input:
            self._notes.append(
                f"{self._recorder.independent_of_input} activation calls do not depend on the samples and have no score"
            )
        if self._recorder.unseen:
            names = ", ".join(sorted(self._recorder.unseen))
            self._notes.append(f"the activations inside {names} are no calls of their own, and not seen")
        if self._recorder.elsewhere:
            self._notes.append(self._recorder.elsewhere)
        if self.options.reduction not in ("flatten", "published"):
            self._notes += _guesses(self._recorder.calls)
        if self._fingerprint is None:
            self._fingerprint = fingerprint(self.network)
        self._notes += self.hits.notes
        right = None if self.hits.right is None else int(self.hits.right)
        return Batch(self._number, self._fingerprint, images, self._notes, [], right, self.hits.unused), pairs


def _guesses(calls: list[ActivationCall]) -> list[str]:
    """A note on the activations whose channels nothing in the network points at."""
    found = []
    for call in calls:
        if call.guessed:
            shape = ", ".join("N" if axis == call.image_axis else str(size) for axis, size in enumerate(call.shape))
            found.append(f"{call.activation} of layer {call.layer!r} (axis {call.channel_axis} of ({shape}))")
    if not found:
        return []
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return [
        f"the axis of the channels is a guess for {', '.join(found[:3])}{more}: no convolution, linear layer or "
        "attention in front says which it is; reduction='flatten' needs none"
    ]
