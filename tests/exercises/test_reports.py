"""A report holds the answers of a session, and what it cannot hold is named."""

import json
import linecache
import threading

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from affscore import AffscoreError, affinity_score
from affscore.exercises import check, registry, report
from affscore.exercises.reports import decode, encode, read_report
from affscore.exercises.sources import NotKeptError, source_of


@pytest.fixture(autouse=True)
def session(monkeypatch):
    """A session of its own."""
    monkeypatch.setattr(registry, "CHECKED", {})
    monkeypatch.setattr("affscore.exercises.reports.CHECKED", registry.CHECKED)


def there_and_back(answer):
    return decode(json.loads(json.dumps(encode(answer))))


def cell(source, **names):
    """The names that a cell defines, with its source where IPython leaves it."""
    name = f"<cell {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"__name__": "__main__", **names}
    exec(compile(source, name, "exec"), names)
    return names


@pytest.mark.parametrize(
    "answer", [3, 0.1, True, None, "word", [1, [2.5]], (1, (2.0, [3])), {"a": (1,)}, float("inf"), [(0.5, 2), "x"]]
)
def test_plain_answers_come_back_as_they_were(answer):
    assert there_and_back(answer) == answer
    assert type(there_and_back(answer)) is type(answer)


@pytest.mark.parametrize(
    "array",
    [np.arange(3), np.eye(20), np.array([1.0, np.nan]), np.zeros((0, 2)), np.float32([0.1]), np.array(["a", "bc"])],
)
def test_arrays_come_back_exactly(array):
    back = there_and_back(array)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_tensors_tables_and_scores_come_back_as_numbers():
    np.testing.assert_array_equal(there_and_back(torch.ones(2, 2, requires_grad=True)), np.ones((2, 2)))
    np.testing.assert_array_equal(there_and_back(pd.Series([1, 2])), [1, 2])
    assert there_and_back(np.float64(0.5)) == 0.5
    x = np.random.default_rng(0).standard_normal((20, 1))
    score = affinity_score(x, np.abs(x))
    assert there_and_back(score) == float(score)


FUNCTION = """
import numpy as np
from math import comb as binomial

rate, table = 2, {"a": [1.5, (2,)]}
grid = np.arange(3.0)

def helper(x, by=rate):
    return x * by + grid.sum()

@np.vectorize
def decorated(x):
    return x + 1

def twice(function):
    from functools import wraps
    @wraps(function)
    def inner(*arguments):
        return 2 * function(*arguments)
    return inner

@twice
def wrapped(x):
    return helper(x) + table["a"][1][0] + binomial(4, 2)

def recursive(n):
    return 1 if n < 1 else n * recursive(n - 1)

def made(step):
    def inner(x):
        return x + step
    return inner

close = made(5)
pair = (lambda x: x + 1, lambda x: (lambda y: y * x)(rate))
"""


@pytest.mark.parametrize("name", ["helper", "wrapped", "recursive", "close"])
def test_functions_take_along_what_they_use(name):
    function = cell(FUNCTION)[name]
    assert there_and_back(function)(4) == function(4)


def test_lambdas_on_one_line_are_told_apart():
    pair = cell(FUNCTION)["pair"]
    assert [function(7) for function in there_and_back(pair)] == [function(7) for function in pair]
    source = source_of(pair[1])
    assert "x + 1" not in source


def test_a_function_that_was_defined_anew_is_the_one_that_was_checked():
    first = cell("def f(x):\n    return x + 1\n")["f"]
    cell("def f(x):\n    return x - 1\n")
    assert there_and_back(first)(1) == 2


def test_functions_of_packages_are_imported():
    assert source_of(np.tanh) == "from numpy import tanh as answer"
    assert there_and_back(torch.relu) is torch.relu
    assert there_and_back(affinity_score) is affinity_score


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (
            "import threading\nlock = threading.Lock()\ndef answer():\n    return lock\n",
            "it uses lock, which is of type lock",
        ),
        ("class A:\n    def f(self):\n        return 1\nanswer = A().f\n", "a method of an object"),
        ("big = list(range(2000))\ndef answer():\n    return big\n", "it uses big"),
    ],
)
def test_what_a_function_cannot_take_along_is_named(source, why):
    with pytest.raises(NotKeptError, match=why):
        encode(cell(source)["answer"])


NETWORK = """
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x):
        return x + helper(self.inner(x))

def helper(x):
    return x.relu()
"""


def test_networks_come_back_with_their_classes_and_weights(monkeypatch):
    names = cell(NETWORK)
    monkeypatch.setattr("__main__.Block", names["Block"], raising=False)  # where torch looks for it
    network = nn.Sequential(names["Block"](3), nn.PReLU(3), names["Block"](3))
    x = torch.randn(5, 3)
    back = there_and_back(network)
    assert type(back[0]) is not names["Block"]
    torch.testing.assert_close(back(x), network(x))


def test_nothing_but_networks_is_called_when_a_network_is_read():
    class Evil(nn.Module):
        def __reduce__(self):
            return print, ("called",)

    with pytest.raises(NotKeptError, match=r"builtins\.print"):
        encode(nn.Sequential(Evil()))


def test_a_large_network_is_not_kept():
    with pytest.raises(NotKeptError, match="more than 4 MB"):
        encode(nn.Linear(2000, 2000))


def test_a_report_keeps_the_last_right_answer_or_else_the_last(tmp_path):
    right = 0.5 * (150 / 152 - 6 / 8)
    for answer in (None, 0.3, right, 0.4):
        check("5.1", answer)
    for answer in (0.1, 0.2, ...):
        check("1.2", answer)
    check("7.2", threading.Lock())
    found = report("Ada Lovelace", tmp_path / "a.json")
    back = read_report(tmp_path / "a.json")
    assert back.answers == found.answers
    assert [back.answers[number].get("answer") for number in ("1.2", "5.1")] == [0.2, right]
    assert back.answers["5.1"]["said"].startswith("Right!")
    assert "lock" in back.answers["7.2"]["not kept"]
    assert "7.2: not yet (NOT in the file" in repr(found)


def test_a_report_grows_over_sessions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check("1.2", 0.5)
    report("Ada Lovelace")
    registry.CHECKED.clear()
    check("5.1", 0.5)
    assert list(report("Ada Lovelace").answers) == ["1.2", "5.1"]
    assert (tmp_path / "answers-ada-lovelace.json").exists()
    with pytest.raises(AffscoreError, match="a report of 'Ada Lovelace', not of 'Bob'"):
        report("Bob", "answers-ada-lovelace.json")


def test_without_a_checked_answer_there_is_no_report(tmp_path):
    with pytest.raises(AffscoreError, match="there is no answer to hand in yet"):
        report("Ada", tmp_path / "a.json")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": 1}', "[" * 10**5, '{"format": 9, "student": "", "written": "", "answers": {}}'],
)
def test_a_file_that_is_no_report_is_refused(content, tmp_path):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(AffscoreError, match=r"a.json is no report"):
        read_report(tmp_path / "a.json")
