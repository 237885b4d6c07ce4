"""Networks whose channels can be made linear, one by one: how much non-linearity does a network need?

:func:`to_prelu` gives each channel of each ReLU a slope, 0 at first, where 1 is linear; :func:`train` (or a
:class:`SlopePenalty` in a training of your own) pulls the slopes to 1; :func:`average_path_length` says how many
non-linear units a path still meets. :func:`linearize` needs no training.

>>> import torch
>>> from torch import nn
>>> x = torch.randn(64, 3, generator=torch.Generator().manual_seed(0))
>>> net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
>>> sloped = to_prelu(net, x[:2])
>>> record = train(sloped, x, (x[:, 0] > 0).long(), epochs=10, omega=1.0, slope_rate=0.2, progress=False)
>>> average_path_length(net, x[:2]), average_path_length(sloped, x[:2])
(2.0, 0.0)
"""

from affscore.nonlinear_advantage.linearize import Linearized, linearize
from affscore.nonlinear_advantage.path_length import active_channels, average_path_length, effective_width
from affscore.nonlinear_advantage.penalty import SlopePenalty, freeze, hold_frozen, parameter_groups
from affscore.nonlinear_advantage.prelu import slopes, to_prelu, without_slopes
from affscore.nonlinear_advantage.training import train
from affscore.nonlinear_advantage.units import ChannelGELU, ChannelPReLU

__all__ = [
    "ChannelGELU", "ChannelPReLU", "Linearized", "SlopePenalty", "active_channels", "average_path_length",
    "effective_width", "freeze", "hold_frozen", "linearize", "parameter_groups", "slopes", "to_prelu", "train",
    "without_slopes",
]  # fmt: skip
