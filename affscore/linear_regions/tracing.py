"""What a network does to its input, as a list of operations: it runs once, and its events say it.

So it may be written as one likes: modules, functions, methods, loops. What it does must not depend on the numbers.

A function is known by its name without underscores, as in :mod:`affscore.recorder.functions`: ``add`` stands
for ``torch.add``, the method, the operator, and what they do in place. What is in none of the lists is refused: one
that is affine and missing here gives an error, and one that is not affine never gives a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from affscore.errors import AffscoreError
from affscore.linear_regions.program import RESHAPING, Activation, Affine, MaxPool, Operation, Program, folded
from affscore.recorder.calls import Event
from affscore.recorder.dataflow import address, tensors_in
from affscore.recorder.functions import (
    COPIES,
    MOVES,
    Function,
    activation_name,
    as_function,
    kind_of,
    only_looks_at_the_shape,
    set_of,
    writes_in_place,
)
from affscore.recorder.recording import Following

ABOUT = set_of(
    "size shape dim ndim ndimension numel nelement len device dtype layout stride storage_offset is_contiguous hash "
    "is_floating_point is_complex is_cuda is_cpu is_meta is_mkldnn is_mps is_nested is_quantized is_sparse is_xpu "
    "is_leaf is_inference is_conj is_neg is_same_size get_device element_size itemsize nbytes requires_grad grad "
    "grad_fn names"
)
"""They answer from the shape and the type alone."""

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

QUOTIENTS = set_of("div idiv divide true_divide truediv itruediv")
"""Affine in the dividend."""

CASTS = set_of("to float double half bfloat16 type type_as cpu cuda")
DROPOUTS = set_of("dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout")
MAX_POOLS = set_of("max_pool1d max_pool2d max_pool3d")
ELEMENTWISE = set_of("add iadd radd sub isub rsub mul imul rmul div idiv truediv itruediv")

SAMPLE_BY_SAMPLE = re.compile(r"(conv|conv_transpose|avg_pool|adaptive_avg_pool)([123])d|(batch_norm)")
"""Functions of a batch, with the number of axes that follow samples and channels."""

UNFOLDED = 2**17
"""Entries that a convolution on a CPU unfolds at once: in double precision PyTorch does so, and out of the cache."""

Meaning = Literal["about", "same", "affine"] | Activation | MaxPool
"""What a call does: "about" looks at the shape only, "same" returns its input."""


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
        kind = type(output).__name__
        raise AffscoreError(f"the network returns a {kind}, and no tensor that is seen to depend on its input")
    operations = folded(tracer.operations, tracer.shapes, last.number, sample)
    return Program(operations, last.number, max(shape.numel() for shape in tracer.shapes)), output


class _Features(NamedTuple):
    """Features: their number, and where they were taken from: ``x[index]`` has the number of x, and the index."""

    number: int
    taken: tuple[int, Any] = (-1, None)


class _Tracer(Following[_Features]):
    """Takes down what a network does to features.

    Attributes:
        operations: Up to now.
        shapes: Of the features up to now, by their numbers.
    """

    def __init__(self, sample: Tensor) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self.shapes = [sample.shape]
        self.note(sample, _Features(0))

    def before(self, event: Event) -> None:
        """See what is read, before it is overwritten."""
        self._read = [leaf for leaf in tree_leaves((event.args, event.kwargs)) if self.of(leaf)]
        self._numbers = tuple(self._of(tensor).number for tensor in self._read)
        if self._read:
            try:
                self._meaning: Meaning = meaning_of(event.function, event.args, event.kwargs, self._read)
                if self._meaning != "about":
                    self._check(event)
            except AffscoreError as error:
                layer = self.recorder.frame[0]
                raise AffscoreError(f"{f'layer {layer!r}' if layer else 'the network'}: {error}") from None

    def after(self, event: Event) -> None:
        """Take down what was computed."""
        if not self._read or self._meaning == "about":
            return
        name, x, index = kind_of(event.function), self._read[0], event.args[1:2]
        outputs = [x] if event.output is None else tensors_in(event.output)
        for output in outputs:
            if output.dtype != torch.float64 and not (name in CASTS and output.is_floating_point()):
                raise AffscoreError(f"{name} makes {output.dtype} of features; regions need double precision")
        if self._meaning == "same":
            for output in outputs:
                self.note(output, self._of(x))
            return
        affine = self._meaning == "affine"
        what: Any = Affine(name, for_points(name, event, self._read, outputs[0])) if affine else self._meaning
        numbers = tuple(range(len(self.shapes), len(self.shapes) + len(outputs)))
        self.operations.append(Operation(what, self._numbers, numbers))
        self.shapes += [output.shape for output in outputs]
        for number, output in zip(numbers, outputs, strict=True):
            taken = self._of(x).taken if output is x else (-1, None)
            if name == "getitem" and address(output) == address(x):
                taken = self._of(x).number, index[0]
            self.note(output, _Features(number, taken))

    def _of(self, tensor: Tensor) -> _Features:
        found = self.of(tensor)
        assert found is not None
        return found

    def _check(self, event: Event) -> None:
        name, args = kind_of(event.function), event.args
        for tensor in self._read:
            if not self.is_as_noted(tensor) and not (name == "setitem" and self._goes_back(*args)):
                raise AffscoreError(f"{name} reads what an operation in place has overwritten through a view")
        if writes_in_place(event.function) and not self.of(args[0]):
            raise AffscoreError(f"{name} writes features into a constant: use torch.cat, or a copy of features")

    def _goes_back(self, whole: Tensor, index: Any, part: Any) -> bool:
        """Whether a part is put back where it was taken, with other numbers: the second half of x[index] += 1."""
        if not (self.of(whole) and self.of(part)) or not self.is_as_noted(part):
            return False
        number, place = self._of(part).taken
        same = place is index or (isinstance(index, slice) and place == index)
        return number == self._of(whole).number and same and self.is_as_noted(whole, writes=1)


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
    function, args, kwargs, x = event.function, tuple(event.args), dict(event.kwargs), features[0]
    rest = args[1:]
    if len(features) == 1 and args and args[0] is x and not writes_in_place(function):
        shape = output.shape
        if name in RESHAPING:
            return lambda x: x.reshape(len(x), *shape)
        if name == "linear":
            return lambda x: function(x, *rest, **kwargs)
        # a batch of one in the network is a batch of points; there may be no axis of samples at all
        found = SAMPLE_BY_SAMPLE.fullmatch(name)
        if found and len(x) == 1 and (found[3] or int(found[2]) == x.ndim - 2):
            most = 2**30
            if "conv" in name and x.device.type == "cpu":
                weight = rest[0] if rest else kwargs["weight"]
                most = max(1, UNFOLDED // (output[0, 0].numel() * weight[0].numel()))

            def of_batch(x: Tensor) -> Tensor:
                parts = [function(part, *rest, **kwargs) for part in x.flatten(0, 1).split(most)]
                return (torch.cat(parts) if len(parts) > 1 else parts[0]).unsqueeze(1)

            return of_batch
    read = set(map(id, features))
    of_features = as_function(function, args, kwargs, lambda value: id(value) in read)
    axes = {tensor.ndim for tensor in features}
    constants = [leaf.ndim for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor) and id(leaf) not in read]
    broadcasts = len(axes) == 1 and max(constants, default=0) <= max(axes)
    return of_features if name in ELEMENTWISE and broadcasts else torch.vmap(of_features)


def meaning_of(
    function: Function, args: Sequence[Any], kwargs: Mapping[str, Any], features: Sequence[Tensor]
) -> Meaning:
    """What a call does to features.

    Args:
        function: A function of PyTorch.
        args: What it is called with.
        kwargs: And by name.
        features: Those of its arguments that depend on the input.

    Raises:
        AffscoreError: It is not piecewise affine, or the library does not know that it is.

    >>> import torch
    >>> x = torch.ones(1)
    >>> meaning_of(torch.relu, (x,), {}, [x]), meaning_of(torch.neg, (x,), {}, [x])
    (Activation(slope=0.0, linear=None), 'affine')
    >>> meaning_of(torch.sigmoid, (x,), {}, [x])
    Traceback (most recent call last):
    affscore.errors.AffscoreError: sigmoid is not affine ...
    """

    def argument(name: str, place: int, default: Any = None) -> Any:
        return kwargs.get(name, args[place] if len(args) > place else default)

    name, x = kind_of(function), features[0]
    if name in ABOUT or (only_looks_at_the_shape(function) and len(features) == 1):
        return "about"
    if name in CASTS and function is not Tensor.__float__:
        return "same" if argument("input", 0) is x else "about"
    if name in DROPOUTS:
        if argument("training", 2, kwargs.get("train", True)):
            raise AffscoreError(f"{name} is random in evaluation mode, too: pass training=self.training")
        return "same"
    if name == "batch_norm" and argument("training", 5, False):
        raise AffscoreError("batch_norm uses the statistics of its batch, also in evaluation mode, and is not affine")
    divides = name in QUOTIENTS and (x is not argument("input", 0) or kwargs.get("rounding_mode"))
    if divides or (name in PRODUCTS | QUOTIENTS and len(features) > 1):
        raise AffscoreError(f"{name} multiplies features, divides by them, or rounds, and is not affine")
    if name in AFFINE | PRODUCTS | QUOTIENTS:
        return "affine"
    if name in MAX_POOLS and not kwargs.get("return_indices"):
        size, stride = argument("kernel_size", 1), argument("stride", 2)
        others = argument("padding", 3, 0), argument("dilation", 4, 1), argument("ceil_mode", 5, False)
        return MaxPool.of(name, (size, size if stride in (None, []) else stride, *others), x)
    called = activation_name(function, args, kwargs) or name
    if called in ("relu", "leaky_relu", "prelu"):
        slopes = {"leaky_relu": argument("negative_slope", 1, 0.01), "prelu": argument("weight", 1)}
        return Activation.of(slopes.get(called, 0.0), x.shape)
    raise AffscoreError(
        f"{called} is not affine as far as this library knows, and no ReLU, LeakyReLU, PReLU or max pooling; linear "
        "regions are counted in networks of these and of affine operations only, where no number decides what runs"
    )
