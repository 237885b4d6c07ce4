"""The words of a command, as results may carry them."""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import typer

from affscore.errors import AffscoreWarning


def without_folders(word: str) -> str:
    """A word of the command with files by their base names: a folder of this machine means nothing elsewhere.

    >>> without_folders("/home/me/net.py:make@/home/me/w.pth")
    'net.py:make@w.pth'
    """
    return re.sub(r"[^@:=,]*/", "", word.rstrip("/"))


def command_line() -> str:
    """The command that runs, with files by their base names."""
    return shlex.join(without_folders(word) for word in ["affscore", *sys.argv[1:]])


@contextmanager
def warnings_on_stderr() -> Iterator[None]:
    """Say warnings of this package, for commands that show no notes."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", AffscoreWarning)
        yield
    say((f"warning: {one.message}" for one in found if issubclass(one.category, AffscoreWarning)), err=True)


def say(lines: Iterable[str], err: bool = False) -> None:
    """Print lines, to the error stream where they are no result."""
    for line in lines:
        typer.echo(line, err=err)
