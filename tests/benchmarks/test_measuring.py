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


@pytest.fixture
def contenders():
    """A short and a long contender, and the order in which they run."""
    order = []

    def run(name, seconds):
        order.append(name)
        time.sleep(seconds)

    return {"short": partial(run, "short", 0.001), "long": partial(run, "long", 0.03)}, order


def test_quick_ones_are_repeated_within_a_turn_and_long_ones_once(contenders, monkeypatch):
    functions, order = contenders
    monkeypatch.setattr(measuring, "TURN", 0.02)
    times = measuring.alternate(functions, rounds=2)
    assert times["long"]["runs"] == 2
    assert times["short"]["runs"] >= 4
    # a cold run, a warm one that says how often to repeat, and in each of two turns one that is not counted
    assert order.count("short") == 2 + times["short"]["runs"] + 2
    assert times["short"]["best"] < 0.03 <= times["long"]["best"] <= times["long"]["median"] <= times["long"]["largest"]


def test_ratios_of_pairs(contenders):
    functions, order = contenders
    found = measuring.in_pairs("short", {**functions, "twice": lambda: [functions["long"](), functions["long"]()]}, 3)
    pairs = ["short", "long", "short", "long", "long", "long", "short", "long", "long", "short"]
    assert order == pairs + pairs[:5]
    assert [found[name]["runs"] for name in ("short", "long", "twice")] == [6, 3, 3]
    for name in ("long", "twice"):
        spread = found[f"spread_{name}"]
        assert 1 < spread["smallest"] <= found[f"ratio_{name}"] <= spread["largest"]
    assert found["ratio_long"] < found["ratio_twice"]


@pytest.mark.slow
def test_peak_memory_is_that_of_the_function_whatever_this_process_holds():
    ballast = np.ones(600 * 2**17)
    assert measuring.peak_memory(partial(hold, 200), partial(hold, 1)) == pytest.approx(200, abs=10)
    # the warm-up does not count, though it held more
    assert measuring.peak_memory(partial(hold, 50), partial(hold, 200)) == pytest.approx(50, abs=10)
    assert ballast[0] == 1


def test_results_are_added_to_those_of_the_same_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "RESULTS", tmp_path / "results")
    written = json.loads(measuring.write("small", [{"n": 2, "score": 0.5}, {"n": 3, "score": 0.6}]).read_text())
    assert {"processor", "cores", "threads", "memory_gb", "gpu", "python", "torch"} <= set(written["machine"])
    written = json.loads(measuring.write("small", [{"n": 3, "score": 0.7}]).read_text())
    assert written["rows"] == [{"n": 2, "score": 0.5}, {"n": 3, "score": 0.7}]
    monkeypatch.setattr(measuring, "machine", lambda: {"cores": 99})
    assert json.loads(measuring.write("small", [{"n": 4}]).read_text())["rows"] == [{"n": 4}]
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["small.json"]
