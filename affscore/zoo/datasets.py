"""Data by name: digits, noise, torchvision's small data sets, ImageNet, a folder, a text, or token ids."""

from __future__ import annotations

import difflib
import os
from numbers import Integral
from typing import Any

from affscore.errors import AffscoreError
from affscore.zoo.digits import digits
from affscore.zoo.downloads import DOWNLOADS, data_home, torchvision_images
from affscore.zoo.folders import folder_of_images
from affscore.zoo.named_data import ImageSet, NamedData, Noise
from affscore.zoo.text import Expected
from affscore.zoo.token_sets import text_file, token_file

__all__ = ["ImageSet", "NamedData", "data_home", "load_data"]

_FORMS = (
    "digits, random, cifar10, cifar100, fashion-mnist, NAME:CLASS of these, imagenet:DIR, folder:DIR, "
    "text:FILE or tokens:FILE"
)
_OF_IMAGES = ("digits", *DOWNLOADS)
_OF_PATHS = {"imagenet": "DIR", "folder": "DIR", "text": "FILE", "tokens": "FILE"}


def load_data(spec: str, preprocessing: Expected | None = None, seed: int = 0) -> NamedData:
    """Data by name.

    ==================== ==========================================================================
    digits               597 held-out scans of handwritten digits, embedded
    random               standard normal noise of the network's input size, or uniform token ids;
                         as many as asked for
    cifar10, cifar100    test images; found below $AFFSCORE_DATA (~/.cache/affscore), or downloaded
    fashion-mnist        the same
    digits:3             the images of one class of the data sets above (``cifar10:cat``, ...)
    imagenet:DIR         the validation images below DIR/val, or DIR, in folders by class or not
    folder:DIR           every image below DIR; ``folder:DIR/CLASS`` for one class of them
    text:FILE            a text in UTF-8, tokenized as the network says and cut into windows of 128
                         tokens (or fewer, where the network takes fewer)
    text:FILE@TOKENIZER  the same with a tokenizer.json, or the folder that holds it
    tokens:FILE          token ids (N, length) in a .npy, .safetensors or .pt file
    ==================== ==========================================================================

    Images that cannot be read are left out of a signature, counted and named in its notes, and the next
    ones in the shuffled order take their places.

    Args:
        spec: One of the names above.
        preprocessing: What the network expects (:class:`affscore.zoo.Preprocessing` or
            :class:`affscore.zoo.TextPreprocessing`); a network's own is used when the data set is given to
            :func:`affscore.signature` without one.
        seed: Fixes the noise of ``random``.

    Returns:
        The data, as a map-style data set of tensors: images (C, H, W), or windows of token ids (length,).

    Raises:
        AffscoreError: An unknown name, a folder without images, data that is neither here nor can
            be downloaded, or data of another kind than the network expects.

    >>> load_data("digits")[0].shape, len(load_data("digits")), len(load_data("digits:3"))
    (torch.Size([1, 8, 8]), 597, 61)
    """
    if not isinstance(spec, str):
        raise AffscoreError(f"a data set is given by its name ({_FORMS}), got {type(spec).__name__}")
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 2**63:
        raise AffscoreError(f"seed must be a whole number of at least 0 and below 2**63, got {seed!r}")
    data = _found(spec, int(seed))
    return data if preprocessing is None else data.prepared_for(preprocessing)


def _found(spec: str, seed: int) -> NamedData:
    name, colon, argument = spec.partition(":")
    if name in ("imagenet", "folder"):
        return folder_of_images(name, argument)
    if name == "text":
        return text_file(argument)
    if name == "tokens":
        return token_file(argument)
    if spec == "random":
        return Noise(seed)
    if name in _OF_IMAGES:
        images = _digits() if name == "digits" else torchvision_images(name)
        return images.only(argument) if colon else images
    raise AffscoreError(f"unknown data set {spec!r}{_hint(spec)} (known: {_FORMS})")


def _digits() -> ImageSet:
    images, labels = digits("test")

    def read(index: int, preprocessing: Any) -> Any:
        return preprocessing(images[index]) if preprocessing else images[index]

    return ImageSet("digits", len(images), read, labels=[str(label) for label in labels.tolist()])


def _hint(spec: str) -> str:
    if os.path.isdir(spec):  # noqa: PTH112  # Path.is_dir raises where a name is too long
        return "; for a folder of images write folder: in front of it"
    if os.path.isfile(spec):  # noqa: PTH113
        return "; for a text write text: in front of it, for token ids tokens:"
    name, colon, argument = spec.partition(":")
    near = difflib.get_close_matches(name.lower(), [*_OF_IMAGES, "random", *_OF_PATHS], n=1)
    if not near:
        return ""
    meant = near[0] if near[0] not in _OF_PATHS else f"{near[0]}:{argument or _OF_PATHS[near[0]]}"
    return f"; did you mean {meant + (colon + argument if colon and near[0] in _OF_IMAGES else '')!r}?"
