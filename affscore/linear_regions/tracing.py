"""What a network does to its input, as a list of operations: it runs once, and its events say it.

So it may be written as one likes: modules, functions, methods, loops. What it does must not depend on the numbers.

A function is known by its name without underscores, as in :mod:`affscore.recorder.functions`: ``add`` stands
for ``torch.add``, the method, the operator, and what they do in place. What is in none of the lists is refused: one
that is affine and missing here gives an error, and one that is not affine never gives a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from affscore.errors import AffscoreError
from affscore.linear_regions.program import KEEPING, Activation, Affine, MaxPool, Operation, Program, folded
from affscore.recorder.calls import Event
from affscore.recorder.dataflow import tensors_in, view_of
from affscore.recorder.functions import (
    CASTS,
    COPIES,
    DIVISIONS,
    DROPOUTS,
    MOVES,
    activation_name,
    as_function,
    kind_of,
    only_looks_at_the_shape,
    set_of,
    writes_in_place,
)
from affscore.recorder.recording import Following

ABOUT = set_of(
    "size shape dim ndim ndimension numel nelement len device dtype layout stride storage_offset hash get_device "
    "element_size itemsize nbytes requires_grad grad grad_fn names"
)
"""They answer from the shape and the type alone, as does all that is called is_..., but is_nonzero."""

SUMS = set_of(
    "add iadd radd sub isub rsub subtract neg negative positive pos sum mean cumsum diff avg_pool1d avg_pool2d "
    "avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d interpolate upsample upsample_nearest "
    "upsample_bilinear"
)
AFFINE = MOVES | COPIES | SUMS | set_of("fold copy")
"""Affine in all their arguments together, those that put numbers elsewhere among them."""

PRODUCTS = set_of(
    "mul imul rmul multiply matmul rmatmul mm bmm mv dot inner outer einsum tensordot addmm addmv addbmm baddbmm "
    "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d batch_norm"
)
"""Affine in each factor: no more than one of their arguments may depend on the input."""

MAX_POOLS = set_of("max_pool1d max_pool2d max_pool3d")
ELEMENTWISE = set_of("add iadd radd sub isub rsub mul imul rmul div idiv truediv itruediv")

UNFOLDED = 2**17
"""Entries that a convolution on a CPU unfolds at once: in double precision PyTorch does so, and out of the cache."""

Meaning = Literal["about", "affine"] | Activation | MaxPool
"""What a call does: "about" looks at the shape only."""


@torch.inference_mode(False)  # whose tensors do not say that they were overwritten
@torch.no_grad()
def program_of(module: nn.Module, sample: Tensor, run: Callable[[nn.Module, Tensor], Any]) -> tuple[Program, Tensor]:
    """The operations of a network, and what it returned.

    Args:
        module: The network, in double precision and evaluation mode.
        sample: A sample, (1, ...).
        run: What the network returns for a sample.

    Raises:
        AffscoreError: The network fails, or has an operation that is neither affine nor one of the bends that are known
            (the message says in which layer).

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU()).double()
    >>> program, _ = program_of(net, torch.ones(1, 2, dtype=torch.float64), lambda module, x: module(x))
    >>> [type(operation.what).__name__ for operation, _ in program.steps]
    ['Affine', 'Activation']
    """
    sample = sample.clone()
    tracer = _Tracer(sample)
    output = tracer.output_of(module, sample, lambda: run(module, sample))
    last = tracer.of(output)
    if last is None:
        raise AffscoreError(f"the network returns a {type(output).__name__}, and no tensor that depends on its input")
    operations = folded(tracer.operations, tracer.shapes, last, sample)
    return Program(operations, last, max(shape.numel() for shape in tracer.shapes)), output


class _Tracer(Following[int]):
    """Takes down what a network does to features, which it knows by their numbers.

    Attributes:
        operations: Up to now.
        shapes: Of the features up to now, by their numbers.
    """

    def __init__(self, sample: Tensor) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self.shapes = [sample.shape]
        self.note(sample, 0)
        self._written: Tensor | None = None  # the one that was overwritten last

    def before(self, event: Event) -> None:
        """See what is read, before it is overwritten."""
        self._read = [leaf for leaf in tree_leaves((event.args, event.kwargs)) if self.of(leaf) is not None]
        try:
            self._meaning: Meaning = meaning_of(event, self._read)
            if self._meaning != "about":
                self._check(kind_of(event.function), event)
        except AffscoreError as error:
            layer = self.recorder.frame[0]
            raise AffscoreError(f"{f'layer {layer!r}' if layer else 'the network'}: {error}") from None

    def after(self, event: Event) -> None:
        """Take down what was computed."""
        outputs = self._read[:1] if event.output is None else tensors_in(event.output)
        if self._meaning == "about" or not outputs:
            return
        name, what = kind_of(event.function), self._meaning
        inputs, first = tuple(self._known[one][0] for one in self._read), len(self.shapes)
        for output in outputs:
            if output.dtype != torch.float64 and not (name in CASTS and output.is_floating_point()):
                raise AffscoreError(f"{name} makes {output.dtype} of features; regions need double precision")
            self.note(output, len(self.shapes))
            self.shapes.append(output.shape)
        known = Affine(name, for_points(name, event, self._read, outputs[0])) if what == "affine" else what
        self.operations.append(Operation(known, inputs, tuple(range(first, len(self.shapes)))))
        if outputs[0] is self._read[0]:
            self._written = outputs[0]

    def _check(self, name: str, event: Event) -> None:
        for tensor in self._read:
            if not self.is_as_noted(tensor) and not (name == "setitem" and self._goes_back(*event.args)):
                raise AffscoreError(f"{name} reads what an operation in place has overwritten through a view")
        if writes_in_place(event.function) and self.of(event.args[0]) is None:
            raise AffscoreError(f"{name} writes features into a constant: use torch.cat, or a copy of features")

    def _goes_back(self, whole: Tensor, index: Any, part: Tensor) -> bool:
        """Whether a part is put back where it was taken, with other numbers: the second half of x[index] += 1."""
        put_back = part is self._written and view_of(whole[index]) == view_of(part)
        return put_back and self.is_as_noted(whole, writes=1)


def for_points(name: str, event: Event, features: Sequence[Tensor], output: Tensor) -> Callable[..., Any]:
    """An affine function of each point by itself, computed by the shortest way that there is.

    Args:
        name: Of the function.
        event: Its call for one sample.
        features: Those of its arguments that depend on the input.
        output: The first tensor that it returned.

    Returns:
        A function of features, (points, *shape) each, that returns features or a tuple of them.
    """
    function, args, kwargs, x = event.function, event.args, event.kwargs, features[0]
    if len(features) == 1 and args and args[0] is x and not writes_in_place(function):
        shape, rest = output.shape, args[1:]
        if name in KEEPING:
            return lambda x: x.reshape(len(x), *shape)
        if name == "linear":
            return lambda x: function(x, *rest, **kwargs)
        # a batch of one in the network is a batch of points; there may be no axis of samples at all
        if (name == "batch_norm" or name.endswith(f"{x.ndim - 2}d")) and len(x) == 1:
            most = 2**30
            if "conv" in name and x.device.type == "cpu":
                most = max(1, UNFOLDED // (output[0, 0].numel() * event.argument("weight", 1)[0].numel()))

            def of_batch(x: Tensor) -> Tensor:
                parts = [function(part, *rest, **kwargs) for part in x.flatten(0, 1).split(most)]
                return (torch.cat(parts) if len(parts) > 1 else parts[0]).unsqueeze(1)

            return of_batch
    read = set(map(id, features))
    of_features = as_function(function, args, kwargs, lambda value: id(value) in read)
    broadcasts = name in ELEMENTWISE and len({one.ndim for one in event.tensors}) == 1
    return of_features if broadcasts else torch.vmap(of_features)


def meaning_of(event: Event, features: Sequence[Tensor]) -> Meaning:
    """What a call does to features.

    Args:
        event: The call of a function of PyTorch.
        features: Those of its arguments that depend on the input.

    Raises:
        AffscoreError: It is not piecewise affine, or the library does not know that it is.

    >>> x = torch.ones(1)
    >>> [meaning_of(Event(function, (x,), {}, [x], [None]), [x]) for function in (torch.relu, torch.neg)]
    [Activation(slope=0.0, linear=None), 'affine']
    >>> meaning_of(Event(torch.sigmoid, (x,), {}, [x], [None]), [x])
    Traceback (most recent call last):
    affscore.errors.AffscoreError: sigmoid is not affine ...
    """
    function, argument = event.function, event.argument
    name = kind_of(function)
    asks = name in ABOUT or (name.startswith("is_") and name != "is_nonzero")
    if not features or asks or (only_looks_at_the_shape(function) and len(features) == 1):
        return "about"
    x = features[0]
    if name in CASTS and function is not Tensor.__float__:
        return "affine" if argument("input", 0) is x else "about"
    if name in DROPOUTS:
        if not argument("training", 2, event.kwargs.get("train", True)):
            return "affine"
        raise AffscoreError(f"{name} is random in evaluation mode, too: pass training=self.training")
    divides = name in DIVISIONS and (x is not argument("input", 0) or event.kwargs.get("rounding_mode"))
    of_batch = name == "batch_norm" and argument("training", 5, False)
    if divides or of_batch or (name in PRODUCTS | DIVISIONS and len(features) > 1):
        raise AffscoreError(f"{name} multiplies features, divides by them or a batch statistic, or rounds: not affine")
    if name in AFFINE | PRODUCTS | DIVISIONS:
        return "affine"
    if name in MAX_POOLS and not event.kwargs.get("return_indices"):
        size, stride = argument("kernel_size", 1), argument("stride", 2)
        others = argument("padding", 3, 0), argument("dilation", 4, 1), argument("ceil_mode", 5, False)
        return MaxPool.of(name, (size, size if stride in (None, []) else stride, *others), x)
    called = activation_name(function, event.args, event.kwargs) or name
    slopes = {"relu": 0.0, "leaky_relu": argument("negative_slope", 1, 0.01), "prelu": argument("weight", 1)}
    if called in slopes:
        return Activation.of(slopes[called], x.shape)
    need = "affine operations, ReLU, LeakyReLU, PReLU and max pooling alone, where no number decides what runs"
    raise AffscoreError(f"{called} is not affine as far as this library knows; linear regions need {need}")
