"""Networks by name, from every source that there is, and what is known of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from torch import nn

from affscore.errors import AffscoreError
from affscore.zoo.card import ModelCard, parameter_count, stated_classes, stated_preprocessing
from affscore.zoo.sources import mini_networks, own_file, timm_networks, torchvision_networks, transformers_networks
from affscore.zoo.sources.naming import split_spec, unknown

__all__ = ["ModelCard", "card_of", "load_model"]

_cards: WeakKeyDictionary[nn.Module, ModelCard] = WeakKeyDictionary()


def load_model(spec: str, seed: int = 0) -> nn.Module:
    """A network by name, in evaluation mode.

    The name is ``MODEL[@WEIGHTS]``. MODEL is one of

    ======================= ===========================================================================
    ``resnet18``            a classification network of torchvision
    ``timm:resnet26``       a network of timm (extra ``timm``)
    ``hf:org/name``         a vision or text transformer of the Hugging Face hub (extra ``transformers``),
    ``hf:my/folder``        of a folder with config.json and the weights,
    ``hf:my/config.json``   or of a configuration alone
    ``mini:digitsnet``      a small network of the package
    ``my/file.py:factory``  a function without arguments that returns a network, a class, or a network
    ======================= ===========================================================================

    and WEIGHTS one of

    * ``DEFAULT``, the default: the trained ones; for one's own file what the factory returns,
    * ``random``, fixed by the seed,
    * the name of a torchvision weight (``IMAGENET1K_V2``), or a pretrained tag of timm (``a1_in1k``),
    * a file of weights (.pth, .pt, .bin, .safetensors): a state dictionary, or a checkpoint that holds one
      (:func:`affscore.zoo.state_dicts.read_state_dict`).

    Only tensors are read from files: no pickle calls a function, and no code of a repository runs.

    Args:
        spec: MODEL[@WEIGHTS].
        seed: Fixes random weights.

    Returns:
        The network. What is known of it is remembered (:func:`card_of`).

    Raises:
        AffscoreError: An unknown name (with near matches), weights that cannot be had (with where to get
            them), a missing extra.

    >>> model = load_model("mini:digitsnet")
    >>> card_of(model).weights, model.training
    ('DEFAULT', False)
    """
    if not isinstance(spec, str):
        raise AffscoreError(f"MODEL must be a name, got {type(spec).__name__}")
    name, weights = split_spec(spec)
    if ".py:" in name:
        model, card = own_file.load(name, weights, seed)
    elif name.startswith("hf:"):
        model, card = transformers_networks.load(name, weights, seed)
    else:
        prefix = name.partition(":")[0] if ":" in name else ""
        source = {"": torchvision_networks, "mini": mini_networks, "timm": timm_networks}.get(prefix)
        if source is None or not source.knows(name):
            raise unknown(name, _known_names(prefix))
        model, card = source.load(name, weights, seed)
    model.eval()
    _cards[model] = card
    return model


def card_of(model: nn.Module) -> ModelCard:
    """What is known of a network; for one that :func:`load_model` did not make, what it says of itself.

    A network may carry an attribute ``preprocessing`` (:class:`affscore.zoo.Preprocessing` or
    :class:`affscore.zoo.TextPreprocessing`), and those of timm and transformers carry a configuration;
    without any, ImageNet's preprocessing is assumed. An attribute ``classes`` names its outputs in their order.
    """
    card = _cards.get(model)
    if card is None:
        preprocessing, known = stated_preprocessing(model)
        if not known and (by_timm := timm_networks.expected_by(model)):
            preprocessing, known = by_timm, True
        elif not known:
            preprocessing, known = transformers_networks.expected_by(model) or (preprocessing, False)
        count, classes = parameter_count(model), stated_classes(model)
        card = ModelCard(type(model).__name__, "in memory", preprocessing, known, parameters=count, classes=classes)
    return card


def _known_names(prefix: str) -> Iterator[str]:
    """The names of every source that is installed, those with this prefix first."""
    if prefix == "mini":
        yield from mini_networks.names()
    if prefix == "timm":
        yield from timm_networks.names()
    yield from torchvision_networks.names()
    yield from mini_networks.names()
    if importlib.util.find_spec("timm"):
        yield from timm_networks.names()
    if importlib.util.find_spec("huggingface_hub"):
        yield from transformers_networks.cached_names()
