"""For the scripts bench_*.py: alternating runs and pairs in one process, peak memory in a new process."""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy
import sklearn
import torch

RESULTS = Path(__file__).parent / "results"

TURN = 0.5
"""A turn repeats its contender for about this many seconds."""

LONG = 20.0
"""Runs of more seconds than this are too dear to be repeated often, and too long for a cold start to matter."""


def alternate(contenders: dict[str, Callable[[], Any]], rounds: int) -> dict[str, dict[str, Any]]:
    """Time several functions in turns, so that whatever else the machine does meets all of them alike.

    In a turn a contender runs several times, if it is quick, and the first of these is not counted: the threads of
    another contender's libraries spin for some milliseconds after their work, and would disturb it. Of the turn that
    comes before all others only runs of more than ``LONG`` seconds are counted; these are repeated once, if there is
    more than one round.

    Returns:
        For each contender the best, the median and the largest of its times in seconds, and how many they are.
    """
    first = {name: _seconds(run) for name, run in contenders.items()}
    warm = {name: _seconds(run) if first[name] < TURN else first[name] for name, run in contenders.items()}
    times: dict[str, list[float]] = {name: [seconds] if seconds > LONG else [] for name, seconds in first.items()}
    for _ in range(rounds):
        for name, run in contenders.items():
            if first[name] > LONG and len(times[name]) >= min(rounds, 2):
                continue
            repeats = int(TURN / warm[name])
            # where it is repeated, the first of a turn is not counted
            times[name] += [_seconds(run) for _ in range(repeats + 1)][min(repeats, 1) :]
    return {name: _summary(seconds) for name, seconds in times.items()}


def in_pairs(
    base: str,
    contenders: dict[str, Callable[[], Any]],
    rounds: int,
    long: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Time each contender beside the base: a ratio for each pair, so that what the machine does meanwhile cancels.

    Every second pair runs in the other order. Nothing is left out, so what is loaded on first use must be there. A
    base of more than ``long`` seconds (:data:`LONG`) is met twice by each contender, at most. ``clock`` tells the time.

    Returns:
        For each contender its times as of :func:`alternate`; for each but the base the median of its ratios,
        ``ratio_NAME``, and their smallest and largest, ``spread_NAME``.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    ratios: dict[str, list[float]] = {name: [] for name in contenders if name != base}
    for turn in range(rounds):
        if turn >= 2 and times[base][0] > (LONG if long is None else long):
            break
        for name, found in ratios.items():
            pair = (base, name) if turn % 2 == 0 else (name, base)
            seconds = {one: _seconds(contenders[one], clock) for one in pair}
            found.append(seconds[name] / seconds[base])
            for one in pair:
                times[one].append(seconds[one])
    return {
        **{name: _summary(seconds) for name, seconds in times.items()},
        **{f"ratio_{name}": statistics.median(found) for name, found in ratios.items()},
        **{f"spread_{name}": {"smallest": min(found), "largest": max(found)} for name, found in ratios.items()},
    }


def _summary(seconds: list[float]) -> dict[str, Any]:
    return {"best": min(seconds), "median": statistics.median(seconds), "largest": max(seconds), "runs": len(seconds)}


def _seconds(run: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    _wait_for_gpu()
    start = clock()
    run()
    _wait_for_gpu()
    return clock() - start


def peak_memory(run: Callable[[], Any], warm_up: Callable[[], Any]) -> float:
    """By how much a function raises the peak memory of a new process above what it holds at rest, in MB.

    The process has the allocator's own settings: one that is set to keep what is freed holds more than it needs.

    Args:
        run: What to measure; it is sent to the process, so it must be a function of a module or a partial.
        warm_up: Runs first, so that libraries that are loaded on first use do not count.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report_peak, args=(run, warm_up, sender))
    settings = {name: os.environ.pop(name) for name in _allocator_settings()}
    try:
        process.start()
    finally:
        os.environ.update(settings)
    sender.close()
    peak = float(receiver.recv())
    process.join()
    return peak


def _allocator_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("MALLOC_")}


def _report_peak(run: Callable[[], Any], warm_up: Callable[[], Any], sender: Any) -> None:
    warm_up()
    gc.collect()
    before = _peak(reset=True)
    run()
    sender.send((_peak() - before) / 2**20)


def _peak(reset: bool = False) -> int:
    """The most bytes that this process has held, or holds now where the mark is reset first.

    Linux counts in getrusage what the process that started this one held, so its own count is read.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS, in bytes
    if reset:
        with contextlib.suppress(OSError):  # a kernel without it counts what the warm-up held, too
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    (line,) = [line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 2**10


def _wait_for_gpu() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def machine() -> dict[str, Any]:
    """What the figures depend on: processor, cores, memory, GPU, versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "allocator": ", ".join(f"{name}={value}" for name, value in sorted(_allocator_settings().items())) or "default",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def write(name: str, rows: list[dict[str, Any]]) -> Path:
    """Write the rows of a benchmark, with the description of the machine, to results/NAME.json.

    A row of the same case that is there already is replaced, and the others are kept, if they are of this machine.
    """
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}.json"
    if file.exists():
        earlier = json.loads(file.read_text(encoding="utf-8"))
        if _same_machine(earlier["machine"], machine()):
            cases = [_case(row) for row in rows]
            rows = [*(row for row in earlier["rows"] if _case(row) not in cases), *rows]
    temporary = file.with_suffix(".part")
    temporary.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")
    temporary.replace(file)
    return file


def read(path: Path) -> pd.DataFrame:
    """The rows that a benchmark wrote; what is nested has a name of two parts: ``affscore_best``."""
    return pd.json_normalize(json.loads(path.read_text(encoding="utf-8"))["rows"], sep="_")


def _same_machine(one: dict[str, Any], other: dict[str, Any]) -> bool:
    recorded_later = {"allocator": "default"}
    return {**recorded_later, **one, "measured": None} == {**recorded_later, **other, "measured": None}


def _case(row: dict[str, Any]) -> dict[str, Any]:
    """What was measured: everything in a row that is no figure."""
    return {
        key: row[key] for key in ("model", "weights", "dataset", "how", "device", "n", "d", "batch_size") if key in row
    }
