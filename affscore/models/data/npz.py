"""Samples in a file of NumPy, as ``npz:FILE``: images, or numbers as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.models.named_data import DataSource, ImageSet, NamedData, Samples
from affscore.models.paths import readable_file
from affscore.models.preprocessing import image_tensor

SAMPLES, LABELS = ("x", "data", "images"), ("y", "labels")
"""What the arrays are called."""

MOST = 100_000
"""Labels are below this: they count outputs of a network."""

ADVICE = "write it with numpy.savez(FILE, x=samples, y=labels)"


def _load(path: str, seed: int) -> NamedData:
    """The samples in a .npz file, in an array ``x``, ``data`` or ``images``, or the only one, and perhaps their labels.

    Images have the shape (N, H, W), (N, H, W, C) or (N, C, H, W) with C = 1 or 3, and are of type uint8 or lie in
    [0, 1]; anything else are numbers. Labels, ``y`` or ``labels``, are integers: the number of a network's output.

    Raises:
        AffscoreError: No such file, another kind of file, a damaged one, Python objects, several arrays without such
            names, or other shapes.
    """
    file = readable_file(path, "npz:FILE takes the path of a file")
    try:
        with np.load(file, allow_pickle=False) as archive:
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
    except Exception as error:  # what a foreign file makes the reader raise has no end
        raise AffscoreError(
            f"the file {file.name!r} holds no arrays that can be read safely ({type(error).__name__}); {ADVICE}"
        ) from error
    names = [name for name in SAMPLES if name in arrays] or [name for name in arrays if name not in LABELS]
    if len(names) != 1:
        raise AffscoreError(
            f"the file {file.name!r} holds {len(arrays)} arrays ({', '.join([*arrays][:5])}); "
            "call the one with the samples x, data or images"
        )
    samples, labels = arrays[names[0]], next((arrays[name] for name in LABELS if name in arrays), None)
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
