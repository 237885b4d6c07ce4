"""Networks by name, from every source that there is, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from weakref import WeakKeyDictionary

from torch import nn

from affscore.errors import AffscoreError
from affscore.zoo.card import ModelCard, parameter_count, stated_classes, stated_preprocessing
from affscore.zoo.naming import WEIGHT_SUFFIXES, near, split_spec
from affscore.zoo.preprocessing import IMAGENET
from affscore.zoo.registry import found_in
from affscore.zoo.sources import Source

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
    source = source_of(name)
    if not source.knows(name):
        raise _unknown(name)
    model, card = source.load(name, weights, seed)
    model.eval()
    _cards[model] = replace(card, parameters=parameter_count(model), classes=card.classes or stated_classes(model))
    return model


def card_of(model: nn.Module) -> ModelCard:
    """What is known of a network; for one that :func:`load_model` did not make, what it says of itself.

    A network may carry an attribute ``preprocessing`` (:class:`affscore.zoo.Preprocessing` or
    :class:`affscore.zoo.TextPreprocessing`), and those of timm and transformers carry a configuration;
    without any, ImageNet's preprocessing is assumed. An attribute ``classes`` names its outputs in their order.
    """
    if model in _cards:
        return _cards[model]
    found = stated_preprocessing(model)
    for source in [] if found else _sources(""):
        found = found or source.expected_by(model)
    preprocessing, known = found or (IMAGENET, False)
    count, classes = parameter_count(model), stated_classes(model)
    return ModelCard(type(model).__name__, "in memory", preprocessing, known, parameters=count, classes=classes)


def _sources(first: str) -> Iterator[Source]:
    """All sources, those of a prefix first, and else torchvision, which has none."""
    return found_in("affscore.zoo.sources", "SOURCE", first=first or "torchvision")


def source_of(name: str) -> Source:
    """The source of a network.

    Args:
        name: MODEL.

    Raises:
        AffscoreError: There is no such prefix.

    >>> source_of("mini:digitsnet").prefix, source_of("my/net.py:make").prefix, source_of("resnet18").prefix
    ('mini', 'file.py', '')
    """
    prefix = "file.py" if ".py:" in name else name.partition(":")[0] if ":" in name else ""
    source = next((source for source in _sources(prefix) if source.prefix == prefix), None)
    if source is None:
        raise _unknown(name)
    return source


def _unknown(name: str) -> AffscoreError:
    """The error for a name that no source has; names with the same prefix are looked through first."""
    if name.endswith(".py"):
        return AffscoreError(f"{name!r} is a file: name the function in it that returns the network, {name}:FUNCTION")
    if name.endswith(WEIGHT_SUFFIXES) and ":" not in name:
        return AffscoreError(
            f"{name!r} is a file of weights: write NAME@{name} with the name of their network, as in resnet18@{name}, "
            f"or path/to/file.py:factory@{name}"
        )
    sources = list(_sources(""))
    nearest = sorted(sources, key=lambda source: source.prefix != name.partition(":")[0])
    *forms, last = (source.form for source in sources)
    hint = near(name, (known for source in nearest for known in source.names()))
    return AffscoreError(f"unknown model {name!r}{hint} (MODEL is {', '.join(forms)}, or {last})")
