"""The words of a command, as results may carry them."""

from __future__ import annotations

import re
import shlex
import sys

__all__ = ["command_line", "without_folders"]


def without_folders(word: str) -> str:
    """A word of the command with files by their base names: a folder of this machine means nothing elsewhere.

    >>> without_folders("/home/me/net.py:make@/home/me/w.pth")
    'net.py:make@w.pth'
    """
    return re.sub(r"[^@:=,]*/", "", word.rstrip("/"))


def command_line() -> str:
    """The command that runs, with files by their base names."""
    return shlex.join(without_folders(word) for word in ["affscore", *sys.argv[1:]])
