"""What runs in a network, as one stream of events: functions that Python calls, and the kernels below them.

These two modes are all that the library puts between a network and PyTorch's functions; what follows a network listens
to them. What is hooked into its modules and into Python is in :mod:`affscore.recorder.recording`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from affscore.recorder.calls import ActivationCall
    from affscore.recorder.dataflow import Origin
    from affscore.recorder.effects import Effect


class Functions(TorchFunctionMode):
    """The mode that sees every function of PyTorch that Python calls; of functions inside functions the outermost.

    Args:
        handle: ``handle(function, args, kwargs)`` is called in its place, and returns what the caller gets.

    >>> x = torch.ones(2)
    >>> with Functions(lambda function, args, kwargs: f"{function.__name__} of {len(args)} arguments"):
    ...     torch.add(x, 1)
    'add of 2 arguments'
    """

    def __init__(self, handle: Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]) -> None:
        super().__init__()
        self._handle = handle

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return self._handle(func, args, kwargs or {})


class Kernels(TorchDispatchMode):
    """The mode that sees every kernel, also those of TorchScript, of ``torch.ops`` and of extensions.

    Args:
        heard: ``heard(kernel, args, kwargs, output)`` is called after each of them.
    """

    def __init__(self, heard: Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]) -> None:
        super().__init__()
        self._heard = heard

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first call imports the compiler, which takes seconds

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        with torch._C.DisableTorchFunction():  # a kernel is no function that the network calls
            output = func(*args, **kwargs or {})
            self._heard(func, args, kwargs or {}, output)
        return output


@dataclass(eq=False)
class Event:
    """A call of a function in a network, on tensors of which at least one depends on the network's input.

    Attributes:
        function: What is called.
        args: Its arguments.
        kwargs: Its named arguments.
        tensors: The tensors that it reads.
        origins: Where each of them comes from; None for what does not depend on the input.
        output: What it returned; None before.
        effect: What it does to the numbers of its largest input, where that was asked.
        call: The activation that ends with it, if one does.
    """

    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    tensors: list[Tensor]
    origins: list[Origin | None]
    output: Any = field(default=None, repr=False)
    effect: Effect | None = None
    call: ActivationCall | None = None


class Follower:
    """Follows the events of a recorder (``recorder.followers``); this one ignores them. Its own calls are no events."""

    def before(self, event: Event) -> None:
        """A function is about to run."""

    def after(self, event: Event) -> None:
        """It has returned ``event.output``."""

    def left(self, module: nn.Module, args: Any, output: Any) -> None:
        """A module has run."""

    def watched(self, run: int) -> None:
        """A hook of the user, whose run has this index, has handed on what it was given as it was."""


class Aside:
    """A context; a generator would take longer to enter than most of what it is entered for."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *error: object) -> None:
        self.depth -= 1
