"""Follows the paths through a network while it runs: from function to function, and where it says nothing, refuses."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakIdKeyDictionary

from affscore.errors import AffscoreError, guarded
from affscore.nonlinear_advantage.counts import Counts
from affscore.nonlinear_advantage.example import Arguments, copied, left_as_it_was
from affscore.nonlinear_advantage.rules import WEIGHTS, Call, result_of
from affscore.recorder import ActivationCall, Listener, Recorder, recording
from affscore.recorder.calls import Event, Follower, Kernels
from affscore.recorder.dataflow import tensors_in
from affscore.recorder.functions import kind_of, only_looks_at_the_shape


@torch.inference_mode(False)  # whose tensors do not say that they were overwritten
def counts_of_outputs(model: nn.Module, example: Arguments) -> list[Counts | None]:
    """The counts of each tensor that a network returns; None for one that does not depend on the input.

    Raises:
        AffscoreError: The network fails, or something computes with features that is no function of PyTorch.
    """
    listener, (args, kwargs) = _Formulas(), copied(example, model)
    with left_as_it_was(model), recording(model, listener) as recorder:
        recorder.start((args, kwargs))
        follower = listener.follower = Following(recorder)
        recorder.followers.append(follower)
        for tensor in tensors_in((args, kwargs)):
            follower.note(tensor, Counts.start(tensor))
        with Kernels(follower.below):
            output = guarded(lambda: model(*args, **kwargs), "the network fails")
        if follower.hidden:
            raise AffscoreError(f"the paths through this network cannot be followed: {follower.hidden}")
        return [follower.counts(tensor) for tensor in tensors_in(output)]


LOOKING = ("to", "type_as", "expand_as", "view_as", "reshape_as")
"""Functions that take no more than type and shape from their second argument."""


LEAVING = ("numpy", "array", "tolist", "dlpack")
"""Functions after which features are no tensors."""


class Following(Follower):
    """Follows the counts of a network's tensors while it runs under a recorder.

    Args:
        recorder: The recorder; it knows the layers, and what is an activation.

    Attributes:
        noted: Whether what leads to the output of the latest call was said by others.
        hidden: What ran on features without being seen; empty if nothing did.
    """

    noted = False
    hidden = ""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._known: dict[int, Counts] = {}
        self._counts: WeakIdKeyDictionary = WeakIdKeyDictionary()

    def note(self, tensor: Tensor, counts: Counts) -> None:
        """Say what leads to a tensor, as it is now."""
        self._counts[tensor] = counts, -1 if tensor.is_inference() else tensor._version

    def knows(self, tensor: Tensor) -> bool:
        """Whether a tensor depends on the input."""
        return tensor in self._counts

    def counts(self, value: Any) -> Counts | None:
        """What leads to a value; None for what does not depend on the input."""
        known = self._counts.get(value) if isinstance(value, Tensor) else None
        if known is None:
            return None
        counts, version = known
        if not value.is_inference() and version == value._version:
            return counts
        return Counts.start(value, lost=self.here("features of inference_mode, or overwritten through a view"))

    def here(self, what: str) -> str:
        """Where the paths are lost."""
        return f"layer {self.recorder.frame[0] or '(root)'!r} has {what}"

    def before(self, event: Event) -> None:
        """See what leads to the arguments."""
        tensors = tensors_in((event.args, event.kwargs))
        self._known = {id(tensor): counts for tensor in tensors if (counts := self.counts(tensor)) is not None}
        self.noted = False
        if self._known and kind_of(event.function) in LEAVING:
            self.hidden = self.hidden or self.here(f"{kind_of(event.function)}, by which features leave PyTorch")

    def after(self, event: Event) -> None:
        """Say what leads to what was returned."""
        known, function, args = self._known, event.function, tuple(event.args)
        outputs = [args[0]] if event.output is None else tensors_in(event.output)
        if not known or only_looks_at_the_shape(function) or not outputs or self.noted:
            return  # numbers and shapes; or a formula
        name = function.__self__.__name__ if kind_of(function) == "get" else kind_of(function)  # type: ignore[attr-defined]
        if name in LOOKING and args and id(args[0]) not in known:
            return
        given = [known[id(tensor)] for tensor in tensors_in((args, event.kwargs)) if id(tensor) in known]
        call = Call(name, function, args, dict(event.kwargs), outputs, given, lambda value: known.get(id(value)))
        found: Any = None
        with suppress(RuntimeError, ValueError, TypeError, IndexError):  # a call that no rule foresaw
            found = result_of(call)
        found = [found] if isinstance(found, Counts) else found or []
        if [one.shape for one in found] != [tensor.shape for tensor in outputs]:
            lost = next((one.lost for one in given if one.lost), "") or self.here(f"{name}, which no rule follows")
            found = [Counts.start(tensor, lost) for tensor in outputs]
        for tensor, counts in zip(outputs, found, strict=True):
            self.note(tensor, counts)

    def below(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the first kernel that runs on features where no function is seen."""
        recorder = self.recorder
        if self.hidden or recorder.running or not recorder.attentive:
            return
        if any(self.knows(tensor) for tensor in tensors_in((args, kwargs))):
            name = kind_of(kernel)
            self.hidden = self.here(f"{name} in TorchScript or an extension, which hide their functions")


class _Formulas(Listener):
    """Takes down activations that are a formula, or a module of a library: each counts as one unit."""

    follower: Following
    _given: Counts | None = None

    def before(self, call: ActivationCall, x: Tensor, apply: Any) -> None:
        self._given = None if call.builtin else self.follower.counts(x)

    def after(self, call: ActivationCall, y: Tensor) -> None:
        if self._given is not None:
            counts = replace(self._given.met(1.0), weights=call.activation in WEIGHTS)
            if call.activation in ("prelu", "leaky_relu"):
                counts = replace(counts, lost=self.follower.here(f"{call.activation}, whose slopes are not seen"))
            self.follower.note(y, counts)
            self.follower.noted = True
