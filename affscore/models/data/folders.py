"""Images in a folder and in the folders below it, as ``folder:DIR`` and ``imagenet:DIR``."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from PIL import Image, ImageOps
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.models.named_data import DataSource, ImageSet, UnreadableImageError
from affscore.models.paths import user_path
from affscore.models.preprocessing import Preprocessing, image_tensor

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})
"""Those of torchvision's ImageFolder."""

_VALIDATION = ("val", "validation", "ILSVRC2012_img_val", "Data/CLS-LOC/val", "ILSVRC/Data/CLS-LOC/val")
"""Where the validation images of ImageNet lie in what one downloads, seen from its top folder."""


def _load(kind: str, directory: str, seed: int) -> ImageSet:
    """Every image below a folder; the folders in it are the classes.

    Hidden files and folders are passed over, links are followed. A photo is turned upright as its EXIF
    entry says, except those of ImageNet: torchvision does not, and the published accuracies are those of
    images that lie as they are stored.

    Args:
        kind: "folder" or "imagenet" (the validation images, in DIR/val where there is one).
        directory: DIR.
        seed: Of no consequence.

    Raises:
        AffscoreError: No such folder, one that may not be read, or no image in it. (A folder inside it that
            may not be read is noted.)
    """
    root = user_path(directory)
    if not _is_folder(root):
        hint = "that is a file; " if root.is_file() else ""
        raise AffscoreError(
            f"file not found: there is no folder {directory!r}; {hint}{kind}:DIR takes the path of a folder of images"
        )
    name = f"{kind}:{root.resolve().name or '/'}"
    if kind == "imagenet":
        inside = [root / inner for inner in _VALIDATION if _is_folder(root / inner)]
        if not inside and _is_folder(root / "train"):
            raise AffscoreError(
                f"the folder {directory!r} has a folder 'train', but no 'val' with the validation images; "
                f"for the training images write folder:{directory}/train"
            )
        root = inside[0] if inside else root
    files, closed = _images_below(root)
    if not files:
        suffixes = ", ".join(sorted(IMAGE_SUFFIXES))
        raise AffscoreError(f"found no image ({suffixes}) in the folder {directory!r} or below it")
    labels = None if root in {file.parent for file in files} else [file.relative_to(root).parts[0] for file in files]

    def read(index: int, p: Preprocessing | None) -> Tensor:
        return read_picture(files[index], p, upright=kind == "folder", in_class=labels is not None)

    return ImageFiles(name, len(files), read, labels=labels, notes=closed, files=files)


SOURCES = [DataSource(kind, "DIR", partial(_load, kind)) for kind in ("imagenet", "folder")]


class ImageFiles(ImageSet):
    """Images in files."""

    files: Sequence[Path]

    def content(self, images: int, seed: int) -> Iterator[bytes]:
        """The hashes of the files that are used, but for those in the place of one that is no readable image."""
        return (_content(self.files[index]) for index in self.order(images, seed, images))


def read_picture(file: Path, preprocessing: Preprocessing | None, upright: bool, in_class: bool = False) -> Tensor:
    """One image file, as a network expects it.

    Args:
        file: The file.
        preprocessing: What the network expects; None for the image as it is stored.
        upright: Whether to turn it as its EXIF entry says.
        in_class: Whether an error names the file's folder, too (files of other classes may have its name).

    Raises:
        UnreadableImageError: It cannot be read, is no image, or has more pixels than Pillow trusts.
    """
    try:
        with Image.open(file) as image:
            if upright:
                ImageOps.exif_transpose(image, in_place=True)
            return (preprocessing or image_tensor)(image)
    except Exception as error:  # Pillow's decoders raise nearly anything on a damaged file
        name = f"{file.name!r} in {file.parent.name!r}" if in_class else repr(file.name)
        system = error.strerror if isinstance(error, OSError) else None  # without the path that is in the sentence
        reason = system or " ".join(str(error).split()).replace(str(file), file.name) or type(error).__name__
        raise UnreadableImageError(name, reason) from error


def _images_below(root: Path) -> tuple[list[Path], list[str]]:
    """The image files below a folder, sorted, and a note for each folder that may not be read.

    A folder that is met twice through links is read once.
    """
    found: list[Path] = []
    seen: set[Path] = set()
    closed: list[str] = []

    def note(error: OSError) -> None:
        folder = Path(error.filename)
        if folder == root:
            raise AffscoreError(f"the folder {folder.name!r} cannot be read ({error.strerror})") from error
        closed.append(f"the folder {folder.name!r} cannot be read ({error.strerror}), and its images are missing")

    for folder, below, names in os.walk(root, onerror=note, followlinks=True):
        here = Path(folder)
        if (real := here.resolve()) in seen:
            below.clear()
            continue
        seen.add(real)
        below[:] = sorted(name for name in below if not name.startswith("."))
        shown = [here / name for name in names if not name.startswith(".")]
        found += [file for file in shown if file.suffix.lower() in IMAGE_SUFFIXES]  # others are counted when read
    return sorted(found), closed


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  # Path.is_dir raises where it may not look


def _content(file: Path) -> bytes:
    """The hash of a file."""
    try:
        state = file.stat()
        return _content_of_state(file, (state.st_ino, state.st_size, state.st_ctime_ns))
    except OSError as error:
        return f"unreadable: {error.errno}".encode()


@functools.lru_cache(maxsize=100_000)
def _content_of_state(file: Path, state: tuple[int, ...]) -> bytes:
    """As :func:`_content`; a survey asks once for each network, and a file that was not touched is what it was."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
