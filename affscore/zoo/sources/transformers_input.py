"""What a network of the package transformers expects: images of a size, or token ids of a vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import nn

from affscore.errors import AffscoreError, guarded
from affscore.zoo.preprocessing import IMAGENET, Preprocessing
from affscore.zoo.text import Expected, TextPreprocessing

__all__ = ["expected_of"]

LENGTHS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")
"""Under which names configurations keep the largest number of tokens."""

SETTINGS = ("do_resize", "size", "crop_pct", "do_center_crop", "crop_size", "resample", "do_rescale", "rescale_factor",
            "do_normalize", "image_mean", "image_std", "do_flip_channel_order")  # fmt: skip
"""What image processors say of themselves, as far as we can do the same."""

INTERPOLATIONS = {0: "nearest", 2: "bilinear", 3: "bicubic"}
"""Pillow's numbers. (Lanczos, 1, is not among PyTorch's; bicubic is next to it.)"""


def expected_of(model: nn.Module, beside: Callable[[str], Path | None]) -> tuple[Expected, bool]:
    """What a network expects by its configuration and the files beside it, and whether they say so.

    Args:
        model: The network.
        beside: Where a file is that lies beside the configuration, or None: preprocessor_config.json of a
            network of images, tokenizer.json of one of text.

    Raises:
        AffscoreError: A preprocessor_config.json that cannot be used, or a network that takes neither images nor
            token ids.
    """
    takes = getattr(model, "main_input_name", None)
    if takes == "input_ids":
        return _text(model.config, beside("tokenizer.json")), True
    if takes != "pixel_values":
        raise AffscoreError(f"{type(model).__name__} takes {takes!r}; only networks of images and of text have a score")
    stated = beside("preprocessor_config.json")
    if stated is not None:
        return _images(stated, model.config), True
    size = _number(model.config, "image_size", IMAGENET.size)
    if _number(model.config, "num_channels", 3) == 1:
        return Preprocessing(1, size, size, (sum(IMAGENET.mean) / 3,), (sum(IMAGENET.std) / 3,)), False
    return Preprocessing(3, size, size), False


def _text(config: Any, tokenizer: Path | None) -> TextPreprocessing:
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    positions = next((found for key in LENGTHS if (found := getattr(config, key, None))), None)
    vocabulary = getattr(config, "vocab_size", None)
    return TextPreprocessing(
        tokenizer=None if tokenizer is None else str(tokenizer),
        vocabulary=vocabulary if isinstance(vocabulary, int) and vocabulary > 0 else None,
        maximum=positions if isinstance(positions, int) and positions > 0 else None,
    )


def _number(config: Any, key: str, default: int) -> int:
    """A number of the configuration, or of the part of it that is about images; the larger of two."""
    value = getattr(config, key, None) or getattr(getattr(config, "vision_config", None), key, None) or default
    sizes = list(value) if isinstance(value, (list, tuple)) else [value]
    return max(sizes) if sizes and all(isinstance(size, int) and size > 0 for size in sizes) else default


def _images(file: Path, config: Any) -> Preprocessing:
    """The preprocessing that an image processor of transformers does, as far as a square can say it."""
    from transformers import AutoImageProcessor

    broken = f"the file {file.name!r} does not say what the network expects of an image"

    def read() -> Preprocessing:
        processor = AutoImageProcessor.from_pretrained(str(file.parent), trust_remote_code=False, local_files_only=True)
        settings = {key: getattr(processor, key, None) for key in SETTINGS}  # what it leaves unsaid it does not do
        return _translated(settings, _number(config, "image_size", IMAGENET.size))

    return guarded(read, broken)


def _translated(settings: Mapping[str, Any], image_size: int) -> Preprocessing:
    """The settings of an image processor in our terms.

    It multiplies by rescale_factor and normalises; ours are values in [0, 1], so that a factor f turns the
    mean m into m / (255 f), and the standard deviation likewise.
    """
    resize, squash = _resized(settings, image_size)
    size = resize
    if settings["crop_pct"]:
        # at 384 pixels and above, processors with a crop_pct (ConvNeXt's) cut nothing away
        squash = resize >= 384
        resize = resize if squash else int(resize / settings["crop_pct"])
    if settings["do_center_crop"] and settings["crop_size"]:
        crop = dict(settings["crop_size"])
        size = int(crop.get("height") or crop["shortest_edge"])
    factor = 255 * (settings["rescale_factor"] or 1 / 255) if settings["do_rescale"] else 255.0
    normalised = settings["do_normalize"]
    mean, std = (settings["image_mean"], settings["image_std"]) if normalised else ([0.0] * 3, [1.0] * 3)
    return Preprocessing(
        channels=len(mean),
        size=size,
        resize=max(resize, size),
        mean=tuple(value / factor for value in mean),
        std=tuple(value / factor for value in std),
        interpolation=INTERPOLATIONS.get(int(2 if settings["resample"] is None else settings["resample"]), "bicubic"),
        squash=squash,
        reversed_channels=bool(settings["do_flip_channel_order"]),
    )


def _resized(settings: Mapping[str, Any], image_size: int) -> tuple[int, bool]:
    """The length that sides are brought to, and whether it is both of them."""
    stated = dict(settings["size"] or {}) if settings["do_resize"] else {}
    if stated.get("shortest_edge"):
        return int(stated["shortest_edge"]), False
    if stated.get("height", image_size) != stated.get("width", image_size):
        raise AffscoreError(f"images of {stated['height']} x {stated['width']} pixels are not square")
    return int(stated.get("height", image_size)), True
