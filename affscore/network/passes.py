"""The forward passes of a network that is being trained: what its activations saw and returned, with gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from affscore.errors import AffscoreError
from affscore.network.apart import audit
from affscore.network.collect import Collector
from affscore.network.forward import forward
from affscore.network.inputs import Inputs
from affscore.network.notes import FEWEST
from affscore.network.reduction import reduced
from affscore.options import Options
from affscore.recorder import ActivationCall, Listener, recording
from affscore.recorder.layout import Place
from affscore.recorder.model_state import device_of, in_training, random_states_kept


@dataclass
class Part:
    """The reduced input and output of an activation in one pass, with their graphs.

    Attributes:
        x: Tensor (n, c).
        y: Tensor (n, c); x until the activation has run.
        has_gradients: Whether gradients were enabled when it ran.
    """

    x: Tensor
    y: Tensor
    has_gradients: bool


class Pass(Listener):
    """A listener that keeps what the chosen activations of one forward pass saw and returned.

    Args:
        layers: Names and places of the chosen ones; None for all.
        text: Which tokens are none of padding, as in :func:`affscore.network.padding.tokens_of_text`.

    Attributes:
        images: How many samples go through the network; to be set before the first activation.
        dtype: The type of the reduced numbers.
        calls: All activations.
        pairs: For each of them its input and output, or None where it was not chosen.
    """

    def __init__(self, layers: Sequence[str | int] | None, text: Tensor | None = None) -> None:
        self.images, self.dtype = 0, torch.float32
        self.calls: list[ActivationCall] = []
        self.pairs: list[Part | None] = []
        self._layers, self._text = layers, text

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        """Reduce the input, before an in-place activation overwrites it."""
        wanted, pair = self._layers is None or call.layer in self._layers or call.index in self._layers, None
        if wanted:
            points = self._reduced(call, x)
            pair, self.dtype = Part(points, points, torch.is_grad_enabled()), points.dtype
        self.calls.append(call)
        self.pairs.append(pair)

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """Reduce the output."""
        if (pair := self.pairs[call.index]) is not None:
            pair.y = self._reduced(call, y, call.output)

    def forget(self, call: ActivationCall) -> None:
        """The latest activation was a part of another one."""
        del self.calls[call.index], self.pairs[call.index]

    def _reduced(self, call: ActivationCall, features: Tensor, output: Place | None = None) -> Tensor:
        # what this saves is no part of the network: a checkpoint, which would look for it when it runs again, has hooks
        with torch.autograd.graph.saved_tensors_hooks(_as_it_is, _as_it_is):
            return reduced(call, features, self.images, "mean", text=self._text, output=output)

    def chosen(self) -> list[int]:
        """The places of the chosen activations, in the order of ``layers``; several calls of a layer in their order.

        Raises:
            AffscoreError: One is not there, or is chosen twice.
        """
        if self._layers is None:
            return list(range(len(self.calls)))
        found = list[int]()
        for layer in self._layers:
            places = [call.index for call in self.calls if layer in (call.layer, call.index)]
            if not places:
                names = ", ".join(dict.fromkeys(repr(call.layer) for call in self.calls))
                raise AffscoreError(
                    f"there is no activation {layer!r} among the {len(self.calls)} of this network, whose layers are "
                    f"{names}"
                )
            if twice := [self.calls[place] for place in places if place in found]:
                raise AffscoreError(f"layers chooses {twice[0]} twice, by {layer!r} too; name each one once")
            found += places
        return found


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


def checked_layers(layers: Any) -> tuple[str | int, ...] | None:
    """Names or places of activations, each once; None for all.

    Raises:
        AffscoreError: Something else.

    >>> checked_layers(["features.1", 3])
    ('features.1', 3)
    """
    if layers is None:
        return None
    several = isinstance(layers, Collection) and len(layers) and not isinstance(layers, (str, bytes, set, frozenset))
    if not several or not all(isinstance(one, (str, Integral)) and not isinstance(one, bool) for one in layers):
        raise AffscoreError(f"layers must be a list of names or places of activations, got {layers!r}")
    found = tuple(layer if isinstance(layer, str) else int(layer) for layer in layers)
    if len(set(found)) < len(found):
        raise AffscoreError(f"layers must name each activation once, got {layers!r}")
    return found


def mixing(model: nn.Module, args: Any, kwargs: Any, text: Tensor | None, activations: Any) -> str:
    """How a network mixes samples: what the audit of a signature finds (:func:`affscore.network.apart.audit`).

    A few of them run in evaluation mode (:func:`in_training`), and random numbers are as before.

    Args:
        model: The network.
        args: Its arguments; of the tensors those that are as long as the first one count the samples.
        kwargs: Those that have a name.
        text: As of :class:`Pass`.
        activations: As of :class:`affscore.AffinityPenalty`.

    Returns:
        The sentence; empty where it keeps them apart, cannot run so, or several processes train together.

    >>> mixing(nn.ReLU(), (torch.randn(4, 3),), {}, None, ())
    ''
    """
    tensors = [one for one in tree_leaves((args, kwargs)) if isinstance(one, Tensor) and one.ndim]
    of_samples = [tensor for tensor in tensors if len(tensor) == len(tensors[0])]
    together = torch.distributed.is_available() and torch.distributed.is_initialized()  # could wait for each other
    if not of_samples or together or torch.compiler.is_compiling():
        return ""

    def through(network: nn.Module, few: Any) -> Any:
        parts = {id(whole): part for whole, part in zip(of_samples, few, strict=True)}
        some, named = tree_map(lambda value: parts.get(id(value), value), (args, kwargs))
        return network(*some, **named)

    device, name, listener = device_of(model), type(model).__name__, Collector(Options(criteria=()))
    kept = torch.no_grad(), random_states_kept(device), in_training(model, device)
    with kept[0], kept[1], kept[2], recording(model, listener, activations) as recorder:
        few = Inputs(of_samples, through, text=text)[:FEWEST]
        try:
            forward(model, recorder, few, name)
        except AffscoreError:
            return ""
        try:
            audit(model, recorder, listener, few, name)
        except AffscoreError as error:
            return str(error)
    return ""


class Watched:
    """Stands in the place of a network's forward; a copy of the network gets the forward of its class again.

    A hook would be copied with the network (for a moving average of its weights, say), and record there, too.

    Args:
        model: The network.
        run: What shall run for it: is given the network's own forward, and the arguments.
    """

    def __init__(self, model: nn.Module, run: Callable[..., Any]) -> None:
        self.model, self.run, self.own = model, run, vars(model).get("forward")
        self.forward = model.forward
        functools.update_wrapper(self, model.forward)  # for those who ask for its parameters
        self.__code__ = getattr(model.forward, "__code__", None)  # torch.export does

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the network."""
        return self.run(self.forward, *args, **kwargs)

    def remove(self) -> None:
        """The network has its own forward again."""
        if self.own is None:
            del self.model.forward
        else:
            self.model.forward = self.own

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.model, "forward")  # of the copy, whose class knows it
