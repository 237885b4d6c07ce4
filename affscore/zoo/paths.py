"""Paths as a user writes them."""

from __future__ import annotations

from pathlib import Path

from affscore.errors import AffscoreError

__all__ = ["no_file", "user_path"]


def user_path(text: str) -> Path:
    """A path, with ~ for the home folder; it need not exist.

    Raises:
        AffscoreError: There can be nothing there (a name that is too long, the home of nobody), or it may
            not be looked at.

    >>> user_path("images").name
    'images'
    """
    try:
        path = Path(text).expanduser()
        path.exists()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AffscoreError(f"the path {text!r} cannot be used ({reason})") from error
    return path


def no_file(path: str | Path, advice: str = "") -> AffscoreError:
    """The error for a path where a file should be and is not.

    >>> no_file("a.pth", "give a .pth file")
    AffscoreError("file not found: 'a.pth'; give a .pth file")
    """
    found = "there is a folder, not a file" if Path(path).is_dir() else "file not found:"
    return AffscoreError(f"{found} {str(path)!r}{advice and '; '}{advice}")
