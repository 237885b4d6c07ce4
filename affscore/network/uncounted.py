"""Elementwise functions that bend features and are not counted as activations: a sine, an exponential, a square."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from affscore.errors import AffscoreError, guarded
from affscore.network.bends import CURVES, Bend, sentence
from affscore.network.dataflow import address, tensors_in
from affscore.network.declared import check_elementwise
from affscore.network.formulas import ELEMENTWISE, PRODUCTS, QUOTIENTS, Step, kind_of, single_source, writes_in_place

if TYPE_CHECKING:
    from affscore.network.mode import Recorder

__all__ = ["Uncounted"]

_CHOICES = frozenset("maximum minimum fmax fmin max min where masked_fill".split())
_SQUARES = ("square", "pow", "ipow", "float_power", *PRODUCTS)
_STATISTICS = frozenset(
    "mean sum nansum prod amax amin max min median var std var_mean std_mean norm vector_norm linalg_vector_norm "
    "linalg_norm logsumexp cumsum adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d "
    "avg_pool3d".split()
)
_SHAPES = frozenset("reshape reshape_as view view_as flatten unflatten permute transpose expand".split())


class _Tag(NamedTuple):
    """What a tensor is: the output of these calls, at most scaled since; a statistic; one of which a scale was made."""

    bends: frozenset[Bend] = frozenset()
    statistic: bool = False
    scale: bool = False


class Uncounted(TorchFunctionMode):
    """A mode that sees which elementwise functions bend features, apart from the activations of a recorder.

    A function of what does not depend on the input, or of a statistic (a mean, a variance, a norm), is none of them,
    and neither is one from which only statistics are computed that scale (the square of a norm or a variance), or
    the exponential of a softmax. Enter it inside of :func:`affscore.network.recorder.recording`.

    Args:
        recorder: It knows what depends on the network's input, and which calls it counts.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self._bends: list[Bend] = []
        self._tags: WeakIdKeyDictionary = WeakIdKeyDictionary()

    def __enter__(self) -> Self:
        self._hook = nn.modules.module.register_module_forward_hook(self._module_ran)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        self._hook.remove()
        super().__exit__(*error)

    @property
    def sentence(self) -> str:
        """Which functions these are, where, and the line that declares them; empty if there are none."""
        return sentence(self._bends)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs, recorder = kwargs or {}, self.recorder
        if not recorder.attentive:
            return func(*args, **kwargs)
        with recorder.aside():
            data = [tensor for tensor in tensors_in((args, kwargs)) if recorder.depends(tensor)]
            data = [tensor for tensor in data if tensor.is_floating_point()]
            tags = [self._tags.get(tensor, _Tag()) for tensor in data]
            origin = recorder.origin(data[0]) if data else None
            shape = data[0].shape if data else None
            last = recorder.calls[-1:]
        output = func(*args, **kwargs)
        if not data or (output is data[0] and not writes_in_place(func)):
            return output
        with recorder.aside():
            now = recorder.calls[-1:]
            if now and (not last or now[0] is not last[0]):
                inside = recorder.formula.inside if recorder.formula is not None else ()
                for bend in self._bends:
                    bend.part |= bend.step is not None and bend.step in inside
                self._use(*tags)
                return output
            name, new = kind_of(func), None
            if isinstance(output, Tensor) and output.shape == shape and output.numel() > 1 and not tags[0].statistic:
                step = recorder.step_of(output)
                if output.is_floating_point() and self._bends_features(name, args, kwargs, len(data), step):
                    new = Bend(name, recorder.path[-1] if recorder.path else ("", 0), step=step)
                    if origin is not None and origin.activation is not None and _is_square(name, args):
                        new.bent = recorder.calls[origin.activation].activation
                    self._bends.append(new)
            self._follow(name, new, data, tags, output)
        return output

    def _bends_features(
        self, name: str, args: Sequence[Any], kwargs: dict[str, Any], inputs: int, step: Step | None
    ) -> bool:
        if name in CURVES:
            exponent = args[1] if len(args) > 1 else kwargs.get("exponent")
            linear = "pow" in name and name != "rpow" and not isinstance(exponent, Tensor) and exponent in (0, 1)
            return inputs == 1 and not linear
        if name in ("div", "divide", "true_divide") and inputs == 1:
            divided = args[0] if args else kwargs.get("input")
            return not isinstance(divided, Tensor) or not self.recorder.depends(divided)  # 1 / x
        if step is None or step.function is None:
            return False
        if name in ("where", "masked_fill") and not any(
            isinstance(value, Tensor) and value.dtype is torch.bool and self.recorder.depends(value)
            for value in (*args, *kwargs.values())
        ):
            return False  # a mask
        found = single_source(step)
        if found is None or not (name in _CHOICES or (name in PRODUCTS | QUOTIENTS and inputs > 1)):
            return False
        return name in _CHOICES or not any(inner.kind in CURVES for inner in found[1])

    def _follow(self, name: str, bend: Bend | None, data: list[Tensor], tags: list[_Tag], output: Any) -> None:
        """Note what the output is."""
        everything = frozenset[Bend]().union(*(tag.bends for tag in tags))
        outputs = [tensor for tensor in tensors_in(output) if tensor.is_floating_point()]
        if bend is not None:
            for earlier in everything:
                earlier.read = True
                earlier.feeds.append(bend)
            tag = _Tag(frozenset({bend}))
        elif _is_statistic(name, data, outputs):
            for earlier in everything:
                earlier.read = True
            tag = _Tag(everything, statistic=True)
        elif name in ELEMENTWISE or name in CURVES:
            tag = self._combined(name, tags)
        elif name in _SHAPES or any(address(tensor) == address(data[0]) for tensor in outputs):
            tag = tags[0]
        else:
            self._use(*tags)
            return
        for tensor in outputs:
            self._tags[tensor] = tag

    def _combined(self, name: str, tags: list[_Tag]) -> _Tag:
        """What an elementwise function makes of features and statistics."""
        full = [tag for tag in tags if not tag.statistic]
        everything = frozenset[Bend]().union(*(tag.bends for tag in tags))
        if not full:
            scale = name in CURVES or name in QUOTIENTS or any(tag.scale for tag in tags)
            return _Tag(everything, statistic=True, scale=scale)
        features = frozenset[Bend]().union(*(tag.bends for tag in full))
        for tag in tags:
            if tag.statistic and name in PRODUCTS | QUOTIENTS:
                for bend in tag.bends & features:  # e / e.sum()
                    bend.part |= bend.function.startswith("exp")
            if tag.statistic and not tag.scale and name not in QUOTIENTS:
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
        frame = self.recorder.path[-1]
        with self.recorder.aside():
            if frame[0] == "":
                self._use(*(self._tags.get(tensor, _Tag()) for tensor in tensors_in(output)))
            mine = [bend for bend in self._bends if bend.frame == frame]
            if not mine or len(args) != 1 or not isinstance(args[0], Tensor) or not args[0].is_floating_point():
                return
            try:
                guarded(lambda: check_elementwise("", module.forward, args[0]), "")
            except AffscoreError:
                return
            for bend in mine:
                bend.owner = type(module).__name__


def _is_square(name: str, args: Sequence[Any]) -> bool:
    exponent = args[1] if len(args) > 1 else 2
    squares = not isinstance(exponent, Tensor) and exponent == 2
    return name in _SQUARES and (name not in ("pow", "ipow", "float_power") or squares)


def _is_statistic(name: str, data: list[Tensor], outputs: list[Tensor]) -> bool:
    """Whether entries were summed up: a mean, a norm, or a pooling that leaves one position."""
    if name not in _STATISTICS or not outputs or (name in _CHOICES and len(data) > 1):
        return False
    return "pool" not in name or all(size == 1 for size in outputs[0].shape[2:])
