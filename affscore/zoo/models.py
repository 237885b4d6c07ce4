"""Networks by name: torchvision's, the small ones of the package, or one's own Python file."""

from __future__ import annotations

import difflib
import importlib.util
import pickle
import sys
import urllib.error
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch
import torchvision
from torch import nn

from affscore.errors import AffscoreError
from affscore.zoo.mini import MINI_NETWORKS, seeded
from affscore.zoo.paths import user_path
from affscore.zoo.preprocessing import IMAGENET, Preprocessing
from affscore.zoo.state_dicts import load_weights

__all__ = ["ModelCard", "card_of", "load_model"]

_FILE_SUFFIXES = (".pth", ".pt", ".safetensors")


@dataclass(frozen=True)
class ModelCard:
    """What is known of a loaded network.

    Attributes:
        name: MODEL as results carry it: a name, or for one's own file ``file.py:factory`` without a path.
        weights: "random", the name of a torchvision weight, the name of a file, or "in memory".
        preprocessing: What the network expects of an image.
        preprocessing_known: Whether the network or its weights say so; else ImageNet's is assumed.
    """

    name: str
    weights: str
    preprocessing: Preprocessing
    preprocessing_known: bool = True


_cards: WeakKeyDictionary[nn.Module, ModelCard] = WeakKeyDictionary()


def load_model(spec: str, seed: int = 0) -> nn.Module:
    """A network by name, in evaluation mode.

    ``MODEL[@WEIGHTS]``, where MODEL is the name of a torchvision classification network, ``mini:NAME``
    for a small network of the package, or ``path/to/file.py:factory`` for a function without arguments
    that returns a network (or a network itself), and WEIGHTS is ``DEFAULT`` (the default: the trained
    ones; for one's own file what the factory returns), ``random``, the name of a torchvision weight, or
    a file of weights (.pth, .pt, .safetensors).

    Args:
        spec: MODEL[@WEIGHTS].
        seed: Fixes random weights.

    Returns:
        The network. What it expects of images is remembered (:func:`card_of`).

    Raises:
        AffscoreError: An unknown name (with near matches), or weights that cannot be had.

    >>> model = load_model("mini:digitsnet")
    >>> card_of(model).weights, model.training
    ('DEFAULT', False)
    """
    if not isinstance(spec, str):
        raise AffscoreError(f"MODEL must be a name, got {type(spec).__name__}")
    name, weights = split_spec(spec)
    if name.startswith("mini:"):
        model, card = _mini(name, weights, seed)
    elif ".py:" in name:
        model, card = _own_file(name, weights, seed)
    else:
        model, card = _torchvision(name, weights, seed)
    model.eval()
    _cards[model] = card
    return model


def split_spec(spec: str) -> tuple[str, str]:
    """MODEL and WEIGHTS of MODEL[@WEIGHTS]; WEIGHTS is ``DEFAULT`` where it is left away."""
    # a path of one's own file may hold an @
    start = spec.find(".py:") + 1
    name, _, weights = spec[start:].partition("@")
    return spec[:start] + name, weights or "DEFAULT"


def card_of(model: nn.Module) -> ModelCard:
    """What is known of a network; for one that :func:`load_model` did not make, what it says of itself.

    A network may carry an attribute ``preprocessing`` (:class:`affscore.zoo.Preprocessing`); without it
    ImageNet's is assumed.
    """
    card = _cards.get(model)
    if card is None:
        card = ModelCard(type(model).__name__, "in memory", *_stated_preprocessing(model))
    return card


def _mini(name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
    network = MINI_NETWORKS.get(name.removeprefix("mini:"))
    if network is None:
        raise AffscoreError(_unknown(name, [f"mini:{known}" for known in MINI_NETWORKS]))
    model = seeded(network.build, seed)
    if weights != "random":
        load_weights(model, network.weights if weights == "DEFAULT" else _weights_file(name, weights, []))
    return model, ModelCard(name, weights_label(weights), network.preprocessing)


def _torchvision(name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
    names = torchvision.models.list_models(module=torchvision.models)
    if name not in names:
        raise AffscoreError(_unknown(name, [*names, *(f"mini:{known}" for known in MINI_NETWORKS)]))
    enum = torchvision.models.get_model_weights(name)
    first = next(iter(enum))
    builder = torchvision.models.get_model_builder(name)
    # these two initialise themselves only when asked to, and warn when not asked
    options: dict[str, Any] = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    if weights == "DEFAULT" or weights in enum.__members__:
        chosen = enum[weights]
        model = _with_weights(builder, chosen, name)
        return model, ModelCard(name, chosen.name, Preprocessing.from_torchvision(chosen.transforms()))
    file = None if weights == "random" else _weights_file(name, weights, list(enum.__members__))
    if file is not None and options:
        options["transform_input"] = True  # their weights come from TensorFlow, with its normalisation of the input
    model = seeded(lambda: builder(weights=None, **options), seed)
    if file is not None:
        load_weights(model, file)
    return model, ModelCard(name, weights_label(weights), Preprocessing.from_torchvision(first.transforms()))


def _fetch(weight: Any, name: str) -> None:
    """Download the file of a torchvision weight to where torchvision looks for it, unless it is there."""
    file = Path(torch.hub.get_dir()) / "checkpoints" / weight.url.rsplit("/", 1)[-1]
    if file.exists():
        return
    expected = torch.hub.HASH_REGEX.search(file.name)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        torch.hub.download_url_to_file(weight.url, str(file), expected.group(1) if expected else None)
    except (urllib.error.URLError, OSError, RuntimeError) as error:
        raise AffscoreError(
            f"the weights {weight.name} of {name} are not on this machine and could not be downloaded "
            f"({' '.join(str(error).split())}); "
            f"get {weight.url} elsewhere and put it into {file.parent}, or give it as {name}@FILE"
        ) from error


def _with_weights(builder: Callable[..., nn.Module], weight: Any, name: str) -> nn.Module:
    _fetch(weight, name)
    try:
        return builder(weights=weight)
    except (RuntimeError, pickle.UnpicklingError, EOFError) as error:
        file = weight.url.rsplit("/", 1)[-1]
        raise AffscoreError(
            f"the weights of {name} in the file {file} of {torch.hub.get_dir()}/checkpoints cannot be used "
            f"({str(error).splitlines()[0]}); remove the file so that it is downloaded again"
        ) from error


def _own_file(spec: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
    path, _, factory = spec.rpartition(":")
    file = user_path(path)
    if not file.is_file():
        raise AffscoreError(f"there is no file {path!r}; write path/to/file.py:factory")
    module_spec = importlib.util.spec_from_file_location(f"affscore_user_{file.stem}", file)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module_spec.name] = module  # dataclasses and pickle look their module up by name
    try:
        module_spec.loader.exec_module(module)
    except Exception as error:
        raise AffscoreError(f"the file {file.name!r} fails when imported: {type(error).__name__}: {error}") from error
    made = getattr(module, factory, None)
    if made is None:
        defined = [name for name in vars(module) if not name.startswith("_")]
        near = difflib.get_close_matches(factory, defined, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise AffscoreError(f"the file {file.name!r} defines no {factory!r}{hint}")
    try:
        model = made if isinstance(made, nn.Module) else seeded(made, seed)
    except Exception as error:
        raise AffscoreError(f"{file.name}:{factory}() fails: {type(error).__name__}: {error}") from error
    if not isinstance(model, nn.Module):
        raise AffscoreError(f"{file.name}:{factory} must give a torch.nn.Module, got a {type(model).__name__}")
    if weights == "random":
        raise AffscoreError(f"{file.name}:{factory} decides its weights itself; leave @random away")
    if weights != "DEFAULT":
        load_weights(model, _weights_file(f"{file.name}:{factory}", weights, []))
    label = "as built" if weights == "DEFAULT" else weights_label(weights)
    return model, ModelCard(f"{file.name}:{factory}", label, *_stated_preprocessing(model))


def _stated_preprocessing(model: nn.Module) -> tuple[Preprocessing, bool]:
    stated = getattr(model, "preprocessing", None)
    known = isinstance(stated, Preprocessing)
    return (stated if isinstance(stated, Preprocessing) else IMAGENET), known


def _weights_file(name: str, weights: str, members: list[str]) -> Path:
    """The file that WEIGHTS means; a name that is neither a weight nor a file gets an error."""
    path = user_path(weights)
    if path.exists() or weights.endswith(_FILE_SUFFIXES) or "/" in weights:
        return path
    known = ["DEFAULT", "random", *(member for member in members if member != "DEFAULT")]
    near = difflib.get_close_matches(weights, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise AffscoreError(
        f"unknown weights {weights!r} for {name}{hint} (known: {', '.join(known)}, or a .pth, .pt or .safetensors file)"
    )


def weights_label(weights: str) -> str:
    return Path(weights).name if weights.endswith(_FILE_SUFFIXES) or "/" in weights else weights


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return (
        f"unknown model {name!r}{hint} (MODEL is a torchvision classification network, mini:NAME, "
        "or path/to/file.py:factory)"
    )
