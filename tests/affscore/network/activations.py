"""An activation on a batch, as criteria see it."""

import functools

import torch

from affscore.network.scoring import Pair, joined
from affscore.recorder.calls import ActivationCall

CALL = ActivationCall(
    index=4, layer="block.act", call=1, activation="relu", depth=3, kind="hidden", channel_axis=1, image_axis=0,
    positions=4, upstream=None,
)  # fmt: skip


def pair(x, y, parts=1, dtype=torch.float32):
    """The reduced input and output of a ReLU; of 100 entries of its feature maps 5 and 50 are next to zero."""
    return Pair(
        CALL,
        dtype,
        torch.relu,
        *(functools.reduce(joined, z.chunk(parts), torch.empty(0)) for z in (x, y)),
        entries=100,
        sparse=(5, 50),
    )
