"""One call of an activation: where it was, what it is for, and who listens to it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from torch import Tensor, nn

from affscore.recorder.block_kinds import BLOCKS
from affscore.recorder.dataflow import Origin
from affscore.recorder.layout import Place

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
"""Places in a block. A module with more activations one behind the other is a stage of a network, and no block."""

KINDS = (*ORDINALS, "after-sum", "gate", "squeeze", "gated-unit", "hidden", "activation", *BLOCKS)

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


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
            * "first", "second", ..., its place in its block (:func:`affscore.recorder.calls.place_in_blocks`);
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


def find_gate(calls: Sequence[ActivationCall], factors: Sequence[Tensor], origins: Sequence[Origin | None]) -> None:
    """Note what a product says about the activations whose outputs are multiplied.

    A factor with one number for each channel, or one for each position, that scales a larger tensor is a
    gate, and the activation of one position before it is its squeeze. Of two factors of one size the later
    activation is a gated unit's.

    Args:
        calls: The activations so far.
        factors: What is multiplied.
        origins: Where each of them comes from.
    """
    if len(factors) != 2 or None in origins:
        return
    sizes = [_entries(factor) for factor in factors]
    outputs = {o.activation: size for o, size in zip(origins, sizes, strict=True) if o and o.activation is not None}
    if sizes[0] == sizes[1]:
        whole = [index for index, size in outputs.items() if math.prod(calls[index].shape) == size]
        if whole and origins[0] != origins[1]:
            calls[max(whole)].kind = "gated-unit"
        return
    for index, size in outputs.items():
        gate = calls[index]
        if size == min(sizes) and (gate.positions == 1 or 1 in gate.shape[1:]):
            gate.kind = "gate"
            if gate.upstream is not None and calls[gate.upstream].positions == 1:
                calls[gate.upstream].kind = "squeeze"


def place_in_blocks(calls: Sequence[ActivationCall], classes: Mapping[str, type], summing: Set[type]) -> None:
    """Say of hidden activations which they are in their block: "first", "second", ...

    A block is the innermost running module whose class adds a shortcut in its own forward; failing that,
    the innermost whose class occurs more than once and runs at least two activations one behind the other.
    Containers and the network itself are no blocks. Parallel branches share places, as they share depths.

    Args:
        calls: All activations of a forward pass; their kinds are changed.
        classes: The class of every module, by its path.
        summing: The classes that add two tensors of one shape that both depend on the input.
    """
    ordinary = [call for call in calls if call.kind not in ("squeeze", "gate")]
    depths: dict[tuple[str, int], set[int]] = defaultdict(set)
    for call in ordinary:
        for frame in call.within:
            depths[frame].add(call.depth)
    places: dict[type, int] = defaultdict(int)
    for (path, _), found in depths.items():
        places[classes[path]] = max(places[classes[path]], len(found))
    instances = Counter(classes[path] for path in {path for path, _ in depths})
    for call in (call for call in ordinary if call.kind == "hidden"):
        for path, run in reversed([frame for frame in call.within if frame[0]]):
            block = classes[path]
            has_places = 2 <= places[block] <= len(ORDINALS)
            if block not in _CONTAINERS and (block in summing or (instances[block] > 1 and has_places)):
                if has_places:
                    call.kind = ORDINALS[sorted(depths[path, run]).index(call.depth)]
                break


def _entries(tensor: Tensor) -> int:
    """How many different entries a tensor has: one that was expanded repeats its own."""
    return math.prod(size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride)
