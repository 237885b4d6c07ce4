"""The words of a command, as results may carry them."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer


def without_folders(word: str) -> str:
    """A word of the command with files by their base names: a folder of this machine means nothing elsewhere.

    >>> without_folders("/home/me/net.py:make@/home/me/w.pth")
    'net.py:make@w.pth'
    """
    return re.sub(r"[^@:=,]*/", "", word.rstrip("/"))


def command_line() -> str:
    """The command that runs, with files by their base names."""
    return shlex.join(without_folders(word) for word in ["affscore", *sys.argv[1:]])


def say(lines: Iterable[str], err: bool = False) -> None:
    """Print lines, to the error stream where they are no result."""
    for line in lines:
        typer.echo(line, err=err)


def say_notes(result: Any) -> None:
    """Print the notes of a result, but for its warnings, which are printed when they are given."""
    from affscore.network.notes import Note

    say((f"note: {note}" for note in result.notes if Note.of(note).kind == "note"), err=True)


def deliver(result: Any, out: Path | None) -> None:
    """Print what a result says of itself, and write it."""
    typer.echo(repr(result).splitlines()[0])
    say_notes(result)
    result.metadata["command"] = command_line()
    write(result.save, out)


def write(save: Callable[[Path], object], *files: Path | None) -> None:
    """Write the files that were asked for, and say so."""
    for file in filter(None, files):
        save(file)
        typer.echo(f"written to {file}", err=True)
