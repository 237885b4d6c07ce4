"""Samples in a file, as ``npz:FILE``, a text, as ``text:FILE`` and ``text:FILE@TOKENIZER``, or ``tokens:FILE``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affscore.errors import AffscoreError, form_of, guarded, guarding
from affscore.models.data import DataSource, ImageSet, NamedData
from affscore.models.naming import readable_file, split_path
from affscore.models.preprocessing import TextPreprocessing, check_token_ids, image_tensor, tokenizer_file
from affscore.models.weight_files import read_tensors

SAMPLES, LABELS = ("x", "data", "images"), ("y", "labels")
"""What the arrays of a .npz file are called."""

MOST = 100_000
"""Labels are below this: they count outputs of a network."""


def _load_arrays(path: str, seed: int) -> NamedData:
    """The samples in a .npz file, in an array ``x``, ``data`` or ``images``, or the only one, and perhaps their labels.

    Images have the shape (N, H, W), (N, H, W, C) or (N, C, H, W) with C = 1 or 3, and are of type uint8 or lie in
    [0, 1]; anything else are numbers. Labels, ``y`` or ``labels``, are integers: the number of a network's output.

    Raises:
        AffscoreError: No such file, another kind of file, a damaged one, Python objects, several arrays without such
            names, or other shapes.
    """
    file = readable_file(path, "npz:FILE takes the path of a file")
    what = f"the file {file.name!r} holds no arrays that can be read safely"
    with guarding(what, "write it with numpy.savez(FILE, x=..., y=...)"), np.load(file, allow_pickle=False) as archive:
        arrays = {name: np.asarray(archive[name]) for name in archive.files}
    names = [name for name in SAMPLES if name in arrays] or [name for name in arrays if name not in LABELS]
    if len(names) != 1:
        raise AffscoreError(f"the file {file.name!r} holds {len(arrays)} arrays: call the one with the samples x")
    samples, labels = arrays[names[0]], next((arrays[name] for name in LABELS if name in arrays), None)
    if samples.dtype.kind not in "biuf" or samples.ndim < 2 or not samples.size:
        raise AffscoreError(f"{file.name!r} must hold numbers (N, ...) of N samples, and holds {form_of(samples)}")
    name, images = f"npz:{file.name}", _images(samples)
    about: dict[str, Any] = {"hashed": [file]}
    if labels is not None:
        given, labels = form_of(labels), labels.reshape(-1)
        if labels.dtype.kind not in "iu" or len(labels) != len(samples) or not 0 <= labels.min() <= labels.max() < MOST:
            raise AffscoreError(f"{file.name!r} needs {len(samples)} labels, integers 0 to {MOST - 1}, got {given}")
        about |= {"labels": list(map(str, labels)), "classes": list(map(str, range(int(labels.max()) + 1)))}
    if images is not None:
        return ImageSet(name, len(images), lambda index, p: (p or image_tensor)(images[index]), **about)
    single = samples.dtype.kind == "f" and samples.dtype.itemsize <= 4
    numbers = torch.from_numpy(samples.astype(np.float32 if single else np.float64))
    return Samples(name, len(numbers), numbers, items="samples", **about)


def _images(samples: NDArray[Any]) -> Tensor | None:
    """The images (N, C, H, W) that an array holds; None where it holds other numbers."""
    kind = np.uint8 if samples.dtype == np.uint8 else np.float32
    if kind == np.float32 and not (samples.dtype.kind == "f" and samples.min() >= 0 and samples.max() <= 1):
        return None
    samples = samples[:, None] if samples.ndim == 3 else samples
    axis = next((axis for axis in (1, 3) if samples.ndim == 4 and samples.shape[axis] in (1, 3)), None)
    return None if axis is None else torch.from_numpy(np.moveaxis(samples, axis, 1).astype(kind))


@dataclass(eq=False, repr=False)
class Samples(NamedData):
    """Numbers in memory, which go into a network as they are; or windows of token ids, tensor (N, length) of int64.

    Attributes:
        samples: The numbers, tensor (N, ...).

    >>> Samples("three", 3, torch.tensor([[1, 2], [3, 4], [5, 6]]), items="windows")[1]
    tensor([3, 4])
    """

    samples: Tensor

    def __getitem__(self, index: int) -> Tensor:
        return self.samples[index]

    def prepared_for(self, preprocessing: Any) -> Self:
        """The same samples; the same windows, all of whose ids this network knows."""
        super().prepared_for(preprocessing)
        if self.items == "samples":
            return self
        check_token_ids(self.samples, preprocessing)
        return replace(self, preprocessing=replace(preprocessing, length=self.samples.shape[1]))


@dataclass(eq=False, repr=False)
class TextFile(NamedData):
    """A text, which becomes windows of token ids once the network and its tokenizer are known.

    Attributes:
        text: The text.
        tokenizer: A tokenizer for it; None for the network's own.
    """

    text: str
    tokenizer: Any = None
    items: str = field(default="windows", kw_only=True)

    def __getitem__(self, index: int) -> Tensor:
        return self.prepared_for(TextPreprocessing())[index]

    def prepared_for(self, preprocessing: Any) -> Samples:
        """The windows of the text; a remainder that fills none is dropped, and noted."""
        super().prepared_for(preprocessing)
        expected = replace(preprocessing, tokenizer=self.tokenizer or preprocessing.tokenizer)
        ids, length = expected(self.text), expected.window
        rest = len(ids) % length
        windows = ids[: len(ids) - rest].reshape(-1, length)
        if not len(windows):
            raise AffscoreError(f"the text {self.name!r} has {len(ids)} tokens, fewer than one window of {length}")
        dropped = f"dropped {rest} token{'s' * (rest > 1)} at the end of {self.name}, too few for a window of {length}"
        notes = [*self.notes, *[dropped] * bool(rest)]
        return Samples(self.name, len(windows), windows, items="windows", notes=notes).prepared_for(expected)

    def content(self, images: int, seed: int) -> Iterator[bytes | memoryview] | None:
        """Its file, and that of its tokenizer; else the text, which has no items before a network is known."""
        return super().content(images, seed) if self.hashed else iter([self.text.encode()])


def _load_text(argument: str, seed: int) -> TextFile:
    """A text from ``FILE`` or ``FILE@TOKENIZER``, in UTF-8.

    Raises:
        AffscoreError: No such file, no text in UTF-8.
    """
    path, tokenizer = split_path(argument)
    file = readable_file(path, "text:FILE takes the path of a file")
    what = f"the file {file.name!r} is not a text in UTF-8"
    text = guarded(lambda: file.read_text(encoding="utf-8-sig"), what, "save it as UTF-8")
    files = [file, tokenizer_file(tokenizer)] if tokenizer else [file]
    return TextFile(f"text:{file.name}", None, text, tokenizer or None, hashed=files)


def _load_tokens(path: str, seed: int) -> Samples:
    """Windows of token ids from a .npy, .safetensors, .pt or .pth file that holds integers (N, length).

    A file that holds several arrays must call the ids ``input_ids``.

    Raises:
        AffscoreError: No such file, another kind of file, or no integers of this shape.
    """
    file = readable_file(path, "tokens:FILE takes the path of a file")
    found = read_tensors(file, "token ids", "save an array of integers (N, length) as .npy, .safetensors or .pt")
    if isinstance(found, Mapping):
        found = found.get("input_ids", *(found.values() if len(found) == 1 else ()))
    if not isinstance(found, Tensor):
        raise AffscoreError(f"{file.name!r} must hold token ids, and holds no input_ids")
    check_token_ids(found, TextPreprocessing(), f"{file.name!r} must hold")
    return Samples(f"tokens:{file.name}", len(found), found.long(), items="windows")


SOURCES = [
    DataSource("npz", "FILE", _load_arrays),
    DataSource("text", "FILE", _load_text),
    DataSource("tokens", "FILE", _load_tokens),
]
