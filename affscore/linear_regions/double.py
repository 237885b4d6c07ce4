"""A network in double precision: a copy of it, and how it runs."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from affscore.errors import AffscoreError, guarded
from affscore.linear_regions.operations import CASTS
from affscore.recorder.calls import Functions
from affscore.recorder.functions import kind_of
from affscore.recorder.model_state import choose_device, to_evaluation, unwrapped


def double_copy(model: nn.Module, device: str = "auto") -> tuple[nn.Module, torch.device]:
    """A copy of a network in double precision and evaluation mode, and where it is.

    Args:
        model: The network; wrappers (DataParallel, compiled) are taken off.
        device: Where the copy goes, as in :func:`affscore.signature`.

    Raises:
        AffscoreError: It is no network, it is TorchScript, it cannot be copied, or a weight is complex, has no numbers
            yet (of a lazy layer, or on the device "meta"), or is not finite.

    >>> model = nn.Sequential(nn.Dropout(), nn.Linear(2, 2))
    >>> network, _ = double_copy(model, "cpu")
    >>> network.training, next(network.parameters()).dtype, model.training
    (False, torch.float64, True)
    """
    inner = unwrapped(model)
    place = choose_device(device, inner)
    for name, weights in (*inner.named_parameters(), *inner.named_buffers()):
        if is_lazy(weights) or weights.is_meta:
            raise AffscoreError(f"the weights {name!r} of the network have no numbers yet: run it once, or load them")
        if weights.is_complex():
            raise AffscoreError(f"the weights {name!r} of the network are complex; linear regions need real ones")
    network = guarded(lambda: copy.deepcopy(inner).to(place, torch.float64), "the network cannot be copied")
    guarded(lambda: to_evaluation(network), "the network cannot be brought to evaluation mode")
    for name, weights in network.named_parameters():
        if not bool(weights.isfinite().all()):
            raise AffscoreError(f"the weights {name!r} of the network hold NaN or infinity")
    return network, place


def run(module: nn.Module, samples: Tensor) -> Any:
    """What a network returns for samples; in double precision throughout, and compiled parts run uncompiled.

    Raises:
        AffscoreError: It fails.
    """
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode())
        stack.enter_context(torch.autocast(samples.device.type, enabled=False))
        stack.enter_context(Functions(_in_double))
        if "torch._dynamo" in sys.modules:  # else nothing is compiled, and importing it takes seconds
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        what = "a sample" if len(samples) == 1 else f"{len(samples)} samples"
        return guarded(lambda: module(samples), f"the network fails on {what} of shape {tuple(samples.shape[1:])}")


def _in_double(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Casts to a type of floating point, as x.half(), leave double precision as it is."""
    found = function(*args, **kwargs)
    if kind_of(function) in CASTS and isinstance(found, Tensor) and found.is_floating_point():
        return args[0].to(found.device, torch.float64)
    return found
