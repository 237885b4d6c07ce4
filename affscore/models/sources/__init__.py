"""Networks by name, and where they come from: each other module here makes a ``SOURCE``, and is found by being here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from torch import nn

from affscore.errors import AffscoreError
from affscore.models.card import ModelCard, parameter_count, stated_classes, stated_preprocessing
from affscore.models.naming import WEIGHT_SUFFIXES, file_hash, found_in, load_plugins, near, split_spec, user_path
from affscore.models.preprocessing import IMAGENET, Expected
from affscore.options import check_integer


class Source(ABC):
    """Networks by name.

    Attributes:
        form: What MODEL is, as messages say it.
        prefix: What stands in front of the colon in MODEL: ``mini:digitsnet``; empty where there is none.
        package: The optional package whose networks these are, and whose version is part of what they are.
    """

    form: ClassVar[str]
    prefix: ClassVar[str]
    package: ClassVar[str | None] = None

    def names(self) -> Iterable[str]:
        """The names that a user may have meant, as in ``mini:digitsnet``; none where its package is missing."""
        return ()

    def knows(self, name: str) -> bool:
        """Whether there is a network of this name; where only loading it can tell, as without names, true."""
        names = self.names()
        return not names or name in names

    @abstractmethod
    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """A network, and what is known of it.

        Args:
            name: MODEL, with its prefix.
            weights: "DEFAULT", "random", a name that the source knows, or a file.
            seed: Fixes random weights.

        Raises:
            AffscoreError: Weights that are unknown or cannot be had, or a missing package.
        """

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """What makes a network another one (:func:`identity_of_model`), for keys of results.

        Here that are the names, and a file that WEIGHTS means.
        """
        label, own = Path(weights).name, weights not in ("DEFAULT", "random") and user_path(weights).is_file()
        about: dict[str, Any] = {"model": name, "weights": label, "files": {label: file_hash(weights)} if own else {}}
        if self.package and find_spec(self.package):  # where it is missing, loading the network will say it
            about["package"] = ".".join(version(self.package).split(".")[:2])
        return about

    def expected_by(self, model: nn.Module) -> tuple[Expected, bool] | None:
        """What a network in memory expects, if it is one of these, and whether all of that is known."""
        return None


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
        The network. What is known of it is remembered (:func:`affscore.models.card_of`).

    Raises:
        AffscoreError: An unknown name (with near matches), weights that cannot be had (with where to get
            them), a missing extra.

    >>> model = load_model("mini:digitsnet")
    >>> card_of(model).weights, model.training
    ('DEFAULT', False)
    """
    seed = check_integer("seed", seed, 0)
    if not isinstance(spec, str):
        raise AffscoreError(f"MODEL must be a name, got {type(spec).__name__}")
    name, weights = split_spec(spec)
    source = source_of(name)
    if not source.knows(name):
        raise _unknown(name)
    model, card = source.load(name, weights, seed)
    model.eval()  # whose result a network with a train() of its own may lack
    _cards[model] = _complete(card, model)
    return model


def card_of(model: nn.Module) -> ModelCard:
    """What is known of a network; for one that :func:`affscore.load_model` did not make, what it says of itself.

    A network may carry an attribute ``preprocessing`` (:class:`affscore.models.Preprocessing` or
    :class:`affscore.models.TextPreprocessing`), and those of timm and transformers carry a configuration;
    without any, ImageNet's preprocessing is assumed. An attribute ``classes`` names its outputs in their order.
    """
    if model in _cards:
        return _cards[model]
    expected = (source.expected_by(model) for source in _sources().values())
    found = stated_preprocessing(model) or next(filter(None, expected), (IMAGENET, False))
    return _complete(ModelCard(type(model).__name__, "in memory", *found), model)


def _complete(card: ModelCard, model: nn.Module) -> ModelCard:
    return replace(card, parameters=parameter_count(model), classes=card.classes or stated_classes(model))


def identity_of_model(spec: str) -> dict[str, Any]:
    """What makes a network by name another one, in the types that JSON knows and without a path.

    * Its name, and the name of its weights (``DEFAULT`` is resolved for torchvision).
    * The SHA-256 of every file that the name points to: of weights, of one's own source, of a folder or a
      configuration of transformers. What such a source imports or reads itself is not looked at.
    * For weights of torchvision the hash that is part of their address.
    * For networks of timm and transformers the version (major.minor) of that package.

    Args:
        spec: MODEL[@WEIGHTS].

    Raises:
        AffscoreError: An unknown name, or a file that does not exist.

    >>> sorted(identity_of_model("mini:digitsnet"))
    ['files', 'model', 'weights']
    >>> identity_of_model("resnet18@random")
    {'model': 'resnet18', 'weights': 'random', 'files': {}}
    """
    name, weights = split_spec(spec)
    return source_of(name).identity(name, weights)


registered: dict[str, Source] = {}
"""What other packages have registered, by its prefix."""


def register(source: Source) -> None:
    """Make the networks of another package known by name, as MODEL, instead of those that had this prefix.

    A package that is installed need not be imported first: the module that an entry point of the group
    ``affscore.sources`` names is imported when a network of the entry point's name, its prefix, is asked for that
    affscore itself has not.

    Args:
        source: An object of a class of :class:`affscore.models.Source`.
    """
    registered[source.prefix] = source


def _sources() -> dict[str, Source]:
    """All sources by their prefix, in its order; registered ones instead of ours."""
    ours = {source.prefix: source for source in found_in(__name__, "SOURCE")}
    return dict(sorted((ours | registered).items()))


def source_of(name: str) -> Source:
    """The source of a network.

    Args:
        name: MODEL.

    Raises:
        AffscoreError: There is no such prefix, or network; where a package has them it is not asked.

    >>> source_of("mini:digitsnet").prefix, source_of("my/net.py:make").prefix, source_of("resnet18").prefix
    ('mini', 'file.py', '')
    """
    prefix = "file.py" if ".py:" in name else name.partition(":")[0] if ":" in name else ""
    ours = found_in(__name__, "SOURCE", first=prefix or "torchvision")
    known = registered.get(prefix) or next((source for source in ours if source.prefix == prefix), None)
    if prefix and (known is None or known.package or not known.knows(name)):  # plugins may take seconds
        load_plugins(prefix)
        known = registered.get(prefix, known)
    if known is None or not (known.package or known.knows(name)):  # those of packages are known by name alone
        raise _unknown(name)
    return known


def _unknown(name: str) -> AffscoreError:
    """The error for a name that no source has; names with the same prefix are looked through first."""
    if name.endswith(".py"):
        return AffscoreError(f"{name!r} is a file: name the function in it that returns the network, {name}:FUNCTION")
    if name.endswith(WEIGHT_SUFFIXES):
        return AffscoreError(f"{name!r} is a file of weights: write NAME@{name} with the name of their network")
    nearest = sorted(_sources().values(), key=lambda source: source.prefix != name.partition(":")[0])
    hint = near(name, (known for source in nearest for known in source.names()))
    return AffscoreError(f"unknown model {name!r}{hint} (MODEL is one of {', '.join(one.form for one in nearest)})")
