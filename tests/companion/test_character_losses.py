"""Losses of predictions by counts, and of networks."""

from collections import Counter
from itertools import pairwise
from math import log2

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from affscore import AffscoreError
from companion.language import bits_a_character, character_losses

TEXTS = st.text("abcé\n", min_size=2, max_size=40)


@given(TEXTS, TEXTS)
def test_a_slow_reference(text, held_out):
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


def test_a_text_of_one_character_that_is_always_the_same_costs_nothing():
    assert character_losses("aaaa", "aaa") == (0.0, 0.0)


@pytest.mark.parametrize(("text", "held_out"), [("a", "ab"), ("ab", ""), ("", "")])
def test_too_little_text(text, held_out):
    with pytest.raises(AffscoreError, match="two characters at least are needed"):
        character_losses(text, held_out)


class Guesses(torch.nn.Module):
    """Logits of so many for the character itself, and zero for the 95 others."""

    def __init__(self, sure: float) -> None:
        super().__init__()
        self.sure, self.modes = sure, []

    def forward(self, ids):
        self.modes.append(self.training)
        return self.sure * torch.nn.functional.one_hot(ids, 96).float()


def test_bits_are_the_mean_loss_whatever_the_batch():
    windows, others = (torch.randint(0, 96, (70, 8), generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    assert bits_a_character(Guesses(0.0), windows, others) == pytest.approx(log2(96))
    assert bits_a_character(Guesses(100.0), windows, windows) == pytest.approx(0, abs=1e-6)
    logits = Guesses(2.0)(windows).double().log_softmax(dim=2)
    expected = -logits.gather(2, others[:, :, None]).mean().item() / torch.log(torch.tensor(2.0)).item()
    for size in (7, 64, 100):
        assert bits_a_character(Guesses(2.0), windows, others, size) == pytest.approx(expected, rel=1e-5)


def test_a_network_that_trains_goes_on_training():
    network = Guesses(1.0).train()
    bits_a_character(network, torch.zeros(2, 3, dtype=torch.long), torch.zeros(2, 3, dtype=torch.long))
    assert network.modes == [False]
    assert network.training


@pytest.mark.parametrize("shapes", [((0, 3), (0, 3)), ((2, 3), (2, 4))])
def test_windows_and_what_follows_go_together(shapes):
    windows, following = (torch.zeros(shape, dtype=torch.long) for shape in shapes)
    with pytest.raises(AffscoreError, match="expected windows and the characters that follow"):
        bits_a_character(Guesses(1.0), windows, following)
