"""The printed numbers that the package ships."""

import pytest

from affscore import AffscoreError
from companion.printed import printed_table, printed_tables


def test_every_table_says_where_it_comes_from():
    assert printed_tables()
    for name in printed_tables():
        table = printed_table(name)
        assert len(table) > 0
        assert "rinted in" in table.attrs["source"]
        assert table.index.is_unique


@pytest.mark.parametrize("name", ["figure99", "../__init__"])
def test_an_unknown_table_names_the_known_ones(name):
    with pytest.raises(AffscoreError, match=r"known are .*figure7_activation_scores"):
        printed_table(name)
