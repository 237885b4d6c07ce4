"""Networks of real size with random weights, without the minutes that their own initialisation takes."""

import contextlib
import math
from unittest import mock

import torch
from torch import nn

# a prime number: no two rows of a weight are alike
_NOISE = torch.randn(65537, generator=torch.Generator().manual_seed(0))


def cheaply(build):
    """The network that ``build()`` makes, in evaluation mode, with weights from a short random sequence.

    Its own initialisers are left out. Weights have variance 1/fan-in, those of norms are one, biases small.
    """
    with contextlib.ExitStack() as stack:
        for name in [n for n in vars(nn.init) if n.endswith("_") and not n.startswith("_")]:
            stack.enter_context(mock.patch.object(nn.init, name, lambda tensor, *args, **kwargs: tensor))
        model = build()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not parameter.is_floating_point():
                continue
            if parameter.ndim > 1:
                scale = 1 / math.sqrt(parameter[0].numel())
            elif name.endswith(("weight", "gamma", "scale")):
                parameter.fill_(1.0)
                continue
            else:
                scale = 0.1
            noise = _NOISE.repeat(parameter.numel() // len(_NOISE) + 1)[: parameter.numel()]
            parameter.copy_(noise.view(parameter.shape).mul_(scale))
    return model.eval()
