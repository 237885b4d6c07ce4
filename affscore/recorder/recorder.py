"""The mode under which PyTorch runs while a network is recorded: it sees every function that is called."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.recorder import functions
from affscore.recorder.axes import Place
from affscore.recorder.calls import ActivationCall, Aside, Event, Follower, Functions, Listener
from affscore.recorder.dataflow import Dataflow, Origin, address, is_wrapped, merged, tensors_in
from affscore.recorder.effects import Effects, check_elementwise
from affscore.recorder.formulas import Formulas, Step
from affscore.recorder.functions import Declarations, Declared, Effect, Function, writes_in_place
from affscore.recorder.kinds import channel_axis, kind_of_block
from affscore.recorder.layout import Layout


class Recorder:
    """Reports every activation of a forward pass to a listener, and every function on features to its followers.

    It sees modules and functions alike, in place or not, and only the outermost call. Use it through
    :func:`affscore.recorder.recording`, which also follows the modules. An activation that does not depend on
    the network's input (of a table of positions, say) has no distribution over images and is not reported.

    Args:
        model: The network.
        listener: Receives the activations.
        activations: Modules and functions that count as one activation as a whole (:class:`Declared`).
    """

    def __init__(self, model: nn.Module, listener: Listener, activations: Declarations = ()) -> None:
        self.listener, self.chosen = listener, Declared(activations)
        self.weights = {address(tensor) for tensor in (*model.parameters(), *model.buffers())}
        self.channel_axes = {path: channel_axis(module) for path, module in model.named_modules()}
        self.followers: list[Follower] = []
        self.effects = Effects()
        self.hook: int | None = None  # the index of the run of a hook of the user
        self.path: list[tuple[str, int]] = []
        self.ran, self.in_other_threads = set[str](), set[str]()
        self.aside = Aside()  # a context: what is called in it is not the network's
        self._mode, self._listening = Functions(self.called), False
        self.start(())
        self.stop()

    def start(self, inputs: Any) -> None:
        """Begin a forward pass with these inputs."""
        if not self._listening:
            self._mode.__enter__()  # for the pass alone: a mode makes every call of PyTorch slower
        self._listening = True
        self.thread = threading.get_ident()
        self.independent_of_input, self.unseen = 0, set[str]()
        self.flow, self._counts = Dataflow(), Counter[str]()
        self.formulas = Formulas(self.flow.__contains__, self.flow.version)
        self.calls, self.runs = list[ActivationCall](), itertools.count()
        for follower in self.followers:
            follower.begin(self.calls)
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
            for follower in self.followers:
                self.calls = follower.end(self.calls)

    @property
    def attentive(self) -> bool:
        """Whether what runs now is the network's, and inside no function or activation that was seen."""
        return self._listening and not self.aside.depth and threading.get_ident() == self.thread

    @property
    def frame(self) -> tuple[str, int]:
        """The innermost module that is running, "" for the network itself, and the index of its run."""
        return self.path[-1] if self.path else ("", 0)

    @property
    def elsewhere(self) -> str:
        """A sentence on what ran where no activation is seen; empty if nothing did."""
        threads, layers = ", ".join(sorted(self.in_other_threads)), ", ".join(sorted(self.flow.outside))
        back = f"numbers leave PyTorch (for NumPy, say) in layer {layers}: what is done to them there is not seen"
        found = [f"{threads} ran in another thread, where no activation is seen"] * bool(threads)
        return "; ".join([*found, *[f"{back}, and has no score"] * bool(layers)])

    def called(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function of PyTorch is called: run it, and follow what it does."""
        if not self.attentive:
            return function(*args, **kwargs)
        inputs = tensors_in((args, [value for key, value in kwargs.items() if key != "out"]))
        if inputs and self.flow.left:
            self.flow.returned(inputs, self.layout.images, self.weights)
            if any(isinstance(value, np.ndarray) for value in (*args, *kwargs.values())):
                self.flow.outside.update(self.flow.left)
        event = Event(function, args, kwargs, inputs, [*map(self.flow.origin, inputs)], self.frame[0])
        followers = self.followers if any(event.origins) else ()
        with self.aside:
            for follower in followers:
                follower.before(event)
            event.output = self._run(event)
            for follower in reversed(followers):
                follower.after(event)
        return event.output

    def _run(self, event: Event) -> Any:
        function, args, kwargs = event.function, event.args, event.kwargs
        name = self.chosen.get(function) or functions.activation_name(function, args, kwargs)
        if name is not None and not any(tensor.is_quantized for tensor in event.tensors):
            before = len(self.calls)
            with self.whole(name, function, args, kwargs, builtin=function not in self.chosen) as returned:
                returned.append(function(*args, **kwargs))
            event.call = self.calls[-1] if len(self.calls) > before else None
            return returned[0]
        if functions.only_looks_at_the_shape(function) or not any(event.origins):
            return function(*args, **kwargs)
        self.effects.tried(event)
        step = self.formulas.step(event)
        formula = self.formulas.recognise(step) if step is not None else None
        if formula is not None and formula.calls == self.calls[len(self.calls) - len(formula.calls) :]:
            for part in formula.inside:
                part.in_activation = True
            for call in reversed(formula.calls):
                self.forget(call)
            event.call = call = self.new_call(formula.name, formula.source)
            with self.activation(call, formula.source, formula.apply, step) as returned:
                output = function(*args, **kwargs)
                returned.append(args[0] if output is None else output)
            return output
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
        self.layout.observe(Event(torch.chunk, (input,), {}, [input], [self.flow.origin(input)]), gate)
        with self.whole("sigmoid", torch.sigmoid, (gate,), {}) as returned:
            returned.append(torch.sigmoid(gate))
        call = self.calls[-1]
        call.kind = "gated-unit"
        self.flow.mark(output, Origin(call.depth, call.index, layers=call.layers))

    @contextmanager
    def whole(
        self, name: str, function: Function, args: Sequence[Any], kwargs: Mapping[str, Any], builtin: bool = False,
        module: nn.Module | None = None,
    ) -> Iterator[list[Any]]:  # fmt: skip
        """While a function runs that counts as one activation: its output is appended, if it returns one.

        A declared module that is not elementwise counts as a block: its first tensor of real numbers goes in, and the
        first that it returns comes out. A function must be elementwise.
        """
        with self.aside:
            given = (args or [kwargs["input"]])[:1] if builtin else (args, kwargs)
            x = max((one for one in tensors_in(given) if one in self.flow), key=Tensor.is_floating_point, default=None)
            if x is None:
                self.independent_of_input += 1
                yield []
                return
            described = f"{name} of layer {self.frame[0] or '(root)'!r}"
            if is_wrapped(x) or x.is_nested or x.layout is not torch.strided:
                where = "on a nested or sparse tensor, or under torch.vmap or a transform of torch.func"
                advice = "write this part of the network for a batch in one dense (or padded) tensor"
                raise AffscoreError(f"{described} runs {where}: {advice}")
            named = {key: value for key, value in kwargs.items() if key != "out"}
            apply, block = functions.as_function(function, args, named, lambda value: value is x), ""
            if not builtin and name in self.chosen.names:
                one = x.narrow(self.layout.place(x).image_axis, 0, 1) if x.ndim else x
                if module is not None:
                    block = kind_of_block(module, apply, one)
                elif name not in self.ran:
                    check_elementwise(described, apply, one)
                self.ran.add(name)
            if block and not (x.is_floating_point() and x.ndim > 1):
                lacks = "takes no real numbers that depend on the samples; declare the module that does"
                raise AffscoreError(f"{described} was declared as a block, and {lacks}")
            event = Event(apply, (x,), {}, [x], [self.flow.origin(x)], effect=Effect(True, True))
            step = None if block else self.formulas.step(event)
            with self.activation(self.new_call(name, x, block, builtin), x, apply, step) as returned:
                yield returned

    @contextmanager
    def activation(self, call: ActivationCall, x: Tensor, apply: Function, step: Step | None) -> Iterator[list[Any]]:
        """While an activation (or a block) runs, which the listener receives: its output is appended.

        One that returns none has overwritten its input; one that raises is forgotten.
        """
        self.calls.append(call)
        self._counts[call.layer] += 1
        returned: list[Any] = []
        seen = x.clone() if call.block and not self.layout.knows(x) else None
        self.listener.before(call, x, apply)
        try:
            yield returned
        except BaseException:  # which the network may catch
            self.forget(call)
            raise
        y = next((output for output in returned if output is not None), x)
        if not call.block and (not isinstance(y, Tensor) or y.shape != x.shape):
            got = tuple(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise AffscoreError(f"{call} must return a tensor of its input's shape {tuple(x.shape)}, got {got}")
        if isinstance(y, Tensor) and address(y) == address(x):
            self.flow.overwritten(y)
        outputs = [one for one in tensors_in(y) if one.is_floating_point()] if call.block else [y]
        if seen is not None:
            self.place_again(call, self.layout.place(x), seen, apply)
        for tensor in outputs:
            self.layout.observe(Event(torch.clone, (x,), {}, [x], [self.flow.origin(x)]), tensor)
            origin = Origin(call.depth, call.index, call.index, layers=call.layers + call.block)
            self.flow.mark(tensor, origin, part=not call.block)
        if call.block:
            self._check_block(call, outputs)
        self.listener.after(call, outputs[0])
        if step is not None:
            step.call = call
            self.formulas.bind(step, y)

    def new_call(self, name: str, x: Tensor, block: str = "", builtin: bool = False) -> ActivationCall:
        """The call that is about to see x; ``block`` is the kind of one."""
        origin = self.flow.origin(x)
        assert origin is not None
        layer = self.frame[0] or "(root)"
        return ActivationCall(
            index=len(self.calls),
            layer=layer,
            call=self._counts[layer],
            activation=name,
            depth=origin.depth + 1,
            layers=origin.layers,
            kind=block or ("after-sum" if origin.summed else "hidden"),
            upstream=origin.last_activation,
            builtin=builtin,
            shape=tuple(x.shape),
            within=tuple(self.path),
            block=bool(block),
            **vars(self.layout.place(x)),
        )

    def place_again(self, call: ActivationCall, place: Place, x: Tensor, apply: Function) -> None:
        """A block has run, and now it is known where the channels of its input x are: the listener hears of it anew."""
        if any(getattr(call, name) != value for name, value in vars(place).items()):
            vars(call).update(vars(place))
            self.listener.forget(call)
            self.listener.before(call, x, apply)

    def _check_block(self, call: ActivationCall, outputs: Sequence[Tensor]) -> None:
        """Look at what a module that was declared, and is not elementwise, has returned."""
        if not outputs or outputs[0].ndim < 2:
            raise AffscoreError(f"{call} counts as a block, and must return a tensor of numbers for each sample")
        call.output = self.layout.place(outputs[0])
        if call.output.channels != call.channels:
            widths = f"has width {call.channels} before and {call.output.channels} after"
            advice = "declare another module, or use units='blocks', whose criterion affine_fit takes both"
            raise AffscoreError(f"{call} was declared as a block, and {widths}: {advice}")

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
        if function in functions.RECURRENT:
            self.unseen.add(function.__name__)
        if function in functions.CHANNEL_AXES and function not in functions.NORMS:
            origin = replace(origin, layers=origin.layers + 1)
        elif event.sums:
            origin = replace(origin, summed=True)
        # item assignment returns nothing and writes into its first argument
        outputs = inputs[:1] if changed is None else tensors_in(changed)
        shared = {address(tensor) for tensor in inputs}
        in_place = writes_in_place(function)
        for tensor in outputs:
            if in_place or event.kwargs.get("out") is not None:
                self.flow.overwritten(tensor)
            if in_place and changed is None and not tensors_in(event.args[1]):
                value = next((of for one, of in zip(inputs, origins, strict=True) if one is event.args[2]), None)
                part = tensor[event.args[1]] if value is not None else tensor
                self.flow.mark(part, value or origin, part=True)
            elif in_place or address(tensor) not in shared:
                self.flow.mark(tensor, origin, part=in_place)
            if tensor.layout is torch.strided and not any(one.is_nested for one in (tensor, *inputs)):
                self.layout.observe(event, tensor)
