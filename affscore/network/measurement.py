"""A network measured on a data set, batch by batch."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any
from zlib import adler32, crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from tqdm import tqdm

from affscore.errors import AffscoreError
from affscore.models.card import ONE_AT_A_TIME, check_has_weights, fingerprint
from affscore.models.sources import card_of, load_model
from affscore.network.accuracy import accuracy_of
from affscore.network.batch import Batch, batches_of, run_batch
from affscore.network.collect import Collector
from affscore.network.experts import Key, key_of, numbered
from affscore.network.feeding import Feeding
from affscore.network.images import ImageStream, image_stream
from affscore.network.inputs import Forward, Inputs
from affscore.network.note import Note
from affscore.network.notes import (
    on_accuracy,
    on_input,
    on_n,
    on_positions,
    on_refusals,
    on_repeats,
    on_rows,
    on_values,
    on_weights,
)
from affscore.network.pair import Pair
from affscore.network.result import Signature
from affscore.network.scoring import score_batch
from affscore.network.table import provenance, table_of
from affscore.options import Execution, Options, checked, checked_execution
from affscore.recorder import Recorder, recording
from affscore.recorder.model_state import choose_device, prepared, random_states_kept, seed_generators, unwrapped


class Measurement:
    """A network and a data set, ready to be measured, once.

    No batch depends on those before it: the positions of ``sample`` belong to the number of a sample, and the
    generator of random numbers is seeded anew for each batch.

    Args:
        model: As in :func:`affscore.signature`.
        data: As there.
        options: What is measured.
        execution: How.
        activations: As there.
        forward: As there.
        data_name: As there.

    Raises:
        AffscoreError: As there.

    >>> len(Measurement("mini:digitsnet", "digits", Options(n=64, images=128, criteria=())).signature())
    9
    """

    preparing = staticmethod(prepared)
    """Brings the network into evaluation mode on the device, and back."""

    def __init__(
        self,
        model: nn.Module | str,
        data: Any,
        options: Options,
        execution: Execution | None = None,
        activations: Collection[Any] | Mapping[str, Any] | None = None,
        forward: Forward | None = None,
        data_name: str | None = None,
    ) -> None:
        self.options, self.execution = checked(options), checked_execution(execution or Execution())
        if data_name is not None and (not isinstance(data_name, str) or not data_name.strip()):
            raise AffscoreError(f"data_name must be a text that names the data, got {data_name!r}")
        if isinstance(model, str):
            model = load_model(model, self.options.seed)
        self.network = unwrapped(model)
        check_has_weights(self.network, type(self.network).__name__)
        self.card = card_of(self.network)
        self.device = choose_device(self.execution.device, self.network)
        self.activations = getattr(self.network, "declared_activations", ()) if activations is None else activations
        self._forward = forward
        self.one_by_one = ""  # why samples go through the network one at a time
        self._items = ""  # what a sample is called, once the first ones have been read
        # how many samples, and the checksums of them
        self._seen, self._digest, self._sums = 0, hashlib.sha256(), list[NDArray[np.uint32]]()
        self._declared, self._ran, self._notes, self._dropped = list[str](), set[str](), list[str](), 0
        self.weights, self.images = "", ""  # fingerprints of the network, and of the samples that count
        self.stream = self._stream(data, self.options)
        self._dataset = self.stream.name if data_name is None else data_name

    def _stream(self, data: Any, options: Options) -> ImageStream:
        return image_stream(data, self.card, options, self.execution.batch_size, Feeding(self.network, self._forward))

    def signature(self) -> Signature:
        """Measure; the signature, with what the data and the network have to say.

        Raises:
            AffscoreError: As :func:`affscore.signature`.
        """
        return self.signatures()[0]

    def signatures(self) -> list[Signature]:
        """Measure; the signatures, one for each specification of a multiverse.

        An activation that one batch does not allow under a specification is left out there, and a note says so.

        Raises:
            AffscoreError: As :func:`affscore.signature`.
        """
        with closing(self._measured()) as measured:
            return self.assembled([replace(batch, rows=score_batch(pairs, self.options)) for batch, pairs in measured])

    def _measured(self) -> Generator[tuple[Batch, list[list[Pair]]]]:
        """Each batch, with the pairs of all passes of the options."""
        self.weights, known = fingerprint(self.network), list[Key]()
        hidden, n = None if self.execution.progress is None else not self.execution.progress, self.options.n
        with (
            tqdm(total=self.stream.total, desc=self.card.name, unit="sample", disable=hidden) as bar,
            self._recorded() as recorder,
        ):
            for number, chunks in batches_of(self.stream.chunks, n):
                batch, collector = run_batch(self, recorder, number, self._looked_at(chunks, bar), known)
                if number and (size := self._seen - number * n) < n:  # scores of other sizes do not compare
                    self._dropped = size
                    return
                self.images = self._digest.hexdigest()
                # an expert that a single sample reaches has no score
                passes = [[pair for pair in pairs if len(pair.reached) != 1] for pairs in collector.all_collected()]
                known = [pair.key for pair in passes[0]]
                yield replace(batch, notes=[*batch.notes, *on_refusals(passes)]), passes

    @contextmanager
    def _recorded(self) -> Iterator[Recorder]:
        """The network in evaluation mode under a recorder; afterwards it is as it was, and so are random states."""
        # no_grad and not inference_mode: what the network moves or caches must still be fit for training
        with (
            ONE_AT_A_TIME,
            torch.no_grad(),
            random_states_kept(self.device),
            self.preparing(self.network, self.device),
            recording(
                self.network, Collector(self.options), self.activations, self.options.units == "blocks"
            ) as recorder,
        ):
            # a loader may shuffle, and a data set draw, before the first batch begins
            seed_generators(self.options.seed, self.device)
            self._declared, self._ran = recorder.chosen.names, recorder.ran
            yield recorder

    def _looked_at(self, chunks: Iterable[Inputs], bar: tqdm[Any]) -> Iterator[Inputs]:
        """The same chunks; what the first samples show is noted, and every one counts for the fingerprint."""
        for chunk in chunks:
            if not self._seen:
                self._items, card = chunk.items, self.card
                self._digest.update(chunk.form.encode())
                if not self.stream.preprocessing:
                    self._notes = [*on_values(chunk.tensors, card.preprocessing, card.preprocessing_known)]
            self._sums.append(_checksums(chunk.numbers))
            self._digest.update(self._sums[-1][:, 0].tobytes())
            self._seen += len(chunk)
            yield chunk
            bar.update(len(chunk))

    def assembled(self, batches: Sequence[Batch]) -> list[Signature]:
        """The signatures that all batches make.

        Raises:
            AffscoreError: There is no batch, since the data holds no sample.
        """
        if not batches:
            raise AffscoreError("the data holds no sample; give at least 2")
        if self.one_by_one:  # not every batch reaches all activations
            orders = [list(dict.fromkeys(map(key_of, batch.rows))) for batch in batches]
            batches = [replace(batch, rows=numbered(batch.rows, orders)) for batch in batches]
        if not self.options.multiverse:
            return [self._signature(batches, self.options)]
        found = []
        for number, options in enumerate(itertools.chain.from_iterable(self.options.passes)):
            rows = [[row for row in batch.rows if row["specification"] == number] for batch in batches]
            everywhere = set.intersection(*({row["index"] for row in some} for some in rows))
            rows = [[row for row in some if row["index"] in everywhere] for some in rows]
            own = [replace(batch, rows=some) for batch, some in zip(batches, rows, strict=True)]
            if everywhere:
                found.append(self._signature(own, options))
        return found

    def _signature(self, batches: Sequence[Batch], options: Options) -> Signature:
        stream, card = self.stream, self.card
        rows = [{**row, "batch": number} for number, batch in enumerate(batches) for row in batch.rows]
        costs = [row.pop("sample_costs") for row in rows]
        choices = {"model": card.name, "weights": card.weights, "dataset": self._dataset, **options.as_columns()}
        table = table_of(rows, choices)
        samples = self._seen - self._dropped
        accuracy = accuracy_of(batches, samples)
        silent = [name for name in self._declared if name not in self._ran]
        notes = [
            *self._notes, *on_input(stream, self.network), *on_weights(card),
            *on_accuracy(accuracy, stream, card, min(batch.unused for batch in batches)),
            *dict.fromkeys(note for batch in batches for note in batch.notes), *stream.notes,
            *on_positions(options), *on_rows(table, options.units),
            *on_repeats(np.concatenate(self._sums)[:samples], self._items),
        ]  # fmt: skip
        if silent:
            notes.append(f"declared as an activation, but never run: {', '.join(silent)}")
        if self._dropped:
            notes.append(
                f"the last {self._dropped} {self._items} were dropped: they do not fill a batch of {options.n} "
                f"(choose n to divide the number of {self._items})"
            )
        forward, weights = self._forward, next(self.network.parameters(), None)
        metadata = {
            **choices, "n": options.n, "images": samples, "seed": options.seed,
            "criteria": list(options.criteria), "depth": int(table["depth"].max()), "items": self._items,
            "batch_size": self.execution.batch_size, "device": self.device.type, "threads": torch.get_num_threads(),
            "dtype": str(torch.get_default_dtype() if weights is None else weights.dtype),
            "activations": self._declared,
            "forward": None if forward is None else getattr(forward, "__name__", type(forward).__name__),
            "accuracy": accuracy, "preprocessing": stream.preprocessing.as_dict() if stream.preprocessing else None,
            "fingerprint_weights": self.weights, "fingerprint_data": f"crc32:{self.images[:16]}", **provenance(),
        }  # fmt: skip
        if options.reduction == "positions":
            metadata["positions"] = options.positions
        if options.units == "blocks":
            metadata["units"] = options.units
        costs = [None if cost is None else cost.cpu().numpy() for cost in costs]
        result = Signature(table, metadata, list(map(Note.of, notes)), costs)
        result.notes.extend(on_n(result))
        return result


def _checksums(numbers: Tensor) -> NDArray[np.uint32]:
    """The CRC-32 of the numbers of each sample, and the Adler-32 of some of them: the first is the fingerprint.

    Every byte counts, at the speed of memory: hashing all of them costs as much as a tenth of a small network. Among a
    million samples a few share their CRC-32 by chance, and none share both.

    Returns:
        Array (N, 2).
    """
    samples = numbers.detach().cpu()[:, None].flatten(1).contiguous().view(torch.uint8).numpy()
    return np.array([(crc32(s), adler32(s[:: 1 + len(s) // 256].tobytes())) for s in samples], "<u4").reshape(-1, 2)
