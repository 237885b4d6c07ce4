"""Sees every elementwise activation of a running network, and what it is fed and returns."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from affscore.network.activations import activation_name
from affscore.network.dataflow import Dataflow, Origin, tensors_in
from affscore.network.layout import ChannelLayout, ImageLayout

__all__ = ["ActivationCall", "Listener", "Recorder", "recording"]

_SUMS = frozenset({torch.add, Tensor.add, Tensor.add_, Tensor.__add__, Tensor.__iadd__, Tensor.__radd__})
_PRODUCTS = frozenset(
    {torch.mul, torch.multiply, Tensor.mul, Tensor.mul_, Tensor.__mul__, Tensor.__imul__, Tensor.__rmul__}
)

_RECURRENT = frozenset({torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu})


@dataclass
class ActivationCall:
    """One call of an activation in a forward pass.

    Attributes:
        index: Position in the order of execution, from 0.
        layer: Path of the innermost module that was running, "(root)" for the network's own forward.
        call: How often this layer had called an activation before, so (layer, call) is unique.
        activation: What is computed: "relu", "gelu", ...
        depth: The largest number of activations on a path from the input to this one, it included.
        kind: "hidden"; "after-sum", fed by a residual sum; "gate", whose output scales a larger tensor
            (excite); or "squeeze", the activation on the way to such a gate. Gates are known only when
            the forward pass is over.
        channel_axis: The axis of the input that holds the channels.
        image_axis: The axis of the input that counts the images, or -1 where that is mixed with another.
        positions: How many positions (pixels, tokens) of one image share a channel.
        upstream: Index of the latest activation before this one on its path, or None.
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


class Listener(Protocol):
    """What is told about activations while the network runs; torch calls made here are not recorded."""

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        """An activation is about to see x (which an in-place activation will overwrite)."""

    def after(self, call: ActivationCall, y: Tensor) -> None:
        """The activation returned y."""


class Recorder(TorchFunctionMode):
    """A mode under which every activation of a forward pass is reported to a listener.

    A mode sees modules and functions alike, in place or not, and only the outermost call. Use it
    through :func:`recording`, which also follows the modules. An activation that does not depend on the
    network's input (of a table of positions, say) has no distribution over images and is not reported.
    """

    def __init__(self, listener: Listener) -> None:
        super().__init__()
        self.listener = listener
        self.path: list[str] = []
        self.start(())
        self.stop()

    def start(self, inputs: Any) -> None:
        """Begin a forward pass with these inputs."""
        self._listening = True
        self.calls: list[ActivationCall] = []
        self.independent_of_input = 0
        self.unseen: set[str] = set()
        self._flow = Dataflow()
        self._layout = ChannelLayout()
        self._images = ImageLayout()
        self._counts: Counter[str] = Counter()
        for tensor in tensors_in(inputs):
            self._flow.mark(tensor, Origin(0))

    def stop(self) -> None:
        """The forward pass is over: what is computed until the next one is nobody's activation."""
        self._listening = False

    def lost(self, output: Any) -> bool:
        """Whether the way from the inputs to this output led through something that the recorder cannot see."""
        tensors = list(tensors_in(output))
        return bool(tensors) and all(self._flow.origin(tensor) is None for tensor in tensors)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if not self._listening:
            return func(*args, **kwargs)
        name = activation_name(func, args, kwargs)
        if name is not None:
            x = args[0] if args else kwargs["input"]
            origin = self._flow.origin(x)
            if origin is not None:
                return self._activation(name, x, origin, func, args[1:], kwargs)
            self.independent_of_input += 1
        out = kwargs.get("out")
        inputs = [*tensors_in(args), *(t for key, value in kwargs.items() if key != "out" for t in tensors_in(value))]
        output = func(*args, **kwargs)
        if inputs:
            self._propagate(func, inputs, output if out is None else out)
        return output

    def _activation(
        self,
        name: str,
        x: Tensor,
        origin: Origin,
        func: Callable[..., Any],
        rest: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Tensor:
        options = {key: value for key, value in kwargs.items() if key != "input"}
        layer = self.path[-1] if self.path and self.path[-1] else "(root)"
        axis, images = self._layout.axis(x), self._images.axis(x)
        call = ActivationCall(
            index=len(self.calls),
            layer=layer,
            call=self._counts[layer],
            activation=name,
            depth=origin.depth + 1,
            kind="after-sum" if origin.summed else "hidden",
            channel_axis=axis,
            image_axis=images,
            positions=x.numel() // (x.shape[images] * x.shape[axis]) if x.ndim > 1 and images >= 0 else 1,
            upstream=origin.last_activation,
        )
        self.calls.append(call)
        self._counts[layer] += 1

        self.listener.before(call, x, lambda z: func(z, *rest, **options))
        y = func(x, *rest, **options)
        self.listener.after(call, y)

        self._layout.observe(func, [x], y)
        self._images.observe([x], y)
        self._flow.mark(y, Origin(call.depth, call.index, call.index))
        return y

    def _propagate(self, func: Callable[..., Any], inputs: list[Tensor], output: Any) -> None:
        origin = self._flow.merged(inputs)
        if origin is None:
            return
        if func in _RECURRENT:
            self.unseen.add(getattr(func, "__name__", "a recurrent layer"))
        if func in _PRODUCTS:
            self._find_gate(inputs)
        elif func in _SUMS and all(self._flow.origin(tensor) for tensor in inputs) and len(inputs) == 2:
            origin = replace(origin, summed=True)
        # item assignment returns nothing and writes into its first argument
        outputs = inputs[:1] if output is None else list(tensors_in(output))
        shared = {tensor.untyped_storage()._cdata for tensor in inputs}
        for tensor in outputs:
            if _writes_in_place(func) or tensor.untyped_storage()._cdata not in shared:
                self._flow.mark(tensor, origin)
            self._layout.observe(func, inputs, tensor)
            self._images.observe(inputs, tensor)

    def _find_gate(self, factors: list[Tensor]) -> None:
        """In a product of an activation with a larger tensor the activation is a gate."""
        origins = [self._flow.origin(factor) for factor in factors]
        if len(factors) != 2 or None in origins:
            return
        for origin, factor, other in zip(origins, factors, reversed(factors), strict=True):
            if origin is None or origin.activation is None or _entries(factor) >= _entries(other):
                continue
            gate = self.calls[origin.activation]
            gate.kind = "gate"
            if gate.upstream is not None and self.calls[gate.upstream].positions == 1:
                self.calls[gate.upstream].kind = "squeeze"


def _entries(tensor: Tensor) -> int:
    """How many different entries a tensor has: one that was expanded repeats its own."""
    return math.prod(size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride)


def _writes_in_place(func: Callable[..., Any]) -> bool:
    name = getattr(func, "__name__", "")
    return (name.endswith("_") and not name.endswith("__")) or name == "__setitem__" or name.startswith("__i")


@contextmanager
def recording(model: nn.Module, listener: Listener) -> Iterator[Recorder]:
    """Run a model under a :class:`Recorder` that knows which module is running.

    Compiled parts run uncompiled. On leaving, every hook is gone and the fast paths of attention, which
    would hide the activations of ``torch.nn.TransformerEncoderLayer``, are as before.

    Args:
        model: The network; call ``recorder.start(inputs)`` before every forward pass.
        listener: What is told about the activations.

    >>> class Print:
    ...     def before(self, call, x, apply): print(call.layer, call.call, call.activation, call.depth)
    ...     def after(self, call, y): pass
    >>> relu = nn.ReLU()
    >>> net = nn.Sequential(nn.Linear(2, 3), relu, nn.Linear(3, 3), relu)
    >>> x = torch.zeros(4, 2)
    >>> with recording(net, Print()) as recorder:
    ...     recorder.start(x)
    ...     _ = net(x)
    1 0 relu 1
    1 1 relu 2
    """
    recorder = Recorder(listener)

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        recorder.path.pop()

    with ExitStack() as stack:
        for path, module in model.named_modules():

            def enter(module: nn.Module, args: Any, path: str = path) -> None:
                recorder.path.append(path)

            stack.callback(module.register_forward_pre_hook(enter, prepend=True).remove)
            stack.callback(module.register_forward_hook(leave, always_call=True).remove)
        fast_path = torch.backends.mha.get_fastpath_enabled()
        stack.callback(torch.backends.mha.set_fastpath_enabled, fast_path)
        torch.backends.mha.set_fastpath_enabled(False)
        if "torch._dynamo" in sys.modules:  # else nothing is compiled, and importing it takes seconds
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(recorder)
        yield recorder
