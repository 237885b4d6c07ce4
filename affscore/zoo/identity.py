"""What a name stands for on this machine: hashes of the files behind it, found without loading a network."""

from __future__ import annotations

import hashlib
from typing import Any

from affscore.zoo.datasets import load_data
from affscore.zoo.models import load_model, source_of
from affscore.zoo.naming import split_spec


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


def identity_of_data(spec: str, images: int | None, n: int, seed: int) -> dict[str, Any]:
    """What makes a data set by name another one, in the types that JSON knows and without a path.

    That is its name, how many images it has and how many of them are used, and the SHA-256 of those, in the
    order in which they are used: of files their bytes, else their pixels. So a folder of the same name
    with the same images is the same data set wherever it lies, and no other image of it is read.

    Args:
        spec: SPEC (:func:`affscore.load_data`).
        images: How many images are used; None for all.
        n: Images in a batch: how many are used of a data set without end.
        seed: Fixes which images are used, in which order.

    Raises:
        AffscoreError: As :func:`affscore.load_data`; fewer images than asked for. (A file that cannot be read is
            part of the identity: as long as it cannot, the next one takes its place.)

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
