"""A network runs once, and its events say what is done to features: that gives its operations.

So it may be written as one likes: modules, functions, methods, loops. What it does must not depend on the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from affscore.errors import AffscoreError
from affscore.linear_regions.operations import CASTS, ELEMENTWISE, Meaning, meaning_of, name_of
from affscore.linear_regions.program import RESHAPING, Affine, Operation, Program, folded
from affscore.recorder.calls import Event
from affscore.recorder.dataflow import address, tensors_in
from affscore.recorder.following import Following, as_function
from affscore.recorder.functions import writes_in_place

SAMPLE_BY_SAMPLE: Mapping[str, int] = {"batch_norm": 0} | {
    f"{name}{axes}d": axes for name in ("conv", "conv_transpose", "avg_pool", "adaptive_avg_pool") for axes in (1, 2, 3)
}
"""Functions of a batch, with the number of axes that follow samples and channels (0 for any)."""

UNFOLDED = 2**17
"""Entries that a convolution on a CPU unfolds at once: in double precision PyTorch does so, and out of the cache."""


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
        what = "does not depend on its input" if isinstance(output, Tensor) else f"is a {type(output).__name__}"
        raise AffscoreError(
            f"the output of the network {what}, as far as functions of PyTorch show; linear regions need a network in "
            "plain PyTorch that maps a tensor to a tensor"
        )
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
        name, x, index = name_of(event.function), self._read[0], event.args[1:2]
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
        name, args = name_of(event.function), event.args
        for tensor in self._read:
            if not self.is_as_noted(tensor) and not (name == "setitem" and self._goes_back(*args)):
                raise AffscoreError(f"{name} reads what an operation in place has overwritten through a view")
        if writes_in_place(event.function) and not self.of(args[0]):
            raise AffscoreError(
                f"{name} writes features into a tensor that does not depend on the input; put the parts together by "
                "torch.cat or torch.stack, or write into a copy of features"
            )
        if event.kwargs.get("out") is not None:
            raise AffscoreError(f"{name} writes into out=; use what it returns instead")

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
        if name in SAMPLE_BY_SAMPLE and len(x) == 1 and SAMPLE_BY_SAMPLE[name] in (0, x.ndim - 2):
            most = 2**30
            if "conv" in name and x.device.type == "cpu":
                weight = rest[0] if rest else kwargs["weight"]
                most = max(1, UNFOLDED // (output[0, 0].numel() * weight[0].numel()))

            def of_batch(x: Tensor) -> Tensor:
                parts = x.flatten(0, 1).split(most)
                found = [function(part, *rest, **kwargs) for part in parts]
                return (found[0] if len(found) == 1 else torch.cat(found)).unsqueeze(1)

            return of_batch
    read = set(map(id, features))
    of_features = as_function(function, args, kwargs, lambda value: id(value) in read)
    axes = {tensor.ndim for tensor in features}
    constants = [leaf.ndim for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor) and id(leaf) not in read]
    broadcasts = len(axes) == 1 and max(constants, default=0) <= max(axes)
    return of_features if name in ELEMENTWISE and broadcasts else torch.vmap(of_features)
