"""Losses of predictions by counts."""

from collections import Counter
from itertools import pairwise
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affscore import AffscoreError
from affscore.experiments import character_losses

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
