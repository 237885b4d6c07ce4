"""The fixed samples on which a tracker measures, read once and kept; and what its network is known by."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from affscore.models.weight_files import tensors_of, without_wrappers
from affscore.network.batch import Subject
from affscore.network.experts import Key, key_of
from affscore.network.images import at_most, image_stream
from affscore.network.inputs import Feeding
from affscore.recorder.model_state import random_states_kept, seed_generators


def keep_samples(subject: Subject, data: Any) -> str:
    """Read the first samples of the data once, and keep them as the chunks of the subject's stream.

    Returns:
        A hash of the samples and their labels.
    """
    options, total = subject.options, subject.stream.total
    chosen = options if total is None or total <= options.n else replace(options, images=options.n)
    reading = _apart(data) if isinstance(data, DataLoader) else nullcontext(data)
    with random_states_kept(subject.device), reading as apart:
        seed_generators(options.seed, subject.device)
        feeding = Feeding(subject.network, subject.forward)
        subject.stream = stream = image_stream(apart, subject.card, chosen, subject.execution.batch_size, feeding)
        stream.chunks = chunks = [part.each(Tensor.clone) for part in stream.counted(at_most(stream.chunks, options.n))]
    labels = [chunk.labels.cpu().numpy().tobytes() for chunk in chunks if chunk.labels is not None]
    if chosen is not options or (total is None and stream.seen == options.n):
        there = "there may be more" if total is None else f"there are {total}"
        stream.notes.append(f"the probe is the first {stream.seen} {stream.items} of the data; {there}")
    return hashlib.sha256(b"".join([stream.hash.digest(), *labels])).hexdigest()[:16]


def structure_of(network: nn.Module) -> str:
    """A hash of the names and shapes of a network's weights, the same where parts of it are compiled."""
    shapes = sorted((without_wrappers(name), *value.shape) for name, value in tensors_of(network).items())
    return hashlib.sha256(repr(shapes).encode()).hexdigest()[:16]


def keys_of(rows: Iterable[dict[str, Any]]) -> list[Key]:
    """Where the activations of these rows are, by their layers as they are called where no part is wrapped.

    >>> keys_of([{"layer": "0._orig_mod.1", "call": 0, "activation": "relu", "score": 0.9}])
    [('0.1', 0, 'relu')]
    """
    return [(without_wrappers(layer), call, name) for layer, call, name in map(key_of, rows)]


@contextmanager
def _apart(data: DataLoader[Any]) -> Iterator[Any]:
    """A loader of the training, to be read once: afterwards it has its workers and generators as before."""
    owners = (data, data.sampler, data.batch_sampler, getattr(data.batch_sampler, "sampler", None))
    generators = [getattr(owner, "generator", None) for owner in owners]
    states = [(one, one.get_state()) for one in generators if isinstance(one, torch.Generator)]
    loader = copy.copy(data)
    loader._iterator = None  # of workers that stay for the next epoch
    try:
        yield loader
    finally:
        for generator, state in states:
            generator.set_state(state)
