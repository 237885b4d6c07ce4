"""Exchanges the activations of a network: its modules, and the functions that its modules call."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from affscore.errors import AffscoreError, guarded
from affscore.nonlinear_advantage.units import (
    UNITS_OF_CALLS,
    ChannelGELU,
    ChannelPReLU,
    PerCall,
    Redirecting,
    redirecting,
)
from affscore.recorder import ActivationCall, Listener, recording
from affscore.recorder.functions import library_class_name
from affscore.recorder.model_state import device_of, in_training, random_states_kept

Arguments = tuple[tuple[Any, ...], dict[str, Any]]

Seen = tuple[ActivationCall, Tensor]
"""A call of an activation, and a tensor without entries that is like what it was fed."""

UNITS: dict[str, type[ChannelPReLU]] = {"relu": ChannelPReLU, "gelu": ChannelGELU}
ROOT = "(root)"
UNFUSED = {"activation_relu_or_gelu": 0, "use_nested_tensor": False}
"""What keeps PyTorch's transformers from computing an activation inside a fused kernel: values of their attributes."""


@contextmanager
def ready_for(model: nn.Module, arguments: Arguments) -> Iterator[Arguments]:
    """Within this a network is in evaluation mode; afterwards its mode and the random generators are as before.

    It gives copies of the arguments, where the network is: the network may begin in place.
    """
    device = device_of(model)
    with in_training(model, device), random_states_kept(device), torch.no_grad():
        yield tree_map(lambda one: one.detach().to(device, copy=True) if isinstance(one, Tensor) else one, arguments)


def units_in(model: nn.Module) -> dict[str, ChannelPReLU]:
    """The channel-wise activations of a network, by their paths, as the recorder calls these.

    >>> units_in(ChannelPReLU(3, -1))
    {'(root)': ChannelPReLU(num_parameters=3, axis=-1, frozen=0)}
    """
    return {path or ROOT: part for path, part in model.named_modules() if isinstance(part, ChannelPReLU)}


class _Listener(Listener):
    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.left: list[str] = []
        self._parts: list[ActivationCall] = []

    def before(self, call: ActivationCall, x: Tensor, apply: Any) -> None:
        if not call.builtin:
            parts = (part for part in self._parts if part.activation in UNITS)
            self.left += [f"{part} in {call.activation}" for part in parts]
        self._parts.clear()
        self.seen.append((call, x.new_empty(0)))

    def forget(self, call: ActivationCall) -> None:
        self._parts.append(self.seen.pop()[0])


def calls_in(model: nn.Module, arguments: Arguments) -> tuple[list[Seen], list[str]]:
    """The activations that a network calls in evaluation mode; it is as before.

    Returns:
        The calls; and those of ReLU and GELU that are a part of another activation, in words.

    Raises:
        AffscoreError: The network fails.
    """
    listener = _Listener()
    with ready_for(model, arguments) as (args, kwargs), recording(model, listener) as recorder:
        recorder.start((args, kwargs))
        guarded(lambda: model(*args, **kwargs), "the network fails")
    return listener.seen, listener.left


def exchange(model: nn.Module, seen: Sequence[Seen]) -> nn.Module:
    """Put a unit in the place of each call of ReLU and GELU; returns the network, another one if it is one activation.

    Raises:
        AffscoreError: An activation is written out as a formula, its features have no axis of channels, or its module
            has hooks.
    """
    layers: dict[str, list[Seen]] = defaultdict(list)
    for call, like in seen:
        if call.activation in UNITS:
            layers[call.layer].append((call, like))
    for layer, calls in layers.items():
        module = model if layer == ROOT else model.get_submodule(layer)
        whole = type(module).forward in (nn.ReLU.forward, nn.GELU.forward) or library_class_name(module) in UNITS
        units = [_unit(*one, module if whole else None).train(module.training) for one in calls]
        several = PerCall(units).train(module.training)
        if not whole:
            if not all(call.builtin for call, _ in calls):
                raise AffscoreError(f"{calls[0][0]} is computed by a formula: use the function or module of PyTorch")
            module.add_module(UNITS_OF_CALLS, several)
            module.__class__ = redirecting(type(module))  # type: ignore[arg-type]  # which mypy takes for its instances
        else:
            if module._forward_pre_hooks or module._forward_hooks:
                raise AffscoreError(f"the activation {layer!r} has hooks, which would be lost: remove them first")
            model = put(model, module, units[0] if len(units) == 1 else several)
        if not whole or len(units) > 1:
            # turns begin and end with each run of the innermost module in whose one run all the calls are
            within = zip(*(call.within for call, _ in calls), strict=False)
            scope = model.get_submodule([frames[0][0] for frames in within if len(set(frames)) == 1][-1])
            scope.register_forward_pre_hook(several.begin)
            scope.register_forward_hook(several.end)
    for part in model.modules():
        own = {name: vars(part)[name] for name in UNFUSED.keys() & vars(part)}
        if isinstance(part, (nn.TransformerEncoder, nn.TransformerEncoderLayer)) and units_in(part):
            vars(part).update({name: UNFUSED[name] for name in own}, before_slopes=own)
    return model


def restore(model: nn.Module) -> nn.Module:
    """Undo :func:`exchange`."""
    for part in list(model.modules()):
        unit = part[0] if isinstance(part, PerCall) else part
        original = unit.kept[0] if isinstance(unit, ChannelPReLU) else None
        if original is not None:
            model = put(model, part, original.train(part.training))
        if isinstance(part, Redirecting):
            del part.channelwise_prelus
            part.__class__ = type(part).plain  # type: ignore[assignment]
        for hooks in (part._forward_pre_hooks, part._forward_hooks):
            for key in [key for key, hook in hooks.items() if isinstance(getattr(hook, "__self__", None), PerCall)]:
                del hooks[key]
        vars(part).update(vars(part).pop("before_slopes", {}))
    return model


def put(model: nn.Module, old: nn.Module, new: nn.Module) -> nn.Module:
    """Put a module in the place of another wherever it stands; returns the network."""
    for part in list(model.modules()):
        part._modules.update((name, new) for name, inner in list(part._modules.items()) if inner is old)
    return new if model is old else model


def check_complete(model: nn.Module, seen: Sequence[Seen]) -> None:
    """Look whether each unit has run once, and no other ReLU or GELU.

    Args:
        model: The network after :func:`exchange`.
        seen: The calls that it makes now.

    Raises:
        AffscoreError: It is not so.
    """
    units = Counter(units_in(model).keys())
    runs = Counter(call.layer for call, _ in seen if call.activation in UNITS or call.layer in units)
    for layer in (runs - units) + (units - runs):
        why = "something outside the modules refers to it, or two runs differ; make it a torch.nn.ReLU of its own"
        raise AffscoreError(f"the activation of layer {layer!r} cannot be replaced: {why}")


def _unit(call: ActivationCall, like: Tensor, original: nn.Module | None) -> ChannelPReLU:
    axes = len(call.shape)
    if axes < 2:
        raise AffscoreError(f"{call} gets features of shape {call.shape}, without an axis of channels")
    axis = call.channel_axis - axes
    return UNITS[call.activation](call.shape[axis], axis, call.call, original, device=like.device, dtype=like.dtype)
