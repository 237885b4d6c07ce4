"""What users write: MODEL@WEIGHTS, paths, names with a near match, and the optional packages that these need."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from affscore.errors import AffscoreError, guarded

WEIGHT_SUFFIXES = (".pth", ".pt", ".pth.tar", ".ckpt", ".bin", ".safetensors")


def split_spec(spec: str) -> tuple[str, str]:
    """MODEL and WEIGHTS of MODEL[@WEIGHTS]; WEIGHTS is ``DEFAULT`` where it is omitted.

    An @ may be part of a path: what ends in ``.py:factory``, or is a file or a folder, is one MODEL.

    >>> split_spec("resnet18@random"), split_spec("a@b/net.py:make@w.pth"), split_spec("timm:resnet18")
    (('resnet18', 'random'), ('a@b/net.py:make', 'w.pth'), ('timm:resnet18', 'DEFAULT'))
    """
    if spec.startswith("hf:"):
        name, weights = split_path(spec.removeprefix("hf:"))
        return f"hf:{name}", weights or "DEFAULT"
    start = spec.find(".py:") + 1
    name, _, weights = spec[start:].partition("@")
    return spec[:start] + name, weights or "DEFAULT"


def split_path(text: str) -> tuple[str, str]:
    """A path, and what stands behind the @ that follows it: the longest part that exists is the path."""
    cuts = [index for index, letter in enumerate(text) if letter == "@"] + [len(text)]
    end = next((cut for cut in reversed(cuts) if os.path.exists(user_path(text[:cut]))), cuts[0])  # noqa: PTH110
    return text[:end], text[end + 1 :]


def user_path(text: str) -> Path:
    """A path, with ~ for the home folder; it need not exist.

    >>> user_path("images").name
    'images'
    """
    return Path(os.path.expanduser(text))  # noqa: PTH111  # that of pathlib raises where nobody has this name


def readable_file(path: str | Path, advice: str = "") -> Path:
    """A file that exists.

    Args:
        path: Its path, as a user writes it.
        advice: What to give instead, for the message.

    Raises:
        AffscoreError: There is no file, but perhaps a folder.
    """
    file = user_path(str(path))
    if not os.path.isfile(file):  # noqa: PTH113  # that of pathlib raises where a name is too long
        found = "there is a folder, not a file" if os.path.isdir(file) else "file not found:"  # noqa: PTH112
        raise AffscoreError(f"{found} {str(path)!r}{advice and '; '}{advice}")
    return file


def file_hash(path: str | Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits.

    Raises:
        AffscoreError: There is no such file.
    """
    with readable_file(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_destination(path: str | Path, endings: Sequence[str] = (".parquet",)) -> Path:
    """The path, if a file can be written there: known before anything is computed.

    Args:
        path: Where to write.
        endings: What the name may end in.

    Raises:
        AffscoreError: Another ending, a folder that is missing or may not be written to, or a folder in the place of
            the file.
    """
    path = Path(path)
    if path.suffix not in endings:
        raise AffscoreError(f"the file name must end in {' or '.join(endings)}, got {path.name!r}")
    if path.is_dir():
        raise AffscoreError(f"{path.name!r} is a folder; give the name of a file in it")
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        found = "may not be written to" if path.parent.is_dir() else "is missing: there is no folder of this name"
        raise AffscoreError(f"{str(path.parent)!r}, the place of {path.name!r}, {found}")
    return path


def weights_file(name: str, weights: str, members: Iterable[str] = ()) -> Path:
    """The file that WEIGHTS means.

    Args:
        name: MODEL, for the message.
        weights: WEIGHTS.
        members: Names of weights that MODEL has, besides DEFAULT and random.

    Raises:
        AffscoreError: A name that is neither a weight nor a file, with a near match.
    """
    path = user_path(weights)
    if names_a_file(weights) or os.path.exists(path):  # noqa: PTH110
        return path
    known = ["DEFAULT", "random", *(member for member in members if member != "DEFAULT")]
    hint = f"{near(weights, known, 1)} (known: {', '.join(known)}, or a .pth, .pt or .safetensors file)"
    raise AffscoreError(f"unknown weights {weights!r} for {name}{hint}")


def names_a_file(weights: str) -> bool:
    """Whether WEIGHTS can only be a file.

    >>> names_a_file("random"), names_a_file("runs/7/best"), names_a_file("best.pth")
    (False, True, True)
    """
    return weights.endswith(WEIGHT_SUFFIXES) or "/" in weights


def near(name: str, known: Iterable[str], most: int = 3) -> str:
    """A question to the user who wrote a name that is not known; empty where nothing is near.

    >>> near("timm:resnet19", ["swin_t", "resnet18"]), near("xyz", ["alexnet"])
    ('; did you mean resnet18?', '')
    """
    prefix, _, bare = name.lower().rpartition(":")
    # reversed: the first source wins where two have the same name
    shown = {full.rpartition(":")[2].lower(): full for full in reversed([*known])}
    alike = [short for short, full in shown.items() if short == bare or full.lower().rpartition(":")[0] == prefix]
    close = difflib.get_close_matches(bare, alike, n=most, cutoff=0.6)
    close = close or difflib.get_close_matches(bare, list(shown), n=most, cutoff=0.5)
    return f"; did you mean {' or '.join(shown[match] for match in close)}?" if bare and close else ""


def needs(package: str, name: str, extra: str) -> ModuleType:
    """An optional package.

    Args:
        package: What to import.
        name: What needs it, for the message.
        extra: The extra of affscore that brings it.

    Raises:
        AffscoreError: It is not installed; the message says how to install it.
    """
    what = f"{name} needs the package {package}, which cannot be imported"
    return guarded(lambda: importlib.import_module(package), what, f'pip install "affscore[{extra}]"')


def found_in(package: str, name: str, first: str = "") -> Iterator[Any]:
    """What the modules of a package define under a name; each module is imported when its turn comes.

    Args:
        package: As it is imported.
        name: What each of the modules defines.
        first: Modules whose names begin so come first, the others in the order of their names.

    >>> [source.prefix for source in found_in("affscore.models.sources", "SOURCE", first="timm")]
    ['timm', 'mini', 'file.py', '', 'hf']
    """
    modules = [found.name for found in pkgutil.iter_modules(importlib.import_module(package).__path__)]
    for module in sorted(modules, key=lambda module: not module.startswith(first)):
        yield getattr(importlib.import_module(f"{package}.{module}"), name)


def load_plugins(name: str) -> None:
    """Import what installed packages say to bring: an entry point of the group ``affscore.sources`` names a module.

    Args:
        name: The entry point's name, a prefix of MODEL, or a SPEC.

    Raises:
        AffscoreError: The module cannot be imported.
    """
    for point in entry_points(group="affscore.sources", name=name):
        guarded(point.load, f"{name!r} comes from {point.value}, which cannot be imported")


@contextmanager
def switched(get: Callable[[], Any], put: Callable[[Any], object], value: Any) -> Iterator[None]:
    """Within this a setting of another package has this value.

    Args:
        get: Gives the setting.
        put: Sets it.
        value: Its value meanwhile.

    >>> import socket
    >>> with switched(socket.getdefaulttimeout, socket.setdefaulttimeout, 3):
    ...     print(socket.getdefaulttimeout())
    3.0
    """
    before = get()
    put(value)
    try:
        yield
    finally:
        put(before)
