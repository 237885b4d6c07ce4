import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore.errors import AffscoreError
from affscore.network.rows import LARGEST, Rows


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(0, 40))
def test_rows_are_those_that_came_in_their_order(sizes, room):
    parts = [torch.rand(size, 3) for size in sizes]
    rows = Rows()
    for part in parts:
        rows.extend(part, room)
    assert len(rows) == sum(sizes)
    if parts:
        assert torch.equal(rows.tensor, torch.cat(parts))


def test_memory_is_set_aside_once():
    rows = Rows()
    rows.extend(torch.zeros(2, 3), room=100)
    first = rows.tensor.data_ptr()
    for _ in range(49):
        rows.extend(torch.ones(2, 3), room=100)
    assert rows.tensor.data_ptr() == first
    assert len(rows) == 100


def test_a_number_of_images_that_nobody_has_sets_no_memory_aside():
    rows = Rows()
    rows.extend(torch.zeros(2, 3), room=10**15)
    assert rows.tensor.untyped_storage().nbytes() == LARGEST * 3 * 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_type_is_kept(dtype):
    assert Rows([torch.zeros(1, 2, dtype=dtype)]).tensor.dtype == dtype


@pytest.mark.parametrize("width", [1, 4])
def test_rows_of_another_length_are_refused(width):
    rows = Rows([torch.zeros(2, 3)])
    with pytest.raises(AffscoreError, match="all samples must have the same size"):
        rows.extend(torch.zeros(2, width))
