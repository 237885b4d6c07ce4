"""PReLUs with a slope for each channel in place of ReLUs, and back; a penalty that pulls slopes to 1; freezing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from affscore.errors import AffscoreError, first_line
from affscore.models.card import check_has_weights
from affscore.models.preprocessing import Preprocessing, TextPreprocessing
from affscore.models.sources import card_of
from affscore.network.notes import Note, give_warnings
from affscore.nonlinear_advantage.surgery import ROOT, Arguments, calls_in, check_complete, exchange, restore, units_in
from affscore.nonlinear_advantage.units import UNITS_OF_CALLS, ChannelPReLU, PerCall
from affscore.options import is_number
from affscore.recorder.model_state import unwrapped

Result = TypeVar("Result")

SIDES = {0: (1,), 1: (64, 256, 1024, 28), 2: (64, 32, 28, 224, 96, 16, 8, 299), 3: (16, 32, 64)}
"""The sides of inputs that are tried, by the number of axes of the first convolution; a linear layer has none."""

SNAP = 0.01
"""How near to 1 a slope is set to exactly 1."""

FIRST = (nn.Linear, nn.Embedding, nn.Conv1d, nn.Conv2d, nn.Conv3d)


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

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> sloped, x = to_prelu(net), torch.randn(5, 2)
    >>> bool((sloped(x) == net(x)).all()), sloped[1]
    (True, ChannelPReLU(num_parameters=3, axis=-1, frozen=0))
    """
    made, notes = sloped_copy(model, example_input)
    give_warnings(notes, stacklevel=2)
    return made


def sloped_copy(model: nn.Module, example_input: Any = None) -> tuple[nn.Module, list[str]]:
    """What :func:`to_prelu` returns, and what it warns of: one warning at most."""
    model = unwrapped(model)
    check_has_weights(model, type(model).__name__)
    if slopes(model):
        raise AffscoreError("this network has channel-wise slopes already; without_slopes(model) takes them away")
    made = copy.deepcopy(model)
    card = card_of(model)
    if card.preprocessing_known and not hasattr(made, "preprocessing"):
        vars(made)["preprocessing"] = card.preprocessing  # a card belongs to one network, and not to its copies
    (seen, left), example = run_on_example(made, example_input, lambda example: (calls_in(made, example), example))
    made = exchange(made, seen)
    check_complete(made, calls_in(made, example)[0])
    notes = []
    if left:
        where = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
        calls = f"{len(left)} call{'s' * (len(left) > 1)}"
        notes.append(f"{calls} of ReLU or GELU stayed, as part of a formula that counts as one activation: {where}")
    if not slopes(made):
        others = ", ".join(dict.fromkeys(call.activation for call, _ in seen)) or "no activation"
        notes.append(f"nothing was replaced, and the network has no slopes: it calls {others}, and no ReLU or GELU")
    return made, [Note("; ".join(notes), "warning")] if notes else []


def without_slopes(model: nn.Module) -> nn.Module:
    """A copy with the activations from before :func:`to_prelu`. Learned slopes, frozen ones too, are lost.

    >>> without_slopes(to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True))))[1]
    ReLU(inplace=True)
    """
    return restore(copy.deepcopy(unwrapped(model)))


def slopes(model: nn.Module) -> dict[tuple[str, int], ChannelPReLU]:
    """The channel-wise activations of a network of :func:`to_prelu`, by layer and call as in the original's signature.

    Raises:
        AffscoreError: It is no network.

    >>> list(slopes(to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))))
    [('1', 0)]
    """
    model, found = unwrapped(model), dict[tuple[str, int], ChannelPReLU]()
    for path, unit in units_in(model).items():
        layer, above = path, path.rpartition(".")[0]
        if path != ROOT and isinstance(model.get_submodule(above), PerCall):
            layer = above.removesuffix(UNITS_OF_CALLS).removesuffix(".") or ROOT
        found[layer, unit.call] = unit
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


def arguments_of(example_input: Any) -> Arguments:
    """The arguments of a network's forward.

    Args:
        example_input: A tensor, a tuple or list of positional arguments, or a dictionary of named ones.

    Raises:
        AffscoreError: Something else, or no sample.

    >>> arguments_of(torch.zeros(1))
    ((tensor([0.]),), {})
    """
    if not isinstance(example_input, (Tensor, tuple, list, Mapping)):
        raise AffscoreError(f"example_input must be a tensor, tuple or dictionary, got {type(example_input).__name__}")
    if any(isinstance(one, Tensor) and one.ndim and not len(one) for one in tree_leaves(example_input)):
        raise AffscoreError("example_input holds no sample; one is enough")
    if isinstance(example_input, Mapping):
        return (), dict(example_input)
    return (example_input,) if isinstance(example_input, Tensor) else tuple(example_input), {}


def made_up(model: nn.Module) -> Iterator[Tensor]:
    """Inputs that the network may take: what its card says, or else what fits its first linear layer or convolution.

    Images and vectors are random numbers of a fixed seed, token ids the first ones of the vocabulary.

    >>> [tuple(example.shape) for example in made_up(nn.Linear(3, 1))]
    [(2, 3)]
    """
    generator = torch.Generator().manual_seed(0)
    dtype = next((one.dtype for one in model.parameters() if one.is_floating_point()), torch.get_default_dtype())

    def numbers(*shape: int) -> Tensor:
        return torch.randn(2, *shape, generator=generator).to(dtype)

    card = card_of(model)
    expected = card.preprocessing if card.preprocessing_known else None
    if isinstance(expected, TextPreprocessing):
        yield _ids(expected.vocabulary or 2, min(expected.window, 32))
    elif isinstance(expected, Preprocessing):
        yield numbers(expected.channels, expected.size, expected.size)
    first: Any = next((part for part in model.modules() if isinstance(part, FIRST)), None)
    if isinstance(first, nn.Embedding):
        yield _ids(first.num_embeddings, 8)
    elif first is not None:
        axes = first.weight.ndim - 2
        for side in SIDES[axes]:
            yield numbers(first.in_channels if axes else first.in_features, *[side] * axes)


def _ids(vocabulary: int, length: int) -> Tensor:
    return torch.arange(2 * length).view(2, length) % vocabulary


def run_on_example(model: nn.Module, example_input: Any, run: Callable[[Arguments], Result]) -> Result:
    """What a function that runs the network returns for the example, or else for the first made-up input that fits.

    Args:
        model: The network.
        example_input: As in :func:`arguments_of`; None for one that is made up.
        run: Of the arguments; raises an AffscoreError where the network fails.

    Raises:
        AffscoreError: The network fails; without an example the message lists what was tried.
    """
    if example_input is not None:
        return run(arguments_of(example_input))
    tried, reason = [], ""
    for example in made_up(model):
        try:
            return run(arguments_of(example))
        except AffscoreError as error:
            tried.append(str(tuple(example.shape)))
            reason = first_line(error)
    what = f"with a random input of shape {' or '.join(tried)} {reason}" if tried else "nothing says what it takes"
    raise AffscoreError(f"the channels cannot be known without an example: {what}; give example_input")


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
            raise AffscoreError(f"slopes of layer {layer!r} are NaN or infinite: train with a smaller rate or omega")
        new = ~unit.frozen & (unit.weight > 1 - SNAP)
        unit.freeze(new)
        frozen += int(new.sum())
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
