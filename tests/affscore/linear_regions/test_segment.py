"""What is asked and what is refused; the caller's model and random numbers stay as they are."""

import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from affscore import AffscoreError
from affscore.linear_regions import along_paths, along_segment, along_segments
from affscore.linear_regions.program import Affine
from affscore.linear_regions.traced_network import TracedNetwork
from tests.affscore.linear_regions.architectures import Residual, Written, network, normalised


def small():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3))


def test_arrays_lists_and_tensors_of_any_type():
    model, expected = small(), None
    for kind in (list, np.array, torch.tensor, lambda x: torch.tensor(x).half(), lambda x: np.array(x, dtype=int)):
        found = along_segment(model, kind([-3.0, 1.0]), kind([4.0, 2.0]))
        expected = expected or found
        np.testing.assert_array_equal(found.breakpoints, expected.breakpoints)
    assert expected.count > 2


def test_everything_of_a_segment():
    found = along_segment(small(), [-3.0, 1.0], [4.0, 2.0])
    assert found.count == len(found.breakpoints) + 1
    assert found.patterns == found.crossings + 1 == len(found.unit_changes) + 1
    assert (np.diff(found.t) > 0).all()
    assert found.t[0] == 0
    assert found.t[-1] == 1
    assert found.logits.shape == (len(found.t), 3)
    for values in (found.absolute_deviation, found.deviation_upper_bound, found.total_variation):
        assert values.shape == (3,)
    assert (found.absolute_deviation <= found.deviation_upper_bound).all()
    assert found.length == pytest.approx(50**0.5)
    assert repr(found) == f"Segment(count={found.count}, patterns={found.patterns}, switches=0, length=7.07107)"


def test_a_model_in_training_is_measured_as_in_evaluation_and_stays_as_it_is():
    model = normalised(Residual())
    start, end = torch.randn(2, 2, 6, 6, generator=torch.Generator().manual_seed(0)).requires_grad_()
    expected = along_segment(model, start, end)
    model.train().head.eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    modes = [module.training for module in model.modules()]
    hooks = [len(module._forward_hooks) for module in model.modules()]
    for method in ("line", "walk"):
        along_segment(model, start, end, method)
    np.testing.assert_array_equal(along_segment(model, start, end).t, expected.t)
    with torch.autocast("cpu"):
        np.testing.assert_array_equal(along_segment(model, start, end).t, expected.t)
    assert [module.training for module in model.modules()] == modes
    assert [len(module._forward_hooks) for module in model.modules()] == hooks
    for name, value in model.state_dict().items():
        assert value.dtype == before[name].dtype
        assert torch.equal(value, before[name])
    assert all(parameter.grad is None for parameter in model.parameters())


def test_random_numbers_stay_as_they_are():
    def drawing(x):
        _ = torch.rand(3), np.random.rand(), random.random()  # noqa: NPY002
        return torch.relu(x)

    def states():
        return torch.get_rng_state().tolist(), str(np.random.get_state()), random.getstate()  # noqa: NPY002

    before = states()
    along_segment(Written(drawing), [-1.0], [1.0])
    assert states() == before


@pytest.mark.parametrize("method", ["line", "walk"])
def test_no_more_points_than_the_chunk_are_in_the_network(method):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 2))
    starts, ends = 5 * torch.randn(2, 30, 4, dtype=torch.float64)
    traced = TracedNetwork(model, starts[0], 40, "cpu")
    sizes = []

    def recorded(compute):
        def run(x):
            sizes.append(len(x))
            return compute(x)

        return run

    for number, (operation, unused) in enumerate(traced.program.steps):
        if isinstance(operation.what, Affine):
            what = replace(operation.what, compute=recorded(operation.what.compute))
            traced.program.steps[number] = (operation._replace(what=what), unused)
    found = traced.look(starts, ends - starts, method)
    assert min(len(trace.t) for trace, _ in found) > 40
    assert 30 < max(sizes) <= 40


LINE = [0.0, 0.0], [1.0, 1.0]


@pytest.mark.parametrize(
    ("start", "end", "words", "message"),
    [
        ([0.0, 0.0], [0.0, 0.0], {}, "segment 0 are the same point"),
        ([0.0, 0.0], [0.0, 1.0, 2.0], {}, r"start and end must have one shape, got \[\(2,\), \(3,\)\]"),
        ([0.0, float("nan")], [0.0, 1.0], {}, "start and end of segment 0 .* hold NaN or infinity"),
        ([0.0, 0.0], [float("inf"), 1.0], {}, "start and end of segment 0 .* hold NaN or infinity"),
        ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], {}, r"the network fails on a sample of shape \(3,\)"),
        (0.0, 1.0, {}, "an axis of features"),
        ([], [], {}, "there must be a segment"),
        ("ab", "cd", {}, "start must be an array or tensor of real numbers, got a str"),
        ([0.0, 0.0], [1e200, 1e200], {}, r"too far apart for a length"),
        (*LINE, {"method": "run"}, "method must be one of line, walk, got 'run'"),
        (*LINE, {"chunk": 3}, "chunk must be an integer"),
        (*LINE, {"device": "moon"}, "device 'moon' cannot be used"),
    ],
)
def test_ends_that_make_no_segment_and_wrong_choices(start, end, words, message):
    with pytest.raises(AffscoreError, match=message):
        along_segment(small(), start, end, **words)


def without_numbers():
    broken = small()
    with torch.no_grad():
        broken[0].weight[0, 0] = torch.nan
    return broken


def with_a_complex_number():
    network = small()
    network.register_buffer("turn", torch.tensor(1j))
    return network


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (torch.relu, r"must be a torch\.nn\.Module"),
        (without_numbers(), "logits are NaN or infinite"),
        (with_a_complex_number(), "weights of the network are complex"),
        (nn.LazyLinear(2), "no weights as yet; 'weight' is lazy"),
        (nn.Linear(2, 2, device="meta"), "no weights as yet; 'weight' is on the device meta"),
    ],
    ids=("function", "NaN", "complex", "lazy", "meta"),
)
def test_what_is_no_network(network, message):
    with pytest.raises(AffscoreError, match=message):
        along_segment(network, *LINE)


def test_a_bar_of_progress(capsys):
    along_segments(small(), torch.zeros(3, 2), torch.ones(3, 2), progress=True)
    assert "3/3" in capsys.readouterr().err
    along_segments(small(), torch.zeros(3, 2), torch.ones(3, 2), progress=False)
    assert capsys.readouterr().err == ""


def test_a_row_for_each_segment_and_logit():
    model, points = network("mixed")[0], torch.randn(3, 5, 2, 8, 8, generator=torch.Generator().manual_seed(0))
    points = points[:, :1] + 0.3 * (points - points[:, :1])
    table = along_paths(model, points, progress=False)
    assert len(table) == 3 * 4 * 3
    assert not table.duplicated(["path", "segment", "logit"]).any()
    segments = along_segments(model, points[:, :-1].flatten(0, 1), points[:, 1:].flatten(0, 1), progress=False)
    for (path, place), rows in table.groupby(["path", "segment"]):
        found = segments[4 * path + place]
        assert set(rows["crossings"]) == {found.crossings}
        assert set(rows["switches"]) == {found.switches}
        assert set(rows["breakpoints"]) == {found.count - 1}
        for name in ("length", "absolute_deviation", "deviation_upper_bound", "total_variation"):
            np.testing.assert_allclose(rows[name], getattr(found, name))
    assert table["crossings"].sum() > 100
    assert table["switches"].sum() > 50
    pd.testing.assert_frame_equal(along_paths(model, points[:1], "walk", progress=False), table[table["path"] == 0])


def test_what_is_no_path():
    for paths, message in (
        (torch.zeros(3, 1, 2), "points >= 2, ...*, got the shape"),
        ([[LINE[0], LINE[1], LINE[1]]], "start and end of segment 1 are the same"),
        ("none", "paths must"),
    ):
        with pytest.raises(AffscoreError, match=message):
            along_paths(small(), paths)
