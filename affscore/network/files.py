"""Files that are written: each is there as a whole or not at all."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A name to write to, hidden beside the file; what is there gets the file's name if the context ends without error.

    On an error nothing is left behind, and what was there before is as it was.

    Args:
        path: The name in the end.

    Raises:
        OSError: It cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with atomic_write(Path(place) / "x.txt") as temporary:
    ...         _ = temporary.write_text("all of it")
    ...     [file.name for file in Path(place).iterdir()]
    ['x.txt']
    """
    # not by tempfile, whose files nobody else may read, whatever the umask
    temporary = path.absolute().parent / f".{path.name[:40]}.{secrets.token_hex(8)}.part"
    try:
        yield temporary
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):  # a folder that takes no file may not let one be removed either
            temporary.unlink(missing_ok=True)
