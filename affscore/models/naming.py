"""What the sources share: how they are found, the parts of MODEL@WEIGHTS, near matches, packages of others."""

from __future__ import annotations

import difflib
import importlib
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from affscore.errors import AffscoreError, guarded
from affscore.models.paths import readable_file, user_path

PATHS = {"DIR": ("a folder", "path/to/images"), "FILE": ("a file", "path/to/file")}
"""What stands behind the colon in SPEC, where that is a path; and an example."""

WEIGHT_SUFFIXES = (".pth", ".pt", ".pth.tar", ".ckpt", ".bin", ".safetensors")


WEIGHTS_ADVICE = "weights are read from a .safetensors, .pth or .pt file"


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
    """A path, and what stands behind the @ that follows it: the longest part that is there is the path."""
    cuts = [index for index, letter in enumerate(text) if letter == "@"] + [len(text)]
    # those of pathlib raise where nothing can be
    there = [cut for cut in cuts if os.path.exists(os.path.expanduser(text[:cut]))]  # noqa: PTH110, PTH111
    end = there[-1] if there else cuts[0]
    return text[:end], text[end + 1 :]


def weights_file(name: str, weights: str, members: Iterable[str]) -> Path:
    """The file that WEIGHTS means.

    Args:
        name: MODEL, for the message.
        weights: WEIGHTS.
        members: Names of weights that MODEL has, besides DEFAULT and random.

    Raises:
        AffscoreError: A name that is neither a weight nor a file, with a near match.
    """
    path = user_path(weights)
    if weights.endswith(WEIGHT_SUFFIXES) or "/" in weights or path.exists():
        return path
    known = ["DEFAULT", "random", *(member for member in members if member != "DEFAULT")]
    raise AffscoreError(
        f"unknown weights {weights!r} for {name}{near(weights, known, 1)} "
        f"(known: {', '.join(known)}, or a .pth, .pt or .safetensors file)"
    )


def check_files(name: str, weights: str = "DEFAULT") -> None:
    """Whether the files that MODEL@WEIGHTS names are there, and are named as they should be; PyTorch is not needed.

    Raises:
        AffscoreError: A file without the name of a function, or of a network, or one that is missing.

    >>> check_files("net.py")
    Traceback (most recent call last):
    affscore.errors.AffscoreError: 'net.py' is a file: name the function in it that returns the network, net.py:FUNCTION
    """
    if name.endswith(".py") and not name.startswith("hf:"):
        raise AffscoreError(f"{name!r} is a file: name the function in it that returns the network, {name}:FUNCTION")
    if name.endswith(WEIGHT_SUFFIXES) and ":" not in name:
        raise AffscoreError(
            f"{name!r} is a file of weights: write NAME@{name} with the name of their network, as in resnet18@{name}, "
            f"or path/to/file.py:factory@{name}"
        )
    path = name.rpartition(":")[0]
    if path.endswith(".py"):
        readable_file(path, "write path/to/file.py:factory")
    if weights.endswith(WEIGHT_SUFFIXES):
        readable_file(weights, WEIGHTS_ADVICE)


def weights_label(weights: str) -> str:
    """WEIGHTS as results carry it: a name, or a file without its folder.

    >>> weights_label("random"), weights_label("runs/7/best.pth")
    ('random', 'best.pth')
    """
    return Path(weights).name if weights.endswith(WEIGHT_SUFFIXES) or "/" in weights else weights


def near(name: str, known: Iterable[str], most: int = 3) -> str:
    """A question to the user who wrote a name that is not known; empty where nothing is near.

    >>> near("timm:resnet19", ["swin_t", "resnet18"]), near("xyz", ["alexnet"])
    ('; did you mean resnet18?', '')
    """
    prefix, _, bare = name.lower().rpartition(":")
    shown: dict[str, str] = {}
    for full in known:  # the first source wins where two have the same name
        shown.setdefault(full.rpartition(":")[2].lower(), full)
    alike = [short for short, full in shown.items() if short == bare or full.lower().rpartition(":")[0] == prefix]
    close = difflib.get_close_matches(bare, alike, n=most, cutoff=0.6)
    close = close or difflib.get_close_matches(bare, list(shown), n=most, cutoff=0.5)
    return f"; did you mean {' or '.join(shown[match] for match in close)}?" if bare and close else ""


def near_data(spec: str, takes: Mapping[str, str]) -> str:
    """A question to the user who wrote a SPEC that is not known; empty where nothing is near.

    Args:
        spec: SPEC.
        takes: For each name what stands behind its colon: DIR, FILE, CLASS or nothing.

    >>> near_data("foldr:my/photos", {"digits": "CLASS", "folder": "DIR"})
    "; did you mean 'folder:my/photos'?"
    """
    if os.path.isdir(spec):  # noqa: PTH112  # Path.is_dir raises where a name is too long
        return "; for a folder of images write folder: in front of it"
    if os.path.isfile(spec):  # noqa: PTH113
        return "; for a text write text: in front of it, for token ids tokens:"
    name, _, argument = spec.partition(":")
    near = next(iter(difflib.get_close_matches(name.lower(), takes, n=1)), None)
    if near is None:
        return ""
    behind = argument if takes[near] else ""
    meant = f"{near}:{behind or takes[near]}" if behind or takes[near] in PATHS else near
    return f"; did you mean {meant!r}?"


def needs(package: str, name: str, extra: str) -> ModuleType:
    """An optional package.

    Args:
        package: What to import.
        name: MODEL, for the message.
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
        name: A name; modules that do not define it are helpers of the others.
        first: Modules whose names begin so come first, the others in the order of their names.

    >>> [source.prefix for source in found_in("affscore.models.sources", "SOURCE", first="timm")]
    ['timm', 'mini', 'file.py', '', 'hf']
    """
    modules = [found.name for found in pkgutil.iter_modules(importlib.import_module(package).__path__)]
    for module_name in sorted(modules, key=lambda module: not module.startswith(first)):
        module = importlib.import_module(f"{package}.{module_name}")
        if hasattr(module, name):
            yield getattr(module, name)


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
