"""Floor 2: networks whose channels can be made linear, and how many non-linear units a path meets."""

from affscore.nonlinear_advantage.path_length import active_channels, average_path_length, effective_width
from affscore.nonlinear_advantage.penalty import SlopePenalty, freeze, hold_frozen, parameter_groups
from affscore.nonlinear_advantage.prelu import slopes, to_prelu, without_slopes
from affscore.nonlinear_advantage.training import train
from affscore.nonlinear_advantage.units import ChannelGELU, ChannelPReLU

__all__ = [
    "ChannelGELU", "ChannelPReLU", "SlopePenalty", "active_channels", "average_path_length", "effective_width",
    "freeze", "hold_frozen", "parameter_groups", "slopes", "to_prelu", "train", "without_slopes",
]  # fmt: skip
