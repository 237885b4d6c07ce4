"""A network measured on a data set, batch by batch; a run can go on where an earlier one ended."""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from affscore.errors import AffscoreError
from affscore.network.accuracy import Hits, accuracy_of
from affscore.network.feeding import Feeding
from affscore.network.images import image_stream
from affscore.network.inputs import Forward, cut
from affscore.network.model_state import choose_device, unwrapped
from affscore.network.notes import on_accuracy, on_input, on_n, on_values, on_weights, saying_what_was_assumed
from affscore.network.options import Options, check_whole_number
from affscore.network.result import Signature, signature_of
from affscore.network.run import Run
from affscore.network.scorers import Batch, BatchScorer, WholeScorer
from affscore.zoo.card import check_has_weights
from affscore.zoo.models import card_of, load_model
from affscore.zoo.paths import check_name
from affscore.zoo.state_dicts import fingerprint

__all__ = ["BatchesOfAnotherRunError", "measure"]


class BatchesOfAnotherRunError(AffscoreError):
    """The batches that were given as finished are not of this network on these images."""


def measure(
    model: nn.Module | str,
    data: Any,
    options: Options,
    device: str = "auto",
    batch_size: int = 64,
    progress: bool | None = None,
    finished: Sequence[Batch] = (),
    on_batch: Callable[[Batch], None] | None = None,
    activations: Collection[Any] | Mapping[str, Any] | None = None,
    forward: Forward | None = None,
    data_name: str | None = None,
) -> Signature:
    """The signature of a network on a data set, and its batches as they are finished.

    No batch depends on how many went before it in the same run: the positions of ``sample`` belong to the
    number of an image, and the generator of random numbers is seeded anew for each batch. So a run that is
    given the first batches of another one as finished ends, on the CPU, with the same table bit by bit (but
    for the seconds). The images of finished batches are read, for the fingerprint of the data, and do not go
    through the network.

    Args:
        model: As in :func:`affscore.signature`.
        data: As there.
        options: What is measured.
        device: As there.
        batch_size: As there.
        progress: As there.
        finished: The first batches, in their order. A whole data set (``options.whole``) has none.
        on_batch: Is given each new batch when it is finished (not of a whole data set).
        activations: As there.
        forward: As there.
        data_name: As there.

    Returns:
        The signature. Where batches were given as finished it does not hold ``sample_costs``.

    Raises:
        BatchesOfAnotherRunError: The finished batches do not belong to this network and these images.
        AffscoreError: As there.
    """
    batch_size = check_whole_number("batch_size", batch_size, 1)
    if data_name is not None and (not isinstance(data_name, str) or not data_name.strip()):
        raise AffscoreError(f"data_name must be a text that names the data, got {data_name!r}")
    check_name(data_name or "")
    if isinstance(model, str):
        model = load_model(model, options.seed)
    network = unwrapped(model)
    check_has_weights(network, type(network).__name__)
    card = card_of(network)
    _check_network(network, finished, options)
    feeding = Feeding(network, forward)
    stream = image_stream(
        data, card.preprocessing, options.images, options.n, batch_size, options.seed, feeding, card.preprocessing_known
    )
    target = choose_device(device, network)
    scorer = (
        WholeScorer(stream.total, options.choices)
        if options.whole
        else BatchScorer(options.choices, finished, on_batch, in_background=target.type == "cuda")
    )
    bar = tqdm(total=stream.total, desc=card.name, unit="sample", disable=None if progress is None else not progress)
    digest = hashlib.sha256()
    used = digest.copy()  # of the images that were scored
    notes: list[str] = []
    number = filled = 0  # of the batch that is being filled
    items = "samples"  # unless the first chunk says more
    if activations is None:
        activations = getattr(network, "declared_activations", ())
    room = options.n if stream.total is None else min(options.n, stream.total)
    hits = Hits(stream.classes, card.classes)
    with bar, scorer, Run(network, card.name, target, options, finished, activations, room, hits) as run:
        for chunk in cut(stream.chunks, options.n):
            if number == filled == 0:
                digest.update(chunk.form.encode())
                notes = (
                    []
                    if stream.preprocessing
                    else on_values(chunk.tensors, card.preprocessing, card.preprocessing_known)
                )
                items = chunk.items
            digest.update(_checksums(chunk.numbers))
            if filled == 0:
                run.start(number)
            if number >= len(finished):
                with saying_what_was_assumed(stream, network):
                    run.forward(chunk)
            bar.update(len(chunk))
            filled += len(chunk)
            if filled < options.n:
                continue
            used = digest.copy()
            if number < len(finished):
                _check_images(finished[number], used.hexdigest())
            else:
                scorer.add(*run.take(used.hexdigest()))
            number, filled = number + 1, 0
        if filled and (number == 0 or options.whole):  # scores of batches of other sizes do not compare
            used, number, filled = digest, number + 1, 0
            if finished:
                _check_images(finished[0], used.hexdigest())
            else:
                scorer.add(*run.take(used.hexdigest()))
        if number < len(finished):
            raise BatchesOfAnotherRunError(f"{len(finished)} batches are given as finished, the data has {number}")
        batches = scorer.batches()
    accuracy = accuracy_of(batches)
    notes += [
        *on_input(stream, network),
        *on_weights(card),
        *on_accuracy(accuracy, stream, card, min(batch.unused for batch in batches)),
    ]
    notes += dict.fromkeys(note for batch in batches for note in batch.notes)
    notes += stream.notes
    dead = {row["index"] for batch in batches for row in batch.rows if row["flag"] == "constant output"}
    if dead:
        notes.append(
            f"{len(dead)} of {len(batches[0].rows)} activations have a constant output in a batch, which is affine: "
            "their score of 1 says that they do nothing (column flag)"
        )
    varies = [row for batch in batches for row in batch.rows if not row["flag"].startswith("constant")]
    if lacking := {row["index"] for row in varies if math.isnan(row.get("nlc", 0.0))}:
        notes.append(
            f"{len(lacking)} of {len(batches[0].rows)} activations have no non-linearity coefficient: on vectors of "
            "channels they are not elementwise functions with a finite derivative in PyTorch"
        )
    if run.silent:
        notes.append(f"declared as an activation, but never run: {', '.join(run.silent)}")
    if filled:
        notes.append(
            f"the last {filled} {items} were dropped: they do not fill a batch of {options.n} "
            f"(choose n to divide the number of {items})"
        )
    about = {
        "items": items,
        "batch_size": batch_size,
        "device": target.type,
        "threads": torch.get_num_threads(),
        "dtype": str(next((p.dtype for p in network.parameters()), torch.get_default_dtype())),
        "activations": run.declared,
        "forward": None if forward is None else getattr(forward, "__name__", type(forward).__name__),
        "accuracy": accuracy,
        "preprocessing": stream.preprocessing.as_dict() if stream.preprocessing else None,
        "fingerprint_weights": batches[-1].network,
        "fingerprint_data": f"crc32:{used.hexdigest()[:16]}",
    }
    shared = {"model": card.name, "weights": card.weights, "dataset": stream.name if data_name is None else data_name}
    result = signature_of(batches, shared, options, about, notes)
    result.notes.extend(on_n(result))
    return result


def _checksums(numbers: Tensor) -> bytes:
    """The CRC-32 of the numbers of each sample.

    Every byte counts, at the speed of memory: hashing all of them costs as much as a tenth of a small network.
    """
    samples = numbers.detach().cpu()[:, None].flatten(1).contiguous().view(torch.uint8).numpy()
    return b"".join(zlib.crc32(sample).to_bytes(4, "little") for sample in samples)


def _check_network(network: nn.Module, finished: Sequence[Batch], options: Options) -> None:
    if not finished:
        return
    if options.whole:
        raise BatchesOfAnotherRunError("a whole data set is scored at the end: it has no finished batches")
    if [batch.number for batch in finished] != list(range(len(finished))):
        raise BatchesOfAnotherRunError("the finished batches are not the first ones, in their order")
    if {batch.network for batch in finished} != {fingerprint(network)}:
        raise BatchesOfAnotherRunError("the finished batches are of another network")


def _check_images(batch: Batch, images: str) -> None:
    if batch.images != images:
        raise BatchesOfAnotherRunError(f"the finished batch {batch.number} is of other data")
