"""Small transformers that name the next character, with an ordinary and with a gated feed-forward part.

    affscore signature examples/language_networks.py:char_gpt --dataset docstrings --n 512

``char_gpt`` has the blocks of GPT-2: two linear layers with a GELU between them. ``gated_char_gpt`` has gated units
(GEGLU): the GELU of one linear layer times another one. All else is the same: 4 blocks of 128 features, 512 behind each
GELU, so that scores have as many channels, and windows of 128 characters. A gated block has one linear layer more.
``tiny_char_gpt`` is small enough to learn something in half a minute.

Source: Radford et al., Language models are unsupervised multitask learners (2019); Shazeer, GLU variants improve
transformer (2020).
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.models import TextPreprocessing

FIRST, LAST = 32, 126
"""The printable characters of ASCII."""

CHARACTERS = LAST - FIRST + 2
"""Them and the end of a line."""


def characters(text: str) -> list[int]:
    r"""The number of each character: 0 for the end of a line, then those of ASCII; a question mark for any other.

    >>> characters("a b\n")
    [66, 1, 67, 0]
    """
    codes = (ord(one) if FIRST <= ord(one) <= LAST or one == "\n" else ord("?") for one in text)
    return [0 if code == ord("\n") else code - FIRST + 1 for code in codes]


class FeedForward(nn.Module):
    """Two linear layers with a GELU between them.

    Args:
        width: Features.
        hidden: Features between the layers.
        gated: Whether the GELU's output is multiplied by another linear layer of the input.
    """

    def __init__(self, width: int, hidden: int, gated: bool) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.other = nn.Linear(width, hidden) if gated else None

    def forward(self, x: Tensor) -> Tensor:
        """Features (N, length, width) of each position by itself."""
        bent = F.gelu(self.up(x))
        return self.down(bent if self.other is None else bent * self.other(x))


class Attention(nn.Module):
    """Each position looks at itself and those before it.

    Args:
        width: Features.
        heads: How many parts attend by themselves.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Features (N, length, width), of which none knows what comes behind it."""
        parts = self.inputs(x).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        found = F.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        return self.output(found.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention and a feed-forward part, each behind a layer norm and beside a shortcut."""

    def __init__(self, width: int, heads: int, hidden: int, gated: bool) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm2, self.feed_forward = nn.LayerNorm(width), FeedForward(width, hidden, gated)

    def forward(self, x: Tensor) -> Tensor:
        """Features (N, length, width)."""
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class CharGPT(nn.Module):
    """A transformer that names the next character.

    Args:
        width: Features of a position.
        layers: How many blocks.
        heads: Of each attention.
        hidden: Features behind each GELU.
        context: Characters of a window, at most.
        gated: Whether its feed-forward parts are gated.
    """

    def __init__(self, width: int, layers: int, heads: int, hidden: int, context: int, gated: bool = False) -> None:
        super().__init__()
        self.preprocessing = TextPreprocessing(characters, context, vocabulary=CHARACTERS, maximum=context)
        self.tokens, self.places = nn.Embedding(CHARACTERS, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads, hidden, gated) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, CHARACTERS, bias=False)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (N, length, characters) of the character behind each."""
        places = torch.arange(ids.shape[1], device=ids.device)
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.places(places))))


char_gpt = partial(CharGPT, width=128, layers=4, heads=4, hidden=512, context=128)
gated_char_gpt = partial(char_gpt, gated=True)
tiny_char_gpt = partial(CharGPT, width=48, layers=2, heads=2, hidden=192, context=64)
tiny_gated_char_gpt = partial(tiny_char_gpt, gated=True)
