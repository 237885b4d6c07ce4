"""A run that is given the first batches of another one ends as that one did."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from affscore import load_model, signature
from affscore.network import measurement
from affscore.network.measurement import BatchesOfAnotherRunError, measure
from affscore.network.options import choose_options


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


def measured(model, data, options, **more):
    batches = []
    result = measure(model, data, options, "cpu", progress=False, on_batch=batches.append, **more)
    return result, batches


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
    counts = []
    forward = measurement.Run.forward
    monkeypatch.setattr(
        measurement.Run, "forward", lambda self, images: (counts.append(len(images)), forward(self, images))[1]
    )
    return counts


@pytest.mark.parametrize("reduction", ["mean", "sample", "flatten"])
@pytest.mark.parametrize(
    "make", [noisy, lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.GELU())]
)
def test_a_run_goes_on_where_another_ended(make, reduction, sent):
    torch.manual_seed(0)
    model, images = make(), pictures(90)
    options = choose_options(n=20, reduction=reduction, seed=3)
    whole, batches = measured(model, images, options, batch_size=16)
    assert any("the last 10 images were dropped" in note for note in whole.notes)
    assert [batch.number for batch in batches] == [0, 1, 2, 3]
    for done in range(5):
        sent.clear()
        resumed, new = measured(model, images, options, batch_size=16, finished=batches[:done])
        same(resumed, whole)
        assert [batch.number for batch in new] == list(range(done, 4))
        assert sum(sent) == (90 - 20 * done if done < 4 else 10)


def test_a_batch_is_given_as_soon_as_it_is_finished():
    seen, order = [], []

    class Watching(nn.Module):
        def forward(self, x):
            order.append(("forward", len(seen)))
            return torch.relu(x)

    measure(Watching(), pictures(40), choose_options(n=10), "cpu", batch_size=10, progress=False, on_batch=seen.append)
    # the further passes of the first batch are the checks of the network
    checks = [batches for _, batches in order]
    assert checks[checks.index(1) :] == [1, 2, 3]
    assert set(checks[: checks.index(1)]) == {0}
    assert len(seen) == 4


def test_the_positions_of_sample_do_not_depend_on_the_batches_before(sent):
    model, images = load_model("mini:digitsnet"), torch.randn(64, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    options = choose_options(n=16, reduction="sample", criteria=False)
    together, _ = measured(model, images, options)
    _, (first, *_) = measured(model, images[:16], options)
    resumed, _ = measured(model, images, options, finished=[first])
    same(resumed, together)
    # a smaller batch of the network has the same positions; only the last digits are others
    apart, _ = measured(model, images, options, batch_size=5)
    np.testing.assert_allclose(apart.scores, together.scores, rtol=0, atol=1e-5)


def test_a_single_short_batch_can_be_given():
    model, images = nn.ReLU(), pictures(7)
    options = choose_options(n=20)
    whole, batches = measured(model, images, options)
    resumed, new = measured(model, images, options, finished=batches)
    same(resumed, whole)
    assert not new


def test_batches_that_belong_to_another_run_are_refused():
    model, images = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), pictures(40)
    options = choose_options(n=10)
    _, batches = measured(model, images, options)
    other = images.clone()
    other[5, 0, 0, 0] += 1
    cases = [
        (model, other, batches[:1], "the finished batch 0 is of other data"),
        (model, images[:20], batches[:3], "3 batches are given as finished, the data has 2"),
        (model, images, batches[1:], "not the first ones"),
        (nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), images, batches, "of another network"),
    ]
    for network, data, finished, message in cases:
        with pytest.raises(BatchesOfAnotherRunError, match=message):
            measured(network, data, options, finished=finished)
    with pytest.raises(BatchesOfAnotherRunError, match="a whole data set is scored at the end"):
        measured(model, images, choose_options(n=10, whole=True), finished=batches)


def test_networks_that_draw_random_numbers_depend_on_the_seed_alone():
    images = pictures(40)
    scores = [signature(noisy(), images, n=20, seed=seed, progress=False).scores for seed in (0, 0, 1)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_what_a_taken_up_signature_cannot_tell():
    model, images = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), pictures(20)
    _, batches = measured(model, images, choose_options(n=10))
    stored = [type(batch)(**{**vars(batch), "rows": without_costs(batch.rows)}) for batch in batches[:1]]
    resumed, _ = measured(model, images, choose_options(n=10), finished=stored)
    assert resumed.sample_costs == []


def without_costs(rows):
    return [{name: value for name, value in row.items() if name != "sample_costs"} for row in rows]
