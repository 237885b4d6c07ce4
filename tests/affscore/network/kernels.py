"""An independent count of activations: the kernels that PyTorch's dispatcher runs, whoever called them."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

KERNELS = (
    "relu", "relu6", "hardtanh", "leaky_relu", "elu", "gelu", "silu", "mish", "softplus", "hardswish", "hardsigmoid",
    "sigmoid", "tanh", "erf", "prelu", "_prelu_kernel", "glu", "threshold",
)  # fmt: skip


class _Counting(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.found = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = str(func).removeprefix("aten.").partition(".")[0].rstrip("_")
        if name in KERNELS:
            self.found.append(name)
        return func(*args, **kwargs or {})


def kernels_in(model, *inputs):
    """The activation kernels of one forward pass, in order."""
    with torch.no_grad(), _Counting() as counting:
        model(*inputs)
    return counting.found
