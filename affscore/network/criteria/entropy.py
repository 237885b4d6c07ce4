"""How evenly the values of a sample are spread."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from affscore.network.criteria.declaration import Criterion
from affscore.transport.samples import Samples, as_samples, power_of_two_above


def entropy(x: Samples) -> float:
    r"""Mean entropy of the samples, each as a histogram of its own values.

    .. math:: \frac1n \sum_i \Bigl(-\sum_{b=1}^{d} p_{ib} \ln p_{ib}\Bigr) + \ln d,

    :math:`p_{ib}` being the share of the d values of sample i in the b-th of d equal bins between their
    minimum and maximum.

    Args:
        x: Array or tensor (n, d).

    Returns:
        A number in [ln d, 2 ln d], in nats; a constant sample has ln d.

    Source: tables 1 to 3.

    >>> round(entropy([[0.0, 1.0], [1.0, 0.0]]) / math.log(2), 6)  # two bins, one value in each
    2.0
    """
    return _entropy(as_samples(x)[0])


def _entropy(points: Tensor) -> float:
    n, d = points.shape
    points = points / power_of_two_above(float(points.abs().max()))
    low = points.amin(dim=1, keepdim=True)
    width = points.amax(dim=1, keepdim=True) - low
    relative = (points - low).div_(torch.where(width > 0, width, 1.0))
    bins = relative.mul_(d).long().clamp_(max=d - 1)  # the maximum belongs to the last bin
    bins += d * torch.arange(n, device=bins.device)[:, None]
    # what a bin adds depends only on how many values are in it: how many bins have 0, 1, 2, ... values?
    bins_with = torch.bincount(torch.bincount(bins.flatten(), minlength=n * d)).double()
    shares = torch.arange(len(bins_with), dtype=torch.float64, device=bins.device) / d
    return float(bins_with @ torch.special.entr(shares)) / n + math.log(d)


CRITERIA = (
    Criterion(
        "entropy", "entropy", r"mean entropy of the values of a sample, in nats, in $[\ln c, 2 \ln c]$", (0, math.inf),
        of_samples=lambda samples: (_entropy(samples.x), _entropy(samples.y)),
        before_and_after=True, place=4,
    ),
)  # fmt: skip
