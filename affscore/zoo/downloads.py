"""Patience with the network: a question first, so that no connection costs seconds, and a limit to silence."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS_TO_ANSWER = 5
SECONDS_OF_SILENCE = 30


def answers(url: str) -> None:
    """Ask a server whether it has a file.

    Raises:
        OSError: It has not, or does not answer in :data:`SECONDS_TO_ANSWER`.
    """
    urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=SECONDS_TO_ANSWER).close()


@contextmanager
def patience() -> Iterator[None]:
    """Within this a connection may be silent for :data:`SECONDS_OF_SILENCE`; PyTorch sets no limit."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(SECONDS_OF_SILENCE)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
