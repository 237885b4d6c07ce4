"""Networks whose channels can be made linear, one by one: how much non-linearity does a network need?

:func:`to_prelu` gives each channel of each ReLU a slope, 0 at first, where 1 is linear; a :class:`SlopePenalty` in your
training pulls the slopes to 1, :func:`freeze` makes those that have got there linear for good, and
:func:`average_path_length` says how many non-linear units a path still meets. :func:`linearize` needs no training.

>>> import torch
>>> from torch import nn
>>> net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
>>> sloped = to_prelu(net)
>>> optimizer, penalty = torch.optim.SGD(parameter_groups(sloped), lr=0.1), SlopePenalty(1.0)
>>> for _ in range(20):
...     penalty(sloped).backward()  # in a training the loss is added
...     optimizer.step()
...     optimizer.zero_grad()
...     _ = freeze(sloped)
>>> average_path_length(net), average_path_length(sloped)
(2.0, 0.0)
"""

from affscore.nonlinear_advantage.linearize import Linearized as Linearized
from affscore.nonlinear_advantage.linearize import linearize as linearize
from affscore.nonlinear_advantage.path_length import active_channels as active_channels
from affscore.nonlinear_advantage.path_length import average_path_length as average_path_length
from affscore.nonlinear_advantage.path_length import effective_width as effective_width
from affscore.nonlinear_advantage.prelu import SlopePenalty as SlopePenalty
from affscore.nonlinear_advantage.prelu import freeze as freeze
from affscore.nonlinear_advantage.prelu import parameter_groups as parameter_groups
from affscore.nonlinear_advantage.prelu import slopes as slopes
from affscore.nonlinear_advantage.prelu import to_prelu as to_prelu
from affscore.nonlinear_advantage.prelu import without_slopes as without_slopes
from affscore.nonlinear_advantage.units import ChannelGELU as ChannelGELU
from affscore.nonlinear_advantage.units import ChannelPReLU as ChannelPReLU
