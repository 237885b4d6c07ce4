"""What is known of a loaded network."""

from __future__ import annotations

import hashlib
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import pandas as pd
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from affscore.errors import AffscoreError
from affscore.models.preprocessing import IMAGENET, Preprocessing
from affscore.models.text import Expected, TextPreprocessing
from affscore.transport.samples import plain_parts

Built = TypeVar("Built")


@dataclass(frozen=True)
class ModelCard:
    """What is known of a loaded network; what its authors state of it is in :func:`affscore.models.characteristics`.

    Attributes:
        name: MODEL as results carry it: a name, or for one's own file ``file.py:factory`` without a path.
        weights: "random", the name of the pretrained weights, the name of a file, or "in memory".
        preprocessing: What the network expects: of an image, or (:class:`affscore.models.TextPreprocessing`,
            with the size of the vocabulary and the longest window) of token ids.
        preprocessing_known: Whether the network or its weights say so; else ImageNet's is assumed.
        family: The family of architectures that it belongs to; None where nobody says.
        parameters: Number of parameters.
        classes: The names of its outputs, in their order; None where nobody says.
    """

    name: str
    weights: str
    preprocessing: Expected = IMAGENET
    preprocessing_known: bool = True
    family: str | None = None
    parameters: int | None = None
    classes: tuple[str, ...] | None = None

    @property
    def input(self) -> Literal["image", "tokens"]:
        """What the network takes, "image" (numbers in channels) or "tokens" (integers of a vocabulary).

        >>> ModelCard("alexnet", "random").input
        'image'
        """
        return "tokens" if isinstance(self.preprocessing, TextPreprocessing) else "image"


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
        if isinstance(weights, (nn.parameter.UninitializedParameter, nn.parameter.UninitializedBuffer)):
            raise AffscoreError(
                f"the network {name} is lazy: {part!r} has no shape as yet; send one image through it first, or give "
                "its layers their sizes"
            )
        if weights.is_meta:
            raise AffscoreError(
                f"the network {name} has no weights: {part!r} is on the device meta; build it on the CPU and load them"
            )


def stated_preprocessing(model: nn.Module) -> tuple[Expected, bool] | None:
    """What a network says of its input in an attribute ``preprocessing``, which is known then; None if it says nothing.

    Raises:
        AffscoreError: The attribute is neither such a statement nor a part of the network (a module, a method).
    """
    stated = getattr(model, "preprocessing", None)
    if isinstance(stated, (Preprocessing, TextPreprocessing)):
        return stated, True
    if stated is not None and not isinstance(stated, nn.Module) and not inspect.isroutine(stated):
        raise AffscoreError(
            "the network's attribute preprocessing must be an affscore.models.Preprocessing(...), or a "
            f"TextPreprocessing(...) of token ids, got {type(stated).__name__}"
        )
    return None


ONE_AT_A_TIME = threading.RLock()
"""Held while a network is built or measured and while a job of a survey is done: threads share imported modules,
evaluation mode, hooks, PyTorch's switches, the working folder and the generator of random numbers."""


def seeded(build: Callable[[], Built], seed: int) -> Built:
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
    if not isinstance(stated, (list, tuple)) or not stated or not all(isinstance(name, str) for name in stated):
        return None
    return None if stated[0] == "LABEL_0" else tuple(stated)  # what transformers write where nobody named them


ARCHITECTURES = Path(__file__).parent / "architectures.csv"


@cache
def _architectures() -> list[Any]:
    return list(pd.read_csv(ARCHITECTURES).itertuples(index=False, name="Architecture"))


def architecture_of(name: str) -> Any:
    """The architecture of a network of torchvision, by the longest beginning of its name; None if unknown.

    Its attributes are ``begins`` (how the names of its members begin), ``family`` (named as in the papers where they
    have it), ``year`` (in which it was first made public), and ``publication`` (authors, title and where to find it).

    >>> architecture_of("swin_v2_t").year, architecture_of("resnet18").family, architecture_of("mynet")
    (2021, 'ResNets', None)
    """
    fitting = [architecture for architecture in _architectures() if name.startswith(architecture.begins)]
    return max(fitting, key=lambda architecture: len(architecture.begins), default=None)


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
