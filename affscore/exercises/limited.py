"""An answer that a student handed in, checked in a process of its own with limits. This is a limit, and no sandbox.

A function in a report is somebody else's code. Its process has limits of time and memory, and may not open files
outside the installed packages, start programs, connect or send signals. This protects the teacher from mistakes and
from simple mischief. Code that sets out to attack Python itself can get around it, or tell the check that it is right:
where that is to be expected, run it in a container, and read the sources in the reports.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sys
import sysconfig
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import affscore
from affscore.errors import AffscoreError
from affscore.exercises.answers import raised
from affscore.exercises.registry import check, known
from affscore.exercises.reports import decode

RIGHT, WRONG = "right", "not yet"
SLOW, LARGE, REFUSED, ENDED, LOST = "too slow", "too large", "refused", "ended", "not kept"
"""What comes of an answer: checked, stopped by a limit or by what it tried, or not in the report."""

_MOST = 100_000
"""Bytes of a message that a process may send."""

_REFUSED = (
    "subprocess.", "socket.", "ctypes.", "shutil.", "urllib.", "http.", "ftplib.", "smtplib.", "sqlite3.", "pty.",
    "fcntl.", "signal.", "resource.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "os.kill",
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate",
    "os.utime",
)  # fmt: skip
"""Events of Python (of its audit hooks) that no answer needs."""


@dataclass(frozen=True)
class Outcome:
    """What came of an answer.

    Attributes:
        result: "right", "not yet", or the limit that it met.
        message: What the check says, or why it was stopped.
    """

    result: str
    message: str


def checked(number: str, kept: Any, seconds: float = 60, megabytes: int = 2048) -> Outcome:
    """Check an answer as it stands in a report, in a process of its own.

    Args:
        number: The exercise.
        kept: The answer, as ``affscore.exercises.reports.encode`` wrote it.
        seconds: How long it may take.
        megabytes: Memory that it may take, beyond what the library itself needs (Linux; macOS sets no such limit).
    """
    context = multiprocessing.get_context("forkserver")
    receiving, sending = context.Pipe(duplex=False)
    given = json.dumps([str(number), kept])
    process = context.Process(target=_in_a_process, args=(sending, given, seconds, megabytes), daemon=True)
    process.start()
    sending.close()
    said = None
    with suppress(EOFError, OSError, ValueError, TypeError):  # it ended without a word, or with too many
        if receiving.poll(seconds):
            said = Outcome(**json.loads(receiving.recv_bytes(_MOST)))
    process.join(0.2 if said is None else 1)
    late = process.is_alive()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid or 0, signal.SIGKILL)  # its group: it is the first of it
    process.kill()
    process.join()
    receiving.close()
    if said is not None:
        return said
    if late or process.exitcode == -signal.SIGXCPU:
        return Outcome(SLOW, f"It was stopped after {seconds:g} seconds.")
    return Outcome(ENDED, f"Its process ended without an answer (status {process.exitcode}).")


def get_ready() -> None:
    """Start the process from which the others are forked, so that none of them waits for imports."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process with threads of OpenMP cannot be forked
    context = multiprocessing.get_context("forkserver")
    chapters = {f"affscore.exercises.notebook_{number.partition('.')[0]}" for number in known()}
    context.set_forkserver_preload([__name__, *sorted(chapters)])
    process = context.Process(target=abs, args=(1,))
    process.start()
    process.join()


def _in_a_process(sending: Connection, given: str, seconds: float, megabytes: int) -> None:
    """Check an answer under limits, and send what came of it."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir(tempfile.gettempdir())
    _limit(seconds, megabytes)
    number, kept = json.loads(given)
    refused: list[str] = []
    _guard(refused)
    try:
        verdict = check(number, decode(kept))
        found = Outcome(RIGHT if verdict else WRONG, verdict.message)
    except AffscoreError as reason:
        found = Outcome(WRONG, str(reason))
    except BaseException as reason:  # noqa: BLE001  # the code of others
        found = Outcome(WRONG, f"Its code raised {raised(reason)}")
    if refused:
        found = Outcome(REFUSED, f"It tried what no answer may: {refused[0]}.")
    elif found.result == WRONG and any(word in found.message for word in ("MemoryError", "can't allocate memory")):
        found = Outcome(LARGE, f"It takes more than {megabytes} MB.")
    sending.send_bytes(json.dumps({"result": found.result, "message": found.message[:2000]}).encode())
    sending.close()
    os._exit(0)


def _limit(seconds: float, megabytes: int) -> None:
    """Limits of the system: of processor time, memory, and the size of files."""
    limits = {"RLIMIT_CPU": int(seconds) + 1, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0}
    if sys.platform == "linux":
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        limits["RLIMIT_AS"] = taken + megabytes * 2**20
    for name, limit in limits.items():
        resource.setrlimit(getattr(resource, name), (limit, limit))


def _guard(refused: list[str]) -> None:
    """Say no to files outside the installed packages, and to whatever reaches out of this process.

    Args:
        refused: Where what was refused is noted; code may catch the error.
    """
    folders = [Path(affscore.__file__).parent, *map(Path, sysconfig.get_paths().values())]
    roots = tuple({f"{folder.resolve()}{os.sep}" for folder in folders} | {f"{folder}{os.sep}" for folder in folders})
    sys.path[:] = [place for place in sys.path if f"{place}{os.sep}".startswith(roots)]
    sys.dont_write_bytecode = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir"):
            place, mode = arguments[0], (arguments[1] if event == "open" else "r")
            if isinstance(place, int):
                return
            name = str(Path(os.fsdecode(place or b".")).resolve())
            if f"{name}{os.sep}".startswith(roots) and not set(str(mode or "r")) & set("wax+"):
                return
            what = f"the file {name}" if event == "open" else f"the folder {name}"
        elif event.startswith(_REFUSED):
            what = event
        else:
            return
        refused.append(what)
        raise PermissionError(f"no answer may use {what}")

    sys.addaudithook(hook)
