"""Files of weights: read without running code, and refused before they can fill the memory."""

from __future__ import annotations

import argparse
import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch

from affscore.errors import AffscoreError, first_line
from affscore.zoo.paths import readable_file
from affscore.zoo.pickles import RefusedFileError, check_pickle

INFLATION = 10
"""By how much a file may be larger in memory, where numbers are shared or packed; what torch.save writes is neither."""

PICKLES = 5
"""How many pickles follow one another at the beginning of a file of before torch 1.6."""

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
    readable_file(file, "weights are read from a .safetensors, .pth or .pt file")
    try:
        if file.suffix == ".npy":
            return np.load(file, mmap_mode="r", allow_pickle=False)  # a false size in the file fills no memory
        if file.suffix == ".safetensors":
            return safetensors.torch.load_file(file)  # whose reader checks that the header speaks of this file
        _check_pickles(file)
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # what a foreign file makes the readers raise has no end
        readable = isinstance(error, (RefusedFileError, safetensors.SafetensorError))
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
        RefusedFileError: They unpack to more.
    """
    unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > max(INFLATION * size, least):
        raise RefusedFileError(f"an archive of {size} bytes that unpacks to {unpacked}")


def _check_pickles(file: Path) -> None:
    """Whether reading takes about as much memory as the file, whatever its pickles ask for and its parts unpack to."""
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
        raise RefusedFileError("an archive whose list of parts is not where its end says")
