"""Activations that run where the recorder cannot see them: below the functions of PyTorch that Python calls."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from torch.utils._python_dispatch import TorchDispatchMode

if TYPE_CHECKING:
    from affscore.network.mode import Recorder

__all__ = ["BelowPython"]

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

    Attributes:
        missed: How often each kernel ran unseen.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self.missed: Counter[str] = Counter()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first call imports the compiler, which takes seconds

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.__name__.partition(".")[0].removesuffix("_")
        if name in _KERNELS and self.recorder.attentive:
            self.missed[name] += 1
        return func(*args, **kwargs or {})
