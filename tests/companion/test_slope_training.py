"""Slopes in training: when they move, and what is frozen."""

import pandas as pd
import pytest
import torch
from torch import nn

from affscore import AffscoreError
from affscore.nonlinear_advantage import SlopePenalty, parameter_groups, slopes, to_prelu
from companion.slope_training import train


def network(seed=0, dropout=0.0):
    torch.manual_seed(seed)
    parts = nn.Linear(3, 6), nn.ReLU(), nn.Dropout(dropout), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2)
    return to_prelu(nn.Sequential(*parts))


def data(n=100):
    x = torch.randn(n, 3, generator=torch.Generator().manual_seed(1))
    return x, (x[:, 0] * x[:, 1] > 0).long()


def fit(net, epochs=4, omega=0.01, **options):
    return train(net, *data(), epochs, omega, **{"test": data(), "rate": 0.02, "progress": False, **options})


def same(one, other):
    states = one.state_dict(), other.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_before_the_start_it_is_the_training_of_the_plain_network():
    net, (images, labels) = network(), data()
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Dropout(0.0), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2))
    record = fit(net, 5, start=5, batch_size=1000, weight_decay=0.1)
    optimizer, losses = torch.optim.AdamW(plain.parameters(), lr=0.02, weight_decay=0.1), []
    for _ in range(5):
        loss = nn.functional.cross_entropy(plain(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert record["loss"].tolist() == pytest.approx(losses, rel=1e-5)
    torch.testing.assert_close(net(images), plain(images))


def test_a_step_is_that_of_the_penalised_loss():
    net, by_hand, (images, labels) = network(), network(), data()
    fit(net, 1, omega=0.3, batch_size=1000, weight_decay=0.1, slope_rate=0.05)
    groups = parameter_groups(by_hand, lr=0.05)
    optimizer = torch.optim.AdamW(groups, lr=0.02, weight_decay=0.1)
    (nn.functional.cross_entropy(by_hand(images), labels) + SlopePenalty(0.3)(by_hand)).backward()
    optimizer.step()
    for one, other in zip(net.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_a_schedule_of_the_epoch():
    record = fit(
        network(), 4, omega=0.1, slope_rate=lambda epoch: 0.01 * epoch, rate=lambda epoch: 0.1 / (1 + epoch), start=1
    )
    assert record["omega"].tolist() == [0, 0.1, 0.1, 0.1]
    assert record["rate"].tolist() == pytest.approx([0.1, 0.05, 0.1 / 3, 0.025])
    assert record["slope_rate"].tolist() == pytest.approx([0, 0.01, 0.02, 0.03])
    alone = fit(network(), 2, rate=lambda epoch: 0.1 / (1 + epoch))
    assert alone["slope_rate"].equals(alone["rate"].rename("slope_rate"))


def test_arms_are_the_same_until_their_penalty_begins():
    """On the CPU to the last bit, with dropout and augmentation."""
    options = {"change": lambda images, generator: images + 0.1 * torch.randn(images.shape, generator=generator)}
    short, long, late = (network(dropout=0.3) for _ in range(3))
    record = fit(short, 2, start=2, **options)
    torch.rand(3)
    pd.testing.assert_frame_equal(fit(long, 4, start=2, **options)[:2], record)
    fit(late, 2, start=0, omega=0.0, slope_rate=0.0, **options)
    assert same(short, late)
    assert not same(short, long)


def test_what_is_around_stays_as_it_is_and_frozen_slopes_are_held():
    net = network().eval()
    held, trained = slopes(net).values()
    held.weight.requires_grad_(False).fill_(0.3)
    state = torch.random.get_rng_state()
    record = fit(net, 3, omega=0.5, start=1, slope_rate=0.1, test=data(30))
    assert torch.equal(state, torch.random.get_rng_state())
    assert not net.training
    assert not held.weight.requires_grad
    assert bool((held.weight == 0.3).all())
    assert bool((trained.weight != 0).all())
    images, labels = data(30)
    assert record["accuracy"].iloc[-1] == pytest.approx((net(images).argmax(1) == labels).double().mean().item())


class Tagger(nn.Module):
    """Names each of three numbers by itself: logits (N, 2, 3) of features (N, 3)."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(1, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.last(self.first(x[..., None]).relu()).movedim(-1, 1)


def test_labels_of_sequences_are_all_to_be_right():
    """Which of three numbers are positive; of some samples the last is not asked for."""
    torch.manual_seed(0)
    net, (x, _) = to_prelu(Tagger(), torch.zeros(2, 3)), data(60)
    labels = (x > 0).long()
    labels[::4, 2] = -100
    record = train(net, x, labels, 3, 0.0, test=(x, labels), rate=0.02, progress=False)
    right = (net(x).argmax(dim=1) == labels) | (labels == -100)
    assert record["accuracy"].iloc[-1] == pytest.approx(right.all(dim=1).double().mean().item())
    assert record["accuracy"].iloc[-1] < right[labels != -100].double().mean()  # of single labels more are right


@pytest.mark.parametrize(
    ("net", "options", "message"),
    [(nn.Linear(3, 2), {}, "to_prelu"), (network(), {"omega": -1.0}, "omega must be"),
     (network(), {"rate": 1e30}, "not finite")],
)  # fmt: skip
def test_what_cannot_be_trained(net, options, message):
    with pytest.raises(AffscoreError, match=message):
        fit(net, **options)
