"""How much each channel of a network is needed, by a criterion, and which ones stay non-linear."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.network.scoring import Pair
from affscore.nonlinear_advantage.prelu import slopes
from affscore.nonlinear_advantage.surgery import ROOT
from affscore.nonlinear_advantage.units import ChannelGELU, ChannelPReLU
from affscore.transport.samples import centred

CriterionName = Literal["slope", "affinity", "random"]


def values_of_channels(model: nn.Module, pairs: list[Pair], by: CriterionName, seed: int) -> NDArray[np.float64]:
    """The value of each channel: its slope, its affinity score, or a random number.

    Args:
        model: A network of :func:`affscore.nonlinear_advantage.to_prelu`.
        pairs: The input and output of its activations, averaged over positions.
        by: The criterion.
        seed: Of the random numbers.

    Returns:
        Array (channels,), in the order of :func:`affscore.nonlinear_advantage.slopes`.

    Raises:
        AffscoreError: NaN or infinity in an activation.
    """
    units = slopes(model)
    if by == "slope":
        return torch.cat([unit.slope.detach().double().cpu() for unit in units.values()]).numpy()
    if by == "random":
        return np.random.default_rng(seed).random(sum(unit.num_parameters for unit in units.values()))
    of_unit = {unit: path or ROOT for path, unit in model.named_modules() if isinstance(unit, ChannelPReLU)}
    of_path = {pair.call.layer: pair for pair in pairs}
    return np.concatenate([_of_unit(key, unit, of_path[of_unit[unit]]) for key, unit in units.items()])


def _of_unit(key: tuple[str, int], unit: ChannelPReLU, pair: Pair) -> NDArray[np.float64]:
    y = pair.y
    if isinstance(unit, ChannelGELU):  # the recorder sees the GELU inside; means keep the interpolation
        y = torch.lerp(y, pair.x, unit.slope.detach().to(y))
    try:
        return channel_scores(pair.x, y, pair.rounding)
    except AffscoreError as error:
        raise AffscoreError(f"layer {key[0]!r}, call {key[1]}: {error}") from None


def channel_scores(x: Tensor, y: Tensor, rounding: float | None = None) -> NDArray[np.float64]:
    r"""The affinity score of each coordinate by itself.

    .. math:: \rho_c = 1 - \sqrt{1 - \operatorname{corr}(x_{(i)}, y_{(i)})}

    over the sorted numbers of this coordinate: on a line T is the increasing affine map between means and standard
    deviations, and the optimal coupling is that of the sorted numbers. Shrinkage leaves a single variance as it is.

    Args:
        x: Tensor (n, channels), n >= 2.
        y: Likewise.
        rounding: As in :func:`affscore.affinity_score`.

    Returns:
        Array (channels,), each in [0, 1]; NaN where the input or the output is constant.

    Raises:
        AffscoreError: NaN or infinity, or fewer than two samples.

    >>> from affscore import affinity_score
    >>> x = torch.linspace(-1, 1, 50)[:, None]
    >>> bool(abs(channel_scores(x, x.relu())[0] - float(affinity_score(x, x.relu()))) < 1e-6)
    True
    """
    sorted_numbers = []
    for name, cloud in (("the input", x), ("the output", y)):
        points = centred(cloud, name, rounding).points
        # a constant coordinate is all zero, and becomes NaN
        sorted_numbers.append((points / points.square().mean(dim=0).sqrt()).sort(dim=0).values)
    # 1 - corr, without cancellation near 1
    distance = (sorted_numbers[0] - sorted_numbers[1]).square().mean(dim=0) / 2
    return (1 - distance.sqrt()).clamp_min(0).cpu().numpy()


def count_to_keep(keep: float, channels: int) -> int:
    """How many channels a share is, rounded half up.

    >>> count_to_keep(0.5, 5)
    3
    """
    return math.floor(keep * channels + 0.5)


def chosen(value: NDArray[np.float64], linear: NDArray[np.bool_], keep: float, by: CriterionName) -> NDArray[np.bool_]:
    """Which channels stay non-linear.

    Args:
        value: Of each channel; NaN for those that are made linear last.
        linear: Which are linear already, and so the first.
        keep: The share that stays.
        by: The criterion.

    >>> chosen(np.array([0.9, 0.2, np.nan, 0.1]), np.array([False, False, False, True]), 0.5, "affinity").tolist()
    [False, True, True, False]
    """
    need = np.abs(1 - value) if by == "slope" else -value
    need = np.where(linear, -np.inf, np.where(np.isnan(need), np.inf, need))
    kept = np.ones(len(need), dtype=bool)
    kept[np.argsort(need, kind="stable")[: len(need) - count_to_keep(keep, len(need))]] = False
    return kept & ~linear
