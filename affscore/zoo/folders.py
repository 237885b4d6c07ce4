"""Images in a folder, and in the folders below it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from PIL import Image, ImageOps
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.zoo.named_data import ImageSet, UnreadableImageError
from affscore.zoo.paths import user_path
from affscore.zoo.preprocessing import Preprocessing, image_tensor

__all__ = ["IMAGE_SUFFIXES", "folder_of_images", "read_picture"]

IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})
"""Those of torchvision's ImageFolder."""

_VALIDATION = ("val", "validation", "ILSVRC2012_img_val", "Data/CLS-LOC/val", "ILSVRC/Data/CLS-LOC/val")
"""Where the validation images of ImageNet lie in what one downloads, seen from its top folder."""


def folder_of_images(kind: str, directory: str, preprocessing: Preprocessing | None = None) -> ImageSet:
    """Every image below a folder; the folders in it are the classes.

    Hidden files and folders are passed over, links are followed. A photo is turned upright as its EXIF
    entry says, except those of ImageNet: torchvision does not, and the published accuracies are those of
    images that lie as they are stored.

    Args:
        kind: "folder" or "imagenet" (the validation images, in DIR/val where there is one).
        directory: DIR.
        preprocessing: What the network expects.

    Raises:
        AffscoreError: No such folder, one that may not be read, or no image in it. (A folder inside it that
            may not be read is noted.)
    """
    if not directory:
        raise AffscoreError(f"{kind}: needs a folder, as in {kind}:path/to/images")
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
        raise AffscoreError(
            f"found no image ({', '.join(sorted(IMAGE_SUFFIXES))}) in the folder {directory!r} or below it"
        )
    classes = [file.relative_to(root).parts[0] for file in files if file.parent != root]
    labels = classes if len(classes) == len(files) else None
    upright = kind == "folder"

    def read(index: int, p: Preprocessing | None) -> Tensor:
        return read_picture(files[index], p, upright, in_class=labels is not None)

    return ImageSet(name, len(files), read, preprocessing, labels, closed, files)


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
        if not file.is_file():  # opening a pipe would wait for somebody to write into it
            raise FileNotFoundError(errno.ENOENT, "there is no such file")
        with Image.open(file) as image:
            if upright:
                ImageOps.exif_transpose(image, in_place=True)
            return (preprocessing or image_tensor)(image)
    except Exception as error:  # Pillow's decoders raise nearly anything on a damaged file
        name = f"{file.name!r} in {file.parent.name!r}" if in_class else repr(file.name)
        raise UnreadableImageError(name, _reason(error, file)) from error


def _reason(error: Exception, file: Path) -> str:
    """What Pillow or the system says, without the path that it puts into the sentence."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = " ".join(str(error).split()).replace(str(file), file.name)
    return text or type(error).__name__


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
        found += [here / name for name in names if _is_image(here / name)]
    return sorted(found), closed


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  # Path.is_dir raises where it may not look


def _is_image(file: Path) -> bool:
    """By its name: a file that turns out not to be readable is counted later."""
    return file.suffix.lower() in IMAGE_SUFFIXES and not file.name.startswith(".")
