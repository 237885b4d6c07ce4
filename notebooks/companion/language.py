"""Language models: scores at single positions of a text, and how well simpler ones predict it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.models import card_of, load_model
from affscore.network.collect import Collector
from affscore.network.forward import forward as through
from affscore.network.images import image_stream
from affscore.network.inputs import Feeding, Forward
from affscore.network.scoring import BatchSamples, score_pair
from affscore.options import Options, checked
from affscore.recorder import recording
from affscore.recorder.calls import ActivationCall
from affscore.recorder.model_state import choose_device, prepared, random_states_kept, unwrapped
from affscore.transport.covariances import CovarianceName
from affscore.transport.decompositions import TINY
from affscore.transport.samples import CentredSample

_COLUMNS = ("index", "layer", "call", "activation", "kind", "depth", "width", "n", "score", "paired", "flag")


@dataclass(eq=False)
class _AtPositions(Collector):
    """Takes the same positions of every sample, in the place of random ones."""

    at: tuple[int, ...] = ()
    having: set[int] = field(default_factory=set)  # the activations that have positions

    def _positions(self, call: ActivationCall, each: int, count: int | NDArray[np.int64]) -> Tensor:
        self.having.add(call.index)
        counts = np.broadcast_to(count, self.images)
        if max(max(self.at) + 1, -min(self.at)) > counts.min():
            raise AffscoreError(
                f"a sample has {counts.min()} positions there, and {', '.join(map(str, self.at))} were asked for"
            )
        asked = np.array(self.at)
        return torch.from_numpy(np.where(asked < 0, counts[:, None] + asked, asked))


def scores_by_position(
    model: nn.Module | str,
    data: Any,
    at: Sequence[int],
    n: int = 512,
    covariance: CovarianceName = "ledoit-wolf",
    device: str = "auto",
    batch_size: int = 64,
    seed: int = 0,
    forward: Forward | None = None,
) -> pd.DataFrame:
    """The scores of all activations at single positions: the first token, the tenth, the last.

    At one position a sample has one vector of channels before an activation and one behind it, so nothing is averaged,
    and the order does not matter. In a causal network position 0 knows one token and the last one all of them.

    Args:
        model: A network, or its name.
        data: As for :func:`affscore.signature`. Where an ``attention_mask`` marks padding, positions count the tokens
            of the text.
        at: Which positions, from 0; negative ones count from the end.
        n: How many samples, at most.

    As for :func:`affscore.signature`: covariance, device, batch_size, seed, forward.

    Returns:
        A row for each position and activation, with ``position``, ``distinct`` (how many vectors go in that differ by
        more than rounding), and of the columns of a signature ``index``, ``layer``, ``call``, ``activation``, ``kind``,
        ``depth``, ``width``, ``n``, ``score``, in [0, 1], ``paired``, the score under the paired coupling, and
        ``flag``. Activations that have no positions, as that of a pooler, have no rows.

    Raises:
        AffscoreError: As :func:`affscore.signature`; no position, or one that an activation does not have.

    >>> from affscore import load_model
    >>> table = scores_by_position("mini:vit_b_32", "digits", [0, -1], n=64)
    >>> table["position"].unique().tolist(), len(table)
    ([0, -1], 12)
    """
    places = tuple(at)
    options = checked(
        Options(n=n, reduction="positions", positions=len(places), covariance=covariance, criteria=(), seed=seed)
    )
    network = unwrapped(load_model(model, seed) if isinstance(model, str) else model)
    card, where = card_of(network), choose_device(device, network)
    stream = image_stream(data, card, options, batch_size, Feeding(network, forward))
    collector, left = _AtPositions(options, n, at=places), n
    with (
        torch.no_grad(),
        random_states_kept(where),
        prepared(network, where),
        recording(network, collector) as recorder,
    ):
        for chunk in stream.chunks:
            some = chunk[:left].each(lambda tensor: tensor.to(where))
            through(network, recorder, some, card.name)
            left -= len(some)
            if not left:
                break
    rows = []
    for pair in collector.collected()[0]:
        if pair.call.index not in collector.having:
            continue
        x, y = (side.unflatten(0, (-1, len(places))) for side in (pair.x, pair.y))
        for number, place in enumerate(places):
            one = replace(pair, x=x[:, number], y=y[:, number], points_a_sample=1)
            row = score_pair(one, options)
            about = {"position": int(place), "distinct": _distinct(BatchSamples(one).source)}
            rows.append({name: row[name] for name in _COLUMNS} | about)
    if not rows:
        raise AffscoreError(f"no activation of {card.name} has positions: each sample is one vector there")
    return pd.DataFrame(rows).sort_values(["position", "index"], key=_as_given(places)).reset_index(drop=True)


def _distinct(sample: CentredSample) -> int:
    """How many of the points are further than rounding from all points before them."""
    units = sample.points / sample.noise.clamp(min=TINY)
    return len(units) - int((torch.cdist(units, units, p=torch.inf) <= 1).tril(-1).any(dim=1).sum())


def _as_given(places: tuple[int, ...]) -> Any:
    """Sorts positions in the order in which they were asked for."""
    return lambda column: column.map(places.index) if column.name == "position" else column


@torch.no_grad()
def bits_a_character(network: nn.Module, windows: Tensor, following: Tensor, batch_size: int = 64) -> float:
    r"""The loss of a language model: the mean of :math:`-\log_2 p` of the characters that follow.

    Args:
        network: Gives logits (N, length, characters) for windows, in evaluation mode; it stays as it is.
        windows: Tensor (N, length) of integers.
        following: The character that follows each of them, likewise.
        batch_size: Windows that go through the network at once.

    Returns:
        Bits, at least 0.

    Raises:
        AffscoreError: No windows, or other shapes.

    >>> even = nn.Embedding.from_pretrained(torch.zeros(8, 8))
    >>> round(bits_a_character(even, torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)), 5)
    3.0
    """
    if not windows.numel() or windows.shape != following.shape:
        raise AffscoreError(
            f"expected windows and the characters that follow, both (N, length), got shapes {tuple(windows.shape)} and "
            f"{tuple(following.shape)}"
        )
    loss = 0.0
    with prepared(network, windows.device):
        for some, wanted in zip(windows.split(batch_size), following.split(batch_size), strict=True):
            logits = network(some).flatten(0, 1)
            loss += float(nn.functional.cross_entropy(logits, wanted.flatten(), reduction="sum"))
    return loss / following.numel() / math.log(2)


def character_losses(text: str, held_out: str) -> tuple[float, float]:
    r"""Bits a character of two simple predictions of a text, which a language model should beat.

    With counts :math:`c` of the first text, plus one for each of the :math:`k` characters of both,

    .. math:: -\frac{1}{N} \sum_i \log_2 \frac{c(x_i) + 1}{\sum_x (c(x) + 1)}
        \quad\text{and}\quad -\frac{1}{N} \sum_i \log_2 \frac{c(x_{i-1} x_i) + 1}{\sum_x (c(x_{i-1} x) + 1)}.

    Args:
        text: What is counted.
        held_out: What is predicted, from its second character on.

    Returns:
        The losses by single characters and by pairs, in bits; at most a little above log2 k, and 0 where all is known.

    Raises:
        AffscoreError: A text of fewer than two characters.

    >>> single, pairs = character_losses("ab" * 5000, "ab" * 50)
    >>> round(single, 2), round(pairs, 2)
    (1.0, 0.0)
    """
    if min(len(text), len(held_out)) < 2:
        raise AffscoreError(f"two characters at least are needed, got texts of {len(text)} and {len(held_out)}")
    codes = [np.frombuffer(one.encode("utf-32-le"), dtype=np.uint32) for one in (text, held_out)]
    _, numbers = np.unique(np.concatenate(codes), return_inverse=True)
    known, asked = numbers[: len(text)], numbers[len(text) :]
    size = int(numbers.max()) + 1
    single = np.bincount(known, minlength=size) + 1.0
    pairs = np.zeros((size, size))
    np.add.at(pairs, (known[:-1], known[1:]), 1.0)
    pairs += 1
    alone = -np.log2(single / single.sum())
    behind = -np.log2(pairs / pairs.sum(axis=1, keepdims=True))
    return float(alone[asked[1:]].mean()), float(behind[asked[:-1], asked[1:]].mean())
