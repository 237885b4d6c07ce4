"""Calls in processes that may take a gigabyte more than they have, and half a minute, so that no file can hurt.

Run by the tests: reads one JSON object a line from stdin, forks a process for each, and answers with what came of it.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
from pathlib import Path

import torch

ROOM = 2**30
SECONDS = 30


def call(function, arguments):
    """What a function returns, or raises, and what that was raised from."""
    module, _, name = function.partition(":")
    function = getattr(importlib.import_module(module), name)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, taken + ROOM))
    signal.alarm(SECONDS)
    try:
        return {"returned": type(function(*arguments)).__name__}
    except BaseException as error:  # noqa: BLE001
        causes, cause = [], error
        while cause := cause.__cause__ or cause.__context__:
            causes.append(type(cause).__name__)
        return {"raised": type(error).__name__, "message": str(error), "causes": causes}


def main():
    torch.set_num_threads(1)  # a process with threads of OpenMP cannot be forked
    importlib.import_module("affscore.network.signature").signature("mini:digitsnet", "digits", 32, 32)  # imports all
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                print(json.dumps(call(*json.loads(line))), flush=True)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(json.dumps({"killed": status}), flush=True)


if __name__ == "__main__":
    main()
