import pytest
from answer_tables import GARBAGE


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
        garbage = {number: [*GARBAGE, *own.get(number, ())] for number in module.RIGHT}
        metafunc.parametrize("garbage_row", rows_of(garbage, "{k}-{kind}-{number}"))
