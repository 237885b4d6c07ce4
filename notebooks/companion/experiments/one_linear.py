"""What a network loses when one of its activations becomes linear and nothing is trained."""

from __future__ import annotations

import pandas as pd
import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.nonlinear_advantage import slopes, to_prelu


def decisions_changed(model: nn.Module, inputs: Tensor) -> pd.DataFrame:
    """The share of a classifier's decisions that change when each activation alone becomes linear.

    The activation is replaced by the identity (a slope of 1 for each channel), not by the best affine map.

    Args:
        model: A network whose activations can have slopes (:func:`affscore.nonlinear_advantage.to_prelu`); it stays as
            it is.
        inputs: As the network takes them, (n, ...).

    Returns:
        A row for each activation, in the order of the network: ``layer``, ``call`` and ``changed``, in [0, 1].

    Raises:
        AffscoreError: Not a logit for each class, (n, classes); as :func:`affscore.nonlinear_advantage.to_prelu`.

    >>> net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU(), nn.Linear(1, 2))  # logits 0 and ReLU(x) + 1/2
    >>> for part, numbers in zip(net.parameters(), ([[1.0]], [[0.0], [1.0]], [0.0, 0.5]), strict=True):
    ...     part.data = torch.tensor(numbers)
    >>> decisions_changed(net, torch.tensor([[-2.0], [-1.0], [1.0], [2.0]]))["changed"].tolist()  # x + 1/2 < 0 for two
    [0.5]
    """
    sloped = to_prelu(model, inputs[:2]).eval()
    found = []
    with torch.no_grad():
        logits = sloped(inputs)
        if logits.ndim != 2:
            raise AffscoreError(f"expected a logit for each class, (n, classes), got the shape {tuple(logits.shape)}")
        decided = logits.argmax(dim=1)
        for (layer, call), unit in slopes(sloped).items():
            own = unit.weight.data.clone()
            unit.weight.data.fill_(1.0)
            found.append((layer, call, float((sloped(inputs).argmax(dim=1) != decided).double().mean())))
            unit.weight.data.copy_(own)
    return pd.DataFrame(found, columns=["layer", "call", "changed"])
