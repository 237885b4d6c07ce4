"""Networks by name, from every source that there is, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd
from torch import nn

from affscore.errors import AffscoreError
from affscore.models.card import ModelCard, parameter_count, stated_classes, stated_preprocessing
from affscore.models.naming import check_files, found_in, near, split_spec
from affscore.models.preprocessing import IMAGENET
from affscore.models.sources import Source, registered

_cards: WeakKeyDictionary[nn.Module, ModelCard] = WeakKeyDictionary()


def load_model(spec: str, seed: int = 0) -> nn.Module:
    """A network by name, in evaluation mode.

    The name is ``MODEL[@WEIGHTS]``. MODEL is one of

    ======================= ==================================================================================
    ``resnet18``            a classification network of torchvision
    ``timm:resnet26``       a network of timm (extra ``timm``)
    ``hf:org/name``         a vision or text transformer of the Hugging Face hub (extra ``transformers``),
    ``hf:my/folder``        of a folder with config.json and the weights,
    ``hf:my/config.json``   or of a configuration alone
    ``mini:digitsnet``      a small network of the package; further ``mini:NAME`` come with the book's companion
    ``my/file.py:factory``  a function without arguments that returns a network, a class, or a network
    ======================= ==================================================================================

    and WEIGHTS one of

    * ``DEFAULT``, the default: the trained ones; for one's own file what the factory returns,
    * ``random``, fixed by the seed,
    * the name of a torchvision weight (``IMAGENET1K_V2``), or a pretrained tag of timm (``a1_in1k``),
    * a file of weights (.pth, .pt, .pth.tar, .ckpt, .bin, .safetensors): a state dictionary, or a checkpoint that
      holds one (:func:`affscore.models.weight_files.read_state_dict`).

    Files are read by ``torch.load(weights_only=True)`` and safetensors, which run no code that a file holds, and no
    code of a repository runs. Nothing else guards against files that were made to do harm.

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
    check_files(name)
    source = source_of(name)
    if not source.knows(name):
        raise _unknown(name)
    model, card = source.load(name, weights, seed)
    model.eval()  # whose result a network with a train() of its own may lack
    _cards[model] = _complete(card, model)
    return model


def card_of(model: nn.Module) -> ModelCard:
    """What is known of a network; for one that :func:`load_model` did not make, what it says of itself.

    A network may carry an attribute ``preprocessing`` (:class:`affscore.models.Preprocessing` or
    :class:`affscore.models.TextPreprocessing`), and those of timm and transformers carry a configuration;
    without any, ImageNet's preprocessing is assumed. An attribute ``classes`` names its outputs in their order.
    """
    if model in _cards:
        return _cards[model]
    expected = (source.expected_by(model) for source in _sources(""))
    found = stated_preprocessing(model) or next(filter(None, expected), (IMAGENET, False))
    return _complete(ModelCard(type(model).__name__, "in memory", *found), model)


def _complete(card: ModelCard, model: nn.Module) -> ModelCard:
    return replace(card, parameters=parameter_count(model), classes=card.classes or stated_classes(model))


def identity_of_model(spec: str) -> dict[str, Any]:
    """What makes a network by name another one, in the types that JSON knows and without a path.

    * Its name, and the name of its weights (``DEFAULT`` is resolved for torchvision).
    * The SHA-256 of every file that the name points to: of weights, of one's own source, of a folder or a
      configuration of transformers. What such a source imports or reads itself is not looked at.
    * For weights of torchvision the hash that is part of their address; where the file on this machine does
      not have that hash, the file's own.
    * For networks of timm and transformers the version (major.minor) of that package.

    Args:
        spec: MODEL[@WEIGHTS].

    Raises:
        AffscoreError: A name that is not there; of files, one that cannot be read.

    >>> sorted(identity_of_model("mini:digitsnet"))
    ['files', 'model', 'weights']
    >>> identity_of_model("resnet18@random")
    {'model': 'resnet18', 'weights': 'random', 'files': {}}
    """
    name, weights = split_spec(spec)
    source = source_of(name)
    if source.package is None and not source.knows(name):  # the networks of packages are known by name alone
        load_model(spec)  # knows what is near, and says so
    return source.identity(name, weights)


def characteristics(models: Iterable[str]) -> pd.DataFrame:
    """What the authors of networks state of them, and how deep they are.

    Args:
        models: MODEL[@WEIGHTS], each. Random weights and weights in a file have no accuracy; of networks that are
            neither torchvision's nor small ones (mini:NAME) nothing is stated, and everything but the name is missing.

    Returns:
        A row for each model, by its name as it was given. Columns: ``name`` and ``weights``, ``family``, ``year``,
        ``accuracy`` (in percent: Acc@1 on the validation set of ImageNet-1K, or of a small network on the held-out
        digits), ``accuracy_standard_error`` (missing for torchvision, where nobody states it), ``parameters``,
        ``gflops`` (10^9 multiply-adds of one image of the size that the network expects), ``depth`` (the largest
        number of activations on a path, as the recorder counts) and ``activations`` (how many there are in all); both
        are missing for networks that were not counted.

    Raises:
        AffscoreError: A network or weights that are not known.

    Source: torchvision's metadata of weights; the records of the small networks' trainings; depth: counted.

    >>> table = characteristics(["resnet50", "resnet50@IMAGENET1K_V1"])
    >>> table[["accuracy", "parameters", "gflops", "depth"]].values.tolist()
    [[80.858, 25557032.0, 4.089, 49.0], [76.13, 25557032.0, 4.089, 49.0]]
    """
    named = {model: split_spec(model) for model in models}
    rows = {model: source_of(name).facts(name, weights) for model, (name, weights) in named.items()}
    table = pd.DataFrame.from_dict(rows, orient="index")
    numbers = ("accuracy", "accuracy_standard_error", "depth", "activations")
    return table.astype(dict.fromkeys(numbers, float)) if rows else table


def _sources(first: str) -> Iterator[Source]:
    """All sources, those of a prefix first, and else torchvision, which has none; registered ones instead of ours."""
    theirs = {**registered(first)}
    if first in theirs:
        yield theirs[first]
    for source in found_in("affscore.models.sources", "SOURCE", first=first or "torchvision"):
        yield theirs.pop(source.prefix, source)
    yield from theirs.values()


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
    sources = list(_sources(""))
    nearest = sorted(sources, key=lambda source: source.prefix != name.partition(":")[0])
    *forms, last = (source.form for source in sources)
    hint = near(name, (known for source in nearest for known in source.names()))
    return AffscoreError(f"unknown model {name!r}{hint} (MODEL is {', '.join(forms)}, or {last})")
