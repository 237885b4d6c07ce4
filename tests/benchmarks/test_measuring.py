"""The benchmarks measure what they say: turns, peak memory, and a file with the machine in it."""

import json
import time
from functools import partial

import measuring
import numpy as np
import pytest


def hold(megabytes):
    """Fills this much memory, and lets go of it."""
    np.ones(megabytes * 2**17)


def test_times_of_turns():
    order = []

    def run(name, seconds):
        order.append(name)
        time.sleep(seconds)

    times = measuring.alternate({"short": partial(run, "short", 0.001), "long": partial(run, "long", 0.02)}, rounds=3)
    assert order == ["short", "long"] * 4
    assert 0.02 <= times["long"]["best"] <= times["long"]["median"] <= times["long"]["largest"]
    assert times["short"]["best"] < times["long"]["best"]


def test_peak_memory_is_that_of_the_function_whatever_this_process_holds():
    ballast = np.ones(600 * 2**17)
    assert measuring.peak_memory(partial(hold, 200), partial(hold, 1)) == pytest.approx(200, abs=10)
    # the warm-up does not count, though it held more
    assert measuring.peak_memory(partial(hold, 50), partial(hold, 200)) == pytest.approx(50, abs=10)
    assert ballast[0] == 1


def test_a_file_of_results(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "RESULTS", tmp_path / "results")
    written = json.loads(measuring.write("small", [{"n": 2}]).read_text())
    assert written["rows"] == [{"n": 2}]
    assert {"processor", "cores", "threads", "memory_gb", "gpu", "python", "torch"} <= set(written["machine"])
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["small.json"]
