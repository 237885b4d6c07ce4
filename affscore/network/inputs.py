"""A batch of samples, ready to go into a network: one input or several, cut, moved and checked together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.network.recorder.dataflow import mapped, tensors_in
from affscore.zoo.text import Expected, TextPreprocessing, check_plain, check_token_ids

Forward = Callable[[nn.Module, Any], Any]


@dataclass(eq=False)
class Inputs:
    """What goes into a network for some samples; the first axis of every tensor counts these.

    Args:
        batch: Positional and keyword arguments of the network, or whatever ``forward`` takes.
        forward: ``forward(network, batch)`` runs the network; None for ``network(*batch[0], **batch[1])``.
        labels: The class of each sample, tensor (N,) of integers, where the data has it.
        source: Which entry of the data was taken, where no name said so.

    >>> inputs = Inputs(((torch.zeros(4, 3),), {"mask": torch.ones(4, 2)}))
    >>> len(inputs), inputs[1:3].form
    (4, '(3,) torch.float32, (2,) torch.float32')
    """

    batch: Any
    forward: Forward | None = None
    labels: Tensor | None = None
    source: str = ""

    @cached_property
    def tensors(self) -> list[Tensor]:
        """All tensors of the batch."""
        return tensors_in(self.batch)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, part: slice) -> Inputs:
        labels = None if self.labels is None else self.labels[part]
        return replace(self.each(lambda tensor: tensor[part]), labels=labels)

    def each(self, function: Callable[[Tensor], Tensor]) -> Inputs:
        """The same samples, with this function of every tensor in its place."""
        return replace(self, batch=mapped(self.batch, function))

    def through(self, network: nn.Module) -> Any:
        """The network's output. An encoder with a decoder reads the same token ids in both."""
        if self.forward is not None:
            return self.forward(network, self.batch)
        arguments, named = self.batch
        if "input_ids" in named and getattr(getattr(network, "config", None), "is_encoder_decoder", False):
            named = {"decoder_input_ids": named["input_ids"], **named}
        return network(*arguments, **named)

    @property
    def numbers(self) -> Tensor:
        """All numbers, sample after sample, for a fingerprint: the input, or the bytes of several side by side."""
        if len(self.tensors) == 1:
            return self.tensors[0]
        return torch.cat([t.contiguous().view(len(t), -1).view(torch.uint8) for t in self.tensors], dim=1)

    @property
    def form(self) -> str:
        """Shape and type of the tensors of one sample."""
        return ", ".join(f"{tuple(tensor.shape[1:])} {tensor.dtype}" for tensor in self.tensors)

    @property
    def items(self) -> str:
        """What the samples are called: images where the input is (N, C, H, W)."""
        return "images" if len(self.tensors) == 1 and self.tensors[0].ndim == 4 else "samples"

    def __str__(self) -> str:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in self.tensors)
        source = f", from {self.source}" if self.source else ""
        return f"{self.items} of shape {shapes}{source}" if len(self.tensors) == 1 else f"inputs of shapes {shapes}"


def check_inputs(inputs: Inputs, expected: Expected) -> Inputs:
    """The inputs, if a network that expects this can be fed with them.

    Args:
        inputs: Images (N, ...), or token ids (N, length). Of several inputs, or where the caller's function
            feeds them, any tensors (N, ...) of real numbers, integers or booleans.
        expected: What the network expects.

    Returns:
        The inputs; token ids as int64.

    Raises:
        AffscoreError: Another shape or type, NaN or infinity, or ids outside the vocabulary.
    """
    if len(inputs.tensors) == 1 and inputs.forward is None:
        return inputs.each(lambda images: _check_images(images, expected))
    for tensor in inputs.tensors:
        check_plain(tensor)
        _check_finite(tensor)
    lengths = {tuple(tensor.shape[:1]) for tensor in inputs.tensors}
    if len(lengths) > 1 or () in lengths:
        raise AffscoreError(f"every input needs the samples along its first axis, as many of each; got {inputs}")
    if isinstance(expected, TextPreprocessing) and inputs.forward is None and "input_ids" in inputs.batch[1]:
        check_token_ids(inputs.batch[1]["input_ids"], expected)
    return inputs


def _check_images(images: Tensor, expected: Expected) -> Tensor:
    if isinstance(expected, TextPreprocessing):
        check_token_ids(images, expected)
        return images.long()
    check_plain(images)
    if images.ndim < 2:
        raise AffscoreError(
            f"samples must have shape (N, ...), got {tuple(images.shape)}; of one number a sample it is (N, 1)"
        )
    if not images.is_floating_point() or images.element_size() < 2:  # PyTorch stores in 8 bits, and computes nothing
        advice = "scale and normalise them first"
        if images.ndim == 2 and images.dtype in (torch.int64, torch.int32):
            advice += (
                ", or .astype(float) where they are plain numbers, or give a network of token ids an attribute "
                "preprocessing = affscore.zoo.TextPreprocessing(...)"
            )
        raise AffscoreError(
            f"the data must be floating point numbers as the network expects them, got {images.dtype}; {advice}"
        )
    _check_finite(images)
    return images


def _check_finite(tensor: Tensor) -> None:
    # a sum is one fast pass, and finite only if every number is (or, rarely, where large numbers overflow)
    if not bool(torch.isfinite(tensor.sum())) and (bad := int((~torch.isfinite(tensor)).sum())):
        raise AffscoreError(f"the data holds {bad} NaN or infinite values; remove those samples")
