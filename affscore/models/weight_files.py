"""Files of weights: read without running code, and put into a network if they are those of its architecture."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, first_line
from affscore.models.naming import WEIGHTS_ADVICE
from affscore.models.paths import readable_file
from affscore.transport.samples import check_plain

ENTRIES = ("state_dict", "model_state_dict", "model", "state_dict_ema", "model_ema")
"""Under which names training scripts keep the weights in a checkpoint."""

WRAPPERS = ("module.", "_orig_mod.")
"""What DataParallel and torch.compile write in front of every name."""


def without_wrappers(name: str) -> str:
    """The name of a weight or a layer, as it is where no part of the network is wrapped.

    >>> without_wrappers("module.blocks.0._orig_mod.weight")
    'blocks.0.weight'
    """
    return ".".join(part for part in name.split(".") if f"{part}." not in WRAPPERS)


ADVICE = "save them with torch.save(model.state_dict(), FILE) or as safetensors"


def read_weights(file: Path, what: str = "weights", advice: str = ADVICE) -> Any:
    """The contents of a file of weights, on the CPU.

    The readers of NumPy, safetensors and PyTorch (``weights_only=True``) run no code that a file holds. Nothing else
    guards against a file that was made to do harm, as one that unpacks to more than the memory holds.

    Args:
        file: A .safetensors or .npy file; or anything else that ``torch.load(weights_only=True)`` reads, or would but
            for an ``argparse.Namespace``, the options that training scripts like to leave in their checkpoints.
        what: What the file should hold, for the message.
        advice: How to write such a file, for the message.

    Raises:
        AffscoreError: No file, no permission, not such a file, or a broken one.
    """
    readable_file(file, WEIGHTS_ADVICE)
    try:
        if file.suffix == ".npy":
            return np.load(file, allow_pickle=False)
        if file.suffix == ".safetensors":
            return safetensors.torch.load_file(file)
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # what a foreign file makes the readers raise has no end
        readable = isinstance(error, safetensors.SafetensorError)  # PyTorch's advice is to run what the file holds
        raise AffscoreError(
            f"the file {file.name!r} does not hold {what} that can be read safely "
            f"({first_line(error) if readable else type(error).__name__}); {advice}"
        ) from error


def load_weights(model: nn.Module, file: Path) -> None:
    """Put the weights of a file into a model.

    Args:
        model: The architecture.
        file: See :func:`read_state_dict`.

    Raises:
        AffscoreError: No such file, not weights, or as :func:`load_state_dict`; the model is as it was.
    """
    load_state_dict(model, read_state_dict(file), file.name)


def load_state_dict(model: nn.Module, state: Mapping[str, Tensor], name: str) -> None:
    """Put weights into a model, if they are those of its architecture.

    Args:
        model: The architecture.
        state: Names and tensors. All names may begin with one further word, as those of a ``LightningModule`` that
            holds the network do.
        name: The name of the file that they are from, for the message.

    Raises:
        AffscoreError: Names, shapes or types do not fit; the model is as it was.
    """
    inner = {key.partition(".")[2]: value for key, value in state.items()}
    if len({key.partition(".")[0] for key in state}) == 1 and not misfit(model, inner):
        state = inner
    if wrong := misfit(model, state):
        raise AffscoreError(f"the weights in {name!r} are not those of this architecture ({wrong})")
    check_kinds(model, state, name)
    whole = model.state_dict()  # with its metadata: MNASNet wants to see its version there
    whole.update(state)
    model.load_state_dict(whole)


def tensors_of(model: nn.Module) -> dict[str, Tensor]:
    """The tensors that a file must have for a model; older ones do not count the batches that a batch norm has seen.

    >>> list(tensors_of(nn.BatchNorm1d(3)))
    ['weight', 'bias', 'running_mean', 'running_var']
    """
    state = {key: value for key, value in model.state_dict().items() if not key.endswith("num_batches_tracked")}
    return {key: value for key, value in state.items() if isinstance(value, Tensor)}


def misfit(model: nn.Module, state: Mapping[str, Tensor]) -> str:
    """What makes weights those of another architecture; empty where names and shapes are those of this one.

    >>> misfit(nn.Linear(3, 2), {"weight": torch.zeros(2, 3)})
    "1 missing, 0 unknown, 0 of another shape: 'bias' is missing"
    >>> misfit(nn.Linear(3, 2), nn.Linear(3, 2).state_dict())
    ''
    """
    ours = {key: value for key, value in model.state_dict().items() if isinstance(value, Tensor)}
    missing = [f"{key!r} is missing" for key in sorted(tensors_of(model).keys() - state.keys())]
    foreign = [f"{key!r} is not in the network" for key in sorted(state.keys() - ours.keys())]
    shapes = [
        f"{key!r} has shape {tuple(state[key].shape)}, not {tuple(ours[key].shape)}"
        for key in sorted(ours.keys() & state.keys())
        if ours[key].shape != state[key].shape
    ]
    wrong, counts = missing + foreign + shapes, f"{len(missing)} missing, {len(foreign)} unknown, {len(shapes)} of"
    return f"{counts} another shape: {wrong[0]}" if wrong else ""


def check_kinds(model: nn.Module, state: Mapping[str, Tensor], name: str) -> None:
    """Whether weights are numbers of the same sort as the network's: a copy between two sorts is another number.

    Args:
        model: The architecture.
        state: Names and tensors.
        name: The name of the file that they are from, for the message.

    Raises:
        AffscoreError: Integers for real numbers, as in a quantised file, and the like.
    """
    for key, ours in sorted(model.state_dict().items()):
        if isinstance(ours, Tensor) and key in state and _kind(state[key]) != _kind(ours):
            raise AffscoreError(
                f"the weights in {name!r} do not fit: {key!r} holds {_kind(state[key])} ({state[key].dtype}), the "
                f"network has {_kind(ours)} there; undo the quantisation or conversion and save them again"
            )


def _kind(tensor: Tensor) -> str:
    """What sort of numbers a tensor holds."""
    if tensor.dtype.is_complex:
        return "complex numbers"
    if tensor.dtype.is_floating_point:
        return "real numbers"
    return "booleans" if tensor.dtype == torch.bool else "integers"


def read_state_dict(file: Path) -> dict[str, Tensor]:
    """The tensors in a file of weights, by name.

    Args:
        file: A state dictionary: .safetensors, or .pth / .pt read with ``weights_only=True``. It may be
            the value of an entry ``state_dict``, ``model_state_dict``, ``model``, ``state_dict_ema`` or
            ``model_ema``, if there is one of them only, and its names may begin with ``module.`` or
            ``_orig_mod.``.

    Raises:
        AffscoreError: No such file, not weights, or tensors without plain numbers (sparse, quantised).
    """
    content = read_weights(file)
    if isinstance(content, dict):
        inner = [name for name in ENTRIES if isinstance(content.get(name), dict)]
        if len(inner) > 1:
            raise AffscoreError(
                f"the file {file.name!r} holds several state dictionaries ({', '.join(inner)}); save the one that you "
                "mean with torch.save(torch.load(FILE)[NAME], OTHER)"
            )
        content = content[inner[0]] if inner else content
    if not isinstance(content, dict) or not content or not all(isinstance(v, Tensor) for v in content.values()):
        raise AffscoreError(
            f"the file {file.name!r} holds no state dictionary (names and tensors), but {_described(content)}; "
            "save the weights with torch.save(model.state_dict(), FILE)"
        )
    check_plain([*content.values()], f"the weights in {file.name!r}")
    return _unwrapped({str(name): value for name, value in content.items()})


def _described(content: Any) -> str:
    """What a file holds instead of weights."""
    if isinstance(content, dict) and content:
        name, value = next(item for item in content.items() if not isinstance(item[1], Tensor))
        return f"a dict with a {type(value).__name__} under {str(name)[:50]!r}"
    return "an empty dict" if isinstance(content, dict) else f"a {type(content).__name__}"


def _unwrapped(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Without what wrappers add: a word in front of every name, and the count of an average of weights."""
    averaged = {name: value for name, value in state.items() if name != "n_averaged"}
    for wrapper in WRAPPERS:
        if averaged and all(name.startswith(wrapper) for name in averaged):
            return _unwrapped({name.removeprefix(wrapper): value for name, value in averaged.items()})
    return state
