"""One batch of a measurement, the unit of work: samples go through the network, the pairs of its activations come out.

What a batch holds depends on the network, its samples, the options and its number, and on nothing that went before.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from affscore.errors import AffscoreError
from affscore.network.accuracy import Predictions, count_right, predictions
from affscore.network.apart import audit, keeps_apart
from affscore.network.collect import Collector
from affscore.network.experts import Key, experts_told_apart
from affscore.network.forward import forward
from affscore.network.inputs import Inputs, joined
from affscore.network.note import Note
from affscore.network.notes import adding_assumptions
from affscore.network.padding import NOTE as PADDING
from affscore.network.pair import Pair
from affscore.network.reduction import ScatteredError
from affscore.recorder import Recorder
from affscore.recorder.calls import ActivationCall
from affscore.recorder.model_state import random_states_kept, seed_generators

if TYPE_CHECKING:
    from affscore.network.measurement import Measurement


ONE_AT_A_TIME = "the samples went through the network one at a time"

MOST_KEPT = 2**28
"""Bytes of samples that are kept while it may turn out that they have to go through the network one at a time."""


@dataclass(frozen=True)
class Batch:
    """A finished batch of a signature.

    Attributes:
        notes: What its forward passes showed, in sentences.
        rows: A row for every activation, in the order in which they ran.
        right: How many of its images were classified rightly; None where that is not known.
        unused: How many outputs lie beyond the largest of its labels (:func:`affscore.network.accuracy.count_right`).
    """

    notes: list[str]
    rows: list[dict[str, Any]]
    right: int | None
    unused: int


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


def run_batch(
    of: Measurement,
    recorder: Recorder,
    number: int,
    chunks: Iterable[Inputs],
    known: Sequence[Key],
    checked: bool = False,
) -> tuple[Batch, Collector]:
    """Send a batch through the network; what its very first samples show is checked.

    Where the network keeps samples apart and its tensors do not have them along one axis, each goes through it alone.

    Args:
        of: What is measured; ``one_by_one`` says why samples go through the network one at a time, once that is known.
        recorder: Watches the network.
        number: The number of the batch.
        chunks: Its samples.
        known: Layer, call and name of every activation of the batch before.
        checked: Whether the first samples have been checked before.

    Returns:
        The batch, which has no rows yet; and the collector, which holds its pairs.
    """
    options, network, card, stream = of.options, of.network, of.card, of.stream
    room = options.n if stream.total is None else min(options.n, stream.total)
    state = np.random.SeedSequence([options.seed, number]).generate_state(1, np.uint64)
    notes: list[str] = []
    predicted: list[Predictions | None] = []
    first, passes, samples, chunks = number == 0 and not checked, 0, 0, iter(chunks)
    collector, kept = Collector(options), list[Inputs]()
    with ExitStack() as stack:

        def begin() -> None:
            nonlocal collector
            # whatever draws random numbers starts anew, whether or not earlier batches were measured
            seed_generators(int(state[0]), of.device)
            predicted.clear()
            experts = stack.enter_context(experts_told_apart(recorder, network)) if of.one_by_one else None
            recorder.listener = collector = Collector(options, room, number * options.n, known, experts)

        def run(images: Inputs, audited: bool = False) -> None:
            images = images.each(lambda tensor: tensor.to(of.device))
            for part in (images[i : i + 1] for i in range(len(images))) if of.one_by_one else (images,):
                predicted.append(predictions(forward(network, recorder, part, card.name), part.labels))
            if number == 0:  # which is never dropped
                collector.take()
            if audited:
                with random_states_kept(of.device):
                    notes.extend(audit(network, recorder, collector, images, card.name))

        def check(images: Inputs, *before: Inputs, audited: bool = True) -> None:
            """Run them, if need be, and if the network keeps them apart, one at a time; then also those before them."""
            try:
                run(images, audited)
            except ScatteredError as error:
                few = images.each(lambda tensor: tensor.to(of.device))
                known_before = number == 0 and sum(map(len, before)) == samples
                if not of.one_by_one and not known_before:  # what was measured of samples before is of a batch
                    raise ScatteredError(f"{error}; give batch_size=1: each sample goes alone", error.why) from error
                if of.one_by_one or not keeps_apart(network, recorder, few, card.name):
                    raise
                of.one_by_one = error.why
                begin()
                run(images[:1], audited=True)
                begin()
                for part in (*before, images):
                    run(part)

        begin()
        ahead = list(itertools.islice(chunks, 1))
        if first and ahead and len(ahead[0]) == 1 and (more := list(itertools.islice(chunks, 1))):
            ahead += more  # a sample alone does not show whether samples are mixed
            try:
                check(joined(ahead))
                first = False
            except AffscoreError as error:  # the network takes one at a time, or they have several sizes
                if isinstance(error, ScatteredError):
                    raise
            of.one_by_one = of.one_by_one or "the data gives them so"
            begin()
        for chunk in itertools.chain(ahead, chunks):
            with adding_assumptions(stream, network):
                notes += [] if chunk.text is None else [PADDING]
                notes += [Note(chunk.doubt, "warning")] if chunk.doubt else []
                check(chunk, *kept, audited=first)
            samples, passes, first = samples + len(chunk), passes + 1, False
            if number == 0 and sum(tensor.nbytes for part in (*kept, chunk) for tensor in part.tensors) < MOST_KEPT:
                kept.append(chunk)
    calls = recorder.calls
    if of.one_by_one or number == 0:  # the last pass was of a single sample
        pairs = collector.collected()
        calls = [pair.call for pair in pairs]
    if of.one_by_one:
        notes += _on_one_by_one(of.one_by_one, number, passes, samples, pairs, known)
    if recorder.blocks is not None:
        notes += recorder.blocks.notes
    if recorder.independent_of_input:
        notes.append(f"{recorder.independent_of_input} activation calls do not depend on the samples and have no score")
    if recorder.unseen:
        names = ", ".join(sorted(recorder.unseen))
        notes.append(f"the activations inside {names} are no calls of their own, and not seen")
    if recorder.elsewhere:
        notes.append(recorder.elsewhere)
    if not {"flatten", "published"} >= {several[0].reduction for several in options.passes}:
        notes += _assumed_channels(calls)
    right, unused, why = count_right(predicted, stream.classes, card.classes)
    return Batch(notes + why, [], right, unused), collector


def _on_one_by_one(
    why: str, number: int, passes: int, samples: int, pairs: list[Pair], known: Sequence[Key]
) -> Iterator[str]:
    """What it costs to send samples through a network one at a time, and which activations not all of them reach."""
    reached = {pair.key: len(pair.reached) for pair in pairs}
    some = sorted(count for count in reached.values() if count < samples)
    if number == 0 and passes < samples:
        price = f"{samples} passes in place of {passes} for a batch"
        yield f"{ONE_AT_A_TIME} ({price}), since {why}"
    if number == 0 and some:
        count = f"{some[0]} to {some[-1]}" if some[0] < some[-1] else some[0]
        which = f"{len(some)} of {len(pairs)} activations (of experts, say) are reached by {count}"
        yield f"{which} of the {samples} samples of the first batch: the others are left out there (column n)"
    if few := dict.fromkeys(place[0] for place in (*known, *reached) if reached.get(place, 0) < 2):
        layers = ", ".join(map(repr, few))
        yield f"activations that fewer than two samples of batch {number} reach have no row there: in layer {layers}"


def _assumed_channels(calls: list[ActivationCall]) -> list[str]:
    """A note on the activations whose channels nothing in the network points at."""
    found = []
    # the input of the whole network is taken as it is
    for call in (call for call in calls if call.guessed and call.kind != "network"):
        shape = ", ".join("N" if axis == call.image_axis else str(size) for axis, size in enumerate(call.shape))
        found.append(f"{call} (axis {call.channel_axis} of ({shape}))")
    if not found:
        return []
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return [
        f"the axis of the channels is a guess for {', '.join(found[:3])}{more}: no convolution, linear layer or "
        "attention in front says which it is; reduction='flatten' needs none"
    ]
