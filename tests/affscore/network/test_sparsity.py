import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from affscore.network.collect import sparse_entries


@given(
    st.lists(
        st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-3, -1e-3, 1.001e-3, -0.5, 2.0, 7.0, 9e-4]),
        min_size=1,
    )
)
def test_sparse_entries_are_those_up_to_a_thousandth(values):
    tensor = torch.tensor(values, dtype=torch.float64)
    before = sum(abs(value) <= 1e-3 for value in values)
    for relu in (F.relu, F.relu6):
        assert sparse_entries(tensor) == (before, sparse_entries(relu(tensor))[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("layout", ["contiguous", "channels last", "strided", "large"])
def test_sparse_entries_of_every_layout(dtype, layout):
    shape = (7, 48, 32, 32) if layout == "large" else (3, 5, 8, 9)
    features = 2e-3 * torch.randn(shape, generator=torch.Generator().manual_seed(0))
    features = features.to(dtype)
    if layout == "channels last":
        features = features.contiguous(memory_format=torch.channels_last)
    if layout == "strided":
        features = features[:, ::2].transpose(1, 3)
    limit = np.float64(1e-3) if dtype == torch.float64 else float(torch.tensor(1e-3, dtype=torch.float32))
    wide = features.double()
    before, after = int((wide.abs() <= limit).sum()), int((wide.relu() <= limit).sum())
    assert 0 < before < after < features.numel()
    assert sparse_entries(features) == (before, after)
