"""Measurements one at a time, and what a network runs in threads of its own."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from torch import Tensor

from affscore.network.activations import ACTIVATIONS

__all__ = ["new_threads_watched"]

_WRITTEN_IN_PYTHON = {
    inspect.unwrap(function).__code__: name for function, name in ACTIVATIONS.items() if inspect.isfunction(function)
}


@contextmanager
def new_threads_watched(report: Callable[[str], None]) -> Iterator[None]:
    """Report the names of the functions in :data:`affscore.network.activations.ACTIVATIONS` that new threads call.

    The modes that a recorder is made of see one thread only. Python's profiling hook is set in each thread that starts
    meanwhile, and takes itself away there once the context has ended.
    """
    watching = True

    def hook(frame: FrameType, event: str, arg: Any) -> None:
        if not watching:
            sys.setprofile(None)
        elif (
            name := _WRITTEN_IN_PYTHON.get(frame.f_code) if event == "call" else _written_in_c(event, arg)
        ) is not None:
            report(name)

    before = threading.getprofile()
    threading.setprofile(hook)
    try:
        yield
    finally:
        watching = False
        threading.setprofile(before)


def _written_in_c(event: str, function: Any) -> str | None:
    """The activation that is called, as a function or as the method of a tensor."""
    if event != "c_call":
        return None
    if isinstance(getattr(function, "__self__", None), Tensor):
        function = getattr(Tensor, function.__name__, None)
    return ACTIVATIONS.get(function)
