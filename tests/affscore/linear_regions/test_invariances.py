"""What must not change, or change in a known way."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from affscore.linear_regions import along_segment, along_segments
from tests.affscore.linear_regions.architectures import ARCHITECTURES, network, segments

ANY = st.sampled_from(sorted(ARCHITECTURES))
SEEDS = st.integers(0, 10**6)


def drawn(name, seed):
    model, shape = network(name, seed)
    starts, ends = segments(shape, 1, seed=seed, way=2.0 if len(shape) == 1 else 0.2)
    return model, starts[0], ends[0]


def assert_same(one, other, place=1e-10):
    assert (one.count, one.patterns, one.switches) == (other.count, other.patterns, other.switches)
    for name in ("unit_changes", "switch_changes", "breakpoints"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=place)
    np.testing.assert_allclose(one.absolute_deviation, other.absolute_deviation, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(one.total_variation, other.total_variation, rtol=1e-9, atol=1e-12)


@settings(max_examples=20)
@given(ANY, SEEDS)
def test_the_other_way_round(name, seed):
    model, start, end = drawn(name, seed)
    there, back = along_segment(model, start, end), along_segment(model, end, start)
    assert (there.count, there.patterns, there.switches) == (back.count, back.patterns, back.switches)
    np.testing.assert_allclose(there.breakpoints, 1 - back.breakpoints[::-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(there.absolute_deviation, back.absolute_deviation, rtol=1e-9, atol=1e-12)


@settings(max_examples=20)
@given(ANY, SEEDS, st.floats(0.1, 0.9))
def test_a_segment_in_two_parts(name, seed, cut):
    model, start, end = drawn(name, seed)
    whole = along_segment(model, start, end)
    cut = cut + 1e-3 * (np.abs(whole.t - cut).min() < 1e-6)  # not through a breakpoint
    middle = start + cut * (end - start)
    first, second = along_segments(model, torch.stack([start, middle]), torch.stack([middle, end]), progress=False)
    for name_of in ("unit_changes", "switch_changes", "breakpoints"):
        both = np.concatenate([cut * getattr(first, name_of), cut + (1 - cut) * getattr(second, name_of)])
        np.testing.assert_allclose(both, getattr(whole, name_of), rtol=0, atol=1e-9)
    np.testing.assert_allclose(first.total_variation + second.total_variation, whole.total_variation, rtol=1e-9)


@settings(max_examples=15)
@given(SEEDS, st.floats(1e-3, 1e3))
def test_hidden_units_times_a_positive_number(seed, scale):
    model, start, end = drawn("mlp", seed)
    scaled = copy.deepcopy(model).double()
    with torch.no_grad():
        scaled[0].weight *= scale
        scaled[0].bias *= scale
        scaled[2].weight /= scale
    assert_same(along_segment(model.double(), start, end), along_segment(scaled, start, end))


@settings(max_examples=20)
@given(ANY, SEEDS, st.sampled_from([16, 23, 64, 500]))
def test_the_size_of_chunks_changes_nothing(name, seed, chunk):
    model, start, end = drawn(name, seed)
    assert_same(along_segment(model, start, end), along_segment(model, start, end, chunk=chunk))


@pytest.mark.parametrize("method", ["line", "walk"])
def test_segments_together_are_as_each_alone(method):
    model, shape = network("mixed")
    starts, ends = segments(shape, 70, way=0.1)  # more than are measured at once
    together = along_segments(model, starts, ends, method, progress=False)
    assert len(together) == 70
    for number in (0, 1, 40, 69):
        assert_same(together[number], along_segment(model, starts[number], ends[number], method))


def test_devices_agree(device):
    model, start, end = drawn("residual", 3)
    assert_same(along_segment(model, start, end, device=str(device)), along_segment(model, start, end, device="cpu"))
