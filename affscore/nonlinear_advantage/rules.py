"""What each function of PyTorch makes of the paths that lead to its arguments.

A function is known by its name without underscores, as in :mod:`affscore.recorder.functions`. What has no rule
here loses the paths, and the caller hears of it where they would have led to the output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from affscore.nonlinear_advantage.counts import Call, Counts, moved
from affscore.nonlinear_advantage.products import einsum_of, matrices_of, product_of
from affscore.recorder.functions import COPIES, MOVES, PRODUCTS, activation_name, writes_in_place


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


FILLS = {"setitem": (2,), "pad": (3,), "constant_pad_nd": (2,), "masked_fill": (2,), "where": (1, 2)}
"""Where these have a constant that stands where no entry is."""

SAME = COPIES | _names(
    "batch_norm layer_norm group_norm instance_norm rms_norm local_response_norm normalize dropout dropout1d dropout2d "
    "dropout3d alpha_dropout feature_dropout feature_alpha_dropout to type type_as float double half bfloat16 cpu cuda "
    "neg negative positive pos requires_grad"
)
"""Each entry stays where it is: normalisations mix nothing here, as in the table of the paper's recursion."""

SUMS = _names("add iadd radd sub isub rsub subtract")
QUOTIENTS = _names("div idiv divide true_divide truediv itruediv")
MATRICES = _names("matmul rmatmul bmm mm addmm baddbmm")
REDUCTIONS = {"mean": Counts.averaged, "amax": Counts.averaged, "amin": Counts.averaged, "sum": Counts.mixed}
WEIGHTS = ("sigmoid", "hardsigmoid")
"""Activations whose outputs are weights, as those of softmax are."""

CONVOLUTION = re.compile(r"conv(_transpose)?([123])d")
POOLING = re.compile(r"(adaptive_)?(avg|max)_pool([123])d|interpolate|upsample(_nearest|_bilinear)?")


def result_of(call: Call) -> Counts | list[Counts] | None:
    """The counts of what a function returns, of several things those of each; None where no rule says it.

    >>> x, counts = torch.ones(1, 4), Counts.start(torch.ones(1, 4))
    >>> of_x = lambda value: counts if value is x else None
    >>> call = Call("sum", torch.sum, (x, 1), {}, [x.sum(1)], [counts], of_x)
    >>> result_of(call).paths.exp().tolist()
    [4.0]
    """
    name, shape = call.name, call.output.shape
    activation = activation_name(call.function, call.args, call.kwargs)
    if activation is not None:
        return _activation(call, activation)
    if name in MOVES:
        return _moved(call)
    if name in SUMS:
        one, other = call.first, call.counts_of(call.argument("other", 1))
        return (one.merged(other) if one and other else call.given[0]).expand(shape)
    if name in PRODUCTS:
        one, other = call.first, call.counts_of(call.argument("other", 1))
        return (product_of(one, other) if one and other else call.given[0]).expand(shape)
    if name == "addcmul" and len(call.given) == 1:
        return call.given[0].expand(shape)
    if name == "copy":
        return call.given[-1].expand(shape) if call.counts_of(call.args[1]) else None
    if name in MATRICES:
        return matrices_of(call)
    if name == "einsum":
        return einsum_of(call)
    if name == "scaled_dot_product_attention":
        value = call.counts_of(call.argument("value", 2))
        return value and value.averaged([-2]).expand(shape)
    if name == "multi_head_attention_forward":
        value = call.counts_of(call.argument("value", 2))
        if value is None or len(value.shape) < 2:
            return None
        features = value.mixed([-1]).expand(value.shape).mixed([-1]).averaged([0]).expand(shape)
        others = (Counts.start(one, lost="attention weights that are used as features") for one in call.outputs[1:])
        return [features, *(replace(one, weights=True) for one in others)]
    x = call.first
    if x is None or (len(call.given) > 1 and name not in ("type_as", "interpolated")):
        return None
    if name in SAME or name in QUOTIENTS:
        return x.expand(shape)
    if name == "interpolated":
        return x.met((call.args[2] != 1).double()).expand(shape)
    if name in ("softmax", "log_softmax"):
        return replace(x, weights=name == "softmax")
    if name == "glu":
        return x.each(lambda one: one.chunk(2, call.argument("dim", 1, -1))[0])
    if name == "linear":
        return x.mixed([-1]).expand(shape)
    if name == "embedding":
        return x.each(lambda one: one.unsqueeze(-1).expand(shape))
    if name in REDUCTIONS:
        return _reduced(call, x)
    if found := CONVOLUTION.fullmatch(name):
        return _convolution(x, shape, int(found[2]), call.argument("groups", 6, 1))
    if found := POOLING.fullmatch(name):
        axes = int(found[3] or len(shape) - 2)
        return x.averaged(range(-axes, 0)).expand(shape)
    return None


def _activation(call: Call, name: str) -> Counts | None:
    """Each unit counts 1, but for one with slope 1."""
    x = call.first
    if x is None or call.counts_of(call.argument("weight", 1)):
        return None
    units: Tensor | float = 1.0
    if name == "leaky_relu":
        units = float(call.argument("negative_slope", 1, 0.01) != 1)
    elif name == "prelu":
        slopes = (call.argument("weight", 1).detach() != 1).double()
        units = slopes.view([-1, *[1] * (len(x.shape) - 2)]) if slopes.numel() > 1 else slopes
    return replace(x.met(units), weights=name in WEIGHTS)


def _moved(call: Call) -> Counts | list[Counts]:
    fills = FILLS.get(call.name, ())
    args = tuple(0.0 if place in fills and not isinstance(one, Tensor) else one for place, one in enumerate(call.args))
    kwargs = {name: 0.0 if name == "value" else one for name, one in call.kwargs.items()}
    target = call.args[0] if call.name == "setitem" else None
    given: list[Counts] = []

    def placed(value: Any) -> Any:
        counts = call.counts_of(value) if isinstance(value, Tensor) else None
        if counts is not None:
            given.append(counts)
            return _Place(len(given) - 1)
        if isinstance(value, Tensor) and (value.is_floating_point() or value is target):
            return torch.zeros_like(value, dtype=torch.float64)
        return value

    args, kwargs = tree_map(placed, args), tree_map(placed, kwargs)
    in_place = writes_in_place(call.function)

    def run(*numbers: Tensor) -> Any:
        def filled(value: Any) -> Any:
            return numbers[value.number] if isinstance(value, _Place) else value

        arguments = tree_map(filled, args)
        output = call.function(*arguments, **tree_map(filled, kwargs))
        return arguments[0] if in_place else output

    return moved(run, given)


@dataclass(frozen=True)
class _Place:
    """Stands for a tensor among the arguments of a function."""

    number: int


def _reduced(call: Call, x: Counts) -> Counts | None:
    dims = call.argument("dim", 1, call.kwargs.get("axis"))
    dims = range(len(x.shape)) if dims is None else [dims] if isinstance(dims, int) else dims
    return REDUCTIONS[call.name](x, list(dims), call.argument("keepdim", 2, False)) if len(x.shape) else x


def _convolution(x: Counts, shape: Sequence[int], axes: int, groups: int) -> Counts:
    """Each group of channels is mixed; positions multiply no paths: an edge for each pair of channels."""
    x = x.averaged(range(-axes, 0))
    alone = len(shape) == axes + 1
    channels = shape[-axes - 1]
    x = x.each(lambda one: (one.unsqueeze(0) if alone else one).unflatten(-axes - 1, (groups, -1)))
    x = x.mixed([-axes - 1])
    x = x.each(lambda one: one.expand(*one.shape[:2], channels // groups, *[1] * axes).flatten(1, 2))
    return x.each(lambda one: (one.squeeze(0) if alone else one).expand(shape))
