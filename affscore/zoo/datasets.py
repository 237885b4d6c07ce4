"""Data by name, from every source that there is."""

from __future__ import annotations

import difflib
import os
from functools import cache
from numbers import Integral

from affscore.errors import AffscoreError
from affscore.zoo.named_data import DataSource, ImageSet, NamedData
from affscore.zoo.registry import found_in
from affscore.zoo.text import Expected

__all__ = ["ImageSet", "NamedData", "load_data"]

PATHS = {"DIR": ("a folder", "path/to/images"), "FILE": ("a file", "path/to/file")}


@cache
def _sources() -> dict[str, DataSource]:
    """The sources by name: those without a path, those of folders, those of files."""
    found = [source for sources in found_in("affscore.zoo.data", "SOURCES") for source in sources]
    return {source.name: source for source in sorted(found, key=lambda s: s.takes if s.takes in PATHS else "")}


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
    ...                  and whatever another module of ``affscore.zoo.data`` brings; an unknown name
                         lists all
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
        raise AffscoreError(f"a data set is given by its name ({_forms()}), got {type(spec).__name__}")
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 2**63:
        raise AffscoreError(f"seed must be a whole number of at least 0 and below 2**63, got {seed!r}")
    name, colon, argument = spec.partition(":")
    source = _sources().get(name)
    if source is None or (colon and not source.takes):
        raise AffscoreError(f"unknown data set {spec!r}{_hint(spec)} (known: {_forms()})")
    if source.takes in PATHS and not argument:
        what, example = PATHS[source.takes]
        raise AffscoreError(f"{name}: needs {what}, as in {name}:{example}")
    data = source.load(argument, int(seed))
    if source.takes == "CLASS" and colon:
        assert isinstance(data, ImageSet)
        data = data.only(argument)
    return data if preprocessing is None else data.prepared_for(preprocessing)


def _forms() -> str:
    paths = [f"{source.name}:{source.takes}" for source in _sources().values() if source.takes in PATHS]
    names = [source.name for source in _sources().values() if source.takes not in PATHS]
    return f"{', '.join(names)}, NAME:CLASS of these, {', '.join(paths[:-1])} or {paths[-1]}"


def _hint(spec: str) -> str:
    if os.path.isdir(spec):  # noqa: PTH112  # Path.is_dir raises where a name is too long
        return "; for a folder of images write folder: in front of it"
    if os.path.isfile(spec):  # noqa: PTH113
        return "; for a text write text: in front of it, for token ids tokens:"
    name, _, argument = spec.partition(":")
    near = difflib.get_close_matches(name.lower(), _sources(), n=1)
    if not near:
        return ""
    takes = _sources()[near[0]].takes
    behind = argument if takes else ""
    meant = f"{near[0]}:{behind or takes}" if behind or takes in PATHS else near[0]
    return f"; did you mean {meant!r}?"
