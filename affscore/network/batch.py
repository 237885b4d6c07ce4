"""One batch of a measurement, the unit of work: samples go through the network, the pairs of its activations come out.

What a batch holds depends on the network, its samples, the options and its number, and on nothing that went before.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
import torch
from torch import nn

from affscore.network.accuracy import Hits
from affscore.network.collect import Collector, Pair
from affscore.network.forward import audit, forward
from affscore.network.inputs import Inputs
from affscore.network.model_state import prepared
from affscore.network.recorder import Recorder, recording
from affscore.network.recorder.calls import ActivationCall
from affscore.options import Options
from affscore.zoo.card import ONE_AT_A_TIME

__all__ = ["Batch", "BatchRun", "batches_of", "recorded"]


@dataclass(frozen=True)
class Batch:
    """A finished batch of a signature: all that a later run needs in order not to measure it again.

    Attributes:
        number: Its place, from 0.
        network: Fingerprint of the network that was measured.
        images: Fingerprint of the samples from the first one to the last of this batch.
        notes: What its forward passes showed, in sentences.
        rows: A row for every activation, in the order in which they ran.
        right: How many of its images were classified rightly; None where that is not known.
        unused: How many outputs lie beyond the largest of its labels (:class:`affscore.network.accuracy.Hits`).
        silent: What was declared as an activation and did not run.
    """

    number: int
    network: str
    images: str
    notes: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    right: int | None = None
    unused: int = 0
    silent: list[str] = field(default_factory=list)


def batches_of(chunks: Iterable[Inputs], n: int) -> Iterator[tuple[int, Iterator[Inputs]]]:
    """The number and the chunks of each batch of n samples; chunks are cut where a batch ends."""

    def numbered() -> Iterator[tuple[int, Inputs]]:
        seen = 0
        for chunk in chunks:
            while len(chunk):
                part = chunk[: n - seen % n]
                chunk = chunk[len(part) :]
                yield seen // n, part
                seen += len(part)

    for number, group in itertools.groupby(numbered(), key=itemgetter(0)):
        yield number, (part for _, part in group)


@contextmanager
def recorded(
    network: nn.Module, device: torch.device, activations: Collection[Any] | Mapping[str, Any], seed: int
) -> Iterator[Recorder]:
    """A network in evaluation mode on its device, under a recorder; afterwards all is as before."""
    listener = Collector("mean", "activate-first", sparsity=False, seed=0)  # until a batch brings its own
    devices = [device] if device.type == "cuda" else []
    # no_grad and not inference_mode: what the network moves or caches must still be fit for training
    with (
        ONE_AT_A_TIME,
        torch.no_grad(),
        torch.random.fork_rng(devices=devices),
        prepared(network, device),
        recording(network, listener, activations) as recorder,
    ):
        torch.manual_seed(seed)  # a loader may shuffle, and a data set draw, before the first batch begins
        yield recorder


class BatchRun:
    """A batch while it goes through the network.

    Args:
        recorder: Watches the network (:func:`recorded`).
        network: The network.
        name: What messages call it.
        options: What is measured.
        number: The number of the batch.
        hits: Counts the images that are classified rightly.
        room: How many samples the batch will have.
        known: Layer and call of every activation of the batch before.
    """

    def __init__(
        self,
        recorder: Recorder,
        network: nn.Module,
        name: str,
        options: Options,
        number: int,
        hits: Hits,
        room: int = 0,
        known: Sequence[tuple[str, int]] = (),
    ) -> None:
        self._recorder, self._network, self._name = recorder, network, name
        self._options, self._number, self._hits = options, number, hits
        self._notes: list[str] = []
        hits.start()
        self._collector = recorder.listener = Collector(
            options.reduction,
            options.order,
            sparsity="sparsity" in options.criteria,
            seed=options.seed,
            room=room,
            first=number * options.n,
            known=known,
        )
        # whatever draws random numbers starts anew, whether or not earlier batches were measured
        state = np.random.SeedSequence([options.seed, number]).generate_state(1, np.uint64)
        torch.manual_seed(int(state[0]))

    def forward(self, images: Inputs, device: torch.device) -> None:
        """Send samples of the batch through the network; the very first ones show whether it keeps samples apart."""
        images = images.each(lambda tensor: tensor.to(device))
        first = self._number == 0 and not self._collector.pairs
        output = forward(self._network, self._recorder, self._collector, images, self._name)
        self._hits.add(output, images.labels)
        if first:
            self._notes += audit(self._network, self._recorder, self._collector, images, self._name)

    def finish(self, network: str, images: str) -> tuple[Batch, list[Pair]]:
        """The batch, which has no rows yet, and its pairs.

        Args:
            network: Fingerprint of the network.
            images: Fingerprint of all samples so far.
        """
        recorder, hits = self._recorder, self._hits
        pairs = self._collector.take()
        notes = self._notes
        if recorder.independent_of_input:
            notes.append(
                f"{recorder.independent_of_input} activation calls do not depend on the samples and have no score"
            )
        if recorder.unseen:
            names = ", ".join(sorted(recorder.unseen))
            notes.append(f"the activations inside {names} are no calls of their own, and not seen")
        if recorder.elsewhere:
            notes.append(recorder.elsewhere)
        if self._options.reduction not in ("flatten", "published"):
            notes += _guesses(recorder.calls)
        notes += hits.notes
        right = None if hits.right is None else int(hits.right)
        silent = [name for name in recorder.chosen.names if name not in recorder.ran]
        return Batch(self._number, network, images, notes, [], right, hits.unused, silent), pairs


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
