"""From ReLUs to PReLUs with a slope for each channel, so that the network computes the same, and back."""

from __future__ import annotations

import copy
import warnings
from typing import Any

from torch import nn

from affscore.errors import AffscoreError, AffscoreWarning, guarded
from affscore.models.card import check_has_weights
from affscore.models.sources import card_of
from affscore.nonlinear_advantage.example import run_on_example
from affscore.nonlinear_advantage.redirection import PerCall, Redirecting
from affscore.nonlinear_advantage.surgery import ROOT, calls_in, check_complete, exchange, restore
from affscore.nonlinear_advantage.units import ChannelPReLU
from affscore.recorder.model_state import unwrapped


def to_prelu(model: nn.Module, example_input: Any = None) -> nn.Module:
    r"""A copy of a network with channel-wise PReLUs instead of its ReLUs; it computes the same function.

    .. math:: \phi_{\alpha_c}(x) = \max(0, x) + \alpha_c \min(0, x), \qquad \alpha_c = 0 \text{ at first}

    Each call of ReLU, as a module or a function, in place or not, becomes a
    :class:`~affscore.nonlinear_advantage.ChannelPReLU`; a module that is called several times holds one for each call.
    GELU becomes the interpolation :math:`(1 - \alpha_c)\,\mathrm{GELU}(x) + \alpha_c x`, which is our extension. Other
    activations stay: ReLU6, Hardswish, SiLU, a PReLU of the network's own. So does what runs in training only, as the
    auxiliary heads of GoogLeNet and Inception, since the calls are found in evaluation mode. Where channels are split
    into heads, the heads share their slopes.

    Slopes belong to the number of a call in its module: on each input the network must make as many calls as on the
    example. Wrappers (DataParallel, ``torch.compile``) are taken off. Attention in evaluation mode takes the way of
    training, and not the fused one, which may round otherwise. Gradient checkpointing of a *function* that calls
    ``F.relu`` or ``F.gelu`` is not supported and may give wrong gradients: checkpoint a whole submodule instead.
    For a PReLU minus infinity counts as the lowest finite number, so that a slope of 0 gives 0.

    All else is as it was: mode, device, types, ``requires_grad``, the names of the weights in ``state_dict()``. A slope
    has the type that the features have, and is trained.

    Args:
        model: The network; it stays as it is.
        example_input: A tensor as the network takes it, a tuple of arguments, or a dictionary of named ones. Without
            one, random inputs are tried that fit what the network says of itself, or its first linear layer or
            convolution.

    Warns:
        AffscoreWarning: Nothing was replaced, or a call of ReLU or GELU was left, since it is a part of another
            activation: in h * relu(h), say.

    Raises:
        AffscoreError: The network does not run, has such slopes already, or has an activation that cannot be replaced,
            as one whose module has hooks. When the copy runs: it makes more calls than on the example, or fewer.

    Source: Mehmeti-Göpel and Disselhoff, "Nonlinear Advantage" (ICML 2023). That slopes begin at 0 is our reading.

    >>> import torch
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> sloped, x = to_prelu(net), torch.randn(5, 2)
    >>> bool((sloped(x) == net(x)).all()), sloped[1]
    (True, ChannelPReLU(num_parameters=3, axis=-1, frozen=0))
    """
    made, notes = sloped_copy(model, example_input)
    for note in notes:
        warnings.warn(note, AffscoreWarning, stacklevel=2)
    return made


def sloped_copy(model: nn.Module, example_input: Any = None) -> tuple[nn.Module, list[str]]:
    """What :func:`to_prelu` returns, and what it warns of: in sentences, one at most."""
    model = unwrapped(model)
    check_has_weights(model, type(model).__name__)
    if slopes(model):
        raise AffscoreError("this network has channel-wise slopes already; without_slopes(model) takes them away")
    made = guarded(lambda: copy.deepcopy(model), "the network cannot be copied")
    card = card_of(model)
    if card.preprocessing_known and not hasattr(made, "preprocessing"):
        vars(made)["preprocessing"] = card.preprocessing  # a card belongs to one network, and not to its copies
    (seen, left), example = run_on_example(made, example_input, lambda example: (calls_in(made, example), example))
    made = exchange(made, seen)
    check_complete(made, calls_in(made, example)[0])
    notes = []
    if left:
        where = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
        notes.append(
            f"{len(left)} call{'s' * (len(left) > 1)} of ReLU or GELU stayed, as part of a formula that counts as one "
            f"activation: {where}"
        )
    if not slopes(made):
        others = ", ".join(dict.fromkeys(one.call.activation for one in seen)) or "no activation"
        notes.append(f"nothing was replaced, and the network has no slopes: it calls {others}, and no ReLU or GELU")
    return made, ["; ".join(notes)] if notes else []


def without_slopes(model: nn.Module) -> nn.Module:
    """A copy with the activations from before :func:`to_prelu`. Learned slopes, frozen ones too, are lost.

    >>> without_slopes(to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True))))[1]
    ReLU(inplace=True)
    """
    return restore(guarded(lambda: copy.deepcopy(unwrapped(model)), "the network cannot be copied"))


def slopes(model: nn.Module) -> dict[tuple[str, int], ChannelPReLU]:
    """The channel-wise activations of a network of :func:`to_prelu`, by layer and call as in the original's signature.

    Raises:
        AffscoreError: It is no network.

    >>> list(slopes(to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))))
    [('1', 0)]
    """
    modules = dict(unwrapped(model).named_modules())
    found: dict[tuple[str, int], ChannelPReLU] = {}
    for path, part in modules.items():
        if isinstance(part, ChannelPReLU):
            layer, above = path, path.rpartition(".")[0]
            if path and isinstance(modules[above], PerCall):
                layer, owner = above, above.rpartition(".")[0]
                layer = owner if isinstance(modules[owner], Redirecting) and part.kept[0] is None else above
            found[layer or ROOT, part.call] = part
    return found


def existing_slopes(model: nn.Module) -> dict[tuple[str, int], ChannelPReLU]:
    """The same.

    Raises:
        AffscoreError: There are none.
    """
    found = slopes(model)
    if not found:
        raise AffscoreError("this network has no channel-wise slopes: affscore.nonlinear_advantage.to_prelu makes them")
    return found
