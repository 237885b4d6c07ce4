"""The mode under which PyTorch runs while a network is recorded: it sees every function that is called."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.recorder import functions
from affscore.recorder.block_kinds import ATTENDING
from affscore.recorder.blocks import Blocks
from affscore.recorder.calls import ActivationCall, Listener, find_gate, place_in_blocks
from affscore.recorder.dataflow import Dataflow, Origin, address, is_wrapped, merged, tensors_in
from affscore.recorder.declared import Declared, check_shape, running_whole
from affscore.recorder.effects import Effects
from affscore.recorder.formulas import Formulas, Step
from affscore.recorder.functions import Function, activation_name, only_looks_at_the_shape, writes_in_place
from affscore.recorder.layout import Layout, Place
from affscore.recorder.stream import Aside, Event, Follower, Functions


class Recorder:
    """Reports every activation of a forward pass to a listener, and every function on features to its followers.

    It sees modules and functions alike, in place or not, and only the outermost call. Use it through
    :func:`affscore.recorder.recording`, which also follows the modules. An activation that does not depend on
    the network's input (of a table of positions, say) has no distribution over images and is not reported.

    Args:
        listener: Receives the activations.
        activations: Modules and functions that count as one activation as a whole (:class:`Declared`).
    """

    def __init__(self, listener: Listener, activations: Collection[Any] | Mapping[str, Any] = ()) -> None:
        self.listener = listener
        self._mode, self._listening = Functions(self.called), False
        self.followers: list[Follower] = []
        self.effects = Effects()
        self.running = 0  # how many functions of PyTorch are running
        self.hook: int | None = None  # the index of the run of a hook of the user
        self.chosen = Declared(activations)
        self.classes: dict[str, type] = {}
        self.weights: set[int] = set()
        self.channel_axes: dict[str, int] = {}
        self.path: list[tuple[str, int]] = []
        self.blocks: Blocks | None = None
        self.ran: set[str] = set()
        self.kinds_of_declared: dict[nn.Module, str] = {}
        self.in_other_threads: set[str] = set()
        self.aside = Aside()  # a context: what is called in it is not the network's
        self.start(())
        self.stop()

    def start(self, inputs: Any) -> None:
        """Begin a forward pass with these inputs."""
        if not self._listening:
            self._mode.__enter__()  # for the pass alone: a mode makes every call of PyTorch slower
        self._listening = True
        self.thread = threading.get_ident()
        self.calls: list[ActivationCall] = []
        self.independent_of_input = 0
        self.unseen: set[str] = set()
        self.flow = Dataflow()
        self.formulas = Formulas(self.flow.__contains__, self.flow.version)
        if self.blocks is not None:
            self.blocks.start()
        self._counts: Counter[str] = Counter()
        self._summing: set[type] = set()
        self.runs = itertools.count()
        with self.aside:
            tensors = tensors_in(inputs)
            self.layout = Layout(next((len(tensor) for tensor in tensors if tensor.ndim), None))
            for tensor in tensors:
                self.flow.mark(tensor, Origin(0))

    def stop(self) -> None:
        """The forward pass is over: what is computed until the next one is nobody's activation."""
        if self._listening:
            self._mode.__exit__(None, None, None)
            self._listening = False
            place_in_blocks(self.calls, self.classes, self._summing)
            if self.blocks is not None:
                self.calls = self.blocks.merged(self.calls)

    @property
    def attentive(self) -> bool:
        """Whether what runs now is the network's, and no activation that was seen."""
        return self._listening and not self.aside.depth

    @property
    def frame(self) -> tuple[str, int]:
        """The innermost module that is running, "" for the network itself, and the index of its run."""
        return self.path[-1] if self.path else ("", 0)

    @property
    def elsewhere(self) -> str:
        """A sentence on what ran where no activation is seen; empty if nothing did."""
        ran = ", ".join(sorted(self.in_other_threads))
        found = [f"{ran} ran in another thread, where no activation is seen" if ran else "", self.flow.elsewhere]
        return "; ".join(filter(None, found))

    def enter(self, path: str, module: nn.Module, args: Any, kwargs: Any) -> None:
        """A module begins to run."""
        if threading.get_ident() != self.thread:
            self.in_other_threads.add(f"layer {path!r}")
            return
        self.path.append((path, next(self.runs)))
        if path in self.channel_axes and self._listening:
            with torch._C.DisableTorchFunction():  # to ask for its shape is no call either
                for x in [one for one in tensors_in((args, kwargs)) if not one.is_nested][:1]:
                    self.layout.taken(x, self.channel_axes[path])
        if self.blocks is not None:
            self.blocks.enter(path, args, kwargs)

    def leave(self, module: nn.Module, args: Any, output: Any) -> None:
        """The module that began last has run."""
        if threading.get_ident() == self.thread:
            for follower in self.followers:
                follower.left(module, args, output)
            if self.blocks is not None:
                self.blocks.leave(output)
            self.path.pop()

    def called(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function of PyTorch is called: run it, and follow what it does."""
        if not self.attentive:
            return function(*args, **kwargs)
        inputs = tensors_in((args, [value for key, value in kwargs.items() if key != "out"]))
        if inputs and self.flow.left:
            self.flow.returned(inputs, self.layout.images, self.weights)
            if any(isinstance(value, np.ndarray) for value in (*args, *kwargs.values())):
                self.flow.outside.update(self.flow.left)
        event = Event(function, args, kwargs, inputs, [*map(self.flow.origin, inputs)])
        followers = self.followers if self.followers and any(event.origins) else ()
        for follower in followers:
            with self.aside:
                follower.before(event)
        self.running += 1
        try:
            event.output = self._run(event)
        finally:
            self.running -= 1
        for follower in reversed(followers):
            with self.aside:
                follower.after(event)
        return event.output

    def _run(self, event: Event) -> Any:
        function, args, kwargs = event.function, event.args, event.kwargs
        name = self.chosen.get(function) or activation_name(function, args, kwargs)
        if name is not None and not any(tensor.is_quantized for tensor in event.tensors):
            before = len(self.calls)
            with running_whole(
                self, name, function, args, dict(kwargs), builtin=function not in self.chosen
            ) as returned:
                returned.append(function(*args, **kwargs))
            event.call = self.calls[-1] if len(self.calls) > before else None
            return returned[0]
        if only_looks_at_the_shape(function) or not any(event.origins):
            return function(*args, **kwargs)
        with self.aside:
            x = self.effects.tried(event, self.frame[0])
            step = self.formulas.step(event, x.shape) if x is not None else None
            formula = self.formulas.recognise(step) if step is not None else None
        if formula is not None and formula.calls == self.calls[len(self.calls) - len(formula.calls) :]:
            for part in formula.inside:
                part.in_activation = True
            for call in reversed(formula.calls):
                self.forget(call)
            with self.activation(formula.name, formula.source, formula.apply, step) as returned:
                output = function(*args, **kwargs)
                returned.append(args[0] if output is None else output)
            event.call = self.calls[-1]
            return output
        # what runs inside a recurrent layer is noted, and what runs inside a gated linear unit is recorded below
        with self.aside if function in functions.RECURRENT or function is F.glu else nullcontext():
            output = function(*args, **kwargs)
        if isinstance(output, np.ndarray) or (isinstance(output, list) and not tensors_in(output)):
            self.flow.left[self.frame[0] or "(root)"] = merged(event.origins)
        changed = kwargs["out"] if kwargs.get("out") is not None else output
        self._propagate(event, changed)
        if step is not None and (changed is None or isinstance(changed, Tensor)):
            self.formulas.bind(step, args[0] if changed is None else changed)
        if function is F.glu:
            self._gate_of_glu(output, *args, **kwargs)
        return output

    def _gate_of_glu(self, output: Tensor, input: Tensor, dim: int = -1) -> None:
        """A gated linear unit hides the sigmoid of its second half."""
        gate = input.chunk(2, dim)[1]
        self.layout.observe(torch.chunk, [input], gate)
        with self.activation("sigmoid", gate, torch.sigmoid, kind="gated-unit") as returned:
            returned.append(torch.sigmoid(gate))
        call = self.calls[-1]
        self.flow.mark(output, Origin(call.depth, call.index, layers=call.layers))

    @contextmanager
    def activation(
        self, name: str, x: Tensor, apply: Function, step: Step | None = None, kind: str = "", builtin: bool = False,
        block: bool = False,
    ) -> Iterator[list[Any]]:  # fmt: skip
        """While an activation runs, which the listener receives: its output is appended, if it returns one.

        One that returns none has overwritten its input; one that raises is forgotten.
        """
        if is_wrapped(x):
            raise AffscoreError(
                f"{self.described(name)} runs under torch.vmap or a transform of torch.func, where the samples cannot "
                "be told apart; write this part of the network for a batch"
            )
        layer = self.frame[0] or "(root)"
        call = self.new_call(name, x, kind, self._counts[layer], builtin, block)
        self.calls.append(call)
        self._counts[layer] += 1
        returned: list[Any] = []
        with self.aside:
            seen = None if not block or self.layout.knows(x) else x.clone()
            self.listener.before(call, x, apply)
            try:
                yield returned
            except BaseException:  # which the network may catch
                self.forget(call)
                raise
            y = next((output for output in returned if output is not None), x)
            if y is x or (isinstance(y, Tensor) and address(y) == address(x)):
                self.flow.overwritten(y)
            if block:
                if seen is not None:
                    self.place_again(call, self.layout.place(x), seen, apply)
                self._after_block(call, x, y)
                return
            check_shape(self.described(name), y, x)
            self.listener.after(call, y)
            self.layout.observe(None, [x], y)
            self.flow.mark(y, Origin(call.depth, call.index, call.index, layers=call.layers), part=True)
            if step is not None:
                step.call = call
                self.formulas.bind(step, y)

    def new_call(
        self, name: str, x: Tensor, kind: str, number: int, builtin: bool = False, block: bool = False,
        axis: int | None = None,
    ) -> ActivationCall:  # fmt: skip
        """The call that is about to see x, which nobody has heard of yet: the layer's call of this number.

        It takes its channels from this axis, where that is known.
        """
        origin = self.flow.origin(x)
        assert origin is not None
        return ActivationCall(
            index=len(self.calls),
            layer=self.frame[0] or "(root)",
            call=number,
            activation=name,
            depth=origin.depth + 1,
            layers=origin.layers,
            kind=kind or ("after-sum" if origin.summed else "hidden"),
            upstream=origin.last_activation,
            builtin=builtin,
            shape=tuple(x.shape),
            within=tuple(self.path),
            block=block,
            **vars(self.layout.place(x, axis)),
        )

    def place_again(self, call: ActivationCall, place: Place, x: Tensor, apply: Function) -> None:
        """A block has run, and now it is known where the channels of its input x are: the listener hears of it anew."""
        if any(getattr(call, name) != value for name, value in vars(place).items()):
            vars(call).update(vars(place))
            self.listener.forget(call)
            self.listener.before(call, x, apply)

    def _after_block(self, call: ActivationCall, x: Tensor, returned: Any) -> None:
        """What a module that was declared, and is not elementwise, has returned: a tensor, or several in a tuple."""
        outputs = [tensor for tensor in tensors_in(returned) if tensor.is_floating_point()]
        for tensor in outputs:
            self.layout.observe(None, [x], tensor)
            self.flow.mark(tensor, Origin(call.depth, call.index, call.index, layers=call.layers + 1))
        what = self.described(call.activation)
        if not outputs or outputs[0].ndim < 2:
            raise AffscoreError(f"{what} counts as a block, and must return a tensor of numbers for each sample")
        call.output = self.layout.place(outputs[0])
        if call.output.channels != call.channels:
            raise AffscoreError(
                f"{what} was declared as a block, and has width {call.channels} before and {call.output.channels} "
                "after: its score needs the same width on both sides; declare another module, or use units='blocks', "
                "whose criterion affine_fit needs no equal widths"
            )
        self.listener.after(call, outputs[0])

    def forget(self, call: ActivationCall) -> None:
        """The latest activation was none."""
        self.calls.remove(call)
        self._counts[call.layer] -= 1
        self.listener.forget(call)

    def _propagate(self, event: Event, changed: Any) -> None:
        """Hand the origin and the axes of the inputs on to what a function returned or overwrote."""
        function, inputs, origins = event.function, event.tensors, event.origins
        origin = merged(origins)
        assert origin is not None
        if self.blocks is not None and function in ATTENDING:
            self.blocks.attended()
        if function in functions.RECURRENT:
            self.unseen.add(function.__name__)
        if function in functions.MULTIPLICATIONS:
            find_gate(self.calls, inputs, origins)
        elif function in functions.CHANNEL_AXES and function not in functions.NORMS:
            origin = replace(origin, layers=origin.layers + 1)
        elif function in functions.SUMS and len(inputs) == 2 and all(origins):
            origin = replace(origin, summed=True)
            if self.path and inputs[0].shape == inputs[1].shape:
                self._summing.add(self.classes[self.frame[0]])
                if self.blocks is not None:
                    self.blocks.summed(inputs, [known.layers for known in origins if known])
        # item assignment returns nothing and writes into its first argument
        outputs = inputs[:1] if changed is None else tensors_in(changed)
        shared = {address(tensor) for tensor in inputs}
        in_place = writes_in_place(function)
        for tensor in outputs:
            if in_place or event.kwargs.get("out") is not None:
                self.flow.overwritten(tensor)
            if in_place and changed is None and not tensors_in(event.args[1]):
                value = next((of for one, of in zip(inputs, origins, strict=True) if one is event.args[2]), None)
                with self.aside:
                    part = tensor[event.args[1]] if value is not None else tensor
                self.flow.mark(part, value or origin, part=True)
            elif in_place or address(tensor) not in shared:
                self.flow.mark(tensor, origin, part=in_place)
            if tensor.layout is torch.strided and not any(one.is_nested for one in (tensor, *inputs)):
                self.layout.observe(
                    function, inputs, tensor, [known is None for known in origins], event.args, event.kwargs
                )

    def described(self, name: str) -> str:
        """An activation that runs now, as messages name it."""
        return f"{name} of layer {self.frame[0] or '(root)'!r}"
