"""A function of PyTorch that has run, as the rules see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from affscore.network.recorder.functions import Function
from affscore.nonlinear_advantage.counts import Counts


@dataclass
class Call:
    """A function of PyTorch that has run, and what is known of the paths to its arguments.

    Attributes:
        name: Of the function.
        function: What ran.
        args: What it was called with.
        kwargs: And by name.
        outputs: The tensors that it returned; for one that returns nothing, its first argument.
        given: The counts of the arguments that depend on the input, in their order.
        counts_of: Those of any value; None for what does not depend on the input.
    """

    name: str
    function: Function
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: list[Tensor]
    given: list[Counts]
    counts_of: Callable[[Any], Counts | None]

    def argument(self, name: str, place: int, default: Any = None) -> Any:
        """An argument by its name or its place."""
        return self.kwargs.get(name, self.args[place] if len(self.args) > place else default)

    @property
    def output(self) -> Tensor:
        """The first tensor that it returned."""
        return self.outputs[0]

    @property
    def first(self) -> Counts | None:
        """The counts of the first argument."""
        return self.counts_of(self.argument("input", 0))
