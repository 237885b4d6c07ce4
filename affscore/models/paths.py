"""Paths as a user writes them: what lies there, and whether a file can be written there."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from affscore.errors import AffscoreError, os_errors


def check_name(name: str) -> None:
    """Whether a name can be written into results and messages.

    Raises:
        AffscoreError: It holds a zero byte, or bytes that are no UTF-8, which Python keeps as surrogates.

    >>> check_name("straße")
    """
    if re.search("[\0\ud800-\udfff]", name):
        raise AffscoreError(f"the name {name!r} is not UTF-8, as results need it; rename it")


def as_path(path: object) -> Path:
    """A path that a caller gave.

    Raises:
        AffscoreError: It is neither a text nor a ``pathlib.Path``.

    >>> as_path("results").name
    'results'
    """
    if not isinstance(path, (str, os.PathLike)):
        raise AffscoreError(f"a path is a text or a pathlib.Path, got {type(path).__name__}")
    return Path(path)


def user_path(text: str) -> Path:
    """A path, with ~ for the home folder; it need not exist.

    Raises:
        AffscoreError: There can be nothing there (a name that is too long, the home of nobody), or it may
            not be looked at; or its name is not UTF-8.

    >>> user_path("images").name
    'images'
    """
    check_name(text)
    try:
        path = Path(text).expanduser()
        path.exists()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AffscoreError(f"the path {text!r} cannot be used ({reason})") from error
    return path


def check_destination(path: str | Path, endings: Sequence[str] = (".parquet",)) -> Path:
    """The path, if a file can be written there; found out before anything is computed.

    Args:
        path: Where to write.
        endings: What the name may end in.

    Raises:
        AffscoreError: Another ending, a name that is not UTF-8, a folder that is missing or may not be written to,
            or a folder in the place of the file.
    """
    path = as_path(path)
    check_name(str(path))
    if path.suffix not in endings:
        raise AffscoreError(f"the file name must end in {' or '.join(endings)}, got {path.name!r}")
    name, parent = repr(path.name), path.absolute().parent
    with os_errors(lambda reason: f"{name} cannot be written ({reason})"):
        if path.is_dir():
            raise AffscoreError(f"{name} is a folder; give the name of a file in it")
    if not parent.is_dir():
        raise AffscoreError(f"there is no folder {str(path.parent)!r} to write {name} to; make it first")
    if not os.access(parent, os.W_OK):
        raise AffscoreError(f"the folder {str(path.parent)!r} may not be written to; choose another place")
    return path


def no_file(path: str | Path, advice: str = "") -> AffscoreError:
    """The error for a path where a file should be and is not.

    >>> no_file("a.pth", "give a .pth file")
    AffscoreError("file not found: 'a.pth'; give a .pth file")
    """
    found = "there is a folder, not a file" if Path(path).is_dir() else "file not found:"
    return AffscoreError(f"{found} {str(path)!r}{advice and '; '}{advice}")


def readable_file(path: str | Path, advice: str = "") -> Path:
    """A file that is there and may be read.

    Args:
        path: Its path, as a user writes it.
        advice: What to give instead, for the message.

    Raises:
        AffscoreError: There is no file, but perhaps a folder, or it may not be read.
    """
    file = user_path(str(path))
    try:
        if not file.is_file():
            raise no_file(path, advice)
        file.open("rb").close()
    except OSError as error:
        raise AffscoreError(f"the file {file.name!r} cannot be read ({error.strerror or error})") from error
    return file


def file_hash(path: str | Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits.

    Raises:
        AffscoreError: As :func:`readable_file`.
    """
    with readable_file(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
