"""Finds the blocks of a running network: modules that are scored as a whole, while what is inside them counts, too."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, NoReturn

from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.recorder.axes import ASSUMED, CHANNEL, Place
from affscore.recorder.calls import ActivationCall, Event, Follower
from affscore.recorder.dataflow import address, is_wrapped, tensors_in
from affscore.recorder.kinds import (
    ATTENDING,
    ATTENTION,
    LINEAR,
    NORMALISATION,
    POOLING,
    is_made_of_linear_layers,
    kind_by_class,
    may_be_a_block,
)
from affscore.recorder.recorder import Recorder

LARGEST_INPUT = 4096
"""A network whose input has more numbers a sample is no block: no affine map of so many is found by samples."""


@dataclass(eq=False)
class _Run:
    """A run of a module that may turn out to be a block.

    Attributes:
        call: Its call, whose kind is known at the end.
        given: Where the numbers of its other arguments are.
        shapes: The shapes of the tensors that it adds, where neither of the two is one of its other arguments.
        sums: Whether one of these is the shape of its output.
        skips: Whether one of two tensors that it adds has gone through layers inside it, and the other through none.
        attends: Whether it calls a function that is attention.
        problem: Why it has no score.
        seen: Its input, and the numbers of it as they were, where nothing before says where the channels are.
    """

    call: ActivationCall
    given: frozenset[int]
    shapes: set[tuple[int, ...]] = field(default_factory=set)
    sums: bool = False
    skips: bool = False
    attends: bool = False
    problem: str = ""
    seen: tuple[Tensor, Tensor] | None = None

    @property
    def frame(self) -> tuple[str, int]:
        """The module, and the index of its run."""
        return self.call.within[-1]


class Blocks(Follower):
    """The runs of a network's modules, and which of them are blocks.

    A block takes a tensor of real numbers that depends on the network's input, X, and returns one, Y: the first of its
    arguments, and the first of what it returns. Its kind is

    * "network": the network itself, if its input has at most 4,096 numbers a sample;
    * "residual": in its own forward two tensors of the shape of its output are added that both depend on the input.
      Where one of them is handed over beside the first argument, as to a module that only adds, the block is the module
      around it;
    * "attention": by its class, or since it calls a function that is; of one width, with no residual sum inside, of
      whatever shape (of windows, say): none of what has gone through layers inside it and what has gone through none;
    * "mlp": two or more linear layers, at least one activation, nothing else that has weights; of one width;
    * "normalisation", "pooling", "linear": by its class (:func:`affscore.recorder.kinds.kind_by_class`),
      if no activation runs inside.

    Of attention within attention, and so on, only the outermost counts. Functions are not seen: a mean over positions
    in the forward of a network is no pooling, and what the network's own forward adds is no residual block.

    Args:
        recorder: Watches the network.
        modules: By their paths those that are no activations as a whole.
    """

    def __init__(self, recorder: Recorder, modules: Mapping[str, nn.Module]) -> None:
        self.recorder = recorder
        self._modules = {path: module for path, module in modules.items() if not path or may_be_a_block(module)}
        self._by_class = {path: kind_by_class(module) for path, module in self._modules.items()}

    def begin(self, calls: list[ActivationCall]) -> None:
        """A forward pass begins."""
        self._open: list[_Run | None] = []
        self._counts: Counter[str] = Counter()
        self._finished: list[_Run] = []
        self.notes: list[str] = []

    def entered(self, path: str, args: Any, kwargs: Any) -> None:
        """A module begins to run."""
        recorder, module = self.recorder, self._modules.get(path)
        self._open.append(None)
        if module is None or not recorder.attentive:
            return
        with recorder.aside:
            tensors = tensors_in((args, kwargs))
            x = first_numbers(recorder, tensors)
            if x is None:
                return
            if not path and (numbers := x[:1].numel()) > LARGEST_INPUT:
                size = f"its input has {numbers} numbers a sample, more than {LARGEST_INPUT}"
                fit = "the least-squares fit of so many needs more samples than that"
                self.notes.append(f"the network as a whole has no row: {size}, and {fit}")
                return
            name, kind = type(module).__name__.lower(), "block" if path else "network"
            axis = recorder.channel_axes[path] if self._by_class[path] in (LINEAR, NORMALISATION) else None
            place = recorder.layout.place(x, axis)
            call = replace(recorder.new_call(name, x, kind), call=self._counts[path], **vars(place))
            self._counts[path] += 1
            self._open[-1] = run = _Run(call, frozenset(map(address, tensors)) - {address(x)})
            try:
                recorder.listener.before(call, x, not_a_function)
            except AffscoreError as error:
                run.problem = str(error)
            if path and not recorder.layout.knows(x):
                run.seen = x, x.clone()

    def left(self, module: nn.Module, args: Any, output: Any) -> None:
        """The module that began last has run, or failed, and returned nothing."""
        run = self._open.pop()
        if run is None:
            return
        recorder, call = self.recorder, run.call
        with recorder.aside:
            y = first_numbers(recorder, tensors_in(output))
            if y is None:
                recorder.listener.forget(call)
                return
            origin = recorder.flow.origin(y)
            assert origin is not None
            call.output, call.depth = recorder.layout.place(y), max(1, origin.depth)
            run.sums = tuple(y.shape) in run.shapes and bool(run.frame[0])
            if not run.problem:
                try:
                    if run.seen is not None:
                        place = self._place_before(run.seen[0], y, self._by_class[run.frame[0]] == LINEAR)
                        recorder.place_again(call, place, run.seen[1], not_a_function)
                    recorder.listener.after(call, y)
                except AffscoreError as error:
                    run.problem = str(error)
                    recorder.listener.forget(call)
            run.seen = None
            self._finished.append(run)

    def _place_before(self, x: Tensor, y: Tensor, linear: bool) -> Place:
        """Where the channels of an input are, which what ran inside may have said; else where the output has them."""
        layout = self.recorder.layout
        if layout.knows(x) or not layout.knows(y) or x.ndim != y.ndim:
            return layout.place(x)
        return layout.place(x, layout.place(y).channel_axis, CHANNEL if linear or x.shape == y.shape else ASSUMED)

    def after(self, event: Event) -> None:
        """See whether it is attention, or adds a shortcut."""
        if event.function in ATTENDING and self._open and self._open[-1] is not None:
            self._open[-1].attends = True
        if not event.adds_a_shortcut:
            return
        there, layers = {address(term) for term in event.tensors}, [origin.layers for origin in event.origins if origin]
        for run in reversed(self._open):
            if run is None:  # a module that is none, as one that looks up vectors of tokens
                return
            if not run.given & there:
                run.shapes.add(tuple(event.tensors[0].shape))
                run.skips |= min(layers) == run.call.layers < max(layers)
                return

    def end(self, activations: list[ActivationCall]) -> list[ActivationCall]:
        """The calls of blocks and activations in the order in which they began; their indices and kinds are changed.

        What is no block is forgotten.
        """
        runs = sorted(self._finished, key=lambda run: run.frame[1])
        inside = defaultdict[tuple[str, int], set[str]](set)  # the kinds of activations in each run
        for call in activations:
            for frame in call.within:
                inside[frame].add(call.kind)
        around = {frame for run in runs if run.sums or run.skips for frame in run.call.within[:-1]}
        kinds, blocks = dict[tuple[str, int], str](), list[ActivationCall]()
        for run in runs:
            kind = self._kind(run, inside[run.frame], run.frame in around)
            again = kind != "residual" and any(kinds.get(frame) == kind for frame in run.call.within[:-1])
            if not kind or again:
                self.recorder.listener.forget(run.call)
                continue
            run.call.kind = kinds[run.frame] = kind
            if run.problem:
                self.notes.append(f"{run.call} has no score: {run.problem}")
            else:
                blocks.append(run.call)
        found = sorted([*blocks, *activations], key=attrgetter("index"))  # a block before the activation inside
        places = {call.index: place for place, call in enumerate(found)}
        for place, call in enumerate(found):
            call.index, call.upstream = place, None if call.upstream is None else places[call.upstream]
            call.kind = call.kind if call.block else "activation"
        return found

    def _kind(self, run: _Run, inside: set[str], around: bool) -> str:
        """What a run is, in which activations of these kinds run; around a residual sum in a module inside or not."""
        path = run.frame[0]
        by_class = self._by_class[path]
        if not path:
            return "network"
        if run.sums:
            return "residual"
        if by_class in (NORMALISATION, POOLING, LINEAR):
            return "" if inside else by_class
        if around or run.skips or run.call.output is None or run.call.output.channels != run.call.channels:
            return ""
        if by_class == ATTENTION or run.attends:
            return ATTENTION
        plain = inside and inside.isdisjoint(("gate", "squeeze")) and is_made_of_linear_layers(self._modules[path])
        return "mlp" if plain else ""


def first_numbers(recorder: Recorder, tensors: Iterable[Tensor]) -> Tensor | None:
    """The first tensor of real numbers that depends on the network's input, and has samples and something of each."""
    found = (t for t in tensors if t.ndim > 1 and t.numel() and t.is_floating_point() and t in recorder.flow)
    return next((tensor for tensor in found if not is_wrapped(tensor)), None)


def not_a_function(z: Tensor) -> NoReturn:
    """In place of the function of a block, which is none of vectors of channels."""
    raise AffscoreError("a block is no function of vectors of channels")
