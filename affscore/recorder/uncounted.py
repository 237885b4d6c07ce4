"""Elementwise functions that bend features and are not counted as activations: a sine, an exponential, a square."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakIdKeyDictionary

from affscore.errors import AffscoreError, guarded
from affscore.recorder import functions
from affscore.recorder.calls import Event, Follower, Kernels
from affscore.recorder.dataflow import Dataflow, Origin, address, below_transforms, tensors_in
from affscore.recorder.effects import bends, check_elementwise, is_whole
from affscore.recorder.formulas import Step, evaluated, single_source
from affscore.recorder.functions import kind_of
from affscore.recorder.recorder import Recorder

_WRITTEN = {"rdiv": "1 / x", "rtruediv": "1 / x", "ipow": "torch.pow", "rpow": "torch.pow", "setitem": "x[...] = y"}
_LAYERS = 3


@dataclass(eq=False)
class _Bend:
    """One call of such a function, and what became of its output.

    Attributes:
        written: The function as a reader would write it.
        frame: The innermost module that was running, and the index of its run or of that of its hook.
        step: How its output was computed.
        declarable: Whether the function alone bends, and could be declared.
        owner: The class of the module, if that is elementwise as a whole, or "".
        used, read: Whether features were computed from the output, maybe by later calls; whether anything was.
        explained: Whether it is a part of a softmax, or an activation that has a score.
    """

    written: str
    frame: tuple[str, int]
    step: Step | None
    declarable: bool = False
    owner: str = ""
    used: bool = False
    read: bool = False
    explained: bool = False

    @property
    def counts(self) -> bool:
        """Whether it bends features, and is no part of a norm, a variance, a softmax or an activation that counts."""
        part = self.explained or (self.step is not None and self.step.in_activation)
        return not part and (self.used or not self.read)


class _Tag(NamedTuple):
    """What a tensor is: the output of these calls, at most scaled since; a statistic; one of which a scale was made.

    Of booleans and integers ``choice`` is the function that made them of features, and of how many.
    """

    bends: frozenset[_Bend] = frozenset()
    statistic: bool = False
    scale: bool = False
    choice: tuple[str, int] | None = None


_NOTHING = _Tag()


class Uncounted(Follower):
    """Sees which elementwise functions bend features, apart from the activations of a recorder.

    Whether a function bends is tried (:mod:`affscore.recorder.effects`), not looked up. A function of what does
    not depend on the input, or of a statistic (a mean, a variance, a norm), is none of them, and neither is one from
    which only statistics are computed that scale (the square of a norm or a variance), or the exponential of a softmax.
    Enter it inside of :func:`affscore.recorder.recording`, with its recorder.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._bends: list[_Bend] = []
        self._tags = WeakIdKeyDictionary()

    def __enter__(self) -> Self:
        self.recorder.followers.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        self.recorder.followers.remove(self)

    @property
    def sentence(self) -> str:
        """Which functions these are, where, and the line that declares them; empty if there are none."""
        counted = [bend for bend in self._bends if bend.counts]
        places: dict[str, Counter[str]] = defaultdict(Counter)
        for bend in counted:
            places[bend.written][bend.frame[0] or "(root)"] += 1
        found = []
        for name, layers in places.items():
            calls, more = layers.total(), len(layers) - _LAYERS
            where = ", ".join(map(repr, list(layers)[:_LAYERS])) + (f" and {more} more" if more > 0 else "")
            found.append(f"{name} in layer{'s' * (len(layers) > 1)} {where} ({calls} call{'s' * (calls > 1)})")
        elsewhere = {bend.written for bend in self._bends if bend not in counted}
        return f"{', '.join(found)}; {_advice(counted, elsewhere)}" if found else ""

    def after(self, event: Event) -> None:
        """See whether the function bends features, and what became of earlier ones."""
        recorder, data = self.recorder, event.data
        output = event.args[0] if event.output is None else event.output  # item assignment returns nothing
        tags = [self._tags.get(tensor, _NOTHING) for tensor in data]
        frame = recorder.frame[0], recorder.hook or recorder.frame[1]
        step = recorder.formulas.step_of(output) if isinstance(output, Tensor) else None
        if event.call is not None:
            self._use(*tags)
            if recorder.hook is not None:  # which may hand on nothing of it
                self._bends.append(bend := _Bend(event.call.activation, frame, step, read=True, explained=True))
                self._tags[output] = _Tag(frozenset([bend]))
            return
        features = isinstance(output, Tensor) and not is_whole(output) and output.numel() > 1 and not tags[0].statistic
        new = None
        if features and (name := self._bending(event, step, output)):
            alone = step is None or step.effect.bends
            written = _WRITTEN.get(name, "x * x" if name in functions.PRODUCTS and alone else f"torch.{name}")
            itself = event.effect.bends and name == kind_of(event.function)
            known = hasattr(torch, written.removeprefix("torch.")) and not data[0].is_complex()
            declarable = itself and known and output.is_floating_point() and name not in functions.STATISTICS
            self._bends.append(new := _Bend(written, frame, step, declarable))
        self._follow(event, new, tags, output)

    def _bending(self, event: Event, step: Step | None, output: Tensor) -> str:
        """The name of the function that bends features, if one does: this one, or one whose output it has taken in."""
        elementwise, name = event.effect.elementwise, kind_of(event.function)
        if event.effect.bends:
            return name
        if any(tensor.is_quantized for tensor in event.tensors):
            return name if event.function in functions.ACTIVATIONS else ""
        source, inside = (single_source(step) if step is not None and elementwise else None) or (None, [])
        if step is None or source is None or not inside:
            return self._choosing(event, output)
        if any(s.call or (s.effect.bends and s.numbers) for s in inside):
            return ""
        with suppress(Exception), below_transforms(output):  # as many numbers as the mask of these features needs, say
            if not bends(lambda z: evaluated(step, {source: z}), output):
                return ""
        choice = next((s for s in inside if s.effect.bends), step)
        return kind_of((choice if len(step.sources) == 1 else step).function)

    def _choosing(self, event: Event, output: Tensor) -> str:
        """The name of the function that made a mask or indices of features, by which others are chosen here."""
        features = not all(map(is_whole, event.data))
        for tensor, origin in zip(event.tensors, event.origins, strict=True):
            if origin is None or (choice := self._tags.get(tensor, _NOTHING).choice) is None:
                continue
            # integers may say which expert a sample goes to: to choose among entries it takes one for each
            each = tensor.dtype is torch.bool or choice[1] == (output if features else tensor).numel()
            # masks of the input itself say what is padding
            if (origin.layers and each) or (tensor.dtype is torch.bool and not event.effect.elementwise):
                return choice[0]
        return ""

    def _choice(self, event: Event, tags: list[_Tag], output: Tensor) -> tuple[str, int] | None:
        """What made booleans or integers of features, and of how many."""
        if event.effect.bends:
            return kind_of(event.function), output.numel()
        known = next((tag.choice for tag in tags if tag.choice), None)
        return (known[0], output.numel()) if known and output.dtype is torch.bool else known

    def _follow(self, event: Event, bend: _Bend | None, tags: list[_Tag], output: Any) -> None:
        """Note what the output is."""
        outputs, name = tensors_in(output), kind_of(event.function)
        choice = self._choice(event, tags, outputs[0]) if outputs and is_whole(outputs[0]) else None
        elementwise = event.effect.elementwise
        if bend is not None:
            tag = _Tag(_bends_of(tags) | {bend})
        elif not elementwise and _is_statistic(name, outputs):
            tag = _Tag(_bends_of(tags), statistic=True)
            for earlier in tag.bends:
                earlier.read = True
        elif elementwise:
            tag = self._combined(event, tags)
        elif name in functions.RESHAPES or any(address(tensor) == address(event.data[0]) for tensor in outputs):
            tag = tags[0]
        else:
            self._use(*tags)
            tag, outputs = _NOTHING, outputs if choice else []
        for tensor in outputs:
            self._tags[tensor] = tag._replace(choice=choice) if choice and not tag.statistic else tag

    def _combined(self, event: Event, tags: list[_Tag]) -> _Tag:
        """What an elementwise function makes of features and statistics."""
        name, full = kind_of(event.function), [tag for tag in tags if not tag.statistic]
        if not full:
            chooses = isinstance(event.output, Tensor) and event.output.dtype is torch.bool
            scale = chooses or event.effect.bends or name in functions.QUOTIENTS or any(tag.scale for tag in tags)
            return _Tag(_bends_of(tags), statistic=True, scale=scale)
        features = _bends_of(full)
        for tag in tags:
            if tag.statistic and name in functions.PRODUCTS | functions.QUOTIENTS:
                for bend in tag.bends & features:  # e / e.sum()
                    bend.explained |= bend.written.startswith("torch.exp")
            if tag.statistic and not tag.scale and name not in functions.QUOTIENTS:
                self._use(_Tag(tag.bends - features))
        if all(tag.bends for tag in full) or len(full) == 1:
            return _Tag(features)
        self._use(*full)
        return _NOTHING

    def _use(self, *tags: _Tag) -> None:
        """Features are computed from these."""
        for tag in tags:
            for bend in tag.bends:
                bend.read = True
                bend.used |= not tag.scale

    def watched(self, run: int) -> None:
        """What such a hook computed counts only where it is used later."""
        for bend in self._bends:
            if bend.frame[1] == run:
                bend.read, bend.used, bend.explained, bend.declarable = True, False, False, False

    def left(self, module: nn.Module, args: Any, output: Any) -> None:
        """See whether a module is elementwise as a whole: then its class can be declared."""
        if not self.recorder.attentive:
            return
        frame = self.recorder.frame
        with self.recorder.aside:
            if not frame[0]:
                self._use(*(self._tags.get(tensor, _NOTHING) for tensor in tensors_in(output)))
            mine = [bend for bend in self._bends if bend.frame == frame]
            if not mine or len(args) != 1 or not isinstance(args[0], Tensor) or not args[0].is_floating_point():
                return
            with suppress(AffscoreError):
                guarded(lambda: check_elementwise("", module.forward, args[0]), "")
                for bend in mine:
                    bend.owner = type(module).__name__


class BelowPython(Kernels):
    """Counts the kernels that bend features and that no function which Python calls shows.

    TorchScript, operators written in C++ and custom kernels go past the functions that a recorder watches. Enter it
    inside of :func:`affscore.recorder.recording`.

    Args:
        recorder: It knows which functions run, and which kernels it asked for itself.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(self._listen)
        self.recorder, self._flow = recorder, Dataflow()
        self._missed: Counter[str] = Counter()

    @property
    def missed(self) -> str:
        """How often each kernel ran unseen; empty if none did."""
        return ", ".join(f"{count} x {kernel}" for kernel, count in sorted(self._missed.items()))

    def _listen(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        recorder = self.recorder
        if not recorder.attentive:
            return
        with recorder.aside:
            tensors = [t for t in tensors_in((args, kwargs)) if t in recorder.flow or t in self._flow]
            for tensor in tensors_in(output) if tensors else ():
                self._flow.mark(tensor, Origin(0))
            x = max((t for t in tensors if t.is_floating_point()), key=Tensor.numel, default=None)
            if x is not None and recorder.effects.of(kernel, args, kwargs, x).bends:
                self._missed[kind_of(kernel)] += 1


def _bends_of(tags: Iterable[_Tag]) -> frozenset[_Bend]:
    return frozenset[_Bend]().union(*(tag.bends for tag in tags))


def _is_statistic(name: str, outputs: list[Tensor]) -> bool:
    """Whether entries were summed up: a mean, a norm, or a pooling that leaves one position."""
    return bool(outputs) and name in functions.STATISTICS and ("pool" not in name or set(outputs[0].shape[2:]) <= {1})


def _advice(counted: Sequence[_Bend], elsewhere: set[str]) -> str:
    """How to count these: by declaring their modules' classes, or the functions where they only occur so."""
    owners = dict.fromkeys(bend.owner for bend in counted if bend.owner)
    rest = [bend for bend in counted if not bend.owner]
    alone = dict.fromkeys(bend.written for bend in rest if bend.declarable and bend.written not in elsewhere)
    others = " and ".join(dict.fromkeys(bend.written for bend in rest if bend.written not in alone))
    entries, them = ", ".join([*owners, *alone]), "it" if len(counted) == 1 else "them"
    advice = [f"activations=[{entries}] counts {them}"] if entries else []
    if others:
        advice.append(f"to count {others}, put it into a module of its own and declare its class")
    return "; ".join(advice)
