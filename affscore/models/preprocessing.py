"""What a network expects: of an image, which becomes a tensor, or of a text, which becomes windows of token ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from affscore.errors import AffscoreError, form_of, guarded
from affscore.models.naming import needs, readable_file, user_path
from affscore.options import check_integer
from affscore.transport.samples import check_plain


@dataclass(frozen=True)
class Preprocessing:
    """Resize, crop, bring to the right number of channels, normalise.

    Attributes:
        channels: 1 (grey) or 3 (red, green, blue).
        size: Height and width of what the network sees, in pixels.
        resize: The shorter side is brought to this length first; the centre of ``size`` is cut out. None for 256 where
            the size is 224, as for ImageNet, and for the size itself elsewhere: nothing is cut out.
        mean: Mean of each channel, for values in [0, 1].
        std: Standard deviation of each channel.
        interpolation: "bilinear", "bicubic" or "nearest".
        transform: The transform of pictures of the source that the network is from, which is used as it is, whatever
            it does; then the other attributes only say what comes out of it.

    >>> grey = Preprocessing(channels=1, size=16, mean=(0.0,), std=(1.0,))
    >>> tuple(grey(torch.zeros(3, 8, 12)).shape)
    (1, 16, 16)
    """

    channels: int = 3
    size: int = 224
    resize: int | None = None
    mean: tuple[float, ...] = (0.485, 0.456, 0.406)
    std: tuple[float, ...] = (0.229, 0.224, 0.225)
    interpolation: str = "bilinear"
    transform: Callable[[Image.Image], Tensor] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        fit = self.channels in (1, 3) and np.shape(self.mean) == np.shape(self.std) == (self.channels,)
        if not fit or not np.isfinite([self.mean, self.std]).all() or min(self.std) <= 0:
            wanted = f"mean and std must hold {self.channels} numbers, std above 0, for 1 or 3 channels"
            raise AffscoreError(f"{wanted}, got channels={self.channels}, {self.mean}, {self.std}")
        resize = (256 if self.size == 224 else self.size) if self.resize is None else self.resize
        if not 0 < self.size <= resize:
            raise AffscoreError(f"size must be positive, and resize at least as large, got {self.size} and {resize}")
        object.__setattr__(self, "resize", resize)

    def __call__(self, image: Image.Image | Tensor) -> Tensor:
        """A tensor (channels, size, size), float32.

        Args:
            image: A picture, or a tensor (C, H, W) or (H, W) with values in [0, 1] or of type uint8.
        """
        from torchvision.transforms import functional as T  # takes seconds

        if isinstance(image, Image.Image) and image.mode[0] not in "IF":
            # resized as a picture, in steps of 1/255, as torchvision's own presets do
            image = image.convert("L" if self.channels == 1 else "RGB")
        else:
            image = image_tensor(image)
            image = image.expand(self.channels, -1, -1) if len(image) == 1 else image
            image = T.rgb_to_grayscale(image) if len(image) > self.channels else image
        if self.transform is not None:
            picture = T.to_pil_image((255 * image).round().byte()) if isinstance(image, Tensor) else image
            return T.center_crop(self.transform(picture), [self.size, self.size])
        image = T.resize(image, [self.resize], interpolation=T.InterpolationMode(self.interpolation), antialias=True)
        return T.normalize(image_tensor(T.center_crop(image, [self.size, self.size])), list(self.mean), list(self.std))

    def as_dict(self) -> dict[str, Any]:
        """The attributes, in the types that JSON knows; of a transform what it says of itself, and what it gives."""
        about = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        if (transform := about.pop("transform")) is not None:
            about = {name: about[name] for name in ("channels", "size", "mean", "std")}
            about["transform"] = " ".join(repr(transform).split())
        return about

    @classmethod
    def from_torchvision(cls, preset: Any) -> Preprocessing:
        """The preprocessing of a torchvision weight (``weights.transforms()``)."""
        size, mean, std = preset.crop_size[0], tuple(preset.mean), tuple(preset.std)
        return cls(3, size, max(preset.resize_size[0], size), mean, std, preset.interpolation.value)

    @classmethod
    def of_transform(cls, transform: Callable[[Image.Image], Tensor], side: int, channels: int = 3) -> Preprocessing:
        """What a transform of pictures does, as seen on a black and on a white one.

        Args:
            transform: Gives a tensor (channels, size, size) of a picture.
            side: Height and width of the two pictures.
            channels: Of the two pictures, and of what the network sees.

        Raises:
            AffscoreError: What comes out of it is not square.
        """
        mode = "L" if channels == 1 else "RGB"
        black, white = (transform(Image.new(mode, (side, side), colour)).double() for colour in ("black", "white"))
        _, height, width = black.shape
        if height != width:
            raise AffscoreError(f"images of {height} x {width} pixels are not square")
        low, high = (tensor[:, height // 2, width // 2] for tensor in (black, white))
        std = 1 / (high - low)
        means, stds = (tuple(round(float(value), 6) + 0.0 for value in values) for values in (-low * std, std))
        return cls(channels, height, height, means, stds, transform=transform)


IMAGENET = Preprocessing()
"""What networks trained on ImageNet expect, unless their weights say otherwise."""


def assumed_preprocessing(size: int | None, asked: int | None = None) -> Preprocessing:
    """What a network is taken to expect that does not say it: the size of the data, and ImageNet's normalisation.

    Args:
        size: Height and width of all images; None where these differ.
        asked: The size that the user gives in its place: nothing is cut out of a square.

    Returns:
        ImageNet's preprocessing, with the size of the data where that is smaller than 224 pixels.

    >>> assumed_preprocessing(32).size, assumed_preprocessing(None).size, assumed_preprocessing(500).size
    (32, 224, 224)
    """
    size = asked or (size if size is not None and size < IMAGENET.size else None)
    return IMAGENET if size is None else replace(IMAGENET, size=size, resize=size)


def image_tensor(image: Image.Image | Tensor) -> Tensor:
    """A picture as it is: a tensor (C, H, W), float32, with values in [0, 1]; C is 1 or 3 for a picture.

    Args:
        image: A picture, or a tensor (C, H, W) or (H, W) with values in [0, 1] or of type uint8.

    >>> image_tensor(Image.new("RGB", (4, 2), (255, 0, 0)))[:, 0, 0].tolist()
    [1.0, 0.0, 0.0]
    """
    if isinstance(image, Image.Image):
        if image.mode in ("I", "F"):
            raise AffscoreError(f"a picture of mode {image.mode!r} does not say which value is white; use 8 or 16 bits")
        if image.mode.startswith("I;16"):  # grey values from 0 to 65535, which Pillow would cut at 255
            return torch.from_numpy(np.asarray(image).astype(np.float32))[None] / 65535
        array = np.array(image.convert("L" if image.mode in ("1", "L") else "RGB"))
        image = torch.from_numpy(array if array.ndim == 2 else array.transpose(2, 0, 1))
    tensor = image[None] if image.ndim == 2 else image
    if tensor.ndim != 3 or len(tensor) not in (1, 3):
        raise AffscoreError(f"an image has shape (C, H, W) with 1 or 3 channels, or (H, W), got {tuple(tensor.shape)}")
    return tensor.float() / 255 if tensor.dtype == torch.uint8 else tensor.float()


@dataclass(frozen=True)
class TextPreprocessing:
    """Tokenize, and cut into windows that do not overlap: what a network of token ids expects.

    Attributes:
        tokenizer: From text to ids: a tokenizer.json or the folder that holds one, a tokenizer of the
            packages tokenizers or transformers, or a function from a string to integers; None where
            it is not known, and only token ids can be used. No special tokens are added.
        length: Tokens in a window; None for 128, or for ``maximum`` where that is smaller.
        vocabulary: How many ids the network knows: 0 ... vocabulary - 1.
        maximum: The longest window that the network takes.

    >>> TextPreprocessing(maximum=64).window, TextPreprocessing().window
    (64, 128)
    >>> TextPreprocessing(lambda text: [ord(letter) for letter in text])("abc").tolist()
    [97, 98, 99]
    """

    tokenizer: Any = None
    length: int | None = None
    vocabulary: int | None = None
    maximum: int | None = None

    def __post_init__(self) -> None:
        for name in ("length", "vocabulary", "maximum"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), 1)

    @property
    def window(self) -> int:
        """Tokens in a window."""
        return self.length or min(128, self.maximum or 128)

    def __call__(self, text: str) -> Tensor:
        """The ids of a whole text, tensor (tokens,) of type int64.

        Raises:
            AffscoreError: No tokenizer, or one that fails or gives something else than integers.
        """
        found = guarded(lambda: np.asarray(_ids(self.tokenizer, text)), "the tokenizer fails")
        if found.size and (found.dtype.kind not in "iu" or found.ndim != 1):
            raise AffscoreError(f"the tokenizer must turn a text into a list of integers, got {form_of(found)}")
        return torch.from_numpy(found.astype(np.int64).reshape(-1))

    def as_dict(self) -> dict[str, Any]:
        """The attributes, in the types that JSON knows; a tokenizer by its name, without a path."""
        own = self.tokenizer
        stated = getattr(own, "name_or_path", None) or getattr(own, "__name__", type(own).__name__)
        name = None if own is None else Path(own if isinstance(own, (str, Path)) else str(stated)).name
        return {"tokenizer": name, "length": self.window, "vocabulary": self.vocabulary, "maximum": self.maximum}


Expected = Preprocessing | TextPreprocessing
"""What a network expects: images or token ids."""


def check_token_ids(ids: Tensor, expected: TextPreprocessing, what: str = "the network expects") -> None:
    """Whether a network can look these token ids up, before a GPU fails on one without saying which.

    Args:
        ids: Tensor (N, length).
        expected: What the network expects.
        what: How the sentence begins that says what they must be.

    Raises:
        AffscoreError: Not integers, none, another shape, windows that are too long, ids outside the vocabulary.

    >>> check_token_ids(torch.tensor([[0, 4]]), TextPreprocessing(vocabulary=5))
    """
    check_plain(ids)
    whole = not (ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool)
    if not whole or ids.ndim != 2 or not ids.numel():
        raise AffscoreError(f"{what} token ids, integers (N, length), got {form_of(ids)}")
    if expected.maximum is not None and ids.shape[1] > expected.maximum:
        raise AffscoreError(f"the network takes at most {expected.maximum} tokens, these windows have {ids.shape[1]}")
    ids = ids.long()  # PyTorch knows few operations of unsigned numbers
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or (expected.vocabulary is not None and high >= expected.vocabulary):
        end = "" if expected.vocabulary is None else f" to {expected.vocabulary - 1}"
        why = "is it the tokenizer of this network, and are there no marks of padding?"
        raise AffscoreError(f"the network knows token ids from 0{end}; these go from {low} to {high}: {why}")


def _ids(tokenizer: Any, text: str) -> Any:
    """The ids of a text, whichever way the tokenizer is given, without special tokens, and all of them."""
    if tokenizer is None:
        raise AffscoreError("a text needs the tokenizer of the network, and none is known; write text:FILE@TOKENIZER")
    if isinstance(tokenizer, (str, Path)):
        file = tokenizer_file(str(tokenizer))
        tokenizers = needs("tokenizers", "reading a tokenizer", "transformers")
        tokenizer = guarded(lambda: tokenizers.Tokenizer.from_file(str(file)), f"{file.name!r} is not a tokenizer.json")
    bases = {f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(tokenizer).__mro__}
    if "transformers.PreTrainedTokenizerBase" in bases:
        return tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
    if "tokenizers.Tokenizer" in bases:
        tokenizer = type(tokenizer).from_str(tokenizer.to_str())  # the caller's keeps its truncation and padding
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer.encode(text, add_special_tokens=False).ids
    ids = tokenizer(text) if callable(tokenizer) else tokenizer.encode(text)
    return ids["input_ids"] if isinstance(ids, Mapping) else ids


def tokenizer_file(path: str) -> Path:
    """The tokenizer.json that a path means: itself, or the one in the folder.

    Raises:
        AffscoreError: There is none.
    """
    file = user_path(path)
    advice = "give a tokenizer.json, or the folder where tokenizer.save_pretrained(...) left one"
    return readable_file(file / "tokenizer.json" if file.is_dir() else file, advice)
