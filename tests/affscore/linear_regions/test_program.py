"""The windows of max pooling, and chains that become a matrix, against slow references."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from affscore.linear_regions.program import Affine, MaxPool, takeovers
from affscore.linear_regions.traced_network import run
from affscore.linear_regions.tracing import program_of


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 7))
def test_takeovers_are_the_bends_of_the_maximum(seed, windows, entries):
    generator = torch.Generator().manual_seed(seed)
    left, right = torch.randint(-4, 5, (2, windows, entries), generator=generator).double()
    which, fraction = takeovers(left, right)
    assert ((fraction > 0) & (fraction < 1)).all()
    t = torch.linspace(0, 1, 841, dtype=torch.float64)[:, None]
    for window in range(windows):
        largest = (left[window] + t * (right[window] - left[window])).amax(1)
        second = largest[2:] - 2 * largest[1:-1] + largest[:-2]
        bent = set(((second > 1e-9).nonzero()[:, 0] + 1).tolist())
        ours = {round(840 * f, 6) for f in fraction[which == window].tolist()}
        near = {k for f in ours for k in (int(np.floor(f)), int(np.ceil(f)))}
        assert bent <= near
        assert len(ours) <= len(bent)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((3, 2, 7), (2, 2, 0, 1, False)),
        ((3, 2, 7), (3, 2, 1, 1, True)),
        ((2, 3, 6, 5), (2, 2, 0, 1, False)),
        ((2, 3, 6, 5), ((3, 2), (1, 2), (1, 0), (2, 1), True)),
        ((2, 1, 1, 6, 5), (3, 2, 1, 1, False)),
        ((2, 2, 4, 5, 4), (2, (1, 2, 2), (1, 0, 1), 1, False)),
    ],
)
def test_windows_have_the_entries_that_are_pooled(shape, words):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    axes = 3 if len(shape) == 5 and shape[1] == 2 else len(shape) - 2 - (len(shape) == 5)
    pool = MaxPool.of(f"max_pool{axes}d", words, x)
    largest, _ = pool(x)
    flat = x.reshape(-1, 1, *x.shape[-axes:])
    expected = getattr(F, pool.name)(flat, *words[:4], ceil_mode=words[4]).reshape(largest.shape)
    assert torch.equal(largest, expected)
    assert torch.equal(pool.all_entries(x).amax(2), largest.flatten(1))
    window = torch.arange(largest[0].numel())
    assert torch.equal(pool.entries(x, torch.ones_like(window), window).amax(1), largest[1].flatten())


def test_chains_of_small_layers_become_one_matrix():
    torch.manual_seed(0)
    layers = [nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(4, 8, 3)]
    net = nn.Sequential(*layers, nn.ReLU(), nn.Flatten(), nn.Linear(8, 3)).double().eval()
    program, _ = program_of(net, torch.randn(1, 2, 6, 6, dtype=torch.float64), run)
    affine = [operation.what for operation, _ in program.steps if isinstance(operation.what, Affine)]
    assert [what.name for what in affine] == ["matrix", "matrix", "flatten", "linear"]
    x = torch.randn(5, 2, 6, 6, dtype=torch.float64)
    with torch.no_grad():
        torch.testing.assert_close(affine[0].compute(x[:, None])[:, 0], net[1](net[0](x)), rtol=0, atol=1e-13)


def test_a_large_layer_stays_what_it_is():
    net = nn.Conv2d(3, 8, 3, padding=1).double()
    program, _ = program_of(net, torch.randn(1, 3, 16, 16, dtype=torch.float64), run)
    assert [operation.what.name for operation, _ in program.steps] == ["conv2d"]
    x = torch.randn(40, 3, 16, 16, dtype=torch.float64)
    with torch.no_grad():  # in several slices
        torch.testing.assert_close(program.steps[0][0].what.compute(x[:, None])[:, 0], net(x), rtol=0, atol=1e-13)
