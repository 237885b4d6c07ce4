"""How many non-linear units a path through a network meets on average."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from affscore.errors import AffscoreError, guarded
from affscore.network.model_state import device_of, in_training, unwrapped
from affscore.network.randomness import random_states_kept
from affscore.network.recorder import ActivationCall, Listener, Recorder, recording
from affscore.network.recorder.dataflow import tensors_in
from affscore.network.recorder.functions import kind_of, only_looks_at_the_shape
from affscore.nonlinear_advantage.counts import Counts
from affscore.nonlinear_advantage.example import Arguments, arguments_of, run_on_example
from affscore.nonlinear_advantage.rules import WEIGHTS, Call, result_of
from affscore.zoo.card import check_has_weights


def average_path_length(model: nn.Module, example_input: Any = None, normalized: bool = True) -> float:
    r"""The average number of non-linear units on a path from the input to the output of a network.

    A path is a chain of channels. A unit is a channel of an activation; it counts where it is not linear: a PReLU whose
    slope is exactly 1 counts 0.

    .. math:: \mathrm{APL} = \frac{1}{|\mathcal P|} \sum_{p} \ell(p), \qquad \mathrm{NAPL} = \sum_{p} \pi(p)\,\ell(p)

    :math:`\pi` goes from the output back to the input, and takes each of the two branches of an addition with
    probability 1/2, and each channel that an operation mixes with the same probability. It is a property of the graph
    and the slopes; the example only runs the network once.

    What the paper does not state, and we chose:

    * One edge joins two channels, whatever the size of the kernel; weights of 0 are edges, too.
    * Every elementwise activation counts, also those that :func:`to_prelu` leaves. Max pooling, softmax,
      normalisations and products are not counted.
    * A sum x + a + b is two additions, as it is written. Concatenation joins channels.
    * What softmax or a sigmoid returns are weights: of weights times features the paths go through the features. So
      attention is a linear branch that mixes positions, which multiply no paths, and units that only feed a gate
      (squeeze and excitation) or attention weights are on no path. In any other product both factors are branches.

    Args:
        model: The network, as it is or from :func:`to_prelu`.
        example_input: As in :func:`to_prelu`; one sample is enough.
        normalized: Whether NAPL is computed; else APL.

    Raises:
        AffscoreError: The network fails, or a path leads through an operation that cannot be followed (the message
            names it), or its output is not one tensor.

    Source: Mehmeti-Göpel and Disselhoff, "Nonlinear Advantage" (ICML 2023), figure 1; the recursion is ours.

    >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> average_path_length(net, torch.zeros(1, 4))
    2.0
    """
    model = unwrapped(model)
    check_has_weights(model, type(model).__name__)
    outputs = run_on_example(model, example_input, lambda example: _counts_of_outputs(model, example))
    if len(outputs) != 1:
        raise AffscoreError(
            f"the network must return one tensor for its paths to end in, got {len(outputs)}; wrap it in a module that "
            "returns the one that counts"
        )
    counts = outputs[0]
    if counts is None or not bool((counts.paths > -torch.inf).any()):
        raise AffscoreError("no path leads from the input to the output, as far as functions of PyTorch show")
    if counts.lost:
        raise AffscoreError(f"the paths through this network cannot be followed: {counts.lost}")
    if normalized:
        return float(counts.expected[counts.paths > -torch.inf].mean())
    return float((torch.softmax(counts.paths.flatten(), 0) * counts.length.flatten()).sum())


def _counts_of_outputs(model: nn.Module, example: Arguments) -> list[Counts | None]:
    (args, _), (_, kwargs) = arguments_of(example[0], model), arguments_of(example[1], model)
    device, listener = device_of(model), _Formulas()
    quiet = in_training(model, device), random_states_kept(device), torch.no_grad()
    with quiet[0], quiet[1], quiet[2], recording(model, listener) as recorder:
        recorder.start((args, kwargs))
        follower = listener.follower = Follower(recorder)
        for tensor in tensors_in((args, kwargs)):
            follower.note(tensor, Counts.start(tensor))
        with follower:
            output = guarded(lambda: model(*args, **kwargs), "the network fails")
        return [follower.counts(tensor) for tensor in tensors_in(output)]


class Follower(TorchFunctionMode):
    """The mode in which a network runs while the counts of its tensors are followed.

    Args:
        recorder: The recorder under which it runs; it knows the layers, and what is an activation.

    Attributes:
        noted: Whether what leads to the output of the latest call was said by others.
    """

    noted = False

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self._counts: WeakIdKeyDictionary = WeakIdKeyDictionary()

    def note(self, tensor: Tensor, counts: Counts) -> None:
        """Say what leads to a tensor, as it is now."""
        self._counts[tensor] = counts, tensor._version

    def counts(self, value: Any) -> Counts | None:
        """What leads to a value; None for what does not depend on the input."""
        known = self._counts.get(value) if isinstance(value, Tensor) else None
        if known is None:
            return None
        counts, version = known
        if version == value._version:
            return counts
        return Counts.start(value, lost=self.here("features that an operation in place overwrote through a view"))

    def here(self, what: str) -> str:
        """Where the paths are lost."""
        return f"layer {self.recorder.frame[0] or '(root)'!r} has {what}"

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not self.recorder.attentive:
            return func(*args, **kwargs)
        with self.recorder.aside:
            tensors = tensors_in((args, kwargs))
            known = {id(tensor): counts for tensor in tensors if (counts := self.counts(tensor)) is not None}
            self.noted = False
        output = func(*args, **kwargs)
        if not known or only_looks_at_the_shape(func):
            return output
        with self.recorder.aside:
            outputs = [args[0]] if output is None else tensors_in(output)
            if not outputs or self.noted:
                return output  # numbers and shapes; or a formula
            name = func.__self__.__name__ if kind_of(func) == "get" else kind_of(func)
            given = [known[id(tensor)] for tensor in tensors if id(tensor) in known]
            call = Call(name, func, args, kwargs, outputs, given, lambda value: known.get(id(value)))
            found: Any = None
            with suppress(RuntimeError, ValueError, TypeError, IndexError):  # a call that no rule foresaw
                found = result_of(call)
            found = [found] if isinstance(found, Counts) else found or []
            if [one.shape for one in found] != [tensor.shape for tensor in outputs]:
                lost = next((one.lost for one in given if one.lost), "") or self.here(f"{name}, which no rule follows")
                found = [Counts.start(tensor, lost) for tensor in outputs]
            for tensor, counts in zip(outputs, found, strict=True):
                self.note(tensor, counts)
        return output


class _Formulas(Listener):
    """Takes down activations that are a formula, or a module of a library: each counts as one unit."""

    follower: Follower
    _given: Counts | None = None

    def before(self, call: ActivationCall, x: Tensor, apply: Any) -> None:
        self._given = None if call.builtin else self.follower.counts(x)

    def after(self, call: ActivationCall, y: Tensor) -> None:
        if self._given is not None:
            counts = replace(self._given.met(1.0), weights=call.activation in WEIGHTS)
            if call.activation in ("prelu", "leaky_relu"):
                counts = replace(counts, lost=self.follower.here(f"{call.activation}, whose slopes are not seen"))
            self.follower.note(y, counts)
            self.follower.noted = True
