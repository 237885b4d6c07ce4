"""Which channels of a trained network can be linear? Criteria choose some, and the network shows what it loses.

The plan, written down before the run. Half of the images give each channel its values and its least-squares line, over
all positions; on the other half the activation of the chosen channels is this line. Each activation loses the same
share of its channels: 25, 50 and 75 %. What counts is the accuracy in points, the mean over the three shares.

* Nine trained networks of eight designs on real images decide; a network is the unit. On CIFAR-10: ResNet-20 and
  plain-20 (400 images), SimpNet 0.6M and SqueezeNet (240); on 120 photographs: SqueezeNet 1.1, MobileNetV1 0.25,
  MobileNetV2 0.5, MobileNetV3 minimal, ResNet-18. Ten mini networks on 256 scans of digits are a second set, which
  decides nothing; six of them were seen before, with 64 scans and two draws. (A first version had 400 images of
  CIFAR-10 and 200 photographs for all; it was cut for time, with two networks measured and no number seen.)
* The criterion of the diagonal score makes the channels with the least ``contribution`` linear first. Against
  ``random`` channels (ten draws), and against the highest ``affinity``, the criterion of :func:`affscore.linearize`,
  it is *better* if the interval of its mean lead (95 % for both together) lies above two points and it leads in at
  least eight of the nine; *no better* if the interval lies below two points; *open* otherwise.
* Two controls: the ``reversed`` order, and the least ``variance`` of the output, the contribution without the
  correlation. Where the interval of the lead over that lies below two points, the correlation adds nothing.
* Beside it (scope "network") the share is of all channels of the network together, as ``linearize`` has it.

``python -m companion.chapter_16.linear_channels FILE MODEL@WEIGHTS DATASET IMAGES ...`` adds networks to a file.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.batch import Subject, subject_of
from affscore.network.forward import forward, predictions
from affscore.network.inputs import Inputs
from affscore.nonlinear_advantage.linearize import channel_scores
from affscore.options import Execution, Options
from affscore.recorder import ActivationCall, Listener, recording
from affscore.recorder.model_state import prepared
from companion.shipped import RESULTS

FILE = RESULTS.parent / "linear_channels.parquet"

SHARES, DRAWS = (0.25, 0.5, 0.75), 10

MARGIN = 2.0
"""Points of accuracy; see the plan."""

BY = ("contribution", "affinity", "variance", "reversed", "random")

CALL = ["layer", "call"]


class _Sums(Listener):
    """Adds up what the moments of each channel need, and keeps means over positions, for each activation."""

    def __init__(self) -> None:
        self.sums: dict[tuple[str, int], Any] = defaultdict(float)
        self.means: dict[tuple[str, int], list[Tensor]] = defaultdict(list)
        self._given: dict[int, Tensor] = {}

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        self._given[id(call)] = x.clone()  # it may be overwritten

    def after(self, call: ActivationCall, y: Tensor) -> None:
        axes, key = (call.image_axis, call.channel_axis), (call.layer, call.call)
        x, y = (
            one.double().movedim(axes, (0, 1)).reshape(one.shape[axes[0]], one.shape[axes[1]], -1)
            for one in (self._given.pop(id(call)), y)
        )
        terms = torch.ones_like(x), x, y, x.square(), y.square(), x * y
        self.sums[key] += torch.stack([term.sum(dim=(0, 2)) for term in terms])
        self.means[key].append(torch.stack([x.mean(dim=2), y.mean(dim=2)]))


class _Lines(Listener):
    """Puts a line in the place of the activation of each channel of a table."""

    def __init__(self, chosen: pd.DataFrame) -> None:
        self._lines = {
            key: torch.from_numpy(rows[["channel", "slope", "intercept"]].to_numpy(float).T)
            for key, rows in chosen.groupby(CALL)
        }
        self._outputs: dict[int, tuple[Tensor, Tensor]] = {}

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        if (lines := self._lines.get((call.layer, call.call))) is not None:
            channels, (slope, intercept) = lines[0].long(), lines[1:].to(x).reshape(2, -1, *[1] * (x.ndim - 1))
            self._outputs[id(call)] = channels, slope * x.movedim(call.channel_axis, 0)[channels] + intercept

    def after(self, call: ActivationCall, y: Tensor) -> None:
        if id(call) in self._outputs:
            channels, output = self._outputs.pop(id(call))
            y.movedim(call.channel_axis, 0)[channels] = output


def _through(subject: Subject, inputs: list[Inputs], listener: Listener) -> list[Any]:
    """The outputs of a network for some inputs."""
    network, name = subject.network, subject.card.name
    with prepared(network, subject.device), torch.no_grad(), recording(network, listener) as recorder:
        moved = (some.each(lambda one: one.to(subject.device)) for some in inputs)
        return [forward(network, recorder, some, name) for some in moved]


def channels_of(subject: Subject, inputs: list[Inputs]) -> pd.DataFrame:
    r"""What the activations of a network do to each channel.

    Args:
        subject: The network.
        inputs: What goes into it.

    Returns:
        A row for each channel: ``layer``, ``call``, ``channel``; the least-squares line, ``slope`` and ``intercept``;
        ``contribution``, :math:`v_k (1 - c_k) / \sum v`, as :func:`affscore.transport.diagonal_affinity` has it, over
        all positions; ``variance``, :math:`v_k / \sum v`; ``affinity``, the score of the means over positions, 1 where
        the output is constant.
    """
    _through(subject, inputs, listener := _Sums())
    tables = []
    for (layer, call), (count, *sums) in listener.sums.items():
        x, y, xx, yy, xy = (one / count for one in sums)
        of_x, of_y = ((two - one.square()) * (two - one.square() > 1e-12 * two) for one, two in ((x, xx), (y, yy)))
        covariance = (xy - x * y) * (of_x > 0)
        slope = torch.where(of_x > 0, covariance / of_x, 0.0)
        root = (of_x * of_y).sqrt()
        correlation = torch.where(root > 0, covariance / root, 0.5).clamp(-1.0, 1.0)
        total = float(of_y.sum()) or 1.0
        columns = {
            "slope": slope, "intercept": y - slope * x, "contribution": of_y * (1 - correlation) / total,
            "variance": of_y / total,
        }  # fmt: skip
        table = pd.DataFrame({name: one.cpu().numpy() for name, one in columns.items()}).rename_axis("channel")
        means = torch.cat(listener.means[layer, call], dim=1)
        table["affinity"] = np.nan_to_num(channel_scores(*means), nan=1.0)
        tables.append(table.reset_index().assign(layer=layer, call=call))
    return pd.concat(tables, ignore_index=True)


def chosen(channels: pd.DataFrame, by: str, share: float, scope: str = "layer", draw: int = 0) -> pd.DataFrame:
    """The channels that a criterion makes linear.

    Args:
        channels: Of :func:`channels_of`.
        by: One of :data:`BY`.
        share: Of the channels of each activation, or of all.
        scope: "layer" or "network".
        draw: The seed of random ones.

    Returns:
        Their rows. Those of a smaller share are among those of a larger one.

    >>> channels = pd.DataFrame({"layer": "1", "call": 0, "channel": range(4), "contribution": [0.3, 0.0, 0.2, 0.1]})
    >>> [chosen(channels, by, 0.5)["channel"].tolist() for by in ("contribution", "reversed")]
    [[1, 3], [0, 2]]
    """
    need: Any = {
        "reversed": lambda: -channels["contribution"], "affinity": lambda: -channels["affinity"],
        "random": lambda: pd.Series(np.random.default_rng(draw).random(len(channels)), channels.index),
    }.get(by, lambda: channels[by])()  # fmt: skip
    together: Any = CALL if scope == "layer" else np.zeros(len(channels))
    groups = channels.assign(need=need).groupby(together)["need"]
    return channels[groups.rank("first") <= np.floor(share * groups.transform("size") + 0.5)]


def accuracies(model: Any, data: Any, images: int = 512, device: str = "cpu", draws: int = DRAWS) -> pd.DataFrame:
    """The accuracy of a classifier whose channels become linear, by several criteria.

    Args:
        model: As for :func:`affscore.signature`.
        data: SPEC with labels, or (inputs, labels).
        images: How many, in two halves: see above; 0 for all.
        device: Where.
        draws: Of random channels.

    Returns:
        A row for each plan: ``scope``, ``by``, ``draw``, ``share``, ``accuracy`` and ``loss`` (cross-entropy in nats).
        The first, of share 0, is the network as it is.

    Raises:
        AffscoreError: There are no labels, or fewer than four images.
    """
    subject = subject_of(model, data, Options(images=images or None, criteria=()), Execution(device, 32, False))
    if (half := (subject.stream.total or 0) // 2) < 2:
        raise AffscoreError("expected data of a known length, with at least four samples")
    fit, test = (list(some) for number, some in subject.stream.batches(half) if number < 2)
    channels = channels_of(subject, fit)
    plans = [("layer", "none", 0, 0.0)]
    for share in SHARES:
        plans += [("layer", by, draw, share) for by in BY for draw in range(draws if by == "random" else 1)]
        plans += [("network", by, 0, share) for by in BY[:2]]
    rows = []
    for scope, by, draw, share in plans:
        linear = chosen(channels, by, share, scope, draw) if share else channels[:0]
        outputs = _through(subject, test, _Lines(linear))
        if any(predictions(output, some.labels) is None for output, some in zip(outputs, test, strict=True)):
            raise AffscoreError("expected a classifier, and data with labels that fit its outputs")
        logits = torch.cat([getattr(output, "logits", output).double().cpu() for output in outputs])
        labels = torch.cat([some.labels.long() for some in test if some.labels is not None])
        right = float((logits.argmax(dim=1) == labels).double().mean())
        rows.append((scope, by, draw, share, right, float(F.cross_entropy(logits, labels))))
    return pd.DataFrame(rows, columns=["scope", "by", "draw", "share", "accuracy", "loss"])


if __name__ == "__main__":
    where, *names = sys.argv[1:]
    for model, data, images in zip(names[::3], names[1::3], names[2::3], strict=True):
        about = {"model": Path(model.partition("@")[0]).name, "dataset": Path(data).name}
        table = accuracies(model, data, int(images)).assign(**about)
        if Path(where).exists():
            table = pd.concat([pd.read_parquet(where), table], ignore_index=True)
        table.to_parquet(where)
        print(model, len(table), flush=True)
