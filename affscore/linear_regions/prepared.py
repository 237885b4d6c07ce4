"""A copy of a network, on which a measurement leaves its traces and not on the caller's."""

from __future__ import annotations

import copy

import torch
from torch import nn

from affscore.errors import AffscoreError, guarded
from affscore.network.model_state import choose_device, unwrapped


def prepared_copy(model: nn.Module, device: str = "auto") -> tuple[nn.Module, torch.device]:
    """A copy of a network in double precision and evaluation mode, and where it is.

    Args:
        model: The network; wrappers (DataParallel, compiled) are taken off.
        device: Where the copy goes, as in :func:`affscore.signature`.

    Raises:
        AffscoreError: It is no network, it is TorchScript, it cannot be copied, or a weight is not finite.

    >>> model = nn.Sequential(nn.Dropout(), nn.Linear(2, 2))
    >>> network, _ = prepared_copy(model, "cpu")
    >>> network.training, next(network.parameters()).dtype, model.training
    (False, torch.float64, True)
    """
    inner = unwrapped(model)
    place = choose_device(device, inner)
    network = guarded(lambda: copy.deepcopy(inner), "the network cannot be copied").to(place, torch.float64)
    for name, weights in network.named_parameters():
        if not bool(weights.isfinite().all()):
            raise AffscoreError(f"the weights {name!r} of the network hold NaN or infinity")
    for module in network.modules():
        module.training = False
    return network, place
