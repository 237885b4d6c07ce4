"""What goes into a network, and which entries of the data these are: one input or several, cut and moved together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, form_of, guarded
from affscore.recorder.dataflow import mapped, tensors_in

Forward = Callable[[nn.Module, Any], Any]

KNOWN_INPUTS = ("pixel_values", "input_ids", "one tensor")
"""What transformers call the tensor that goes into a network; and what a batch is called that is one."""

FOR_A_LOSS = ("label", "labels")
"""Parameters from which networks compute a loss: an entry of this name is fed only where it is required."""

Chosen = tuple[tuple[Tensor, ...], dict[str, Tensor], dict[str, Any]]
"""Positional arguments, keyword arguments, and the entries that are neither."""


@dataclass(eq=False)
class Inputs:
    """What goes into a network for some samples; the first axis of every tensor counts these.

    Args:
        batch: Positional and keyword arguments of the network, or whatever ``forward`` takes.
        forward: ``forward(network, batch)`` runs the network; None for ``network(*batch[0], **batch[1])``.
        labels: The class of each sample, tensor (N,) of integers, where the data has it.
        text: Which tokens are of the text, tensor (N, length) of booleans, where others are padding.
        doubt: A sentence on padding that may count; empty where there is none.

    >>> inputs = Inputs(((torch.zeros(4, 3),), {"mask": torch.ones(4, 2)}))
    >>> len(inputs), inputs[1:3].form
    (4, '(3,) torch.float32, (2,) torch.float32')
    """

    batch: Any
    forward: Forward | None = None
    labels: Tensor | None = None
    text: Tensor | None = None
    doubt: str = ""

    @cached_property
    def tensors(self) -> list[Tensor]:
        """All tensors of the batch."""
        return tensors_in(self.batch)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, part: slice | list[int]) -> Inputs:
        found = self.each(lambda tensor: tensor[part])
        return replace(found, text=None) if found.text is not None and bool(found.text.all()) else found

    def each(self, function: Callable[[Tensor], Tensor]) -> Inputs:
        """The same samples, with this function of every tensor in its place, labels and text included."""
        batch, labels, text = mapped((self.batch, self.labels, self.text), function)
        return replace(self, batch=batch, labels=labels, text=text)

    def through(self, network: nn.Module) -> Any:
        """The network's output. An encoder with a decoder reads the same token ids in both."""
        if self.forward is not None:
            return self.forward(network, self.batch)
        arguments, named = self.batch
        if "input_ids" in named and has_decoder(network):
            named = {"decoder_input_ids": named["input_ids"], **named}
        return network(*arguments, **named)

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
        return f"{self.items} of shape {shapes}" if len(self.tensors) == 1 else f"inputs of shapes {shapes}"


def joined(parts: Sequence[Inputs]) -> Inputs:
    """The samples of several batches as one, without their labels and with their padding.

    Raises:
        AffscoreError: They have several sizes.
    """
    tensors = zip(*(part.tensors for part in parts), strict=True)
    whole = replace(parts[0], labels=None, text=None)
    return guarded(lambda: whole.each(lambda _: torch.cat(next(tensors))), "the samples have several sizes")


def has_decoder(network: nn.Module) -> bool:
    """Whether this is an encoder with a decoder, as transformers say it."""
    return bool(getattr(getattr(network, "config", None), "is_encoder_decoder", False))


def on_backbone(network: nn.Module) -> list[str]:
    """What to do with a network that takes lists of images and returns as many boxes as it finds."""
    advice = "of a detector, measure the backbone: forward=lambda network, batch: network.backbone(batch)"
    return [advice] * isinstance(getattr(network, "backbone", None), nn.Module)


class Feeding:
    """Matches the entries of a batch with the parameters of a network's forward.

    The rules are those of :func:`affscore.signature`; where they allow two ways, or none, it is an error.

    Args:
        network: The network.
        forward: ``forward(network, batch)``, which takes the place of the rules.

    Attributes:
        notes: Which entries do not go into the network; complete after the first batch.

    >>> import torch
    >>> inputs = Feeding(nn.Linear(3, 2))([torch.zeros(4, 3), torch.tensor([0, 1, 1, 0])])
    >>> inputs.form, inputs.labels
    ('(3,) torch.float32', tensor([0, 1, 1, 0]))
    """

    def __init__(self, network: nn.Module, forward: Forward | None = None) -> None:
        self.forward = forward
        self.notes: list[str] = []
        self._main = getattr(network, "main_input_name", None)  # of networks of transformers
        try:
            parameters = list(inspect.signature(network.forward).parameters.values())
        except (TypeError, ValueError):  # a function of C
            parameters = [inspect.Parameter("input", inspect.Parameter.POSITIONAL_ONLY)]
        written = ", ".join(str(parameter.replace(annotation=parameter.empty)) for parameter in parameters)
        self._written = f"{type(network).__name__}.forward({written})"
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self._known, self._advice = [p.name for p in named], on_backbone(network)
        self._required = {p.name for p in [*placed, *named] if p.default is p.empty}
        self._least = sum(p.default is p.empty for p in placed)
        self._most = 99 if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(placed)

    def __call__(self, batch: Any) -> Inputs:
        """What goes into the network of a batch.

        Args:
            batch: A tensor, or a tuple, list or dictionary of tensors.

        Raises:
            AffscoreError: There is no tensor, or the entries fit the parameters in two ways, or in none.
        """
        if not tensors_in(batch) or not isinstance(batch, (Tensor, tuple, list, Mapping)):
            raise AffscoreError(f"the data must give tensors, got a {type(batch).__name__} without any")
        if self.forward is not None:
            lost = [repr(name) for name, value in _by_names(batch).items() if not tensors_in(value)]
            if lost and not self.notes:
                self.notes.append(f"forward gets None for what holds no tensor: {', '.join(lost)}")
            return Inputs(mapped(batch, lambda tensor: tensor), self.forward)
        arguments, named, rest = self._choose(batch)
        inputs = Inputs((arguments, named))
        labels = [name for name, value in rest.items() if _is_label(value) and len(value) == len(inputs)]
        if len(labels := [name for name in labels if name in FOR_A_LOSS] or labels) == 1:
            inputs.labels = rest[labels[0]].reshape(-1)
        if not self.notes and rest and (isinstance(batch, Mapping) or list(rest) != labels):
            self.notes.append(f"entries of the data that do not go into the network: {', '.join(rest)}")
        return inputs

    def _choose(self, batch: Any) -> Chosen:
        return self._by_position(batch) if isinstance(batch, (tuple, list)) else self._by_name(_by_names(batch))

    def _by_position(self, values: Sequence[Any]) -> Chosen:
        """Inputs in the order of the parameters, and then what is no input."""
        nested = len(values) > 0 and not isinstance(values[0], Tensor)  # the inputs in a tuple of their own
        least, most = (1, 1) if nested else (max(self._least, 1), self._most)
        count = len(values)
        while count > least and _is_no_input(values[count - 1], taken=count <= most):
            count -= 1
        given, rest = tuple(values[:count]), dict(list(_by_names(values).items())[count:])
        if count == 1:
            arguments, named, inner = self._choose(values[0])
            return arguments, named, inner | rest
        if given and count == self._least == len(self._required) and all(isinstance(value, Tensor) for value in given):
            return given, {}, rest
        raise self._unclear(_by_names(values))

    def _by_name(self, entries: Mapping[str, Any]) -> Chosen:
        """Inputs under the names of the parameters; or the only entry that can be one, as the network's only input."""
        taken = [name for name in self._known if name in self._required or name not in FOR_A_LOSS]
        fed = [name for name, value in entries.items() if name in taken and isinstance(value, Tensor)]
        rest = {name: value for name, value in entries.items() if name not in fed}
        if fed and self._required <= set(fed):
            return (), {name: entries[name] for name in fed}, rest
        usual = [name for name in KNOWN_INPUTS if isinstance(entries.get(name), Tensor)][:1]
        possible = usual or [name for name, value in rest.items() if not _is_no_input(value, taken=True)]
        if fed or len(possible) != 1 or not isinstance(entries[possible[0]], Tensor):
            raise self._unclear(entries)
        tensor, names = rest.pop(possible[0]), self._required or self._known
        if isinstance(self._main, str):
            return (), {self._main: tensor}, rest
        if self._most and len(self._required) <= 1:
            return (tensor,), {}, rest
        if len(names) == 1:
            return (), {next(iter(names)): tensor}, rest
        raise self._unclear(entries)

    def _unclear(self, entries: Mapping[str, Any]) -> AffscoreError:
        shown = ", ".join(f"{name} ({form_of(value)})" for name, value in entries.items())
        missing = [] if {"one tensor", "entry 0"} & {*entries} else sorted(self._required - {*entries})
        lacks = f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing, and " if missing else ""
        unclear = f"it is not clear which entries of the data go where in {self._written}"
        say = "give a dictionary with the parameters' names, or say it: forward=lambda network, batch: network(...)"
        return AffscoreError("; ".join([f"{unclear}: {lacks}the data holds {shown}", say, *self._advice]))


def _by_names(batch: Any) -> Mapping[str, Any]:
    """The entries of a batch, under their names or places."""
    if isinstance(batch, Mapping):
        return batch
    several = isinstance(batch, (tuple, list))
    return {f"entry {place}": one for place, one in enumerate(batch)} if several else {"one tensor": batch}


def _is_no_input(value: Any, taken: bool) -> bool:
    """Whether an entry is a label, a target or a description.

    Args:
        value: The entry of a batch.
        taken: Whether the network has a parameter for it; then only one integer a sample is a label.
    """
    if not isinstance(value, Tensor):
        return not taken or not tensors_in(value)
    return _is_label(value) or (not taken and (_is_single(value) or not value.is_floating_point()))


def _is_single(value: Tensor) -> bool:
    return value.ndim == 1 or value.shape[1:] == (1,)


def _is_label(value: Any) -> bool:
    return isinstance(value, Tensor) and _is_single(value) and not (value.is_floating_point() or value.is_complex())
