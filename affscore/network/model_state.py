"""A network as the recorder needs it, for a while: whole, in evaluation mode, on one device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from affscore.errors import AffscoreError, first_line


def unwrapped(model: nn.Module) -> nn.Module:
    """The network inside a DataParallel or compiled wrapper.

    Raises:
        AffscoreError: No network at all, or one in TorchScript, whose activations cannot be seen.

    >>> layer = nn.Linear(2, 2)
    >>> unwrapped(nn.DataParallel(layer)) is layer
    True
    """
    if not isinstance(model, nn.Module):
        raise AffscoreError(f"model must be a torch.nn.Module or the name of one, got {type(model).__name__}")
    wrapped = isinstance(model, (nn.DataParallel, nn.parallel.DistributedDataParallel))
    inner = model.module if wrapped else getattr(model, "_orig_mod", None)
    if isinstance(inner, nn.Module):
        return unwrapped(inner)
    for name, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            where = f"its part {name!r}" if name else "it"
            raise AffscoreError(
                f"the activations of this network cannot be seen, since {where} is TorchScript; "
                "give the network from before torch.jit.script or torch.jit.trace"
            )
    return model


def choose_device(device: str, model: nn.Module) -> torch.device:
    """The device to run on: "auto" is where the model is, if not on the CPU, else a GPU where there is one.

    >>> choose_device("cpu", nn.Linear(1, 1))
    device(type='cpu')
    """
    if device == "auto":
        parameter = next(model.parameters(), None)
        if parameter is not None and parameter.device.type != "cpu":
            return parameter.device
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        if chosen.type not in ("cpu", "cuda", "xpu"):
            raise RuntimeError("scores need float64, on a CPU or a GPU that has it")
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, TypeError) as error:  # as PyTorch raises, by device
        raise AffscoreError(
            f"the device {device!r} cannot be used here ({first_line(error)}); use auto or cpu"
        ) from error
    return chosen


@contextmanager
def prepared(model: nn.Module, device: torch.device) -> Iterator[nn.Module]:
    """The model in evaluation mode on the device; afterwards all its parts are as they were."""
    training = {module: module.training for module in model.modules()}
    parameter = next(model.parameters(), None)
    home = parameter.device if parameter is not None else device
    try:
        model.eval()  # whose result a network with a train() of its own may lack
        yield model.to(device)
    finally:
        for module, state in training.items():
            module.training = state
        if home != device:
            model.to(home)
