"""Texts of several lengths: padded positions count for nothing, whatever they hold."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from affscore import AffscoreError, affinity_score, multiverse, signature, track
from affscore.models import TextPreprocessing
from affscore.network.reading import PADDING, tokens_of_text, unread_masks
from affscore.network.reduction import chosen_positions, reduce

LENGTH, WIDTH = 7, 6
MIXED = torch.tensor([[1, 1], [1, 0]])


class Padded(nn.Module):
    """Each token by itself, and a pooler of the first one; what padding holds depends on ``spoil``."""

    def __init__(self, spoil=0.0):
        super().__init__()
        self.words, self.up, self.pool = nn.Embedding(20, WIDTH), nn.Linear(WIDTH, 9), nn.Linear(9, 4)
        self.preprocessing = TextPreprocessing(vocabulary=20, maximum=LENGTH)
        self.spoil = spoil

    def forward(self, input_ids, attention_mask=None):
        features = self.up(self.words(input_ids))
        if attention_mask is not None:
            features = torch.where(attention_mask.bool()[:, :, None], features, features + self.spoil)
        features = nn.functional.gelu(features)
        return torch.tanh(self.pool(features[:, 0]))


def net(spoil=0.0):
    torch.manual_seed(0)
    return Padded(spoil)


def texts(n=24, seed=0):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 20, (n, LENGTH), generator=generator)
    lengths = torch.randint(1, LENGTH + 1, (n,), generator=generator)
    return {"input_ids": ids, "attention_mask": (torch.arange(LENGTH) < lengths[:, None]).long()}


def by_hand(data):
    """The pairs of the GELU: for each text alone, without padding, the means over its tokens."""
    model, pairs = net(), []
    with torch.no_grad():
        for ids, mask in zip(data["input_ids"], data["attention_mask"], strict=True):
            x = model.up(model.words(ids[mask.bool()]))
            pairs.append((x.mean(dim=0), nn.functional.gelu(x).mean(dim=0)))
    return (torch.stack(side) for side in zip(*pairs, strict=True))


@pytest.mark.parametrize("spoil", [0.0, 1e6, float("nan")])
@pytest.mark.parametrize("size", [5, 24])
def test_a_padded_text_counts_as_the_text_alone(spoil, size):
    data = texts()
    found = signature(net(spoil), data, n=24, criteria=False, batch_size=size, progress=False)
    x, y = by_hand(data)
    assert found.scores[0] == pytest.approx(affinity_score(x, y).value, abs=1e-5)
    assert PADDING in found.notes


@pytest.mark.parametrize("spoil", [0.0, 1e6, float("nan")])
def test_sparsity_is_that_of_the_tokens_alone(spoil):
    data, model = texts(), net(spoil)
    with torch.no_grad():
        model.up.weight *= 1e-3
        model.up.bias *= 1e-3
        tokens = model.up(model.words(data["input_ids"][data["attention_mask"].bool()]))
    share = (tokens.abs() <= 1e-3).double().mean().item()
    assert 0.2 < share < 0.98
    found = signature(model, data, n=24, criteria="sparsity", progress=False)
    assert found.table["sparsity_before"].iloc[0] == pytest.approx(share)


@given(st.integers(0, 2**16), st.sampled_from(["mean", "sum"]))
def test_a_slow_reference_of_the_reductions(seed, reduction):
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randn(3, 5, 2, dtype=torch.float64, generator=generator)
    text = torch.rand(3, 5, generator=generator) < 0.5
    text[:, seed % 5] = True
    expected = []
    for sample, kept in zip(tokens, text, strict=True):
        total = sum(token for token, keep in zip(sample, kept, strict=True) if keep)
        expected.append(total / int(kept.sum()) if reduction == "mean" else total)
    torch.testing.assert_close(reduce(tokens, 3, 2, reduction, text=text), torch.stack(expected))
    channels_first = reduce(tokens.movedim(2, 1), 3, 1, reduction, text=text)
    torch.testing.assert_close(channels_first, torch.stack(expected))


@pytest.mark.parametrize("left", [False, True])
def test_positions_are_drawn_among_the_tokens_of_the_text_all_as_likely(left):
    n, counts = 30_000, torch.arange(30_000) % 4 + 1
    place = torch.arange(4)
    text = place >= 4 - counts[:, None] if left else place < counts[:, None]
    tokens = torch.where(text, place, -1)[:, :, None].double()
    uniform = np.random.default_rng(0).random((n, 1))
    drawn = reduce(tokens, n, 2, "sample", lambda many: chosen_positions(uniform, many), text)[:, 0]
    assert drawn.min() >= 0
    for many in (1, 2, 3, 4):
        share = torch.bincount(drawn[counts == many].long(), minlength=4) / (n / 4)
        expected = text[counts == many][0] / many
        torch.testing.assert_close(share.double(), expected.double(), atol=0.03, rtol=0)


@pytest.mark.parametrize("size", [64, 128])
@pytest.mark.parametrize("short", [0, 100])
def test_several_positions_need_as_many_tokens(size, short):
    data = {"input_ids": torch.arange(128 * LENGTH).reshape(128, LENGTH) % 20}
    mask = torch.ones(128, LENGTH, dtype=torch.long)
    mask[short, 3:] = 0
    options = {"n": 128, "reduction": "positions", "criteria": False, "batch_size": size, "progress": False}
    with pytest.raises(AffscoreError, match=r"a text has 3 tokens, fewer than positions=4; use positions=3"):
        signature(net(), data | {"attention_mask": mask}, positions=4, **options)
    found = signature(net(), data | {"attention_mask": mask}, positions=3, **options)
    assert np.isfinite(found.scores[0])


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"reduction": "flatten"}, "reduction='flatten' would take in padding"),
        ({"attention_mask": texts()["attention_mask"] * 0}, {}, "a sample of the data is all padding"),
        ({"attention_mask": texts()["attention_mask"] * 2}, {}, r"1 for text and 0 for padding, got torch.int64"),
        ({"attention_mask": torch.ones(24, 1, LENGTH)}, {}, r"got torch.float32 of shape \(24, 1, 7\)"),
    ],
)
def test_masks_that_cannot_be_used(change, options, message):
    with pytest.raises(AffscoreError, match=message):
        signature(net(), texts() | change, n=24, criteria=False, progress=False, **options)


@pytest.mark.parametrize(
    ("entries", "read", "named"),
    [
        ({"attention_mask": MIXED}, "attention_mask", None),
        ({"attention_mask": MIXED}, "pad_mask", "attention_mask"),
        ({"attention_mask": MIXED}, None, None),
        ({"attention_mask": MIXED, "decoder_attention_mask": 1 - MIXED}, "attention_mask", "decoder_attention_mask"),
        ({"pixel_mask": MIXED[:, :, None].expand(-1, -1, 3)}, "attention_mask", "pixel_mask"),
        ({"masked": MIXED, "head_mask": MIXED[0], "mask": 2 * MIXED, "a_mask": None}, "attention_mask", None),
        ({"ones_mask": torch.ones(2, 2), "zeros_mask": torch.zeros(2, 2)}, "attention_mask", None),
        (torch.ones(2, 2), "attention_mask", None),
    ],
)
def test_masks_that_are_not_read(entries, read, named):
    sentence = unread_masks(entries, read)
    assert sentence == "" if named is None else sentence.startswith(f"the padding that {named} may mark")
    assert named is None or sentence.endswith(f"mask={named!r} leaves it out")


class Features(nn.Module):
    """Features of positions, with a mask of the padding under some name; what padding holds depends on ``spoil``."""

    def __init__(self, spoil=0.0):
        super().__init__()
        torch.manual_seed(0)
        self.up, self.spoil = nn.Linear(4, 9), spoil

    def forward(self, features, attention_mask=None, pad_mask=None):
        padding = attention_mask == 0 if pad_mask is None else pad_mask.bool()
        features = self.up(features)
        return nn.functional.gelu(torch.where(padding[:, :, None], features + self.spoil, features))


@pytest.mark.parametrize("spoil", [0.0, 1e6, float("nan")])
def test_the_mask_of_any_network_marks_padding_and_may_have_another_name(spoil):
    features = torch.randn(64, 7, 4, generator=torch.Generator().manual_seed(0))
    mask = (torch.arange(7) < 1 + torch.arange(64)[:, None] % 7).long()
    network, options = Features(spoil), {"n": 64, "criteria": False, "progress": False}
    with torch.no_grad():
        x = [network.up(one[kept.bool()]) for one, kept in zip(features, mask, strict=True)]
    x, y = (torch.stack([pair.mean(0) for pair in side]) for side in (x, [nn.functional.gelu(one) for one in x]))
    expected = pytest.approx(affinity_score(x, y).value, abs=1e-5)
    padded = {"features": features, "pad_mask": 1 - mask}
    for data, more in (
        ({"features": features, "attention_mask": mask}, {}),
        (padded, {"mask": "pad_mask"}),
        (padded, {"mask": "pad_mask", "forward": lambda network, batch: network(**batch)}),
    ):
        found = signature(network, data, **options, **more)
        assert found.scores[0] == expected
        assert PADDING in found.notes
    assert multiverse(network, padded, n=64, mask="pad_mask", progress=False).signature().scores[0] == expected
    tracker = track(network, padded, n=64, mask="pad_mask", coupling="exact")
    assert tracker.table["score"].tolist() == [expected]
    if spoil == 0:
        counted = signature(network, {"features": features, "attention_mask": mask}, mask=None, **options)
        assert counted.scores[0] != expected
        assert PADDING not in counted.notes
    with pytest.raises(AffscoreError, match="has no entry 'mask', which is to be the mask"):
        signature(network, padded, mask="mask", **options)
    with pytest.raises(AffscoreError, match="mask must be the name of an entry"):
        signature(network, padded, mask=1, **options)


@pytest.mark.parametrize("name", ["decoder_input_ids", "decoder_attention_mask"])
def test_padding_is_that_of_the_decoder_too_or_refused(name):
    data = texts()
    twice = {name: data[name.removeprefix("decoder_")]}
    torch.testing.assert_close(tokens_of_text(data | twice, {}), data["attention_mask"].bool())
    other = {name: twice[name].flip(0)}
    with pytest.raises(AffscoreError, match=f"marks padding .attention_mask. of other tokens than those of {name}"):
        tokens_of_text(data | other, {})
