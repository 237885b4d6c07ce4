"""What a name stands for on this machine: hashes of the files behind it, found without loading a network."""

from __future__ import annotations

import functools
import hashlib
import stat
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
import torchvision
from PIL import Image

from affscore.errors import AffscoreError
from affscore.zoo.datasets import load_data
from affscore.zoo.mini.registry import MINI_NETWORKS
from affscore.zoo.models import load_model
from affscore.zoo.paths import no_file, user_path
from affscore.zoo.sources.naming import split_spec, weights_label
from affscore.zoo.state_dicts import tensor_bytes

__all__ = ["identity_of_data", "identity_of_model"]

_HUBS = {"timm": "timm", "hf": "transformers"}
"""Packages whose networks are known by name alone."""


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
    prefix, colon, rest = name.partition(":")
    files: dict[str, str] = {}
    about: dict[str, Any] = {"model": name, "weights": weights_label(weights), "files": files}
    if ".py:" in name:
        path, _, factory = name.rpartition(":")
        source = user_path(path)
        about["model"] = f"{source.name}:{factory}"
        files[source.name] = _hash_of_file(source, spec)
    elif colon and prefix in _HUBS:
        about["package"] = _minor_version(_HUBS[prefix])
        local = user_path(rest)
        if local.name == "config.json":  # stands for its folder, whose weights are taken
            local = local.parent
        if local.exists():
            about["model"] = f"{prefix}:{local.resolve().name}"
            files |= {file.relative_to(local.parent).as_posix(): _hash_of_file(file, spec) for file in _files(local)}
    elif colon and prefix == "mini":
        if rest not in MINI_NETWORKS:
            load_model(spec)  # knows what is near, and says so
        if weights == "DEFAULT":
            files[MINI_NETWORKS[rest].weights.name] = _hash_of_file(MINI_NETWORKS[rest].weights, spec)
    elif name in torchvision.models.list_models(module=torchvision.models):
        enum = torchvision.models.get_model_weights(name)
        if weights == "DEFAULT" or weights in enum.__members__:
            about["weights"] = enum[weights].name
            url_name = enum[weights].url.rsplit("/", 1)[-1]
            files[url_name] = _hash_of_download(url_name, spec)
            return about
    else:
        load_model(spec)
        raise AffscoreError(f"the network {spec!r} cannot be told from another one of its name")
    if weights not in ("DEFAULT", "random") and user_path(weights).is_file():
        files[about["weights"]] = _hash_of_file(user_path(weights), spec)
    return about


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
    order = data.order(images, seed, default=n)
    about: dict[str, Any] = {"data": data.name, "of": data.length, "images": len(order)}
    if data.length is None and data.files is None:
        return about  # noise, which the seed makes
    digest = hashlib.sha256()
    if data.length is None:  # a text, and what cuts it into tokens
        for file in data.files or ():
            digest.update(bytes.fromhex(_hash_of_file(file, spec)))
    elif data.files is not None:
        for content in _used(data.files, data.order(None, seed, default=n), len(order)):
            digest.update(content)
    else:
        for index in order:
            image = data[index]
            digest.update(f"{image.dtype} {tuple(image.shape)}".encode())
            digest.update(tensor_bytes(image))
    return {**about, "content": digest.hexdigest()}


def _used(files: Sequence[Path], order: Sequence[int], images: int) -> Iterator[bytes]:
    """The hashes of the files that are used: another one takes the place of a file that is no readable image."""
    for index in order:
        if images == 0:
            return
        content, readable = _content(files[index])
        yield content
        images -= readable


def _content(file: Path) -> tuple[bytes, bool]:
    """The hash of a file, and whether there is an image in it."""
    try:
        state = file.stat()
        if not stat.S_ISREG(state.st_mode):  # opening a pipe would wait for somebody to write into it
            return b"no file", False
        return _content_of_state(file, (state.st_ino, state.st_size, state.st_ctime_ns))
    except OSError as error:
        return f"unreadable: {error.errno}".encode(), False


@functools.lru_cache(maxsize=100_000)
def _content_of_state(file: Path, state: tuple[int, ...]) -> tuple[bytes, bool]:
    """As :func:`_content`; a survey asks once for each network, and a file that was not touched is what it was."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest(), _is_image(file)


def _is_image(file: Path) -> bool:
    """Whether Pillow can read all of it, which of JPEG is decoded at an eighth of its size."""
    try:
        with Image.open(file) as image:
            image.draft("RGB", (image.width // 8, image.height // 8))
            image.load()
            return True
    except Exception:  # noqa: BLE001  # Pillow's decoders raise nearly anything; the signature counts the file
        return False


def _hash_of_file(file: Path, spec: str) -> str:
    try:
        if not file.is_file():  # opening a pipe would wait for somebody to write into it
            raise no_file(file)
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise AffscoreError(f"the file {file.name!r} of {spec!r} cannot be read ({error.strerror or error})") from error


def _hash_of_download(name: str, spec: str) -> str:
    """The hash in the file's name, or the file's own where it is another."""
    stated = torch.hub.HASH_REGEX.search(name)
    file = Path(torch.hub.get_dir()) / "checkpoints" / name
    if not file.is_file():
        return stated.group(1) if stated else ""
    found = _hash_of_file(file, spec)
    return stated.group(1) if stated and found.startswith(stated.group(1)) else found


def _files(place: Path) -> list[Path]:
    return sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]


def _minor_version(package: str) -> str | None:
    try:
        return ".".join(version(package).split(".")[:2])
    except PackageNotFoundError:
        return None  # loading the network will say so
