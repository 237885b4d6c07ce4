"""Scores at single positions of a text, and losses of predictions by counts and by networks."""

from collections import Counter
from itertools import pairwise
from math import log2

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from affscore import AffscoreError, affinity_score
from affscore.models import TextPreprocessing
from companion.language import bits_a_character, character_losses, scores_by_position


class Tokens(nn.Module):
    """A GELU of each token, and a tanh of the first one."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.words, self.up, self.pool = nn.Embedding(20, 6), nn.Linear(6, 9), nn.Linear(9, 4)
        self.preprocessing = TextPreprocessing(vocabulary=20)

    def features(self, ids):
        return self.up(self.words(ids)).cumsum(dim=1)

    def forward(self, input_ids, attention_mask=None):
        return torch.tanh(self.pool(nn.functional.gelu(self.features(input_ids))[:, 0]))


IDS = torch.randint(0, 20, (40, 5), generator=torch.Generator().manual_seed(1))
DISTINCT = len(IDS[:, 0].unique())


@pytest.mark.parametrize("covariance", ["ledoit-wolf", "empirical"])
def test_the_score_of_the_vectors_at_a_position_leaves_no_trace(covariance):
    network, before = Tokens().train(), torch.get_rng_state()
    found = scores_by_position(network, IDS, [3, 0, -1], n=30, covariance=covariance, batch_size=7)
    assert torch.equal(torch.get_rng_state(), before)
    assert network.training
    assert found["position"].tolist() == [3, 0, -1]
    assert found["activation"].tolist() == ["gelu"] * 3  # that of the pooler has no positions
    assert found["n"].tolist() == [30] * 3
    with torch.no_grad():
        x = network.features(IDS[:30])
    for place, row in found.set_index("position").iterrows():
        expected = affinity_score(x[:, place], nn.functional.gelu(x[:, place]), covariance)
        assert row["score"] == pytest.approx(expected.value, abs=1e-5)
        assert row["paired"] == pytest.approx(expected.paired, abs=1e-5)


def test_vectors_that_differ_by_rounding_are_one():
    class Rounded(Tokens):
        def rows(self, ids):
            by = 1 + ids[:, 1:].double().mean(dim=1).float()[:, None, None]
            return self.pool(self.up(self.words(ids)) * by / by)

        def forward(self, input_ids, attention_mask=None):
            return torch.tanh(self.rows(input_ids))

    network = Rounded()
    with torch.no_grad():
        assert len(torch.unique(network.rows(IDS)[:, 0], dim=0)) > DISTINCT  # to the last bit
    assert scores_by_position(network, IDS, [0], n=40)["distinct"].tolist() == [DISTINCT]


def test_positions_count_the_tokens_of_the_text():
    mask = torch.ones_like(IDS)
    mask[::2, 3:] = 0
    network, given = Tokens(), {"input_ids": IDS, "attention_mask": mask}
    padded = scores_by_position(network, given, [-1], n=40)
    with torch.no_grad():
        x = network.features(IDS)[torch.arange(40), mask.sum(dim=1) - 1]
    assert padded["score"][0] == pytest.approx(affinity_score(x, nn.functional.gelu(x)).value, abs=1e-5)
    with pytest.raises(AffscoreError, match="a sample has 3 positions there, and 3 were asked for"):
        scores_by_position(network, given, [3], n=40)
    with pytest.raises(AffscoreError, match="no activation of Sequential has positions"):
        scores_by_position(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), torch.randn(20, 3), [0])


TEXTS = st.text("abcé\n", min_size=2, max_size=40)


@given(TEXTS, TEXTS)
def test_losses_by_counts_against_a_slow_reference(text, held_out):
    alphabet = set(text) | set(held_out)
    single, pairs = Counter(text), Counter(pairwise(text))
    total = len(text) + len(alphabet)
    alone = [log2(total / (single[one] + 1)) for one in held_out[1:]]
    behind = []
    for one, other in pairwise(held_out):
        starts = sum(pairs[one, each] + 1 for each in alphabet)
        behind.append(log2(starts / (pairs[one, other] + 1)))
    expected = (sum(alone) / len(alone), sum(behind) / len(behind))
    assert character_losses(text, held_out) == pytest.approx(expected)


class Guesses(nn.Module):
    """Logits of so many for the character itself, and zero for the 95 others; in evaluation mode alone."""

    def __init__(self, sure):
        super().__init__()
        self.sure = sure

    def forward(self, ids):
        assert not self.training
        return self.sure * nn.functional.one_hot(ids, 96).float()


def test_bits_are_the_mean_loss_whatever_the_batch_and_a_network_that_trains_goes_on_training():
    windows, others = (torch.randint(0, 96, (70, 8), generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    assert bits_a_character(Guesses(0.0), windows, others) == pytest.approx(log2(96))
    assert bits_a_character(Guesses(100.0), windows, windows) == pytest.approx(0, abs=1e-6)
    network = Guesses(2.0)
    logits = network.eval()(windows).double().log_softmax(dim=2)
    expected = -logits.gather(2, others[:, :, None]).mean().item() / torch.log(torch.tensor(2.0)).item()
    for size in (7, 100):
        assert bits_a_character(network.train(), windows, others, size) == pytest.approx(expected, rel=1e-5)
        assert network.training
