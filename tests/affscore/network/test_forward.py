"""A network must keep images apart; where it does not, no score is given."""

import warnings

import pytest
import torch
from torch import nn

from affscore import AffscoreError, AffscoreWarning, signature
from tests.affscore.recorder.hard_networks import Net


def tokens(n=32):
    return torch.randn(n, 8, 6, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("make", [
    lambda x, dim: torch.stack([x[:, t] for t in range(8)], dim),
    lambda x, dim: torch.einsum(("ntc,ntd->cnd", "ntc,ntd->ncd")[dim], x, x),
])  # fmt: skip
def test_what_comes_in_front_of_the_images_does_not_matter(make):
    networks = [Net(lambda net, x, dim=dim: torch.relu(make(x, dim))) for dim in (0, 1)]
    front, behind = (signature(network, tokens(), n=32, criteria=False, progress=False) for network in networks)
    assert front.scores == pytest.approx(behind.scores, abs=1e-6)
    assert front.table["width"].tolist() == behind.table["width"].tolist() == [6]
    guessed = [any("is a guess" in note for note in one.notes) for one in (front, behind)]
    assert guessed == [True, True]  # nothing says where the channels of this input are


@pytest.mark.filterwarnings("ignore:std")
def test_a_network_that_mixes_samples_and_says_nothing_of_one_alone_is_refused():
    rows = torch.randn(32, 9, generator=torch.Generator().manual_seed(0))
    normed = nn.Sequential(nn.BatchNorm1d(9, track_running_stats=False), nn.ReLU())
    scaled = Net(lambda net, x: torch.relu((x - x.mean(0)) / (x.std(0) + 1e-5)))  # of one sample it is NaN
    for network, batch_size in ((normed, 3), (normed, 32), (scaled, 2), (scaled, 3), (scaled, 32)):
        with pytest.raises(AffscoreError, match=r"mixes samples.* samples? alone gives? other numbers"):
            signature(network, rows, n=32, batch_size=batch_size, progress=False)
    with pytest.warns(AffscoreWarning, match=r"was not checked: .*one sample alone.* may depend on batch_size"):
        signature(normed, rows, n=32, batch_size=2, progress=False)


def test_an_output_that_never_varies_does_not_show_that_samples_are_apart():
    mixes = Net(lambda net, x: 0 * torch.stack([torch.relu(row) for row in x - x.mean(0)]))
    with pytest.raises(AffscoreError, match="must count the 16 samples"):
        signature(mixes, tokens(16)[:, 0], n=16, progress=False)


def test_a_forward_without_a_signature_is_measured():
    network = nn.Identity()
    network.forward = torch._C._nn.gelu
    assert len(signature(network, tokens()[:, 0], n=32, progress=False)) == 1


@pytest.mark.parametrize(("least", "checked"), [(2, True), (4, True), (5, False)])
def test_a_network_that_takes_no_single_image_is_checked_with_a_few_or_warned_of(least, checked):
    def several(net, x):
        if len(x) < least:
            raise ValueError(f"{least} at least")
        return torch.relu(x)

    notes = signature(Net(several), tokens(), n=32, progress=False).notes
    assert checked != any(note.kind == "warning" and "was not checked" in note for note in notes)


def test_a_network_that_draws_is_noted_and_the_seed_covers_it():
    noisy, state = Net(lambda net, x: torch.relu(nn.functional.dropout(x, 0.5, training=True))), torch.get_rng_state()
    one, same, other = (signature(noisy, tokens(), n=32, seed=seed, progress=False) for seed in (1, 1, 2))
    assert any("it draws random numbers or keeps a state" in note for note in one.notes)
    assert one.scores.tolist() == same.scores.tolist() != other.scores.tolist()
    assert torch.equal(torch.get_rng_state(), state)


def test_the_fingerprint_of_the_data_is_that_of_what_was_scored():
    images = torch.randn(40, 3, 8, 8, generator=torch.Generator().manual_seed(3))
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())

    def print_of(data, n, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            result = signature(network, data, n=n, criteria=False, progress=False, **options)
            return result.metadata["fingerprint_data"]

    assert print_of(images, 16) == print_of(images[:32], 16)  # the last eight were dropped
    assert print_of(images, 16) != print_of(images[:16], 16)
    assert print_of(images[:16], 16) != print_of(images[:16].transpose(2, 3), 16)
    assert print_of(images[:16], 16) == print_of(images[:16], 16, batch_size=5)
    assert print_of(images[:16], 16) != print_of(images[:16].flip(0), 16)
    changed = images[:16].clone()
    changed[7, 2, 3, 4] = changed[7, 2, 3, 4].nextafter(torch.tensor(torch.inf))
    assert print_of(images[:16], 16) != print_of(changed, 16)


def by_place(count):
    return lambda x: x * (1 + torch.arange(len(x)) % count)[:, None]


def in_pairs(x):
    pairs = x[: len(x) // 2 * 2].unflatten(0, (-1, 2))
    return torch.cat([pairs + pairs.flip(1), x[len(x) // 2 * 2 :][:, None].repeat(1, 2, 1)]).flatten(0, 1)[: len(x)]


MIXES = {
    "the middle": lambda x: torch.cat([x[:1], x[1:-1] + x.mean(0), x[-1:]]),
    "with the first": lambda x: x + x[:1],
    "with the last": lambda x: x + x[-1:],
    "the first alone": lambda x: torch.cat([x[:1] + x.mean(0), x[1:]]),
    "the last alone": lambda x: torch.cat([x[:-1], x[-1:] + x.mean(0)]),
    "turned": lambda x: x + x.flip(0),
    "from behind": lambda x: x.flip(0).cumsum(0).flip(0),
    **{f"by place among {count}": by_place(count) for count in (2, 3, 5)},
    "in pairs": in_pairs,
}


@pytest.mark.parametrize("mix", MIXES.values(), ids=MIXES)
@pytest.mark.parametrize("batch_size", [3, 4, 9, 16, 64])
def test_mixing_of_any_samples_is_refused(mix, batch_size):
    mixing = Net(lambda net, x: torch.relu(mix(net.layer(x))), layer=nn.Linear(5, 6))
    with pytest.raises(AffscoreError, match="mixes samples"):
        signature(mixing, torch.randn(64, 5), n=64, batch_size=batch_size, progress=False)


def test_a_network_that_fails_on_what_was_assumed_says_what_that_was():
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU())
    with pytest.raises(
        AffscoreError, match=r"fails on images .* 8 x 8 pixels, .* preprocessing = affscore.models.Prep"
    ):
        signature(network, "digits", n=4, images=4, criteria=False, progress=False)
    with pytest.raises(AffscoreError, match=r"but got 3 channels instead$"):  # nothing was assumed of tensors
        signature(network, torch.randn(4, 3, 8, 8), n=4, criteria=False, progress=False)
    no_activation = nn.Sequential(nn.Conv2d(3, 4, 3))
    with pytest.raises(AffscoreError, match=r"^no elementwise activation .*(?<!Preprocessing\(\.\.\.\))$"):
        signature(no_activation, "digits", n=4, images=4, criteria=False, progress=False)


def test_a_list_of_what_each_sample_gives_shows_that_they_are_apart():
    class Lists(nn.Linear):
        def forward(self, x):
            return [torch.sigmoid(one) for one in torch.relu(super().forward(x))]

    result = signature(Lists(5, 6), torch.randn(32, 5), n=32, criteria=False, progress=False)
    assert result.summary[["activation", "width"]].to_numpy().tolist() == [["relu", 6], ["sigmoid", 6]]
    assert any("one at a time" in note for note in result.notes)
