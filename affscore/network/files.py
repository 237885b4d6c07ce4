"""Files that are written: each is there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

PART = ".part"
"""The ending of a file that is being written."""


@contextlib.contextmanager
def atomic_write(path: Path, folder: Path | None = None) -> Iterator[Path]:
    """A name to write to; what was written there gets its own name when the context ends without an error.

    The contents reach the disk before the new name does. On an error nothing is left behind, and what
    was there before is as it was.

    Args:
        path: The name in the end.
        folder: Where to write meanwhile, on the same file system; by default, hidden, beside it.

    Raises:
        OSError: It cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with atomic_write(Path(place) / "x.txt") as temporary:
    ...         _ = temporary.write_text("all of it")
    ...     [file.name for file in Path(place).iterdir()]
    ['x.txt']
    """
    home = path.absolute().parent
    # not by tempfile, whose files nobody else may read, whatever the umask
    temporary = (folder or home) / f".{path.name[:40]}.{secrets.token_hex(8)}{PART}"
    try:
        yield temporary
        _sync(temporary)
        temporary.replace(path)
        with contextlib.suppress(OSError):  # some file systems do not sync folders; the file is whole either way
            _sync(home)
    finally:
        with contextlib.suppress(OSError):  # a folder that takes no file may not let one be removed either
            temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
