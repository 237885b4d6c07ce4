"""What a network of the package transformers expects: images of a size, or token ids of a vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from torch import Tensor, nn

from affscore.errors import AffscoreError, guarded
from affscore.models.preprocessing import IMAGENET, Preprocessing
from affscore.models.text import Expected, TextPreprocessing

LENGTHS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")
"""Under which names configurations keep the largest number of tokens."""


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
    found = None if stated is None else _images(stated, model.config)
    if found is not None:
        return found, True
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


class _Processor:
    """An image processor of transformers, as a transform of one picture."""

    def __init__(self, file: Path) -> None:
        from transformers import AutoImageProcessor

        folder = str(file.parent)
        self.process = AutoImageProcessor.from_pretrained(folder, trust_remote_code=False, local_files_only=True)

    def __repr__(self) -> str:
        return repr(self.process)

    def __call__(self, picture: Image.Image) -> Tensor:
        return self.process(picture, return_tensors="pt")["pixel_values"][0]


def _images(file: Path, config: Any) -> Preprocessing | None:
    """What an image processor does; None where it does not turn a picture into a tensor, as those of videos."""
    what = f"the file {file.name!r} does not say what the network expects of an image"
    transform = guarded(lambda: _Processor(file), what)
    side, channels = _number(config, "image_size", IMAGENET.size), _number(config, "num_channels", 3)

    def probed() -> Preprocessing | None:
        try:
            return Preprocessing.of_transform(transform, side, channels)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, AffscoreError):
                raise
            return None  # of another kind of input

    return guarded(probed, what)
