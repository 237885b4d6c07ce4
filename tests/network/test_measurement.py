"""A run that is given the first batches of another one ends as that one did."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from affscore import load_model, signature
from affscore.network import batch as batches
from affscore.network.measurement import Measurement, OtherDataError
from affscore.options import Execution, Options


class Noisy(nn.Module):
    """Draws random numbers at evaluation, as dropout does that was left on."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 3)

    def forward(self, x):
        x = self.conv(x)
        return torch.relu(x + 0.3 * torch.randn_like(x))


def pictures(count):
    return torch.randn(count, 3, 10, 10, generator=torch.Generator().manual_seed(1))


def noisy():
    torch.manual_seed(0)
    return Noisy()


def measured(model, data, options, done=None, batch_size=64):
    """The signature, and the batches that were measured for it."""
    measurement = Measurement(model, data, options, Execution("cpu", batch_size, progress=False))
    done = {batch.number: batch for batch in done or ()}
    batches = list(measurement.batches(done))
    return measurement.signature(batches), [batch for batch in batches if batch is not done.get(batch.number)]


def same(first, other):
    pd.testing.assert_frame_equal(
        first.table.drop(columns="seconds"), other.table.drop(columns="seconds"), check_exact=True
    )
    stable = [{k: v for k, v in result.metadata.items() if k != "created"} for result in (first, other)]
    assert stable[0] == stable[1]
    assert first.notes == other.notes


@pytest.fixture
def sent(monkeypatch):
    """How many images went through a network."""
    counts, forward = [], batches.forward

    def counted(network, recorder, collector, images, name):
        counts.append(len(images))
        return forward(network, recorder, collector, images, name)

    monkeypatch.setattr(batches, "forward", counted)
    return counts


@pytest.mark.parametrize("reduction", ["mean", "sample", "flatten"])
@pytest.mark.parametrize(
    "make", [noisy, lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.GELU())]
)
@pytest.mark.slow
def test_a_run_goes_on_where_another_ended(make, reduction, sent):
    torch.manual_seed(0)
    model, images = make(), pictures(90)
    options = Options(n=20, reduction=reduction, seed=3)
    whole, batches = measured(model, images, options, batch_size=16)
    assert any("the last 10 images were dropped" in note for note in whole.notes)
    assert [batch.number for batch in batches] == [0, 1, 2, 3]
    for done in range(5):
        sent.clear()
        resumed, new = measured(model, images, options, batch_size=16, done=batches[:done])
        same(resumed, whole)
        assert [batch.number for batch in new] == list(range(done, 4))
        assert sum(sent) == (90 - 20 * done if done < 4 else 10)


def test_a_batch_is_given_as_soon_as_it_is_finished():
    seen, order = [], []

    class Watching(nn.Module):
        def forward(self, x):
            order.append(len(seen))
            return torch.relu(x)

    for batch in Measurement(Watching(), pictures(40), Options(n=10), Execution("cpu", 10, False)).batches():
        seen.append(batch)
    # the further passes of the first batch are the checks of the network
    assert order[order.index(1) :] == [1, 2, 3]
    assert set(order[: order.index(1)]) == {0}
    assert len(seen) == 4


@pytest.mark.parametrize("missing", [0, 1, 2, 3])
def test_any_batch_can_be_missing(missing, sent):
    model, images, options = noisy(), pictures(80), Options(n=20, reduction="sample")
    whole, batches = measured(model, images, options)
    sent.clear()
    again, new = measured(model, images, options, done=[batch for batch in batches if batch.number != missing])
    same(again, whole)
    assert [batch.number for batch in new] == [missing]
    assert sum(sent) == 20


def test_the_positions_of_sample_do_not_depend_on_the_batches_before(sent):
    model, images = load_model("mini:digitsnet"), torch.randn(64, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    options = Options(n=16, reduction="sample", criteria=False)
    together, _ = measured(model, images, options)
    _, (first, *_) = measured(model, images[:16], options)
    resumed, _ = measured(model, images, options, done=[first])
    same(resumed, together)
    # a smaller batch of the network has the same positions; only the last digits are others
    apart, _ = measured(model, images, options, batch_size=5)
    np.testing.assert_allclose(apart.scores, together.scores, rtol=0, atol=1e-5)


def test_a_single_short_batch_can_be_given():
    model, images = nn.ReLU(), pictures(7)
    options = Options(n=20)
    whole, batches = measured(model, images, options)
    resumed, new = measured(model, images, options, done=batches)
    same(resumed, whole)
    assert not new


def test_batches_of_another_network_or_of_other_data_are_never_taken_over():
    model, images, options = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), pictures(40), Options(n=10)
    _, batches = measured(model, images, options)
    other = images.clone()
    other[5, 0, 0, 0] += 1
    with pytest.raises(OtherDataError, match="the finished batch 0 is of other data"):
        measured(model, other, options, done=batches[:1])
    another = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    expected, _ = measured(another, images, options)
    found, new = measured(another, images, options, done=batches)
    same(found, expected)
    assert len(new) == 4
    short, _ = measured(model, images[:20], options, done=batches[:3])  # batches beyond the data are not asked for
    same(short, measured(model, images[:20], options)[0])


def test_what_was_declared_and_never_ran_is_said_after_an_interruption_too():
    class Unused(nn.Module):
        def forward(self, x):
            return torch.tanh(x)

    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    model.declared_activations = {"unused": Unused, "relu": nn.ReLU}
    whole, batches = measured(model, pictures(20), Options(n=10))
    assert any(note == "declared as an activation, but never run: unused" for note in whole.notes)
    for count in (1, 2):
        same(measured(model, pictures(20), Options(n=10), done=batches[:count])[0], whole)


def test_networks_that_draw_random_numbers_depend_on_the_seed_alone():
    images = pictures(40)
    scores = [signature(noisy(), images, n=20, seed=seed, progress=False).scores for seed in (0, 0, 1)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_what_a_taken_up_signature_cannot_tell():
    model, images = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), pictures(20)
    _, batches = measured(model, images, Options(n=10))
    stored = [type(batch)(**{**vars(batch), "rows": without_costs(batch.rows)}) for batch in batches[:1]]
    resumed, _ = measured(model, images, Options(n=10), done=stored)
    assert resumed.sample_costs == []


def without_costs(rows):
    return [{name: value for name, value in row.items() if name != "sample_costs"} for row in rows]


def test_the_seed_fixes_what_the_data_draw():
    inputs = torch.randn(96, 5, generator=torch.Generator().manual_seed(3))
    network = nn.Sequential(nn.Linear(5, 6), nn.ReLU())
    loader = DataLoader(TensorDataset(inputs), batch_size=16, shuffle=True)
    found = []
    for _ in range(2):
        torch.rand(1)  # the caller's own random numbers are others
        found.append(signature(network, loader, n=64, criteria=False, seed=0))
    first, second = (result.metadata["fingerprint_data"] for result in found)
    assert first == second
    np.testing.assert_array_equal(found[0].scores, found[1].scores)


class OneMoreForFew(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.relu(self.layer(x))
        return torch.tanh(y) if len(x) == 6 else y


def test_samples_that_are_dropped_need_not_run_the_same_activations():
    result = signature(OneMoreForFew(), torch.randn(70, 4), n=32, batch_size=32, progress=False)
    assert len(result.scores) == 1
    assert any("the last 6 samples were dropped" in note for note in result.notes)
