"""Files that are written: whether a place can take one, and each there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from affscore.errors import AffscoreError, os_errors
from affscore.zoo.paths import as_path, check_name

PART = ".part"
"""The ending of a file that is being written."""


def check_destination(path: str | Path, endings: Sequence[str] = (".parquet",)) -> Path:
    """The path, if a file can be written there; found out before anything is computed.

    Args:
        path: Where to write.
        endings: What the name may end in.

    Raises:
        AffscoreError: Another ending, a name that is not UTF-8, a folder that is missing or may not be written to,
            or a folder, a pipe or a device in the place of the file.
    """
    path = as_path(path)
    check_name(str(path))
    if path.suffix not in endings:
        raise AffscoreError(f"the file name must end in {' or '.join(endings)}, got {path.name!r}")
    name, parent = repr(path.name), path.absolute().parent
    with os_errors(lambda reason: f"{name} cannot be written ({reason})"):
        if path.is_dir():
            raise AffscoreError(f"{name} is a folder; give the name of a file in it")
        if path.exists() and not path.is_file():
            raise AffscoreError(f"{name} is a pipe or a device, not a file; choose another name")
    if not parent.is_dir():
        raise AffscoreError(f"there is no folder {str(path.parent)!r} to write {name} to; make it first")
    if not os.access(parent, os.W_OK):
        raise AffscoreError(f"the folder {str(path.parent)!r} may not be written to; choose another place")
    return path


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
