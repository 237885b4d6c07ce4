"""Data by name, from every source that there is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import chain
from numbers import Integral
from typing import Any

from affscore.errors import AffscoreError
from affscore.models.named_data import DataSource, ImageSet, NamedData
from affscore.models.naming import PATHS, found_in, near_data
from affscore.models.text import Expected


def _sources(first: str = "") -> Iterator[DataSource]:
    return chain.from_iterable(found_in("affscore.models.data", "SOURCES", first))


def load_data(spec: str, preprocessing: Expected | None = None, seed: int = 0) -> NamedData:
    """Data by name.

    ==================== ==========================================================================
    digits               597 held-out scans of handwritten digits, embedded
    digits-inverted      the same with black for white; ``digits-shuffled`` with the pixels in another
                         order, ``digits-noisy`` with noise added
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
    ...                  and whatever another module of ``affscore.models.data`` brings; an unknown name
                         lists all
    ==================== ==========================================================================

    Images that cannot be read are left out of a signature, counted and named in its notes, and the next
    ones in the shuffled order take their places.

    Args:
        spec: One of the names above.
        preprocessing: What the network expects (:class:`affscore.models.Preprocessing` or
            :class:`affscore.models.TextPreprocessing`); a network's own is used when the data set is given to
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
        raise AffscoreError(f"seed must be an integer of at least 0 and below 2**63, got {seed!r}")
    name, colon, argument = spec.partition(":")
    source = next((source for source in _sources(first=name) if source.name == name), None)
    if source is None or (colon and not source.takes):
        takes = {source.name: source.takes for source in _sources()}
        raise AffscoreError(f"unknown data set {spec!r}{near_data(spec, takes)} (known: {_forms()})")
    if source.takes in PATHS and not argument:
        what, example = PATHS[source.takes]
        raise AffscoreError(f"{name}: needs {what}, as in {name}:{example}")
    data = source.load(argument, int(seed))
    if source.takes == "CLASS" and colon:
        assert isinstance(data, ImageSet)
        data = data.only(argument)
    return data if preprocessing is None else data.prepared_for(preprocessing)


def identity_of_data(spec: str, images: int | None, n: int, seed: int) -> dict[str, Any]:
    """What makes a data set by name another one, in the types that JSON knows and without a path.

    That is its name, how many images it has and how many of them are used, and the SHA-256 of those, in the
    order in which they are used: of files their bytes, else their pixels. So a folder of the same name
    with the same images is the same data set wherever it lies, and no other image of it is read. (One that takes the
    place of a file that is no readable image does not count.)

    Args:
        spec: SPEC (:func:`affscore.load_data`).
        images: How many images are used; None for all.
        n: Images in a batch: how many are used of a data set without end.
        seed: Fixes which images are used, in which order.

    Raises:
        AffscoreError: As :func:`affscore.load_data`; fewer images than asked for.

    >>> about = identity_of_data("digits", 64, 32, 0)
    >>> about["data"], about["of"], about["images"], len(about["content"])
    ('digits', 597, 64, 64)
    """
    data = load_data(spec, seed=seed)
    used = len(data.order(images, seed, default=n))
    about: dict[str, Any] = {"data": data.name, "of": data.length, "images": used}
    if (content := data.content(used, seed)) is not None:
        digest = hashlib.sha256()
        for part in content:
            digest.update(part)
        about["content"] = digest.hexdigest()
    return about


def _forms() -> str:
    """The names without a path, those of folders, and those of files."""
    sources = sorted(_sources(), key=lambda source: source.takes if source.takes in PATHS else "")
    paths = [f"{source.name}:{source.takes}" for source in sources if source.takes in PATHS]
    names = [source.name for source in sources if source.takes not in PATHS]
    return f"{', '.join(names)}, NAME:CLASS of these, {', '.join(paths[:-1])} or {paths[-1]}"
