"""The mode under which PyTorch runs while a network is recorded: it sees every function that is called."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from affscore.errors import AffscoreError
from affscore.network.activations import activation_name
from affscore.network.calls import ActivationCall, Listener
from affscore.network.dataflow import Dataflow, Origin, address, is_wrapped, merged, tensors_in
from affscore.network.declared import Declared, check_elementwise, check_shape
from affscore.network.formulas import Formula, Formulas, Step, writes_in_place
from affscore.network.kinds import find_gate, place_in_blocks
from affscore.network.layout import Layout

__all__ = ["Recorder"]

_SUMS = frozenset({torch.add, Tensor.add, Tensor.add_, Tensor.__add__, Tensor.__iadd__, Tensor.__radd__})
_PRODUCTS = frozenset(
    {torch.mul, torch.multiply, Tensor.mul, Tensor.mul_, Tensor.__mul__, Tensor.__imul__, Tensor.__rmul__}
)

_RECURRENT = frozenset(
    {torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu,
     torch.lstm_cell, torch.gru_cell, torch.rnn_tanh_cell, torch.rnn_relu_cell}
)  # fmt: skip


class Recorder(TorchFunctionMode):
    """A mode under which every activation of a forward pass is reported to a listener.

    A mode sees modules and functions alike, in place or not, and only the outermost call. Use it through
    :func:`affscore.network.recorder.recording`, which also follows the modules. An activation that does
    not depend on the network's input (of a table of positions, say) has no distribution over images and
    is not reported.

    Args:
        listener: What is told.
        chosen: Modules and functions that count as one activation as a whole.
    """

    def __init__(self, listener: Listener, chosen: Declared | None = None) -> None:
        super().__init__()
        self.listener = listener
        self.chosen = chosen or Declared()
        self.classes: dict[str, type] = {}
        self.path: list[tuple[str, int]] = []
        self.ran: set[str] = set()
        self.elsewhere: set[str] = set()
        self._inside = 0
        self._whole: tuple[ActivationCall, Tensor, Step | None] | None = None
        self.start(())
        self.stop()

    def start(self, inputs: Any) -> None:
        """Begin a forward pass with these inputs."""
        self._listening = True
        self._thread = threading.get_ident()
        self.calls: list[ActivationCall] = []
        self.independent_of_input = 0
        self.unseen: set[str] = set()
        self._flow = Dataflow()
        self._formulas = Formulas()
        self.formula: Formula | None = None
        self._counts: Counter[str] = Counter()
        self._summing: set[type] = set()
        self._runs = 0
        with self.aside():
            self._layout = Layout(next((len(tensor) for tensor in tensors_in(inputs) if tensor.ndim), None))
            for tensor in tensors_in(inputs):
                self._flow.mark(tensor, Origin(0))

    def stop(self) -> None:
        """The forward pass is over: what is computed until the next one is nobody's activation."""
        if self._listening:
            place_in_blocks(self.calls, self.classes, self._summing)
        self._listening = False

    @property
    def attentive(self) -> bool:
        """Whether what runs now is the network's, and no activation that was seen."""
        return self._listening and not self._inside

    def enter(self, path: str) -> None:
        """A module begins to run."""
        if threading.get_ident() != self._thread:
            self.elsewhere.add(f"layer {path!r}")
            return
        self.path.append((path, self._runs))
        self._runs += 1

    def leave(self) -> None:
        """The module that began last has run."""
        if threading.get_ident() == self._thread:
            self.path.pop()

    def lost(self, output: Any) -> bool:
        """Whether the way from the inputs to this output led through something that the recorder cannot see."""
        tensors = tensors_in(output)
        return bool(tensors) and all(self._flow.origin(tensor) is None for tensor in tensors)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if not self.attentive:
            return func(*args, **kwargs)
        if func in self.chosen.functions:
            return self.run_whole(self.chosen.functions[func], func, args, kwargs)
        name = activation_name(func, args, kwargs)
        if name is not None:
            x = args[0] if args else kwargs["input"]
            if self._flow.origin(x) is not None:
                return self._activation(name, x, func, args, kwargs)
            self.independent_of_input += 1
            with self.aside():
                return func(*args, **kwargs)
        if _only_looks_at_the_shape(func):
            return func(*args, **kwargs)
        inputs = tensors_in((args, [value for key, value in kwargs.items() if key != "out"]))
        origins = [self._flow.origin(tensor) for tensor in inputs]
        if not any(origins):
            return func(*args, **kwargs)
        step, formula = self._formulas.step(func, args, kwargs, self.depends), None
        if step is not None:
            with self.aside():
                formula = self._formulas.recognise(step)
        if formula is not None and formula.calls == self.calls[len(self.calls) - len(formula.calls) :]:
            return self._formula(formula, step, func, args, kwargs)
        # what runs inside a recurrent layer is noted, and what runs inside a gated linear unit is recorded below
        with self.aside() if func in _RECURRENT or func is F.glu else nullcontext():
            output = func(*args, **kwargs)
        out = kwargs.get("out")
        self._propagate(func, args, kwargs, inputs, origins, output if out is None else out)
        if step is not None and isinstance(output, Tensor):
            self._formulas.bind(step, output)
        if func is F.glu:
            self._gate_of_glu(output, *args, **kwargs)
        return output

    def _activation(
        self, name: str, x: Tensor, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Tensor:
        rest, options = args[1:], {key: value for key, value in kwargs.items() if key != "input"}
        step = self._formulas.step(func, args, kwargs, self.depends, elementwise=True)
        in_place = writes_in_place(func) or options.get("inplace") is True
        call, done = self._begin(name, x, lambda z: func(z, *rest, **options), builtin=True, in_place=in_place)
        with self.aside():
            y = x if done else func(x, *rest, **options)
        self._end(call, x, y, step)
        return y

    def _formula(
        self, formula: Formula, step: Step | None, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Tensor:
        self.formula = formula
        for part in reversed(formula.calls):
            self._forget(part)
        call, _ = self._begin(formula.name, formula.source, formula.apply)
        y = func(*args, **kwargs)
        self._end(call, formula.source, y, step)
        return y

    def _gate_of_glu(self, output: Tensor, input: Tensor, dim: int = -1) -> None:
        """A gated linear unit hides the sigmoid of its second half."""
        gate = input.chunk(2, dim)[1]
        self._layout.observe(torch.chunk, [input], gate)
        call, _ = self._begin("sigmoid", gate, torch.sigmoid)
        call.kind = "gated-unit"
        with self.aside():
            opened = torch.sigmoid(gate)
        self._end(call, gate, opened, None)
        self._flow.mark(output, Origin(call.depth, call.index))

    def run_whole(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function; the call counts as one activation of this name, and nothing inside it counts."""
        if not self.enter_whole(name, function, args, kwargs):
            return function(*args, **kwargs)
        output = None
        try:
            output = function(*args, **kwargs)
        finally:
            self.leave_whole(output)
        return output

    def enter_whole(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> bool:
        """A function that counts as one activation was called; whether its end is awaited."""
        if not self.attentive or threading.get_ident() != self._thread:
            return False
        with self.aside():
            x = next((tensor for tensor in tensors_in((args, kwargs)) if self.depends(tensor)), None)
            if x is None:
                self.independent_of_input += 1
                self._whole = None
            else:
                apply = self._repeatable(function, x, args, kwargs)
                if name in self.chosen.names and name not in self.ran:
                    axis = self._layout.place(x).image_axis
                    check_elementwise(self._described(name), apply, x.narrow(axis, 0, 1) if x.ndim else x)
                    self.ran.add(name)
                step = self._formulas.step(apply, (x,), {}, self.depends, elementwise=True)
                self._whole = (self._begin(name, x, apply)[0], x, step)
        self._inside += 1
        return True

    def leave_whole(self, output: Any) -> None:
        """The function returned this; or nothing: it raised, or overwrote its input."""
        self._inside -= 1
        if self._whole is None:
            return
        (call, x, step), self._whole = self._whole, None
        with self.aside():
            y = x if output is None else output
            check_shape(self._described(call.activation), y, x)
            self._end(call, x, y, step)

    def _repeatable(
        self, function: Callable[..., Any], x: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[Tensor], Tensor]:
        """The function for another input; it does not keep this one alive."""
        places = [position for position, value in enumerate(args) if value is x]
        names = [key for key, value in kwargs.items() if value is x]
        others = [None if value is x else value for value in args]
        options = {key: None if value is x else value for key, value in kwargs.items()}

        def apply(z: Tensor) -> Tensor:
            arguments = [z if position in places else value for position, value in enumerate(others)]
            # in another thread (scores of the last batch) no mode is active, and the count is this thread's
            with self.aside() if threading.get_ident() == self._thread else nullcontext():
                output = function(*arguments, **options | dict.fromkeys(names, z))
            return z if output is None else output

        return apply

    def _begin(
        self, name: str, x: Tensor, apply: Callable[[Tensor], Tensor], builtin: bool = False, in_place: bool = False
    ) -> tuple[ActivationCall, bool]:
        """An activation begins; the second says whether the listener has already run it, in place."""
        origin = self._flow.origin(x)
        assert origin is not None
        layer = self._layer()
        if is_wrapped(x):
            raise AffscoreError(
                f"{self._described(name)} runs under torch.vmap or a transform of torch.func, where the samples cannot "
                "be told apart; write this part of the network for a batch"
            )
        place = self._layout.place(x)
        call = ActivationCall(
            index=len(self.calls),
            layer=layer,
            call=self._counts[layer],
            activation=name,
            depth=origin.depth + 1,
            kind="after-sum" if origin.summed else "hidden",
            channel_axis=place.channel_axis,
            image_axis=place.image_axis,
            positions=place.positions,
            upstream=origin.last_activation,
            builtin=builtin,
            in_place=in_place,
            shape=tuple(x.shape),
            guessed=place.guessed,
            axes=place.axes,
            within=tuple(self.path),
        )
        self.calls.append(call)
        self._counts[layer] += 1
        with self.aside():
            done = self.listener.before(call, x, apply)
        return call, builtin and in_place and done is True

    def _end(self, call: ActivationCall, x: Tensor, y: Tensor, step: Step | None) -> None:
        with self.aside():
            self.listener.after(call, y)
        self._layout.observe(None, [x], y)
        self._flow.mark(y, Origin(call.depth, call.index, call.index))
        if step is not None:
            step.call = call
            self._formulas.bind(step, y)

    def _forget(self, call: ActivationCall) -> None:
        assert self.calls.pop() is call
        self._counts[call.layer] -= 1
        self.listener.forget(call)

    def _propagate(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        inputs: list[Tensor],
        origins: list[Origin | None],
        output: Any,
    ) -> None:
        origin = merged(origins)
        assert origin is not None
        if func in _RECURRENT:
            self.unseen.add(getattr(func, "__name__", "a recurrent layer"))
        if func in _PRODUCTS:
            find_gate(self.calls, inputs, origins)
        elif func in _SUMS and len(inputs) == 2 and all(origins):
            origin = replace(origin, summed=True)
            if self.path and inputs[0].shape == inputs[1].shape:
                self._summing.add(self.classes[self.path[-1][0]])
        # item assignment returns nothing and writes into its first argument
        outputs = inputs[:1] if output is None else tensors_in(output)
        shared = {address(tensor) for tensor in inputs}
        weights = [origin is None for origin in origins]
        in_place = writes_in_place(func)
        for tensor in outputs:
            if in_place or address(tensor) not in shared:
                self._flow.mark(tensor, origin)
            self._layout.observe(func, inputs, tensor, weights, args, kwargs)

    def depends(self, tensor: Tensor) -> bool:
        """Whether a tensor depends on the network's input."""
        return self._flow.origin(tensor) is not None

    def origin(self, tensor: Tensor) -> Origin | None:
        """Where the numbers of a tensor come from, or None if they do not depend on the network's input."""
        return self._flow.origin(tensor)

    def step_of(self, tensor: Tensor) -> Step | None:
        """How a tensor was computed elementwise, where that is known."""
        return self._formulas.step_of(tensor)

    def _layer(self) -> str:
        return (self.path[-1][0] if self.path else "") or "(root)"

    def _described(self, name: str) -> str:
        return f"{name} of layer {self._layer()!r}"

    def aside(self) -> _Aside:
        """What is called here is not the network's."""
        return _Aside(self)


class _Aside:
    """A context; a generator would take longer to enter than most of what it is entered for."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __enter__(self) -> None:
        self._recorder._inside += 1

    def __exit__(self, *error: object) -> None:
        self._recorder._inside -= 1


def _only_looks_at_the_shape(func: Callable[..., Any]) -> bool:
    """Whether a result has nothing of the numbers of its argument: zeros_like(x), x.new_zeros(3)."""
    name = getattr(func, "__name__", "")
    return name.endswith("_like") or name.startswith("new_")
