from functools import cache
from inspect import getclosurevars

import pytest
from answer_tables import GARBAGE

from companion import exercises
from companion.exercises import known


@cache
def first_of_each_type():
    """The first exercise of each type of answer: the same function reads those of the others."""
    first = {}
    for number in known():
        reader = getclosurevars(exercises._CHECKERS[number]).nonlocals["expected"]
        first.setdefault((reader.__name__, *reader.__code__.co_names), number)
    return {*first.values()}


def rows_of(table, label="{number}-{k}"):
    """A parameter for each answer of each exercise: its number, and the answer."""
    return [
        pytest.param((number, answer), id=label.format(number=number, k=k, kind=type(answer).__name__))
        for number in table
        for k, answer in enumerate(table[number])
    ]


@pytest.fixture
def secrets(request):
    return request.module.SECRETS


def pytest_generate_tests(metafunc):
    """The tests of ``answer_tables.py`` get the tables of the module that imports them."""
    module, wanted = metafunc.module, metafunc.fixturenames
    if "right_row" in wanted:
        metafunc.parametrize("right_row", rows_of(module.RIGHT))
    if "wrong_row" in wanted:
        metafunc.parametrize("wrong_row", rows_of(module.WRONG))
    if "garbage_row" in wanted:
        own = getattr(module, "GARBAGE", {})
        garbage = {
            number: [*(GARBAGE if number in first_of_each_type() else GARBAGE[:1]), *own.get(number, ())]
            for number in module.RIGHT
        }
        metafunc.parametrize("garbage_row", rows_of(garbage, "{k}-{kind}-{number}"))
