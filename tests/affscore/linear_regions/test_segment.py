"""What is asked and what is refused; the caller's model and random numbers stay as they are."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import affscore
from affscore import AffscoreError
from affscore.linear_regions import along_segment, along_segments
from affscore.linear_regions.program import Affine
from affscore.linear_regions.traced_network import TracedNetwork
from tests.affscore.linear_regions.architectures import Residual, normalised


def small():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3))


def test_it_is_a_part_of_the_package():
    assert affscore.linear_regions.along_segment is along_segment
    assert "linear_regions" in dir(affscore)


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


def test_the_model_stays_as_it_is():
    model = normalised(Residual()).float().train()
    model.head.eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    modes = [module.training for module in model.modules()]
    hooks = [len(module._forward_hooks) for module in model.modules()]
    start, end = torch.randn(2, 2, 6, 6, requires_grad=True)
    for method in ("line", "walk"):
        along_segment(model, start, end, method)
    assert [module.training for module in model.modules()] == modes
    assert [len(module._forward_hooks) for module in model.modules()] == hooks
    for name, value in model.state_dict().items():
        assert value.dtype == before[name].dtype
        assert torch.equal(value, before[name])
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_model_in_training_is_measured_as_in_evaluation():
    model = normalised(Residual())
    start, end = torch.randn(2, 2, 6, 6, generator=torch.Generator().manual_seed(0))
    expected = along_segment(model.eval(), start, end)
    found = along_segment(model.train(), start, end)
    np.testing.assert_array_equal(found.t, expected.t)
    with torch.autocast("cpu"):
        np.testing.assert_array_equal(along_segment(model, start, end).t, expected.t)


def test_random_numbers_stay_as_they_are():
    class Drawing(nn.Module):
        def forward(self, x):
            _ = torch.rand(3), np.random.rand(), random.random()  # noqa: NPY002
            return torch.relu(x)

    def states():
        return torch.get_rng_state().tolist(), str(np.random.get_state()), random.getstate()  # noqa: NPY002

    before = states()
    along_segment(Drawing(), [-1.0], [1.0])
    assert states() == before


@pytest.mark.parametrize("method", ["line", "walk"])
def test_no_more_points_than_the_chunk_are_in_the_network(method):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 2))
    starts, ends = 5 * torch.randn(2, 30, 4, dtype=torch.float64)
    network = TracedNetwork(model, starts[0], ends[0] - starts[0], 40, "cpu")
    sizes = []

    def recorded(compute):
        def run(x):
            sizes.append(len(x))
            return compute(x)

        return run

    for number, (operation, unused) in enumerate(network.program.steps):
        if isinstance(operation.what, Affine):
            what = replace(operation.what, compute=recorded(operation.what.compute))
            network.program.steps[number] = (operation._replace(what=what), unused)
    found = network.look(starts, ends - starts, method, int)
    assert min(len(trace.t) for trace, _ in found) > 40
    assert 30 < max(sizes) <= 40


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ([0.0, 0.0], [0.0, 0.0], "segment 0 are the same point"),
        ([0.0, 0.0], [0.0, 1.0, 2.0], r"start and end must have one shape, got \(2,\), \(3,\)"),
        ([0.0, float("nan")], [0.0, 1.0], "the start of segment 0 holds NaN or infinity"),
        ([0.0, 0.0], [float("inf"), 1.0], "the end of segment 0 holds NaN or infinity"),
        ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], r"the network fails on a sample of shape \(3,\)"),
        (0.0, 1.0, "a start needs an axis of features"),
        ([], [], "no segment, or no feature"),
        ("ab", "cd", "start must be an array of real numbers, got str"),
        ([0.0, 1.0], torch.zeros(2) * 1j, "end must be an array of real numbers, got torch.complex"),
        ([0.0, 0.0], [1e200, 1e200], r"too far apart \(inf\)"),
    ],
)
def test_ends_that_make_no_segment(start, end, message):
    with pytest.raises(AffscoreError, match=message):
        along_segment(small(), start, end)


def test_several_segments_say_which_one_is_wrong():
    starts, ends = torch.zeros(3, 2), torch.ones(3, 2)
    ends[1] = 0
    with pytest.raises(AffscoreError, match="segment 1 are the same"):
        along_segments(small(), starts, ends)
    ends[1], starts[2, 1] = 1, torch.nan
    with pytest.raises(AffscoreError, match="the start of segment 2"):
        along_segments(small(), starts, ends)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"method": "run"}, "method must be one of line, walk, got 'run'"),
        ({"chunk": 3}, "chunk must be an integer"),
        ({"device": "moon"}, "device 'moon' cannot be used"),
    ],
)
def test_wrong_choices(words, message):
    with pytest.raises(AffscoreError, match=message):
        along_segment(small(), [0.0, 0.0], [1.0, 1.0], **words)


def test_what_is_no_network():
    with pytest.raises(AffscoreError, match=r"must be a torch\.nn\.Module"):
        along_segment(torch.relu, [0.0], [1.0])
    broken = small()
    with torch.no_grad():
        broken[0].weight[0, 0] = torch.nan
    with pytest.raises(AffscoreError, match="the output of the network holds NaN"):
        along_segment(broken, [0.0, 0.0], [1.0, 1.0])


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (nn.Linear(2, 2, dtype=torch.complex64), "the weights 'weight' of the network are complex"),
        (nn.LazyLinear(2), "the weights 'weight' of the network are complex, or have no numbers yet"),
        (nn.Linear(2, 2, device="meta"), "the weights 'weight' of the network are complex, or have no numbers yet"),
    ],
    ids=("complex", "lazy", "meta"),
)
def test_weights_that_are_no_real_numbers(layer, message):
    with pytest.raises(AffscoreError, match=message):
        along_segment(layer, [0.0, 0.0], [1.0, 1.0])


def test_a_network_with_a_mode_of_its_own_is_brought_to_evaluation():
    class Own(nn.Module):
        evaluating = False

        def train(self, mode=True):
            self.evaluating = not mode
            return super().train(mode)

        def forward(self, x):
            return x.relu() if self.evaluating else x

    model = Own().train()
    assert along_segment(model, [-1.0], [1.0]).count == 2
    assert not model.evaluating


def test_a_network_without_evaluation_mode_is_taken_as_it_is():
    class Exported(nn.Module):
        def train(self, mode=True):
            raise NotImplementedError  # as what torch.export makes does

        def forward(self, x):
            return x.relu()

    assert along_segment(Exported(), [-1.0], [1.0]).count == 2


def test_fewer_segments_are_kept_where_logits_are_many(monkeypatch):
    sizes = []
    look = TracedNetwork.look

    def counted(network, starts, *rest):
        sizes.append(len(starts))
        return look(network, starts, *rest)

    monkeypatch.setattr(TracedNetwork, "look", counted)
    along_segments(nn.Linear(1, 1000), torch.zeros(9, 1), torch.ones(9, 1), progress=False)
    along_segments(nn.Linear(1, 2), torch.zeros(9, 1), torch.ones(9, 1), progress=False)
    assert sizes == [4, 4, 1, 9]


def test_a_bar_of_progress(capsys):
    along_segments(small(), torch.zeros(3, 2), torch.ones(3, 2), progress=True)
    assert "3/3" in capsys.readouterr().err
    along_segments(small(), torch.zeros(3, 2), torch.ones(3, 2), progress=False)
    assert capsys.readouterr().err == ""
