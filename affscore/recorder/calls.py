"""What runs in a network, as one stream of events: functions, kernels below them, and the activations among them.

The two modes here are all that the library puts between a network and PyTorch's functions; what follows a network
listens to them. What is hooked into its modules and into Python is in :mod:`affscore.recorder.recording`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from affscore.recorder.axes import Place
from affscore.recorder.dataflow import Origin
from affscore.recorder.functions import NO_EFFECT, SUMS, Effect

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
"""Places in a block. A module with more activations one behind the other is a stage of a network, and no block."""

BLOCKS = ("network", "residual", "attention", "mlp", "normalisation", "pooling", "linear", "block")
"""The kinds of blocks; "block" is a module that was declared and is none of the others."""

KINDS = (*ORDINALS, "after-sum", "gate", "squeeze", "gated-unit", "hidden", "activation", *BLOCKS)


@dataclass(kw_only=True)
class ActivationCall(Place):
    """One call of an activation in a forward pass, and where its input has the images and the channels.

    Attributes:
        index: Position in the order of execution, from 0.
        layer: Path of the innermost module that was running, "(root)" for the network's own forward.
        call: How often this layer had called an activation before, so (layer, call) is unique.
        activation: What is computed: "relu", "gelu", ...
        depth: The largest number of activations on a path from the input to this one, it included.
        layers: The largest number of layers on such a path (:class:`affscore.recorder.dataflow.Origin`).
        kind: What it is for:

            * "after-sum", fed by a residual sum;
            * "gate", one number for each channel or position, by which a larger tensor is scaled (excite),
              and "squeeze", the activation of one position on the way to a gate;
            * "gated-unit", whose output is multiplied with a tensor of its own size (GLU, SwiGLU);
            * "first", "second", ..., its place in its block (:class:`affscore.recorder.kinds.Kinds`);
            * "hidden", any other.

            Where blocks are measured, "activation" for all of these, and of a block what it is
            (:class:`affscore.recorder.blocks.Blocks`). Known for certain only when the forward pass is over.
        upstream: Index of the latest activation before this one on its path, or None.
        builtin: Whether a function of PyTorch computes it, and not a formula or something that was declared.
        shape: Shape of its input.
        within: The modules that were running, outermost first: path, and the index of the module's run.
        block: Whether it is a block, no elementwise function: its output may have another shape.
        output: Of a block that has run: where its output has the images and the channels.
    """

    index: int
    layer: str
    call: int
    activation: str
    depth: int
    kind: str
    upstream: int | None
    layers: int = 0
    builtin: bool = False
    shape: tuple[int, ...] = ()
    within: tuple[tuple[str, int], ...] = ()
    block: bool = False
    output: Place | None = None

    def __str__(self) -> str:
        return f"{self.activation} of layer {self.layer!r}"


class Listener:
    """Receives the activations while the network runs; this one ignores them. Its own torch calls are not recorded."""

    def start(self, images: int, text: Tensor | None = None) -> None:
        """A forward pass of so many images begins; ``text`` are the tokens that are none of padding."""

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        """An activation is about to see x (which an in-place activation will overwrite)."""

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """The activation returned y."""

    def forget(self, call: ActivationCall) -> None:
        """The latest activation was a part of one that is reported next (the sigmoid of x * sigmoid(x))."""


class Functions(TorchFunctionMode):
    """The mode that sees every function of PyTorch that Python calls; of functions inside functions the outermost.

    Args:
        handle: ``handle(function, args, kwargs)`` is called in its place, and returns what the caller gets.

    >>> x = torch.ones(2)
    >>> with Functions(lambda function, args, kwargs: f"{function.__name__} of {len(args)} arguments"):
    ...     torch.add(x, 1)
    'add of 2 arguments'
    """

    def __init__(self, handle: Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]) -> None:
        super().__init__()
        self._handle = handle

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return self._handle(func, args, kwargs or {})


class Kernels(TorchDispatchMode):
    """The mode that sees every kernel, also those of TorchScript, of ``torch.ops`` and of extensions.

    Args:
        heard: ``heard(kernel, args, kwargs, output)`` is called after each of them.
    """

    def __init__(self, heard: Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]) -> None:
        super().__init__()
        self._heard = heard

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first call imports the compiler, which takes seconds

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        with torch._C.DisableTorchFunction():  # a kernel is no function that the network calls
            output = func(*args, **kwargs or {})
            self._heard(func, args, kwargs or {}, output)
        return output


@dataclass(eq=False)
class Event:
    """A call of a function in a network, on tensors of which at least one depends on the network's input.

    Attributes:
        function: What is called.
        args: Its arguments.
        kwargs: Its named arguments.
        tensors: The tensors that it reads.
        origins: Where each of them comes from; None for what does not depend on the input.
        output: What it returned; None before.
        layer: Path of the innermost module that was running, "" for the network itself.
        effect: What it does to the numbers of its largest input, once that was asked.
        call: The activation that ends with it, if one does.
    """

    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    tensors: list[Tensor]
    origins: list[Origin | None]
    layer: str = ""
    output: Any = field(default=None, repr=False)
    effect: Effect = NO_EFFECT
    call: ActivationCall | None = None

    def argument(self, name: str, place: int, default: Any = None) -> Any:
        """An argument by its name or its place."""
        return self.kwargs.get(name, self.args[place] if len(self.args) > place else default)

    @property
    def data(self) -> list[Tensor]:
        """The tensors among these that depend on the network's input."""
        return [tensor for tensor, origin in zip(self.tensors, self.origins, strict=True) if origin is not None]

    @property
    def sums(self) -> bool:
        """Whether it adds two tensors that both depend on the input."""
        return self.function in SUMS and len(self.tensors) == 2 and all(self.origins)

    @property
    def adds_a_shortcut(self) -> bool:
        """Whether it adds two of one shape, and is no part of an activation."""
        return self.call is None and self.sums and self.tensors[0].shape == self.tensors[1].shape


class Follower:
    """Follows the events of a recorder (``recorder.followers``); this one ignores them. Its own calls are no events."""

    notes: Sequence[str] = ()
    """What a reader of the result should know."""

    def begin(self, calls: list[ActivationCall]) -> None:
        """A forward pass begins, whose activations will stand in this list."""

    def end(self, calls: list[ActivationCall]) -> list[ActivationCall]:
        """It is over; returns what counts as a call."""
        return calls

    def before(self, event: Event) -> None:
        """A function is about to run."""

    def after(self, event: Event) -> None:
        """It has returned ``event.output``."""

    def entered(self, path: str, args: Any, kwargs: Any) -> None:
        """A module begins to run."""

    def left(self, module: nn.Module, args: Any, output: Any) -> None:
        """A module has run."""

    def watched(self, run: int) -> None:
        """A hook of the user, whose run has this index, has handed on what it was given as it was."""


class Aside:
    """A context; a generator would take longer to enter than most of what it is entered for."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *error: object) -> None:
        self.depth -= 1


def inner_first(calls: Sequence[ActivationCall]) -> list[int]:
    """The places of calls that are in the order in which they began, in the order in which they ended.

    >>> place = {"image_axis": 0, "channel_axis": 1, "positions": 1, "depth": 1, "kind": "", "upstream": None}
    >>> frames = [("outer", 0)], [("outer", 0), ("inner", 1)], [("outer", 0)], [("last", 2)]
    >>> made = [ActivationCall(index=i, layer="", call=0, activation="", within=tuple(within), block=i != 2, **place)
    ...         for i, within in enumerate(frames)]
    >>> inner_first(made)
    [1, 2, 0, 3]
    """
    last = {frame: place for place, call in enumerate(calls) for frame in call.within}
    ends = [last[call.within[-1]] if call.block else place for place, call in enumerate(calls)]
    return sorted(range(len(calls)), key=lambda place: (ends[place], -place))
