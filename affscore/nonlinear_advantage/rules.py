"""How many paths lead to each entry of a tensor, and what each function of PyTorch makes of them.

A function is known by its name without underscores, as in :mod:`affscore.recorder.functions`. What has no rule
here loses the paths, and the caller hears of it where they would have led to the output.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from affscore.recorder.axes import form
from affscore.recorder.calls import Event
from affscore.recorder.dataflow import tensors_in
from affscore.recorder.functions import (
    CASTS,
    COPIES,
    DIVISIONS,
    DROPOUTS,
    MOVES,
    PRODUCTS,
    activation_name,
    as_function,
    kind_of,
    set_of,
)

NUMBERS = ("paths", "length", "expected")
"""What is counted."""

FILLS = {"setitem": (2,), "pad": (3,), "constant_pad_nd": (2,), "masked_fill": (2,), "where": (1, 2)}
"""Where these have a constant that stands where no entry is."""

SAME = set_of(
    "batch_norm layer_norm group_norm instance_norm rms_norm local_response_norm normalize neg negative positive pos "
    "requires_grad"
).union(COPIES, CASTS, DROPOUTS, DIVISIONS)
"""Each entry stays where it is: normalisations mix nothing here, as in the table of the paper's recursion."""

SUMS = set_of("add iadd radd sub isub rsub subtract")
MATRICES = set_of("matmul bmm mm addmm baddbmm einsum")
WEIGHTS = ("sigmoid", "hardsigmoid")
"""Activations whose outputs are weights, as those of softmax are."""

CONVOLUTION = re.compile(r"conv(_transpose)?([123])d")
POOLING = re.compile(r"(adaptive_)?(avg|max)_pool([123])d|interpolate|upsample(_nearest|_bilinear)?")


@dataclass(frozen=True)
class Counts:
    """Of each entry of a tensor, with its shape, in float64.

    Attributes:
        paths: The logarithm of the number of paths that end here; minus infinity for an entry that no path reaches.
        length: The mean number of units over these paths, each counting the same: the total over the number, T / P.
        expected: The mean over a walk back to the input that takes each branch of an addition with the same
            probability, and each channel that is mixed, N.
        weights: Whether these are weights by which something else is multiplied: outputs of softmax or a sigmoid.
        lost: The operation after which nobody knows; the numbers mean nothing then.

    >>> both = Counts.start(torch.zeros(2)).met(torch.ones(2)).merged(Counts.start(torch.zeros(2)))
    >>> both.paths.exp().tolist(), both.length.tolist(), both.expected.tolist()
    ([2.0, 2.0], [0.5, 0.5], [0.5, 0.5])
    """

    paths: Tensor
    length: Tensor
    expected: Tensor
    weights: bool = False
    lost: str = ""

    @classmethod
    def start(cls, x: Tensor, lost: str = "") -> Counts:
        """Those of the input: one path, which has met nothing."""
        zeros = torch.zeros(x.shape, dtype=torch.float64, device=x.device)
        return cls(zeros, zeros, zeros, lost=lost)

    @property
    def shape(self) -> torch.Size:
        """That of the tensor."""
        return self.paths.shape

    def each(self, function: Callable[[Tensor], Tensor]) -> Counts:
        """The same function of the three."""
        return replace(self, paths=function(self.paths), length=function(self.length), expected=function(self.expected))

    def met(self, units: Tensor | float) -> Counts:
        """After units, 1 where one is non-linear and 0 where it is linear."""
        return replace(self, length=self.length + units, expected=self.expected + units, weights=False)

    def expand(self, shape: Sequence[int]) -> Counts:
        """Broadcast to a shape."""
        return self.each(lambda one: one.expand(shape))

    def merged(self, other: Counts) -> Counts:
        """After an addition of two branches: P and T add up, N is the mean over the branches that a path reaches."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in NUMBERS)
        paths, length, expected = (torch.stack(torch.broadcast_tensors(*pair)) for pair in pairs)
        return Counts(paths, length, expected, lost=self.lost or other.lost).mixed([0], keepdim=False)

    def mixed(self, axes: Sequence[int], keepdim: bool = True, positions: bool = False) -> Counts:
        """After entries were added up along axes: P and T add up, N is the mean over those that a path reaches.

        Where the axes are of positions, which multiply no paths, P is the mean, too.
        """
        axes = list(axes)
        reached = (self.paths > -torch.inf).double()
        largest = self.paths.amax(axes, keepdim=True).clamp_min(torch.finfo(torch.float64).min)
        share, number = (self.paths - largest).exp(), reached.sum(axes, keepdim).clamp_min(1)
        length = (share * self.length).sum(axes, keepdim) / share.sum(axes, keepdim).clamp_min(1e-300)
        expected = (reached * self.expected).sum(axes, keepdim) / number
        paths = torch.logsumexp(self.paths, axes, keepdim) - (number.log() if positions else 0)
        return Counts(paths, length, expected, positions and self.weights, self.lost)


class Call:
    """A function of PyTorch that has run, and what is known of the paths to its arguments.

    Args:
        event: Its call.
        known: The counts of the arguments that depend on the input, by the ``id`` of the tensor.

    Attributes:
        name: Of the function.
        argument: One by its name or its place.
        outputs: The tensors that it returned; for one that returns nothing, its first argument.
        given: The counts of the arguments that depend on the input, in their order.
        lost: The operation after which nobody knows those of one of them.
    """

    def __init__(self, event: Event, known: Mapping[int, Counts]) -> None:
        self.name, self.function, self.known = kind_of(event.function), event.function, known
        self.args, self.kwargs, self.argument = tuple(event.args), dict(event.kwargs), event.argument
        self.outputs = [self.args[0]] if event.output is None else tensors_in(event.output)
        self.given = [known[id(leaf)] for leaf in tree_leaves((self.args, self.kwargs)) if id(leaf) in known]
        self.lost = next((one.lost for one in self.given if one.lost), "")

    def counts(self, name: str, place: int) -> Counts | None:
        """The counts of an argument; None for what does not depend on the input."""
        return self.known.get(id(self.argument(name, place)))


def result_of(call: Call) -> Counts | list[Counts] | None:
    """The counts of what a function returns, of several things those of each; None where no rule says it.

    >>> x = torch.ones(1, 4)
    >>> event = Event(torch.sum, (x, 1), {}, [x], [None], output=x.sum(1))
    >>> result_of(Call(event, {id(x): Counts.start(x)})).paths.exp().tolist()
    [4.0]
    """
    name, shape = call.name, call.outputs[0].shape
    activation = activation_name(call.function, call.args, call.kwargs)
    if activation is not None:
        return _activation(call, activation)
    if name in MOVES:
        return _moved(call)
    if name in SUMS | PRODUCTS or (name == "addcmul" and len(call.given) == 1):
        return reduce(Counts.merged if name in SUMS else _product, call.given).expand(shape)
    if name == "copy":
        return call.given[-1].expand(shape) if call.counts("src", 1) else None
    if name in MATRICES:
        return _of_matrices(call)
    value = call.counts("value", 2)
    if name == "scaled_dot_product_attention":
        return value and value.mixed([-2], positions=True).expand(shape)
    if name == "multi_head_attention_forward" and value:
        features = value.mixed([-1]).expand(value.shape).mixed([-1]).mixed([0], positions=True).expand(shape)
        others = (Counts.start(one, lost="attention weights that are used as features") for one in call.outputs[1:])
        return [features, *(replace(one, weights=True) for one in others)]
    x = call.counts("input", 0)
    if x is None or (len(call.given) > 1 and name not in ("type_as", "interpolated")):
        return None
    if rule := RULES.get(name):
        return rule(call, x, shape)
    if found := CONVOLUTION.fullmatch(name):
        return _convolution(x, shape, int(found[2]), call.argument("groups", 6, 1))
    if found := POOLING.fullmatch(name):
        axes = int(found[3] or len(shape) - 2)
        return x.mixed(range(-axes, 0), positions=True).expand(shape)
    return None


def _reduced(call: Call, x: Counts, shape: torch.Size) -> Counts:
    dims = call.argument("dim", 1, call.kwargs.get("axis"))
    dims = range(len(x.shape)) if dims is None else [dims] if isinstance(dims, int) else dims
    return x.mixed(dims, call.argument("keepdim", 2, False), call.name != "sum") if len(x.shape) else x


RULES: dict[str, Callable[[Call, Counts, torch.Size], Counts]] = {
    **dict.fromkeys(SAME, lambda call, x, shape: x.expand(shape)),
    **dict.fromkeys(("mean", "amax", "amin", "sum"), _reduced),
    "interpolated": lambda call, x, shape: x.met((call.args[2] != 1).double()).expand(shape),
    "softmax": lambda call, x, shape: replace(x, weights=True),
    "log_softmax": lambda call, x, shape: replace(x, weights=False),
    "glu": lambda call, x, shape: x.each(lambda one: one.chunk(2, call.argument("dim", 1, -1))[0]),
    "linear": lambda call, x, shape: x.mixed([-1]).expand(shape),
    "embedding": lambda call, x, shape: x.each(lambda one: one.unsqueeze(-1).expand(shape)),
}
"""What is made of the counts of one argument."""


def _activation(call: Call, name: str) -> Counts | None:
    """Each unit counts 1, but for one with slope 1."""
    x = call.counts("input", 0)
    if x is None or call.counts("weight", 1):
        return None
    units: Tensor | float = 1.0
    if name == "leaky_relu":
        units = float(call.argument("negative_slope", 1, 0.01) != 1)
    elif name == "prelu":
        units = (call.argument("weight", 1).detach() != 1).double().view(-1, *[1] * (len(x.shape) - 2))
    return replace(x.met(units), weights=name in WEIGHTS)


def _product(one: Counts, other: Counts) -> Counts:
    """Of a gate and what it scales the latter counts; else both factors are branches, as in the derivative."""
    if one.weights != other.weights:
        kept = other if one.weights else one
        return kept.expand(torch.broadcast_shapes(one.shape, other.shape))
    return replace(one.merged(other), weights=one.weights)


def _of_matrices(call: Call) -> Counts | None:
    """Of a product of matrices, in the letters of ``einsum``: each factor is mixed along the letters that are gone.

    Where one of them is weights (attention) the paths go through the other, whose positions it brings together.
    """
    product = form(call.function, tensors_in((call.args, call.kwargs)), call.args, call.kwargs)
    if product is None or any(len(set(term)) < len(term) for term in product[1]):
        return None
    operands, terms, right = product
    found = [(term, call.known[id(one)]) for term, one in zip(terms, operands, strict=True) if id(one) in call.known]
    attention = len({counts.weights for _, counts in found}) == 2
    shape, ways = call.outputs[0].shape, []
    for term, counts in found:
        if attention and counts.weights:
            continue
        gone = [axis for axis, letter in enumerate(term) if letter not in right]
        one = counts.mixed(gone, keepdim=False, positions=attention) if gone else counts
        left = [letter for letter in term if letter in right]
        order = [left.index(letter) for letter in right if letter in left]
        new = tuple(slice(None) if letter in left else None for letter in right)
        ways.append(one.each(lambda tensor, order=order, new=new: tensor.permute(order)[new]).expand(shape))  # type: ignore[misc]
    if call.name.startswith(("add", "badd")) and (added := call.counts("input", 0)):
        ways.append(added.expand(shape))
    return reduce(Counts.merged, ways) if ways else None


def _moved(call: Call) -> Counts | list[Counts]:
    """Entries that have numbers, from 1, show where they went; 0 is a constant, to which no path leads."""
    target = call.args[0] if call.name == "setitem" else None

    def without_numbers(value: Any) -> Any:
        constant = isinstance(value, Tensor) and id(value) not in call.known
        zero = constant and (value.is_floating_point() or value is target)
        return torch.zeros_like(value, dtype=torch.float64) if zero else value

    fills = FILLS.get(call.name, ())
    args = [0.0 if place in fills and not isinstance(one, Tensor) else one for place, one in enumerate(call.args)]
    kwargs = {name: 0.0 if name == "value" else one for name, one in call.kwargs.items()}
    args, kwargs = tree_map(without_numbers, (args, kwargs))
    zero = call.given[0].paths.new_zeros(1)
    given = [Counts(zero - torch.inf, zero, zero), *(one.each(torch.flatten) for one in call.given)]
    columns = {name: torch.cat([getattr(one, name) for one in given]) for name in NUMBERS}
    whole = Counts(**columns, weights=all(one.weights for one in call.given), lost=call.lost)
    parts = torch.arange(len(whole.paths)).to(whole.paths)[1:].split([one.paths.numel() for one in call.given])
    numbers = (part.view(one.shape) for part, one in zip(parts, call.given, strict=True))
    moved = as_function(call.function, args, kwargs, lambda value: id(value) in call.known)(*numbers)
    return tree_map(lambda places: whole.each(lambda one: one[places.long()]), moved)


def _convolution(x: Counts, shape: Sequence[int], axes: int, groups: int) -> Counts:
    """Each group of channels is mixed; positions multiply no paths: an edge for each pair of channels."""
    channels = -axes - 1
    x = x.mixed(range(-axes, 0), positions=True).each(lambda one: one.unflatten(channels, (groups, -1)))
    x = x.mixed([channels], keepdim=False)
    return x.each(lambda one: one.repeat_interleave(shape[channels] // groups, channels).expand(shape))
