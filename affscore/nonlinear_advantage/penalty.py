"""Pulls slopes to 1, and keeps the channels that have got there linear."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.nonlinear_advantage.prelu import existing_slopes
from affscore.options import is_number

SNAP = 0.01
"""How near to 1 a slope is set to exactly 1."""


class SlopePenalty:
    r"""The sparsity penalty on the slopes of a network of :func:`to_prelu`, over the channels that are not frozen.

    .. math:: \omega\,L_{0.5}, \qquad L_{0.5} = \sum_i |1 - \alpha_i|^{0.5}

    The gradient would be infinite at a slope of 1. Within 0.01 of it, where :func:`freeze` snaps, the power is
    replaced by its chord, so that it is at most :math:`\omega\,0.01^{-0.5}`, 10 omega; this is ours.

    Args:
        omega: Its weight, at least 0. It may be changed between steps.

    Raises:
        AffscoreError: A number out of range, or (when it is called) a network without such slopes.

    Source: Mehmeti-Göpel and Disselhoff, "Nonlinear Advantage" (ICML 2023), as a later paper of theirs states it.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> net = to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    >>> net[1].weight.data = torch.tensor([0.0, 0.75, 1.0])
    >>> SlopePenalty(2.0)(net).item()
    3.0
    """

    def __init__(self, omega: float) -> None:
        if not is_number(omega) or not 0 <= omega < float("inf"):
            raise AffscoreError(f"omega must be a number of at least 0, got {omega!r}")
        self.omega = float(omega)

    def __call__(self, model: nn.Module) -> Tensor:
        """The penalty, a scalar to be added to the loss."""
        units = list(existing_slopes(model).values())
        away = torch.cat([(1 - unit.weight[~unit.frozen]).abs().to(units[0].weight.device) for unit in units])
        powers = torch.where(away < SNAP, away * SNAP**-0.5, away.clamp_min(SNAP) ** 0.5)
        return self.omega * powers.sum()


@torch.no_grad()
def freeze(model: nn.Module) -> int:
    r"""Make the channels linear for good whose slope is near 1 or beyond it: :math:`\alpha_c > 0.99`.

    Their slope is exactly 1 from then on, and no gradient reaches it. (The number that is stored may be moved by
    momentum or weight decay, which has no effect; the next call sets it to 1 again.) A slope begins at 0, so one above
    1 has crossed it: the steps of gradient descent may be longer than 0.01 (crossing counts by our choice).

    Args:
        model: A network of :func:`to_prelu`.

    Returns:
        How many channels it froze.

    Raises:
        AffscoreError: The network has no such slopes, or some that are not finite.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> net = to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    >>> net[1].weight.data = torch.tensor([0.5, 0.995, 1.2])
    >>> freeze(net), net[1].weight.tolist(), net[1].frozen.tolist()
    (2, [0.5, 1.0, 1.0], [False, True, True])
    """
    frozen = 0
    for (layer, _), unit in existing_slopes(model).items():
        if not bool(torch.isfinite(unit.weight).all()):
            raise AffscoreError(
                f"slopes of the layer {layer!r} are NaN or infinite: train with a smaller rate or omega"
            )
        new = ~unit.frozen & (unit.weight > 1 - SNAP)
        unit.frozen |= new
        frozen += int(new.sum())
        unit.weight.masked_fill_(unit.frozen, 1.0)
    return frozen


def parameter_groups(model: nn.Module, **of_slopes: Any) -> list[dict[str, Any]]:
    """The parameters for an optimiser: first all others, then the slopes, without weight decay, which pulls them to 0.

    Args:
        model: A network of :func:`to_prelu`.
        of_slopes: Options of the second group, as ``lr``.

    Raises:
        AffscoreError: The network has no such slopes.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> net = to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    >>> [len(group["params"]) for group in parameter_groups(net)], parameter_groups(net, lr=1.0)[1]["weight_decay"]
    ([2, 1], 0.0)
    """
    found = [unit.weight for unit in list(existing_slopes(model).values())]
    apart = set(map(id, found))
    others = [parameter for parameter in model.parameters() if id(parameter) not in apart]
    return [{"params": others}, {"params": found, "weight_decay": 0.0, **of_slopes}]
