"""Files of weights: read without running code, and refused before they can fill the memory."""

from __future__ import annotations

import argparse
import json
import mmap
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from affscore.errors import AffscoreError
from affscore.zoo.paths import no_file

__all__ = ["read_weights"]

INFLATION = 10
"""By how much a zip archive may be larger unpacked than packed; what torch.save writes is not packed at all."""

HEADER_BYTES = 100_000_000
"""The longest header that the safetensors format allows."""


def read_weights(file: Path) -> Any:
    """The contents of a file of weights, on the CPU.

    Args:
        file: A .safetensors file; or anything else that ``torch.load(weights_only=True)`` reads, which
            makes tensors, numbers and texts but calls no function. (``argparse.Namespace``, a bag of names
            that training scripts like to leave in their checkpoints, is let through, too.)

    Raises:
        AffscoreError: No file, no permission, not such a file, a broken one, or one whose parts would be
            far larger in memory than on disk.
    """
    try:
        if not file.is_file():
            raise no_file(file, "weights are read from a .safetensors, .pth or .pt file")
        with file.open("rb"):
            pass
    except (OSError, ValueError) as error:
        if isinstance(error, AffscoreError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise AffscoreError(f"the file {file.name!r} cannot be opened ({reason})") from error
    try:
        if file.suffix == ".safetensors":
            _check_safetensors(file)
            return safetensors.torch.load_file(file)
        _check_pickle(file)
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(file, map_location="cpu", weights_only=True)
    except AffscoreError:
        raise
    except Exception as error:  # what a foreign file makes the readers raise has no end
        wanted = re.search(r"GLOBAL ([\w.]+)", str(error))  # what a pickle wants to be called, and is not
        raise _unreadable(file, f"it asks for {wanted[1]}" if wanted else type(error).__name__) from error


def _unreadable(file: Path, reason: str) -> AffscoreError:
    return AffscoreError(
        f"the file {file.name!r} does not hold weights that can be read safely ({reason}); "
        "save them with torch.save(model.state_dict(), FILE) or as safetensors"
    )


def _check_safetensors(file: Path) -> None:
    """Whether the header speaks of this file: each name once, and each tensor within it."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > min(size - 8, HEADER_BYTES):
            raise _unreadable(file, f"its header should have {length} bytes, the file has {size}")
        header = json.loads(stream.read(length), object_pairs_hook=lambda pairs: _each_once(pairs, file))
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    end = max((int(entry["data_offsets"][1]) for entry in entries.values()), default=0)
    if end != size - 8 - length:
        raise _unreadable(file, f"its header speaks of {end} bytes of weights, it holds {size - 8 - length}")


def _each_once(pairs: Iterable[tuple[str, Any]], file: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _unreadable(file, f"its header has two entries {name!r}")
        found[name] = value
    return found


def _check_pickle(file: Path) -> None:
    """Whether reading takes about as much memory as the file: no archive that swells, no bytes made from a number.

    A pickle that is not allowed to call functions may still call bytearray, and a line of it can ask for
    terabytes of zeros. No weights are stored so.
    """
    size = file.stat().st_size
    if zipfile.is_zipfile(file):  # the format of torch.save since 1.6
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
            if unpacked > INFLATION * size:
                raise _unreadable(
                    file, f"an archive of {size} bytes that unpacks to {unpacked}, which torch.save does not write"
                )
            asks = any(b"bytearray" in archive.read(name) for name in archive.namelist() if name.endswith(".pkl"))
    elif size:
        with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            asks = content.find(b"bytearray") >= 0
    else:
        asks = False
    if asks:
        raise _unreadable(file, "it asks for bytearray")
