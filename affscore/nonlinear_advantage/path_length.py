"""How many non-linear units a path through a network meets on average, and how many stand side by side."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, guarded
from affscore.models.card import check_has_weights
from affscore.nonlinear_advantage.prelu import existing_slopes, run_on_example
from affscore.nonlinear_advantage.rules import WEIGHTS, Call, Counts, result_of
from affscore.nonlinear_advantage.surgery import Arguments, ready_for
from affscore.recorder import ActivationCall, Listener
from affscore.recorder.calls import Event
from affscore.recorder.dataflow import tensors_in
from affscore.recorder.functions import kind_of, only_looks_at_the_shape
from affscore.recorder.model_state import unwrapped
from affscore.recorder.recording import Following

LOOKING = ("to", "type_as", "expand_as", "view_as", "reshape_as")
"""Functions that take no more than type and shape from their second argument."""

LEAVING = ("numpy", "array", "tolist", "dlpack")
"""Functions after which features are no tensors."""


def average_path_length(model: nn.Module, example_input: Any = None, normalized: bool = True) -> float:
    r"""The average number of non-linear units on a path from the input to the output of a network.

    A path is a chain of channels. A unit is a channel of an activation; it counts where it is not linear: a PReLU whose
    slope is exactly 1 counts 0.

    .. math:: \mathrm{APL} = \frac{1}{|\mathcal P|} \sum_{p} \ell(p), \qquad \mathrm{NAPL} = \sum_{p} \pi(p)\,\ell(p)

    :math:`\pi` goes from the output back to the input, and takes each of the two branches of an addition with
    probability 1/2, and each channel that an operation mixes with the same probability. It is a property of the graph
    and the slopes; the example only runs the network once. Where loops or branches depend on the data, it is that of
    the graph that the example takes.

    What the paper does not state, and we chose:

    * One edge joins two channels, whatever the size of the kernel; weights of 0 are edges, too.
    * Every elementwise activation counts, also those that :func:`to_prelu` leaves; h * relu(h) is one. Max pooling,
      softmax, normalisations and products are not counted.
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
    outputs = run_on_example(model, example_input, lambda example: counts_of_outputs(model, example))
    if len(outputs) != 1:
        raise AffscoreError(f"paths must end in one tensor, not {len(outputs)}: wrap the network to return one of them")
    counts = outputs[0]
    if counts is None or not bool((counts.paths > -torch.inf).any()):
        raise AffscoreError("no path leads from the input to the output, as far as functions of PyTorch show")
    if counts.lost:
        raise AffscoreError(f"the paths through this network cannot be followed: {counts.lost}")
    if normalized:
        return float(counts.expected[counts.paths > -torch.inf].mean())
    return float((torch.softmax(counts.paths.flatten(), 0) * counts.length.flatten()).sum())


def active_channels(model: nn.Module) -> pd.DataFrame:
    """A row for each channel-wise activation of a network of :func:`to_prelu`, in the order of its modules.

    Returns:
        ``layer`` and ``call`` as in the signature of the original network, ``channels`` (how many there are),
        ``active`` (how many have a slope other than 1).

    Raises:
        AffscoreError: The network has no such slopes.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> net = to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    >>> net[1].weight.data[0] = 1
    >>> active_channels(net).values.tolist()
    [['1', 0, 3, 2]]
    """
    units = existing_slopes(model).items()
    rows = [(layer, call, unit.num_parameters, int((unit.slope != 1).sum())) for (layer, call), unit in units]
    return pd.DataFrame(rows, columns=["layer", "call", "channels", "active"])


def effective_width(model: nn.Module) -> float:
    """The mean number of channels that are not linear, over the activations that have any; 0.0 where none has.

    Our definition: the paper's was not at hand. The effective depth is :func:`average_path_length`.

    Raises:
        AffscoreError: The network has no such slopes.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> effective_width(to_prelu(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 5), nn.ReLU())))
    4.0
    """
    active = active_channels(model)["active"]
    return float(active[active > 0].mean()) if bool((active > 0).any()) else 0.0


@torch.inference_mode(False)  # whose tensors do not say that they were overwritten
def counts_of_outputs(model: nn.Module, example: Arguments) -> list[Counts | None]:
    """The counts of each tensor that a network returns; None for one that does not depend on the input.

    Raises:
        AffscoreError: The network fails, or something computes with features that is no function of PyTorch.
    """
    paths = _Paths()
    with ready_for(model, example) as (args, kwargs):
        for tensor in tensors_in((args, kwargs)):
            paths.note(tensor, Counts.start(tensor))
        run = lambda: guarded(lambda: model(*args, **kwargs), "the network fails")  # noqa: E731
        output = paths.output_of(model, (args, kwargs), run, _Formulas(paths))
        return [paths.counts(tensor) for tensor in tensors_in(output)]


class _Paths(Following[Counts]):
    """Follows the counts of a network's tensors while it runs; where no rule says what becomes of them, they are lost.

    Attributes:
        noted: Whether what leads to the output of the latest call was said by others.
    """

    noted = False

    def __init__(self) -> None:
        super().__init__()
        self._read: list[dict[int, Counts]] = []  # of the functions that are running: one may be taken apart

    def counts(self, value: Any) -> Counts | None:
        """What leads to a value; None for what does not depend on the input."""
        known = self.of(value)
        if known is None or (self.is_as_noted(value) and not value.is_inference()):
            return known
        return Counts.start(value, lost=self.here("features of inference_mode, or overwritten through a view"))

    def before(self, event: Event) -> None:
        """See what leads to the arguments."""
        tensors = tensors_in((event.args, event.kwargs))
        read = {id(tensor): counts for tensor in tensors if (counts := self.counts(tensor)) is not None}
        self._read.append(read)
        self.noted = False
        if read and kind_of(event.function) in LEAVING:
            self.hidden = self.hidden or self.here(f"{kind_of(event.function)}, by which features leave PyTorch")

    def after(self, event: Event) -> None:
        """Say what leads to what was returned."""
        call = Call(event, self._read.pop())
        if not call.known or only_looks_at_the_shape(call.function) or not call.outputs or self.noted:
            return  # numbers and shapes; or a formula
        if call.name in LOOKING and call.args and id(call.args[0]) not in call.known:
            return
        found: Any = None
        with suppress(RuntimeError, ValueError, TypeError, IndexError):  # a call that no rule foresaw
            found = result_of(call)
        found = [found] if isinstance(found, Counts) else found or []
        if [one.shape for one in found] != [tensor.shape for tensor in call.outputs]:
            lost = call.lost or self.here(f"{call.name}, which no rule follows")
            found = [Counts.start(tensor, lost) for tensor in call.outputs]
        for tensor, counts in zip(call.outputs, found, strict=True):
            self.note(tensor, counts)


class _Formulas(Listener):
    """Takes down activations that are a formula, or a module of a library: each counts as one unit."""

    def __init__(self, paths: _Paths) -> None:
        self.paths = paths

    def before(self, call: ActivationCall, x: Tensor, apply: Any) -> None:
        self._given = None if call.builtin else self.paths.counts(x)

    def after(self, call: ActivationCall, y: Tensor) -> None:
        if self._given is not None:
            counts = replace(self._given.met(1.0), weights=call.activation in WEIGHTS)
            if call.activation in ("prelu", "leaky_relu"):
                counts = replace(counts, lost=self.paths.here(f"{call.activation}, whose slopes are not seen"))
            self.paths.note(y, counts)
            self.paths.noted = True
