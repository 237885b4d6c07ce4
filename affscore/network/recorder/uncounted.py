"""Elementwise functions that bend features and are not counted as activations: a sine, an exponential, a square."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from affscore.errors import AffscoreError, guarded
from affscore.network.recorder import functions
from affscore.network.recorder.dataflow import address, tensors_in
from affscore.network.recorder.declared import check_elementwise
from affscore.network.recorder.formulas import Step, single_source
from affscore.network.recorder.functions import Function, kind_of, writes_in_place
from affscore.network.recorder.recorder import Recorder

_WRITTEN = dict.fromkeys(functions.PRODUCTS, "x * x") | dict.fromkeys(("rdiv", "rtruediv"), "1 / x")
_WRITTEN |= dict.fromkeys(("ipow", "rpow"), "torch.pow")
_DECLARABLE = functions.CURVES | {"maximum", "minimum", "fmax", "fmin"}
_LAYERS = 3


@dataclass(eq=False)
class _Bend:
    """One call of such a function, and what became of its output.

    Attributes:
        name: As ``written``, and of what, where it squares the output of an activation.
        written: The function as a reader would write it.
        frame: The innermost module that was running, and the index of its run.
        step: How its output was computed.
        owner: The class of the module, if that is elementwise as a whole, or "".
        used, read: Whether features were computed from the output, maybe by later calls; whether anything was.
        in_softmax: Whether it is a part of a softmax.
    """

    name: str
    written: str
    frame: tuple[str, int]
    step: Step | None
    owner: str = ""
    used: bool = False
    read: bool = False
    in_softmax: bool = False

    @property
    def counts(self) -> bool:
        """Whether it bends features, and is no part of a norm, a variance, a softmax or an activation that counts."""
        part = self.in_softmax or (self.step is not None and self.step.in_activation)
        return not part and (self.used or not self.read)


class _Tag(NamedTuple):
    """What a tensor is: the output of these calls, at most scaled since; a statistic; one of which a scale was made."""

    bends: frozenset[_Bend] = frozenset()
    statistic: bool = False
    scale: bool = False


class Uncounted(TorchFunctionMode):
    """A mode that sees which elementwise functions bend features, apart from the activations of a recorder.

    A function of what does not depend on the input, or of a statistic (a mean, a variance, a norm), is none of them,
    and neither is one from which only statistics are computed that scale (the square of a norm or a variance), or
    the exponential of a softmax. Enter it inside of :func:`affscore.network.recorder.recording`, with its recorder.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self._bends: list[_Bend] = []
        self._tags = WeakIdKeyDictionary()

    def __enter__(self) -> Self:
        self._hook = nn.modules.module.register_module_forward_hook(self._module_ran)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        self._hook.remove()
        super().__exit__(*error)

    @property
    def sentence(self) -> str:
        """Which functions these are, where, and the line that declares them; empty if there are none."""
        counted = [bend for bend in self._bends if bend.counts]
        places: dict[str, Counter[str]] = defaultdict(Counter)
        for bend in counted:
            places[bend.name][bend.frame[0] or "(root)"] += 1
        found = []
        for name, layers in places.items():
            calls, more = layers.total(), len(layers) - _LAYERS
            where = ", ".join(map(repr, list(layers)[:_LAYERS])) + (f" and {more} more" if more > 0 else "")
            found.append(f"{name} in layer{'s' * (len(layers) > 1)} {where} ({calls} call{'s' * (calls > 1)})")
        elsewhere = {bend.written for bend in self._bends if bend not in counted}
        return f"{', '.join(found)}; {_advice(counted, elsewhere)}" if found else ""

    def __torch_function__(
        self, func: Function, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs, recorder = kwargs or {}, self.recorder
        if not recorder.attentive:
            return func(*args, **kwargs)
        with recorder.aside:
            data = [t for t in tensors_in((args, kwargs)) if t in recorder.flow and t.is_floating_point()]
            tags = [self._tags.get(tensor, _Tag()) for tensor in data]
            origin, shape = (recorder.flow.origin(data[0]), data[0].shape) if data else (None, None)
            last = recorder.calls[-1] if recorder.calls else None
        output = func(*args, **kwargs)
        if not data or (output is data[0] and not writes_in_place(func)):
            return output
        with recorder.aside:
            if recorder.calls and recorder.calls[-1] is not last:  # an activation that counts
                self._use(*tags)
                return output
            name, new = kind_of(func), None
            if isinstance(output, Tensor) and output.shape == shape and output.numel() > 1 and not tags[0].statistic:
                step = recorder.formulas.step_of(output)
                if output.is_floating_point() and self._bends_features(name, args, kwargs, len(data), step):
                    written = bent = _WRITTEN.get(name, f"torch.{name}")
                    if origin and origin.activation is not None and _exponent(name, args, kwargs) == 2:
                        bent += f" of the output of {recorder.calls[origin.activation].activation}"
                    new = _Bend(bent, written, recorder.frame, step)
                    self._bends.append(new)
            self._follow(name, new, data, tags, output)
        return output

    def _bends_features(
        self, name: str, args: Sequence[Any], kwargs: dict[str, Any], inputs: int, step: Step | None
    ) -> bool:
        if name in functions.CURVES:
            return inputs == 1 and _exponent(name, args, kwargs) not in (0, 1)
        if name in ("div", "divide", "true_divide") and inputs == 1:
            divided = args[0] if args else kwargs.get("input")
            return not isinstance(divided, Tensor) or divided not in self.recorder.flow  # 1 / x
        booleans = (tensor for tensor in tensors_in((args, kwargs)) if tensor.dtype is torch.bool)
        if name in ("where", "masked_fill") and not any(tensor in self.recorder.flow for tensor in booleans):
            return False  # a mask
        found = single_source(step) if step is not None else None
        if found is None or name in functions.CHOICES:
            return found is not None
        curved = any(inner.kind in functions.CURVES for inner in found[1])
        return name in functions.PRODUCTS | functions.QUOTIENTS and inputs > 1 and not curved

    def _follow(self, name: str, bend: _Bend | None, data: list[Tensor], tags: list[_Tag], output: Any) -> None:
        """Note what the output is."""
        outputs = [tensor for tensor in tensors_in(output) if tensor.is_floating_point()]
        if bend is not None:
            tag = _Tag(_bends_of(tags) | {bend})
        elif _is_statistic(name, data, outputs):
            tag = _Tag(_bends_of(tags), statistic=True)
            for earlier in tag.bends:
                earlier.read = True
        elif name in functions.ELEMENTWISE or name in functions.CURVES:
            tag = self._combined(name, tags)
        elif name in functions.RESHAPES or any(address(tensor) == address(data[0]) for tensor in outputs):
            tag = tags[0]
        else:
            self._use(*tags)
            return
        for tensor in outputs:
            self._tags[tensor] = tag

    def _combined(self, name: str, tags: list[_Tag]) -> _Tag:
        """What an elementwise function makes of features and statistics."""
        full = [tag for tag in tags if not tag.statistic]
        if not full:
            scale = name in functions.CURVES or name in functions.QUOTIENTS or any(tag.scale for tag in tags)
            return _Tag(_bends_of(tags), statistic=True, scale=scale)
        features = _bends_of(full)
        for tag in tags:
            if tag.statistic and name in functions.PRODUCTS | functions.QUOTIENTS:
                for bend in tag.bends & features:  # e / e.sum()
                    bend.in_softmax |= bend.written.startswith("torch.exp")
            if tag.statistic and not tag.scale and name not in functions.QUOTIENTS:
                self._use(_Tag(tag.bends - features))
        if all(tag.bends for tag in full) or len(full) == 1:
            return _Tag(features)
        self._use(*full)
        return _Tag()

    def _use(self, *tags: _Tag) -> None:
        """Features are computed from these."""
        for tag in tags:
            for bend in tag.bends:
                bend.read = True
                bend.used |= not tag.scale

    def _module_ran(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        """See whether a module is elementwise as a whole: then its class can be declared."""
        if not self.recorder.attentive or not self.recorder.path:
            return
        frame = self.recorder.frame
        with self.recorder.aside:
            if not frame[0]:
                self._use(*(self._tags.get(tensor, _Tag()) for tensor in tensors_in(output)))
            mine = [bend for bend in self._bends if bend.frame == frame]
            if not mine or len(args) != 1 or not isinstance(args[0], Tensor) or not args[0].is_floating_point():
                return
            with suppress(AffscoreError):
                guarded(lambda: check_elementwise("", module.forward, args[0]), "")
                for bend in mine:
                    bend.owner = type(module).__name__


def _bends_of(tags: Iterable[_Tag]) -> frozenset[_Bend]:
    return frozenset[_Bend]().union(*(tag.bends for tag in tags))


def _exponent(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The number to whose power this raises, or None."""
    if name == "square" or name in functions.PRODUCTS:
        return 2
    exponent = args[1] if len(args) > 1 else kwargs.get("exponent")
    return exponent if name in ("pow", "ipow", "float_power") and not isinstance(exponent, Tensor) else None


def _is_statistic(name: str, data: list[Tensor], outputs: list[Tensor]) -> bool:
    """Whether entries were summed up: a mean, a norm, or a pooling that leaves one position."""
    if name not in functions.STATISTICS or not outputs or (name in functions.CHOICES and len(data) > 1):
        return False
    return "pool" not in name or all(size == 1 for size in outputs[0].shape[2:])


def _advice(counted: Sequence[_Bend], elsewhere: set[str]) -> str:
    """How to count these: by declaring their modules' classes, or the functions where they only occur so."""
    owners = dict.fromkeys(bend.owner for bend in counted if bend.owner)
    rest = dict.fromkeys(bend.written for bend in counted if not bend.owner)
    alone = [name for name in rest if name.removeprefix("torch.") in _DECLARABLE and name not in elsewhere]
    advice, them = [], "it" if len(counted) == 1 else "them"
    if alone:
        entries = {owner.lower(): owner for owner in owners} | {name.removeprefix("torch."): name for name in alone}
        named = ", ".join(f'"{name}": {entry}' for name, entry in entries.items())
        advice.append(f"activations={{{named}}} counts {them}")
    elif owners:
        advice.append(f"activations=[{', '.join(owners)}] counts {them}")
    if others := [name for name in rest if name not in alone]:
        advice.append(f"to count {' and '.join(others)}, put it into a module of its own and declare its class")
    return "; ".join(advice)
