"""One call of an activation, and who is told about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from affscore.network.axes import Axes

__all__ = ["ActivationCall", "Listener"]


@dataclass
class ActivationCall:
    """One call of an activation in a forward pass.

    Attributes:
        index: Position in the order of execution, from 0.
        layer: Path of the innermost module that was running, "(root)" for the network's own forward.
        call: How often this layer had called an activation before, so (layer, call) is unique.
        activation: What is computed: "relu", "gelu", ...
        depth: The largest number of activations on a path from the input to this one, it included.
        kind: What it is for:

            * "after-sum", fed by a residual sum;
            * "gate", one number for each channel or position, by which a larger tensor is scaled (excite),
              and "squeeze", the activation of one position on the way to a gate;
            * "gated-unit", whose output is multiplied with a tensor of its own size (GLU, SwiGLU);
            * "first", "second", ..., its place in its block (:func:`affscore.network.kinds.place_in_blocks`);
            * "hidden", any other.

            Known for certain only when the forward pass is over.
        channel_axis: The axis of the input that holds the channels; of several (heads, and their features) the last.
        image_axis: The axis of the input that counts the images.
        positions: How many positions (pixels, tokens) of one image share a channel.
        upstream: Index of the latest activation before this one on its path, or None.
        builtin: Whether a function of PyTorch computes it, and not a formula or something that was declared.
        in_place: Whether it overwrites its input.
        shape: Shape of its input.
        guessed: Whether the axis of the channels is a guess.
        axes: What the axes hold, where two of them do not say it (:class:`affscore.network.layout.Place`).
        within: The modules that were running, outermost first: path, and the index of the module's run.
    """

    index: int
    layer: str
    call: int
    activation: str
    depth: int
    kind: str
    channel_axis: int
    image_axis: int
    positions: int
    upstream: int | None
    builtin: bool = False
    in_place: bool = False
    shape: tuple[int, ...] = ()
    guessed: bool = False
    axes: Axes = ()
    within: tuple[tuple[str, int], ...] = ()


class Listener(Protocol):
    """What is told about activations while the network runs; torch calls made here are not recorded."""

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> bool | None:
        """An activation is about to see x (which an in-place activation will overwrite).

        A listener may run a builtin in-place activation itself, and returns True if it did: x holds the output.
        """

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """The activation returned y."""

    def forget(self, call: ActivationCall) -> None:
        """The latest activation was a part of one that is reported next (the sigmoid of x * sigmoid(x))."""
