"""Transformers that translate: an encoder of the sentence, and a decoder that names the next token of its translation.

``number_translator`` is small enough to learn in half a minute to write French numbers in digits; ``transformer_base``
has the size of Vaswani et al.'s base network, and normalises before each part, so that it needs no warm-up of the
learning rate (Xiong et al., 2020). A network of yours can have other sizes: :class:`Translator`.

Source: Vaswani et al., Attention is all you need (2017).
"""

import warnings
from functools import partial

import torch
from torch import Tensor, nn

PAD, BEGIN, END = 0, 1, 2
"""Tokens: no token, the one before a translation, the one behind it."""


class Translator(nn.Module):
    """An encoder-decoder with learned positions.

    Args:
        vocabulary: How many tokens there are, of both languages together.
        source: Tokens of a sentence; shorter ones are filled up with :data:`PAD`.
        target: Tokens of a translation, likewise.
        width: Features of a token.
        heads: Of each attention.
        layers: Of the encoder, and as many of the decoder.
        hidden: Features between the two linear layers of a feed-forward part, where the ReLUs are.
        dropout: Share of the features that training drops.
        norm_first: Whether each part normalises its input, and not its output added to the input.
    """

    def __init__(
        self,
        vocabulary: int,
        source: int,
        target: int,
        width: int,
        heads: int,
        layers: int,
        hidden: int,
        dropout: float,
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        self.source = source
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Parameter(0.02 * torch.randn(source + target, width))
        with warnings.catch_warnings():  # PyTorch says that norm_first has no nested tensors, which are not asked for
            warnings.simplefilter("ignore", UserWarning)
            self.transformer = nn.Transformer(
                width, heads, layers, layers, hidden, dropout, batch_first=True, norm_first=norm_first
            )
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, vocabulary, target) of the tokens of a translation.

        Args:
            x: Tokens (N, source + target): a sentence, then :data:`BEGIN` and the translation as far as it is known.
        """
        features = self.tokens(x) + self.places
        empty = x[:, : self.source] == PAD
        length = x.shape[1] - self.source
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        out = self.transformer(
            features[:, : self.source],
            features[:, self.source :],
            tgt_mask=later,
            src_key_padding_mask=empty,
            memory_key_padding_mask=empty,
        )
        return self.head(out).movedim(2, 1)


number_translator = partial(Translator, 38, 12, 5, width=16, heads=2, layers=1, hidden=64, dropout=0.0)
transformer_base = partial(
    Translator, 37_000, 64, 64, width=512, heads=8, layers=6, hidden=2048, dropout=0.1, norm_first=True
)
