"""What is known of a network: its name and weights, what it expects, and its fingerprint."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_leaves

from affscore.errors import AffscoreError, Result
from affscore.models.preprocessing import IMAGENET, Expected
from affscore.transport.samples import kind_of


@dataclass(frozen=True)
class ModelCard:
    """What is known of a loaded network.

    Attributes:
        name: MODEL as results carry it: a name, or for one's own file ``file.py:factory`` without a path.
        weights: "random", the name of the pretrained weights, the name of a file, or "in memory".
        preprocessing: What the network expects: of an image, or (:class:`affscore.models.TextPreprocessing`,
            with the size of the vocabulary and the longest window) of token ids.
        preprocessing_known: Whether the network or its weights say so; else ImageNet's is assumed.
        parameters: Number of parameters.
        classes: The names of its outputs, in their order; None where nobody says.
    """

    name: str
    weights: str
    preprocessing: Expected = IMAGENET
    preprocessing_known: bool = True
    parameters: int | None = None
    classes: tuple[str, ...] | None = None


def parameter_count(model: nn.Module) -> int:
    """Number of parameters; one that is shared counts once.

    >>> parameter_count(nn.Linear(3, 2))
    8
    """
    return sum(parameter.numel() for parameter in model.parameters())


def check_has_weights(model: nn.Module, name: str) -> None:
    """Refuse a network whose weights have no values as yet.

    Raises:
        AffscoreError: It has lazy layers that never saw an input, or lies on the device "meta".

    >>> check_has_weights(nn.Linear(3, 2), "mine")
    """
    for part, weights in (*model.named_parameters(), *model.named_buffers()):
        lazy = nn.parameter.is_lazy(weights)
        if lazy or weights.is_meta:
            why = "is lazy: send one image through it first" if lazy else "is on the device meta: build it on the CPU"
            raise AffscoreError(f"the network {name} has no weights as yet; {part!r} {why}")


def stated_preprocessing(model: nn.Module) -> tuple[Expected, bool] | None:
    """What a network says of its input in an attribute ``preprocessing``, which is known then; None if it says nothing.

    Networks of others may have an attribute of this name that is something else.
    """
    stated = getattr(model, "preprocessing", None)
    return (stated, True) if isinstance(stated, Expected) else None


ONE_AT_A_TIME = threading.RLock()
"""Held while a network is built or measured and while a job of a survey is done: threads share imported modules,
evaluation mode, hooks, PyTorch's switches, the working folder and the generator of random numbers."""


def seeded(build: Callable[[], Result], seed: int) -> Result:
    """What a function makes with random numbers that the seed fixes, leaving the global generator alone."""
    with ONE_AT_A_TIME, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


def stated_classes(model: nn.Module) -> tuple[str, ...] | None:
    """The names of its outputs, from an attribute ``classes`` or, of transformers, from the configuration.

    >>> stated_classes(nn.Identity()) is None
    True
    """
    by_number = getattr(getattr(model, "config", None), "id2label", None)
    stated = list(by_number.values()) if isinstance(by_number, dict) else getattr(model, "classes", None)
    named = isinstance(stated, (list, tuple)) and all(isinstance(name, str) for name in stated)
    # LABEL_0 is what transformers write where nobody named them
    return tuple(stated) if named and stated and stated[0] != "LABEL_0" else None


def fingerprint(model: nn.Module) -> str:
    """A hash of a network: its structure as it prints itself, its parameters, and all of its buffers.

    The same for the same numbers, wherever they were read from; another for another activation. Weights that a module
    packs (as quantised layers do) count as its ``state_dict`` gives them.

    >>> from torch import Tensor, nn
    >>> layer = nn.Linear(2, 2)
    >>> fingerprint(layer) == fingerprint(layer), len(fingerprint(layer))
    (True, 16)
    """
    digest = hashlib.sha256(repr(model).encode())
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    packed = tree_leaves([value for value in model.state_dict().values() if not isinstance(value, Tensor)])
    tensors |= {f" {number}": value for number, value in enumerate(packed) if isinstance(value, Tensor)}
    for name, value in sorted(tensors.items()):
        # PyTorch gives a nested tensor no shape, or one with a number of its own
        form = f"{() if value.is_nested else tuple(value.shape)}{value.layout if value.layout != torch.strided else ''}"
        digest.update(f"{name} {value.dtype} {form}".encode())
        for part in plain_parts(value):
            digest.update(tensor_bytes(part))
    return digest.hexdigest()[:16]


def tensor_bytes(tensor: Tensor) -> memoryview:
    """The numbers of a tensor as bytes, for hashing.

    >>> len(tensor_bytes(torch.zeros(3)))
    12
    """
    return tensor.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8).numpy().data


def plain_parts(tensor: Tensor) -> list[Tensor]:
    """The plain tensors that hold the numbers of one: itself, or its indices and values, or what it stands for.

    Args:
        tensor: Any; one without numbers ("meta") has no parts.

    >>> [part.tolist() for part in plain_parts(torch.eye(2).to_sparse())]
    [[[0, 1], [0, 1]], [1.0, 1.0]]
    """
    tensor = tensor.detach()
    if tensor.is_quantized or tensor.is_mkldnn:
        return [tensor.dequantize() if tensor.is_quantized else tensor.to_dense()]
    if not kind_of(tensor) and not is_traceable_wrapper_subclass(tensor):
        return [tensor]
    tensor = tensor.coalesce() if tensor.layout == torch.sparse_coo else tensor
    leaves = tree_leaves(tensor.__reduce_ex__(2))  # what pickle would store
    return [part for leaf in leaves if isinstance(leaf, Tensor) for part in plain_parts(leaf)]
