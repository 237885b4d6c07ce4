"""The penalty and its gradient, snapping, and channels that stay linear through training."""

import pytest
import torch
from torch import nn

from affscore import AffscoreError
from affscore.nonlinear_advantage import (
    SlopePenalty,
    active_channels,
    effective_width,
    freeze,
    parameter_groups,
    slopes,
    to_prelu,
)


def network(width=6, kind=nn.ReLU):
    torch.manual_seed(0)
    return to_prelu(nn.Sequential(nn.Linear(3, width), kind(), nn.Linear(width, width), kind(), nn.Linear(width, 2)))


def test_the_formula():
    net = network(3)
    net[1].weight.data, net[3].weight.data = torch.tensor([0.0, 0.5, 1.3]), torch.tensor([-1.0, 0.9, 1.0])
    net[3].frozen[2] = True
    expected = sum(abs(1 - slope) ** 0.5 for slope in (0.0, 0.5, 1.3, -1.0, 0.9))
    assert SlopePenalty(0.3)(net).item() == pytest.approx(0.3 * expected, rel=1e-6)
    SlopePenalty(2.0)(net).backward()
    assert net[1].weight.grad.tolist() == pytest.approx([-1.0, -(0.5**-0.5), 0.3**-0.5], rel=1e-5)
    assert net[3].weight.grad[2] == 0


def test_no_gradient_is_infinite():
    net = network(5)
    eps = torch.finfo(torch.float32).eps
    net[1].weight.data = torch.tensor([1.0, 1 - eps, 1 + eps, 0.99, 1.01])
    net[3].weight.data.fill_(1.0)
    penalty = SlopePenalty(1.0)(net)
    penalty.backward()
    for unit in slopes(net).values():
        assert torch.isfinite(unit.weight.grad).all()
        assert float(unit.weight.grad.abs().max()) <= 10 * (1 + 1e-4)
    net[1].frozen.fill_(True)
    net[3].frozen.fill_(True)
    assert SlopePenalty(1.0)(net).item() == 0.0


def test_snapping():
    net = network()
    net[1].weight.data = torch.tensor([0.98, 0.985, 0.9901, 1.0, 1.005, 1.5])
    before = net[3].weight.clone()
    assert freeze(net) == 4
    assert net[1].frozen.tolist() == [False, False, True, True, True, True]
    assert net[1].weight.tolist() == pytest.approx([0.98, 0.985, 1, 1, 1, 1])
    assert torch.equal(net[3].weight, before)
    assert freeze(net) == 0
    net[1].weight.data[0] = torch.nan
    with pytest.raises(AffscoreError, match="NaN or infinite"):
        freeze(net)


@pytest.mark.parametrize("kind", [nn.ReLU, nn.GELU])
@pytest.mark.parametrize("with_groups", [True, False])
def test_frozen_channels_stay_linear_through_200_steps(kind, with_groups):
    net, generator = network(kind=kind), torch.Generator().manual_seed(1)
    x, z = torch.randn(32, 3, generator=generator), torch.randn(50, 6, generator=generator)
    y, penalty = x.square()[:, :2], SlopePenalty(0.02)
    groups = parameter_groups(net) if with_groups else net.parameters()
    optimizer = torch.optim.SGD(groups, lr=0.05, momentum=0.9, weight_decay=0.05)

    def step():
        loss = (net(x) - y).square().mean() + penalty(net)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(20):  # momentum gathers
        step()
    assert bool((optimizer.state[net[1].weight]["momentum_buffer"] != 0).all())
    net[1].weight.data[:2] = 0.995
    freeze(net)
    frozen, others = net[1].frozen.clone(), net[1].weight.clone()
    for _ in range(200):
        step()
        assert torch.equal(net[1](z)[:, frozen], z[:, frozen])
    assert 2 <= int(frozen.sum()) < 6
    assert bool((net[1].weight != others)[~frozen].any())
    freeze(net)
    assert bool((net[1].weight[frozen] == 1).all())


def test_parameter_groups_hold_each_parameter_once():
    net = network()
    others, of_slopes = parameter_groups(net, lr=0.5)
    assert of_slopes["weight_decay"] == 0.0
    assert of_slopes["lr"] == 0.5
    assert {id(p) for p in of_slopes["params"]} == {id(unit.weight) for unit in slopes(net).values()}
    together = [*others["params"], *of_slopes["params"]]
    assert len(together) == len({id(p) for p in together}) == len(list(net.parameters()))


def test_width():
    net = network(4)
    net[1].weight.data[:] = torch.tensor([1.0, 1.0, 0.0, 0.5])
    assert active_channels(net).to_numpy().tolist() == [["1", 0, 4, 2], ["3", 0, 4, 4]]
    assert effective_width(net) == 3.0
    net[1].weight.data.fill_(1.0)
    assert effective_width(net) == 4.0  # over the activations that have any


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SlopePenalty(-1.0), "omega must be"),
        (lambda: freeze(nn.ReLU()), "no channel-wise slopes"),
        (lambda: SlopePenalty(1.0)("resnet18"), "makes one of a name"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(AffscoreError, match=message):
        call()
