"""Whatever a caller calls data, as a stream of chunks of samples: images, windows of token ids, rows of a table."""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter, length_hint
from typing import Any
from zlib import adler32, crc32

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, Subset
from tqdm import tqdm

from affscore.errors import AffscoreError, guarded
from affscore.models.card import ModelCard, stated_classes
from affscore.models.data import ImageSet, NamedData, UnreadableImageError, load_data
from affscore.models.preprocessing import IMAGENET, Expected, Preprocessing, TextPreprocessing, assumed_preprocessing
from affscore.network.inputs import Feeding, Inputs
from affscore.network.notes import Note, on_values
from affscore.network.reading import Pictures, as_tensors, inputs_of, is_table
from affscore.options import Options

NAMED_AT_MOST = 5
"""How many unreadable images a note names."""

MOST_BATCHES = 100
"""How many batches are read of data that does not say how long it is: it may have no end."""


@dataclass
class ImageStream:
    """Samples in chunks, and what was seen of them.

    Attributes:
        name: The name that results carry: a SPEC without its path, or what kind of object it was.
        card: What is known of the network.
        chunks: What goes into the network for at most batch_size samples at a time, on the CPU.
        total: How many samples the chunks hold together, or None where that is not known beforehand;
            fewer, where images cannot be read and there are no others.
        preprocessing: What images were brought to, here; None where they are taken as they are.
        notes: Notes for the reader; complete when the chunks have been read.
        assumed: Whether that was assumed, since the network does not say it.
        classes: The names of the classes that labels stand for; None where these are numbers only.
        seen: How many samples went into the network.
        items: What a sample is called, once the first ones have been read.
        hash: A hash of the samples so far, of hashlib.
    """

    name: str
    card: ModelCard
    chunks: Iterable[Inputs]
    total: int | None
    preprocessing: Expected | None = None
    notes: list[str] = field(default_factory=list)
    assumed: bool = False
    classes: Sequence[str] | None = None
    seen: int = field(default=0, init=False)
    items: str = field(default="", init=False)
    hash: Any = field(default_factory=hashlib.sha256, init=False)
    _sums: list[NDArray[np.uint32]] = field(default_factory=list, init=False)

    def batches(self, n: int, progress: bool | None = False) -> Iterator[tuple[int, Iterator[Inputs]]]:
        """The number and the chunks of each batch of n samples; chunks are cut where a batch ends.

        Args:
            n: Samples in a batch.
            progress: Whether to show a bar; None for where there is a terminal.
        """
        hidden = None if progress is None else not progress
        with tqdm(total=self.total, desc=self.card.name, unit="sample", disable=hidden) as bar:
            for number, group in itertools.groupby(self._cut(n, bar), key=itemgetter(0)):
                yield number, self.counted(part for _, part in group)

    def _cut(self, n: int, bar: Any) -> Iterator[tuple[int, Inputs]]:
        seen = 0
        for chunk in self.chunks:
            while len(chunk):
                part, chunk = chunk[: n - seen % n], chunk[n - seen % n :]
                yield seen // n, part
                seen += len(part)
                bar.update(len(part))

    def counted(self, chunks: Iterable[Inputs]) -> Iterator[Inputs]:
        """The same chunks; what the first samples show is noted, and every one counts for the fingerprint."""
        for chunk in chunks:
            if not self.seen:
                self.items = chunk.items
                self.hash.update(chunk.form.encode())
                if not self.preprocessing:
                    self.notes += on_values(chunk.tensors, self.card.preprocessing, self.card.preprocessing_known)
            self._sums.append(_checksums(chunk))
            self.hash.update(self._sums[-1][:, 0].tobytes())
            self.seen += len(chunk)
            yield chunk

    @property
    def fingerprint(self) -> str:
        """What results carry of the samples so far."""
        return f"crc32:{self.hash.hexdigest()[:16]}"

    def repeats(self, samples: int) -> Iterator[str]:
        """How many of the first samples are the same as an earlier one, to the last bit."""
        why = "an IterableDataset gives every worker of a DataLoader the same samples, unless it uses get_worker_info"
        if repeats := samples - len(np.unique(np.concatenate(self._sums)[:samples], axis=0)):
            yield f"{repeats} of {samples} {self.items} ({repeats / samples:.1%}) are repeats of earlier ones ({why})"

    def assumptions(self, network: nn.Module) -> list[Note]:
        """What was assumed of the network's input: the size of the data, or ImageNet's where that says nothing.

        A network of torchvision that says nothing was most likely made for ImageNet's.
        """
        if not self.assumed or not isinstance(self.preprocessing, Preprocessing):
            return []
        says = "the network does not say what it expects of images: they went in normalised as for ImageNet"
        size = f"with {self.preprocessing.size} x {self.preprocessing.size} pixels, and scores depend on it"
        advice = "give it an attribute preprocessing = affscore.models.Preprocessing(...), or size=..."
        usual = self.preprocessing != IMAGENET or type(network).__module__.startswith("torchvision.")
        return [Note(f"{says}, {size}; {advice}", "note" if usual else "warning")]


def _checksums(inputs: Inputs) -> NDArray[np.uint32]:
    """The CRC-32 of the numbers of each sample, and the Adler-32 of some of them: the first is the fingerprint.

    Every byte counts, at the speed of memory: hashing all of them costs as much as a tenth of a small network. Among a
    million samples a few share their CRC-32 by chance, and none share both.

    Returns:
        Array (N, 2).
    """
    parts = [tensor.detach().cpu()[:, None].flatten(1).contiguous().view(torch.uint8) for tensor in inputs.tensors]
    samples = torch.cat(parts, dim=1).numpy()
    return np.array([(crc32(s), adler32(s[:: 1 + len(s) // 256].tobytes())) for s in samples], "<u4").reshape(-1, 2)


def image_stream(data: Any, card: ModelCard, options: Options, batch_size: int, feeding: Feeding) -> ImageStream:
    """A stream of images from a SPEC, tensors, arrays, a table, a Dataset or a DataLoader.

    A data set by name is brought to what the network expects, and shuffled by the seed; images of it that
    cannot be read are left out, the next ones take their places, and a note names them. Objects are taken
    as they are and in their order; only pictures (of Pillow) in a Dataset are brought to what the network
    expects.

    Args:
        data: SPEC, tensor or array (N, ...), a tuple or dictionary of these, a table (DataFrame, list of
            lists), a Dataset or a DataLoader. Items of the last two may be tuples or dictionaries.
        card: What the network expects, and whether it says so; else images keep the size that they all have, where
            that is smaller (:func:`affscore.models.preprocessing.assumed_preprocessing`).
        options: How many images to use; how many of a data set without end, or without a length (:data:`MOST_BATCHES`
            times n); the seed of the shuffle and of noise.
        batch_size: Images in a chunk (a DataLoader decides for itself).
        feeding: Which entries of the data go into the network.

    Raises:
        AffscoreError: No data of these kinds, another kind than the network expects, or fewer images than
            asked for.
    """
    if isinstance(data, str):
        data = load_data(data, seed=options.seed)
    preprocessing, images = card.preprocessing, options.images
    table = isinstance(data, (Tensor, np.ndarray, pd.DataFrame, pd.Series, tuple, Mapping)) or is_table(data)
    if options.size and (table or card.preprocessing_known or getattr(data, "preprocessing", None) is not None):
        raise AffscoreError("size is for pictures and a network that does not say what it expects of them: omit it")
    if isinstance(data, NamedData):
        return _named(data, card, options, batch_size, feeding)
    inner = data
    while isinstance(inner, (DataLoader, Subset)):
        inner = inner.dataset
    if isinstance(inner, NamedData) and inner.preprocessing is None:
        advice = "give load_data(SPEC, preprocessing), or load_data(SPEC) itself"
        raise AffscoreError(f"{inner.name!r} in a {type(data).__name__} would not be prepared: {advice}")
    if table:
        tensors = as_tensors(data)
        if is_table(data) and not isinstance(preprocessing, TextPreprocessing):
            tensors = tensors.double()  # numbers, as those of a DataFrame
        (inputs,) = inputs_of([tensors], preprocessing, feeding, options.mask)
        total = _enough(len(inputs), images)
        parts = (inputs[start : min(start + batch_size, total)] for start in range(0, total, batch_size))
        return ImageStream(type(data).__name__.lower(), card, parts, total, notes=feeding.notes)
    pictures = Pictures(preprocessing, card.preprocessing_known, options.size)
    source = data.dataset if isinstance(data, DataLoader) else data
    size = None if isinstance(data, DataLoader) and data.drop_last else _length(source)
    if not isinstance(data, (DataLoader, IterableDataset)):
        if size is None or not hasattr(data, "__getitem__"):
            kinds = "the name of a data set, tensors or arrays (N, ...), a table, a sized Dataset or a DataLoader"
            raise AffscoreError(f"data must be {kinds}, got {type(data).__name__} (a folder is 'folder:PATH')")
        data = Subset(data, range(_enough(size, images)))
    loader = data if isinstance(data, DataLoader) else DataLoader(data, batch_size=batch_size, collate_fn=pictures)
    name = source.name if isinstance(source, NamedData) else type(source).__name__
    known = min((number for number in (size, images) if number is not None), default=None)
    stream = ImageStream(name, card, (), known, notes=feeding.notes, classes=stated_classes(inner))
    most = MOST_BATCHES * options.n if images is None and _length(loader) is None else sys.maxsize

    def limited() -> Iterator[Inputs]:
        """The chunks; the stream says as soon as it is known whether pictures were prepared."""
        read = 0
        for chunk in at_most(inputs_of(loader, preprocessing, feeding, options.mask), images or sys.maxsize):
            if read >= most:
                stream.notes.append(f"the data has no length, and more than these {read} samples; choose images=")
                break
            if pictures.sizes:
                stream.preprocessing, stream.assumed = pictures.expected, not pictures.known
            read += len(chunk)
            yield chunk
        _enough(read, images)
        if stream.assumed and len(pictures.sizes) > 1:
            stream.notes.append("the pictures have several sizes, and the first one decided to which all were brought")

    stream.chunks = limited()
    return stream


def _named(data: NamedData, card: ModelCard, options: Options, batch_size: int, feeding: Feeding) -> ImageStream:
    preprocessing = card.preprocessing
    chosen = data.order(options.images, options.seed, default=options.n)
    assumed = data.preprocessing is None and not card.preprocessing_known
    if assumed:
        size = data.common_size(chosen) if isinstance(data, ImageSet) and not options.size else None
        preprocessing = assumed_preprocessing(size, options.size)
    prepared = data.prepared_for(data.preprocessing or preprocessing)
    candidates, wanted = prepared.order(None, options.seed, default=len(chosen)), len(chosen)  # which come first
    stream = ImageStream(data.name, card, (), wanted, prepared.preprocessing, list(prepared.notes), assumed)
    used: list[int] = []  # those of the last chunk
    unreadable: list[UnreadableImageError] = []

    def read() -> Iterator[tuple[int, Tensor]]:
        for index in candidates:
            try:
                yield index, prepared[index]
            except UnreadableImageError as error:
                unreadable.append(error)

    def batches() -> Iterator[Tensor]:
        """The first images that can be read, as many as are wanted."""
        images, left = islice(read(), wanted), wanted
        while batch := list(islice(images, batch_size)):
            used[:], tensors = zip(*batch, strict=True)
            yield torch.stack(tensors)
            left -= len(tensors)
        if unreadable and left == wanted:
            raise AffscoreError(f"none of the {len(unreadable)} images of {data.name} can be read; {unreadable[0]}")
        if unreadable:
            count, named = len(unreadable), ", ".join(error.file for error in unreadable[:NAMED_AT_MOST])
            named += f" and {count - NAMED_AT_MOST} more" if count > NAMED_AT_MOST else ""
            rest = f"{wanted - left} images are left of the {wanted}" if left else "the next ones took their places"
            stream.notes.append(f"{count} image{'s' * (count > 1)} of {data.name} could not be read: {named}; {rest}")

    stream.chunks = chunks = inputs_of(batches(), preprocessing, feeding, options.mask)
    if data.labels is not None:
        numbers = {name: number for number, name in enumerate(data.classes)}
        labels, stream.classes = torch.tensor([numbers[label] for label in data.labels]), data.classes
        stream.chunks = (replace(chunk, labels=labels[used]) for chunk in chunks)
    return stream


def at_most(chunks: Iterable[Inputs], n: int) -> Iterator[Inputs]:
    """The first n samples."""
    for chunk in chunks:
        yield (part := chunk[:n])
        n -= len(part)
        if not n:
            return


def _length(data: Any) -> int | None:
    """How many samples data has; None where it does not say that."""
    length = guarded(lambda: length_hint(data, -1), "the data does not say how long it is")
    return None if length < 0 else length


def _enough(available: int, images: int | None) -> int:
    if images is not None and images > available:
        raise AffscoreError(f"the data has {available} samples, {images} were asked for")
    return available if images is None else images
