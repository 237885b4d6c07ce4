"""Files of weights: read without running code, and refused before they can fill the memory."""

from __future__ import annotations

import argparse
import io
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, first_line
from affscore.zoo.naming import WEIGHTS_ADVICE
from affscore.zoo.paths import readable_file

INFLATION = 10
"""By how much a file may be larger in memory, where numbers are shared or packed; what torch.save writes is neither."""

PICKLES = 5
"""How many pickles follow one another at the beginning of a file of before torch 1.6."""

ENTRIES = ("state_dict", "model_state_dict", "model", "state_dict_ema", "model_ema")
"""Under which names training scripts keep the weights in a checkpoint."""

NETWORKS = ("student", "teacher")
"""Under which names a checkpoint of DINO keeps two networks, whose names get these words in front."""

WRAPPERS = ("module.", "_orig_mod.")
"""What DataParallel and torch.compile write in front of every name."""


def without_wrappers(name: str) -> str:
    """The name of a weight or a layer, as it is where no part of the network is wrapped.

    >>> without_wrappers("module.blocks.0._orig_mod.weight")
    'blocks.0.weight'
    """
    return ".".join(part for part in name.split(".") if f"{part}." not in WRAPPERS)


ADVICE = "save them with torch.save(model.state_dict(), FILE) or as safetensors"


def read_weights(file: Path, what: str = "weights", advice: str = ADVICE) -> Any:
    """The contents of a file of weights, on the CPU: plain numbers, and not many more than the file holds.

    Args:
        file: A .safetensors or .npy file; or anything else that ``torch.load(weights_only=True)`` reads, if it makes
            dense tensors, numbers and texts only. (``argparse.Namespace``, a bag of names that training scripts like to
            leave in their checkpoints, is let through, too.)
        what: What the file should hold, for the message.
        advice: How to write such a file, for the message.

    Raises:
        AffscoreError: No file, no permission, not such a file, a broken one, or one whose parts would be
            far larger in memory than on disk.
    """
    readable_file(file, WEIGHTS_ADVICE)
    try:
        if file.suffix == ".npy":
            return np.load(file, mmap_mode="r", allow_pickle=False)  # a false size in the file fills no memory
        if file.suffix == ".safetensors":
            return safetensors.torch.load_file(file)  # whose reader checks that the header speaks of this file
        _check_pickles(file)
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # what a foreign file makes the readers raise has no end
        readable = isinstance(error, (AffscoreError, safetensors.SafetensorError))
        reason = first_line(error) if readable else type(error).__name__
        raise AffscoreError(
            f"the file {file.name!r} does not hold {what} that can be read safely ({reason}); {advice}"
        ) from error


def check_archive(archive: zipfile.ZipFile, size: int, least: int = 0) -> None:
    """Whether the parts of a zip archive unpack to about as much as it holds.

    Args:
        archive: The archive.
        size: Its size in bytes.
        least: How many bytes it may unpack to however small it is.

    Raises:
        AffscoreError: They unpack to more.
    """
    unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > max(INFLATION * size, least):
        raise AffscoreError(f"an archive of {size} bytes that unpacks to {unpacked}")


def _check_pickles(file: Path) -> None:
    """Whether reading takes about as much memory as the file, whatever its pickles ask for and its parts unpack to."""
    from affscore.zoo.pickles import check_pickle  # which the package's own weights do not need

    size = file.stat().st_size
    with file.open("rb") as stream:
        archived = stream.read(4) == b"PK\x03\x04"  # as torch.load decides; a zip archive is known by its end otherwise
        stream.seek(0)
        if not archived:
            for _ in range(PICKLES):
                check_pickle(stream, INFLATION * size)
            return
        with zipfile.ZipFile(stream) as archive:
            check_archive(archive, size)
            _check_directory(stream, size, archive.start_dir)
            for part in archive.infolist():
                if part.filename.lower().endswith(".pkl"):  # torch.load asks for data.pkl, in letters of any case
                    check_pickle(io.BytesIO(archive.read(part)), INFLATION * size)


def _check_directory(stream: io.BufferedReader, size: int, start: int) -> None:
    """Whether every reader finds the list of the parts at the same place of a zip archive.

    torch.load goes to where the end of the archive says that it is, Python's reader to where it must be if nothing
    stands between the list and the end. An archive with two lists could show us harmless parts.
    """
    stream.seek(max(0, size - 98))
    end = stream.read()
    stated = struct.unpack("<L", end[-6:-2])[0]
    far = end[-42:-38] == b"PK\x06\x07"  # the records of large archives, which torch.save writes always
    if far:
        record = struct.unpack("<Q", end[-34:-26])[0]
        found = end[:4] == b"PK\x06\x06" and record == size - 98 and struct.unpack("<Q", end[48:56])[0] == start
    else:
        found = stated == start
    if end[-22:-18] != b"PK\x05\x06" or not found:
        raise AffscoreError("an archive whose list of parts is not where its end says")


def load_state_dict(model: nn.Module, state: Mapping[str, Tensor], name: str) -> None:
    """Put weights into a model, if they are those of its architecture.

    Args:
        model: The architecture.
        state: Names and tensors.
        name: The name of the file that they are from, for the message.

    Raises:
        AffscoreError: Names, shapes or types do not fit; the model is as it was.
    """
    if wrong := misfit(model, state):
        raise AffscoreError(f"the weights in {name!r} are not those of this architecture ({wrong})")
    check_kinds(model, state, name)
    whole = model.state_dict()  # with its metadata: MNASNet wants to see its version there
    whole.update(state)
    model.load_state_dict(whole)


def tensors_of(model: nn.Module) -> dict[str, Tensor]:
    """The tensors that a file must have for a model; older ones do not count the batches that a batch norm has seen.

    >>> list(tensors_of(nn.BatchNorm1d(3)))
    ['weight', 'bias', 'running_mean', 'running_var']
    """
    state = {key: value for key, value in model.state_dict().items() if not key.endswith("num_batches_tracked")}
    return {key: value for key, value in state.items() if isinstance(value, Tensor)}


def misfit(model: nn.Module, state: Mapping[str, Tensor]) -> str:
    """What makes weights those of another architecture; empty where names and shapes are those of this one.

    >>> misfit(nn.Linear(3, 2), {"weight": torch.zeros(2, 3)})
    "1 missing, 0 unknown, 0 of another shape: 'bias' is missing"
    >>> misfit(nn.Linear(3, 2), nn.Linear(3, 2).state_dict())
    ''
    """
    ours = {key: value for key, value in model.state_dict().items() if isinstance(value, Tensor)}
    missing = [f"{key!r} is missing" for key in sorted(tensors_of(model).keys() - state.keys())]
    foreign = [f"{key!r} is not in the network" for key in sorted(state.keys() - ours.keys())]
    shapes = [
        f"{key!r} has shape {tuple(state[key].shape)}, not {tuple(ours[key].shape)}"
        for key in sorted(ours.keys() & state.keys())
        if ours[key].shape != state[key].shape
    ]
    wrong, counts = missing + foreign + shapes, f"{len(missing)} missing, {len(foreign)} unknown, {len(shapes)} of"
    return f"{counts} another shape: {wrong[0]}" if wrong else ""


def check_kinds(model: nn.Module, state: Mapping[str, Tensor], name: str) -> None:
    """Whether weights are numbers of the same sort as the network's: a copy between two sorts is another number.

    Args:
        model: The architecture.
        state: Names and tensors.
        name: The name of the file that they are from, for the message.

    Raises:
        AffscoreError: Integers for real numbers, as in a quantised file, and the like.
    """
    for key, ours in sorted(model.state_dict().items()):
        if isinstance(ours, Tensor) and key in state and _kind(state[key]) != _kind(ours):
            raise AffscoreError(
                f"the weights in {name!r} do not fit: {key!r} holds {_kind(state[key])} ({state[key].dtype}), the "
                f"network has {_kind(ours)} there; undo the quantisation or conversion and save them again"
            )


def _kind(tensor: Tensor) -> str:
    """What sort of numbers a tensor holds."""
    if tensor.dtype.is_complex:
        return "complex numbers"
    if tensor.dtype.is_floating_point:
        return "real numbers"
    return "booleans" if tensor.dtype == torch.bool else "integers"


def read_state_dict(file: Path) -> dict[str, Tensor]:
    """The tensors in a file of weights, by name.

    Args:
        file: A state dictionary: .safetensors, or .pth / .pt read with ``weights_only=True``. It may be
            the value of an entry ``state_dict``, ``model_state_dict``, ``model``, ``state_dict_ema`` or
            ``model_ema``, if there is one of them only, and its names may begin with ``module.`` or
            ``_orig_mod.``. Names of entries ``student`` and ``teacher`` begin with that word.

    Raises:
        AffscoreError: No such file, or not weights.
    """
    content = read_weights(file)
    if isinstance(content, dict):
        inner = [name for name in ENTRIES if isinstance(content.get(name), dict)]
        if len(inner) > 1:
            raise AffscoreError(
                f"the file {file.name!r} holds several state dictionaries ({', '.join(inner)}); save the one that you "
                "mean with torch.save(torch.load(FILE)[NAME], OTHER)"
            )
        content = content[inner[0]] if inner else _networks(content) or content
    if not isinstance(content, dict) or not content or not all(isinstance(v, Tensor) for v in content.values()):
        raise AffscoreError(
            f"the file {file.name!r} holds no state dictionary (names and tensors), but {_described(content)}; "
            "save the weights with torch.save(model.state_dict(), FILE)"
        )
    return _unwrapped({str(name): value for name, value in content.items()})


def _networks(content: dict[Any, Any]) -> dict[str, Any]:
    """The networks that a checkpoint keeps side by side, in one dictionary."""
    inner = {word: content[word] for word in NETWORKS if isinstance(content.get(word), dict)}
    return {f"{word}.{name}": value for word, state in inner.items() for name, value in state.items()}


def _described(content: Any) -> str:
    """What a file holds instead of weights."""
    if isinstance(content, dict) and content:
        name, value = next(item for item in content.items() if not isinstance(item[1], Tensor))
        return f"a dict with a {type(value).__name__} under {str(name)[:50]!r}"
    return "an empty dict" if isinstance(content, dict) else f"a {type(content).__name__}"


def _unwrapped(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Without what wrappers add: a word in front of every name, and the count of an average of weights."""
    averaged = {name: value for name, value in state.items() if name != "n_averaged"}
    for wrapper in WRAPPERS:
        if averaged and all(name.startswith(wrapper) for name in averaged):
            return _unwrapped({name.removeprefix(wrapper): value for name, value in averaged.items()})
    return state
