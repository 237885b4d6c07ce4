"""One batch of a measurement, the unit of work: samples go through the network, the pairs of its activations come out.

What a batch holds depends on the network, its samples, the options and its number, and on nothing that went before.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from affscore.errors import AffscoreError
from affscore.models.card import ONE_AT_A_TIME, ModelCard, check_has_weights
from affscore.models.sources import card_of, load_model
from affscore.network.apart import audit, keeps_apart
from affscore.network.collect import Collector
from affscore.network.experts import Key, experts_told_apart
from affscore.network.forward import Predictions, forward, predictions
from affscore.network.images import ImageStream, image_stream
from affscore.network.inputs import Feeding, Forward, Inputs, joined, on_backbone
from affscore.network.notes import Note, on_refusals
from affscore.network.reading import PADDING
from affscore.network.reduction import ScatteredError
from affscore.network.scoring import Pair
from affscore.options import Execution, Options, checked, in_range
from affscore.recorder import Recorder, recording
from affscore.recorder.calls import ActivationCall
from affscore.recorder.model_state import choose_device, prepared, random_states_kept, seed_generators, unwrapped

ONE_BY_ONE = "the samples went through the network one at a time"

FEW = 4
"""So few samples may be the channels of a single one, whose first axis was forgotten."""

MOST_KEPT = 2**28
"""Bytes of samples that are kept while it may turn out that they have to go through the network one at a time."""


@dataclass
class Subject:
    """A network and a stream of data.

    Attributes:
        network: The network.
        card: What is known of it.
        stream: The data.
        dataset: What results call the data.
        options: What is measured.
        execution: How.
        device: Where the network runs.
        activations: What else counts as an activation.
        forward: Runs the network on a batch of the data, in place of the rules.
        one_by_one: Why samples go through the network one at a time; empty where they do not.
        known: Every activation of the batch before.
    """

    network: nn.Module
    card: ModelCard
    stream: ImageStream
    dataset: str
    options: Options
    execution: Execution
    device: torch.device
    activations: Any
    forward: Forward | None
    one_by_one: str = ""
    known: list[Key] = field(default_factory=list)


def subject_of(
    model: nn.Module | str,
    data: Any,
    options: Options,
    execution: Execution,
    activations: Any = None,
    forward: Forward | None = None,
    data_name: str | None = None,
) -> Subject:
    """A network and data as the caller of :func:`affscore.signature` gives them, ready to be measured.

    Raises:
        AffscoreError: As :func:`affscore.signature`.
    """
    options, execution = checked(options), in_range(execution)
    network = unwrapped(load_model(model, options.seed) if isinstance(model, str) else model)
    check_has_weights(network, type(network).__name__)
    card = card_of(network)
    stream = image_stream(data, card, options, execution.batch_size, Feeding(network, forward))
    name, device = stream.name if data_name is None else data_name, choose_device(execution.device, network)
    declared = getattr(network, "declared_activations", ()) if activations is None else activations
    return Subject(network, card, stream, name, options, execution, device, declared, forward)


@contextmanager
def recorded(subject: Subject, preparing: Callable[..., AbstractContextManager[Any]] = prepared) -> Iterator[Recorder]:
    """The network in evaluation mode under a recorder; afterwards it is as it was, and so are random states.

    Args:
        subject: What is measured.
        preparing: Brings the network into evaluation mode on the device, and back.
    """
    options, device = subject.options, subject.device
    # no_grad and not inference_mode: what the network moves or caches must still be fit for training
    with ONE_AT_A_TIME, torch.no_grad(), random_states_kept(device), preparing(subject.network, device):
        seed_generators(options.seed, device)  # a loader may shuffle, and a data set draw, before the first batch
        with recording(subject.network, Collector(options), subject.activations, options.units == "blocks") as recorder:
            yield recorder


class Batch(NamedTuple):
    """A finished batch of a signature.

    Attributes:
        passes: For each of the options' passes the pairs of all activations, in the order in which they ran.
        notes: What its forward passes showed, in sentences.
        predicted: Which classes the network predicts for its samples.
    """

    passes: list[list[Pair]]
    notes: list[str]
    predicted: list[Predictions | None]


def run_batch(
    subject: Subject, recorder: Recorder, number: int, chunks: Iterable[Inputs], checked: bool = False
) -> Batch | None:
    """Send a batch through the network; what its very first samples show is checked.

    Where the network keeps samples apart and its tensors do not have them along one axis, each goes through it alone.

    Args:
        subject: What is measured.
        recorder: Watches the network.
        number: The number of the batch.
        chunks: Its samples.
        checked: Whether the first samples have been checked before.

    Returns:
        None for a further batch of fewer than n samples: scores of other sizes do not compare.
    """
    options, network, stream, name = subject.options, subject.network, subject.stream, subject.card.name
    room = options.n if stream.total is None else min(options.n, stream.total)
    seed = int(np.random.SeedSequence([options.seed, number]).generate_state(1, np.uint64)[0])
    notes, predicted, kept = list[str](), list[Predictions | None](), list[Inputs]()
    first, passes, samples, collector = number == 0 and not checked, 0, 0, Collector(options)
    chunks = (chunk.each(lambda tensor: tensor.to(subject.device)) for chunk in chunks)
    subject.known = subject.known if number else []
    with ExitStack() as stack:

        def begin() -> None:
            nonlocal collector
            # whatever draws random numbers starts anew, whether or not earlier batches were measured
            seed_generators(seed, subject.device)
            predicted.clear()
            experts = stack.enter_context(experts_told_apart(recorder, network)) if subject.one_by_one else None
            collector = Collector(options, room, number * options.n, subject.known, experts)

        def run(samples: Inputs, audited: bool = False) -> None:
            recorder.listener = collector
            alone = ["a sample x alone is x[None]"] * (len(samples) <= FEW and samples.tensors[0].ndim < 4)
            advice = "; ".join([*on_backbone(network), *stream.assumptions(network), *alone])
            for part in (samples[i : i + 1] for i in range(len(samples))) if subject.one_by_one else (samples,):
                predicted.append(predictions(forward(network, recorder, part, name, advice), part.labels))
            if number == 0:  # which is never dropped
                collector.take()
            if audited:
                with random_states_kept(subject.device):
                    notes.extend(audit(network, recorder, collector, samples, name))

        def check(chunk: Inputs, *before: Inputs, audited: bool = True) -> None:
            """Run them, if need be, and if the network keeps them apart, one at a time; then also those before them."""
            try:
                run(chunk, audited)
            except ScatteredError as error:
                if not subject.one_by_one and (number or sum(map(len, before)) < samples):
                    # what was measured of samples before is of a batch
                    raise ScatteredError(f"{error}; give batch_size=1: each sample goes alone", error.why) from error
                if subject.one_by_one or not keeps_apart(network, recorder, chunk, name):
                    raise
                subject.one_by_one = error.why
                begin()
                run(chunk[:1], audited=True)
                begin()
                for part in (*before, chunk):
                    run(part)

        begin()
        ahead = list(itertools.islice(chunks, 2 if first else 0))
        if len(ahead) == 2 and len(ahead[0]) == 1:  # a sample alone does not show whether samples are mixed
            try:
                check(joined(ahead))
                first = False
            except AffscoreError as error:  # the network takes one at a time, or they have several sizes
                if isinstance(error, ScatteredError):
                    raise
            subject.one_by_one = subject.one_by_one or "the data gives them so"
            begin()
        for chunk in itertools.chain(ahead, chunks):
            notes += [] if chunk.text is None else [PADDING]
            notes += [Note(chunk.doubt, "warning")] if chunk.doubt else []
            check(chunk, *kept, audited=first)
            samples, passes, first = samples + len(chunk), passes + 1, False
            if number == 0 and sum(tensor.nbytes for part in (*kept, chunk) for tensor in part.tensors) < MOST_KEPT:
                kept.append(chunk)
    if number and samples < options.n:
        return None
    every = collector.collected()
    if subject.one_by_one:
        notes += _on_one_by_one(subject, number, passes, samples, every[0])
    notes += [note for follower in recorder.followers for note in follower.notes]
    if recorder.independent_of_input:
        notes.append(f"{recorder.independent_of_input} activation calls do not depend on the samples and have no score")
    if recorder.unseen:
        names = ", ".join(sorted(recorder.unseen))
        notes.append(f"the activations inside {names} are no calls of their own, and not seen")
    if recorder.elsewhere:
        notes.append(recorder.elsewhere)
    if not {"flatten", "published"} >= {several[0].reduction for several in options.passes}:
        notes += _assumed_channels([pair.call for pair in every[0]])
    # an expert that a single sample reaches has no score
    every = [[pair for pair in pairs if len(pair.reached) != 1] for pairs in every]
    subject.known = [pair.key for pair in every[0]]
    return Batch(every, [*notes, *on_refusals(every)], predicted)


def _on_one_by_one(subject: Subject, number: int, passes: int, samples: int, pairs: list[Pair]) -> Iterator[str]:
    """What it costs to send samples through a network one at a time, and which activations not all of them reach."""
    reached = {pair.key: len(pair.reached) for pair in pairs}
    some = sorted(count for count in reached.values() if count < samples)
    if number == 0 and passes < samples:
        yield f"{ONE_BY_ONE} ({samples} passes in place of {passes} for a batch), since {subject.one_by_one}"
    if number == 0 and some:
        count = f"{some[0]} to {some[-1]}" if some[0] < some[-1] else some[0]
        which = f"{len(some)} of {len(pairs)} activations (of experts, say) are reached by {count}"
        yield f"{which} of the {samples} samples of the first batch: the others are left out there (column n)"
    if few := dict.fromkeys(place[0] for place in (*subject.known, *reached) if reached.get(place, 0) < 2):
        layers = ", ".join(map(repr, few))
        yield f"activations that fewer than two samples of batch {number} reach have no row there: in layer {layers}"


def _assumed_channels(calls: list[ActivationCall]) -> Iterator[str]:
    """A note on the activations whose channels nothing in the network points at."""
    guessed = [call for call in calls if call.guessed and call.kind != "network"]  # whose input is taken as it is
    shapes = [", ".join("N" if at == one.image_axis else str(n) for at, n in enumerate(one.shape)) for one in guessed]
    found = [f"{one} (axis {one.channel_axis} of ({shape}))" for one, shape in zip(guessed, shapes, strict=True)]
    if found:
        which = ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
        yield f"the axis of the channels is a guess for {which}: no layer in front says it, and 'flatten' needs none"
