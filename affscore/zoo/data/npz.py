"""Samples in a file of NumPy, as ``npz:FILE``: images, or numbers as they are."""

from __future__ import annotations

import zipfile
from typing import Any

import numpy as np
import numpy.lib.format as format_
import torch
from numpy.typing import NDArray
from torch import Tensor

from affscore.errors import AffscoreError, first_line
from affscore.zoo.named_data import DataSource, ImageSet, NamedData, Samples
from affscore.zoo.paths import readable_file
from affscore.zoo.preprocessing import image_tensor
from affscore.zoo.weight_files import check_archive

SAMPLES, LABELS = ("x", "data", "images"), ("y", "labels")
"""What the arrays are called."""

SMALL = 2**28
"""Bytes to which any file may unpack: drawings and tables of zeros compress a hundredfold."""

MOST = 100_000
"""Labels are below this: they count outputs of a network."""

ADVICE = "write it with numpy.savez(FILE, x=samples, y=labels)"


def _load(path: str, seed: int) -> NamedData:
    """The samples in a .npz file, in an array ``x``, ``data`` or ``images``, or the only one, and perhaps their labels.

    Images have the shape (N, H, W), (N, H, W, C) or (N, C, H, W) with C = 1 or 3, and are of type uint8 or lie in
    [0, 1]; anything else are numbers. Labels, ``y`` or ``labels``, are integers: the number of a network's output.

    Raises:
        AffscoreError: No such file, another kind of file, a damaged one, one that would be far larger in memory than on
            disk, Python objects, several arrays without such names, or other shapes.
    """
    file = readable_file(path, "npz:FILE takes the path of a file")
    try:
        with zipfile.ZipFile(file) as archive:
            check_archive(archive, file.stat().st_size, SMALL)
            all_names = [part.removesuffix(".npy") for part in archive.namelist()]
            names = [name for name in SAMPLES if name in all_names] or [n for n in all_names if n not in LABELS]
            samples = _array(archive, names[0]) if names else np.zeros(0)
            labels = next((_array(archive, name) for name in LABELS if name in all_names), None)
    except Exception as error:  # what a foreign file makes the readers raise has no end
        reason = first_line(error) if isinstance(error, ValueError) else type(error).__name__
        raise AffscoreError(
            f"the file {file.name!r} holds no arrays that can be read safely ({reason}); {ADVICE}"
        ) from error
    if len(names) != 1:
        raise AffscoreError(
            f"the file {file.name!r} holds {len(all_names)} arrays ({', '.join(all_names[:5])}); "
            "call the one with the samples x, data or images"
        )
    if samples.dtype.kind not in "biuf" or samples.ndim < 2 or not samples.size:
        found = f"{samples.dtype} of shape {samples.shape}"
        raise AffscoreError(f"the file {file.name!r} must hold numbers (N, ...), those of N samples, and holds {found}")
    name, images = f"npz:{file.name}", _images(samples)
    about: dict[str, Any] = {"hashed": [file]}
    if labels is not None:
        labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
        fit = labels.dtype.kind in "iu" and labels.shape == samples.shape[:1]
        if not fit or not 0 <= labels.min() <= labels.max() < MOST:
            raise AffscoreError(
                f"the labels in {file.name!r} must be {len(samples)} integers from 0 to {MOST - 1}, "
                f"got {labels.dtype} of shape {labels.shape}"
            )
        about |= {"labels": list(map(str, labels)), "classes": list(map(str, range(int(labels.max()) + 1)))}
    if images is not None:
        return ImageSet(name, len(images), lambda index, p: (p or image_tensor)(images[index]), **about)
    single = samples.dtype.kind == "f" and samples.dtype.itemsize <= 4
    numbers = torch.from_numpy(samples.astype(np.float32 if single else np.float64))
    return Samples(name, len(numbers), numbers, **about)


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array of a .npz file: as many numbers as there are, where :func:`numpy.load` makes room for what it claims."""
    with archive.open(f"{name}.npy") as stream:
        read = format_.read_array_header_1_0 if format_.read_magic(stream) == (1, 0) else format_.read_array_header_2_0
        shape, fortran, dtype = read(stream)
        if dtype.hasobject:
            raise ValueError("it holds Python objects")
        return np.frombuffer(stream.read(), dtype).reshape(shape, order="F" if fortran else "C")


def _images(samples: NDArray[Any]) -> Tensor | None:
    """The images (N, C, H, W) that an array holds; None where it holds other numbers."""
    if samples.dtype != np.uint8 and not (samples.dtype.kind == "f" and samples.min() >= 0 and samples.max() <= 1):
        return None
    if samples.ndim == 3:
        samples = samples[:, None]
    elif samples.ndim == 4 and samples.shape[1] not in (1, 3):
        samples = np.moveaxis(samples, 3, 1)
    if samples.ndim != 4 or samples.shape[1] not in (1, 3):
        return None
    return torch.from_numpy(samples.astype(np.uint8 if samples.dtype == np.uint8 else np.float32))


SOURCES = [DataSource("npz", "FILE", _load)]
