"""Scores at single positions."""

import numpy as np
import pytest
import torch
from torch import nn

from affscore import AffscoreError, affinity_score, signature
from affscore.models import TextPreprocessing
from companion.language import scores_by_position


class Tokens(nn.Module):
    """A GELU of each token, and a tanh of the first one."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.words, self.up, self.pool = nn.Embedding(20, 6), nn.Linear(6, 9), nn.Linear(9, 4)
        self.preprocessing = TextPreprocessing(vocabulary=20)

    def forward(self, input_ids, attention_mask=None):
        features = nn.functional.gelu(self.up(self.words(input_ids)).cumsum(dim=1))
        return torch.tanh(self.pool(features[:, 0]))


IDS = torch.randint(0, 20, (40, 5), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("covariance", ["ledoit-wolf", "empirical"])
def test_the_score_of_the_vectors_at_a_position(covariance):
    network = Tokens()
    found = scores_by_position(network, IDS, [3, 0, -1], n=40, covariance=covariance, batch_size=7)
    assert found["position"].tolist() == [3, 0, -1]
    assert found["activation"].tolist() == ["gelu"] * 3  # that of the pooler has no positions
    with torch.no_grad():
        x = network.up(network.words(IDS)).cumsum(dim=1)
    for place, row in found.set_index("position").iterrows():
        expected = affinity_score(x[:, place], nn.functional.gelu(x[:, place]), covariance)
        assert row["score"] == pytest.approx(expected.value, abs=1e-5)
        assert row["paired"] == pytest.approx(expected.paired, abs=1e-5)
    assert found.set_index("position")["distinct"][0] == len(IDS[:, 0].unique())
    assert (found["n"] == 40).all()


def test_vectors_that_differ_by_rounding_are_one():
    class Rounded(Tokens):
        def forward(self, input_ids, attention_mask=None):
            by = 1 + input_ids[:, 1:].double().mean(dim=1).float()[:, None, None]
            return torch.tanh(self.pool(self.up(self.words(input_ids)) * by / by))

    network = Rounded()
    with torch.no_grad():
        by = 1 + IDS[:, 1:].double().mean(dim=1).float()[:, None, None]
        rows = network.pool(network.up(network.words(IDS)) * by / by)[:, 0]
    different = len(IDS[:, 0].unique())
    assert len(torch.unique(rows, dim=0)) > different  # to the last bit
    assert scores_by_position(network, IDS, [0], n=40)["distinct"].tolist() == [different]


def test_where_there_is_one_position_it_is_the_signature():
    single = IDS[:, :1]
    expected = signature(Tokens(), single, n=40, criteria=False, progress=False).scores[0]
    assert scores_by_position(Tokens(), single, [0], n=40)["score"].tolist() == pytest.approx([expected])


def test_positions_count_the_tokens_of_the_text():
    mask = torch.ones_like(IDS)
    mask[::2, 3:] = 0
    padded = scores_by_position(Tokens(), {"input_ids": IDS, "attention_mask": mask}, [-1], n=40)
    network = Tokens()
    with torch.no_grad():
        x = network.up(network.words(IDS)).cumsum(dim=1)[torch.arange(40), mask.sum(dim=1) - 1]
    assert padded["score"][0] == pytest.approx(affinity_score(x, nn.functional.gelu(x)).value, abs=1e-5)
    with pytest.raises(AffscoreError, match="a sample has 3 positions there, and 3 were asked for"):
        scores_by_position(Tokens(), {"input_ids": IDS, "attention_mask": mask}, [3], n=40)


def test_fewer_samples_and_no_trace():
    network = Tokens().train()
    before = torch.get_rng_state()
    found = scores_by_position(network, IDS, [0], n=16, batch_size=5)
    assert (found["n"].tolist(), network.training) == ([16], True)
    assert torch.equal(torch.get_rng_state(), before)
    again = scores_by_position(network, IDS[:16], [0])
    assert found["score"].tolist() == pytest.approx(again["score"].tolist(), abs=1e-6)


def test_a_network_without_positions():
    with pytest.raises(AffscoreError, match="no activation of Sequential has positions"):
        scores_by_position(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), torch.randn(20, 3), [0])


def test_a_pixel_of_a_map_with_channels_first():
    network = nn.Sequential(nn.Conv2d(1, 4, 1), nn.ReLU())
    x = torch.randn(30, 1, 3, 3)
    found = scores_by_position(network, x, np.array([4]), n=30)
    with torch.no_grad():
        middle = network[0](x)[:, :, 1, 1]
    assert found["score"][0] == pytest.approx(affinity_score(middle, middle.relu()).value, abs=1e-5)
