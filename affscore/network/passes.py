"""The forward passes of a network that is being trained: what its activations saw and returned, with gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from numbers import Integral
from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.network.reduction import Reducing
from affscore.network.scoring import Pair
from affscore.recorder import ActivationCall
from affscore.recorder.axes import Place


class TrainingPass(Reducing):
    """A listener that keeps what the chosen activations of one forward pass saw and returned, with their graphs.

    Args:
        layers: Names and places of the chosen ones; None for all.
        text: Which tokens are none of padding, as in :func:`affscore.network.reading.tokens_of_text`.

    Attributes:
        pairs: All activations, with their reduced inputs and outputs where they were chosen.
    """

    def __init__(self, layers: Sequence[str | int] | None, text: Tensor | None = None) -> None:
        self.pairs: list[Pair] = []
        self._layers, self.text = layers, text

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        """Reduce the input, before an in-place activation overwrites it."""
        without = "" if torch.is_grad_enabled() else "it runs without gradients"
        self.pairs.append(Pair(call, x.dtype, torch.clone, refused=without))  # apply may hold other features
        if self._layers is None or call.layer in self._layers or call.index in self._layers:
            self.pairs[-1].x = self._reduced(call, x, None)

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """Reduce the output."""
        if len((pair := self.pairs[call.index]).x):
            pair.y = self._reduced(call, y, call.output)

    def forget(self, call: ActivationCall) -> None:
        """The latest activation was a part of another one."""
        del self.pairs[call.index]

    def _reduced(self, call: ActivationCall, features: Tensor, output: Place | None) -> Tensor:
        # what this saves is no part of the network: a checkpoint, which would look for it when it runs again, has hooks
        with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved):
            return self.reduced(call, features, "mean", output)[0]

    def chosen(self) -> list[int]:
        """The places of the chosen activations, in the order of ``layers``; several calls of a layer in their order.

        Raises:
            AffscoreError: One is not there, or is chosen twice.
        """
        calls, found = [pair.call for pair in self.pairs], list[int]()
        for layer in range(len(calls)) if self._layers is None else self._layers:
            places = [call.index for call in calls if layer in (call.layer, call.index)]
            if not places:
                names = ", ".join(dict.fromkeys(repr(call.layer) for call in calls))
                raise AffscoreError(f"no activation {layer!r} among the {len(calls)} here, whose layers are {names}")
            if twice := [calls[place] for place in places if place in found]:
                raise AffscoreError(f"layers chooses {twice[0]} twice, by {layer!r} too; name each one once")
            found += places
        return found


def checked_layers(layers: Any) -> tuple[str | int, ...] | None:
    """Names or places of activations; None for all.

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
    return tuple(layer if isinstance(layer, str) else int(layer) for layer in layers)


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
        del self.model.forward
        if self.own is not None:
            self.model.forward = self.own

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.model, "forward")  # of the copy, whose class knows it
