"""Paths as a user writes them."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from affscore.errors import AffscoreError


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
        name = path.resolve().name  # that of the folder, for "."
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AffscoreError(f"the path {text!r} cannot be used ({reason})") from error
    check_name(name)
    return path


def no_file(path: str | Path, advice: str = "") -> AffscoreError:
    """The error for a path where a file should be and is not.

    >>> no_file("a.pth", "give a .pth file")
    AffscoreError("file not found: 'a.pth'; give a .pth file")
    """
    path = Path(path)
    found = "file not found:"
    if path.exists():
        found = f"there is a {'folder' if path.is_dir() else 'pipe or a device'}, not a file"
    return AffscoreError(f"{found} {str(path)!r}{advice and '; '}{advice}")


def readable_file(path: str | Path, advice: str = "") -> Path:
    """A file that is there and may be read.

    Args:
        path: Its path, as a user writes it.
        advice: What to give instead, for the message.

    Raises:
        AffscoreError: There is no file (but perhaps a folder or a pipe, which opening would wait for), or it may not
            be read.
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
