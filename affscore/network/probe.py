"""A network in training on a few samples that stay in memory: measured as often as one likes."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader
from tqdm import tqdm

from affscore.errors import AffscoreError
from affscore.models.card import fingerprint
from affscore.models.data import load_data
from affscore.models.weight_files import tensors_of, without_wrappers
from affscore.network.accuracy import accuracy_of
from affscore.network.batch import Batch, run_batch
from affscore.network.criteria.declaration import NotFiniteError
from affscore.network.experts import Key, first_difference, key_of, numbered
from affscore.network.images import ImageStream
from affscore.network.inputs import Inputs
from affscore.network.measurement import Measurement
from affscore.network.pair import Pair
from affscore.network.record import NOT_FINITE
from affscore.network.result import Signature
from affscore.network.scoring import columns_of_call, score_batch, score_pair
from affscore.options import Options
from affscore.recorder.model_state import device_of, in_training, random_states_kept, seed_generators


class Probe(Measurement):
    """A network that is being trained, and one batch of samples, read once and kept.

    What the samples and the structure of the network decide is looked at in :meth:`first` alone: the audit, the notes,
    the fingerprints. :meth:`again` sends the same samples through the network as it is then, and scores them.

    Args:
        model: The network.
        data: As in :func:`affscore.signature`.
        options: What is measured; of the data the first ``options.n`` samples.
        execution: As of a measurement, and so is what follows.

    Attributes:
        identity: A hash of the samples and their labels.
        places: Layer, call and name of each activation, once they are known.

    Raises:
        AffscoreError: As :func:`affscore.signature`.

    >>> from affscore import load_model
    >>> probe = Probe(load_model("mini:digitsnet"), "digits", Options(n=64, criteria=(), coupling="paired"))
    >>> scores = probe.first().scores
    >>> [row["score"] for row in probe.again()] == scores.tolist()
    True
    """

    preparing = staticmethod(in_training)

    def _stream(self, data: Any, options: Options) -> ImageStream:
        """The first samples, read and kept."""
        data = load_data(data, seed=options.seed) if isinstance(data, str) else data
        self.places: list[Key] = []
        total = super()._stream(data, options).total
        chosen = options if total is None or total <= options.n else replace(options, images=options.n)
        with random_states_kept(self.device), _apart(data) as apart:
            seed_generators(options.seed, self.device)
            self.stream = super()._stream(apart, chosen)
            parts = self._looked_at(_at_most(self.stream.chunks, options.n), tqdm(disable=True))
            self.stream.chunks = self._chunks = [_copied(part) for part in parts]
        identity = hashlib.sha256(self._digest.digest())
        for chunk in self._chunks:
            identity.update(b"" if chunk.labels is None else chunk.labels.cpu().numpy().tobytes())
        self.identity = identity.hexdigest()[:16]
        if chosen is not options or (total is None and self._seen == options.n):
            there = "there may be more" if total is None else f"there are {total}"
            self.stream.notes.append(f"the probe is the first {self._seen} {self._items} of the data; {there}")
        return self.stream

    @property
    def structure(self) -> str:
        """A hash of the names and shapes of the network's weights, the same where parts of it are compiled."""
        shapes = sorted((without_wrappers(name), *value.shape) for name, value in tensors_of(self.network).items())
        return hashlib.sha256(repr(shapes).encode()).hexdigest()[:16]

    def first(self) -> Signature:
        """The signature of the network as it is now, with all that the samples and its structure have to say.

        Raises:
            AffscoreError: As :func:`affscore.signature`.
        """
        if not self._chunks:
            raise AffscoreError("the probe holds no sample; give at least 2, and better hundreds")
        batch, pairs = self._run(checked=False)
        self.weights, self.images = fingerprint(self.network), self._digest.hexdigest()
        rows = score_batch([pairs], self.options)
        self.places = places_of(rows)
        return self.assembled([replace(batch, rows=rows)])[0]

    def again(self) -> list[dict[str, Any]]:
        """The rows of a signature of the network as it is now, and ``accuracy``, NaN without labels.

        An activation that holds NaN or infinity has no score, and the flag "not finite".

        Raises:
            AffscoreError: The network fails, or runs other activations than before.
        """
        batch, pairs = self._run(checked=True)
        places = places_of(columns_of_call(pair.call) for pair in pairs)
        if difference := first_difference(self.places, places):
            raise AffscoreError(
                f"the network has another structure than in the first measurement: {difference}; begin a new record"
            )
        accuracy = accuracy_of([batch], self._seen)
        return [{**self._row(pair), "accuracy": math.nan if accuracy is None else accuracy} for pair in pairs]

    def _run(self, checked: bool) -> tuple[Batch, list[Pair]]:
        self.device = device_of(self.network)  # it may have moved since
        with self._recorded() as recorder:
            batch, collector = run_batch(self, recorder, 0, self._chunks, (), checked)
        pairs = [pair for pair in collector.collected() if len(pair.reached) != 1]
        if self.one_by_one:
            rows = numbered([columns_of_call(pair.call) for pair in pairs], [[pair.key for pair in pairs]])
            for pair, row in zip(pairs, rows, strict=True):
                pair.call = replace(pair.call, index=row["index"], call=row["call"])
        return batch, pairs

    def _row(self, pair: Pair) -> dict[str, Any]:
        try:
            return score_pair(pair, self.options)
        except NotFiniteError:
            n, width = pair.x.shape
            return columns_of_call(pair.call) | {"n": n, "width": width, "bound_exceeded": False, "flag": NOT_FINITE}


def places_of(rows: Iterable[dict[str, Any]]) -> list[Key]:
    """Where the activations of these rows are, by their layers as they are called where no part is wrapped.

    >>> places_of([{"layer": "0._orig_mod.1", "call": 0, "activation": "relu", "score": 0.9}])
    [('0.1', 0, 'relu')]
    """
    return [(without_wrappers(layer), call, name) for layer, call, name in map(key_of, rows)]


def _at_most(chunks: Iterable[Inputs], n: int) -> Iterator[Inputs]:
    """The first n samples."""
    for chunk in chunks:
        yield (part := chunk[:n])
        n -= len(part)
        if not n:
            return


def _copied(inputs: Inputs) -> Inputs:
    copied = inputs.each(Tensor.clone)
    copied.labels, copied.text = (None if one is None else one.clone() for one in (inputs.labels, inputs.text))
    return copied


@contextmanager
def _apart(data: Any) -> Iterator[Any]:
    """The data, to be read once; a loader of the training has its workers and generators as before, afterwards."""
    if not isinstance(data, DataLoader):
        yield data
        return
    sampler = getattr(data, "batch_sampler", None)
    owners = (data, data.sampler, sampler, getattr(sampler, "sampler", None))
    generators = [getattr(owner, "generator", None) for owner in owners]
    states = [(one, one.get_state()) for one in generators if isinstance(one, torch.Generator)]
    loader = copy.copy(data)
    loader._iterator = None  # of workers that stay for the next epoch
    try:
        yield loader
    finally:
        for generator, state in states:
            generator.set_state(state)
