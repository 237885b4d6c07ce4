"""Weights from a file: state dictionaries only, never a pickle that could run code."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.zoo.weight_files import read_weights

ENTRIES = ("state_dict", "model_state_dict", "model", "state_dict_ema", "model_ema")
"""Under which names training scripts keep the weights in a checkpoint."""

WRAPPERS = ("module.", "_orig_mod.")
"""What DataParallel and torch.compile write in front of every name."""


def load_weights(model: nn.Module, file: Path) -> None:
    """Put the weights of a file into a model.

    Args:
        model: The architecture.
        file: See :func:`read_state_dict`.

    Raises:
        AffscoreError: No such file, not weights, or weights of another architecture; the model is as it was.
    """
    load_state_dict(model, read_state_dict(file), file.name)


def load_state_dict(model: nn.Module, state: Mapping[str, Tensor], name: str) -> None:
    """Put weights into a model, if they are those of its architecture.

    Args:
        model: The architecture.
        state: Names and tensors.
        name: The name of the file that they are from, for the message.

    Raises:
        AffscoreError: Names, shapes or types do not fit; the model is as it was.
    """
    ours = {key: value for key, value in model.state_dict().items() if isinstance(value, Tensor)}
    # older files do not count the batches that a batch norm has seen, and nothing depends on it
    lacking = [key for key in sorted(ours.keys() - state.keys()) if not key.endswith("num_batches_tracked")]
    missing = [f"{key!r} is missing" for key in lacking]
    foreign = [f"{key!r} is not in the network" for key in sorted(state.keys() - ours.keys())]
    shapes = [
        f"{key!r} has shape {tuple(state[key].shape)}, not {tuple(ours[key].shape)}"
        for key in sorted(ours.keys() & state.keys())
        if ours[key].shape != state[key].shape
    ]
    if wrong := missing + foreign + shapes:
        raise AffscoreError(
            f"the weights in {name!r} are not those of this architecture "
            f"({len(missing)} missing, {len(foreign)} unknown, {len(shapes)} of another shape: {wrong[0]})"
        )
    check_kinds(model, state, name)
    whole = model.state_dict()  # with its metadata: MNASNet wants to see its version there
    whole.update(state)
    model.load_state_dict(whole)


def check_kinds(model: nn.Module, state: Mapping[str, Tensor], name: str) -> None:
    """Whether weights are numbers of the same sort as the network's: a copy between two sorts is another number.

    Args:
        model: The architecture.
        state: Names and tensors.
        name: The name of the file that they are from, for the message.

    Raises:
        AffscoreError: Integers for real numbers, as in a quantised file, and the like.
    """
    ours = {key: value for key, value in model.state_dict().items() if isinstance(value, Tensor)}
    for key in sorted(ours.keys() & state.keys()):
        if _kind(state[key]) != _kind(ours[key]):
            raise AffscoreError(
                f"the weights in {name!r} do not fit: {key!r} holds {_kind(state[key])} ({state[key].dtype}), the "
                f"network has {_kind(ours[key])} there; undo the quantisation or conversion and save them again"
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
        AffscoreError: No such file, or not weights.
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
            f"the file {file.name!r} holds no state dictionary (names and tensors), but {_told(content)}; "
            "save the weights with torch.save(model.state_dict(), FILE)"
        )
    return _unwrapped({str(name): value for name, value in content.items()})


def _told(content: Any) -> str:
    """What a file holds instead of weights."""
    if not isinstance(content, dict):
        return f"a {type(content).__name__}"
    if not content:
        return "an empty dict"
    name = next(name for name, value in content.items() if not isinstance(value, Tensor))
    return f"a dict with a {type(content[name]).__name__} under {str(name)[:50]!r}"


def _unwrapped(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Without what wrappers add: a word in front of every name, and the count of an average of weights."""
    averaged = {name: value for name, value in state.items() if name != "n_averaged"}
    for wrapper in WRAPPERS:
        if averaged and all(name.startswith(wrapper) for name in averaged):
            return _unwrapped({name.removeprefix(wrapper): value for name, value in averaged.items()})
    return state


def fingerprint(model: nn.Module) -> str:
    """A hash of a network: its structure as it prints itself, its parameters, and all of its buffers.

    The same for the same numbers, wherever they were read from; another for another activation.

    >>> from torch import nn
    >>> layer = nn.Linear(2, 2)
    >>> fingerprint(layer) == fingerprint(layer), len(fingerprint(layer))
    (True, 16)
    """
    digest = hashlib.sha256(repr(model).encode())
    for name, value in sorted({**dict(model.named_parameters()), **dict(model.named_buffers())}.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(tensor_bytes(value))
    return digest.hexdigest()[:16]


def tensor_bytes(tensor: Tensor) -> memoryview:
    """The numbers of a tensor as bytes, for hashing.

    >>> len(tensor_bytes(torch.zeros(3)))
    12
    """
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().data
