"""Something that is known of each tensor of a running network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from torch import Tensor, nn
from torch.utils.weak import WeakIdKeyDictionary

from affscore.errors import AffscoreError
from affscore.recorder.calls import Follower, Kernels, Listener
from affscore.recorder.dataflow import tensors_in
from affscore.recorder.functions import Function, kind_of
from affscore.recorder.recorder import Recorder
from affscore.recorder.recording import recording

Known = TypeVar("Known")


class Following(Follower, Generic[Known]):
    """Knows something of tensors, each as it was when that was noted, while a network runs.

    Attributes:
        recorder: It knows the layers, and what is an activation.
        hidden: What ran on known tensors without being seen; empty if nothing did.

    >>> import torch
    >>> follower, x = Following[str](), torch.zeros(2)
    >>> follower.note(x, "zeros")
    >>> follower.of(x), follower.is_as_noted(x), follower.of(torch.zeros(2)) is None
    ('zeros', True, True)
    >>> _ = x.view(1, 2).add_(1)
    >>> follower.is_as_noted(x)
    False
    """

    recorder: Recorder
    hidden = ""

    def __init__(self) -> None:
        self._known: WeakIdKeyDictionary = WeakIdKeyDictionary()

    def note(self, tensor: Tensor, known: Known) -> None:
        """Say what is known of a tensor as it is now."""
        self._known[tensor] = known, _version(tensor)

    def of(self, value: Any) -> Known | None:
        """What is known of a value; None for one of which nothing was noted."""
        return self._known[value][0] if isinstance(value, Tensor) and value in self._known else None

    def is_as_noted(self, tensor: Tensor, writes: int = 0) -> bool:
        """Whether a tensor was overwritten so many times since, also through a view."""
        return self._known[tensor][1] + writes == _version(tensor)

    def here(self, what: str) -> str:
        """Where something is."""
        return f"layer {self.recorder.frame[0] or '(root)'!r} has {what}"

    def output_of(self, model: nn.Module, inputs: Any, run: Callable[[], Any], listener: Listener | None = None) -> Any:
        """What a network returns that is followed while it runs.

        Raises:
            AffscoreError: A part of it computes with known tensors where no function of PyTorch is seen.
        """
        with recording(model, listener) as self.recorder:
            self.recorder.start(inputs)
            self.recorder.followers.append(self)
            with Kernels(self._below):
                output = run()
        if self.hidden:
            raise AffscoreError(f"this network cannot be followed: {self.hidden}")
        return output

    def _below(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the first kernel that runs on known tensors where no function is seen."""
        if self.hidden or self.recorder.running or not self.recorder.attentive:
            return
        if any(tensor in self._known for tensor in tensors_in((args, kwargs))):
            self.hidden = self.here(f"{kind_of(kernel)} in TorchScript or an extension, which hide their functions")


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def name_of(function: Function) -> str:
    """The name of a function without underscores; of an attribute, as ``x.shape``, that of the attribute."""
    name = kind_of(function)
    return function.__self__.__name__ if name == "get" else name  # type: ignore[attr-defined]
