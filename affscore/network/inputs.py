"""A batch of samples, ready to go into a network: one input or several, cut and moved together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from affscore.network.recorder.dataflow import mapped, tensors_in

__all__ = ["Forward", "Inputs"]

Forward = Callable[[nn.Module, Any], Any]


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

    def __init__(
        self, batch: Any, forward: Forward | None = None, labels: Tensor | None = None, source: str = ""
    ) -> None:
        self.batch = batch
        self.forward = forward
        self.labels = labels
        self.source = source
        self.tensors = tensors_in(batch)

    @classmethod
    def of(cls, tensor: Tensor) -> Inputs:
        """A single tensor, the network's only argument."""
        return cls(((tensor,), {}))

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, part: slice) -> Inputs:
        labels = None if self.labels is None else self.labels[part]
        return Inputs(mapped(self.batch, lambda tensor: tensor[part]), self.forward, labels, self.source)

    def each(self, function: Callable[[Tensor], Tensor]) -> Inputs:
        """The same samples, with this function of every tensor in its place."""
        return Inputs(mapped(self.batch, function), self.forward, self.labels, self.source)

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
