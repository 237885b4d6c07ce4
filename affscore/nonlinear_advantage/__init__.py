"""Floor 2: networks whose channels can be made linear, and how many non-linear units a path meets."""

from affscore.nonlinear_advantage.prelu import slopes, to_prelu, without_slopes
from affscore.nonlinear_advantage.units import ChannelGELU, ChannelPReLU

__all__ = ["ChannelGELU", "ChannelPReLU", "slopes", "to_prelu", "without_slopes"]
