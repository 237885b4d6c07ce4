"""Activations that run where the recorder cannot see them: in other threads, or below what Python calls."""

from __future__ import annotations

import inspect
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from affscore.network.recorder.functions import ACTIVATIONS
from affscore.network.recorder.recorder import Recorder

_WRITTEN_IN_PYTHON = {
    inspect.unwrap(function).__code__: name for function, name in ACTIVATIONS.items() if inspect.isfunction(function)
}
_KERNELS = frozenset(
    {"relu", "relu6", "hardtanh", "leaky_relu", "prelu", "_prelu_kernel", "rrelu_with_noise", "elu", "gelu", "silu",
     "mish", "softplus", "hardswish", "hardsigmoid", "sigmoid", "log_sigmoid_forward", "tanh", "erf", "softshrink",
     "hardshrink", "threshold", "glu"}
)  # fmt: skip


class BelowPython(TorchDispatchMode):
    """A mode that sees the kernels of a forward pass, and counts those of activations that the recorder missed.

    TorchScript, operators written in C++ and calls of ``torch.ops`` go past the functions that a recorder
    watches, and end in the same kernels. Enter it inside of :func:`affscore.network.recorder.recording`.

    Args:
        recorder: It knows which kernels it asked for itself.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self._missed: Counter[str] = Counter()

    @property
    def missed(self) -> str:
        """How often each kernel ran unseen; empty if none did."""
        return ", ".join(f"{count} x {kernel}" for kernel, count in sorted(self._missed.items()))

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first call imports the compiler, which takes seconds

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.__name__.partition(".")[0].removesuffix("_")
        if name in _KERNELS and self.recorder.attentive:
            self._missed[name] += 1
        return func(*args, **kwargs or {})


@contextmanager
def new_threads_watched(report: Callable[[str], None]) -> Iterator[None]:
    """Report the names of the functions in :data:`affscore.network.recorder.ACTIVATIONS` that new threads call.

    The modes that a recorder is made of see one thread only. Python's profiling hook is set in each thread that starts
    meanwhile, and takes itself away there once the context has ended.
    """
    watching = True

    def hook(frame: FrameType, event: str, arg: Any) -> None:
        name = None
        if not watching:
            sys.setprofile(None)
        elif event == "call":
            name = _WRITTEN_IN_PYTHON.get(frame.f_code)
        elif event == "c_call":
            of_a_tensor = isinstance(getattr(arg, "__self__", None), Tensor)
            name = ACTIVATIONS.get(getattr(Tensor, arg.__name__, arg) if of_a_tensor else arg)
        if name is not None:
            report(name)

    before = threading.getprofile()
    threading.setprofile(hook)
    try:
        yield
    finally:
        watching = False
        threading.setprofile(before)
