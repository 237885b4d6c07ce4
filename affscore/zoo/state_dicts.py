"""Weights from a file: state dictionaries only, never a pickle that could run code."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError

__all__ = ["fingerprint", "load_weights", "read_state_dict", "tensor_bytes"]


def load_weights(model: nn.Module, file: Path) -> None:
    """Put the weights of a file into a model.

    Args:
        model: The architecture.
        file: A state dictionary: .safetensors, or .pth / .pt read with ``weights_only=True``. It may be
            the value of an entry ``state_dict``, and its names may begin with ``module.``.

    Raises:
        AffscoreError: No such file, not weights, or weights of another architecture.
    """
    state = read_state_dict(file)
    ours = model.state_dict()
    missing, foreign = sorted(ours.keys() - state.keys()), sorted(state.keys() - ours.keys())
    shapes = [name for name in sorted(ours.keys() & state.keys()) if ours[name].shape != state[name].shape]
    # older files do not count the batches that a batch norm has seen, and nothing depends on it
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or foreign or shapes:
        example = (
            f"{missing[0]!r} is missing"
            if missing
            else f"{foreign[0]!r} is not in the network"
            if foreign
            else f"{shapes[0]!r} has shape {tuple(state[shapes[0]].shape)}, not {tuple(ours[shapes[0]].shape)}"
        )
        raise AffscoreError(
            f"the weights in {file.name!r} are not those of this architecture "
            f"({len(missing)} missing, {len(foreign)} unknown, {len(shapes)} of another shape: {example})"
        )
    model.load_state_dict({**ours, **state})


def read_state_dict(file: Path) -> dict[str, Tensor]:
    """The tensors in a file of weights, by name (see :func:`load_weights`)."""
    if not file.is_file():
        kind = "a folder, not a file" if file.is_dir() else "no file"
        raise AffscoreError(f"there is {kind} {str(file)!r}; weights are read from a .safetensors, .pth or .pt file")
    try:
        if file.suffix == ".safetensors":
            content: Any = safetensors.torch.load_file(file)
        else:
            content = torch.load(file, map_location="cpu", weights_only=True)
    except (
        safetensors.SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError,
        KeyError, IndexError, AttributeError, TypeError, UnicodeDecodeError,
    ) as error:  # fmt: skip
        raise AffscoreError(
            f"the file {file.name!r} does not hold weights that can be read safely "
            f"({type(error).__name__}); save them with torch.save(model.state_dict(), FILE) or as safetensors"
        ) from error
    if isinstance(content, dict) and isinstance(content.get("state_dict"), dict):
        content = content["state_dict"]
    if not isinstance(content, dict) or not content or not all(isinstance(v, Tensor) for v in content.values()):
        raise AffscoreError(
            f"the file {file.name!r} holds no state dictionary (names and tensors), but a {type(content).__name__}; "
            "save the weights with torch.save(model.state_dict(), FILE)"
        )
    if all(str(name).startswith("module.") for name in content):
        content = {str(name).removeprefix("module."): value for name, value in content.items()}
    return {str(name): value for name, value in content.items()}


def fingerprint(model: nn.Module) -> str:
    """A hash of a network: its structure as it prints itself, its parameters, and all of its buffers.

    The same for the same numbers, wherever they were read from; another for another activation.

    >>> from torch import nn
    >>> layer = nn.Linear(2, 2)
    >>> fingerprint(layer) == fingerprint(layer), len(fingerprint(layer))
    (True, 16)
    """
    digest = hashlib.sha256()
    digest.update(repr(model).encode())
    everything = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    for name, value in sorted(everything.items()):
        if isinstance(value, Tensor):
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
