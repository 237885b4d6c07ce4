"""A network as the recorder needs it, for a while: whole, in evaluation mode, on one device, with seeds of its own.

Only the flags ``training``, the device and the states of random generators are put back. What a forward pass itself
writes in evaluation mode (a cache, a counter) stays.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
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
        got = type(model).__name__
        raise AffscoreError(f"model must be a torch.nn.Module (affscore.load_model makes one of a name), got {got}")
    wrapped = isinstance(model, (nn.DataParallel, nn.parallel.DistributedDataParallel))
    inner = model.module if wrapped else getattr(model, "_orig_mod", None)
    if isinstance(inner, nn.Module):
        return unwrapped(inner)
    for name, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            where = f"its part {name!r}" if name else "it"
            why = f"since {where} is TorchScript; give the network from before torch.jit.script or torch.jit.trace"
            raise AffscoreError(f"the activations of this network cannot be seen, {why}")
    return model


def choose_device(device: str, model: nn.Module) -> torch.device:
    """The device to run on: "auto" is where the model is, if not on the CPU, else a GPU where there is one.

    >>> choose_device("cpu", nn.Linear(1, 1))
    device(type='cpu')
    """
    if device == "auto":
        home = device_of(model)
        return torch.device("cuda") if home.type == "cpu" and torch.cuda.is_available() else home
    try:
        chosen = torch.device(device)
        if chosen.type not in ("cpu", "cuda", "xpu"):
            raise RuntimeError("scores need float64, on a CPU or a GPU that has it")
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, TypeError) as error:  # as PyTorch raises, by device
        why = first_line(error)
        raise AffscoreError(f"the device {device!r} cannot be used here ({why}); use auto or cpu") from error
    return chosen


def device_of(model: nn.Module) -> torch.device:
    """Where a model is; one without weights is taken to be on the CPU.

    >>> device_of(nn.ReLU())
    device(type='cpu')
    """
    return next(model.parameters(), torch.empty(0)).device


@contextmanager
def prepared(model: nn.Module, device: torch.device) -> Iterator[nn.Module]:
    """The model in evaluation mode on the device; afterwards it is where it was, in the mode it was in."""
    home = next(model.parameters(), torch.empty(0, device=device)).device
    with _modes_restored(model):
        try:
            to_evaluation(model)
            yield model.to(device)
        finally:
            if home != device:
                model.to(home)


@contextmanager
def _modes_restored(model: nn.Module) -> Iterator[None]:
    """Within this the flags ``training`` may change; afterwards each part has its own again."""
    with ExitStack() as stack:
        for module in reversed([*model.modules()]):  # a stack begins with the last: so with the network itself
            stack.callback(setattr, module, "training", module.training)
        yield


def to_evaluation(model: nn.Module) -> None:
    """Bring a network into evaluation mode; what ``torch.export`` makes has none, and only the flags of its parts.

    >>> to_evaluation(nn.Dropout())
    """
    try:
        model.eval()  # whose result a network with a train() of its own may lack
    except NotImplementedError:  # as PyTorch's exported modules raise: they have no other mode
        for module in model.modules():
            module.training = False


@contextmanager
def in_training(model: nn.Module, device: torch.device) -> Iterator[nn.Module]:
    """A model that is being trained, in evaluation mode where it is; afterwards each part has its mode again.

    Evaluation mode is the flag ``training`` of each part. ``model.eval()`` is not called, since a network may have made
    it its own (with low-rank adapters it may merge weights). In this mode batch norms keep their statistics. Nothing
    else is put back: what a forward pass itself writes in this mode (a cache, a counter) stays. An active autocast is
    suspended, so that the numbers are those of the weights' own type.

    Args:
        model: The model.
        device: Where it is.
    """
    with _modes_restored(model), torch.autocast(device.type, enabled=False):
        for module in model.modules():
            module.training = False
        yield model


def check_whole(model: nn.Module) -> None:
    """Refuse a network whose weights are spread over processes, so that none of them can run it alone.

    Raises:
        AffscoreError: Its weights are sharded, by FSDP, tensor parallelism or DeepSpeed.

    >>> check_whole(nn.Linear(2, 2))
    """
    homes = {"torch.distributed.tensor": "DTensor", "torch.distributed.fsdp": "FullyShardedDataParallel"}
    spread = tuple(getattr(sys.modules.get(home), name, ()) for home, name in homes.items())
    for name, part in (*model.named_parameters(), *model.named_modules()):
        if isinstance(part, spread) or hasattr(part, "ds_id"):  # the mark of DeepSpeed's ZeRO-3
            where = f"weights ({name or 'all'}) are spread over several processes (FSDP, tensor parallelism, ZeRO-3)"
            advice = "train it with DistributedDataParallel, or measure a whole copy of it with affscore.signature"
            raise AffscoreError(f"this network cannot be measured while it trains: {where}; {advice}")


def seed_generators(seed: int, device: torch.device) -> None:
    """Seed the generators of PyTorch on the CPU and on a device, of NumPy and of Python.

    Not by ``torch.manual_seed``, which seeds every GPU that there is, and those that are first used later, too.
    """
    torch.default_generator.manual_seed(seed)
    if device.type != "cpu":
        module = getattr(torch, device.type)  # torch.cuda, torch.xpu
        with module.device(device):
            module.manual_seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002  # what a network or a data set of somebody else draws from
    random.seed(seed)


@contextmanager
def random_states_kept(device: torch.device) -> Iterator[None]:
    """Within this random numbers may be drawn; afterwards the generators are as if none had been.

    >>> torch.default_generator.manual_seed(0).initial_seed(), torch.rand(1).item()
    (0, 0.49625658988952637)
    >>> with random_states_kept(torch.device("cpu")):
    ...     seed_generators(5, torch.device("cpu"))
    ...     _ = torch.rand(3), np.random.rand(), random.random()
    >>> torch.rand(1).item()
    0.7682217955589294
    """
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with torch.random.fork_rng([device] if device.type != "cpu" else [], device_type=device.type):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
